"""The alignment of a Gram matrix with two classes."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.metrics import kernel_alignment

POSITIVE = np.array([True, True, False, False, False])
Y = np.where(POSITIVE, 1.0, -1.0)


def test_the_ideal_kernel_has_one_and_its_negative_minus_one():
    assert kernel_alignment(np.outer(Y, Y), POSITIVE) == pytest.approx(1)
    assert kernel_alignment(-3 * np.outer(Y, Y), POSITIVE) == pytest.approx(-1)
    assert kernel_alignment(np.eye(5), POSITIVE) == pytest.approx(5**-0.5)


def test_it_is_a_cosine_of_matrices():
    A = np.random.default_rng(0).normal(size=(5, 5))
    K, ideal = A @ A.T, np.outer(Y, Y)
    expected = (K * ideal).sum() / np.sqrt((K**2).sum() * (ideal**2).sum())
    assert kernel_alignment(K, POSITIVE) == pytest.approx(expected)


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InvalidInput, match="positive must be True or False for each of 5 examples"):
        kernel_alignment(np.eye(5), POSITIVE[:3])
    with pytest.raises(InvalidInput, match="K must hold a number other than zero"):
        kernel_alignment(np.zeros((5, 5)), POSITIVE)

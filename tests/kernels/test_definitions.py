"""Each kernel against its formula, written out number by number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewsight.kernels import RBF, ExponentialChiSquare, HistogramIntersection, Kernel, Linear, Polynomial


def chi_square(x: np.ndarray, z: np.ndarray) -> float:
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


FORMULAS: list[tuple[Kernel, Callable[[np.ndarray, np.ndarray], float]]] = [
    (Linear(), lambda x, z: sum(a * b for a, b in zip(x, z, strict=True))),
    (Polynomial(3, offset=0.5, scale=2.0), lambda x, z: (2.0 * float(np.dot(x, z)) + 0.5) ** 3),
    (RBF(0.7), lambda x, z: math.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * 0.7**2))),
    (
        RBF((0.5, 1.0, 2.0)),
        lambda x, z: math.exp(-(((x[0] - z[0]) / 0.5) ** 2 + (x[1] - z[1]) ** 2 + ((x[2] - z[2]) / 2) ** 2) / 2),
    ),
    (HistogramIntersection(), lambda x, z: sum(min(a, b) for a, b in zip(x, z, strict=True))),
    (ExponentialChiSquare(0.8), lambda x, z: math.exp(-0.8 * chi_square(x, z))),
]
histograms = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.just(0.0) | st.floats(1e-6, 10.0, allow_subnormal=False))
)


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=lambda value: repr(value) if isinstance(value, Kernel) else ""
)
@settings(max_examples=40, deadline=None)
@given(A=histograms, B=histograms)
def test_every_value_follows_the_formula(
    kernel: Kernel, formula: Callable[[np.ndarray, np.ndarray], float], A: np.ndarray, B: np.ndarray
) -> None:
    expected = [[formula(x, z) for z in B] for x in A]
    np.testing.assert_allclose(kernel.gram(A, B), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.gram(scipy.sparse.csr_array(A), B), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.gram(A), [[formula(x, z) for z in A] for x in A], rtol=1e-9, atol=1e-11)

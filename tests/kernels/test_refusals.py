"""What kernels refuse, by the text of the refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.kernels import (
    RBF,
    ExponentialChiSquare,
    Polynomial,
)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Polynomial(0), "Polynomial: degree must be a whole number >= 1, got 0."),
        (lambda: Polynomial(1.5), "Polynomial: degree must be a whole number >= 1, got 1.5."),
        (lambda: Polynomial(offset=-0.1), "Polynomial: offset must be a finite number >= 0, got -0.1."),
        (lambda: Polynomial(offset=True), "Polynomial: offset must be a finite number >= 0, got True."),
        (lambda: Polynomial(scale=0), "Polynomial: scale must be a finite number > 0, got 0."),
        (lambda: RBF(0.0), "RBF: scale must be a finite number > 0, got 0.0."),
        (lambda: RBF(float("inf")), "RBF: scale must be a finite number > 0, got inf."),
        (lambda: RBF("wide"), "RBF: scale must be a finite number > 0, got 'wide'."),
        (lambda: RBF(()), "RBF: scale must be a number or one number for each dimension, got ()."),
        (lambda: RBF(np.ones((2, 2))), "RBF: scale must be a number or one number for each dimension, got array("),
        (lambda: RBF((1.0, -2.0)), "RBF: scale[1] must be a finite number > 0, got -2.0."),
        (lambda: ExponentialChiSquare(-1), "ExponentialChiSquare: gamma must be a finite number > 0, got -1."),
    ],
)
def test_parameters_that_would_not_give_a_kernel_are_refused(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        make()
    assert str(refusal.value).startswith(sentence)

"""What kernels refuse, by the text of the refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import (
    RBF,
    ExponentialChiSquare,
    HistogramIntersection,
    Linear,
    Polynomial,
    kernel_from_recipe,
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


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (np.ones(3), "Linear: A must be a matrix of any x any, got 3."),
        (1.0, "Linear: A must be a matrix of any x any, got a single number."),
        (np.ones((2, 2, 2)), "Linear: A must be a matrix of any x any, got 2 x 2 x 2."),
        ([["cup", "bowl"]], "Linear: A must be a matrix of numbers, got something else."),
        ([[1.0, 2.0], [3.0]], "Linear: A must be a matrix of numbers, got something else."),
        (np.array([[1j]]), "Linear: A must be a matrix of real numbers, got complex ones."),
        (scipy.sparse.csr_array(np.array([[1j]])), "Linear: A must be a matrix of real numbers, got complex128."),
        ([[np.nan]], "Linear: A must hold finite numbers only, got NaN or infinity."),
    ],
)
def test_rows_that_are_not_rows_of_numbers_are_refused(rows: Any, sentence: str) -> None:
    for ask in (Linear().gram, Linear().diag):
        with pytest.raises(InvalidInput) as refusal:
            ask(rows)
        assert str(refusal.value) == sentence


@pytest.mark.parametrize("kernel", [HistogramIntersection(), ExponentialChiSquare()])
@pytest.mark.parametrize("make", [np.array, scipy.sparse.csr_array])
def test_histograms_below_zero_are_refused(kernel: Any, make: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"{type(kernel).__name__}: B must hold numbers >= 0 only, got -0\.5\."):
        kernel.gram(make([[1.0, 0.0]]), make([[1.0, -0.5]]))


@pytest.mark.parametrize("dims", [[0, 7], [-1, 0]])
def test_a_sparse_matrix_with_indices_outside_of_it_is_refused(dims: list[int]) -> None:
    rows = scipy.sparse.csr_array(np.array([[1.0, 2.0]]))
    rows.indices[:] = dims
    with pytest.raises(InvalidInput, match="A must be a sound sparse matrix, got indices outside of it"):
        HistogramIntersection().gram(rows)


def test_sparse_rows_whose_starts_run_past_the_end_are_refused() -> None:
    rows = scipy.sparse.csr_array(np.array([[1.0, 2.0]]))
    rows.indptr[-1] = 10
    with pytest.raises(InvalidInput, match="A must be a sound sparse matrix"):
        HistogramIntersection().gram(rows)


def nested(depth: int) -> dict[str, Any]:
    recipe: dict[str, Any] = {"kind": "linear"}
    for _ in range(depth):
        recipe = {"kind": "scaled", "factor": 1.0, "part": recipe}
    return recipe


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        ("linear", "kernel recipe: must be an object with a kind"),
        ({}, "kernel recipe: kind must be one of columns, exponential_chi_square, general_histogram_intersection"),
        (
            {"kind": "lineal"},
            "the kernel 'lineal' is not known here; if it comes from another package, install that or",
        ),
        ({"kind": ["linear"]}, "kernel recipe: kind must be one of"),
        ({"kind": "rbf"}, "kernel recipe: rbf must have the parameters ['scale'], got []."),
        ({"kind": "rbf", "scale": 1.0, "sclae": 2.0}, "kernel recipe: rbf must have the parameters ['scale'], got"),
        ({"kind": "linear", "__class__": 1}, "kernel recipe: linear must have the parameters [], got ['__class__']."),
        ({"kind": "rbf", "scale": -1.0}, "RBF: scale must be a finite number > 0, got -1.0."),
        ({"kind": "rbf", "scale": None}, "RBF: scale must be a finite number > 0, got None."),
        ({"kind": "rbf", "scale": {"kind": "linear"}}, "RBF: scale must be a finite number > 0, got Linear()."),
        ({"kind": "sum", "parts": [{"kind": "linear"}, 3]}, "Sum: parts must be one or more kernels, got 3."),
        ({"kind": "sum", "parts": 3}, "Sum: parts must be one or more kernels, got 3."),
        (nested(60), "kernel recipe: must be an object with a kind, at most 50 deep"),
    ],
)
def test_a_recipe_that_is_none_is_refused(recipe: Any, sentence: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        kernel_from_recipe(recipe)
    assert str(refusal.value).startswith(sentence)


def test_a_deep_but_sensible_recipe_is_read() -> None:
    assert kernel_from_recipe(nested(40)).gram([[2.0]]).item() == 4.0

"""The rows that kernels compare: what is refused, and that pieces give what the whole gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import (
    ExponentialChiSquare,
    HistogramIntersection,
    Linear,
)


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

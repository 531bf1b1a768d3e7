"""One row against many that were listed beforehand, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fewsight._compiled import column_lists as loops


def histograms(n: int, d: int, seed: int, density: float) -> scipy.sparse.csr_array:
    rng = np.random.default_rng(seed)
    return scipy.sparse.csr_array(rng.random((n, d)) * (rng.random((n, d)) < density))


@pytest.mark.parametrize("density", [0.0, 0.05, 1.0])
@pytest.mark.parametrize(("m", "d"), [(1, 1), (5, 7), (2, 70_000), (300, 40)])
def test_the_loop_equals_its_reference(m: int, d: int, density: float) -> None:
    columns, *lists = loops.lists_of(histograms(m, d, 1, density))
    rng = np.random.default_rng(0)
    chosen = np.flatnonzero(rng.random(len(columns)) < 0.5)
    values = rng.random(len(chosen))
    expected = loops.minima_reference(chosen, values, *lists, m)
    np.testing.assert_allclose(loops.minima(chosen, values, *lists, m), expected, rtol=1e-12)


def test_lists_hold_every_number_once_in_the_columns_that_are_filled() -> None:
    M = histograms(30, 500, 2, 0.01)
    columns, starts, rows, values = loops.lists_of(M)
    again = np.zeros(M.shape)
    again[rows, np.repeat(columns, np.diff(starts))] = values
    np.testing.assert_array_equal(again, M.toarray())
    assert columns.tolist() == np.unique(M.indices).tolist()

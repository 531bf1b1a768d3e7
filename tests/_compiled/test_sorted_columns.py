"""Sorting and merging columns against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight._compiled import sorted_columns as loops
from fewsight._compiled.sorted_columns import RUN, SHORT, Columns

RNG = np.random.default_rng(0)


def unsorted(lists: list[np.ndarray]) -> Columns:
    starts = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
    rows = [RNG.permutation(len(part)).astype(np.uint32) for part in lists]
    return Columns(starts, np.concatenate(rows), np.concatenate(lists).astype(np.float64))


def copied(columns: Columns) -> Columns:
    return Columns(*(part.copy() for part in columns))


LISTS = {
    "few": [np.empty(0), np.array([0.5]), RNG.random(5), RNG.random(RUN + 1)],
    "around the change of method": [RNG.random(SHORT - 1), RNG.random(SHORT), RNG.random(SHORT + 1)],
    "many": [RNG.random(5000)],
    "wide range": [np.exp(RNG.uniform(-700, 700, 1000)), 10.0 ** RNG.integers(-3, 3, 1000)],
    "beyond float32": [np.exp(RNG.uniform(-700, -100, 1000)), np.exp(RNG.uniform(100, 700, 1000))],
    "ties": [RNG.integers(1, 4, 2000) / 7, np.full(1000, 0.3)],
    "equal as float32 only": [
        1 + 1e-12 * RNG.random(1000),
        np.repeat(RNG.random(200), 5) * (1 + 1e-13 * RNG.random(1000)),
    ],
}


@pytest.mark.parametrize("name", LISTS)
def test_compiled_sort_equals_its_reference(name: str) -> None:
    columns = unsorted(LISTS[name])
    expected, found = copied(columns), copied(columns)
    loops.sort_columns_reference(expected, 0, len(columns.starts) - 1)
    with np.errstate(over="ignore"):
        loops.sort_all(found)
    for part, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, wanted)


def test_a_share_of_the_dimensions_leaves_the_others_alone() -> None:
    columns = unsorted([RNG.random(300) for _ in range(3)])
    before = copied(columns)
    loops.sort_columns(columns, 1, 2)
    for part, was in zip(columns[1:], before[1:], strict=True):
        np.testing.assert_array_equal(part[:300], was[:300])
        np.testing.assert_array_equal(part[600:], was[600:])
    assert (np.diff(columns.values[300:600]) >= 0).all()


@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (4, 0), (1, 1), (7, 300), (300, 7)])
def test_compiled_merge_equals_its_reference(sizes: tuple[int, int]) -> None:
    a, b = (unsorted([np.round(RNG.random(n), 1), np.empty(0), RNG.random(2 * n)]) for n in sizes)
    for columns in (a, b):
        loops.sort_columns_reference(columns, 0, 3)
    b = b._replace(rows=b.rows + np.uint32(1000))
    for part, wanted in zip(loops.merge_columns(a, b), loops.merge_columns_reference(a, b), strict=True):
        np.testing.assert_array_equal(part, wanted)


def test_the_values_of_a_row_are_found() -> None:
    columns = unsorted([RNG.random(20), RNG.random(9)])
    loops.sort_columns_reference(columns, 0, 2)
    for row, dims in [(3, [0, 1]), (15, [0]), (0, [])]:
        some = np.array(dims, dtype=np.uint16)
        expected = loops.values_of_row_reference(columns, some, row)
        np.testing.assert_array_equal(loops.values_of_row(columns, some, row), expected)

"""The few smallest numbers of each row, and where they stand: without sorting the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._compiled._caching import compiled

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[Any]


def smallest_of_rows_reference(A: Numbers, count: int) -> tuple[Ints, Numbers]:
    """The definition: columns (n, count) of the smallest numbers of each row, the smallest first, and the numbers.

    Of equal numbers the one further to the left comes first.
    """
    columns = np.argsort(A, axis=1, kind="stable")[:, :count].astype(np.int64)
    return columns, np.take_along_axis(A, columns, axis=1)


@compiled(nogil=True, error_model="numpy")
def smallest_of_rows(A: Numbers, count: int) -> tuple[Ints, Numbers]:
    """As `smallest_of_rows_reference`; `count` is from 1 to the number of columns, and all numbers are finite."""
    n, width = A.shape
    columns = np.empty((n, count), np.int64)
    numbers = np.empty((n, count), A.dtype)
    for i in range(n):
        found = 0
        for j in range(width):
            number = A[i, j]
            if found == count and number >= numbers[i, count - 1]:
                continue
            place = found if found < count else count - 1
            while place > 0 and numbers[i, place - 1] > number:
                numbers[i, place] = numbers[i, place - 1]
                columns[i, place] = columns[i, place - 1]
                place -= 1
            numbers[i, place] = number
            columns[i, place] = j
            found = min(found + 1, count)
    return columns, numbers

"""Training examples in the model file; what comes from there is checked, as it may have been edited."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from fewsight._base.encodings import DenseRows, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Rows, State

SMALLEST_SCALE = 1e-100  # what is divided by less is soon infinite
Matrix = Rows


def matrix_state(X: Matrix) -> State:
    return (SparseRows(X) if scipy.sparse.issparse(X) else DenseRows(np.asarray(X))).state()


def matrix_from_state(state: State) -> Matrix:
    """Rows of numbers, checked: nothing could be asked about rows without a column."""
    rows = (SparseRows if state.flag("sparse") else DenseRows).from_state(state)
    if not rows.shape[1]:
        raise InvalidInput("the training examples must have a column or more, got none.")
    return rows.matrix


def checked_scales(state: State, count: int | None) -> Array:
    """What each kernel is divided by: `count` numbers; where that is None, one or more."""
    scales = state.array("scales", (count,), np.float64, above=SMALLEST_SCALE, most=1 / SMALLEST_SCALE)
    if count is None and not len(scales):
        raise InvalidInput("the scales of the kernels must be one or more numbers, got none.")
    return scales

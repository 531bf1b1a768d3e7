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
    return (SparseRows if state.header["sparse"] else DenseRows).from_state(state).matrix


def checked_scales(state: State, count: int | None) -> Array:
    scales = state.arrays["scales"]
    if scales.dtype != np.float64 or scales.ndim != 1 or (count is not None and len(scales) != count):
        raise InvalidInput("the scales of the kernels must be one float64 number for each.")
    if not ((scales > SMALLEST_SCALE) & (scales < 1 / SMALLEST_SCALE)).all():
        raise InvalidInput("the scales of the kernels must be positive numbers of a sensible size.")
    return scales

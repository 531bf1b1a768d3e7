"""Training examples in the model file; what comes from there is checked, as it may have been edited."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from fewsight._base.checks import check_matrix
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, State

SMALLEST_SCALE = 1e-100  # what is divided by less is soon infinite
Matrix = Any  # a dense float64 array or a CSR matrix


def matrix_state(X: Matrix) -> State:
    if not scipy.sparse.issparse(X):
        return State({"sparse": False}, {"values": np.asarray(X)})
    X = X.tocsr()
    arrays = {"values": X.data, "columns": X.indices, "starts": X.indptr}
    return State({"sparse": True, "shape": [int(side) for side in X.shape]}, arrays)


def matrix_from_state(state: State) -> Matrix:
    values = state.arrays["values"]
    if values.dtype != np.float64 or not np.isfinite(values).all():
        raise InvalidInput("the training examples must be finite float64 numbers.")
    if not state.header["sparse"]:
        return check_matrix("model", "the training examples", values)
    matrix = scipy.sparse.csr_array(
        (values, state.arrays["columns"], state.arrays["starts"]), shape=tuple(state.header["shape"])
    )
    matrix.check_format(full_check=True)
    return matrix


def checked_scales(state: State, count: int | None) -> Array:
    scales = state.arrays["scales"]
    if scales.dtype != np.float64 or scales.ndim != 1 or (count is not None and len(scales) != count):
        raise InvalidInput("the scales of the kernels must be one float64 number for each.")
    if not ((scales > SMALLEST_SCALE) & (scales < 1 / SMALLEST_SCALE)).all():
        raise InvalidInput("the scales of the kernels must be positive numbers of a sensible size.")
    return scales

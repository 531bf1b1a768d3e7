"""The rows that kernels compare: checked once, and handed on in pieces that bound the memory.

Arrays become C-ordered float64; sparse matrices become canonical CSR (sorted, no duplicates, no stored zeros, float64)
without touching what the caller holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.checks import check_matrix, owner_name
from fewsight._base.encodings import Encodings, RowEncodings
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Rows, Sparse

RowsLike: TypeAlias = npt.ArrayLike | Sparse | Encodings  # what a caller may pass as rows

Converted = TypeVar("Converted", bound=Rows)

PIECE_BYTES = 32 * 2**20  # what a converted piece of rows may always take
RESULT_SHARE = 0.5  # of the result's size, if that is more: two pieces are alive at once


def check_rows(
    owner: object,
    name: str,
    value: RowsLike,
    *,
    width: int | None = None,
    dense_only: object | None = None,
    non_negative: object | None = None,
) -> Rows:
    """Finite rows of that width; `dense_only` and `non_negative` name the kernel for which they must be so."""
    if isinstance(value, Encodings):
        value = matrix_of(owner, name, value)
    if scipy.sparse.issparse(value):
        if dense_only is not None:
            raise InvalidInput(
                f"{owner_name(dense_only)}: {name} must be a dense array, got a sparse matrix; use {name}.toarray()."
            )
        rows = _check_sparse(owner, name, value, width)
    else:
        rows = _check_dense(owner, name, value, width)
    lowest = (rows if isinstance(rows, np.ndarray) else rows.data).min(initial=0.0)
    if non_negative is not None and lowest < 0:
        raise InvalidInput(f"{owner_name(non_negative)}: {name} must hold numbers >= 0 only, got {lowest:g}.")
    return rows


def matrix_of(owner: object, name: str, encodings: Encodings) -> Rows:
    """The matrix inside encodings that are rows."""
    if not isinstance(encodings, RowEncodings):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be rows of numbers, got {type(encodings).__name__}.")
    return encodings.matrix


def in_pieces(
    compare: Callable[[Converted, Converted | None], Array],
    convert: Callable[[Rows], Converted],
    A: Rows,
    B: Rows | None,
    bytes_per_row: float,
) -> Array:
    """`compare(convert(A), convert(B))`, converting a few rows at a time so that the copies stay small.

    `compare` gets None as its second argument for a piece against itself. With B None only the lower triangle is compared.
    """
    other = A if B is None else B
    budget = max(PIECE_BYTES, RESULT_SHARE * 8 * A.shape[0] * other.shape[0])
    size = max(1, int(budget / max(bytes_per_row, 1.0)))
    if A.shape[0] <= size and other.shape[0] <= size:
        return compare(convert(A), None if B is None else convert(B))
    K = np.empty((A.shape[0], other.shape[0]))
    for top in range(0, A.shape[0], size):
        here = slice(top, min(A.shape[0], top + size))
        piece = convert(A[here])
        for left in range(0, other.shape[0] if B is not None else top, size):
            there = slice(left, min(other.shape[0], left + size))
            K[here, there] = compare(piece, convert(other[there]))
            if B is None:
                K[there, here] = K[here, there].T
        if B is None:
            K[here, here] = compare(piece, None)
    return K


def as_sparse(rows: Rows) -> Sparse:
    """The rows as canonical CSR."""
    if not isinstance(rows, np.ndarray):
        return rows
    kept = rows != 0
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    dims = np.nonzero(kept)[1].astype(np.int32 if rows.shape[1] < 2**31 and starts[-1] < 2**31 else np.int64)
    return scipy.sparse.csr_array((rows[kept], dims, starts.astype(dims.dtype)), shape=rows.shape)


def as_dense(rows: Rows) -> Array:
    """The rows as an array."""
    return rows if isinstance(rows, np.ndarray) else rows.toarray()


def sparse_bytes_per_row(rows: Rows) -> float:
    """What a row takes as CSR, or 0 if it is that already."""
    return 12.0 * np.count_nonzero(rows) / max(1, len(rows)) if isinstance(rows, np.ndarray) else 0.0


def dense_bytes_per_row(rows: Rows) -> float:
    """What a row takes as an array, or 0 if it is that already."""
    return 0.0 if isinstance(rows, np.ndarray) else 8.0 * rows.shape[1]


def row_sums(rows: Rows, power: int = 1) -> Array:
    """The sum of each row's numbers, each raised to a power first."""
    if isinstance(rows, np.ndarray):
        return np.einsum("ij,ij->i", rows, rows) if power == 2 else (rows**power).sum(axis=1)
    raised = scipy.sparse.csr_array((rows.data**power, rows.indices, rows.indptr), shape=rows.shape)
    return np.asarray(raised.sum(axis=1), dtype=np.float64).ravel()


def _check_dense(owner: object, name: str, value: npt.ArrayLike, width: int | None) -> Array:
    try:
        array = np.asarray(value)
        array = array if np.iscomplexobj(array) else array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a matrix of numbers, got something else.") from None
    if np.iscomplexobj(array):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a matrix of real numbers, got complex ones.")
    return np.ascontiguousarray(check_matrix(owner, name, array, shape=(None, width)))


def _check_sparse(owner: object, name: str, value: Sparse, width: int | None) -> Sparse:
    if value.ndim != 2 or (width is not None and value.shape[1] != width):
        wanted = f"any x {'any' if width is None else width}"
        was = " x ".join(map(str, value.shape))
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a matrix of {wanted}, got {was}.")
    if value.dtype.kind not in "biuf":
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a matrix of real numbers, got {value.dtype}.")
    try:
        rows = scipy.sparse.csr_array(value, dtype=np.float64)  # shares what it can
    except (ValueError, IndexError):  # SciPy finds it broken
        rows = None
    if rows is None or not _is_sound(rows):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a sound sparse matrix, got indices outside of it.")
    if not np.isfinite(rows.data).all():
        raise InvalidInput(f"{owner_name(owner)}: {name} must hold finite numbers only, got NaN or infinity.")
    return _canonical(rows)


def _canonical(rows: Sparse) -> Sparse:
    """The same matrix with sorted, distinct indices and no stored zeros; a copy only if that takes one."""
    if rows.has_canonical_format and rows.data.all():
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _is_sound(rows: Sparse) -> bool:
    """Compiled loops follow these indices without looking."""
    starts, dims = rows.indptr, rows.indices
    ordered = starts[0] == 0 and bool((np.diff(starts) >= 0).all()) and starts[-1] <= min(len(dims), len(rows.data))
    return ordered and (dims.size == 0 or (dims.min() >= 0 and dims.max() < rows.shape[1]))

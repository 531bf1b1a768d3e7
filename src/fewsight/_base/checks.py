"""Checks that name who asked, which argument, what it must be and what it was."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput

if TYPE_CHECKING:
    from fewsight._base.types import Array, Indices, Json

TILE = 128  # two tiles of float64 and their difference stay in the cache
LARGEST = 1e100  # of any number in a model; what is computed from larger ones is soon infinite
SYMMETRY = 1e-8  # of the largest value


def owner_name(owner: object) -> str:
    """The name an error message gives to whoever checks: a class name, or the text itself."""
    return owner if isinstance(owner, str) else type(owner).__name__


def shown(value: object) -> str:
    """A value as an error message shows it: short, whatever was passed."""
    text = repr(value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufcSU" else value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_positive(owner: object, name: str, value: Json) -> float:
    """A finite number above zero, as a float."""
    try:
        number = float(value) if is_number(value) else math.nan
    except OverflowError:  # a whole number beyond all floats
        number = math.inf
    if LARGEST < number < math.inf:  # no model file takes it
        raise InvalidInput(f"{owner_name(owner)}: {name} must be at most {LARGEST:g}, got {shown(value)}.")
    if not 0 < number < math.inf:
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a finite number > 0, got {shown(value)}.")
    return number


def check_integer(owner: object, name: str, value: Json | np.integer, *, least: int, most: int | None = None) -> int:
    """A whole number of at least `least` and, where that is given, at most `most`, as an int."""
    if not _is_whole(value) or value < least or (most is not None and value > most):
        wanted = f">= {least}" if most is None else f"from {least} to {most:,}"
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a whole number {wanted}, got {shown(value)}.")
    return int(value)


def check_number(owner: object, name: str, value: Json, *, least: float, most: float) -> float:
    """A number from `least` to `most`, as a float."""
    if not is_number(value) or not least <= value <= most:
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be a number from {least:g} to {most:g}, got {shown(value)}."
        )
    return float(value)


def check_flag(owner: object, name: str, value: object) -> bool:
    """True or False, and nothing that Python merely takes for one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be True or False, got {shown(value)}.")
    return bool(value)


def check_share(owner: object, name: str, value: Json) -> float:
    """A number above 0 and below 1, as a float."""
    if not is_number(value) or not 0 < value < 1:
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a number between 0 and 1, got {shown(value)}.")
    return float(value)


def check_memory(owner: object, what: str, n_bytes: int, most: int) -> None:
    """Refuse, before it is allocated, what would take more than `most` bytes."""
    if n_bytes > most:
        raise InvalidInput(
            f"{owner_name(owner)}: {what} must fit into {most / 2**20:,.0f} megabytes of memory, "
            f"got {n_bytes / 2**20:,.0f} megabytes."
        )


def check_choice(owner: object, name: str, value: Json, choices: Collection[str]) -> str:
    """One of a few words; the message lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInput(f"{owner_name(owner)}: {name} must be one of {listed}, got {shown(value)}.")
    return value


def check_matrix(
    owner: object, name: str, value: npt.ArrayLike, *, shape: tuple[int | None, int | None] = (None, None)
) -> Array:
    """A finite float64 matrix whose sides equal `shape` wherever that is not None."""
    if hasattr(value, "toarray"):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be dense, got a sparse matrix; pass its toarray().")
    matrix = np.asarray(value, dtype=np.float64)
    fits = matrix.ndim == 2 and all(
        want is None or want == side for want, side in zip(shape, matrix.shape, strict=False)
    )
    if not fits:
        wanted = " x ".join("any" if side is None else str(side) for side in shape)
        was = " x ".join(map(str, matrix.shape)) or "a single number"
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a matrix of {wanted}, got {was}.")
    if not np.isfinite(matrix).all():
        raise InvalidInput(f"{owner_name(owner)}: {name} must hold finite numbers only, got NaN or infinity.")
    return matrix


def check_indices(owner: object, value: npt.ArrayLike, n: int) -> Indices:
    """Distinct whole numbers from 0 to below n."""
    indices = np.atleast_1d(np.asarray(value))
    if indices.size == 0:
        return np.zeros(0, dtype=np.intp)
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise InvalidInput(f"{owner_name(owner)}: indices must be a list of whole numbers, got {shown(value)}.")
    if indices.min() < 0 or indices.max() >= n:
        raise InvalidInput(f"{owner_name(owner)}: indices must be from 0 to below {n}, got {shown(value)}.")
    if len(np.unique(indices)) != len(indices):
        raise InvalidInput(f"{owner_name(owner)}: indices must name each example once, got {shown(value)}.")
    return indices.astype(np.intp)


def check_gram(owner: object, name: str, value: npt.ArrayLike) -> Array:
    """A finite, square, symmetric float64 matrix."""
    if _is_square(value) and is_plainly_symmetric(value):
        return np.asarray(value)
    matrix = check_matrix(owner, name, value)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be square (training x training), "
            f"got {matrix.shape[0]} x {matrix.shape[1]}."
        )
    scale = max(1e-300, float(np.abs(matrix).max(initial=0.0)))
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=SYMMETRY * scale):
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be symmetric, got a matrix that differs from its transpose."
        )
    return matrix


def is_plainly_symmetric(K: Array) -> bool:
    """Whether K is finite and symmetric beyond doubt; a square matrix for which this is False needs a closer look."""
    tiles = [slice(start, start + TILE) for start in range(0, len(K), TILE)]
    asymmetry = 0.0
    with np.errstate(invalid="ignore", over="ignore"):  # NaN and infinity make the comparison below False
        for i, rows in enumerate(tiles):
            for columns in tiles[: i + 1]:
                difference = K[rows, columns] - K[columns, rows].T
                asymmetry += float(np.einsum("ij,ij->", difference, difference))
    return bool(np.sqrt(asymmetry) <= SYMMETRY * np.abs(K.diagonal()).max(initial=0.0))


def _is_square(value: npt.ArrayLike) -> TypeGuard[Array]:
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 2:
        return False
    return bool(value.shape[0] == value.shape[1] > 0)


def is_number(value: Json) -> TypeGuard[float]:
    """Whether a value is a real number, of Python or NumPy, and no truth value."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def _is_whole(value: Json | np.integer) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))

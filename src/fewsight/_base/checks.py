"""Checks that name who asked, which argument, what it must be and what it was."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array


def owner_name(owner: object) -> str:
    """The name an error message gives to whoever checks: a class name, or the text itself."""
    return owner if isinstance(owner, str) else type(owner).__name__


def shown(value: Any) -> str:
    """A value as an error message shows it: short, whatever was passed."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def check_positive(owner: object, name: str, value: Any) -> float:
    """A finite number above zero, as a float."""
    if not _is_number(value) or not (math.isfinite(value) and value > 0):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a finite number > 0, got {shown(value)}.")
    return float(value)


def check_integer(owner: object, name: str, value: Any, *, least: int) -> int:
    """A whole number of at least `least`, as an int."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a whole number >= {least}, got {shown(value)}.")
    return int(value)


def check_choice(owner: object, name: str, value: Any, choices: Collection[str]) -> str:
    """One of a few words; the message lists them."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise InvalidInput(f"{owner_name(owner)}: {name} must be one of {listed}, got {shown(value)}.")
    return value


def check_matrix(owner: object, name: str, value: Any, *, shape: tuple[int | None, int | None] = (None, None)) -> Array:
    """A finite float64 matrix whose sides equal `shape` wherever that is not None."""
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


def check_gram(owner: object, name: str, value: Any) -> Array:
    """A finite, square, symmetric float64 matrix."""
    matrix = check_matrix(owner, name, value)
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be square (training x training), "
            f"got {matrix.shape[0]} x {matrix.shape[1]}."
        )
    scale = max(1e-300, float(np.abs(matrix).max(initial=0.0)))
    if not np.allclose(matrix, matrix.T, rtol=0.0, atol=1e-8 * scale):
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be symmetric, got a matrix that differs from its transpose."
        )
    return matrix


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))

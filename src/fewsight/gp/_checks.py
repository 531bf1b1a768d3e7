"""Checks at the doors of gp/, cheap beside a factorisation of the same size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_gram, check_matrix, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp.gram_sums import GramList, Grams


def check_covariance(owner: object, name: str, value: npt.ArrayLike, *, n: int | None = None) -> Array:
    """A finite symmetric float64 matrix, n x n if n is given. Never a copy of a float64 array."""
    matrix = np.asarray(value, dtype=np.float64)
    if n is not None and matrix.shape != (n, n):
        check_matrix(owner, name, matrix, shape=(n, n))
    return check_gram(owner, name, matrix)


def check_grams(owner: object, grams: Grams | Sequence[npt.ArrayLike]) -> Grams:
    """One or more covariance matrices of one size; those of a stack were checked when they came in."""
    if isinstance(grams, Grams) and not isinstance(grams, GramList) and len(grams):
        return grams
    checked: list[Array] = []
    for i, gram in enumerate(grams):
        checked.append(check_covariance(owner, f"grams[{i}]", gram, n=len(checked[0]) if checked else None))
    if not checked:
        raise InvalidInput(f"{owner_name(owner)}: grams must hold at least one matrix, got none.")
    return GramList(checked)


def check_per_example(owner: object, name: str, value: npt.ArrayLike, n: int) -> Array:
    """One finite number > 0 for each of n examples, as a new array; a single number stands for all."""
    given = np.asarray(value, dtype=np.float64)
    if given.shape not in ((), (n,)):
        raise InvalidInput(
            f"{owner_name(owner)}: {name} must be one number or one for each of {n} examples, got shape {given.shape}."
        )
    if not (np.isfinite(given) & (given > 0)).all():
        raise InvalidInput(f"{owner_name(owner)}: {name} must be finite and > 0, got {shown(value)}.")
    return np.full(n, given)


def check_some_targets(owner: str, targets: npt.ArrayLike, n: int) -> Array:
    checked = check_matrix(owner, "targets", targets, shape=(n, None))
    if not checked.size:
        raise InvalidInput(f"{owner}: targets must hold at least one number, got none.")
    return checked

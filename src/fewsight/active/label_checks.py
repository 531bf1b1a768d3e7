"""Answers as a person gives them: checked before anything is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewsight._base.checks import owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NoneOfThese
from fewsight._base.types import Indices
from fewsight.active.views.base import Answer, Label

Positions = int | Sequence[int] | Indices
Answers = Sequence[Answer | None] | np.ndarray
KINDS = {"string": (str, np.str_), "boolean": (bool, np.bool_), "integer": (int, np.integer)}


def checked_positions(owner: object, indices: Positions, m: int | None) -> Indices:
    """Distinct positions in a pool of m, if that is known; a single one is a list of one."""
    positions = np.atleast_1d(np.asarray(indices))
    if positions.size == 0:
        return np.zeros(0, dtype=np.intp)
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise InvalidInput(
            f"{owner_name(owner)}: indices must be whole numbers, positions in the pool, got {shown(indices)}."
        )
    if positions.min() < 0 or (m is not None and positions.max() >= m):
        wanted = "0 or more" if m is None else f"from 0 to below {m}"
        raise InvalidInput(f"{owner_name(owner)}: indices must be {wanted}, got {shown(indices)}.")
    if len(np.unique(positions)) < len(positions):
        raise InvalidInput(f"{owner_name(owner)}: indices must name each example once, got {shown(indices)}.")
    return positions.astype(np.intp)


def checked_labels(owner: object, labels: Answers | Answer, n: int, known: Sequence[Answer]) -> list[Answer]:
    """One label for each of n examples, all strings, all integers or all booleans, as the known ones, or `NONE_OF_THESE`."""
    single = isinstance(labels, (str, bool, int, np.generic, NoneOfThese)) or not hasattr(labels, "__len__")
    given: list[Any] = [labels] if single else list(labels.tolist() if isinstance(labels, np.ndarray) else labels)  # type: ignore[arg-type]
    if len(given) != n:
        raise InvalidInput(f"{owner_name(owner)}: labels must be one for each of {n} examples, got {len(given)}.")
    named = next((label for label in known if not isinstance(label, NoneOfThese)), None)
    wanted = None if named is None else kind_of(owner, named)
    alike = isinstance(labels, np.ndarray) and labels.dtype.kind in "biuU"  # all as the first
    for label in given[:1] if alike else given:
        if isinstance(label, NoneOfThese):
            continue
        kind = kind_of(owner, label)
        wanted = wanted or kind
        if kind != wanted:
            raise InvalidInput(
                f"{owner_name(owner)}: labels must all be of type {wanted}, as the first, got {shown(label)}."
            )
    return given if alike else [label.item() if isinstance(label, np.generic) else label for label in given]


def kind_of(owner: object, label: Label | None) -> str:
    """What type a label is of."""
    for kind, types in KINDS.items():
        if isinstance(label, types):
            return kind
    raise InvalidInput(f"{owner_name(owner)}: labels must be strings, integers or booleans, got {shown(label)}.")


def given_labels(owner: object, labels: Answers | None, m: int) -> tuple[list[int], list[Answer]]:
    """Positions and labels of those that have one; None stands for no label."""
    if labels is None:
        return [], []
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(values) != m:
        raise InvalidInput(
            f"{owner_name(owner)}: labels must be one for each of {m} examples (None = no label), got {len(values)}."
        )
    positions = [position for position, label in enumerate(values) if label is not None]
    return positions, checked_labels(owner, [values[position] for position in positions], len(positions), [])

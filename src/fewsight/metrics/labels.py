"""Labels as positions in a list of classes: what every metric of this folder starts with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_matrix, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices

Labels = Sequence[Any] | npt.NDArray[Any]


def as_sequence(owner: str, name: str, labels: Labels) -> list[Any]:
    """The labels as a list with at least one of them."""
    values = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if not isinstance(values, list) or not values:
        raise InvalidInput(f"{owner}: {name} must hold at least one label, got {shown(labels)}.")
    return values


def positions(owner: str, name: str, labels: Labels, classes: Iterable[Any]) -> Indices:
    """Where each label stands in `classes`."""
    place = {label: index for index, label in enumerate(classes)}
    values = as_sequence(owner, name, labels)
    strangers = [label for label in values if label not in place]
    if strangers:
        raise InvalidInput(f"{owner}: {name} must hold members of classes only, got {shown(strangers[0])}.")
    return np.array([place[label] for label in values], dtype=np.intp)


def check_same_length(owner: str, first: str, n_first: int, second: str, n_second: int) -> None:
    """Two arguments speak of the same examples."""
    if n_first != n_second:
        raise InvalidInput(
            f"{owner}: {second} must have one entry for each of the {n_first} in {first}, got {n_second}."
        )


def check_scores(owner: str, name: str, scores: npt.ArrayLike, n_examples: int, n_classes: int) -> Array:
    """A finite matrix with one row per example and one column per class."""
    return check_matrix(owner, name, scores, shape=(n_examples, n_classes))


def check_probabilities(owner: str, probabilities: npt.ArrayLike, n_examples: int, n_classes: int) -> Array:
    """As `check_scores`, and every row is a distribution (to the accuracy of float32)."""
    matrix = check_scores(owner, "probabilities", probabilities, n_examples, n_classes)
    if matrix.min() < -1e-6 or matrix.max() > 1 + 1e-6:
        raise InvalidInput(
            f"{owner}: probabilities must lie between 0 and 1, got {matrix.min():g} to {matrix.max():g}."
        )
    worst = float(np.abs(matrix.sum(axis=1) - 1).max())
    if worst > 1e-3:
        raise InvalidInput(f"{owner}: each row of probabilities must sum to 1, got a row that is off by {worst:g}.")
    return matrix

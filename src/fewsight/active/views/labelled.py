"""What views that follow labels have in common: the labels, and probabilities by calibration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.views.base import Label, View
from fewsight.learners.calibration import Calibration
from fewsight.learners.probability import largest_probability

OUTSIDE = -1  # the position of a labelled example that is not in the pool


class Labelled(NamedTuple):
    """Labelled examples in the order in which the labels came, and the order of the columns of their classes."""

    positions: list[int]
    labels: list[Label]
    classes: list[Label]

    @classmethod
    def none(cls) -> Labelled:
        return cls([], [], [])

    def first(self, n: int) -> Labelled:
        """The first n, and the first classes, as many as hold all of theirs: the order of columns stays."""
        labels = self.labels[:n]
        n_classes = max((self.classes.index(label) + 1 for label in set(labels)), default=0)
        return Labelled(self.positions[:n], labels, self.classes[:n_classes])

    def targets(self) -> Array:
        """+1 in the column of an example's class, -1 in all others (n, c)."""
        column_of = {label: column for column, label in enumerate(self.classes)}
        targets = np.full((len(self.labels), len(self.classes)), -1.0)
        targets[np.arange(len(self.labels)), [column_of[label] for label in self.labels]] = 1.0
        return targets


class ClosedForm(NamedTuple):
    """What leaving out labelled examples in closed form takes."""

    covariance: Array  # (n, n)
    targets: Array  # (n, c)
    noise: Array  # (n,)


class LabelledView(View):
    """A view that keeps its labels in the order in which they came; `append`, `take_back` and `start` change it.

    Probabilities come from `calibration` or, without one, from the variances.
    """

    calibration: Calibration | None = None

    def __init__(self, diagonal: Array) -> None:
        self.classes: list[Label] = []
        self.labels: list[Label] = []
        self._positions: list[int] = []
        self.diagonal = diagonal
        self.unlabelled = np.ones(len(diagonal), dtype=bool)

    @abstractmethod
    def _forget(self) -> None:
        """What was learned no longer holds; all labels are learned when something is read."""

    @abstractmethod
    def closed_form(self) -> ClosedForm | None:
        """Of the labelled examples; None for a learner that has no closed form."""

    @property
    def n_labelled(self) -> int:
        return len(self.labels)

    @property
    def positions(self) -> Indices:
        """Where the labelled examples stand in the pool, in the order of their labels; -1 for those outside."""
        return np.array(self._positions, dtype=np.intp)

    @property
    def labelled(self) -> Labelled:
        """The labels, for somebody who keeps them."""
        return Labelled(list(self._positions), list(self.labels), list(self.classes))

    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        if not len(mean):
            return np.zeros_like(mean)
        if self.calibration is not None:
            return self.calibration.probabilities(mean)
        return largest_probability(mean, np.sqrt(variance + self.noise_variance))

    def append(self, position: int, label: Label) -> None:
        """Learn one label."""
        if label not in self.classes:
            self.classes.append(label)
        self._positions.append(int(position))
        self.labels.append(label)
        self.unlabelled[position] = False

    def take_back(self) -> Label:
        """Forget the last label, also where it introduced a class; returns it."""
        if not self.labels or self._positions[-1] == OUTSIDE:
            raise InvalidInput(f"{type(self).__name__}: no label of this pool is left to take back.")
        self.unlabelled[self._positions.pop()] = True
        label = self.labels.pop()
        if label not in self.labels:
            self.classes.remove(label)
        return label

    def start(self, positions: Sequence[int], labels: Sequence[Label], classes: Sequence[Label]) -> None:
        """Learn all of these at once, in place of what was learned; `classes` gives the order of columns."""
        self._positions, self.labels, self.classes = [int(place) for place in positions], list(labels), list(classes)
        self.unlabelled[:] = True
        self.unlabelled[self._positions] = False
        self._forget()

    def guess(self, position: int) -> Label | None:
        """What an example is taken for now; None while no class is known."""
        return self.classes[int(self.mean[position].argmax())] if self.classes else None

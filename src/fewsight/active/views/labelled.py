"""What views that follow labels have in common: the labels themselves, and probabilities by calibration."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.views.base import Mask, View
from fewsight.learners.calibration import Calibration
from fewsight.learners.probability import largest_probability


class CalibratedView(View):
    """A view of a Gaussian process, whose probabilities come from `calibration` or, without one, from its variances."""

    calibration: Calibration | None

    def probabilities(self, rows: Indices | None = None) -> Array:
        mean = self.mean if rows is None else self.mean[rows]
        variance = self.variance if rows is None else self.variance[rows]
        return self.probabilities_of(mean, variance)

    def probabilities_of(self, mean: Array, variance: Array) -> Array:
        """Probabilities of any latent means (r, c) and variances (r,)."""
        if not len(mean):
            return np.zeros_like(mean)
        if self.calibration is not None:
            return self.calibration.probabilities(mean)
        return largest_probability(mean, np.sqrt(variance + self.noise_variance))


class LabelledView(View):
    """A view that keeps its labels in the order in which they came, and learns from them when something is read."""

    def __init__(self) -> None:
        self.classes: list[Any] = []
        self.labels: list[Any] = []
        self._positions: list[int] = []

    @abstractmethod
    def _forget(self) -> None:
        """What was learned no longer holds."""

    @property
    def n_labelled(self) -> int:
        return len(self.labels)

    @property
    def positions(self) -> Indices:
        """Where the labelled examples stand in the pool, in the order of their labels."""
        return np.array(self._positions, dtype=np.intp)

    @property
    def unlabelled(self) -> Mask:
        mask = np.ones(len(self), dtype=bool)
        mask[self.positions] = False
        return mask

    def append(self, position: int, label: Any) -> None:
        """Learn one label."""
        if label not in self.classes:
            self.classes.append(label)
        self._positions.append(int(position))
        self.labels.append(label)
        self._forget()

    def take_back(self) -> Any:
        """Forget the last label, also where it introduced a class; returns it."""
        if not self.labels:
            raise InvalidInput(f"{type(self).__name__}: no label is left to take back.")
        self._positions.pop()
        label = self.labels.pop()
        if label not in self.labels:
            self.classes.remove(label)
        self._forget()
        return label

    def start(self, positions: Sequence[int], labels: Sequence[Any], classes: Sequence[Any]) -> None:
        """Learn all of these, in place of what was learned; `classes` gives the order of columns."""
        self._positions, self.labels, self.classes = [int(place) for place in positions], list(labels), list(classes)
        self._forget()

"""What views that follow labels have in common: the labels, and probabilities by calibration."""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import NoneOfThese
from fewsight._base.types import Array, Indices
from fewsight.active.pools import Pool
from fewsight.active.views.base import Answer, Label, View
from fewsight.gp import Posterior
from fewsight.learners import Loan
from fewsight.learners.balance import balanced_targets
from fewsight.learners.calibration import Calibration
from fewsight.learners.labels import NO_CLASS
from fewsight.learners.novelty import Novelty, Signs, relative
from fewsight.learners.probability import largest_probability

OUTSIDE = -1  # the position of a labelled example that is not in the pool


class Labelled(NamedTuple):
    """Labelled examples in the order in which the labels came, and the order of the columns of their classes.

    `NONE_OF_THESE` is a label and no class.
    """

    positions: list[int]
    labels: list[Answer]
    classes: list[Label]

    @classmethod
    def none(cls) -> Labelled:
        return cls([], [], [])

    def first(self, n: int) -> Labelled:
        """The first n, and the first classes, as many as hold all of theirs: the order of columns stays."""
        labels = self.labels[:n]
        named = {label for label in labels if not isinstance(label, NoneOfThese)}
        n_classes = max((self.classes.index(label) + 1 for label in named), default=0)
        return Labelled(self.positions[:n], labels, self.classes[:n_classes])

    def targets(self) -> Array:
        """+1 in the column of an example's class, -1 in all others (n, c); -1 in all for an example of none."""
        numbers = self.numbers()
        targets = np.full((len(self.labels), len(self.classes)), -1.0)
        rows = np.flatnonzero(numbers != NO_CLASS)
        targets[rows, numbers[rows]] = 1.0
        return targets

    def numbers(self) -> Indices:
        """The column of each example's class (n,), `NO_CLASS` for one of none."""
        column_of: dict[Answer, int] = {label: column for column, label in enumerate(self.classes)}
        return np.array([column_of.get(label, NO_CLASS) for label in self.labels], dtype=np.intp)


class ClosedForm(NamedTuple):
    """What leaving out labelled examples in closed form takes; `balanced`: with levels of targets that follow the counts."""

    covariance: Array  # (n, n)
    targets: Array  # (n, c), +1 and -1
    noise: Array  # (n,)
    balanced: bool = False

    def posterior(self, n: int | None = None) -> Posterior:
        """Of all examples, or of the first n.

        Parameters
        ----------
        n : how many, 1 or more; None for all.
        """
        first = slice(0, n)
        targets = balanced_targets(self.targets[first]) if self.balanced else self.targets[first]
        return Posterior.condition(self.covariance[first, first], targets, self.noise[first])


class LabelledView(View):
    """A view that keeps its labels in the order in which they came; `append`, `take_back` and `start` change it.

    Probabilities come from `calibration` or, without one, from the variances.
    """

    calibration: Calibration | None = None
    novelty: Novelty | None = None  # what is like no class; None where that is not known

    def __init__(self, diagonal: Array) -> None:
        self.classes: list[Label] = []
        self.labels: list[Answer] = []
        self._positions: list[int] = []
        self.diagonal = diagonal
        self.unlabelled = np.ones(len(diagonal), dtype=bool)
        self.loans: Mapping[Label, Loan] = {}  # what categories borrow from others

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
        """Where the labelled examples stand in the pool, in the order of their labels (n,); -1 for those outside."""
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

    def lend(self, loans: Mapping[Label, Loan]) -> None:
        """From now on categories borrow so, and not otherwise.

        Parameters
        ----------
        loans : by the label of a category, from whom and how much it borrows.
        """
        self.loans = loans

    def strangeness(self, rows: Indices | None = None) -> Array | None:
        """How little these examples, or all, are like any class; above `novelty.threshold` they are unknown.

        Parameters
        ----------
        rows : positions (r,), from 0; None for all m.

        Returns
        -------
        array (r,) or None
            Higher is stranger; None where nothing is known about it.
        """
        if self.novelty is None or not self.classes:
            return None
        chosen = np.arange(len(self)) if rows is None else rows
        mean, variance = self.mean[chosen], self.variance[chosen]
        familiar, similarity = self._familiarity(chosen)
        share = relative(familiar, self.diagonal[chosen])
        return self.novelty.score(Signs.of(mean, share, self.probabilities_of(mean, variance), similarity))

    def _familiarity(self, rows: Indices) -> tuple[Array, Array | None]:
        """Of these examples, the variance, and the largest cosine with a labelled one where it counts."""
        return self.variance[rows], None

    def append(self, position: int, label: Answer) -> None:
        """Learn one label.

        Parameters
        ----------
        position : of the example in the pool.
        label : its label.
        """
        if not isinstance(label, NoneOfThese) and label not in self.classes:
            self.classes.append(label)
        self._positions.append(int(position))
        self.labels.append(label)
        self.unlabelled[position] = False

    def extend(self, positions: Sequence[int], labels: Sequence[Answer]) -> list[Label | None]:
        """Learn some labels; of each example, what it was taken for before its own label came and after those before it.

        Parameters
        ----------
        positions : of k examples in the pool.
        labels : their k labels.
        """
        believed: list[Label | None] = []
        for position, label in zip(positions, labels, strict=True):
            believed.append(self.guess(position))
            self.append(position, label)
        return believed

    def grow(self, pool: Pool) -> bool:
        """Go on with a pool that has further examples; False if the view cannot, and has to be made anew.

        Parameters
        ----------
        pool : the pool with further examples at its end.
        """
        return False

    @contextlib.contextmanager
    def supposing(self, positions: Indices) -> Iterator[bool]:
        """For a while, these examples have a label; True where it is learned as well: what each is taken for.

        Parameters
        ----------
        positions : (k,), of examples in the pool, from 0.
        """
        before = self.unlabelled.copy()
        self.unlabelled[positions] = False
        try:
            yield False
        finally:
            self.unlabelled[:] = before

    def take_back(self) -> Answer:
        """Forget the last label, also where it introduced a class; returns it."""
        if not self.labels or self._positions[-1] == OUTSIDE:
            raise InvalidInput(f"{type(self).__name__}: no label of this pool is left to take back.")
        self.unlabelled[self._positions.pop()] = True
        label = self.labels.pop()
        if not isinstance(label, NoneOfThese) and label not in self.labels:
            self.classes.remove(label)
        return label

    def start(self, positions: Sequence[int], labels: Sequence[Answer], classes: Sequence[Label]) -> None:
        """Learn all of these at once, in place of what was learned; `classes` gives the order of columns.

        Parameters
        ----------
        positions : of n examples in the pool.
        labels : their n labels.
        classes : the order of the columns.
        """
        self._positions, self.labels, self.classes = [int(place) for place in positions], list(labels), list(classes)
        self.unlabelled[:] = True
        self.unlabelled[self._positions] = False
        self._forget()

    def guess(self, position: int) -> Label | None:
        """What an example is taken for now; None while no class is known.

        Parameters
        ----------
        position : of the example in the pool.
        """
        return self.classes[int(self.mean[position].argmax())] if self.classes else None


def targets_for(label: Answer, classes: Sequence[Label]) -> Array:
    """+1 for the class of a label, -1 for all others (c,)."""
    return np.array([1.0 if known == label else -1.0 for known in classes])

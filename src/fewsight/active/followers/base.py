"""What follows the labels of a pool, whatever the learner is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.assessment.suspicion import surprises_at
from fewsight.active.history import Plain
from fewsight.active.pools import Pool
from fewsight.active.views import Labelled, LabelledView
from fewsight.active.views.base import Mask
from fewsight.learners import Learner
from fewsight.learners.calibration import Calibration
from fewsight.learners.examples import KernelLike
from fewsight.learners.labels import NO_CLASS
from fewsight.learners.novelty import Novelty

LEAST_TO_LEARN = 10  # labels; with fewer, noise and weights that are to be learned are the plain ones
Recorded = Mapping[str, Plain]
Settings = TypeVar("Settings")  # what is learned at intervals


class LeftOut(NamedTuple):
    """Of each labelled example, left out in closed form: means (n, c), and the class (n,) that is right.

    An example of no class has the number `NO_CLASS`; `unknown` (n,) says what would be called unknown, where that is known.
    """

    mean: Array
    truth: Indices
    calibration: Calibration
    unknown: Mask | None = None

    def wrong(self) -> Mask:
        """Of each, whether the others get it wrong: another class or, of no class, not called unknown."""
        wrong: Mask = self.mean.argmax(axis=1) != self.truth if self.mean.shape[1] else np.ones(len(self.truth), bool)
        return wrong if self.unknown is None else np.where(self.truth == NO_CLASS, ~self.unknown, wrong)


class Certainty(NamedTuple):
    """How sure to be, and what is like no class; None where a learner does not say."""

    calibration: Calibration | None = None
    novelty: Novelty | None = None


class Follower(ABC, Generic[Settings]):
    """A learner on a pool: the view that rules read, what is learned at intervals, and the learner that a user takes away.

    One final class for each kind of learner. It holds no labels: what it returns depends on what it is given alone.
    """

    def __init__(self, template: Learner, pool: Pool, known: Indices) -> None:
        """`template` is not fitted; nothing is learned from examples that are not at `known`."""
        self.template, self.pool, self.known = template, pool, known

    @classmethod
    def kernel(cls, template: Learner) -> KernelLike:
        """What the pool is compared by."""
        return template.kernel

    @abstractmethod
    def plain(self) -> Settings:
        """What is given, and plain values for what is to be learned."""

    @abstractmethod
    def _learn(self, labelled: Labelled) -> Settings:
        """Learn from the labels of two classes or more."""

    @abstractmethod
    def view(self, settings: Settings) -> LabelledView:
        """The pool as these settings let it be seen, without any label."""

    @abstractmethod
    def learner(self, labelled: Labelled, settings: Settings) -> Learner:
        """The learner with these labels, ready for new examples."""

    @abstractmethod
    def certainty(self, labelled: Labelled, settings: Settings) -> Certainty:
        """How sure to be and what is unknown, learned from these labels, of one class or more."""

    @abstractmethod
    def left_out(self, view: LabelledView, settings: Settings) -> LeftOut | None:
        """Each labelled example predicted from the others; None for a learner without a closed form."""

    @abstractmethod
    def record(self, settings: Settings) -> Recorded | None:
        """The settings as JSON can hold them; None if they are to be learned again."""

    @abstractmethod
    def from_record(self, record: Recorded) -> Settings:
        """What `record` made a record of."""

    def learn(self, labelled: Labelled) -> Settings:
        """What these labels teach: a pure function of them. Few labels, or one class, teach nothing."""
        if len(labelled.labels) < LEAST_TO_LEARN or len(labelled.classes) < 2:
            return self.plain()
        return self._learn(labelled)

    def surprises(self, view: LabelledView) -> Array:
        """Of each label (n,), see `assessment.suspicion`."""
        known = view.closed_form()
        assert known is not None, "every closed form can leave out examples"
        return surprises_at(known._replace(balanced=False).posterior()) if view.labels else np.zeros(0)

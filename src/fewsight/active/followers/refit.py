"""Any other learner on a pool: fitted again after every label."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import final

import numpy as np
from sklearn.base import clone

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.followers.base import Certainty, Follower, Recorded
from fewsight.active.views import Labelled, LabelledView, RefittedView
from fewsight.learners import KernelLearner, Latent, Learner
from fewsight.learners.labels import Labels, with_outsiders


class RefitFollower(Follower[None]):
    """Follows with `RefittedView`; nothing is learned at intervals."""

    @abstractmethod
    def _fit(self, positions: Indices, labels: Labels) -> tuple[Learner, Latent]:
        """The learner with these labels, and what it says about the whole pool."""

    @abstractmethod
    def _taken_away(self, fitted: Learner, positions: Indices) -> Learner:
        """A fitted learner, taking examples of the form in which the pool came."""

    def plain(self) -> None:
        return None

    def _learn(self, labelled: Labelled) -> None:
        return None

    def view(self, settings: None) -> RefittedView:
        return RefittedView(self.pool, type(self.template).__name__, self.pool.scales(self.known), self._fit)

    def learner(self, labelled: Labelled, settings: None) -> Learner:
        positions = np.array(labelled.positions, dtype=np.intp)
        fitted, _ = self._fit(positions, with_outsiders(labelled.labels))
        return self._taken_away(fitted, positions)

    def certainty(self, labelled: Labelled, settings: None) -> Certainty:
        return Certainty()

    def left_out(self, view: LabelledView, settings: None) -> None:
        return None

    def surprises(self, view: LabelledView) -> Array:
        raise InvalidInput(
            f"ActiveLearner: suspicious needs a GPClassifier, which can leave out examples in closed form, got "
            f"{type(self.template).__name__}."
        )

    def record(self, settings: None) -> None:
        return None

    def from_record(self, record: Recorded) -> None:
        return None


@final
class GramFollower(RefitFollower):
    """Of a learner that sees its examples through Gram matrices: those of the pool are computed once."""

    template: KernelLearner

    def _fit(self, positions: Indices, labels: Labels) -> tuple[Learner, Latent]:
        grams = self.pool.grams(positions)
        columns = [part.T for part in self.pool.parts(positions)]
        several = len(grams) > 1
        fitted = clone(self.template).set_params(kernel="precomputed").fit(grams if several else grams[0], labels)
        return fitted, fitted.latent(columns if several else columns[0])

    def _taken_away(self, fitted: Learner, positions: Indices) -> Learner:
        model: KernelLearner = copy.copy(fitted)
        model.kernel = self.pool.parameter
        model.input_ = self.pool.input_of(positions, model.input_.scales)
        model.note_width()
        return model


@final
class ExampleFollower(RefitFollower):
    """Of a learner that takes the examples themselves: images, or rows of numbers."""

    def _fit(self, positions: Indices, labels: Labels) -> tuple[Learner, Latent]:
        fitted = clone(self.template).fit(self.pool.examples(positions), labels)
        return fitted, fitted.latent(self.pool.examples(np.arange(len(self.pool))))

    def _taken_away(self, fitted: Learner, positions: Indices) -> Learner:
        return fitted

"""Any other learner on a pool: fitted again after every label."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.active.followers.base import Follower, set_width
from fewsight.active.views import Labelled, LabelledView, RefittedView
from fewsight.learners import KernelLearner


@final
class RefitFollower(Follower[None]):
    """Follows with `RefittedView`; nothing is learned at intervals."""

    def plain(self) -> None:
        return None

    def _learn(self, labelled: Labelled) -> None:
        return None

    def view(self, settings: None) -> RefittedView:
        return RefittedView(self.pool, self.template, self.pool.scales(self.known))

    def learner(self, labelled: Labelled, settings: None) -> KernelLearner:
        view = self.view(None)
        view.start(*labelled)
        fitted = view.fitted()
        if fitted is None:
            raise InvalidInput("learner: at least one example must have a label, got none.")
        model = copy.copy(fitted)
        model.kernel = self.pool.parameter
        model.input_ = self.pool.input_of(np.array(labelled.positions, dtype=np.intp), model.input_.scales)
        set_width(model)
        return model

    def calibration(self, labelled: Labelled, settings: None) -> None:
        return None

    def left_out(self, view: LabelledView, settings: None) -> None:
        return None

    def surprises(self, view: LabelledView) -> Array:
        raise InvalidInput(
            f"ActiveLearner: suspicious needs a GPClassifier, which can leave out examples in closed form, got "
            f"{type(self.template).__name__}."
        )

    def record(self, settings: None) -> None:
        return None

    def from_record(self, record: Mapping[str, float | list[float]]) -> None:
        return None

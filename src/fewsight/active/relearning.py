"""Re-learning beside answering: a job that knows the labels of one moment, and touches nothing but itself."""

from __future__ import annotations

from typing import Self, final

from fewsight._base.errors import InvalidInput
from fewsight.active.followers import Follower
from fewsight.active.views import Labelled, LabelledView


@final
class Relearning:
    """Noise, weights, scales, calibration and a new view of the pool, learned from the labels that there were when it was made.

    `run` may take seconds and belongs into another thread; questions and answers go on meanwhile. `ActiveLearner.adopt` then
    takes over what it found.
    """

    def __init__(self, follower: Follower, snapshot: int, labelled: Labelled) -> None:
        """`snapshot` is the number of the last act that gave or changed one of the labels."""
        self.follower, self.snapshot, self.labelled = follower, snapshot, labelled
        self._found: tuple[object, LabelledView] | None = None

    def run(self) -> Self:
        """Learn."""
        settings = self.follower.learn(self.labelled)
        view = self.follower.view(settings)
        view.start(*self.labelled)
        if self.labelled.classes:
            view.calibration, view.novelty = self.follower.certainty(self.labelled, settings)
            _ = view.mean  # so that nothing is left to do when it is adopted
        self._found = settings, view
        return self

    @property
    def n_labelled(self) -> int:
        """How many labels it learns from."""
        return len(self.labelled.labels)

    @property
    def done(self) -> bool:
        """Whether `run` came to its end."""
        return self._found is not None

    def found(self) -> tuple[object, LabelledView]:
        """The settings, and the pool as they let it be seen; handed out once, as the view changes from then on."""
        if self._found is None:
            raise InvalidInput(
                "ActiveLearner: a re-learning must have run before it is adopted, and can be adopted only once."
            )
        found, self._found = self._found, None
        return found

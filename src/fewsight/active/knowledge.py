"""What the labels of a pool teach: the posterior, what is learned at intervals, and the learner that a user takes away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.assessment.audit import Expected
from fewsight.active.assessment.stopping import DecisionHistory
from fewsight.active.assessment.suspicion import surprises, surprises_at
from fewsight.active.histogram_models import (
    LearnedHistograms,
    assembled_histograms,
    check_template,
    labelled_posterior,
    learned_histograms,
    plain_histograms,
)
from fewsight.active.models import (
    LEAST_TO_LEARN,
    Learned,
    assembled,
    has_something_to_learn,
    learned,
    plain,
    taken_away,
)
from fewsight.active.pools import Pool
from fewsight.active.pools.histograms import HistogramRows
from fewsight.active.views import HistogramView, PoolView, RefittedView, scales_of
from fewsight.learners import GPClassifier, HistogramGPClassifier, KernelLearner
from fewsight.learners.calibration import Calibration


@final
class Knowledge:
    """The view of a pool and everything that was learned for it.

    Attributes
    ----------
    template : the learner as it was given, not fitted.
    view : what is known about every example, see `PoolView`.
    history : the decisions after each of the last answers.
    """

    view: PoolView | RefittedView | HistogramView
    _found: Learned  # of a Gaussian process alone
    _rows: HistogramRows  # and these of one that takes histograms
    _histograms: LearnedHistograms

    def __init__(self, template: KernelLearner | HistogramGPClassifier, pool: Pool, open_ones: Indices) -> None:
        self.template, self.pool, self._open_ones = template, pool, open_ones
        self.history = DecisionHistory()
        self._learned_at, self._calibrated = 0, False
        if isinstance(template, GPClassifier):
            self._found = plain(template, pool, open_ones)
        if isinstance(template, HistogramGPClassifier):
            check_template(template)
            self._rows = HistogramRows("ActiveLearner", pool, open_ones)
            self._histograms = plain_histograms(template, self._rows)

    def start(self, positions: list[int], labels: list[Any], relearn_every: int | None) -> None:
        """Begin with the labels that are known."""
        self._set_view(positions, labels, sorted(set(labels)))
        if relearn_every is not None and len(labels) >= LEAST_TO_LEARN:
            self.relearn()
        else:
            self.remember()

    def settle(self, relearn_every: int | None) -> None:
        """After answers: noise and weights are learned again if that is due, and the decisions are remembered."""
        if self._is_due(relearn_every):
            self.relearn()
        else:
            self.remember()

    def relearn(self) -> None:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        positions, labels, classes = self.view.positions, self.view.labels, self.view.classes
        if len(labels) >= LEAST_TO_LEARN and len(classes) > 1:
            if isinstance(self.template, GPClassifier) and has_something_to_learn(self.template, self.pool):
                self._found = learned(self.template, self.pool, positions, labels)
                self._set_view(positions.tolist(), labels, classes)
            if isinstance(self.template, HistogramGPClassifier) and isinstance(self.view, HistogramView):
                self._histograms = learned_histograms(self.template, self.view, self._histograms)
                self._set_view(positions.tolist(), labels, classes)
        self._learned_at, self._calibrated = self.view.n_labelled, False
        self.remember()

    def relabel(self, place: int, label: Any) -> None:
        """Change the label at a place among the labels; all are learned anew, with the noise and weights there are."""
        labels = list(self.view.labels)
        labels[place] = label
        kept = [known for known in self.view.classes if known in labels]
        classes = kept + [known for known in dict.fromkeys(labels) if known not in kept]
        self._set_view(self.view.positions.tolist(), labels, classes)
        self.remember()

    def take_back(self, n_labels: int, corrected: tuple[int, Any] | None) -> None:
        """Forget the last labels, or put one back to what it was before, without learning noise and weights again."""
        for _ in range(n_labels):
            self.view.take_back()
        if corrected is not None:
            self.relabel(*corrected)
        self.history.forget(self.view.n_labelled)
        self._learned_at = min(self._learned_at, self.view.n_labelled)

    def calibrate(self) -> None:
        """Learn how sure to be, once after every re-learning, when that is asked for."""
        if self._calibrated or isinstance(self.view, RefittedView) or not self.view.classes:
            return
        calibrated = bool(self.template.calibrated)
        self.view.calibration = self.learner().calibration_ if calibrated else None
        self._calibrated = self.view.n_labelled >= LEAST_TO_LEARN

    def learner(self) -> Any:
        """The learner with all labels so far, ready for new examples."""
        if isinstance(self.view, RefittedView):
            return taken_away(self.view)
        if isinstance(self.view, HistogramView):
            assert isinstance(self.template, HistogramGPClassifier)  # no other learner has such a view
            return assembled_histograms(self.template, self.view, self._histograms)
        return self._assembled(self.view)

    def surprises(self) -> Array:
        """Of each label (n,), see `suspicion`."""
        if isinstance(self.view, HistogramView) and self.view.classes:
            return surprises_at(labelled_posterior(self.view))
        if isinstance(self.view, RefittedView):
            raise InvalidInput(
                f"ActiveLearner: suspicious needs a GPClassifier, which can leave out examples in closed form, got "
                f"{type(self.template).__name__}."
            )
        return surprises(self.learner()) if self.view.classes else np.zeros(0)

    def left_out(self, predicted: Sequence[Any], rest: Indices) -> tuple[Array, Expected | None]:
        """Of each label (n,), 1 if it was predicted wrong before it came and, where that can be said, still is by the others.

        `predicted` is what the examples of the last labels were taken for; nothing was predicted about those before. Where
        labels can be left out, also what the probabilities say about them and about the rest.
        """
        labels = self.view.labels
        n_given = len(labels) - len(predicted)
        pairs = zip(predicted, labels[n_given:], strict=True)
        wrong = np.array([0.0] * n_given + [float(guess != label) for guess, label in pairs])
        if isinstance(self.view, RefittedView) or not labels:
            return wrong, None
        if isinstance(self.view, HistogramView):
            posterior, calibration = labelled_posterior(self.view), self.view.calibration or Calibration()
        else:
            model = self._assembled(self.view)
            posterior, calibration = model.posterior_, model.calibration_
        mean, stated = posterior.leave_one_out().mean, calibration.probabilities
        wrong *= mean.argmax(axis=1) != posterior.targets.argmax(axis=1)
        of_rest = stated(self.view.mean[rest]).max(axis=1).mean() if len(rest) else 0.0
        return wrong, Expected(float(of_rest), stated(mean).max(axis=1))

    def remember(self) -> None:
        """The decisions as they are now."""
        if self.view.classes:
            self.history.record(self.view.n_labelled, len(self.view.classes), self.view.decisions())

    def _set_view(self, positions: list[int], labels: list[Any], classes: list[Any]) -> None:
        if isinstance(self.template, GPClassifier):
            self.view = PoolView(self.pool, self._found.settings)
        elif isinstance(self.template, HistogramGPClassifier):
            self.view = self._histograms.view(self._rows)
        else:
            self.view = RefittedView(self.pool, self.template, scales_of(self.pool, self._open_ones))
        self.view.start(positions, labels, classes)
        self._calibrated = False

    def _is_due(self, relearn_every: int | None) -> bool:
        """Whether to learn noise and weights again: sooner while there are few labels."""
        n, last = self.view.n_labelled, self._learned_at
        if relearn_every is None or n < LEAST_TO_LEARN:
            return False
        return last < LEAST_TO_LEARN or n - last >= min(relearn_every, max(5, last // 2))

    def _assembled(self, view: PoolView) -> GPClassifier:
        assert isinstance(self.template, GPClassifier)  # no other learner has such a view
        return assembled(self.template, view, self._found)

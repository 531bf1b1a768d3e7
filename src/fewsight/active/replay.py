"""What a history makes of a pool: the schedule, the view, what was learned at intervals, and decisions of some time ago.

All of it is a function of the history: a run that was interrupted and one that was not agree but for rounding. The view is made
of all labels of the last re-learning's snapshot at once, then of the later ones as they were given, one by one or as a block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.none_of_these import NONE_OF_THESE, is_none_of_these
from fewsight._base.types import Array, Indices
from fewsight.active.assessment.audit import Expected
from fewsight.active.assessment.stopping import WINDOW, Decisions
from fewsight.active.followers import LEAST_TO_LEARN, Certainty, Follower
from fewsight.active.history import Act, History, Moment
from fewsight.active.relearning import Relearning
from fewsight.active.schedule import Schedule
from fewsight.active.views import Labelled, LabelledView
from fewsight.active.views.base import Answer


@final
class Replay:
    """The state of asking, and how acts change it.

    Attributes
    ----------
    history : everything that happened.
    schedule : whose turn it is.
    view : what is known about every example, see `LabelledView`.
    """

    view: LabelledView
    schedule: Schedule
    _moment: Moment
    _calibrated: bool  # whether the view has the calibration that the history gives it

    def __init__(self, follower: Follower, history: History, cool_down: int) -> None:
        self.follower, self.history = follower, history
        self._cool_down = cool_down
        self._learned: dict[int, object] = {}  # number of a re-learning -> settings; the last few
        self._decisions: dict[tuple[int, int], Decisions] = {}  # by the key of a moment; the last few
        self.refresh()

    # What changes it.

    def refresh(self) -> None:
        """Everything anew from the history."""
        self.schedule = Schedule.after(self.history.on(), self._cool_down)
        self._look_again()

    def follow(self, act: Act) -> None:
        """A question was put, or examples were skipped or discarded: no label changes."""
        self.history.add(act)
        self.schedule.follow(act)

    def label(
        self,
        positions: Sequence[int],
        labels: Sequence[Answer],
        relearn_every: int | None,
        recorded: Sequence[Answer | None] = (),
    ) -> None:
        """Answers came; noise and weights are learned again if that is due. `recorded`: what was believed, where it is known."""
        outside = [position for position, label in zip(positions, labels, strict=True) if is_none_of_these(label)]
        unknown = set(outside) & set(self._unknown_among(outside)) if not recorded else set()
        try:
            guesses = self.view.extend(positions, labels)
        except BaseException:
            self._look_again()  # nothing was learned by halves
            raise
        pairs = zip(positions, guesses, strict=True)
        believed = tuple(NONE_OF_THESE if position in unknown else guess for position, guess in pairs)
        self.follow(Act("label", tuple(positions), tuple(labels), tuple(recorded) or believed))
        self.view.lend(self.history.loans())  # a category may be there that has a loan
        self._moment = self.history.moments()[0]
        self._calibrated &= self._moment.n_learned >= LEAST_TO_LEARN
        if self._is_due(relearn_every):
            self.relearn()
        else:
            self._remember(self._moment, self.view)

    def lend(self, act: Act) -> None:
        """A category borrows from another, or gives back what it borrowed."""
        self.follow(act)
        self.view.lend(self.history.loans())
        self._remember(self._moment, self.view)

    def change(self, act: Act) -> None:
        """A label was corrected, or some are forgotten; all are learned anew, with the noise and weights there are."""
        self.follow(act)
        self._look_again()

    def step_back(self) -> None:
        """The last act is undone; what was learned before it comes back."""
        self.history.add(Act("undo"))
        self.refresh()

    def step_forward(self) -> None:
        """The last undo is undone."""
        self.history.add(Act("redo"))
        self.refresh()

    def relearn(self) -> None:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        self._take_over(self.relearning(), self.follower.learn(self.view.labelled))
        self._look_again()

    def relearning(self) -> Relearning:
        """The same as a job for another thread, with the labels of now."""
        return Relearning(self.follower, self._moment.key[0], self.view.labelled)

    def adopt(self, job: Relearning) -> bool:
        """Take what a job learned; labels that came since are appended. False, and nothing changes, if it no longer holds."""
        place = self.history.place_of(job.snapshot)
        if place is None or place < self._moment.learned_from - 1:
            return False  # an act of it was undone, or a later one is in force
        settings, view = job.found()
        self._take_over(job, settings)
        self._moment, labelled = self.history.moments()[0], self.history.labelled()
        grown = len(view) == len(self.view) or view.grow(self.follower.pool)
        if grown and view.labelled == labelled.first(self._moment.n_learned):
            self._continue(view, self._moment)
            self.view = view
            self._calibrated = job.n_labelled >= LEAST_TO_LEARN or job.n_labelled == view.n_labelled
            self._remember(self._moment, view)
        else:  # some of its labels were changed since
            self._look_again()
        return True

    def _take_over(self, job: Relearning, settings: object) -> None:
        if (
            job.follower is self.follower
        ):  # those of a pool that has grown since are made from the record, or learned again
            self._learned[len(self.history.acts)] = settings
        self.history.add(Act("relearned", snapshot=job.snapshot, learned=job.follower.record(settings)))

    def grow(self, follower: Follower) -> None:
        """The pool has further examples, and this follower is the one to follow it."""
        self.history.add(Act("grow", size=len(follower.pool)))
        before = self.follower.record(self.settings)
        self.follower, self._learned, self._decisions = follower, {}, {}
        if follower.record(self.settings) == before and self.view.grow(follower.pool):
            self._remember(self._moment, self.view)
        else:
            self._look_again()

    # What it knows.

    @property
    def settings(self) -> object:
        """What was learned at the last interval that counts."""
        return self._settings_of(self._moment)

    def calibrate(self) -> None:
        """Learn how sure to be, and what is unknown, from the labels of the last re-learning; from all while there was none."""
        if self._calibrated or not self.view.classes:
            return
        labelled = self.view.labelled
        n = self._moment.n_learned if self._moment.n_learned >= LEAST_TO_LEARN else len(labelled.labels)
        known = labelled.first(n)
        found = self.follower.certainty(known, self.settings) if known.classes else Certainty()
        self.view.calibration, self.view.novelty = found
        self._calibrated = True

    def view_without_none(self) -> LabelledView:
        """The view as it would be if nobody had said of any example that it is of none of the classes."""
        positions, labels, classes = self.view.labelled
        pairs = [pair for pair in zip(positions, labels, strict=True) if not is_none_of_these(pair[1])]
        named = Labelled([position for position, _ in pairs], [label for _, label in pairs], classes)
        view = self.follower.view(self.settings)
        view.start(*named)
        view.lend(self.view.loans)
        if classes:
            view.calibration, view.novelty = self.follower.certainty(named, self.settings)
        return view

    def left_out(self, rest: Indices) -> tuple[Array, Expected | None]:
        """Of each label (n,), 1 if all others predict it wrong, and what their probabilities say about it and about the rest.

        Where labels cannot be left out, 1 if it was predicted wrong before it came; about those of the start nothing was.
        """
        self.calibrate()
        found = self.follower.left_out(self.view, self.settings) if self.view.classes else None
        if found is None:
            positions, labels, _ = self.view.labelled
            believed = self.schedule.believed
            pairs = zip(positions, labels, strict=True)
            return np.array([float(place in believed and believed[place] != label) for place, label in pairs]), None
        stated = found.calibration.probabilities
        of_rest = stated(self.view.mean[rest]).max(axis=1).mean() if len(rest) else 0.0
        return found.wrong().astype(np.float64), Expected(float(of_rest), stated(found.mean).max(axis=1))

    def _unknown_among(self, positions: Sequence[int]) -> list[int]:
        """Those of these examples that are called unknown now."""
        if not positions:
            return []
        self.calibrate()
        scores, novelty = self.view.strangeness(np.array(positions, dtype=np.intp)), self.view.novelty
        if scores is None or novelty is None:
            return []
        return [position for position, score in zip(positions, scores, strict=True) if score > novelty.threshold]

    def decisions(self) -> list[Decisions]:
        """On the whole pool, after each of the last answers; those that are not remembered are worked out again."""
        moments = [moment for moment in self.history.moments(WINDOW + 1) if self.history.labelled(moment.end).classes]
        view: LabelledView | None = None
        known: dict[tuple[int, int], Decisions] = {}
        before: Moment | None = None
        for moment in moments:
            if moment.key in self._decisions:
                known[moment.key] = self._decisions[moment.key]
                continue
            labelled = self.history.labelled(moment.end)
            view = self._advanced(view, before, moment, labelled)
            self._remember(moment, view)
            known[moment.key], before = self._decisions[moment.key], moment
        self._decisions = known
        return list(known.values())

    # How.

    def _look_again(self) -> None:
        """The view from the history."""
        self._moment = self.history.moments()[0]
        self.view = self._view_at(self._moment, self.history.labelled())
        self._calibrated = False
        self._remember(self._moment, self.view)

    def _view_at(self, moment: Moment, labelled: Labelled) -> LabelledView:
        view = self.follower.view(self._settings_of(moment))
        view.start(*labelled.first(moment.n_learned))
        self._continue(view, moment)
        return view

    def _continue(self, view: LabelledView, moment: Moment) -> None:
        """Learn what a view that knows the first labels of a moment does not know yet, as it was given."""
        view.lend({})
        for positions, labels in self.history.after(view.n_labelled, moment.end):
            view.extend(positions, labels)
        view.lend(self.history.loans(moment.end))

    def _advanced(
        self, view: LabelledView | None, before: Moment | None, moment: Moment, labelled: Labelled
    ) -> LabelledView:
        """A view of an earlier moment, from that of the moment before it where only labels came in between."""
        same = before is not None and before.relearned is moment.relearned
        if view is None or not same or view.labels != labelled.labels[: view.n_labelled]:
            return self._view_at(moment, labelled)
        self._continue(view, moment)
        return view

    def _settings_of(self, moment: Moment) -> object:
        """As they were learned, from the record of it, or learned once more; plain before anything was."""
        number, relearned = moment.key[1], moment.relearned
        if relearned is None:
            return self.follower.plain()
        if number not in self._learned:
            snapshot = self.history.labelled(moment.learned_from)
            recorded = relearned.learned
            found = self.follower.learn(snapshot) if recorded is None else self.follower.from_record(recorded)
            self._learned = dict([*self._learned.items(), (number, found)][-8:])
        return self._learned[number]

    def _is_due(self, relearn_every: int | None) -> bool:
        """Whether to learn noise and weights again: sooner while there are few labels."""
        n, last = self.view.n_labelled, self._moment.n_learned
        if relearn_every is None or n < LEAST_TO_LEARN:
            return False
        return last < LEAST_TO_LEARN or n - last >= min(relearn_every, max(5, last // 2))

    def _remember(self, moment: Moment, view: LabelledView) -> None:
        """The decisions of that moment."""
        if view.classes:
            columns: npt.NDArray[np.int32] = view.decisions().astype(np.int32)
            self._decisions[moment.key] = Decisions(view.n_labelled, len(view.classes), columns)
            for key in list(self._decisions)[: -2 * WINDOW]:
                del self._decisions[key]

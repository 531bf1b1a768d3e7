"""What a history makes of a pool: the schedule, the view, what was learned at intervals, and decisions of some time ago.

All of it is a function of the history. The view is made in one way only: all labels of the last re-learning's snapshot at once,
then the later ones one by one. So a run that was interrupted and one that was not agree to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.active.assessment.audit import Expected
from fewsight.active.assessment.stopping import WINDOW, Decisions
from fewsight.active.followers import LEAST_TO_LEARN, Follower
from fewsight.active.history import Act, History, Moment
from fewsight.active.schedule import Schedule
from fewsight.active.views import Label, Labelled, LabelledView


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

    def label(self, positions: Sequence[int], labels: Sequence[Label], relearn_every: int | None) -> None:
        """Answers came; noise and weights are learned again if that is due."""
        believed: list[Label | None] = []
        try:
            for position, label in zip(positions, labels, strict=True):
                believed.append(self.view.guess(position))
                self.view.append(position, label)
        except BaseException:
            self._look_again()  # nothing was learned by halves
            raise
        self.follow(Act("label", tuple(positions), tuple(labels), tuple(believed)))
        self._moment = self.history.moments()[0]
        self._calibrated &= self._moment.n_learned >= LEAST_TO_LEARN
        if self._is_due(relearn_every):
            self.relearn()
        else:
            self._remember(self._moment, self.view)

    def correct(self, position: int, label: Label) -> None:
        """One label changed; all are learned anew, with the noise and weights there are."""
        self.follow(Act("correct", (position,), (label,)))
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
        settings = self.follower.learn(self.view.labelled)
        act = Act("relearned", snapshot=self._moment.key[0], learned=self.follower.record(settings))
        self._learned[len(self.history.acts)] = settings
        self.history.add(act)
        self._look_again()

    # What it knows.

    @property
    def settings(self) -> object:
        """What was learned at the last interval that counts."""
        return self._settings_of(self._moment)

    def calibrate(self) -> None:
        """Learn how sure to be from the labels of the last re-learning, or from all while there was none."""
        if self._calibrated or not self.view.classes:
            return
        labelled = self.view.labelled
        n = self._moment.n_learned if self._moment.n_learned >= LEAST_TO_LEARN else len(labelled.labels)
        self.view.calibration = self.follower.calibration(labelled.first(n), self.settings)
        self._calibrated = True

    def left_out(self, rest: Indices) -> tuple[Array, Expected | None]:
        """Of each label (n,), 1 if it was predicted wrong before it came and, where that can be said, still is by the others.

        Nothing was predicted about the labels of the start. Where labels can be left out, also what the probabilities say about
        them and about the rest.
        """
        labels, believed = self.view.labels, self.schedule.believed
        n_given = len(labels) - len(believed)
        pairs = zip(believed, labels[n_given:], strict=True)
        wrong = np.array([0.0] * n_given + [float(guess != label) for guess, label in pairs])
        self.calibrate()
        found = self.follower.left_out(self.view, self.settings) if labels else None
        if found is None:
            return wrong, None
        wrong *= found.mean.argmax(axis=1) != found.truth
        stated = found.calibration.probabilities
        of_rest = stated(self.view.mean[rest]).max(axis=1).mean() if len(rest) else 0.0
        return wrong, Expected(float(of_rest), stated(found.mean).max(axis=1))

    def decisions(self) -> list[Decisions]:
        """On the whole pool, after each of the last answers; those that are not remembered are worked out again."""
        moments = [moment for moment in self.history.moments(WINDOW + 1) if self.history.labelled(moment.end).labels]
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
        n_learned = moment.n_learned
        view.start(*labelled.first(n_learned))
        for position, label in zip(labelled.positions[n_learned:], labelled.labels[n_learned:], strict=True):
            view.append(position, label)
        return view

    def _advanced(
        self, view: LabelledView | None, before: Moment | None, moment: Moment, labelled: Labelled
    ) -> LabelledView:
        """A view of an earlier moment, from that of the moment before it where only labels came in between."""
        same = before is not None and before.relearned is moment.relearned
        if view is None or not same or view.labels != labelled.labels[: view.n_labelled]:
            return self._view_at(moment, labelled)
        n = view.n_labelled
        for position, label in zip(labelled.positions[n:], labelled.labels[n:], strict=True):
            view.append(position, label)
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

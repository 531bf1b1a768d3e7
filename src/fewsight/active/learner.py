"""Learning by asking: the loop of questions and answers over a pool, as one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.assessment.audit import Accuracy, accuracy_of_rest
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import advise, gain_on_labelled
from fewsight.active.followers import LEAST_TO_LEARN, follower_of, pool_for
from fewsight.active.history import Act, History, Plain, Record
from fewsight.active.label_checks import (
    Answers,
    Positions,
    checked_labels,
    checked_positions,
    given_labels,
)
from fewsight.active.pools import Pool
from fewsight.active.question import QuestionBuilder
from fewsight.active.replay import Replay
from fewsight.active.rules import Query, QueryRule, as_rule
from fewsight.active.rules.base import LARGEST_SEED, sorted_query
from fewsight.active.views import Label, LabelledView
from fewsight.learners import GPClassifier, Learner
from fewsight.learners.examples import Examples


class ActiveLearner(BaseEstimator):
    """Asks about the examples of a pool whose labels would help most, and says how good it is and when to stop.

    A label updates the posterior of the whole pool by one row; noise, weights and calibration are learned again at intervals.
    `HistogramGPClassifier` does the same for a pool of very many histograms, of which no matrix is formed; other learners are
    fitted again after every answer.

    Parameters
    ----------
    learner : a kernel learner, or a `HistogramGPClassifier`; its `kernel` says what the pool is. None is a `GPClassifier` for
        rows of numbers.
    rule : the name of a query rule (see `QUERY_RULES`) or a rule with options. Until two categories are known, examples
        are picked by coverage, unless the rule is "random".
    explore : whether every second question of the rule while labels are few, and every third later, goes to where nothing is
        known yet (see `Exploration`), so that categories nobody has named are found. Rules that need no label, and
        `batch_size=None`, ask as they are.
    audit_share : the share of questions that are drawn at random, to know how good the decisions are; 0 for none.
    batch_size : questions of one `query`; None for one, or one for each problem where the rule asks in turn.
    relearn_every : labels after which noise, weights and calibration are learned again (sooner while there are few); None for
        never.
    cool_down : questions for which a skipped example is not asked about again.
    random_state : seed of everything random.

    Attributes
    ----------
    pool_ : the pool, see `fewsight.active.pools`.
    view_ : what is known about every example of it, see `PoolView`.
    learner_ : the learner as the labels make it now; it takes new examples of the form in which the pool came.
    """

    pool_: Pool
    _replay: Replay
    _builder: QuestionBuilder

    def __init__(
        self,
        learner: Learner | None = None,
        rule: str | QueryRule = "uncertainty",
        *,
        explore: bool = True,
        audit_share: float = 0.2,
        batch_size: int | None = 1,
        relearn_every: int | None = 20,
        cool_down: int = 20,
        random_state: int = 0,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.explore = explore
        self.audit_share = audit_share
        self.batch_size = batch_size
        self.relearn_every = relearn_every
        self.cool_down = cool_down
        self.random_state = random_state

    # Questions and answers.

    def fit(self, pool: Examples | Pool, labels: Answers | None = None, *, exclude: Positions = ()) -> Self:
        """Start with a pool of examples and the labels that are known, one for each example, None where there is none.

        `exclude` names positions that are never asked about and do not count as part of the rest: test examples, or such
        that a person has thrown away.
        """
        self._check_options()
        closed = checked_positions(self, exclude, None)
        self.pool_ = pool_for(self, self._template(), pool, closed)
        m = len(self.pool_)
        checked_positions(self, closed, m)
        positions, given = given_labels(self, labels, m)
        start = Act("start", tuple(positions), tuple(given), excluded=tuple(closed.tolist()))
        self._begin([start.record()])
        if self.relearn_every is not None and len(given) >= LEAST_TO_LEARN:
            self._replay.relearn()
        return self

    def rebuild(self, pool: Examples | Pool, records: Sequence[Mapping[str, Plain]]) -> Self:
        """Go on from `records_` of an earlier run with the same options, over the same pool: nothing is lost.

        The next question, the accuracy with its interval, the advice and undo are those of the run that never stopped.
        """
        self._check_options()
        if not records:
            raise InvalidInput("ActiveLearner: records must be those of an earlier run, got none.")
        closed = np.array(Act.from_record(records[0]).excluded, dtype=np.intp)
        self.pool_ = pool_for(self, self._template(), pool, closed)
        self._begin(records)
        return self

    def query(self, batch_size: int | None = None) -> Query:
        """What to ask about next. Until an answer or a skip comes, the same question comes again."""
        check_is_fitted(self, "_replay")
        size = self.batch_size if batch_size is None else check_integer(self, "batch_size", batch_size, least=1)
        replay = self._replay
        query, checks = self._builder.query(replay.view, replay.schedule, self._rest(), size, replay.calibrate)
        act = Act("question", tuple(query.indices.tolist()), checks=checks)
        if act.indices and act != replay.history.last:  # the same one again is no news
            replay.follow(act)
        return query

    def teach(self, indices: Positions, labels: Answers | Label) -> Self:
        """Learn the labels of some examples, asked about or not; a category may be new at any time."""
        check_is_fitted(self, "_replay")
        positions = self._unlabelled(indices)
        answers = checked_labels(self, labels, len(positions), self._replay.view.labels)
        if positions:
            self._replay.label(positions, answers, self.relearn_every)
        return self

    def skip(self, indices: Positions) -> Self:
        """Put examples off: they are not asked about again for the next `cool_down` questions."""
        check_is_fitted(self, "_replay")
        self._replay.follow(Act("skip", tuple(self._unlabelled(indices))))
        return self

    def discard(self, indices: Positions) -> Self:
        """Never ask about these examples: they are no part of the rest, and say nothing about accuracy."""
        check_is_fitted(self, "_replay")
        self._replay.follow(Act("discard", tuple(self._unlabelled(indices))))
        return self

    def correct(self, index: int, label: Label) -> Self:
        """Change the label of one example that has one; learns all labels anew, with the noise and weights there are."""
        check_is_fitted(self, "_replay")
        (position,) = checked_positions(self, [index], len(self.pool_)).tolist()
        if self.view_.unlabelled[position]:
            raise InvalidInput(f"ActiveLearner: example {position} has no label to correct; use teach().")
        (answer,) = checked_labels(self, [label], 1, self.view_.labels)
        self._replay.correct(position, answer)
        return self

    def undo(self) -> Self:
        """Take back the last `teach`, `skip`, `discard` or `correct`, and what was learned from it; any number of times."""
        check_is_fitted(self, "_replay")
        if not self._replay.history.can_undo:
            raise InvalidInput("ActiveLearner: nothing is left to undo.")
        self._replay.step_back()
        return self

    def redo(self) -> Self:
        """Take back the last `undo`; possible until something else is taught, skipped, discarded or corrected."""
        check_is_fitted(self, "_replay")
        if not self._replay.history.can_redo:
            raise InvalidInput("ActiveLearner: nothing is left to redo.")
        self._replay.step_forward()
        return self

    def relearn(self) -> Self:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        check_is_fitted(self, "_replay")
        self._replay.relearn()
        return self

    # What it knows.

    @property
    def records_(self) -> list[Record]:
        """Everything that happened, in order, as JSON can hold it; `rebuild` goes on from it."""
        check_is_fitted(self, "_replay")
        return [act.record() for act in self._replay.history.acts]

    @property
    def view_(self) -> LabelledView:
        """What is known about every example of the pool."""
        return self._replay.view

    @property
    def learner_(self) -> Learner:
        """The learner with all labels so far, ready for new examples, and for `fewsight.save`."""
        check_is_fitted(self, "_replay")
        if not self.view_.classes:
            raise InvalidInput(
                "ActiveLearner: at least one example must have a label before there is a learner, got none."
            )
        return self._replay.follower.learner(self.view_.labelled, self._replay.settings)

    @property
    def labels_(self) -> list[Label | None]:
        """One for each example of the pool, None where there is none."""
        check_is_fitted(self, "_replay")
        labels: list[Label | None] = [None] * len(self.pool_)
        for position, label in zip(self.view_.positions.tolist(), self.view_.labels, strict=True):
            labels[position] = label
        return labels

    def predict(self) -> list[Label]:
        """What each example of the pool would be called now; those with a label too."""
        check_is_fitted(self, "_replay")
        return [self.view_.classes[column] for column in self.view_.decisions().tolist()]

    def predict_proba(self) -> Array:
        """Probability of each category for each example of the pool, in the order of `view_.classes`."""
        check_is_fitted(self, "_replay")
        self._replay.calibrate()
        return self.view_.probabilities()

    def status(self) -> Status:
        """Where things stand: counts, accuracy with an interval, and whether to stop, in words."""
        check_is_fitted(self, "_replay")
        rest = self._rest()
        accuracy = self.accuracy()
        classes = self.view_.classes
        self._replay.calibrate()
        stated = self.view_.probabilities(rest) if classes else np.zeros((len(rest), 0))
        known = self.view_.closed_form() if classes else None
        gained = None if known is None else partial(gain_on_labelled, *known)
        return Status(
            counts={label: self.view_.labels.count(label) for label in classes},
            n_labelled=self.view_.n_labelled,
            n_rest=len(rest),
            n_skipped=self._replay.schedule.n_cooling,
            accuracy=accuracy,
            expected_accuracy=float(stated.max(axis=1).mean()) if stated.size else None,
            advice=advise(self._replay.decisions(), stated, rest, accuracy, gained),
        )

    def accuracy(self) -> Accuracy | None:
        """The share of right decisions on the rest of the pool, by the audit; None before the first."""
        check_is_fitted(self, "_replay")
        checks = self._replay.schedule.checks
        if not checks:
            return None
        place_of = {position: place for place, position in enumerate(self.view_.positions.tolist())}
        places = [place_of[check.position] for check in checks]
        rest = self._rest()
        wrong, expected = self._replay.left_out(rest)
        return accuracy_of_rest(checks, places, wrong, len(rest), expected)

    def suspicious(self, n: int | None = None) -> Query:
        """One's own labels, the most surprising first, by what all other labels say about each; see `assessment.suspicion`."""
        check_is_fitted(self, "_replay")
        found = self._replay.follower.surprises(self.view_)
        if not self.view_.classes:
            return Query(np.zeros(0, dtype=np.intp), np.zeros(0), (), "No example has a label yet.")
        ranked = sorted_query(self.view_.positions, found)
        return ranked if n is None else ranked.first(check_integer(self, "n", n, least=1))

    # Inside.

    def _template(self) -> Learner:
        return GPClassifier() if self.learner is None else self.learner

    def _begin(self, records: Sequence[Mapping[str, Plain]]) -> None:
        template = self._template()
        history = History(records)
        beyond = max((place for act in history.acts for place in act.indices), default=-1)
        if beyond >= len(self.pool_):
            raise InvalidInput(
                f"ActiveLearner: records must name positions below {len(self.pool_)}, the size of the pool, got {beyond}."
            )
        known = np.setdiff1d(np.arange(len(self.pool_)), np.array(history.acts[0].excluded, dtype=np.intp))
        follower = follower_of(self, template)(template, self.pool_, known)
        self._replay = Replay(follower, history, self.cool_down)
        self._builder = QuestionBuilder(as_rule(self, self.rule), self.explore, self.audit_share, self.random_state)

    def _unlabelled(self, indices: Positions) -> list[int]:
        """Checked positions of examples without a label."""
        positions = checked_positions(self, indices, len(self.pool_)).tolist()
        taken = [position for position in positions if not self._replay.view.unlabelled[position]]
        if taken:
            raise InvalidInput(f"ActiveLearner: example {taken[0]} has a label already; use correct() to change it.")
        return positions

    def _check_options(self) -> None:
        follower_of(self, self._template())
        as_rule(self, self.rule)
        if not isinstance(self.explore, (bool, np.bool_)):
            raise InvalidInput(f"ActiveLearner: explore must be True or False, got {shown(self.explore)}.")
        check_number(self, "audit_share", self.audit_share, least=0.0, most=1.0)
        check_integer(self, "cool_down", self.cool_down, least=0, most=1_000_000_000)
        check_integer(self, "random_state", self.random_state, least=0, most=LARGEST_SEED)
        for name in ("batch_size", "relearn_every"):
            if getattr(self, name) is not None:
                check_integer(self, name, getattr(self, name), least=1)

    def _rest(self) -> Indices:
        """Positions without a label that may be asked about."""
        open_ones = self._replay.view.unlabelled.copy()
        open_ones[self._replay.schedule.closed] = False
        return np.flatnonzero(open_ones)

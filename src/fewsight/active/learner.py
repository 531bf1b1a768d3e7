"""Learning by asking: the loop of questions and answers over a pool, as one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_flag, check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.none_of_these import is_none_of_these
from fewsight._base.types import Array, Indices
from fewsight.active.assessment.accuracy_curve import accuracy_curve
from fewsight.active.assessment.audit import Accuracy, accuracy_of_rest
from fewsight.active.assessment.pool_assessment import PoolAssessment
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import advise, gain_on_labelled
from fewsight.active.followers import LEAST_TO_LEARN, Follower, follower_of, pool_for
from fewsight.active.history import Act, Check, History, Plain, Record
from fewsight.active.label_checks import (
    Answers,
    Positions,
    checked_labels,
    checked_positions,
    given_labels,
)
from fewsight.active.pools import Pool
from fewsight.active.question import QuestionBuilder
from fewsight.active.relearning import Relearning
from fewsight.active.replay import Replay
from fewsight.active.rules import Query, QueryRule, as_rule
from fewsight.active.rules.base import LARGEST_SEED, sorted_query
from fewsight.active.views import Label, LabelledView
from fewsight.active.views.base import Answer
from fewsight.learners import GPClassifier, Learner, Loan
from fewsight.learners.examples import Examples


class ActiveLearner(BaseEstimator):
    """Asks about the examples of a pool whose labels would help most, and says how good it is and when to stop.

    A label updates the posterior of the whole pool by one row; noise, weights and calibration are learned again at intervals.
    `HistogramGPClassifier` does the same for a pool of very many histograms, of which no matrix is formed; other learners are
    fitted again after every answer.

    Parameters
    ----------
    learner : a kernel learner, or a `HistogramGPClassifier`; its `kernel` says what the pool is. None is a `GPClassifier` for
        rows of numbers. Of a `GPClassifier` the largest latent mean decides while it asks: `prototypes` is off.
    rule : the name of a query rule (see `QUERY_RULES`) or a rule with options. Until two categories are known, examples
        are picked by coverage, unless the rule is "random".
    explore : whether every second question of the rule while labels are few, and later every third while some category has one
        label only and every tenth after that, goes to where nothing is known yet (see `Exploration`), so that categories nobody
        has named are found. Rules that need no label, and `batch_size=None`, ask as they are.
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
        rule: str | QueryRule = "influence",
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

        Parameters
        ----------
        pool : m examples: images, rows of numbers (m, d), a Gram matrix (m, m) or a list of them, or a pool.
        labels : a label for each (m,), None where there is none; or None for no labels at all.
        exclude : positions that are never asked about and from which nothing is learned, such as test examples.
        """
        self._check_options()
        closed = checked_positions(self, exclude, None)
        self.pool_ = pool_for(self, self._template(), pool, closed)
        m = len(self.pool_)
        checked_positions(self, closed, m)
        positions, given = given_labels(self, labels, m)
        self._takeable(given)
        start = Act("start", tuple(positions), tuple(given), excluded=tuple(closed.tolist()))
        self._begin([start.record()])
        if self.relearn_every is not None and len(given) >= LEAST_TO_LEARN:
            self._replay.relearn()
        return self

    def rebuild(self, pool: Examples | Pool, records: Sequence[Mapping[str, Plain]]) -> Self:
        """Go on from `records_` of an earlier run with the same options, over the same pool: nothing is lost.

        The next question, the accuracy with its interval, the advice and undo are those of the run that never stopped.

        Parameters
        ----------
        pool : the same m examples as before.
        records : `records_` of the earlier run.
        """
        self._check_options()
        if not records:
            raise InvalidInput("ActiveLearner: records must be those of an earlier run, got none.")
        closed = np.array(Act.from_record(records[0]).excluded, dtype=np.intp)
        self.pool_ = pool_for(self, self._template(), pool, closed)
        self._begin(records)
        return self

    def query(self, batch_size: int | None = None, *, held: Positions = ()) -> Query:
        """What to ask about next. Until an answer or a skip comes, the same question comes again.

        `held` names examples that were put to somebody else and are not answered yet: they are not asked about, and those of
        them that are random checks stay checks.

        Parameters
        ----------
        batch_size : how many to ask about; None for the learner's own.
        held : positions that somebody else is being asked about: they are not asked about now.

        Returns
        -------
        Query
            `indices` (k,), positions in the pool; `scores` (k,), higher = ask first; `reasons`, a line for each.
        """
        check_is_fitted(self, "_replay")
        size = self.batch_size if batch_size is None else check_integer(self, "batch_size", batch_size, least=1)
        others = checked_positions(self, held, len(self.pool_))
        replay = self._replay
        query, checks = self._builder.query(replay.view, replay.schedule, self._rest(), size, replay.calibrate, others)
        known = (replay.history.check_of(position) for position in others.tolist() if self.view_.unlabelled[position])
        checks += tuple(check for check in known if check is not None)
        act = Act("question", tuple(query.indices.tolist()), checks=checks)
        if act.indices and act != replay.history.last:  # the same one again is no news
            replay.follow(act)
        return query

    def teach(self, indices: Positions, labels: Answers | Answer) -> Self:
        """Learn the labels of some examples, asked about or not; a category may be new at any time.

        `NONE_OF_THESE` says that an example belongs to no category.

        Parameters
        ----------
        indices : positions in the pool (k,), from 0.
        labels : a label for each (k,), or the label itself for a single position; strings, integers or booleans.
        """
        check_is_fitted(self, "_replay")
        positions = self._unlabelled(indices)
        answers = self._takeable(checked_labels(self, labels, len(positions), self._replay.view.labels))
        if positions:
            self._replay.label(positions, answers, self.relearn_every)
        return self

    def follow(self, records: Sequence[Mapping[str, Plain]]) -> Self:
        """Go on by further records of the same history: questions, labels, skips and discards, as `rebuild` would take them.

        A label keeps what its record says was believed before it came; `teach` asks the view, which may know more by now.

        Parameters
        ----------
        records : those that came after the last of `records_`, in their order.
        """
        check_is_fitted(self, "_replay")
        for act in map(Act.from_record, records):
            if act.kind == "label":
                self._replay.label(self._unlabelled(act.indices), act.labels, None, act.believed)
            elif act.kind in ("question", "skip", "discard"):
                self._replay.follow(act)
            else:
                raise InvalidInput(
                    f"ActiveLearner: follow takes questions, labels, skips and discards, got {act.kind!r}."
                )
        return self

    def skip(self, indices: Positions) -> Self:
        """Put examples off: they are not asked about again for the next `cool_down` questions.

        Parameters
        ----------
        indices : positions in the pool (k,), from 0.
        """
        check_is_fitted(self, "_replay")
        self._replay.follow(Act("skip", tuple(self._unlabelled(indices))))
        return self

    def discard(self, indices: Positions) -> Self:
        """Never ask about these examples: they are no part of the rest, and say nothing about accuracy.

        Parameters
        ----------
        indices : positions in the pool (k,), from 0.
        """
        check_is_fitted(self, "_replay")
        self._replay.follow(Act("discard", tuple(self._unlabelled(indices))))
        return self

    def correct(self, index: int, label: Answer) -> Self:
        """Change the label of one example that has one; learns all labels anew, with the noise and weights there are.

        Parameters
        ----------
        index : the position of an example that has a label.
        label : what it is instead.
        """
        check_is_fitted(self, "_replay")
        (position,) = checked_positions(self, [index], len(self.pool_)).tolist()
        if self.view_.unlabelled[position]:
            raise InvalidInput(f"ActiveLearner: example {position} has no label to correct; use teach().")
        (answer,) = self._takeable(checked_labels(self, [label], 1, self.view_.labels))
        self._replay.change(Act("correct", (position,), (answer,)))
        return self

    def forget(self, indices: Positions) -> Self:
        """Take labels back, whenever they were given; the examples may be asked about again.

        Parameters
        ----------
        indices : positions of labelled examples (k,), from 0.
        """
        check_is_fitted(self, "_replay")
        positions = checked_positions(self, indices, len(self.pool_)).tolist()
        without = [position for position in positions if self.view_.unlabelled[position]]
        if without:
            raise InvalidInput(f"ActiveLearner: example {without[0]} has no label to forget.")
        if positions:
            self._replay.change(Act("forget", tuple(positions)))
        return self

    def borrow(self, category: Label, lender: Label, rho: float) -> Self:
        """Let a category borrow from another with correlation rho, until it is given back: later labels change nothing about it.

        Whom to borrow from, and how much, says `fewsight.suggest_loan` of `learner_`.

        Parameters
        ----------
        category : the label of the category that borrows.
        lender : the label of another category.
        rho : the correlation of the two, from 0 to 1.
        """
        self._check_loan(category, lender)
        if category == lender:
            raise InvalidInput(f"ActiveLearner: a category must borrow from another one, got {shown(category)} itself.")
        share = check_number(self, "rho", rho, least=0.0, most=1.0)
        self._replay.lend(Act("borrow", labels=(category, lender), rho=share))
        return self

    def give_back(self, category: Label) -> Self:
        """End a loan: the category is learned from its own examples alone.

        Parameters
        ----------
        category : the label of a category that borrows.
        """
        self._check_loan(category)
        if category not in self.view_.loans:
            raise InvalidInput(
                f"ActiveLearner: a category must borrow before it gives back, {shown(category)} does not."
            )
        self._replay.lend(Act("give_back", labels=(category,)))
        return self

    def undo(self) -> Self:
        """Take back the last `teach`, `skip`, `discard`, `correct`, `forget` or loan, and what came of it."""
        check_is_fitted(self, "_replay")
        if not self._replay.history.can_undo:
            raise InvalidInput("ActiveLearner: nothing is left to undo.")
        self._replay.step_back()
        return self

    def redo(self) -> Self:
        """Take back the last `undo`; possible until something else is done."""
        check_is_fitted(self, "_replay")
        if not self._replay.history.can_redo:
            raise InvalidInput("ActiveLearner: nothing is left to redo.")
        self._replay.step_forward()
        return self

    def grow(self, examples: Examples | Pool) -> Self:
        """Take in examples that became ready: of the form in which the pool came, or the pool with them at its end.

        They get the next positions. What is known about the others does not change, unless their kernels are scaled by all.

        Parameters
        ----------
        examples : further examples of the form of the pool, or the whole pool with them at its end.
        """
        check_is_fitted(self, "_replay")
        pool = examples if isinstance(examples, Pool) else self.pool_.grow(examples)
        if len(pool) < len(self.pool_):
            raise InvalidInput(
                f"ActiveLearner: a pool must grow from its {len(self.pool_):,} examples, got one of {len(pool):,}."
            )
        if len(pool) > len(self.pool_):
            self._replay.grow(self._follower(pool, self._replay.history))
            self.pool_ = pool
        return self

    def relearn(self) -> Self:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        check_is_fitted(self, "_replay")
        self._replay.relearn()
        return self

    def relearning(self) -> Relearning:
        """`relearn` as a job: its `run` may go on in another thread while questions and answers continue; then `adopt` it.

        One thread at a time may call the methods of this object; `run` calls none of them.
        """
        check_is_fitted(self, "_replay")
        return self._replay.relearning()

    def adopt(self, job: Relearning) -> bool:
        """Take over what a job learned; answers that came since are kept.

        False, and nothing changes, if an answer that it learned from was undone since, or a later re-learning is in force.

        Parameters
        ----------
        job : what `relearning` returned, after its `run`.
        """
        check_is_fitted(self, "_replay")
        return self._replay.adopt(job)

    # What it knows.

    @property
    def records_(self) -> list[Record]:
        """Everything that happened, in order, as JSON can hold it; `rebuild` goes on from it."""
        check_is_fitted(self, "_replay")
        return [act.record() for act in self._replay.history.acts]

    @property
    def open_checks_(self) -> dict[int, Check]:
        """The random checks among the last question and what others hold, by position."""
        check_is_fitted(self, "_replay")
        return dict(self._replay.schedule.drawn)

    @property
    def view_(self) -> LabelledView:
        """What is known about every example of the pool."""
        check_is_fitted(self, "_replay")
        return self._replay.view

    @property
    def learner_(self) -> Learner:
        """The learner with all labels so far, ready for new examples, and for `fewsight.save`; its `classes_` are sorted."""
        check_is_fitted(self, "_replay")
        if not self.view_.classes:
            raise InvalidInput(
                "ActiveLearner: at least one example must have a label before there is a learner, got none."
            )
        labelled = self.view_.labelled
        in_order = labelled._replace(classes=sorted(labelled.classes))
        learner = self._replay.follower.learner(in_order, self._replay.settings)
        for category, loan in self.view_.loans.items():
            learner.borrower().borrow(category, loan.lender, loan.rho)
        return learner

    @property
    def loans_(self) -> dict[Label, Loan]:
        """What each category borrows."""
        check_is_fitted(self, "_replay")
        return dict(self.view_.loans)

    @property
    def labels_(self) -> list[Answer | None]:
        """One for each example of the pool, None where there is none."""
        check_is_fitted(self, "_replay")
        labels: list[Answer | None] = [None] * len(self.pool_)
        for position, label in zip(self.view_.positions.tolist(), self.view_.labels, strict=True):
            labels[position] = label
        return labels

    def predict(self) -> list[Label]:
        """What each example of the pool would be called now; those with a label too."""
        check_is_fitted(self, "_replay")
        return [self.view_.classes[column] for column in self.view_.decisions().tolist()]

    def predict_proba(self) -> Array:
        """Probability of each category for each example of the pool, in the order of `view_.classes`.

        Returns
        -------
        array (m, c)
            Numbers from 0 to 1 that add up to 1 in each row.
        """
        check_is_fitted(self, "_replay")
        if not self.view_.classes:
            raise InvalidInput(
                "ActiveLearner: at least one example must have a label before there are probabilities, got none."
            )
        self._replay.calibrate()
        return self.view_.probabilities()

    def assess(self) -> PoolAssessment:
        """Of every example of the pool, how probable each category is, and whether it is like any; nothing is read again."""
        check_is_fitted(self, "_replay")
        self._replay.calibrate()
        return PoolAssessment.of(self.view_)

    def status(self) -> Status:
        """Where things stand: counts, accuracy with an interval, and whether to stop, in words."""
        check_is_fitted(self, "_replay")
        rest = self._rest()
        accuracy = self.accuracy()
        classes = self.view_.classes
        self._replay.calibrate()
        stated = self.view_.probabilities(rest) if classes else np.zeros((len(rest), 0))
        known = self.view_.closed_form() if classes else None
        gained = None if known is None else partial(gain_on_labelled, known)
        return Status(
            counts={label: self.view_.labels.count(label) for label in classes},
            n_none=sum(map(is_none_of_these, self.view_.labels)),
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

    def accuracy_curve(self) -> list[tuple[int, Accuracy]]:
        """Numbers of labels and the accuracy on the rest with them, as random checks saw it at the time; the last is that of now.

        Empty while there are few checks. See `assessment.accuracy_curve`.
        """
        check_is_fitted(self, "_replay")
        schedule, view = self._replay.schedule, self.view_
        labels = dict(zip(view.positions.tolist(), view.labels, strict=True))
        right = [schedule.believed.get(check.position) == labels[check.position] for check in schedule.checks]
        points, now = accuracy_curve(schedule.checks, right), self.accuracy()
        if not points or now is None:
            return points
        return [*(point for point in points if point[0] < view.n_labelled), (view.n_labelled, now)]

    def suspicious(self, n: int | None = None) -> Query:
        """One's own labels, the most surprising first, by what all other labels say about each; see `assessment.suspicion`.

        Parameters
        ----------
        n : how many to list; None for all.

        Returns
        -------
        Query
            `indices` (k,) of labelled examples, the most surprising first; `scores` (k,), higher = more surprising.
        """
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
        history = History(records)
        beyond = max((max((*act.indices, act.size - 1), default=-1) for act in history.acts), default=-1)
        if beyond >= len(self.pool_):
            raise InvalidInput(
                f"ActiveLearner: records must name positions below {len(self.pool_)}, the size of the pool, got {beyond}."
            )
        self._replay = Replay(self._follower(self.pool_, history), history, self.cool_down)
        self._builder = QuestionBuilder(as_rule(self, self.rule), self.explore, self.audit_share, self.random_state)

    def _follower(self, pool: Pool, history: History) -> Follower:
        template = self._template()
        known = np.setdiff1d(np.arange(len(pool)), np.array(history.acts[0].excluded, dtype=np.intp))
        return follower_of(self, template)(template, pool, known)

    def _unlabelled(self, indices: Positions) -> list[int]:
        """Checked positions of examples without a label."""
        positions = checked_positions(self, indices, len(self.pool_)).tolist()
        taken = [position for position in positions if not self._replay.view.unlabelled[position]]
        if taken:
            raise InvalidInput(f"ActiveLearner: example {taken[0]} has a label already; use correct() to change it.")
        return positions

    def _check_loan(self, *categories: Label) -> None:
        check_is_fitted(self, "_replay")
        reason = self._template().why_no_loans()
        if reason:
            raise InvalidInput(f"ActiveLearner: the learner must be one whose categories can borrow: {reason}.")
        unknown = [category for category in categories if category not in self.view_.classes]
        if unknown:
            raise InvalidInput(f"ActiveLearner: a category must be one of those learned, got {shown(unknown[0])}.")

    def _takeable(self, answers: list[Answer]) -> list[Answer]:
        """Answers that the learner can learn from."""
        template = self._template()
        if any(map(is_none_of_these, answers)) and not template.learns_none_of_these:
            raise InvalidInput(
                f"ActiveLearner: labels must name categories, as {type(template).__name__} cannot learn from examples of none of "
                "them, got NONE_OF_THESE; use discard()."
            )
        return answers

    def _check_options(self) -> None:
        follower_of(self, self._template())
        as_rule(self, self.rule)
        check_flag(self, "explore", self.explore)
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

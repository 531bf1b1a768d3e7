"""Learning by asking: the loop of questions and answers over a pool, as one object."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.active.assessment.audit import Accuracy, accuracy_of_rest
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import advise
from fewsight.active.knowledge import Knowledge
from fewsight.active.label_checks import check_unlabelled, checked_labels, checked_positions, given_labels
from fewsight.active.models import gained_on
from fewsight.active.pools import Pool, as_pool
from fewsight.active.question import QuestionBuilder
from fewsight.active.rules import Query, QueryRule, as_rule
from fewsight.active.rules.base import LARGEST_SEED, sorted_query
from fewsight.active.schedule import Event, Schedule
from fewsight.active.views import HistogramView, PoolView, RefittedView
from fewsight.active.views.base import Mask
from fewsight.kernels import HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, KernelLearner


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
    open_: Mask
    _known: Knowledge
    _turns: Schedule
    _events: list[Event]

    def __init__(
        self,
        learner: KernelLearner | HistogramGPClassifier | None = None,
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

    def fit(self, pool: Any, labels: Any = None, *, exclude: Any = ()) -> Self:
        """Start with a pool of examples and the labels that are known, one for each example, None where there is none.

        `exclude` names positions that are never asked about and do not count as part of the rest: test examples, or such
        that a person has thrown away.
        """
        self._check_options()
        template = GPClassifier() if self.learner is None else self.learner
        self.pool_ = as_pool(self, _kernel_of(template), pool, exclude)
        m = len(self.pool_)
        self.open_ = np.ones(m, dtype=bool)
        self.open_[checked_positions(self, exclude, m)] = False
        positions, labels_given = given_labels(self, labels, m)
        self._turns, self._events = Schedule(), []
        self._known = Knowledge(template, self.pool_, np.flatnonzero(self.open_))
        self._known.start(positions, labels_given, self.relearn_every)
        return self

    def query(self, batch_size: int | None = None) -> Query:
        """What to ask about next. Until an answer or a skip comes, the same question comes again."""
        check_is_fitted(self, "view_")
        size = self.batch_size if batch_size is None else check_integer(self, "batch_size", batch_size, least=1)
        asking = QuestionBuilder(as_rule(self, self.rule), self.explore, self.audit_share, self.random_state)
        return asking.query(self._known, self._turns, np.flatnonzero(self._rest()), size)

    def teach(self, indices: Any, labels: Any) -> Self:
        """Learn the labels of some examples, asked about or not; a category may be new at any time."""
        check_is_fitted(self, "view_")
        positions = checked_positions(self, indices, len(self.pool_))
        check_unlabelled(self, positions, self.view_.unlabelled)
        answers = checked_labels(self, labels, len(positions), self.view_.labels)
        self._events.append(Event(self._turns.mark(), n_labels=len(positions)))
        for position, label in zip(positions.tolist(), answers, strict=True):
            self._turns.answer(self.view_, position)
            self.view_.append(position, label)
        self._known.settle(self.relearn_every)
        return self

    def skip(self, indices: Any) -> Self:
        """Put examples off: they are not asked about again for the next `cool_down` questions."""
        check_is_fitted(self, "view_")
        positions = checked_positions(self, indices, len(self.pool_))
        check_unlabelled(self, positions, self.view_.unlabelled)
        self._events.append(Event(self._turns.mark()))
        self._turns.skip(positions, self.cool_down)
        return self

    def correct(self, index: int, label: Any) -> Self:
        """Change the label of one example that has one; learns all labels anew, with the noise and weights there are."""
        check_is_fitted(self, "view_")
        (position,) = checked_positions(self, [index], len(self.pool_)).tolist()
        places = np.flatnonzero(self.view_.positions == position)
        if not len(places):
            raise InvalidInput(f"ActiveLearner: example {position} has no label to correct; use teach().")
        (answer,) = checked_labels(self, [label], 1, self.view_.labels)
        before = int(places[0]), self.view_.labels[places[0]]
        self._events.append(Event(self._turns.mark(), corrected=before))
        self._known.relabel(int(places[0]), answer)
        return self

    def undo(self) -> Self:
        """Take back the last `teach`, `skip` or `correct`, without learning noise and weights again; any number of times."""
        check_is_fitted(self, "view_")
        if not self._events:
            raise InvalidInput("ActiveLearner: nothing is left to undo.")
        event = self._events.pop()
        self._known.take_back(event.n_labels, event.corrected)
        self._turns.go_back(event.before)
        return self

    def relearn(self) -> Self:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        check_is_fitted(self, "view_")
        self._known.relearn()
        return self

    # What it knows.

    @property
    def view_(self) -> PoolView | RefittedView | HistogramView:
        """What is known about every example of the pool."""
        return self._known.view

    @property
    def learner_(self) -> Any:
        """The learner with all labels so far, ready for new examples, and for `fewsight.save`."""
        check_is_fitted(self, "view_")
        if not self.view_.classes:
            raise InvalidInput(
                "ActiveLearner: at least one example must have a label before there is a learner, got none."
            )
        return self._known.learner()

    @property
    def labels_(self) -> list[Any]:
        """One for each example of the pool, None where there is none."""
        check_is_fitted(self, "view_")
        labels: list[Any] = [None] * len(self.pool_)
        for position, label in zip(self.view_.positions.tolist(), self.view_.labels, strict=True):
            labels[position] = label
        return labels

    def predict(self) -> list[Any]:
        """What each example of the pool would be called now; those with a label too."""
        check_is_fitted(self, "view_")
        return [self.view_.classes[column] for column in self.view_.decisions().tolist()]

    def predict_proba(self) -> Array:
        """Probability of each category for each example of the pool, in the order of `view_.classes`."""
        check_is_fitted(self, "view_")
        self._known.calibrate()
        return self.view_.probabilities()

    def status(self) -> Status:
        """Where things stand: counts, accuracy with an interval, and whether to stop, in words."""
        check_is_fitted(self, "view_")
        rest = np.flatnonzero(self._rest())
        accuracy = self.accuracy()
        classes = self.view_.classes
        self._known.calibrate()
        stated = self.view_.probabilities(rest) if classes else np.zeros((len(rest), 0))
        return Status(
            counts={label: self.view_.labels.count(label) for label in classes},
            n_labelled=self.view_.n_labelled,
            n_rest=len(rest),
            n_skipped=self._turns.n_cooling,
            accuracy=accuracy,
            expected_accuracy=float(stated.max(axis=1).mean()) if stated.size else None,
            advice=advise(self._known.history, stated, rest, accuracy, gained_on(self.view_)),
        )

    def accuracy(self) -> Accuracy | None:
        """The share of right decisions on the rest of the pool, by the audit; None before the first."""
        check_is_fitted(self, "view_")
        audits = self._turns.audits
        if not audits:
            return None
        place_of = {position: place for place, position in enumerate(self.view_.positions.tolist())}
        places = [place_of[draw.position] for draw in audits]
        rest = np.flatnonzero(self._rest())
        wrong, expected = self._known.left_out(self._turns.predicted, rest)
        return accuracy_of_rest(audits, places, wrong, len(rest), expected)

    def suspicious(self, n: int | None = None) -> Query:
        """One's own labels, the most surprising first, by what all other labels say about each; see `assessment.suspicion`."""
        check_is_fitted(self, "view_")
        found = self._known.surprises()
        if not self.view_.classes:
            return Query(np.zeros(0, dtype=np.intp), np.zeros(0), (), "No example has a label yet.")
        ranked = sorted_query(self.view_.positions, found)
        return ranked if n is None else ranked.first(check_integer(self, "n", n, least=1))

    # Inside.

    def _check_options(self) -> None:
        if self.learner is not None and not isinstance(self.learner, (KernelLearner, HistogramGPClassifier)):
            raise InvalidInput(
                f"ActiveLearner: learner must be a kernel learner of fewsight, got {type(self.learner).__name__}."
            )
        as_rule(self, self.rule)
        if not isinstance(self.explore, (bool, np.bool_)):
            raise InvalidInput(f"ActiveLearner: explore must be True or False, got {shown(self.explore)}.")
        check_number(self, "audit_share", self.audit_share, least=0.0, most=1.0)
        check_integer(self, "cool_down", self.cool_down, least=0, most=1_000_000_000)
        check_integer(self, "random_state", self.random_state, least=0, most=LARGEST_SEED)
        for name in ("batch_size", "relearn_every"):
            if getattr(self, name) is not None:
                check_integer(self, name, getattr(self, name), least=1)

    def _rest(self) -> Mask:
        return self.view_.unlabelled & self.open_


def _kernel_of(learner: KernelLearner | HistogramGPClassifier) -> Any:
    """What the pool is compared by; None means rows of histograms to a learner that takes those."""
    plain = isinstance(learner, HistogramGPClassifier) and learner.kernel is None
    return HistogramIntersection() if plain else learner.kernel

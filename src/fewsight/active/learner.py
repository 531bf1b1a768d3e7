"""Learning by asking: the loop of questions and answers over a pool, as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fewsight._base.checks import check_integer, check_number
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.answers import check_unlabelled, checked_labels, checked_positions, given_labels
from fewsight.active.judging.audit import Accuracy, accuracy_of_rest
from fewsight.active.judging.status import Status
from fewsight.active.judging.stopping import DecisionHistory, advise
from fewsight.active.judging.suspicion import surprises
from fewsight.active.models import (
    LEAST_TO_LEARN,
    Learned,
    assembled,
    gained_on,
    has_something_to_learn,
    learned,
    plain,
    taken_away,
)
from fewsight.active.pools import Pool, as_pool
from fewsight.active.reasons import CHECK, reasons_of
from fewsight.active.rules import Coverage, Query, QueryRule, as_rule
from fewsight.active.rules.base import LARGEST_SEED, nothing, sorted_query
from fewsight.active.turns import Mark, Turns
from fewsight.active.views import PoolView, RefittedView, scales_of
from fewsight.active.views.base import Mask
from fewsight.learners import GPClassifier, KernelLearner


@dataclass
class _Event:
    """What `undo` needs to know about one call of `teach`, `skip` or `correct`."""

    before: Mark
    n_labels: int = 0  # that it added
    corrected: tuple[int, Any] | None = None  # place among the labels, and the label before


class ActiveLearner(BaseEstimator):
    """Asks about the examples of a pool whose labels would help most, and says how good it is and when to stop.

    A label updates the posterior of the whole pool by one row; noise, weights and calibration are learned again at intervals.
    Other learners than `GPClassifier` are fitted again after every answer.

    Parameters
    ----------
    learner : a kernel learner; its `kernel` says what the pool is. None is a `GPClassifier` for rows of numbers.
    rule : the name of a query rule (see `QUERY_RULES`) or a rule with options. Until two categories are known, examples
        are picked by coverage, unless the rule is "random".
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
    view_: PoolView | RefittedView
    _found: Learned
    _learned_at: int
    _calibrated: bool

    def __init__(
        self,
        learner: KernelLearner | None = None,
        rule: str | QueryRule = "uncertainty",
        *,
        audit_share: float = 0.2,
        batch_size: int | None = 1,
        relearn_every: int | None = 20,
        cool_down: int = 20,
        random_state: int = 0,
    ) -> None:
        self.learner = learner
        self.rule = rule
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
        self.pool_ = as_pool(self, template.kernel, pool, exclude)
        m = len(self.pool_)
        self.open_: Mask = np.ones(m, dtype=bool)
        self.open_[checked_positions(self, exclude, m)] = False
        positions, known = given_labels(self, labels, m)
        self._template, self._turns, self._n_given = template, Turns(), len(known)
        self._events: list[_Event] = []
        self._history = DecisionHistory()
        self._begin(positions, known)
        return self

    def query(self, batch_size: int | None = None) -> Query:
        """What to ask about next. Until an answer or a skip comes, the same question comes again."""
        check_is_fitted(self, "view_")
        size = self.batch_size if batch_size is None else check_integer(self, "batch_size", batch_size, least=1)
        rest = np.flatnonzero(self._rest())
        candidates, state = self._turns.candidates(rest)
        if not len(candidates):
            return nothing(self.view_)
        rng = np.random.default_rng([self.random_state, self._turns.done])
        drawn = self._turns.draw(
            candidates, 1 if size is None else size, self.audit_share, len(rest), self.view_.n_labelled, rng
        )
        rule, among = self._rule_now(), np.setdiff1d(candidates, drawn) if len(drawn) else candidates
        if rule.uses_probabilities:
            self._calibrate()
        wanted = None if size is None else size - len(drawn)
        if wanted == 0 or not len(among):
            return self._joined(drawn, nothing(self.view_), rule, state)
        chosen = rule.query(self.view_, among=among, batch_size=wanted, random_state=rng)
        return self._joined(drawn, chosen, rule, state)

    def teach(self, indices: Any, labels: Any) -> Self:
        """Learn the labels of some examples, asked about or not; a category may be new at any time."""
        check_is_fitted(self, "view_")
        positions = checked_positions(self, indices, len(self.pool_))
        check_unlabelled(self, positions, self.view_.unlabelled)
        answers = checked_labels(self, labels, len(positions), self.view_.labels)
        self._events.append(_Event(self._turns.mark(), n_labels=len(positions)))
        for position, label in zip(positions.tolist(), answers, strict=True):
            self._turns.answer(self.view_, position)
            self.view_.append(position, label)
        if self._is_due():
            self.relearn()
        else:
            self._remember()
        return self

    def skip(self, indices: Any) -> Self:
        """Put examples off: they are not asked about again for the next `cool_down` questions."""
        check_is_fitted(self, "view_")
        positions = checked_positions(self, indices, len(self.pool_))
        check_unlabelled(self, positions, self.view_.unlabelled)
        self._events.append(_Event(self._turns.mark()))
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
        self._events.append(_Event(self._turns.mark(), corrected=before))
        self._relabel(int(places[0]), answer)
        return self

    def undo(self) -> Self:
        """Take back the last `teach`, `skip` or `correct`, without learning noise and weights again; any number of times."""
        check_is_fitted(self, "view_")
        if not self._events:
            raise InvalidInput("ActiveLearner: nothing is left to undo.")
        event = self._events.pop()
        for _ in range(event.n_labels):
            self.view_.take_back()
        if event.corrected is not None:
            self._relabel(*event.corrected)
        self._turns.go_back(event.before)
        self._history.forget(self.view_.n_labelled)
        self._learned_at = min(self._learned_at, self.view_.n_labelled)
        return self

    def relearn(self) -> Self:
        """Learn noise and weights again, where they are to be learned, from all labels; calibration follows when needed."""
        check_is_fitted(self, "view_")
        if isinstance(self._template, GPClassifier) and has_something_to_learn(self._template, self.pool_):
            positions, labels, classes = self.view_.positions, self.view_.labels, self.view_.classes
            if len(labels) >= LEAST_TO_LEARN and len(classes) > 1:
                self._found = learned(self._template, self.pool_, positions, labels)
                self._set_view(positions.tolist(), labels, classes)
        self._learned_at, self._calibrated = self.view_.n_labelled, False
        self._remember()
        return self

    # What it knows.

    @property
    def learner_(self) -> Any:
        """The learner with all labels so far, ready for new examples, and for `fewsight.save`."""
        check_is_fitted(self, "view_")
        if not self.view_.classes:
            raise InvalidInput(
                "ActiveLearner: at least one example must have a label before there is a learner, got none."
            )
        if isinstance(self.view_, RefittedView):
            return taken_away(self.view_)
        return assembled(self._template, self.view_, self._found)

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
        self._calibrate()
        return self.view_.probabilities()

    def status(self) -> Status:
        """Where things stand: counts, accuracy with an interval, and whether to stop, in words."""
        check_is_fitted(self, "view_")
        rest = np.flatnonzero(self._rest())
        accuracy = self.accuracy()
        classes = self.view_.classes
        self._calibrate()
        stated = self.view_.probabilities(rest) if classes else np.zeros((len(rest), 0))
        return Status(
            counts={label: self.view_.labels.count(label) for label in classes},
            n_labelled=self.view_.n_labelled,
            n_rest=len(rest),
            n_skipped=self._turns.n_cooling,
            accuracy=accuracy,
            expected_accuracy=float(stated.max(axis=1).mean()) if stated.size else None,
            advice=advise(self._history, stated, rest, accuracy, gained_on(self.view_)),
        )

    def accuracy(self) -> Accuracy | None:
        """The share of right decisions on the rest of the pool, by the audit; None before the first."""
        check_is_fitted(self, "view_")
        audits = self._turns.audits
        if not audits:
            return None
        place_of = {position: place for place, position in enumerate(self.view_.positions.tolist())}
        places = [place_of[draw.position] for draw in audits]
        return accuracy_of_rest(audits, places, self._wrong(), int(self._rest().sum()))

    def suspicious(self, n: int | None = None) -> Query:
        """One's own labels, the most surprising first, by what all other labels say about each."""
        check_is_fitted(self, "view_")
        if not isinstance(self.view_, PoolView):
            raise InvalidInput(
                f"ActiveLearner: suspicious needs a GPClassifier, which can leave out examples in closed form, got "
                f"{type(self._template).__name__}."
            )
        if not self.view_.classes:
            return Query(np.zeros(0, dtype=np.intp), np.zeros(0), (), "No example has a label yet.")
        found = sorted_query(self.view_.positions, surprises(assembled(self._template, self.view_, self._found)))
        return found if n is None else found.first(check_integer(self, "n", n, least=1))

    # Inside.

    def _check_options(self) -> None:
        if self.learner is not None and not isinstance(self.learner, KernelLearner):
            raise InvalidInput(
                f"ActiveLearner: learner must be a kernel learner of fewsight, got {type(self.learner).__name__}."
            )
        as_rule(self, self.rule)
        check_number(self, "audit_share", self.audit_share, least=0.0, most=1.0)
        check_integer(self, "cool_down", self.cool_down, least=0, most=1_000_000_000)
        check_integer(self, "random_state", self.random_state, least=0, most=LARGEST_SEED)
        for name in ("batch_size", "relearn_every"):
            if getattr(self, name) is not None:
                check_integer(self, name, getattr(self, name), least=1)

    def _begin(self, positions: list[int], labels: list[Any]) -> None:
        self._learned_at, self._calibrated = 0, False
        if isinstance(self._template, GPClassifier):
            self._found = plain(self._template, self.pool_, np.flatnonzero(self.open_))
        self._set_view(positions, labels, sorted(set(labels)))
        if self.relearn_every is not None and len(labels) >= LEAST_TO_LEARN:
            self.relearn()
        else:
            self._remember()

    def _set_view(self, positions: list[int], labels: list[Any], classes: list[Any]) -> None:
        if isinstance(self._template, GPClassifier):
            self.view_ = PoolView(self.pool_, self._found.settings)
        else:
            scales = scales_of(self.pool_, np.flatnonzero(self.open_))
            self.view_ = RefittedView(self.pool_, self._template, scales)
        self.view_.start(positions, labels, classes)
        self._calibrated = False

    def _relabel(self, place: int, label: Any) -> None:
        labels = list(self.view_.labels)
        labels[place] = label
        kept = [known for known in self.view_.classes if known in labels]
        classes = kept + [known for known in dict.fromkeys(labels) if known not in kept]
        self._set_view(self.view_.positions.tolist(), labels, classes)
        self._remember()

    def _is_due(self) -> bool:
        """Whether to learn noise and weights again: sooner while there are few labels."""
        n, last = self.view_.n_labelled, self._learned_at
        if self.relearn_every is None or n < LEAST_TO_LEARN:
            return False
        return last < LEAST_TO_LEARN or n - last >= min(self.relearn_every, max(5, last // 2))

    def _calibrate(self) -> None:
        """Learn how sure to be, once after every re-learning, when that is asked for."""
        if self._calibrated or not isinstance(self.view_, PoolView) or not self.view_.classes:
            return
        calibrated = bool(self._template.calibrated)
        self.view_.calibration = assembled(self._template, self.view_, self._found).calibration_ if calibrated else None
        self._calibrated = self.view_.n_labelled >= LEAST_TO_LEARN

    def _remember(self) -> None:
        if self.view_.classes:
            self._history.record(self.view_.n_labelled, len(self.view_.classes), self.view_.decisions())

    def _rest(self) -> Mask:
        return self.view_.unlabelled & self.open_

    def _rule_now(self) -> QueryRule:
        """The rule, or coverage until there are two categories to be uncertain between."""
        rule = as_rule(self, self.rule)
        return Coverage() if len(self.view_.classes) < 2 and rule.name != "random" else rule

    def _wrong(self) -> Array:
        """Of each label, 1 if it was predicted wrong before it came and, where that can be said, still is by the others."""
        labels = self.view_.labels
        pairs = zip(self._turns.predicted, labels[self._n_given :], strict=True)
        wrong = np.array([0.0] * self._n_given + [float(predicted != label) for predicted, label in pairs])
        if isinstance(self.view_, PoolView):
            model = assembled(self._template, self.view_, self._found)
            wrong *= model.leave_one_out().mean.argmax(axis=1) != model.posterior_.targets.argmax(axis=1)
        return wrong

    def _joined(self, drawn: Indices, chosen: Query, rule: QueryRule, state: str) -> Query:
        """Checks and questions as one query; checks stand last, with the lowest score."""
        reasons = (*reasons_of(rule, self.view_, chosen.indices), *[CHECK] * len(drawn))
        lowest = float(chosen.scores[-1]) if len(chosen) else 0.0
        scores = np.concatenate([chosen.scores, np.full(len(drawn), lowest)])
        return Query(np.concatenate([chosen.indices, drawn]), scores, reasons, state)

"""What every query rule is: a score for each candidate, higher = ask first, and a batch chosen by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_integer, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.followers import view_of
from fewsight.active.rules.diversity import diverse
from fewsight.active.views import View
from fewsight.learners import Learner
from fewsight.learners.examples import Examples

LARGEST_SEED = 2**32 - 1
STRANGE = 0.8  # of the variance before any label: nothing labelled says much about such an example
STANDS_FOR_MANY = "stands for many others"
UNLIKE_ANYTHING = "least like anything labelled"
BETWEEN = "between"


@final
@dataclass(frozen=True)
class Query:
    """What to ask about.

    Attributes
    ----------
    indices : (k,), positions in the pool, the one to ask first in front.
    scores : (k,), one for each, falling.
    reasons : why each is asked, one plain line each, where the asker knows.
    state : "" or, where something is worth knowing (nothing is left to ask), one sentence.
    """

    indices: Indices
    scores: Array
    reasons: tuple[str, ...] = ()
    state: str = ""

    def __len__(self) -> int:
        return len(self.indices)

    def first(self, size: int) -> Query:
        """The beginning of it.

        Parameters
        ----------
        size : how many, 0 or more.
        """
        return Query(self.indices[:size], self.scores[:size], self.reasons[:size], self.state)

    def take(self, places: Indices) -> Query:
        """Some of it, in this order.

        Parameters
        ----------
        places : positions in this query (k,), from 0.
        """
        reasons = tuple(self.reasons[place] for place in places.tolist()) if self.reasons else ()
        return Query(self.indices[places], self.scores[places], reasons, self.state)


class QueryRule(ABC):
    """A way to choose what to ask about next.

    A final class names itself and writes `_scores`. Rules hold options only; the same rule serves many pools.
    """

    name: ClassVar[str]
    needs_labels: ClassVar[bool] = True  # cannot choose before the first label
    uses_probabilities: ClassVar[bool] = False  # reads calibrated probabilities

    def reason(self, view: View, position: int) -> str:
        """Why this example is asked about, in one plain line.

        Parameters
        ----------
        view : what is known about the pool.
        position : of the example.
        """
        if not view.classes:
            return STANDS_FOR_MANY
        prior = float(view.diagonal[position])
        if len(view.classes) == 1 or float(view.variance[position]) > STRANGE * prior:
            return UNLIKE_ANYTHING
        first, second = np.argsort(-view.mean[position], kind="stable")[:2]
        return f"{BETWEEN} {view.classes[first]} and {view.classes[second]}"

    @abstractmethod
    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        """One score for each candidate (q,), or a column for each problem that is asked about in turn (q, p)."""

    def query(
        self,
        source: View | Learner,
        pool: Examples | None = None,
        *,
        among: Sequence[int] | Indices | None = None,
        batch_size: int | None = 1,
        random_state: int | np.random.Generator = 0,
        pool_gram: Array | None = None,
    ) -> Query:
        """The best examples to ask about.

        Parameters
        ----------
        source : a view of a pool, or a fitted learner with `latent`.
        pool : with a learner, the examples in the form in which its `latent` takes them.
        among : (k,), positions that may be asked about; all without a label unless told otherwise.
        batch_size : how many to ask about; the whole pool if there are no more. None is one, or one for each problem where
            the rule asks about them in turn. No two of a batch are near-duplicates, unless nothing else is left.
        random_state : a seed or a NumPy generator; the same seed gives the same answer.
        pool_gram : with a learner on "precomputed", the Gram matrix of the pool (m, m), for rules and batches that compare
            examples with each other.
        """
        view = view_of(source, pool, pool_gram)
        candidates = checked_candidates(self, view, among)
        size = None if batch_size is None else check_integer(self, "batch_size", batch_size, least=1)
        rng = generator(self, random_state)
        if not len(candidates):
            return nothing(view)
        if self.needs_labels and not view.classes:
            raise InvalidInput(
                f"{owner_name(self)}: at least one example must have a label, got none; 'coverage' and 'random' need no label."
            )
        return self.choose(view, candidates, size, rng)

    def choose(self, view: View, candidates: Indices, size: int | None, rng: np.random.Generator) -> Query:
        """The best of some candidates, at least one, in ascending order and without a label; see `query`.

        Parameters
        ----------
        view : what is known about the pool.
        candidates : positions (k,), ascending and without a label; at least one.
        size : how many to choose; None where the rule decides.
        rng : where the random numbers come from.
        """
        scores = np.asarray(self._scores(view, candidates, rng))
        if len(scores.shape) not in (1, 2) or len(scores) != len(candidates) or not np.isfinite(scores).all():
            raise InvalidInput(
                f"{owner_name(self)}: _scores must give a finite number for each of {len(candidates)} candidates, "
                f"got {shown(scores)}."
            )
        if scores.ndim == 2:
            n_problems = scores.shape[1]
            size = n_problems if size is None else size
            candidates, scores = in_turn(candidates, scores, view.n_labelled % n_problems, size, rng)
            order = np.arange(len(candidates))
        else:
            order = best_first(scores, size or 1, rng)
        return _query_of(view, candidates, scores, order, size, rng)

    @staticmethod
    def _best(view: View, candidates: Indices, scores: Array, size: int, rng: np.random.Generator) -> Query:
        """The best of these by scores that are known."""
        return _query_of(view, candidates, scores, best_first(scores, size, rng), size, rng)


def _query_of(
    view: View, candidates: Indices, scores: Array, order: Indices, size: int | None, rng: np.random.Generator
) -> Query:
    """The first of candidates that stand in this order, without near-duplicates where there are several."""
    chosen = candidates[order]
    if size is not None and size > 1:
        chosen = diverse(view, chosen, size, rng)
    chosen = chosen[: size or 1]
    score_of = np.empty(len(view.diagonal))
    score_of[candidates] = scores
    return sorted_query(chosen, score_of[chosen])


def telling_about_others(reason: str) -> str:
    """The reason of a rule that also thinks of what an answer says about the rest of the pool."""
    return f"{reason}, and the answer tells about others" if reason.startswith(BETWEEN) else reason


def best_first(scores: Array, size: int, rng: np.random.Generator) -> Indices:
    """Places by falling score, equal ones in random order; of one question the best alone, without sorting all others."""
    chance = rng.random(len(scores))
    if size > 1:
        return np.lexsort((chance, -scores))
    best = np.flatnonzero(scores == scores.max())
    return best[[np.argmin(chance[best])]]


def in_turn(
    candidates: Indices, scores: Array, first: int, size: int, rng: np.random.Generator
) -> tuple[Indices, Array]:
    """All candidates, and the score of each for the problem that chose it, in the order in which problems choose in turn.

    Problem `first` begins. After a few turns more than `size`, the others follow by their best score for any problem.
    """
    wanted = min(len(candidates), 3 * size + 10)
    orders = _best_of_each(scores, wanted, rng)
    taken: dict[int, float] = {}
    turn = first
    while len(taken) < wanted:
        problem = turn % scores.shape[1]
        place = next((place for place in orders[problem] if place not in taken), None)
        if place is not None:
            taken[place] = float(scores[place, problem])
        turn += 1
    best = scores.max(axis=1)
    later = np.setdiff1d(np.arange(len(candidates)), list(taken))
    later = later[np.argsort(-best[later], kind="stable")]
    places = np.concatenate([np.array(list(taken), dtype=np.intp), later])
    return candidates[places], np.concatenate([list(taken.values()), best[later]])


def _best_of_each(scores: Array, wanted: int, rng: np.random.Generator) -> list[list[int]]:
    """The places of the `wanted` highest scores of each problem, best first; equal ones in random order."""
    shuffled = rng.permutation(len(scores))
    kept = np.argpartition(-scores[shuffled], wanted - 1, axis=0)[:wanted]
    orders = []
    for problem in range(scores.shape[1]):
        places = shuffled[kept[:, problem]]
        orders.append(places[np.argsort(-scores[places, problem], kind="stable")].tolist())
    return orders


def sorted_query(indices: Indices, scores: Array) -> Query:
    """With the highest score first."""
    order = np.argsort(-scores, kind="stable")
    return Query(indices[order], scores[order])


def nothing(view: View) -> Query:
    """An empty query that says why it is empty."""
    m = len(view)
    if not m:
        state = "Nothing to ask: the pool is empty."
    elif not view.unlabelled.any():
        state = f"Nothing left to ask: all {m:,} examples have a label."
    else:
        state = "Nothing to ask among the examples that were named."
    return Query(np.zeros(0, dtype=np.intp), np.zeros(0), (), state)


def checked_candidates(owner: object, view: View, among: Sequence[int] | Indices | None) -> Indices:
    """Distinct positions in the pool without a label, in ascending order."""
    if among is None:
        return np.flatnonzero(view.unlabelled)
    positions = np.asarray(among)
    if positions.size == 0:
        return np.zeros(0, dtype=np.intp)
    if positions.ndim != 1 or positions.dtype.kind not in "iu":
        raise InvalidInput(f"{owner_name(owner)}: among must be a list of positions in the pool, got {shown(among)}.")
    if positions.min() < 0 or positions.max() >= len(view):
        raise InvalidInput(
            f"{owner_name(owner)}: among must be positions from 0 to below {len(view)}, got {shown(among)}."
        )
    named = np.zeros(len(view), dtype=bool)
    named[positions] = True
    return np.flatnonzero(named & view.unlabelled)


def generator(owner: object, random_state: int | np.random.Generator) -> np.random.Generator:
    """A generator as it is, or a new one from a seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_integer(owner, "random_state", random_state, least=0, most=LARGEST_SEED))

"""Batches without near-duplicates: two pictures of the same thing are one question too many."""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Indices
from fewsight.active.views import View
from fewsight.learners.folds import NEAR_DUPLICATE

SAMPLE = 48  # examples whose median distance says what is far
AT_A_TIME = 16


def diverse(view: View, order: Indices, size: int, rng: np.random.Generator) -> Indices:
    """The first `size` of `order` that are no near-duplicates of each other; duplicates only where nothing else is left.

    A near-duplicate is as close as in `learners.folds`, by the median squared distance of a random sample of the pool.
    """
    if size == 1 or not view.can_compare or len(order) < 2:
        return order[:size]
    limit = _limit(view, rng)
    chosen: list[int] = []
    twins: list[int] = []
    step = max(AT_A_TIME, size)
    for start in range(0, len(order), step):
        _sort_out(view, order[start : start + step], limit, chosen, twins)
        if len(chosen) >= size:
            break
    return np.array([*chosen, *twins][:size], dtype=np.intp)


def apart_from(view: View, chosen: Indices, others: Indices, rng: np.random.Generator) -> Indices:
    """Those of the others that are no near-duplicates of any chosen one; all of them where there is no such."""
    if not view.can_compare:
        return others
    near = (view.distances(chosen, others) <= _limit(view, rng)).any(axis=0)
    return others if near.all() else others[~near]


def apart_first(view: View, held: Indices, chosen: Indices, rng: np.random.Generator) -> Indices:
    """Places among the chosen, in their order: first those that are no near-duplicates of any that is held, then the others."""
    if not view.can_compare:
        return np.arange(len(chosen))
    near = (view.distances(chosen, held) <= _limit(view, rng)).any(axis=1)
    return np.argsort(near, kind="stable")


def _sort_out(view: View, piece: Indices, limit: float, chosen: list[int], twins: list[int]) -> None:
    """Add each example of the piece to those chosen, or to the twins of these."""
    others = np.concatenate([np.array(chosen, dtype=np.intp), piece])
    close = view.distances(piece, others) <= limit
    column_of = {position: column for column, position in enumerate(others.tolist())}
    for row, position in enumerate(piece.tolist()):
        columns = [column_of[other] for other in chosen]
        (twins if close[row, columns].any() else chosen).append(position)


def _limit(view: View, rng: np.random.Generator) -> float:
    """Squared distance up to which two examples show the same thing."""
    sample = rng.permutation(len(view))[:SAMPLE]
    pairs = view.distances(sample, sample)[np.tri(len(sample), k=-1, dtype=bool)]
    return NEAR_DUPLICATE[0] * float(np.median(pairs)) if len(pairs) else 0.0

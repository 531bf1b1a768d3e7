"""Learning curves: a pool whose labels are known plays the person who answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import track
from fewsight._base.types import Indices
from fewsight.active.followers import pool_for
from fewsight.active.label_checks import checked_labels, checked_positions
from fewsight.active.learner import ActiveLearner
from fewsight.active.pools import Pool
from fewsight.active.rules import QueryRule, as_rule
from fewsight.learners import GPClassifier, Learner
from fewsight.learners.labels import with_outsiders

Record = dict[str, Any]


def simulate(
    learner: Learner | None,
    pool: Any,
    truth: Any,
    rule: str | QueryRule = "uncertainty",
    n_queries: int = 100,
    *,
    start: int | Sequence[int] = 1,
    test: Sequence[int] | None = None,
    seeds: Sequence[int] = (0,),
    batch_size: int | None = 1,
    relearn_every: int | None = 20,
    explore: bool = False,
    audit_share: float = 0.0,
    wrong_share: float = 0.0,
    lag: int = 0,
) -> list[Record]:
    """Accuracy as labels come in, once for every seed.

    Parameters
    ----------
    learner, rule, batch_size, relearn_every, explore, audit_share : as for `ActiveLearner`.
    seeds : whole numbers >= 0; each is a run of its own.
    pool : as for `ActiveLearner.fit`; a `Pool` is read only once for many calls.
    truth : the label of every example.
    n_queries : questions asked after the start.
    start : labels of each class to start with, drawn by the seed (0: none), or the positions of the first labels.
    test : positions that are never asked about and on which accuracy is measured; without it, on all that has no label yet.
    wrong_share : the share of answers that are another class, drawn by the seed.
    lag : queries that are put before an answer to the first of them is known: each is chosen this many answers behind, as where
        the next picture is on the screen before the last answer is learned.

    Returns
    -------
    list of records
        One for every answer of every seed: `rule`, `seed`, `labels`, `accuracy` (mean over the classes of their shares of right
        decisions), `overall` (the share of right decisions), `classes` seen so far, and `asked`, the positions asked about last.
    """
    chosen, learner = as_rule("simulate", rule), GPClassifier() if learner is None else learner
    wrong_share = check_number("simulate", "wrong_share", wrong_share, least=0.0, most=1.0)
    if not hasattr(seeds, "__len__"):
        raise InvalidInput(f"simulate: seeds must be a list of whole numbers, got {shown(seeds)}.")
    examples = pool_for("simulate", learner, pool, np.zeros(0, np.intp) if test is None else np.asarray(test))
    answers = with_outsiders(checked_labels("simulate", truth, len(examples), []))
    if answers.dtype == object:
        raise InvalidInput("simulate: truth must name a category for every example, got NONE_OF_THESE.")
    n_queries = check_integer("simulate", "n_queries", n_queries, least=0)
    lag = check_integer("simulate", "lag", lag, least=0)
    tested = None if test is None else checked_positions("simulate", test, len(examples))
    records: list[Record] = []
    for seed in track(seeds, f"asking by {chosen.name}", len(seeds)):
        rng = np.random.default_rng(check_integer("simulate", "seeds", seed, least=0))
        first = _first(start, answers, tested, rng)
        active = ActiveLearner(
            learner,
            chosen,
            explore=explore,
            audit_share=audit_share,
            batch_size=batch_size,
            relearn_every=relearn_every,
            random_state=int(seed),
        )
        told = with_mistakes(answers, wrong_share, rng)
        records += [
            {"rule": chosen.name, "seed": int(seed), **record}
            for record in _run(active, examples, answers, told, first, tested, n_queries, lag)
        ]
    return records


def _run(
    active: ActiveLearner,
    pool: Pool,
    truth: Any,
    told: Any,
    first: Indices,
    test: Indices | None,
    n_queries: int,
    lag: int,
) -> list[Record]:
    """One learning curve."""
    known: list[Any] = [None] * len(pool)
    for position in first:
        known[position] = told[position].item()
    active.fit(pool, known, exclude=() if test is None else test)
    codes = np.unique(truth, return_inverse=True)
    records = [_record(active, codes, test, first)] if len(first) else []
    asked, put = 0, list[Indices]()
    while asked < n_queries:
        put += _further(active, put, lag)
        if not put:
            break
        positions = put.pop(0)[: n_queries - asked]
        active.teach(positions, told[positions])
        asked += len(positions)
        records.append(_record(active, codes, test, positions))
    return records


def _further(active: ActiveLearner, put: Sequence[Indices], lag: int) -> list[Indices]:
    """The questions that are put now, beside those that are put already and not answered."""
    found: list[Indices] = []
    while len(put) + len(found) <= lag:
        query = active.query(held=np.concatenate([np.zeros(0, dtype=np.intp), *put, *found]))
        if not len(query):
            break
        found.append(query.indices)
    return found


def _record(active: ActiveLearner, codes: Any, test: Indices | None, asked: Indices) -> Record:
    names, truth = codes
    view = active.view_
    judged = np.flatnonzero(view.unlabelled) if test is None else test
    column_to_code = np.searchsorted(names, np.array(view.classes))
    right = column_to_code[view.decisions()[judged]] == truth[judged]
    totals = np.bincount(truth[judged], minlength=len(names))
    hits = np.bincount(truth[judged], weights=right, minlength=len(names))
    shares = hits[totals > 0] / totals[totals > 0]
    return {
        "labels": view.n_labelled,
        "accuracy": float(shares.mean()) if len(shares) else float("nan"),
        "overall": float(right.mean()) if len(right) else float("nan"),
        "classes": len(view.classes),
        "asked": asked.tolist(),
    }


def _first(start: Any, truth: Any, test: Indices | None, rng: np.random.Generator) -> Indices:
    """The positions of the first labels: given, or some of each class outside the test examples."""
    if not isinstance(start, (int, np.integer)):
        return checked_positions("simulate", start, len(truth))
    per_class = check_integer("simulate", "start", start, least=0)
    open_ones = np.arange(len(truth)) if test is None else np.setdiff1d(np.arange(len(truth)), test)
    chosen: list[int] = []
    for label in np.unique(truth):
        members = open_ones[truth[open_ones] == label]
        if len(members) < per_class:
            raise InvalidInput(
                f"simulate: start must be at most the number of examples of every class, got {per_class} for "
                f"{shown(label.item())}, which has {len(members)}."
            )
        chosen += rng.permutation(members)[:per_class].tolist()
    return np.array(chosen, dtype=np.intp)


def with_mistakes(truth: Any, share: float, rng: np.random.Generator) -> Any:
    """The answers that are given: some of them another class."""
    told = truth.copy()
    names = np.unique(truth)
    if not share or len(names) < 2:
        return told
    wrong = np.flatnonzero(rng.random(len(truth)) < share)
    for position in wrong:
        told[position] = rng.choice(names[names != truth[position]])
    return told

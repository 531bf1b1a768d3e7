"""What does it cost to choose questions one or three answers behind?

    python -m experiments.active.lag DATA --work FOLDER --seeds 0-9

A page shows the next picture before the last answer is learned, so that nobody waits. A run asks with a lag of 0, 1 and 3
answers, from one label of each category; a third of the images is never asked about and says how good the decisions are. One
curve depends on single images by far more than on a lag, so a run is the mean over ten pools. The target is the accuracy that
100 labels give without a lag, in the mean over the runs. Every run needs some labels to reach it, by the mean of its curve over
11 labels; compared are these numbers, run by run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import VECTORS, Source, VectorSource
from experiments.active.runs import Experiment, Run, record
from experiments.common.command import run
from fewsight.active import GramPool, simulate
from fewsight.learners import GPClassifier

LAGS = (0, 1, 3)
POOLS = 10  # of a run
SIZE, TESTED, LABELS, MOST = 1_000, 1 / 3, 100, 180  # of the pool, of it tested, the target's labels, labels of a run
WINDOW = 11  # labels over which a curve is averaged
SETTINGS = {
    "pools": POOLS,
    "size": SIZE,
    "tested": TESTED,
    "labels": MOST,
    "lags": LAGS,
    "start_per_class": 1,
    "explore": True,
}


def one(where: Source | VectorSource, seed: int) -> Run:
    """The accuracy after each label, from the start on, for each lag; the mean over some pools."""
    rng = np.random.default_rng(seed)
    curves: dict[int, list[Any]] = {lag: [] for lag in LAGS}
    for _ in range(POOLS):
        known = where.part(SIZE, rng)
        pool, test = GramPool(known.K), rng.permutation(len(known.truth))[: int(TESTED * len(known.truth))]
        of_rules = int(rng.integers(2**31))
        for lag in LAGS:
            curves[lag].append(_curve(pool, known.truth, test.tolist(), of_rules, lag))
    return {str(lag): np.mean(each, axis=0).round(6).tolist() for lag, each in curves.items()}


def _curve(pool: GramPool, truth: Any, test: list[int], seed: int, lag: int) -> list[list[float]]:
    n_queries = MOST - len(np.unique(truth))
    options: dict[str, Any] = {"explore": True, "audit_share": 0.2, "test": test, "seeds": [seed], "lag": lag}
    found = simulate(GPClassifier("precomputed"), pool, truth, "uncertainty", n_queries, **options)
    return [[each["labels"], round(each["overall"], 6)] for each in found]


def describe(where: Source | VectorSource, found: list[Run]) -> list[dict[str, Any]]:
    """Accuracy at 100 labels, labels needed for the target, and both compared with no lag."""
    curves = {lag: [smooth(one_run[str(lag)]) for one_run in found] for lag in LAGS}
    at_target = {lag: np.array([curve[LABELS] for curve in each]) for lag, each in curves.items()}
    target = float(at_target[0].mean())
    needed = {lag: np.array([_reached(curve, target) for curve in each]) for lag, each in curves.items()}
    rows = []
    for lag in LAGS:
        rows += [
            record(where, "accuracy", at_target[lag], labels=LABELS, lag=lag),
            record(where, "labels_needed", needed[lag], lag=lag, target=target),
        ]
        if lag:
            rows += [
                record(where, "accuracy_lost", at_target[0] - at_target[lag], labels=LABELS, lag=lag),
                record(where, "labels_more", needed[lag] - needed[0], lag=lag),
                record(where, "share_more", [float(needed[lag].mean() / needed[0].mean() - 1.0)], lag=lag),
            ]
    return rows


def smooth(curve: list[list[float]]) -> dict[int, float]:
    """By number of labels, the mean accuracy around it."""
    labels, values = (np.array(column) for column in zip(*curve, strict=True))
    half = WINDOW // 2
    return {
        int(n): float(values[max(0, place - half) : place + half + 1].mean())
        for place, n in enumerate(labels)
        if place + half < len(labels)
    }


def _reached(curve: dict[int, float], target: float) -> float:
    """The first number of labels at which the curve is there; one more than the last if it never is."""
    return float(next((n for n, value in curve.items() if value >= target), max(curve) + 1))


EXPERIMENT = Experiment("lag", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    found = runs.parser("lag", __doc__)
    found.set_defaults(pools=("digits", VECTORS), seeds=list(range(10)))
    return found


if __name__ == "__main__":
    run(parser(), work)

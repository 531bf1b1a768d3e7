"""Does the 90 % interval of the audit cover the true accuracy?

    python -m experiments.active.audit DATA --work FOLDER

A run begins without labels on a part of a pool, drawn by its seed. After some answers the interval is compared with the share
of right decisions on all examples that have no label. It is asked to cover that in at least 85 of 100 runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import Source
from experiments.active.runs import Experiment, Run, answer, fitted, new_learner, record, right
from experiments.common.command import run

SIZE = 800
MARKS = (40, 60, 80, 100, 150)
SETTINGS = {"size": SIZE, "labels": list(MARKS), "level": 0.9, "asked": 0.85}


def one(where: Source, seed: int) -> Run:
    """What the audit said at each mark, and the truth."""
    known = where.part(SIZE, np.random.default_rng(seed))
    active = fitted(new_learner(seed), known.K)
    found: Run = {}
    for labels in range(1, MARKS[-1] + 1):
        answer(active, known.truth)
        if labels in MARKS:
            stated = active.accuracy()
            assert stated is not None
            truth = right(active, known.truth, np.flatnonzero(active.view_.unlabelled))
            found[str(labels)] = {"truth": truth, "low": stated.low, "high": stated.high, "estimate": stated.estimate}
    return found


def describe(where: Source, found: list[Run]) -> list[dict[str, Any]]:
    """Coverage, bias and width at each mark."""
    rows = []
    for labels in MARKS:
        at = [one_run[str(labels)] for one_run in found]
        values = {
            "coverage": [float(a["low"] <= a["truth"] <= a["high"]) for a in at],
            "bias": [a["estimate"] - a["truth"] for a in at],
            "width": [a["high"] - a["low"] for a in at],
            "truth": [a["truth"] for a in at],
        }
        rows += [record(where, metric, numbers, labels=labels) for metric, numbers in values.items()]
    return rows


EXPERIMENT = Experiment("audit", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    return runs.parser("audit", __doc__)


if __name__ == "__main__":
    run(parser(), work)

"""Does advice to stop come when 100 more labels would hardly help?

    python -m experiments.active.stopping DATA --work FOLDER

A run begins without labels; a part of the pool is tested on and never asked about. It is asked every ten answers whether to stop.
Where the advice is yes, 100 more answers follow. They are asked to gain less than one point on the test examples in at least 80 %
of the runs. A run that has labels for everything, or 500, without any advice has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import Source
from experiments.active.runs import Experiment, Run, answer, fitted, new_learner, record, right
from experiments.common.command import run

SIZE, TESTED = 1_800, 0.4
EVERY, AHEAD, MOST, SMALL_GAIN = 10, 100, 500, 0.01
SETTINGS = {
    "size": SIZE,
    "tested": TESTED,
    "every": EVERY,
    "ahead": AHEAD,
    "most": MOST,
    "small_gain": SMALL_GAIN,
    "asked": 0.8,
}


def one(where: Source, seed: int) -> Run:
    """When the advice came, and the accuracy then and after 100 more answers; in between as well."""
    rng = np.random.default_rng(seed)
    known = where.part(SIZE, rng)
    test = rng.permutation(len(known.truth))[: int(TESTED * len(known.truth))]
    active = fitted(new_learner(seed), known.K, exclude=test)
    stopped, curve = None, []
    for labels in range(1, min(MOST, len(known.truth) - len(test)) + 1):
        answer(active, known.truth)
        if labels % EVERY:
            continue
        curve.append(right(active, known.truth, test))
        if stopped is None and active.status().advice.stop:
            stopped = labels
        if stopped is not None and labels == stopped + AHEAD:
            break
    return {"stopped": stopped, "curve": curve}


def gain(found: Run) -> float | None:
    """What 100 more answers brought after the advice, or as many as there were; None without advice."""
    if found["stopped"] is None:
        return None
    after = found["curve"][found["stopped"] // EVERY - 1 :]
    return float(after[-1] - after[0])


def describe(where: Source, found: list[Run]) -> list[dict[str, Any]]:
    """How often the gain was small, when advice came, and how good the decisions were then."""
    gains = [value for value in map(gain, found) if value is not None]
    stops = [one_run["stopped"] for one_run in found if one_run["stopped"] is not None]
    values = {
        "advised": [float(one_run["stopped"] is not None) for one_run in found],
        "small_gain": [float(value < SMALL_GAIN) for value in gains],
        "gain": gains,
        "stopped_at": [float(labels) for labels in stops],
        "accuracy_then": [r["curve"][r["stopped"] // EVERY - 1] for r in found if r["stopped"] is not None],
    }
    return [record(where, metric, numbers) for metric, numbers in values.items() if numbers]


EXPERIMENT = Experiment("stopping", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    return runs.parser("stopping", __doc__)


if __name__ == "__main__":
    run(parser(), work)

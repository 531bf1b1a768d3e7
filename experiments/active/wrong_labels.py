"""Are wrong answers found among the most surprising labels?

    python -m experiments.active.wrong_labels DATA --work FOLDER

A run begins without labels; 5 % of the answers are another category, drawn by its seed. After some answers the labels are
ranked by leave-one-out surprise. At least half of the wrong ones are to be in the first tenth.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import Source
from experiments.active.runs import Experiment, Run, answer, fitted, new_learner, record
from experiments.common.command import run
from fewsight.active.simulation import with_mistakes

WRONG = 0.05
SIZE = 800
MARKS = (100, 200)
SETTINGS = {"size": SIZE, "wrong": WRONG, "labels": list(MARKS), "first": 0.1, "asked": 0.5}


def one(where: Source, seed: int) -> Run:
    """At each mark, how many answers were wrong, and how many of those stand in the first tenth."""
    rng = np.random.default_rng(seed)
    known = where.part(SIZE, rng)
    told = with_mistakes(known.truth, WRONG, rng)
    active = fitted(new_learner(seed), known.K)
    found: Run = {}
    for labels in range(1, MARKS[-1] + 1):
        answer(active, told)
        if labels in MARKS:
            wrong = {place for place in active.view_.positions.tolist() if told[place] != known.truth[place]}
            first = active.suspicious(labels // 10).indices.tolist()
            found[str(labels)] = {"wrong": len(wrong), "found": len(wrong & set(first))}
    return found


def describe(where: Source, found: list[Run]) -> list[dict[str, Any]]:
    """The share of the wrong answers of all runs that is in the first tenth, and run by run."""
    rows = []
    for labels in MARKS:
        at = [one_run[str(labels)] for one_run in found]
        share = sum(a["found"] for a in at) / max(1, sum(a["wrong"] for a in at))
        each = [a["found"] / a["wrong"] for a in at if a["wrong"]]
        rows.append(record(where, "wrong_in_first_tenth", each, labels=labels, of_all_runs=share))
    return rows


EXPERIMENT = Experiment("wrong_labels", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    return runs.parser("wrong_labels", __doc__)


if __name__ == "__main__":
    run(parser(), work)

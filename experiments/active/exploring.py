"""What do questions that explore cost, or gain, in accuracy?

    python -m experiments.active.exploring DATA --work FOLDER --seeds 0-39

A run begins with one label of each category; a third of the pool is tested on and never asked about. The same run is made with
and without exploring, both without random checks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.active import runs
from experiments.active.pools import Source
from experiments.active.runs import Experiment, Run, answer, fitted, record, right
from experiments.common.command import run
from fewsight.active import ActiveLearner
from fewsight.learners import GPClassifier

SIZE, TESTED = 1_200, 1 / 3
MARKS = (20, 40, 80, 120)
SETTINGS = {"size": SIZE, "tested": TESTED, "labels": list(MARKS), "start_per_class": 1, "audit_share": 0.0}


def one(where: Source, seed: int) -> Run:
    """The share of right decisions on the test examples at each mark past the start, both ways."""
    rng = np.random.default_rng(seed)
    known = where.part(SIZE, rng)
    test = rng.permutation(len(known.truth))[: int(TESTED * len(known.truth))]
    labels: list[Any] = [None] * len(known.truth)
    asked_about = np.setdiff1d(np.arange(len(known.truth)), test)
    for label in np.unique(known.truth[asked_about]):
        labels[rng.choice(asked_about[known.truth[asked_about] == label])] = label.item()
    found: Run = {}
    for explore in (False, True):
        learner = GPClassifier("precomputed")
        active = ActiveLearner(learner, explore=explore, audit_share=0.0, random_state=seed)
        fitted(active, known.K, labels=labels, exclude=test)
        while active.view_.n_labelled < MARKS[-1]:
            answer(active, known.truth)
            if active.view_.n_labelled in MARKS:
                found[f"{explore}-{active.view_.n_labelled}"] = right(active, known.truth, test)
    return found


def describe(where: Source, found: list[Run]) -> list[dict[str, Any]]:
    """Accuracy both ways, and the difference run by run."""
    rows = []
    for labels in MARKS:
        if any(f"True-{labels}" not in one_run for one_run in found):
            continue  # the start has as many
        without, exploring = (np.array([r[f"{way}-{labels}"] for r in found]) for way in (False, True))
        values = {"overall": without, "overall_exploring": exploring, "gain_of_exploring": exploring - without}
        rows += [record(where, metric, numbers.tolist(), labels=labels) for metric, numbers in values.items()]
    return rows


EXPERIMENT = Experiment("exploring", one, SETTINGS)
work = runs.work_of(EXPERIMENT, describe)


def parser() -> Any:
    """The options of this command."""
    return runs.parser("exploring", __doc__)


if __name__ == "__main__":
    run(parser(), work)

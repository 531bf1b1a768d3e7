"""Sixteen models of a task, one weight for all against a weight for each; the best, the two best, the worst. [Holub2008, Table 4]

python -m experiments.holub2008.table4 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.model_suite import PAIRS, suite_of, task_split
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import DETECTORS, N_TRAIN
from fewsight.images import FeatureCache

TASKS = ("Motorbikes", "Leopards", "airplanes", *PAIRS, "persons")


def cell(options: argparse.Namespace, cache: FeatureCache, task: str, seed: int) -> dict[str, Any]:
    """Accuracies of one draw, and how much each model counts."""
    suite = suite_of(task_split(options.data, task, seed, options.images), cache, seed, options.detectors)
    names = list(suite.members)
    learner, way = suite.weighted(names), suite.descent(names)
    order = suite.by_weight(way, names)
    return {
        "unweighted": suite.unweighted(names),
        "weighted": float(learner.score(suite.test, suite.wanted)),
        "descent": float(way.score(suite.test, suite.wanted)),
        "best": suite.unweighted(order[:1]),
        "two best": suite.unweighted(order[:2]),
        "worst": suite.unweighted(order[-1:]),
        "shares": dict(zip(names, way.shares(len(names)).tolist(), strict=True)),
        "pull": f"{learner.pull_:g}",
    }


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache = FeatureCache(options.work / "features")
    named = {"images": options.images, "detectors": options.detectors}
    cells = each_draw(options, "table4", options.tasks, named, lambda task, seed: cell(options, cache, task, seed))
    write_cells(options, cells, method="combined", detector="+".join(options.detectors), protocol=named)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("table4", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    add_results(made, "table4")
    made.add_argument("--images", type=int, default=N_TRAIN, help=f"of each class, against the background ({N_TRAIN})")
    made.add_argument("--tasks", type=words, default=TASKS, help="joined by commas")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas")
    return made


if __name__ == "__main__":
    run(parser(), work)

"""The best and the worst models of a task by their weights, and how a descent finds these. [Holub2008, Fig. 15 and 16]

Left in the paper: accuracy with the k models that weigh most, and with the k that weigh least, all weighted the same. Middle and
right: error on test images, and weights, after each step of the descent, for four models.

    python -m experiments.holub2008.fig16 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.model_suite import Suite, suite_of, task_split
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import DETECTORS, N_TRAIN
from fewsight.evaluation import descent_figure
from fewsight.images import FeatureCache
from fewsight.learners import SpanBoundClassifier

OF_DESCENT = 4  # models
COUNTS = (1, 2, 3, 4, 6, 8, 12)  # of the best or of the worst models; those that there are


def test_errors(suite: Suite, names: list[str], learner: SpanBoundClassifier) -> list[float]:
    """Shares of test images that are wrong after each step of a descent."""
    steps = range(len(learner.path_))
    return [1.0 - float(suite.descent(names, max_steps=step).score(suite.test, suite.wanted)) for step in steps]


def cell(options: argparse.Namespace, cache: FeatureCache, task: str, seed: int) -> dict[str, Any]:
    """Accuracies of one draw, and the descent of the models that weigh most."""
    suite = suite_of(task_split(options.data, task, seed, options.images), cache, seed, options.detectors)
    names = list(suite.members)
    learner = suite.descent(names)
    order = suite.by_weight(learner, names)
    counts = [count for count in COUNTS if count < len(names)]
    found: dict[str, Any] = {f"best {count}": suite.unweighted(order[:count]) for count in counts}
    found |= {f"worst {count}": suite.unweighted(order[-count:]) for count in counts}
    found |= {"all": suite.unweighted(names), "weighted": float(learner.score(suite.test, suite.wanted))}
    chosen = [*order[: OF_DESCENT // 2], *order[-(OF_DESCENT - OF_DESCENT // 2) :]]
    few = suite.descent(chosen)
    found["shares"] = dict(zip(names, learner.shares(len(names)).tolist(), strict=True))
    found["descent"] = {
        "models": chosen,
        "weights": few.path_.tolist(),
        "bounds": few.bounds_.tolist(),
        "test_errors": test_errors(suite, chosen, few),
    }
    return found


def work(options: argparse.Namespace) -> None:
    """All draws, the file of results and the descent of the first draw as a figure."""
    cache = FeatureCache(options.work / "features")
    named = {"images": options.images, "detectors": options.detectors}
    cells = each_draw(options, "fig16", options.tasks, named, lambda task, seed: cell(options, cache, task, seed))
    write_cells(options, cells, method="combined", detector="+".join(options.detectors), protocol=named)
    way = cells[options.tasks[0]][0]["descent"]
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    figure = descent_figure(np.array(way["weights"]), way["bounds"], way["models"], way["test_errors"])
    figure.savefig(options.figure, dpi=90)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("fig16", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    add_results(made, "fig16")
    figure = Path("docs/images/holub2008_descent.png")
    made.add_argument("--figure", type=Path, default=figure, help=f"where the descent goes ({figure})")
    made.add_argument("--images", type=int, default=N_TRAIN, help=f"of each class, against the background ({N_TRAIN})")
    made.add_argument("--tasks", type=words, default=("Leopards",), help="joined by commas (Leopards)")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas")
    return made


if __name__ == "__main__":
    run(parser(), work)

"""A weight for each feature of one model, and what a tenth of the features does alone. [Holub2008, Table 3 and Fig. 14]

`unweighted` has one weight for all features, chosen with C by cross-validation. The best tenth, the best fifth and the worst
tenth of the features by their weights are then learned from by themselves, unweighted again.

    python -m experiments.holub2008.table3 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.model_suite import PAIRS, Form, suite_of, task_split
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import N_TRAIN
from fewsight.evaluation import weights_figure
from fewsight.images import FeatureCache

TASKS = ("Leopards", "Faces", *PAIRS, "persons")
FORM = Form(3, 30)
MODEL = {"n_components": 10}


def cell(options: argparse.Namespace, cache: FeatureCache, task: str, seed: int) -> dict[str, Any]:
    """Accuracies of one draw, and the share of each feature."""
    split = task_split(options.data, task, seed, options.images)
    suite = suite_of(split, cache, seed, (options.detector,), (FORM,), **MODEL).features()
    names = list(suite.members)
    learner, way = suite.weighted(names), suite.descent(names)
    order = suite.by_weight(way, names)
    tenth = max(1, round(len(names) / 10))
    return {
        "unweighted": suite.unweighted(names),
        "weighted": float(learner.score(suite.test, suite.wanted)),
        "descent": float(way.score(suite.test, suite.wanted)),
        "best 10 %": suite.unweighted(order[:tenth]),
        "best 20 %": suite.unweighted(order[: 2 * tenth]),
        "worst 10 %": suite.unweighted(order[-tenth:]),
        "shares": dict(zip(names, way.shares(len(names)).tolist(), strict=True)),
    }


def work(options: argparse.Namespace) -> None:
    """All draws, the file of results, and the weights of the first task as a figure."""
    cache = FeatureCache(options.work / "features")
    named = {"images": options.images, "detector": options.detector, "form": FORM._asdict(), **MODEL}
    cells = each_draw(options, "table3", options.tasks, named, lambda task, seed: cell(options, cache, task, seed))
    write_cells(options, cells, method="hybrid", detector=options.detector, protocol=named)
    first = cells[options.tasks[0]]
    means = np.mean([list(each["shares"].values()) for each in first], axis=0)
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    weights_figure(means, list(first[0]["shares"])).savefig(options.figure, dpi=90)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("table3", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    add_results(made, "table3")
    figure = Path("docs/images/holub2008_features.png")
    made.add_argument("--figure", type=Path, default=figure, help=f"where the weights of features go ({figure})")
    made.add_argument("--images", type=int, default=N_TRAIN, help=f"of each class, against the background ({N_TRAIN})")
    made.add_argument("--tasks", type=words, default=TASKS, help="joined by commas")
    made.add_argument("--detector", default="kb", help="whose points are taken (kb)")
    return made


if __name__ == "__main__":
    run(parser(), work)

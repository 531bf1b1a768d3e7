"""Linear, polynomial and Gaussian kernels of the same scores. [Holub2008, Fig. 4]

One model of the category and one of the background, as in Table 1; C is chosen by cross-validation, the width of the Gaussian by
the evidence.

    python -m experiments.holub2008.fig4 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.class_images import CATEGORIES, against_background
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import N_TRAIN, channel_of
from fewsight.images import FeatureCache
from fewsight.learners import SVMClassifier

COMPARISONS = ("linear", "polynomial", "rbf")


def cell(options: argparse.Namespace, cache: FeatureCache, category: str, seed: int) -> dict[str, Any]:
    """Accuracy of each kernel in one draw."""
    n = options.images
    split = against_background(options.data, category, seed, n_train=n, n_test=n, trimmed=False)
    found = {}
    for compare in COMPARISONS:
        channel = channel_of(options.detector, cache, compare=compare, random_state=seed)
        learner = SVMClassifier(channel, C="cross_validated").fit(split.train, split.train_labels)
        found[compare] = float(np.mean(learner.predict(split.test) == np.array(split.test_labels)))
    return found


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache = FeatureCache(options.work / "features")
    named = {"images": options.images, "detector": options.detector}
    cells = each_draw(
        options, "fig4", options.categories, named, lambda category, seed: cell(options, cache, category, seed)
    )
    write_cells(options, cells, method="hybrid", detector=options.detector, protocol=named)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("fig4", __doc__, folder=folder, seeds="0-4", of="draws", paper="holub2008")
    add_results(made, "fig4")
    made.add_argument("--images", type=int, default=N_TRAIN, help=f"of each class ({N_TRAIN})")
    made.add_argument("--categories", type=words, default=CATEGORIES, help="joined by commas")
    made.add_argument("--detector", default="kb", help="whose points are taken (kb)")
    return made


if __name__ == "__main__":
    run(parser(), work)

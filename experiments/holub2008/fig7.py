"""Learned against one background, tested against another. [Holub2008, Fig. 7]

A model of the category alone; its scores of the category and of one background teach. The backgrounds are photographs of a campus
and of BACKGROUND_Google. The paper's third one, of Graz, is not at hand.

    python -m experiments.holub2008.fig7 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from experiments.common.command import base_arguments, run, words
from experiments.holub2008.class_images import BACKGROUND, category_images, sides
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import N_TRAIN, channel_of
from fewsight.images import FeatureCache
from fewsight.learners import GPClassifier, SVMClassifier

BACKGROUNDS = {"campus": BACKGROUND, "google": "BACKGROUND_Google"}


def cell(options: argparse.Namespace, cache: FeatureCache, category: str, seed: int) -> dict[str, Any]:
    """Accuracies of one draw, for every pair of backgrounds and both learners."""
    rng, n = np.random.default_rng(seed), options.images
    images = {
        name: category_images(options.data, folder) for name, folder in {category: category, **BACKGROUNDS}.items()
    }
    drawn = {
        name: [[own[i] for i in side] for side in sides(name, len(own), n, n, rng)] for name, own in images.items()
    }
    channel = channel_of(options.detector, cache, models="one", compare="linear", random_state=seed).fit(
        drawn[category][0]
    )
    encoded = {name: [channel.encode(side).matrix for side in both] for name, both in drawn.items()}
    found = {}
    for taught in BACKGROUNDS:
        rows = np.vstack([encoded[category][0], encoded[taught][0]])
        labels = np.repeat([1, 0], n)
        learners = {
            "svm": SVMClassifier(channel.kernel, C="cross_validated", gamma="cross_validated"),
            "gp": GPClassifier(prototypes=False),
        }
        for way, learner in learners.items():
            learner.fit(rows, labels)
            for tested in BACKGROUNDS:
                asked = np.vstack([encoded[category][1], encoded[tested][1]])
                found[f"{taught} to {tested}, {way}"] = float(learner.score(asked, labels))
    return found


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache = FeatureCache(options.work / "features")
    named = {"images": options.images, "detector": options.detector}
    cells = each_draw(
        options, "fig7", options.categories, named, lambda category, seed: cell(options, cache, category, seed)
    )
    write_cells(options, cells, method="hybrid", detector=options.detector, protocol=named)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    folder = "the folder that holds caltech101 and caltech_background"
    made = base_arguments("fig7", __doc__, folder=folder, seeds="0-1", of="draws", paper="holub2008")
    add_results(made, "fig7")
    made.add_argument("--images", type=int, default=N_TRAIN, help=f"of each class ({N_TRAIN})")
    made.add_argument("--categories", type=words, default=("airplanes", "Leopards"), help="joined by commas")
    made.add_argument("--detector", default="harris", help="whose points are taken (harris)")
    return made


if __name__ == "__main__":
    run(parser(), work)

"""Caltech-101: a model of each category against the scores of one broad model, of one detector and of three. [Holub2008, Fig. 17]

The broad model of a detector is learned from a few images of each category, without their labels: from several starts, whose
results all count, and beside that the most probable of them alone (`one start`). `each` has the scores of the models of all
categories in its place, those whose likelihoods the generative way compares. Accuracy is the mean over the categories. Models
are the paper's, without a clutter term, and their variances have high floors: what all categories share is otherwise an
arrangement of two or three neighbouring points of one look, and scores tell of nothing else.

    python -m experiments.holub2008.fig17 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from experiments.common.command import BACKGROUND, base_arguments, run, words
from experiments.holub2008.class_images import Split, category_images, joined, sides
from experiments.holub2008.model_suite import Form
from experiments.holub2008.results import add_results, each_draw, write_cells
from experiments.holub2008.table1 import channel_of
from fewsight._base.types import Array
from fewsight.channels import FisherChannel
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.images import FeatureCache
from fewsight.kernels import RBF
from fewsight.kernels.rows import as_dense, matrix_of
from fewsight.learners import GenerativeClassifier, GPClassifier, SVMClassifier
from fewsight.learners.labels import Labels

FORMS = ("6/200",)  # parts and points
# Chosen on seed 100, 20 categories.
MODEL = {"clutter": False, "n_components": 10, "least_variance": 1.0, "least_spread": 0.3, "max_steps": 20}
OF_BROAD = 5  # images of each category that the broad model is learned from
LEAST_TEST = 5
DETECTORS = ("hessian", "harris", "dog")


def drawn(options: argparse.Namespace, seed: int) -> Split:
    """As many images of each category to learn from; to test on as many as there are, up to a limit."""
    rng, parts = np.random.default_rng(seed), {}
    names = sorted(path.name for path in (options.data / "caltech101").iterdir() if path.is_dir())
    for name in [each for each in names if each != BACKGROUND][: options.categories]:
        images = category_images(options.data, name)
        n_test = min(options.test, len(images) - options.images)
        found = sides(name, len(images), options.images, max(n_test, LEAST_TEST), rng)
        parts[name] = [[images[i] for i in side] for side in found]
    return joined(parts)


def mean_recall(predicted: Labels, wanted: Labels) -> float:
    """The mean over the categories of how often they are recognised."""
    return float(np.mean([np.mean(predicted[wanted == name] == name) for name in np.unique(wanted)]))


def cell(options: argparse.Namespace, cache: FeatureCache, form: str, seed: int) -> dict[str, Any]:
    """Accuracies of one draw with this many parts and points."""
    n_parts, max_points = map(int, form.split("/"))
    split = drawn(options, seed)
    labels, wanted = np.array(split.train_labels), np.array(split.test_labels)
    settings = {**MODEL, **Form(n_parts, max_points)._asdict(), "random_state": seed}
    found: dict[str, Any] = {}
    if not options.no_generative:
        models = GenerativeClassifier(channel_of(options.detectors[0], cache, scale=1.0, n_starts=1, **settings))
        found["generative"] = mean_recall(models.fit(split.train, labels).predict(split.test), wanted)
        if options.each:
            found["hybrid, each, gp"] = _by_scores(*_scores(models.channels[0], split), labels, wanted)
    broad = [i for name in np.unique(labels) for i in np.flatnonzero(labels == name)[:OF_BROAD]]
    rows: list[tuple[Array, Array]] = []
    alone: list[tuple[Array, Array]] = []  # of the most probable start
    for detector in options.detectors:
        several = {"models": "one", "compare": "linear", "n_starts": options.starts, "keep": "all", "unit_length": True}
        channel = channel_of(detector, cache, **{**settings, **several})
        channel.fit([split.train[i] for i in broad])
        rows.append(_scores(channel, split))
        n_columns = channel.n_columns // channel.n_models
        alone.append((normalize(rows[-1][0][:, :n_columns]), normalize(rows[-1][1][:, :n_columns])))
    for name, chosen in (("hybrid", rows[:1]), ("combined", rows)):
        A, B = (np.hstack(side) for side in zip(*chosen, strict=True))
        found[f"{name}, gp"] = _by_scores(A, B, labels, wanted)
        machine = SVMClassifier(C=options.svm_c, multiclass="one_vs_one")
        found[f"{name}, svm"] = mean_recall(machine.fit(A, labels).predict(B), wanted)
    for name, chosen in (("hybrid", alone[:1]), ("combined", alone)):
        found[f"{name}, one start, gp"] = _by_scores(*map(np.hstack, zip(*chosen, strict=True)), labels, wanted)
    return found


def _scores(channel: FisherChannel, split: Split) -> tuple[Array, Array]:
    """Those of the images to learn from and of those to test on."""
    train, test = (as_dense(matrix_of("fig17", "images", channel.encode(side))) for side in (split.train, split.test))
    return train, test


def _by_scores(train: Array, test: Array, labels: Labels, wanted: Labels) -> float:
    """A Gaussian process on a Gaussian of the scores, as wide as the labels make most probable."""
    kernel = RBF(scale_by_evidence(train, np.unique(labels, return_inverse=True)[1], np.random.default_rng(0)))
    learner = GPClassifier("precomputed", prototypes=False).fit(kernel.gram(train), labels)
    return mean_recall(learner.predict(kernel.gram(test, train)), wanted)


def work(options: argparse.Namespace) -> None:
    """All draws and the file of results."""
    cache = FeatureCache(options.work / "features")
    named = {
        **{name: getattr(options, name) for name in ("images", "test", "categories", "detectors", "starts", "svm_c")},
        "generative": not options.no_generative,
        "each": options.each,
        "model": MODEL,
    }
    cells = each_draw(options, "fig17", options.forms, named, lambda form, seed: cell(options, cache, form, seed))
    detectors, clutter = "+".join(options.detectors), bool(MODEL["clutter"])
    write_cells(options, cells, method="combined", detector=detectors, protocol=named, clutter=clutter)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = base_arguments(
        "fig17", __doc__, folder="the folder that holds caltech101", seeds="0-2", of="draws", paper="holub2008"
    )
    add_results(made, "fig17")
    made.add_argument("--images", type=int, default=15, help="of each category to learn from (15)")
    made.add_argument("--test", type=int, default=30, help="of each category to test on, at most (30)")
    made.add_argument("--categories", type=int, default=101, help="the first in the order of their names (101)")
    made.add_argument("--detectors", type=words, default=DETECTORS, help="joined by commas; hybrid is the first")
    made.add_argument("--forms", type=words, default=FORMS, help=f"parts/points, joined by commas ({','.join(FORMS)})")
    made.add_argument("--starts", type=int, default=3, help="of each broad model (3)")
    made.add_argument("--svm-c", type=float, default=8.0, help="penalty of the support vector machines (8)")
    made.add_argument("--no-generative", action="store_true", help="leave out the models of single categories")
    made.add_argument("--each", action="store_true", help="the scores of the models of all categories, too")
    return made


if __name__ == "__main__":
    run(parser(), work)

"""Accuracy of plain, power and exponential histogram intersection on Caltech-101 bags of words. [Rodner2012, Fig. 3 right]

Parameter and noise come from the training images alone: the noise by the evidence, the parameter by the log loss of training
images that are left out. Beside it both by the evidence and, as in the paper, by the upper bound of the negative log likelihood
with Nelder and Mead's method.

    python -m experiments.rodner2012.kernels DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2012.results import add_outputs, add_ways, kept, paired, record, write_results
from experiments.rodner2012.words import WordStore, store_of, word_arguments
from fewsight._base.progress import silent, track
from fewsight.learners import HistogramGPClassifier
from fewsight.metrics import accuracy_per_class, log_loss

EVIDENCE = {"transform_parameter": "evidence"}
BOUND = {"transform_parameter": "evidence", "criterion": "bound"}
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "power": {"feature_transform": "power"},
    "exponential": {"feature_transform": "exponential"},
    "power_evidence": {"feature_transform": "power", **EVIDENCE},
    "exponential_evidence": {"feature_transform": "exponential", **EVIDENCE},
    "plain_bound": BOUND,
    "power_bound": {"feature_transform": "power", **BOUND},
    "exponential_bound": {"feature_transform": "exponential", **BOUND},
}


def measure(store: WordStore, place: Place, way: str) -> dict[str, float]:
    """Learn from the training images of a draw, predict its test images."""
    bags = store.load(place)
    with silent(), threadpool_limits(1):
        start = process_time()
        learner = HistogramGPClassifier(**WAYS[way], random_state=place.seed).fit(bags.train, bags.labels)
        seconds = process_time() - start
    predicted, stated = learner.predict(bags.test), learner.predict_proba(bags.test)
    cell = {
        "accuracy": accuracy_per_class(bags.test_labels, predicted),
        "log_loss": log_loss(bags.test_labels, stated, tuple(learner.classes_.tolist())),
        "noise_variance": float(learner.noise_variance_),
        "iterations": float(learner.n_iter_),
        "seconds_fit": seconds,
    }
    return cell if learner.transform_parameter_ is None else {**cell, "parameter": learner.transform_parameter_}


def work(options: argparse.Namespace) -> None:
    """All ways at all draws, the file of results and the figure."""
    store = store_of(options)
    keys = [(place, way) for place in options.places for way in options.ways]
    cells: dict[str, list[dict[str, float]]] = {way: [] for way in options.ways}
    for place, way in track(keys, "kernels", len(keys)):
        version = 3 if "criterion" in WAYS[way] else 2  # changes with what the learner does
        settings = {**WAYS[way], "seed": place.seed, "words": options.words, "per_class": place.per_class}
        settings["version"] = version
        cells[way].append(kept(options.work, "kernels", settings, lambda p=place, w=way: measure(store, p, w)))
    head = {"channels": "words", "learner": "histogram_gp", "combine": "none", "per_class": options.sizes[0]}
    records = [
        record({**head, "kernel": way}, metric, [cell[metric] for cell in found])
        for way, found in cells.items()
        for metric in found[0]
    ]
    accuracy = {way: [cell["accuracy"] for cell in found] for way, found in cells.items()}
    gains = {way: paired(values, accuracy["plain"]) for way, values in accuracy.items() if way != "plain"}
    for way, values in accuracy.items():
        gain = gains.get(way, {"mean": 0.0, "standard_error": 0.0})
        print(
            f"{way:18} {100 * np.mean(values):.2f} %  ({100 * gain['mean']:+.2f} ± {100 * gain['standard_error']:.2f})"
        )
    write_results(options, records, gains=gains, protocol={"channel": store.draws.settings["words"], "learner": WAYS})
    write_figure(draw(accuracy), options.figure)


def draw(accuracy: dict[str, list[float]]) -> Figure:
    """A bar for each kernel, with the standard error of its difference from the plain one."""
    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.add_subplot()
    means = [100 * np.mean(values) for values in accuracy.values()]
    errors = [100 * paired(values, accuracy["plain"])["standard_error"] for values in accuracy.values()]
    axes.bar(list(accuracy), means, yerr=errors, color="#4a7", capsize=4)
    axes.set_ylim(min(means) - 3, max(means) + 2)
    axes.set_ylabel("accuracy per category (%)")
    axes.tick_params(axis="x", labelrotation=20)
    axes.set_title("Kernels on Caltech-101 bags of words")
    return figure


def _main() -> None:
    parser = word_arguments("kernels", __doc__)
    add_ways(parser, WAYS)
    add_outputs(parser, "kernels")
    run(parser, work)


if __name__ == "__main__":
    _main()

"""The variance in constant time against the exact one, on images that were not learned from. [Rodner2012, section 7, names it as
open]

Made-up histograms (`benchmarks/histogram_data.py`) of three sizes, and bags of words of Caltech-101; noise as it is learned.

    python -m experiments.rodner2012.variance DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2012.results import Cell, add_outputs, kept, record, write_results
from experiments.rodner2012.words import store_of, word_arguments
from fewsight._base.progress import silent, track
from fewsight.learners import HistogramGPClassifier

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import one_against_many

OTHERS = {"1,099": 1, "3,097": 3, "10,090": 10}  # made up: images of each of 999 other categories
BAGS = "Caltech-101"
SHOWN = 300  # held-out images, drawn at random


def measure(X: Any, labels: Any, new: Any, seed: int) -> Cell:
    """Both variances of new images, in units of the kernel, and their times; the exact ones are solved for in one block."""
    chosen = np.sort(np.random.default_rng(seed).permutation(new.shape[0])[:SHOWN])
    new = new[chosen]
    with silent(), threadpool_limits(1):
        learner = HistogramGPClassifier(noise_variance="evidence", calibrated=False, random_state=seed).fit(X, labels)
        posterior = learner.posterior_
        fast = learner.variances_.fast
        fast.of(new[:2])  # its table is there
        ready = process_time()
        estimated = fast.of(new)
        middle = process_time()
        exact = learner.exact_variance(new)[:, 0] / posterior.scale
        end = process_time()
    return {
        "spearman": float(spearmanr(estimated, exact).statistic),
        "relative_error": float(np.sqrt(np.mean((estimated - exact) ** 2)) / exact.std()),
        "stated_relative_error": float(fast.error / exact.std()),
        "share_above_bound": float(np.mean(exact > fast.bound(new) * (1 + 1e-6))),
        "mean_exact": float(exact.mean()),
        "std_exact": float(exact.std()),
        "mean_bound": float(fast.bound(new).mean()),
        "seconds_fast": (middle - ready) / len(chosen),
        "seconds_exact": (end - middle) / len(chosen),
        "noise_variance": float(np.mean(learner.noise_variance_)),
        "fast": estimated.tolist(),
        "exact": exact.tolist(),
    }


def work(options: argparse.Namespace) -> None:
    """Every set, the file of results and the figure."""
    keys = [(name, place) for name in (*options.made_up, *([BAGS] if options.bags else [])) for place in options.places]
    cells: dict[str, list[Cell]] = {}
    for name, place in track(keys, "variances", len(keys)):
        about = {"set": name, "seed": place.seed, "words": options.words, "images": SHOWN, "version": 1}
        cell = kept(options.work, "variance", about, lambda n=name, p=place: _measured(options, n, p))
        cells.setdefault(name, []).append(cell)
    records = [
        record({"channels": name, "learner": "histogram_gp", "combine": "none"}, metric, [c[metric] for c in found])
        for name, found in cells.items()
        for metric in found[0]
        if not isinstance(found[0][metric], list)
    ]
    for name, found in cells.items():
        means = {metric: np.mean([cell[metric] for cell in found]) for metric in ("spearman", "relative_error")}
        print(f"{name:12}", ", ".join(f"{metric} {value:.3f}" for metric, value in means.items()))
    protocol = {"images": SHOWN, "threads": 1, "seconds": "processor time, per image"}
    write_results(options, records, protocol=protocol)
    write_figure(draw(cells), options.figure)


def _measured(options: argparse.Namespace, name: str, place: Place) -> Cell:
    if name == BAGS:
        bags = store_of(options).load(place)
        return measure(bags.train, bags.labels, bags.test, place.seed)
    split = one_against_many(n_others=OTHERS[name], n_words=options.words, seed=place.seed)
    return measure(split.X, split.targets, split.X_test, place.seed)


def draw(cells: dict[str, list[Cell]]) -> Figure:
    """Fast over exact variance of the images of the first draw, for each set."""
    figure = Figure(figsize=(3.2 * len(cells), 3.3), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(1, len(cells), squeeze=False)[0], cells.items(), strict=True):
        axes.plot(found[0]["exact"], found[0]["fast"], ".", color="#4a7", markersize=4)
        ends = [min(found[0]["exact"]), max(found[0]["exact"])]
        axes.plot(ends, ends, "k-", linewidth=0.7)
        mean = np.mean([cell["spearman"] for cell in found])
        axes.set(xlabel="exact variance", ylabel="fast variance", title=f"{name}: Spearman {mean:.3f}")
    return figure


def _main() -> None:
    parser = word_arguments("variance", __doc__, seeds="0-4")
    names = tuple(OTHERS)
    parser.add_argument(
        "--made-up", nargs="*", choices=names, default=names, help="sizes of made-up sets (all): " + "  ".join(names)
    )
    parser.add_argument("--no-bags", dest="bags", action="store_false", help="made-up sets alone")
    add_outputs(parser, "variance")
    run(parser, work)


if __name__ == "__main__":
    _main()

"""Penalties on the weights with the paper's fixed noise, strength by strength, beside the automatic way. [Kapoor2010, Fig. 4]

The paper fixes the noise (sigma = 1e-5) and does not say how strong its penalties are. Every row here says what was set: the
penalty, its strength per target, and whether the noise was fixed or learned with the weights. No strength is picked
by test images: all are shown.

python -m experiments.kapoor2010.fig4_penalties DATA --work FOLDER --pool 15
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from experiments.kapoor2010.ways import automatic
from fewsight.learners import GPClassifier, KernelCombination

NOISE = 1e-10  # sigma = 1e-5, squared
STRENGTHS = {"l1": (0.03, 0.3, 3.0, 30.0, 300.0), "l2": (0.1, 1.0, 10.0, 100.0, 1000.0)}
LEARNED_TOO = {"l1": (3.0, 30.0), "l2": (10.0, 100.0)}  # strengths that are measured with learned noise as well
NAMES = {"none": "no penalty", "l1": "L1", "l2": "squared L2"}


def ways_of(channels: tuple[str, ...]) -> dict[str, Way]:
    """By what a row says of itself."""
    found = {
        "average, noise fixed": _way(
            GPClassifier("precomputed", noise_variance=NOISE, prototypes=False), channels, "average", "fixed"
        ),
        "automatic": automatic(channels),
    }
    for noise, setting in (("fixed", NOISE), ("learned", "evidence")):
        options = {"free_mean": False, "noise_variance": setting}
        learner = KernelCombination("precomputed", penalty="none", **options)
        found[f"no penalty, noise {noise}"] = _way(learner, channels, "none", noise)
        for penalty, strengths in (STRENGTHS if noise == "fixed" else LEARNED_TOO).items():
            for strength in strengths:
                learner = KernelCombination("precomputed", penalty=penalty, strength=strength, **options)
                name = f"{NAMES[penalty]} {strength:g}, noise {noise}"
                found[name] = _way(learner, channels, penalty, noise, strength=f"{strength:g}")
    return found


def _way(
    learner: GPClassifier | KernelCombination, channels: tuple[str, ...], penalty: str, noise: str, **more: str
) -> Way:
    return Way(learner, channels, {"learner": "gp", "combine": "evidence", "penalty": penalty, "noise": noise, **more})


def draw(cells: Cells, ways: dict[str, Way], sizes: tuple[int, ...]) -> Figure:
    """Left: L1. Right: squared L2. Both with the average, no penalty and the automatic way."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2, sharey=True), ("L1", "squared L2"), strict=True):
        for name, way in ways.items():
            if name.startswith(("L1", "squared")) and not (name.startswith(kind) and name.endswith("fixed")):
                continue
            points = [100 * values_of(cells, way, size, "accuracy") for size in sizes]
            axes.errorbar(
                sizes,
                [p.mean() for p in points],
                [standard_error(p) for p in points],
                label=name,
                capsize=2,
                marker="o",
                markersize=4,
            )
        axes.set(xlabel="training images per category", ylabel="mean accuracy per category (%)", title=kind)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, sizes = store_of(options), tuple(sorted(options.sizes))
    ways = ways_of(options.channels)
    cells = Table(store, list(ways.values()), options.places).fill()
    comparisons = []
    for name, way in ways.items():
        apart = {
            size: values_of(cells, way, size, "accuracy")
            - values_of(cells, ways["average, noise fixed"], size, "accuracy")
            for size in sizes
        }
        comparisons.append(
            {
                "row": name,
                "minus_average": {size: float(np.mean(each)) for size, each in apart.items()},
                "standard_error": {size: standard_error(each) for size, each in apart.items()},
            }
        )
        means = "".join(f"{100 * values_of(cells, way, size, 'accuracy').mean():7.2f}" for size in sizes)
        print(f"{name:32}{means}")
    write_results(options, store, cells, noise_variance_fixed=NOISE, comparisons=comparisons)
    write_figure(draw(cells, ways, sizes), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig4_penalties", __doc__)
    add_outputs(options, "fig4_penalties")
    return options


if __name__ == "__main__":
    run(parser(), work)

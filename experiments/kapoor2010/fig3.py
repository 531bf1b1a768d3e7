"""Gaussian processes and support vector machines, one kernel at a time, 1 to 15 examples per category. [Kapoor2010, Fig. 3]

python -m experiments.kapoor2010.fig3 DATA --work FOLDER --pool 15
"""

from __future__ import annotations

import argparse

from matplotlib.figure import Figure

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from fewsight.learners import GPClassifier, SVMClassifier

NOISE, COST = 1e-10, 10_000.0  # the paper's: sigma = 1e-5, and C
LEARNERS = {
    "gp": GPClassifier("precomputed", noise_variance=NOISE, prototypes=False),
    "svm": SVMClassifier("precomputed", C=COST),
}


def ways_of(channels: tuple[str, ...]) -> dict[tuple[str, str], Way]:
    """Each learner on each channel."""
    return {
        (name, learner): Way(estimator, (name,), {"learner": learner, "combine": "none"})
        for name in channels
        for learner, estimator in LEARNERS.items()
    }


def draw(cells: Cells, ways: dict[tuple[str, str], Way], sizes: tuple[int, ...]) -> Figure:
    """Solid: Gaussian processes; dashed: support vector machines; a colour for each channel."""
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.add_subplot()
    colours = {name: f"C{i}" for i, name in enumerate(dict.fromkeys(name for name, _ in ways))}
    for (name, learner), way in ways.items():
        points = [100 * values_of(cells, way, size, "accuracy") for size in sizes]
        axes.errorbar(
            sizes,
            [p.mean() for p in points],
            [standard_error(p) for p in points],
            label=f"{name}, {'GP' if learner == 'gp' else 'SVM'}",
            color=colours[name],
            linestyle="-" if learner == "gp" else "--",
            capsize=2,
        )
    axes.set_xticks(sizes)
    axes.set(xlabel="training images per category", ylabel="mean accuracy per category (%)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, sizes = store_of(options), tuple(sorted(options.sizes))
    ways = ways_of(options.channels)
    cells = Table(store, list(ways.values()), options.places).fill()
    comparisons = []
    for name in options.channels:
        for size in sizes:
            gp, svm = (values_of(cells, ways[name, learner], size, "accuracy") for learner in LEARNERS)
            apart = gp - svm
            paired = {"gp_minus_svm": float(apart.mean()), "standard_error": standard_error(apart)}
            comparisons.append({"channels": name, "per_class": size, **paired})
            print(
                f"{name:14}{size:4}   GP {100 * gp.mean():6.2f}   SVM {100 * svm.mean():6.2f}   "
                f"{100 * apart.mean():+.2f} ± {100 * standard_error(apart):.2f}"
            )
    write_results(options, store, cells, comparisons=comparisons)
    write_figure(draw(cells, ways, sizes), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig3", __doc__)
    add_outputs(options, "fig3")
    return options


if __name__ == "__main__":
    run(parser(), work)

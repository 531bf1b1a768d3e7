"""Learning curves of one kernel (GP and SVM) and of four together, beside what others reported. [Kapoor2010, Fig. 6]

python -m experiments.kapoor2010.fig6 DATA --work FOLDER --pool 15
"""

from __future__ import annotations

import argparse

from matplotlib.figure import Figure

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from experiments.kapoor2010.fig3 import LEARNERS
from experiments.kapoor2010.table3 import REPORTED
from experiments.kapoor2010.ways import FOUR, MEANING, combined

# Per cent by examples per category, as the paper states them in words; its curves are not printed as numbers.
STATED = {8: 65.68, 15: 73.95}


def ways_of(channels: tuple[str, ...]) -> dict[str, Way]:
    """By what the legend says: the first channel alone, and all together."""
    every = combined(channels, "auto", "auto")
    alone = {
        f"{channels[0]}, {learner.upper()}": Way(estimator, channels[:1], {"learner": learner, "combine": "none"})
        for learner, estimator in LEARNERS.items()
    }
    return {**alone, "all together, evidence": every["evidence"], "all together, automatic": every["auto"]}


def draw(cells: Cells, ways: dict[str, Way], sizes: tuple[int, ...]) -> Figure:
    """Curves with standard errors; crosses are what the paper states."""
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.add_subplot()
    for name, way in ways.items():
        points = [100 * values_of(cells, way, size, "accuracy") for size in sizes]
        axes.errorbar(sizes, [p.mean() for p in points], [standard_error(p) for p in points], label=name, capsize=2)
    axes.plot(list(STATED), list(STATED.values()), "kx", label="[Kapoor2010], four kernels")
    others = [mean for name, (mean, _) in REPORTED.items() if not name.startswith("Kapoor")]
    axes.plot([15] * len(others), others, "k.", label="others, as the paper reports them")
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
    print(f"{'':28}" + "".join(f"{size:8}" for size in sizes))
    for name, way in ways.items():
        means = [100 * values_of(cells, way, size, "accuracy").mean() for size in sizes]
        print(f"{name:28}" + "".join(f"{mean:8.2f}" for mean in means))
    reported = {"stated": STATED, "at_15": {name: mean for name, (mean, _) in REPORTED.items()}, "reported": True}
    write_results(options, store, cells, meaning=MEANING, paper=reported)
    write_figure(draw(cells, ways, sizes), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig6", __doc__, sizes="1,3,5,8,10,15", channels=FOUR)
    add_outputs(options, "fig6")
    return options


if __name__ == "__main__":
    run(parser(), work)

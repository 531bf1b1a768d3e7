"""Which cue counts how much: the weights of the automatic combination over the draws. [Kapoor2010, Fig. 7]

Weights are for Gram matrices scaled to a mean diagonal of 1 and add up to 1, so that unlike the paper's they can be compared.

    python -m experiments.kapoor2010.fig7 DATA --work FOLDER
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

from experiments.common.cells import Cells, Table, Way, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from experiments.kapoor2010.ways import MEANING, automatic


def draw(cells: Cells, way: Way, sizes: tuple[int, ...]) -> Figure:
    """A panel for each size, a box for each channel; the line is where all weights are alike."""
    columns = min(3, len(sizes))
    rows = -(-len(sizes) // columns)
    figure = Figure(figsize=(3.6 * columns + 1, (0.35 * len(way.channels) + 1.2) * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, size in zip(panels, sizes, strict=False):
        logs = [np.log(values_of(cells, way, size, f"weight_{name}")) for name in way.channels]
        axes.boxplot(logs, orientation="horizontal", tick_labels=list(way.channels), widths=0.6)
        axes.axvline(-np.log(len(way.channels)), color="0.6", linewidth=0.8, linestyle="--")
        axes.set_title(f"{size} per category", fontsize=10)
        axes.grid(axis="x", alpha=0.3)
    panels[0].invert_yaxis()
    for axes in panels[len(sizes) :]:
        axes.set_visible(False)
    figure.supxlabel("log weight")
    return figure


def print_weights(cells: Cells, way: Way, sizes: tuple[int, ...]) -> None:
    """The median weight of each channel at each size."""
    print(f"{'median weight at':16}" + "".join(f"{size:8}" for size in sizes))
    for name in way.channels:
        medians = [np.median(values_of(cells, way, size, f"weight_{name}")) for size in sizes]
        print(f"{name:16}" + "".join(f"{median:8.3f}" for median in medians))


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, sizes = store_of(options), tuple(sorted(options.sizes))
    way = automatic(options.channels)
    cells = Table(store, [way], options.places).fill()
    print_weights(cells, way, sizes)
    write_results(options, store, cells, meaning={"auto": MEANING["auto"]})
    write_figure(draw(cells, way, sizes), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig7", __doc__)
    add_outputs(options, "fig7")
    return options


if __name__ == "__main__":
    run(parser(), work)

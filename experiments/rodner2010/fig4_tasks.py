"""Each target from one example: independent, with transfer, with WordNet. [Rodner2010, Fig. 4 left]

python -m experiments.rodner2010.fig4_tasks DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2010.command import add_outputs, arguments, pool_of, write_results
from experiments.rodner2010.fig3 import Cells
from experiments.rodner2010.measuring import Bench, precisions, record

WAYS = ("independent", "transfer", "transfer_wordnet_10")


def lenders(cells: Cells, target: str, way: str) -> dict[str, int]:
    """Which categories lent to a target, and on how many splits."""
    found = Counter(cell[target][way]["support"] for cell in cells.values())
    return {str(name): count for name, count in found.most_common()}


def draw(cells: Cells, targets: list[str]) -> Figure:
    """A group of bars for each target, those that gain most first."""
    gains = {t: np.diff([precisions(cells, way, 1, [t]).mean() for way in WAYS[:2]])[0] for t in targets}
    order = sorted(targets, key=lambda target: -gains[target])
    figure = Figure(figsize=(12, 4.6), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(len(order))
    for shift, way in zip((-0.27, 0.0, 0.27), WAYS, strict=True):
        heights = [100 * precisions(cells, way, 1, [target]).mean() for target in order]
        axes.bar(places + shift, heights, 0.26, label=way.replace("_", " "))
    axes.set_xticks(places, order, rotation=60, ha="right")
    axes.set(ylabel="average precision (%), one training image")
    axes.grid(alpha=0.3, axis="y")
    axes.legend()
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool = pool_of(options)
    cells = Bench(pool).fill([Place(seed, 1) for seed in options.seeds])
    rows: list[dict[str, Any]] = []
    for target in pool.targets:
        values = {way: precisions(cells, way, 1, [target])[:, 0] for way in WAYS}
        rows += [record(options.channels, way, 1, found, task=target) for way, found in values.items()]
        likely = ", ".join(f"{name} {count}" for name, count in list(lenders(cells, target, "transfer").items())[:3])
        print(f"{target:14}" + "".join(f"{100 * found.mean():7.1f}" for found in values.values()) + f"   {likely}")
    chosen = {t: {way: lenders(cells, t, way) for way in WAYS[1:]} for t in pool.targets}
    write_results(options, pool, rows, supports=chosen)
    write_figure(draw(cells, pool.targets), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig4_tasks", __doc__, seeds="10-29")
    add_outputs(options, "fig4_tasks")
    return options


if __name__ == "__main__":
    run(parser(), work)

"""What the choice of support task and correlation goes by, with one example. [Rodner2010, Fig. 4 right]

python -m experiments.rodner2010.fig4_criteria DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

from matplotlib.figure import Figure

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2010.command import add_outputs, arguments, pool_of, write_results
from experiments.rodner2010.fig3 import difference
from experiments.rodner2010.measuring import DEFAULT, Bench, precisions, record
from fewsight.transfer import CRITERIA

WAYS = ("independent", *CRITERIA)


def draw(rows: list[dict[str, Any]]) -> Figure:
    """A bar for each criterion, with the standard error over splits."""
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    axes = figure.add_subplot()
    names = [row["criterion"].replace("_", " ") for row in rows]
    axes.barh(
        names, [100 * row["mean"] for row in rows], xerr=[100 * (row["standard_error"] or 0) for row in rows], capsize=2
    )
    axes.invert_yaxis()
    axes.set(xlabel="mean average precision (%), one training image")
    axes.grid(alpha=0.3, axis="x")
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool = pool_of(options)
    cells = Bench(pool, "criteria").fill([Place(seed, 1) for seed in options.seeds])
    values = {way: precisions(cells, way, 1, pool.targets) for way in WAYS}
    rows = []
    for way, found in values.items():
        method = "independent" if way == "independent" else "transfer"
        rows.append(record(options.channels, method, 1, found.mean(axis=1), criterion=way))
        print(f"{way:24} {100 * rows[-1]['mean']:.2f} ± {100 * (rows[-1]['standard_error'] or 0):.2f}")
    against = {way: difference(values[DEFAULT], found) for way, found in values.items() if way != DEFAULT}
    write_results(options, pool, rows, default=DEFAULT, default_minus_others=against)
    write_figure(draw(rows), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig4_criteria", __doc__, seeds="0-19")
    add_outputs(options, "fig4_criteria")
    return options


if __name__ == "__main__":
    run(parser(), work)

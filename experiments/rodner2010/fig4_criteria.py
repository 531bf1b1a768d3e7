"""What the choice of support task and correlation goes by. [Rodner2010, Fig. 4 right, there with one example]

The default was chosen here, on the seeds 100-109.

python -m experiments.rodner2010.fig4_criteria DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

from matplotlib.figure import Figure

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2010.choices import DEFAULT, WAYS
from experiments.rodner2010.command import add_outputs, arguments, pool_of, write_results
from experiments.rodner2010.fig3 import difference
from experiments.rodner2010.measuring import Bench, precisions, record


def draw(rows: list[dict[str, Any]]) -> Figure:
    """A bar for each way, with the standard error over splits."""
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.add_subplot()
    names = [row["criterion"].replace("_", " ") for row in rows]
    axes.barh(
        names, [100 * row["mean"] for row in rows], xerr=[100 * (row["standard_error"] or 0) for row in rows], capsize=2
    )
    axes.invert_yaxis()
    axes.set(xlabel=f"mean average precision (%), training images: {rows[0]['per_class']}")
    axes.grid(alpha=0.3, axis="x")
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool, sizes = pool_of(options), tuple(sorted(options.sizes))
    cells = Bench(pool, "criteria").fill([Place(seed, size) for size in sizes for seed in options.seeds])
    rows, against = [], []
    for size in sizes:
        values = {way: precisions(cells, way, size, pool.targets) for way in WAYS}
        for way, found in values.items():
            method = "independent" if way == "independent" else "transfer"
            rows.append(record(options.channels, method, size, found.mean(axis=1), criterion=way))
            apart = difference(found, values["independent"])
            against.append({"per_class": size, "criterion": way, **apart})
            print(
                f"{size:3} {way:32} {100 * rows[-1]['mean']:6.2f}   minus alone {100 * apart['mean']:+6.2f} "
                f"± {100 * apart['standard_error_over_targets']:.2f} over targets"
            )
    write_results(options, pool, rows, default=DEFAULT, minus_independent=against)
    write_figure(draw([row for row in rows if row["per_class"] == sizes[0]]), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig4_criteria", __doc__, seeds="100-109", sizes="1,2,3,5,10,15")
    add_outputs(options, "fig4_criteria")
    return options


if __name__ == "__main__":
    run(parser(), work)

"""Active against random questions as labels come in, for some categories against all others. [Kapoor2010, Fig. 9]

    python -m experiments.kapoor2010.fig9 DATA --work FOLDER

Draws the runs of Fig. 8: with the same options, nothing is computed again.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

from experiments.common.cells import standard_error
from experiments.common.command import run, words, write_figure
from experiments.kapoor2010.binary import RULES, Binary, Found, curve
from experiments.kapoor2010.fig8 import binary_arguments, problems, record, write
from fewsight._base.checks import check_choice

SHOWN = ("airplanes", "Faces", "Motorbikes", "car_side", "dalmatian", "watch")
STYLES = dict(zip(RULES, ("-", "--"), strict=True))


def draw(found: dict[int, Found], shown: tuple[str, ...], n_queries: int) -> Figure:
    """A panel for each category, with standard errors."""
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = Figure(figsize=(4 * columns, 3.2 * rows), layout="constrained")
    labels = 2 + np.arange(n_queries + 1)
    for axes, category in zip(figure.subplots(rows, columns, squeeze=False).flat, shown, strict=False):
        for rule in RULES:
            values = 100 * curve(found, category, rule)
            errors = [standard_error(column) for column in values.T]
            axes.errorbar(labels, values.mean(axis=0), errors, label=rule, linestyle=STYLES[rule], capsize=1.5)
        axes.set(title=category, xlabel="labels", ylabel="mean accuracy (%)")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, write."""
    problem: Binary = problems(options)
    for category in options.shown:
        check_choice("fig9", "--shown", category, problem.classes)
    found = problem.runs(options.seeds)
    rows = [
        record(problem, category, rule, asked, "accuracy", curve(found, category, rule)[:, asked])
        for category in options.shown
        for rule in RULES
        for asked in range(options.queries + 1)
    ]
    write(options, problem, rows)
    write_figure(draw(found, options.shown, options.queries), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = binary_arguments("fig9", __doc__)
    options.add_argument("--shown", type=words, default=SHOWN, help=f"categories ({','.join(SHOWN)})")
    return options


if __name__ == "__main__":
    run(parser(), work)

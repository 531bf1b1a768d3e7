"""Largest residual against time: conjugate gradients, coordinate descent with tables, greedy block coordinate descent.
[Rodner2012, Fig. 4]

One image of each of 999 categories and 100 of another, a thousand words; all three solve the same system, whose histograms
are rounded to a hundred values per dimension (which coordinate descent needs), with noise 0.1, until the largest residual is
below 1e-6.

    python -m experiments.rodner2012.solvers --work FOLDER
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from experiments.common.command import run, write_figure
from experiments.rodner2012.descent import coordinate_descent, greedy_blocks, quantised
from experiments.rodner2012.results import add_outputs, kept, made_up_arguments, record, write_results
from fewsight._base.progress import track
from fewsight.gp import conjugate_gradients
from fewsight.kernels import HistogramIntersection, HistogramOperator

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import one_against_many

NOISE, TOLERANCE, BINS = 0.1, 1e-6, 100
NAMES = {
    "conjugate_gradients": "conjugate gradients",
    "coordinate_descent": "coordinate descent with tables",
    "greedy_blocks": "greedy block coordinate descent",
}


def measure(seed: int, n_others: int, n_categories: int, limit: float) -> dict[str, Any]:
    """Processor times and largest residuals of the three, and how far the solutions lie from that of a factorisation."""
    data = one_against_many(n_others=n_others, n_categories=n_categories, n_test=1, seed=seed)
    X, places, steps = quantised(data.X, BINS)
    y = data.targets
    operator = HistogramOperator.from_rows(X)
    operator @ y
    K = HistogramIntersection().gram(X)
    exact = np.linalg.solve(K + NOISE * np.eye(len(y)), y)
    curves: dict[str, list[tuple[float, float]]] = {name: [] for name in NAMES}

    def watch(name: str) -> Any:
        def heard(seconds: float, largest: float) -> bool:
            curves[name].append((seconds, largest))
            return seconds > limit

        return heard

    with threadpool_limits(1):
        found = {
            "conjugate_gradients": _conjugate(operator, y, watch("conjugate_gradients")),
            "coordinate_descent": coordinate_descent(
                X, places, steps, BINS, y, NOISE, TOLERANCE, watch("coordinate_descent"), seed
            ),
            "greedy_blocks": greedy_blocks(X, y, NOISE, TOLERANCE, watch("greedy_blocks")),
        }
    size = np.abs(exact).max()
    return {
        "n": len(y),
        "curves": {name: _thinned(curve) for name, curve in curves.items()},
        "seconds": {name: curve[-1][0] for name, curve in curves.items()},
        "residual": {name: curve[-1][1] for name, curve in curves.items()},
        "iterations": {name: len(curve) for name, curve in curves.items()},
        "error": {name: float(np.abs(dual - exact).max() / size) for name, dual in found.items()},
    }


def _conjugate(operator: HistogramOperator, y: Any, watch: Any) -> Any:
    """Until the largest residual is small, which the Euclidean norm bounds from above."""
    start = process_time()
    solved = conjugate_gradients(
        operator,
        y[:, None],
        NOISE,
        tolerance=TOLERANCE / np.linalg.norm(y),
        watch=lambda _, residuals: watch(process_time() - start, float(np.abs(residuals).max(initial=0.0))) and None,
    )
    return solved.columns[:, 0]


def _thinned(curve: list[tuple[float, float]], most: int = 200) -> list[tuple[float, float]]:
    places = np.unique(np.linspace(0, len(curve) - 1, min(most, len(curve))).astype(int))
    return [curve[place] for place in places]


def work(options: argparse.Namespace) -> None:
    """Every task, the file of results and the figure."""
    cells = []
    for seed in track(options.seeds, "tasks", len(options.seeds)):
        settings = {"seed": seed, "others": options.others, "categories": options.categories, "limit": options.limit}

        def compute(seed: int = seed) -> dict[str, Any]:
            return measure(seed, options.others, options.categories, options.limit)

        cells.append(kept(options.work, "solvers", settings, compute))
    records = []
    for name in NAMES:
        head = {"channels": "made up", "learner": "histogram_gp", "combine": "none", "per_class": 1, "solver": name}
        for metric in ("seconds", "residual", "iterations", "error"):
            records.append(record(head, metric, [cell[metric][name] for cell in cells]))
        seconds, left = (np.median([cell[key][name] for cell in cells]) for key in ("seconds", "residual"))
        print(f"{NAMES[name]:34} {seconds:9.3f} s, largest residual {left:.2g}")
    protocol = {"noise": NOISE, "tolerance": TOLERANCE, "bins": BINS, "n": cells[0]["n"], "most_seconds": options.limit}
    write_results(options, records, curves=cells[0]["curves"], protocol=protocol)
    write_figure(draw(cells[0]["curves"]), options.figure)


def draw(curves: dict[str, list[tuple[float, float]]]) -> Figure:
    """Residual over time, both as logarithms."""
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for name, curve in curves.items():
        seconds, residuals = np.transpose(curve)
        axes.loglog(seconds, residuals, label=NAMES[name])
    axes.axhline(TOLERANCE, color="#999", linewidth=0.8)
    axes.set(xlabel="processor seconds", ylabel="largest residual")
    axes.legend()
    return figure


def _main() -> None:
    parser = made_up_arguments("solvers", __doc__, seeds="0-2")
    parser.add_argument("--others", type=int, default=1, help="images of each other category (1)")
    parser.add_argument("--categories", type=int, default=1_000, help="of the images (1000)")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a solver is stopped (120)")
    add_outputs(parser, "solvers")
    run(parser, work)


if __name__ == "__main__":
    _main()

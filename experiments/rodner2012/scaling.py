"""Time and memory of the large-scale learner against the number of histograms, up to 100,000. [Rodner2012, Table 2]

One thread, a thousand words, a quarter of them in an image, 100 images of the category to find.

    python -m experiments.rodner2012.scaling --work FOLDER
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numba
import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from experiments.common.command import numbers, run, write_figure
from experiments.rodner2012.results import add_outputs, kept, made_up_arguments, record, write_results
from fewsight._base.progress import silent, track
from fewsight.gp import IterativePosterior, noise_curve
from fewsight.kernels import HistogramOperator, LookupTable
from fewsight.learners.histogram_gp import HistogramGPClassifier
from fewsight.learners.histograms.model_selection import STEPS, unit

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import one_against_many

FIXED_NOISE = 0.1  # as in the literature that times are compared with
HEAD = {"channels": "made up", "learner": "histogram_gp", "combine": "none"}
TIMES = ("build", "product_of_one", "product", "noise", "train", "train_fixed_noise", "predict_exact", "predict_table")


def timed(work: Any) -> tuple[Any, float]:
    """What it returns, and the processor time of this process: other work on the machine does not count."""
    start = process_time()
    found = work()
    return found, process_time() - start


def measure(n_others: int, seed: int) -> dict[str, float]:
    """Every stage at one size."""
    data = one_against_many(n_others=n_others, n_test=1, seed=seed)
    targets, classes = data.targets[:, None], (data.targets > 0).astype(np.intp)
    for columns in (1, 8):  # compiled loops are loaded
        HistogramOperator.from_rows(data.X[:50]) @ np.ones((50, columns))
    cell: dict[str, float] = {"n": float(data.X.shape[0]), "nonzeros": float(data.X.nnz)}
    numba.set_num_threads(1)
    with silent(), threadpool_limits(1):
        wall = perf_counter()
        operator, cell["seconds_build"] = timed(lambda: unit(HistogramOperator.from_rows(data.X)))
        V = np.random.default_rng(0).standard_normal((operator.n, 8))
        cell["seconds_product"] = timed(lambda: [operator @ V for _ in range(3)])[1] / 24
        cell["seconds_product_of_one"] = timed(lambda: [operator @ V[:, 0] for _ in range(10)])[1] / 10
        (level, _), cell["seconds_noise"] = timed(lambda: noise_curve(operator, targets, steps=STEPS).best())
        options = HistogramGPClassifier().options()
        for name, noise in (("train", level), ("train_fixed_noise", FIXED_NOISE)):
            noises = np.full((operator.n, 1), noise)
            posterior, cell[f"seconds_{name}"] = timed(
                lambda noises=noises: IterativePosterior.condition(operator, classes, 2, noises, options)
            )
            cell[f"iterations_{name}"] = float(posterior.iterations)
            if name == "train":
                chosen = posterior
        table = LookupTable.from_operator(operator, chosen.dual_weights, 100)
        m = data.X_test.shape[0]
        exact, seconds = timed(lambda: chosen.exact_mean(data.X_test)[:, 1])
        cell["seconds_predict_exact"] = seconds / m
        quick, seconds = timed(lambda: [table.product(data.X_test) for _ in range(5)].pop())
        cell["seconds_predict_table"] = seconds / m / 5
        cell["seconds_wall"] = perf_counter() - wall
    cell["auc"] = float(roc_auc_score(data.targets_test, exact))
    cell["auc_table"] = float(roc_auc_score(data.targets_test, quick[:, 0]))
    cell["noise_level"], cell["bytes_per_nonzero"] = level, operator.nbytes / data.X.nnz
    return cell


def work(options: argparse.Namespace) -> None:
    """Every size, the file of results and the figure."""
    keys = [(others, seed) for others in options.others for seed in options.seeds]
    cells: dict[int, list[dict[str, float]]] = {others: [] for others in options.others}
    for others, seed in track(keys, "sizes", len(keys)):
        settings = {"n_others": others, "seed": seed, "version": 2}
        cells[others].append(kept(options.work, "scaling", settings, lambda o=others, s=seed: measure(o, s)))
        last = cells[others][-1]
        print(f"n = {last['n']:,.0f}: " + ", ".join(f"{name} {last[f'seconds_{name}']:.3g} s" for name in TIMES))
    records = [
        record({**HEAD, "per_class": 100, "n": int(found[0]["n"])}, name, [cell[name] for cell in found])
        for found in cells.values()
        for name in found[0]
        if name != "n"
    ]
    write_results(options, records, protocol={"threads": 1, "seconds": "processor time", "fixed_noise": FIXED_NOISE})
    write_figure(draw(cells), options.figure)


def draw(cells: dict[int, list[dict[str, float]]]) -> Figure:
    """Seconds over n, both as logarithms."""
    figure = Figure(figsize=(6.5, 4.4), layout="constrained")
    axes = figure.add_subplot()
    sizes = [found[0]["n"] for found in cells.values()]
    for name in TIMES:
        seconds = [np.mean([cell[f"seconds_{name}"] for cell in found]) for found in cells.values()]
        axes.loglog(sizes, seconds, "o-", label=name.replace("_", " "))
    axes.set(xlabel="histograms", ylabel="processor seconds (predictions: per image)")
    axes.legend(fontsize=8)
    return figure


def _main() -> None:
    parser = made_up_arguments("scaling", __doc__, seeds="0")
    parser.add_argument(
        "--others", type=numbers, default=(1, 3, 10, 30, 50, 100), help="images of each of 999 other categories"
    )
    add_outputs(parser, "scaling")
    run(parser, work)


if __name__ == "__main__":
    _main()

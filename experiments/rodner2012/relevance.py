"""Relevance determination: eight weights, of which two matter, and a thousand, of which half do. [Rodner2012, section 6.5,
Fig. 5]

The first part draws 500 times from one distribution and less often from five others. The second learns a thousand weights on
10,090 histograms of which half the words are exchanged between images, so that they say nothing: see `thousand`.

    python -m experiments.rodner2012.relevance --work FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.command import numbers, run, write_figure
from experiments.rodner2012.results import add_outputs, kept, made_up_arguments, paired, record, write_results
from experiments.rodner2012.thousand import LEARNED, TOLERANCE, learned, thousand_weights
from fewsight._base.progress import silent, track

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import TWO_OF_EIGHT, relevance

FIRST = "independent"  # of the distributions: the one whose other six dimensions say nothing at all
LESS_PRIOR = {"relevance_prior": 0.2}  # chosen with seed 100
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (("plain", {}), ("weighted", LEARNED))
TEST_PER_CLASS = 500
RUNS_AT_A_TIME = 50
HEAD = {"channels": "made up", "learner": "histogram_gp", "combine": "none"}
Runs = dict[tuple[str, int], list[dict[str, Any]]]  # of a distribution and a number of examples per class


def small_run(kind: str, per_class: int, seed: int) -> dict[str, Any]:
    """One draw: accuracy of plain and weighted kernel, and the weights, which add up to one."""
    rng = np.random.default_rng([seed, per_class])
    X, y = relevance(per_class, rng, kind)
    X_test, y_test = relevance(TEST_PER_CLASS, rng, kind)
    cell: dict[str, Any] = {}
    for way, options in WAYS:
        with silent():
            found, posterior = learned(X, (y > 0).astype(np.intp), **options)
        cell[way] = float(np.mean(posterior.exact_mean(X_test).argmax(axis=1) == (y_test > 0)))
    return {**cell, "weights": (found.operator.weights / found.operator.weights.sum()).tolist()}


def work(options: argparse.Namespace) -> None:
    """Both parts, the file of results and the figure."""
    batches = [
        (kind, size, options.seeds[top : top + RUNS_AT_A_TIME])
        for kind in options.kinds
        for size in options.per_class
        for top in range(0, len(options.seeds) if kind == FIRST else options.other_runs, RUNS_AT_A_TIME)
    ]
    cells: Runs = {(kind, size): [] for kind in options.kinds for size in options.per_class}
    for kind, size, seeds in track(batches, "eight weights", len(batches)):
        settings = {"kind": kind, "made": str(TWO_OF_EIGHT[kind]), "per_class": size, "seeds": list(seeds), **LEARNED}

        def compute(kind: str = kind, size: int = size, seeds: tuple[int, ...] = seeds) -> dict[str, Any]:
            return {"runs": [small_run(kind, size, seed) for seed in seeds]}

        cells[kind, size] += kept(options.work, "relevance", settings, compute)["runs"]
    large = {
        "one": large_cells(options, "one", options.large_seeds),
        "all": large_cells(options, "all", options.all_seeds),
        "all, less prior": large_cells(options, "all", options.less_seeds, **LESS_PRIOR),
    }
    report(options, cells, large)


def large_cells(
    options: argparse.Namespace, problems: str, seeds: tuple[int, ...], **more: Any
) -> list[dict[str, float]]:
    """One cell of `thousand_weights` for each seed."""
    size = {"n_others": options.others, "n_words": options.words, **more}
    return [
        kept(
            options.work,
            "thousand",
            {"seed": seed, "problems": problems, **size, **LEARNED},
            lambda seed=seed: thousand_weights(seed, problems, **size),
        )
        for seed in track(seeds, f"a thousand weights, {problems}", len(seeds))
    ]


def report(options: argparse.Namespace, cells: Runs, large: dict[str, list[dict[str, float]]]) -> None:
    """Records, comparisons and figure."""
    records, compared, weights = [], [], {}
    for (kind, size), runs in cells.items():
        for way, _ in WAYS:
            head = {**HEAD, "distribution": kind, "kernel": way, "per_class": size}
            records.append(record(head, "accuracy", [run[way] for run in runs]))
        found = paired([run["weighted"] for run in runs], [run["plain"] for run in runs])
        mean = np.mean([run["weights"] for run in runs], axis=0)
        weights[f"{kind}, {size}"] = mean.tolist()
        above = bool(mean[:2].min() > mean[2:].max())
        compared.append({"distribution": kind, "per_class": size, **found, "informative_above_others": above})
        print(f"{kind:16} {size:4} per class: {json.dumps(compared[-1])}, weights {np.round(mean, 3).tolist()}")
    for problems, found_cells in large.items():
        head = {**HEAD, "per_class": 0, "part": "thousand", "problems": problems}
        for name in found_cells[0] if found_cells else ():
            records.append(record(head, name, [cell[name] for cell in found_cells]))
        for metric in [name for name in ("auc", "mean_auc") if found_cells and f"{name}_plain" in found_cells[0]]:
            ours, theirs = ([cell[f"{metric}_{way}"] for cell in found_cells] for way in ("weighted", "plain"))
            compared.append({"part": "thousand", "problems": problems, "metric": metric, **paired(ours, theirs)})
            print(json.dumps(compared[-1]))
    protocol = {
        "distributions": {kind: str(TWO_OF_EIGHT[kind]) for kind in options.kinds},
        "learned": LEARNED,
        "less_prior": LESS_PRIOR,
        "tolerance": TOLERANCE,
        "large_seeds": list(options.large_seeds),
        "all_seeds": list(options.all_seeds),
        "less_seeds": list(options.less_seeds),
    }
    write_results(options, records, comparisons=compared, mean_weights=weights, protocol=protocol)
    write_figure(draw(cells, weights), options.figure)


def draw(cells: Runs, weights: dict[str, list[float]]) -> Figure:
    """Mean weights of the first distribution at the smallest size, and gains over sizes for all of them."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    first = next(iter(weights))
    left.bar(range(1, 9), weights[first], color=["#c63"] * 2 + ["#999"] * 6)
    left.set(xlabel="dimension", ylabel="mean share of the weight", title=f"{first} examples per class")
    for kind in dict.fromkeys(kind for kind, _ in cells):
        sizes = [size for name, size in cells if name == kind]
        gains = [[100 * (run["weighted"] - run["plain"]) for run in cells[kind, size]] for size in sizes]
        errors = [2 * np.std(gain) / np.sqrt(len(gain)) for gain in gains]
        right.errorbar(sizes, [np.mean(gain) for gain in gains], errors, fmt="o-", capsize=3, label=kind)
    right.axhline(0, color="#999", linewidth=0.8)
    right.set(xlabel="examples per class", ylabel="gain in accuracy (points)", xscale="log")
    right.legend(fontsize="small")
    return figure


def _main() -> None:
    parser = made_up_arguments("relevance", __doc__, seeds="0-499")
    parser.add_argument("--per-class", type=numbers, default=(5, 10, 20, 50), help="examples per class (5,10,20,50)")
    parser.add_argument("--other-runs", type=int, default=100, help="of each distribution but the first (100)")
    parser.add_argument("--large-seeds", type=numbers, default=tuple(range(10)), help="of one problem (0-9)")
    parser.add_argument("--all-seeds", type=numbers, default=tuple(range(10)), help="of all problems (0-9)")
    parser.add_argument("--less-seeds", type=numbers, default=tuple(range(10)), help="likewise with less prior (0-9)")
    parser.add_argument("--others", type=int, default=10, help="images of each of 999 other categories (10)")
    parser.add_argument("--words", type=int, default=1_000, help="of the histograms of the second part (1000)")
    parser.set_defaults(kinds=(FIRST, *(kind for kind in TWO_OF_EIGHT if kind != FIRST)))
    add_outputs(parser, "relevance")
    run(parser, work)


if __name__ == "__main__":
    _main()

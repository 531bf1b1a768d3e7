"""Relevance determination: eight weights, of which two matter, and a thousand, of which half do. [Rodner2012, section 6.5,
Fig. 5]

The first part draws 500 times; the second learns a thousand weights on 10,090 histograms of which half the words are
exchanged between images, so that they say nothing.

    python -m experiments.rodner2012.relevance --work FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from experiments.kapoor2010.command import numbers, run, write_figure
from experiments.rodner2012.results import add_outputs, kept, made_up_arguments, paired, record, write_results
from fewsight._base.progress import silent, track
from fewsight.kernels import HistogramOperator
from fewsight.learners import HistogramGPClassifier
from fewsight.learners.histograms import HistogramPosterior, find, options_of, settings_of

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import one_against_many, relevance

OWN, OTHERS = (
    (2.0, 0.5),
    4.0,
)  # shapes of the Dirichlet distribution: six dimensions without information have most of the mass
WEIGHTED = {"relevance": "evidence", "relevance_spread": 1.0, "relevance_steps": 30}
THOUSAND: dict[str, Any] = {"relevance": "evidence"}
TEST_PER_CLASS = 500
RUNS_AT_A_TIME = 25
HEAD = {"channels": "made up", "learner": "histogram_gp", "combine": "none"}


def small_run(per_class: int, seed: int) -> dict[str, Any]:
    """One draw: accuracy of plain and weighted kernel, and the weights, which add up to one."""
    rng = np.random.default_rng([seed, per_class])
    X, y = relevance(per_class, rng, OWN, OTHERS)
    X_test, y_test = relevance(TEST_PER_CLASS, rng, OWN, OTHERS)
    classes, groups = (y > 0).astype(np.intp), np.zeros(X.shape[1], np.intp)
    cell: dict[str, Any] = {}
    for way, options in (("plain", {}), ("weighted", WEIGHTED)):
        learner = HistogramGPClassifier(**options)
        found = find(HistogramOperator.from_rows(X), classes, 2, groups, settings_of(learner))
        posterior = HistogramPosterior.condition(found.operator, classes, 2, found.noise, options_of(learner))
        cell[way] = float(np.mean(posterior.exact_mean(X_test).argmax(axis=1) == (y_test > 0)))
        if way == "weighted":
            cell["weights"] = (found.operator.weights / found.operator.weights.sum()).tolist()
    return cell


def thousand_weights(seed: int, n_others: int, n_words: int) -> dict[str, float]:
    """AUC of plain and weighted kernel on new images, where half the words say nothing."""
    data = one_against_many(n_others=n_others, n_words=n_words, n_noise=n_words // 2, seed=seed)
    cell: dict[str, float] = {"n": float(data.X.shape[0])}
    for way, options in (("plain", {}), ("weighted", THOUSAND)):
        with silent(), threadpool_limits(1):
            start, cpu = perf_counter(), _cpu()
            learner = HistogramGPClassifier(**options).fit(data.X, data.targets.astype(int))
            cell[f"seconds_{way}"], cell[f"cpu_seconds_{way}"] = perf_counter() - start, _cpu() - cpu
        cell[f"auc_{way}"] = float(roc_auc_score(data.targets_test, learner.latent_mean(data.X_test)[:, 1]))
        if way == "weighted":
            weights = learner.relevance_
            cell["mean_weight_informative"] = float(weights[n_words // 2 :].mean())
            cell["mean_weight_noise"] = float(weights[: n_words // 2].mean())
    return cell


def _cpu() -> float:
    from time import process_time

    return process_time()


def work(options: argparse.Namespace) -> None:
    """Both parts, the file of results and the figure."""
    batches = [
        (size, options.seeds[top : top + RUNS_AT_A_TIME])
        for size in options.per_class
        for top in range(0, len(options.seeds), RUNS_AT_A_TIME)
    ]
    cells: dict[int, list[dict[str, Any]]] = {size: [] for size in options.per_class}
    for size, seeds in track(batches, "eight weights", len(batches)):
        settings = {"per_class": size, "seeds": list(seeds), "own": OWN, "others": OTHERS, **WEIGHTED}

        def compute(size: int = size, seeds: tuple[int, ...] = seeds) -> dict[str, Any]:
            return {"runs": [small_run(size, seed) for seed in seeds]}

        cells[size] += kept(options.work, "relevance", settings, compute)["runs"]
    large = [
        kept(
            options.work,
            "thousand",
            {"seed": seed, "n_others": options.others, "words": options.words, **THOUSAND},
            lambda seed=seed: thousand_weights(seed, options.others, options.words),
        )
        for seed in track(options.large_seeds, "a thousand weights", len(options.large_seeds))
    ]
    report(options, cells, large)


def report(options: argparse.Namespace, cells: dict[int, list[dict[str, Any]]], large: list[dict[str, float]]) -> None:
    """Records, comparisons and figure."""
    records, compared, weights = [], [], {}
    for size, runs in cells.items():
        for way in ("plain", "weighted"):
            head = {**HEAD, "kernel": way, "per_class": size}
            records.append(record(head, "accuracy", [run[way] for run in runs]))
        found = paired([run["weighted"] for run in runs], [run["plain"] for run in runs])
        mean = np.mean([run["weights"] for run in runs], axis=0)
        weights[str(size)] = mean.tolist()
        compared.append({"per_class": size, **found, "informative_above_others": bool(mean[:2].min() > mean[2:].max())})
        print(f"{size:4} per class: {json.dumps(compared[-1])}, weights {np.round(mean, 3).tolist()}")
    if large:
        for name in large[0]:
            records.append(record({**HEAD, "per_class": 0, "part": "thousand"}, name, [cell[name] for cell in large]))
        compared.append(
            {"part": "thousand", **paired([c["auc_weighted"] for c in large], [c["auc_plain"] for c in large])}
        )
        print(json.dumps(compared[-1]))
    protocol = {"own": OWN, "others": OTHERS, "weighted": WEIGHTED, "thousand": THOUSAND}
    write_results(options, records, comparisons=compared, mean_weights=weights, protocol=protocol)
    write_figure(draw(cells, weights), options.figure)


def draw(cells: dict[int, list[dict[str, Any]]], weights: dict[str, list[float]]) -> Figure:
    """Mean weights at the smallest size, and accuracy over sizes."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    first = next(iter(weights))
    left.bar(range(1, 9), weights[first], color=["#c63"] * 2 + ["#999"] * 6)
    left.set(xlabel="dimension", ylabel="mean share of the weight", title=f"{first} examples per class")
    for way, colour in (("plain", "#36c"), ("weighted", "#c63")):
        means = [100 * np.mean([run[way] for run in runs]) for runs in cells.values()]
        right.plot(list(cells), means, "o-", color=colour, label=way)
    right.set(xlabel="examples per class", ylabel="accuracy (%)", xscale="log")
    right.legend()
    return figure


def _main() -> None:
    parser = made_up_arguments("relevance", __doc__, seeds="0-499")
    parser.add_argument("--per-class", type=numbers, default=(5, 10, 20, 50), help="examples per class (5,10,20,50)")
    parser.add_argument("--large-seeds", type=numbers, default=(0, 1, 2), help="of the second part (0-2)")
    parser.add_argument("--others", type=int, default=10, help="images of each of 999 other categories (10)")
    parser.add_argument("--words", type=int, default=1_000, help="of the histograms of the second part (1000)")
    add_outputs(parser, "relevance")
    run(parser, work)


if __name__ == "__main__":
    _main()

"""Related and unrelated support tasks, against Adapted LS-SVM: three tasks that lend to each other. [Rodner2010, Fig. 2]

The paper's categories are of Caltech-256. Of Caltech-101, three kinds of ship stand in for the related ones (car, fire-truck,
motorbike), and a ship, a dog and a bird for the unrelated ones (school-bus, dog, duck). 18 images of the background and of
each support task. The Gaussian processes decide at zero or at an offset that left-out examples give
(`TransferGPClassifier.offset`).

python -m experiments.rodner2010.fig2 DATA --work FOLDER
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

from experiments.common.cells import standard_error
from experiments.common.command import run, write_figure
from experiments.rodner2010.adapted_svm import adapted, plain
from experiments.rodner2010.command import add_outputs, arguments, pool_of, write_results
from experiments.rodner2010.measuring import record
from experiments.rodner2010.tasks import Sizes, Split, draw
from fewsight._base.progress import track
from fewsight._base.types import Array

SETS = {"related": ("ketch", "schooner", "ferry"), "unrelated": ("ferry", "dalmatian", "ibis")}
WAYS = {
    "independent": "Gaussian process alone, at zero",
    "independent_offset": "alone, at the offset",
    "transfer": "with transfer, at zero",
    "transfer_offset": "with transfer, at the offset",
    "adapted_ls_svm": "Adapted LS-SVM",
}
SIZES = Sizes(support=18, background=18, most=15)


def recognition_rate(split: Split, scores: Array) -> float:
    """The mean of the shares of positives above zero and of background images below."""
    return float(np.mean([(scores[split.positive] > 0).mean(), (scores[~split.positive] <= 0).mean()]))


def measure(K: Array, split: Split, n: int, lending: list[str]) -> dict[str, float]:
    """Recognition rates of all ways for one task of one split."""
    found = {}
    for way, supports in (("independent", []), ("transfer", lending)):
        learner, rows = split.among(K, n, supports)
        scores = learner.decision_function(K[np.ix_(split.test, rows)])
        found[f"{way}_offset"] = recognition_rate(split, scores)
        found[way] = recognition_rate(split, scores + learner.offset_)
    found["adapted_ls_svm"] = recognition_rate(split, _adapted_scores(K, split, n, lending))
    return found


def _adapted_scores(K: Array, split: Split, n: int, lending: list[str]) -> Array:
    rows = np.concatenate([split.examples[:n], split.background])
    y = np.where(np.arange(len(rows)) < n, 1.0, -1.0)
    best = None
    for name in lending:
        support = np.concatenate([split.supports[name], split.background])
        labels = np.where(np.arange(len(support)) < len(split.supports[name]), 1.0, -1.0)
        plane = plain(K[np.ix_(support, support)], labels)
        found = adapted(K[np.ix_(rows, rows)], y, plane(K[np.ix_(rows, support)]))
        if best is None or found.error < best[0].error:
            best = found, plane(K[np.ix_(split.test, support)])
    assert best is not None
    return best[0].own(K[np.ix_(split.test, rows)]) + best[0].beta * best[1]


def draw_figure(values: dict[tuple[str, str, int], Array], sizes: tuple[int, ...]) -> Figure:
    """One panel for each set of tasks."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    for axes, name in zip(figure.subplots(1, 2, sharey=True), SETS, strict=True):
        for (way, label), marker in zip(WAYS.items(), "ospDv", strict=True):
            points = [100 * values[name, way, size] for size in sizes]
            errors = [standard_error(p) for p in points]
            axes.errorbar(sizes, [p.mean() for p in points], errors, label=label, marker=marker, capsize=2)
        axes.set(title=f"{name}: {', '.join(SETS[name])}", xlabel="training images", ylabel="mean recognition rate (%)")
        axes.grid(alpha=0.3)
        axes.legend()
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool, sizes = pool_of(options), tuple(sorted(options.sizes))
    K, fitted = pool.load(), pool.fitted
    found: dict[tuple[str, str, int], list[list[float]]] = {}
    for seed in track(options.seeds, "splits", len(options.seeds)):
        for name, tasks in SETS.items():
            splits = [draw(pool.labels, task, seed, SIZES, fitted) for task in tasks]
            for size in sizes:
                rates = [measure(K, s, size, [other for other in tasks if other != s.target]) for s in splits]
                for way in WAYS:
                    found.setdefault((name, way, size), []).append([rate[way] for rate in rates])
    values = {key: np.array(rates).mean(axis=1) for key, rates in found.items()}
    rows = [
        {**record(options.channels, way, size, rates, tasks=name), "metric": "accuracy"}
        for (name, way, size), rates in values.items()
    ]
    for row in rows:
        row["learner"] = {"adapted_ls_svm": "adapted_ls_svm"}.get(row["method"], row["learner"])
        print(f"{row['tasks']:10} {row['method']:15} {row['per_class']:3} {100 * row['mean']:.1f}")
    write_results(options, pool, rows, SIZES, sets={name: list(tasks) for name, tasks in SETS.items()})
    write_figure(draw_figure(values, sizes), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig2", __doc__, seeds="10-29", sizes="1,2,3,5,7,10,15")
    add_outputs(options, "fig2")
    return options


if __name__ == "__main__":
    run(parser(), work)

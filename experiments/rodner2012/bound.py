"""The upper bound of the negative log likelihood against its true value, over the power of the kernel. [Rodner2012, Fig. 3
left]

Caltech-101 bags of words, 1,515 images of 101 categories. Four bounds of the log-determinant: the paper's, with the sum of
the squares of the largest eigenvalues alone for the squared Frobenius norm; the same with the rest of the trace added
(`squares_from_below`); that which uses every Ritz value (`deflated_bound`); and the smaller of the last two. Once as in the
paper (kernel as it is, prior mean zero, noise 0.1), once as the learner does it (kernel of mean diagonal 1, free mean, any
scale, noise 1).

    python -m experiments.rodner2012.bound DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from experiments.common.command import run, write_figure
from experiments.common.grams import Place
from experiments.rodner2012.results import add_outputs, kept, record, write_results
from experiments.rodner2012.words import WordStore, store_of, word_arguments
from fewsight._base.progress import silent, track
from fewsight.gp import (
    Posterior,
    conjugate_gradients,
    deflated_bound,
    largest_eigenvalues,
    log_determinant_bound,
    log_evidence_and_gradients,
    squares_from_below,
)
from fewsight.kernels import HistogramIntersection, HistogramOperator
from fewsight.learners.labels import targets_of
from fewsight.metrics import accuracy_per_class

POWERS = (0.25, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
SETTINGS = {"paper": 0.1, "scaled": 1.0}  # the noise of each
BOUNDS = ("paper", "with_rest", "deflated", "tightest")


def measure(store: WordStore, place: Place, power: float, setting: str) -> dict[str, float]:
    """True value, bounds and accuracy at one power."""
    bags = store.load(place)
    classes = np.unique(bags.labels)
    targets = targets_of(bags.labels, classes)
    operator = HistogramOperator.from_rows(bags.train).with_transform("power", power)
    scale = operator.trace() / operator.n if setting == "scaled" else 1.0
    operator = operator.with_weights(operator.weights / scale)
    noise, free = SETTINGS[setting], setting == "scaled"
    train, test = bags.train.power(power), bags.test.power(power)
    kernel = HistogramIntersection()
    K, K_test = kernel.gram(train) / scale, kernel.gram(test, train) / scale
    with silent(), threadpool_limits(1):
        true = log_evidence_and_gradients([K], np.ones(1), targets, noise, free_mean=free, any_scale=free)
        bounds = _bounds(operator, targets, noise, free)
        means = Posterior.condition(K, targets, noise).mean(K_test)
    accuracy = accuracy_per_class(bags.test_labels, classes[means.argmax(axis=1)])
    return {"true": -true.value, "accuracy": accuracy, **{f"bound_{name}": value for name, value in bounds.items()}}


def _bounds(operator: HistogramOperator, targets: Any, noise: float, free: bool) -> dict[str, float]:
    """Of the negative log likelihood of all columns, with each bound of the log-determinant."""
    n, c = targets.shape
    ritz = largest_eigenvalues(operator, c, noise=noise)
    trace = operator.trace() + n * noise
    squares = {"paper": float(ritz.values @ ritz.values), "with_rest": squares_from_below(ritz.values, trace, n)}
    logs = {name: log_determinant_bound(n, trace, value, ritz.upper_bound) for name, value in squares.items()}
    logs["deflated"] = deflated_bound(ritz, trace, n)
    logs["tightest"] = min(logs["with_rest"], logs["deflated"])
    solved = conjugate_gradients(operator, np.hstack([targets, np.ones((n, 1))]), noise, tolerance=1e-8).columns
    misfit, ones = float(np.einsum("ij,ij->", targets, solved[:, :c])), solved[:, c]
    freedom, of_mean = n * c, 0.0
    if free:
        misfit -= float(((ones @ targets) ** 2).sum() / ones.sum())
        freedom, of_mean = (n - 1) * c, float(np.log(ones.sum() / n))
    size = misfit / freedom if free else 1.0
    constant = misfit / size + freedom * np.log(2 * np.pi * size)
    return {name: 0.5 * (constant + c * (value + of_mean)) for name, value in logs.items()}


def work(options: argparse.Namespace) -> None:
    """All powers, the file of results and the figure."""
    store = store_of(options)
    keys = [(setting, place, power) for setting in SETTINGS for place in options.places for power in POWERS]
    cells: dict[tuple[str, float], list[dict[str, float]]] = {}
    for setting, place, power in track(keys, "powers", len(keys)):
        about = {"setting": setting, "seed": place.seed, "power": power, "words": options.words, "version": 2}

        def compute(place: Place = place, power: float = power, setting: str = setting) -> dict[str, float]:
            return measure(store, place, power, setting)

        cells.setdefault((setting, power), []).append(kept(options.work, "bound", about, compute))
    head = {"channels": "words", "learner": "histogram_gp", "combine": "none", "per_class": options.sizes[0]}
    records = [
        record({**head, "setting": setting, "power": power}, name, [cell[name] for cell in found])
        for (setting, power), found in cells.items()
        for name in found[0]
    ]
    minima = {setting: _minima(cells, setting) for setting in SETTINGS}
    for setting, found in minima.items():
        print(setting, found)
    write_results(options, records, minima=minima, protocol={"noise": SETTINGS, "n_eigenvalues": "one for each class"})
    write_figure(draw(cells), options.figure)


def _minima(cells: dict[tuple[str, float], list[dict[str, float]]], setting: str) -> dict[str, Any]:
    """The power at which each curve is least, the accuracy there, and whether bounds held everywhere."""
    found: dict[str, Any] = {"best_accuracy": max(np.mean([c["accuracy"] for c in cells[setting, p]]) for p in POWERS)}
    for name in ("true", *(f"bound_{bound}" for bound in BOUNDS)):
        values = [np.mean([cell[name] for cell in cells[setting, power]]) for power in POWERS]
        best = POWERS[int(np.argmin(values))]
        found[name] = {"power": best, "accuracy": float(np.mean([c["accuracy"] for c in cells[setting, best]]))}
        found[name]["holds"] = all(cell[name] >= cell["true"] - 1e-6 for p in POWERS for cell in cells[setting, p])
    return found


def draw(cells: dict[tuple[str, float], list[dict[str, float]]]) -> Figure:
    """Negative log likelihood and bounds over the power, and the accuracy."""
    figure = Figure(figsize=(10, 4), layout="constrained")
    for axes, setting in zip(figure.subplots(1, 2), SETTINGS, strict=True):
        for name in ("true", "bound_paper", "bound_with_rest", "bound_deflated"):
            values = [np.mean([cell[name] for cell in cells[setting, power]]) for power in POWERS]
            axes.plot(POWERS, values, "k-" if name == "true" else "--", label=name.replace("_", " "))
        accuracy = axes.twinx()
        values = [100 * np.mean([cell["accuracy"] for cell in cells[setting, power]]) for power in POWERS]
        accuracy.plot(POWERS, values, ":", color="#c33")
        accuracy.set_ylabel("accuracy (%), dotted")
        axes.set(xlabel="power", ylabel="negative log likelihood", title=setting)
        axes.legend(fontsize=8)
    return figure


def _main() -> None:
    parser = word_arguments("bound", __doc__, seeds="0-2")
    add_outputs(parser, "bound")
    run(parser, work)


if __name__ == "__main__":
    _main()

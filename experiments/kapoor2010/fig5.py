"""Weights that all categories share against weights of their own, and against SimpleMKL. [Kapoor2010, Fig. 5]

Left: accuracy split by split, with a paired t-test. Centre and right: time to learn and accuracy beside SimpleMKL, which learns
its weights category by category, on the first splits; all on one thread.

    python -m experiments.kapoor2010.fig5 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.stats import ttest_rel

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from experiments.kapoor2010.ways import peer, scopes
from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array

MEANING = {
    "global": "one set of weights and one noise for all categories, by the joint evidence of all",
    "classwise": "weights and noise of each category by its own evidence, under the same penalty",
    "simple_mkl": "one-vs-rest SimpleMKL [Rakotomamonjy2008], weights of each category by its own support vector machine",
}


def paired_test(first: Array, second: Array) -> dict[str, Any]:
    """The difference of two accuracies over the same splits, with a two-sided paired t-test."""
    apart = first - second
    found = ttest_rel(first, second) if len(apart) > 1 and np.ptp(apart) > 0 else None
    return {
        "mean_difference": float(apart.mean()),
        "standard_error": standard_error(apart),
        "splits": len(apart),
        "splits_above": int((apart > 0).sum()),
        "splits_below": int((apart < 0).sum()),
        "t": None if found is None else float(found.statistic),
        "p": None if found is None else float(found.pvalue),
    }


def beside_peer(cells: Cells, ours: Way, theirs: Way, per_class: int) -> dict[str, Any]:
    """Time and accuracy of the shared weights and of SimpleMKL, on the splits that both have."""
    n = len(values_of(cells, theirs, per_class, "accuracy"))
    seconds, peer_seconds = (values_of(cells, way, per_class, "seconds_fit")[:n] for way in (ours, theirs))
    accuracy, peer_accuracy = (values_of(cells, way, per_class, "accuracy")[:n] for way in (ours, theirs))
    return {
        "splits": n,
        "seconds": float(np.median(seconds)),
        "peer_seconds": float(np.median(peer_seconds)),
        "ratio": float(np.median(peer_seconds / seconds)),
        "accuracy": float(accuracy.mean()),
        "peer_accuracy": float(peer_accuracy.mean()),
    }


def draw(cells: Cells, ways: dict[str, Way], theirs: Way | None, per_class: int) -> Figure:
    """Accuracy against accuracy; beside it time and accuracy of SimpleMKL."""
    figure = Figure(figsize=(11 if theirs else 4.8, 4.4), layout="constrained")
    panels = figure.subplots(1, 3 if theirs else 1, squeeze=False)[0]
    accuracy = {scope: 100 * values_of(cells, way, per_class, "accuracy") for scope, way in ways.items()}
    _scatter(panels[0], accuracy["classwise"], accuracy["global"])
    if theirs is not None:
        n = len(values_of(cells, theirs, per_class, "accuracy"))
        bars = {"shared": ways["global"], "own": ways["classwise"], "SimpleMKL": theirs}
        _bars(panels[1], {name: values_of(cells, way, per_class, "seconds_fit")[:n] for name, way in bars.items()})
        panels[1].set(ylabel="seconds to learn, one thread")
        _bars(panels[2], {name: 100 * values_of(cells, way, per_class, "accuracy")[:n] for name, way in bars.items()})
        panels[2].set(ylabel="mean accuracy per category (%)")
    return figure


def _scatter(axes: Axes, own: Array, shared: Array) -> None:
    both = np.concatenate([own, shared])
    ends = (both.min() - 0.5, both.max() + 0.5)
    axes.plot(ends, ends, color="0.6", linewidth=1)
    axes.scatter(own, shared, s=18)
    axes.set(xlabel="weights of each category's own (%)", ylabel="weights shared by all (%)", xlim=ends, ylim=ends)
    axes.set_aspect("equal")


def _bars(axes: Axes, values: dict[str, Array]) -> None:
    means, errors = [v.mean() for v in values.values()], [standard_error(v) for v in values.values()]
    axes.bar(list(values), means, yerr=errors, capsize=3, color=["C0", "C2", "C1"])


def report(test: dict[str, Any], beside: dict[str, Any] | None) -> None:
    """What was found, in words."""
    p = "no test" if test["p"] is None else f"paired t-test p = {test['p']:.2g}"
    print(
        f"global - classwise: {100 * test['mean_difference']:+.2f} ± {100 * test['standard_error']:.2f} points over "
        f"{test['splits']} splits, above in {test['splits_above']}, below in {test['splits_below']}; {p}"
    )
    if beside is not None:
        print(
            f"{beside['ratio']:.1f} times as fast as SimpleMKL ({beside['seconds']:.2f} against {beside['peer_seconds']:.2f} s), "
            f"{100 * beside['accuracy']:.2f} against {100 * beside['peer_accuracy']:.2f} % over {beside['splits']} splits"
        )


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    if len(options.sizes) != 1:
        raise InvalidInput(f"fig5: sizes must be one number, got {shown(options.sizes)}.")
    store, per_class = store_of(options), options.sizes[0]
    ways = scopes(options.channels, options.strength)
    cells = Table(store, list(ways.values()), options.places).fill()
    theirs = peer(options.channels) if options.peer_splits else None
    if theirs is not None:
        cells = {**cells, **Table(store, [theirs], options.places[: options.peer_splits]).fill()}
    accuracy = {scope: values_of(cells, way, per_class, "accuracy") for scope, way in ways.items()}
    test = paired_test(accuracy["global"], accuracy["classwise"])
    beside = None if theirs is None else beside_peer(cells, ways["global"], theirs, per_class)
    report(test, beside)
    write_results(options, store, cells, meaning=MEANING, global_minus_classwise=test, beside_simple_mkl=beside)
    write_figure(draw(cells, ways, theirs, per_class), options.figure)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig5", __doc__, seeds="0-34", sizes="5")
    add_outputs(options, "fig5")
    options.add_argument("--strength", type=float, default=1e-4, help="of the penalty towards the average (1e-4)")
    options.add_argument("--peer-splits", type=int, default=3, help="splits on which SimpleMKL runs too (3)")
    return options


if __name__ == "__main__":
    run(parser(), work)

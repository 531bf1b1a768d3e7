"""What penalties do for kernel combination, from one example per category to fifteen. [Kapoor2010, Fig. 4]

python -m experiments.kapoor2010.fig4 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.cells import Cells, Table, Way, standard_error, values_of
from experiments.common.command import add_outputs, arguments, run, store_of, write_figure, write_results
from experiments.kapoor2010.ways import MEANING, combined, single
from fewsight._base.types import Array

LABELS = {
    "average": "plain average",
    "evidence": "unpenalised evidence",
    "l1": "L1",
    "l2": "squared L2",
    "auto": "automatic",
}


def comparison(cells: Cells, ways: dict[str, Way], alone: list[Way], per_class: int) -> dict[str, Any]:
    """The automatic way against the others at one size, split by split."""
    accuracy = {name: values_of(cells, way, per_class, "accuracy") for name, way in ways.items()}
    single_best = np.max([values_of(cells, way, per_class, "accuracy") for way in alone], axis=0)
    better = max(("evidence", "average"), key=lambda name: accuracy[name].mean())
    automatic = accuracy["auto"]
    return {
        "per_class": per_class,
        "better_of_evidence_and_average": better,
        "auto_minus_better": _difference(automatic, accuracy[better]),
        **{f"auto_minus_{name}": _difference(automatic, values) for name, values in accuracy.items() if name != "auto"},
        "auto_minus_best_single_of_each_split": _difference(automatic, single_best),
    }


def _difference(ours: Array, theirs: Array) -> dict[str, Any]:
    apart = ours - theirs
    return {
        "mean": float(apart.mean()),
        "standard_error": standard_error(apart),
        "least": float(apart.min()),
        "values": apart.tolist(),
    }


def print_comparison(found: dict[str, Any]) -> None:
    """In points of a per cent."""
    words = {
        f"auto - {found['better_of_evidence_and_average']} (the better)": found["auto_minus_better"],
        "auto - unpenalised": found["auto_minus_evidence"],
        "auto - best single": found["auto_minus_best_single_of_each_split"],
    }
    texts = [f"{name}: {100 * d['mean']:+.2f} ± {100 * d['standard_error']:.2f}" for name, d in words.items()]
    least = 100 * found["auto_minus_best_single_of_each_split"]["least"]
    print(f"{found['per_class']:3} per category   {';  '.join(texts)} (least {least:+.2f})")


def print_accuracies(cells: Cells, ways: list[Way], sizes: tuple[int, ...]) -> None:
    """A line for each way, mean ± standard deviation in per cent."""
    for way in ways:
        name = way.describe["combine"] if len(way.channels) > 1 else way.channels[0]
        values = [100 * values_of(cells, way, size, "accuracy") for size in sizes]
        print(f"{name:18}" + "".join(f"{v.mean():7.2f} ± {v.std(ddof=1) if len(v) > 1 else 0:4.2f}" for v in values))


def draw(cells: Cells, ways: dict[str, Way], alone: list[Way], sizes: tuple[int, ...]) -> Figure:
    """Accuracy over examples per category, with standard errors."""
    figure = Figure(figsize=(7.5, 4.8), layout="constrained")
    axes = figure.add_subplot()
    curves = {LABELS[name]: [values_of(cells, ways[name], size, "accuracy") for size in sizes] for name in LABELS}
    curves["best single channel"] = [
        max((values_of(cells, way, size, "accuracy") for way in alone), key=np.mean) for size in sizes
    ]
    for (label, points), marker in zip(curves.items(), "osv^DX", strict=True):
        means, errors = [100 * p.mean() for p in points], [100 * standard_error(p) for p in points]
        axes.errorbar(sizes, means, errors, label=label, marker=marker, capsize=2, linewidth=1.4, markersize=5)
    axes.set_xticks(sizes)
    axes.set(xlabel="training images per category", ylabel="mean accuracy per category (%)")
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, sizes = store_of(options), tuple(sorted(options.sizes))
    alone, ways = single(options.channels), combined(options.channels, options.l1, options.l2)
    cells = Table(store, [*alone, *ways.values()], options.places).fill()
    comparisons = [comparison(cells, ways, alone, size) for size in sizes]
    print_accuracies(cells, [*alone, *ways.values()], sizes)
    for found in comparisons:
        print_comparison(found)
    write_results(options, store, cells, meaning=MEANING, comparisons=comparisons)
    write_figure(draw(cells, ways, alone, sizes), options.figure)


def strength(text: str) -> float | str:
    """Of a penalty."""
    return text if text == "auto" else float(text)


def parser() -> argparse.ArgumentParser:
    """The options of this figure."""
    options = arguments("fig4", __doc__)
    add_outputs(options, "fig4")
    options.add_argument("--l1", type=strength, default="auto", help="strength of the L1 penalty (auto)")
    options.add_argument("--l2", type=strength, default="auto", help="strength of the squared L2 penalty (auto)")
    return options


if __name__ == "__main__":
    run(parser(), work)

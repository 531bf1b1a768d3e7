"""GP, SVM and nearest neighbour on each of the four kinds of kernel, and their combination. [Kapoor2010, table 2]

Each row has the paper's settings (sigma = 1e-5, C = 10,000) and learned ones beside them: the noise by left-out examples.

    python -m experiments.kapoor2010.table2 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cells import Cells, Table, Way, values_of
from experiments.common.command import arguments, run, store_of, write_results
from experiments.kapoor2010.ways import FOUR, MEANING, combined
from fewsight.learners import GPClassifier, NearestNeighbourClassifier, SVMClassifier

LEARNERS: dict[tuple[str, str], Any] = {
    ("gp", "paper"): GPClassifier("precomputed", noise_variance=1e-10, prototypes=False),
    ("gp", "paper_variance"): GPClassifier("precomputed", noise_variance=1e-5, prototypes=False),
    ("gp", "learned"): GPClassifier("precomputed", prototypes=False),
    ("svm", "paper"): SVMClassifier("precomputed", C=10_000.0),
    ("nn", "none"): NearestNeighbourClassifier("precomputed"),
}
COMBINED = ("average", "evidence", "auto")
PAPER = {  # in per cent: mean and standard deviation
    ("dense_pmk", "gp"): (52.13, 0.69),
    ("dense_pmk", "svm"): (48.77, 0.95),
    ("dense_pmk", "nn"): (24.20, 0.48),
    ("spatial_pmk", "gp"): (51.90, 0.78),
    ("spatial_pmk", "svm"): (54.26, 0.65),
    ("spatial_pmk", "nn"): (41.10, 0.78),
    ("geometric_blur", "gp"): (64.15, 0.76),
    ("geometric_blur", "svm"): (65.87, 0.92),
    ("geometric_blur", "nn"): (45.58, 0.79),
    ("geometric_blur_distortion", "gp"): (58.81, 0.58),
    ("geometric_blur_distortion", "svm"): (65.91, 0.66),
    ("geometric_blur_distortion", "nn"): (50.23, 0.66),
    ("+".join(FOUR), "gp"): (73.95, 1.13),
}
RESULTS = Path("experiments/results/kapoor2010/table2.json")


def ways_of(channels: tuple[str, ...]) -> dict[tuple[str, str, str], Way]:
    """By channel, learner and settings."""
    found = {
        (name, learner, settings): Way(
            estimator, (name,), {"learner": learner, "combine": "none", "settings": settings}
        )
        for name in channels
        for (learner, settings), estimator in LEARNERS.items()
    }
    if len(channels) > 1:
        every = combined(channels, "auto", "auto")
        found |= {("+".join(channels), "gp", name): every[name] for name in COMBINED}
    return found


def rows_of(cells: Cells, ways: dict[tuple[str, str, str], Way], per_class: int) -> list[dict[str, Any]]:
    """A row for each way: ours beside the paper's, in per cent."""
    rows = []
    for (name, learner, settings), way in ways.items():
        values = 100 * values_of(cells, way, per_class, "accuracy")
        ours = {"mean": float(values.mean()), "std": float(values.std(ddof=1)) if len(values) > 1 else 0.0}
        printed = PAPER.get((name, learner))
        paper = None if printed is None else {"mean": printed[0], "std": printed[1], "reported": True}
        rows.append({"channels": name, "learner": learner, "settings": settings, "ours": ours, "paper": paper})
    return rows


def gains(cells: Cells, ways: dict[tuple[str, str, str], Way], channels: tuple[str, ...], per_class: int) -> Any:
    """Each way of combining minus the best single channel of each split, with learned noise, in points."""
    alone = [values_of(cells, ways[name, "gp", "learned"], per_class, "accuracy") for name in channels]
    best = np.max(alone, axis=0)
    apart = {
        name: 100 * (values_of(cells, ways["+".join(channels), "gp", name], per_class, "accuracy") - best)
        for name in COMBINED
    }
    return {name: {"mean": float(each.mean()), "least": float(each.min())} for name, each in apart.items()}


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, per_class, more = store_of(options), max(options.sizes), {}
    ways = ways_of(options.channels)
    cells = Table(store, list(ways.values()), options.places).fill()
    rows = rows_of(cells, ways, per_class)
    for row in rows:
        paper = f"{row['paper']['mean']:6.2f} ± {row['paper']['std']:.2f}" if row["paper"] else ""
        head = f"{row['channels']:64} {row['learner']:4} {row['settings']:15}"
        print(f"{head} {row['ours']['mean']:6.2f} ± {row['ours']['std']:.2f}   paper {paper}")
    if len(options.channels) > 1:
        more["minus_best_single_of_each_split"] = gains(cells, ways, options.channels, per_class)
        print(more["minus_best_single_of_each_split"])
    write_results(options, store, cells, meaning=MEANING, rows=rows, **more)


def parser() -> argparse.ArgumentParser:
    """The options of this table."""
    options = arguments("table2", __doc__, sizes="15", channels=FOUR)
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

"""What is taken for what after 120 actively chosen labels on Caltech-4, from the runs of Fig. 10. [Kapoor2010, table 4]

python -m experiments.kapoor2010.table4 DATA --work FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.caltech4 import Caltech4, Drawn, draw_of
from experiments.common.command import run
from experiments.kapoor2010.asking import Asking, Curve, Curves, Found, summary
from experiments.kapoor2010.fig10 import asking_arguments, protocol, stores
from fewsight._base.archive import write_text
from fewsight._base.types import Array
from fewsight.active import GramPool
from fewsight.evaluation.results import json_text
from fewsight.metrics import confusion_matrix

CLASSES = ("cars_rear", "faces", "airplanes", "motorbikes")  # in the order of the paper
PAPER = {
    "classes": list(CLASSES),
    "counts": [[1121, 0, 0, 1], [0, 416, 0, 2], [0, 2, 753, 20], [10, 0, 10, 733]],
    "accuracy": 0.9848,
    "reported": True,
}
RESULTS = Path("experiments/results/kapoor2010/table4.json")


def confusions(store: Caltech4, way: Asking, found: Found, seeds: Sequence[int]) -> Array:
    """Counts of true against recognised categories on the test images, one matrix for each run (r, 4, 4)."""
    matrices, loaded = [], {}
    for seed in seeds:
        if draw_of(seed) not in loaded:
            drawn = store.load(draw_of(seed))
            loaded = {draw_of(seed): (drawn, GramPool(drawn.K))}
        matrices.append(_confusion(way, *loaded[draw_of(seed)], found[way, seed]))
    return np.array(matrices, dtype=np.float64)


def _confusion(way: Asking, drawn: Drawn, pool: GramPool, curve: Curve) -> Any:
    active = way.replay(drawn, pool, curve)
    tested = drawn.test if len(drawn.test) else np.flatnonzero(active.view_.unlabelled)
    counts = confusion_matrix(drawn.labels[tested], np.array(active.predict())[tested], CLASSES)
    accuracy = (counts.diagonal() / counts.sum(axis=1)).mean()
    np.testing.assert_allclose(accuracy, curve[-1]["accuracy"])  # the same learner as in the run
    return counts


def shares(matrices: Array) -> Array:
    """Of each true category, the share that is recognised as each, run by run."""
    return matrices / matrices.sum(axis=2, keepdims=True)


def records(channel: str, way: Asking, labels: int, matrices: Array) -> list[dict[str, Any]]:
    """Accuracy over all categories, and every cell of the table."""
    parts = shares(matrices)
    head = {"channels": channel, **way.describe(), "labels": labels}
    accuracy = parts.diagonal(axis1=1, axis2=2).mean(axis=1)
    rows = [{**head, "metric": "accuracy", **summary(accuracy), "values": accuracy.round(6).tolist()}]
    for i, true in enumerate(CLASSES):
        for j, recognised in enumerate(CLASSES):
            cell = {"metric": "share", "true": true, "recognised": recognised, **summary(parts[:, i, j])}
            rows.append({**head, **cell, "values": parts[:, i, j].round(6).tolist()})
    return rows


def print_table(channel: str, way: Asking, matrices: Array) -> None:
    """Shares in per cent with standard errors, mean over runs."""
    parts = shares(matrices)
    accuracy = summary(parts.diagonal(axis1=1, axis2=2).mean(axis=1))
    print(f"{channel}, {way.name}: {100 * accuracy['mean']:.2f} ± {100 * accuracy['standard_error']:.2f}")
    print(f"{'':12}" + "".join(f"{name:>16}" for name in CLASSES))
    for i, true in enumerate(CLASSES):
        cells = [summary(parts[:, i, j]) for j in range(len(CLASSES))]
        texts = [f"{100 * cell['mean']:.2f} ± {100 * cell['standard_error']:.2f}" for cell in cells]
        print(f"{true:12}" + "".join(f"{text:>16}" for text in texts))


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    made, way, rows, tables = stores(options), Asking("gp", "uncertainty", options.mode, options.noise), [], {}
    for store in made:
        found = Curves(store, [way], options.seeds, options.labels).fill()
        matrices = confusions(store, way, found, options.seeds)
        print_table(store.channel.name, way, matrices)
        rows += records(store.channel.name, way, options.labels, matrices)
        tables[store.channel.name] = {"classes": list(CLASSES), "mean_counts": matrices.mean(axis=0).tolist()}
    content = {"protocol": protocol(options, made), "records": rows, "confusion": tables, "paper": PAPER}
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text(content))


def parser() -> argparse.ArgumentParser:
    """The options of this table."""
    options = asking_arguments("table4", __doc__)
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

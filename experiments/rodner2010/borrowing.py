"""Borrowing in a categoriser of many categories: what the new one gains, and what it costs the others.

Every fourth category is new in turn and learned from one image, all others from 15. With `--categories 12`, on as many drawn at
random. Gram matrices are those of Kapoor2010's commands and may lie in the same work folder.

python -m experiments.rodner2010.borrowing DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cells import standard_error
from experiments.common.command import arguments, commit_of_tree, run, store_of
from experiments.common.grams import Grams, Place
from fewsight._base.archive import write_text
from fewsight._base.progress import silent, track
from fewsight.evaluation.loan_gain import METHODS, METRICS, NewcomerBench
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.learners import GPClassifier

EVERY = 4
RESULTS = Path("experiments/results/rodner2010/borrowing.json")


def bench_of(grams: Grams, chosen: Any) -> NewcomerBench:
    """A categoriser of the chosen categories."""
    rows, asked = (np.isin(labels, chosen) for labels in (grams.labels, grams.test_labels))
    train = [K[np.ix_(rows, rows)] for K in grams.train.values()]
    test = [K[np.ix_(asked, rows)] for K in grams.test.values()]
    model = GPClassifier("precomputed").fit(train, grams.labels[rows])
    return NewcomerBench(model, test, grams.test_labels[asked])


def measure(grams: Grams, seed: int, n_categories: int) -> dict[str, Any]:
    """The mean of both methods over the newcomers of one draw, with who lent to whom."""
    classes = np.unique(grams.labels)
    chosen = np.sort(np.random.default_rng(seed).permutation(classes)[:n_categories]) if n_categories else classes
    bench = bench_of(grams, chosen)
    trials = [bench.trial(str(name), 1, None) for name in (chosen if n_categories else chosen[::EVERY])]
    found = {way: {m: float(np.mean([getattr(t, way)[m] for t in trials])) for m in METRICS} for way in METHODS}
    return {**found, "lenders": {trial.category: trial.lender for trial in trials}}


def kept(path: Path, compute: Any) -> dict[str, Any]:
    """What was computed before, or is now."""
    if not path.exists():
        with silent():
            content = compute()
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json_text(content))
    return dict(json.loads(path.read_text()))


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    store, stem = store_of(options), f"{'+'.join(options.channels)}_{options.categories or 101}"
    places = [Place(seed, 15) for seed in options.seeds]
    store.make(places)
    draws = []
    for place in track(places, "draws", len(places)):
        path = options.work / "borrowing" / stem / f"seed{place.seed}.json"
        draws.append(kept(path, lambda place=place: measure(store.load(place), place.seed, options.categories)))
    head = {
        "channels": "+".join(options.channels),
        "learner": "gp",
        "combine": "average" if len(options.channels) > 1 else "none",
    }
    rows = []
    for metric in METRICS:
        values = {way: np.array([draw[way][metric] for draw in draws]) for way in METHODS}
        for way, found in values.items():
            summary = Summary.of(tuple(map(float, found)))
            about = {"method": way, "per_class": 1, "metric": metric, "categories": options.categories or 101}
            rows.append({**head, **about, "mean": summary.mean, "std": summary.std, "values": list(summary.values)})
        apart = values["borrowed"] - values["independent"]
        print(
            f"{metric:18} {100 * values['independent'].mean():6.2f} -> {100 * values['borrowed'].mean():6.2f}   "
            f"{100 * apart.mean():+.2f} ± {100 * standard_error(apart):.2f}, least {100 * apart.min():+.2f}"
        )
    protocol = {
        "seeds": list(options.seeds),
        "lender_images": 15,
        "command": options.command,
        "commit": commit_of_tree(),
        "channels": store.settings,
        "fewsight": package_version(),
        "versions": versions(),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(
        options.json, json_text({"protocol": protocol, "records": rows, "lenders": [d["lenders"] for d in draws]})
    )


def parser() -> argparse.ArgumentParser:
    """The options of this experiment."""
    options = arguments("borrowing", __doc__, sizes="15", paper="rodner2010")
    options.add_argument(
        "--categories", type=int, default=0, help="how many, drawn at random; 0: all, every fourth new (0)"
    )
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

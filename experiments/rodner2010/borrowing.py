"""Borrowing in a categoriser of many categories: what the new one gains, and what it costs the others.

Every fourth category is new in turn and learned from one to four images, all others from 15. With `--categories 12`, on as many
drawn at random; a set with fewer has each of its categories new in turn. Gram matrices are those of Kapoor2010's commands and may
lie in the same work folder.

A third way is the control: nothing is borrowed, and the new category's value is raised for all images, as far as left-out images
of the others bear it by the same count ("offset"). What borrowing brings beyond that is kinship.

python -m experiments.rodner2010.borrowing DATA --work FOLDER
python -m experiments.rodner2010.borrowing DATA/more/clothing --work FOLDER --channels pretrained --json FILE
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
from experiments.rodner2010.grams import sharing
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight.evaluation.loan_gain import METHODS, METRICS, NewcomerBench
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.learners import GPClassifier
from fewsight.transfer.lending import Rivalry, largest_bearable

EVERY = 4
FEW_CATEGORIES = 30  # with fewer than this, each is new in turn
MOST_RAISED = 1.0
WAYS = (*METHODS, "offset")
RESULTS = Path("experiments/results/rodner2010/borrowing.json")


def bench_of(grams: Grams, chosen: Any) -> NewcomerBench:
    """A categoriser of the chosen categories."""
    rows, asked = (np.isin(labels, chosen) for labels in (grams.labels, grams.test_labels))
    train = [K[np.ix_(rows, rows)] for K in grams.train.values()]
    test = [K[np.ix_(asked, rows)] for K in grams.test.values()]
    model = GPClassifier("precomputed", prototypes=False).fit(train, grams.labels[rows])
    return NewcomerBench(model, test, grams.test_labels[asked])


def measure(grams: Grams, seed: int, n_categories: int, newcomers: tuple[int, ...]) -> dict[str, Any]:
    """The mean of both methods over the newcomers of one draw, with who lent to whom, for each number of images."""
    classes = np.unique(grams.labels)
    chosen = np.sort(np.random.default_rng(seed).permutation(classes)[:n_categories]) if n_categories else classes
    bench = bench_of(grams, chosen)
    tried = chosen if len(chosen) < FEW_CATEGORIES else chosen[::EVERY]
    found: dict[str, Any] = {}
    for n in newcomers:
        trials = [bench.trial(str(name), n, None, lambda one, other: other in sharing(str(one))) for name in tried]
        each = {way: [getattr(trial, way) for trial in trials] for way in METHODS}
        each["offset"] = [raised(bench, str(name), n) for name in tried]
        means = {way: {m: float(np.mean([one[m] for one in each[way]])) for m in METRICS} for way in WAYS}
        found[str(n)] = {**means, "lenders": {trial.category: trial.lender for trial in trials}}
    return found


def raised(bench: NewcomerBench, category: str, n: int) -> dict[str, float]:
    """The metrics of a category that borrows nothing but whose value is raised for all images alike."""
    model = bench.newcomer(category, n)
    rivalry = Rivalry.of(model, category)
    offset = largest_bearable(MOST_RAISED, lambda offset: rivalry.bear(rivalry.alone + offset))
    return bench.measure(model, category, offset)


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
    store = store_of(options)
    n_categories = options.categories or len(store.images.classes)
    newcomers = "-".join(map(str, options.sizes))
    stem = f"{'+'.join(options.channels)}_{options.data.name}_{n_categories}_{newcomers}"
    places = [Place(seed, 15) for seed in options.seeds]
    store.make(places)
    draws = []
    for place in track(places, "draws", len(places)):
        path = options.work / "borrowing" / stem / f"seed{place.seed}.json"
        draws.append(
            kept(path, lambda place=place: measure(store.load(place), place.seed, options.categories, options.sizes))
        )
    head = {
        "channels": "+".join(options.channels),
        "learner": "gp",
        "combine": "average" if len(options.channels) > 1 else "none",
    }
    rows = []
    for n, metric in [(str(n), metric) for n in options.sizes for metric in METRICS]:
        values = {way: np.array([draw[n][way][metric] for draw in draws]) for way in WAYS}
        for way, found in values.items():
            summary = Summary.of(tuple(map(float, found)))
            about = {"method": way, "per_class": int(n), "metric": metric, "categories": n_categories}
            rows.append({**head, **about, "mean": summary.mean, "std": summary.std, "values": list(summary.values)})
        for way in WAYS[1:]:
            apart = values[way] - values["independent"]
            print(
                f"{n} {metric:18} {100 * values['independent'].mean():6.2f} -> {way} {100 * values[way].mean():6.2f}   "
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
        options.json,
        json_text(
            {
                "protocol": protocol,
                "records": rows,
                "lenders": {str(n): [draw[str(n)]["lenders"] for draw in draws] for n in options.sizes},
            }
        ),
    )


def parser() -> argparse.ArgumentParser:
    """The options of this experiment."""
    options = arguments("borrowing", __doc__, sizes="1-4", paper="rodner2010")
    options.add_argument(
        "--categories", type=int, default=0, help="how many, drawn at random; 0: all, every fourth new (0)"
    )
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

"""What the pyramid match is divided by: the size of each set, self-similarities, the smaller set or nothing. [Kapoor2010, sec. 5]

Categories of Caltech-101 are drawn at random, with 15 images each to learn from and 15 to test on; the channel is fitted on the
training images. The smaller set gives no kernel (its least eigenvalue is kept), so what is missing is added to its diagonal.
The defaults of the channels were chosen here, on tuning seeds.

python -m experiments.kapoor2010.partial_match DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cells import standard_error
from experiments.common.command import base_arguments, commit_of_tree, images_of, run, words
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight._base.types import Array
from fewsight.channels import make_channel
from fewsight.evaluation.provenance import package_version, settings_of, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.images import FeatureCache, ImageSet, draw_split
from fewsight.kernels import HistogramIntersection, PartialMatch
from fewsight.learners import GPClassifier, SVMClassifier
from fewsight.metrics import recalls

CHANNELS = ("dense_pmk", "vocabulary_pmk", "harris_pmk")
WAYS = ("size", "self", "smaller", "count")
LEARNERS = {
    "gp": lambda: GPClassifier("precomputed", prototypes=False),
    "svm": lambda: SVMClassifier("precomputed", C=10_000.0),
}
RESULTS = Path("experiments/results/kapoor2010/partial_match.json")


def grams_of(counts: Array, test_counts: Array) -> dict[str, tuple[Array, Array]]:
    """Training and test Gram matrices by what the count is divided by; rows are not divided by anything."""
    sizes, test_sizes = (np.asarray(rows.sum(axis=1)).ravel() for rows in (counts, test_counts))
    K, K_test = HistogramIntersection().gram(counts), HistogramIntersection().gram(test_counts, counts)
    rows, test_rows = (_divided(each, sums) for each, sums in ((counts, sizes), (test_counts, test_sizes)))
    smaller, test_smaller = (np.minimum.outer(some, sizes) for some in (sizes, test_sizes))
    return {
        "size": (HistogramIntersection().gram(rows), HistogramIntersection().gram(test_rows, rows)),
        "self": (PartialMatch().gram(counts), PartialMatch().gram(test_counts, counts)),
        "smaller": (K / smaller, K_test / test_smaller),
        "count": (K, K_test),
    }


def _divided(rows: Any, sums: Array) -> Any:
    return rows.multiply(1.0 / np.maximum(sums, 1e-300)[:, None]).tocsr()


def measure(images: ImageSet, name: str, seed: int, n_categories: int, options: argparse.Namespace) -> dict[str, Any]:
    """Accuracy of each learner and way on one draw, and the least eigenvalue of each training matrix."""
    classes = np.array(images.classes)
    chosen = set(np.random.default_rng(seed).permutation(classes)[:n_categories].tolist())
    kept = images.without([i for i, label in enumerate(images.labels) if label not in chosen])
    split = draw_split(kept.labels, images_per_class=30, per_class=15, test_per_class=15, seed=seed)
    train, test = ([kept.images[i] for i in part] for part in (split.train, split.test))
    labels, truth = (np.array([kept.labels[i] for i in part]) for part in (split.train, split.test))
    channel = make_channel(name, cache=FeatureCache(), n_jobs=options.n_jobs, normalise="count", random_state=seed)
    channel.fit(train, labels)
    counts, test_counts = (channel.encode(part).matrix for part in (train, test))
    found: dict[str, Any] = {}
    for way, (K, K_test) in grams_of(counts, test_counts).items():
        least = float(np.linalg.eigvalsh(K / K.diagonal().mean()).min())
        K = K + max(0.0, -least) * K.diagonal().mean() * 1.001 * np.eye(len(K))
        accuracy = {}
        for learner, make in LEARNERS.items():
            decided = make().fit(K, labels).predict(K_test)
            accuracy[learner] = float(np.mean(recalls(truth, decided, np.unique(labels))))
        found[way] = {**accuracy, "least_eigenvalue": least}
    return found


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    images = images_of(options.data)
    rows, least, settings = [], {}, {}
    for name in options.channels:
        draws = []
        for seed in track(options.seeds, name, len(options.seeds)):
            path = options.work / "partial_match" / f"{name}_{options.categories}_{seed}.json"
            if not path.exists():
                with silent():
                    content = measure(images, name, seed, options.categories, options)
                path.parent.mkdir(parents=True, exist_ok=True)
                write_text(path, json_text(content))
            draws.append(json.loads(path.read_text()))
        settings[name] = settings_of(make_channel(name))
        least[name] = {way: [draw[way]["least_eigenvalue"] for draw in draws] for way in WAYS}
        for learner in LEARNERS:
            values = {way: np.array([draw[way][learner] for draw in draws]) for way in WAYS}
            for way, found in values.items():
                apart = found - values["size"]
                summary = Summary.of(tuple(map(float, found)))
                head = {"channels": name, "learner": learner, "normalise": way, "metric": "accuracy"}
                numbers = {"mean": summary.mean, "std": summary.std, "values": list(summary.values)}
                error = standard_error(apart) if len(apart) > 1 else 0.0
                paired = {"minus_size": float(apart.mean()), "standard_error_of_that": error}
                rows.append({**head, **numbers, **paired})
                print(
                    f"{name:15} {learner:4} {way:8} {100 * summary.mean:6.2f}   minus size {100 * apart.mean():+.2f} "
                    f"± {100 * error:.2f}"
                )
    protocol = {
        "seeds": list(options.seeds),
        "categories": options.categories,
        "per_class": 15,
        "test_per_class": 15,
        "command": options.command,
        "commit": commit_of_tree(),
        "channels": settings,
        "fewsight": package_version(),
        "versions": versions(),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text({"protocol": protocol, "records": rows, "least_eigenvalues": least}))


def parser() -> argparse.ArgumentParser:
    """The options of this experiment."""
    folder = "the folder of Caltech-101's category folders, or the one that holds it as caltech101"
    options = base_arguments("partial_match", __doc__, folder=folder, seeds="100-104", of="draws")
    options.add_argument("--categories", type=int, default=40, help="drawn at random (40)")
    options.add_argument("--channels", type=words, default=CHANNELS, help=f"joined by commas ({','.join(CHANNELS)})")
    options.add_argument("--n-jobs", type=int, default=-1, help="images worked on at the same time; -1: all processors")
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

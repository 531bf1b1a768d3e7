"""Which sign tells best that an image belongs to none of the learned categories?

In each of ten draws, 20 categories are learned from 15 images each and 10 others are held out. Every rule ranks the test images
of all 30; the area under the ROC curve says how often it puts an unknown one before a known one. Beside it: the share of known
images that the threshold, set by training images alone, takes for unknown.
"""

from __future__ import annotations

import argparse
import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np

from fewsight import __version__
from fewsight._base.progress import track
from fewsight._base.replacement import write_text
from fewsight.channels import Channel, make_channel
from fewsight.evaluation.results import json_text
from fewsight.images import FeatureCache, ImageSet, draw_split, image_set_from_class_folders
from fewsight.learners import GPClassifier
from fewsight.learners.novelty import RULES
from fewsight.metrics import roc_auc

PER_CLASS, TEST_PER_CLASS = 15, 15


def draw_categories(classes: list[str], n_known: int, n_unknown: int, seed: int) -> tuple[list[str], list[str]]:
    """Known and held-out categories."""
    order = np.random.default_rng(seed).permutation(classes).tolist()
    return order[:n_known], order[n_known : n_known + n_unknown]


def one_draw(
    images: ImageSet, channel: Channel, known: list[str], unknown: list[str], seed: int
) -> dict[str, dict[str, float]]:
    """For each rule the area under the ROC curve and the false alarm rate."""
    chosen = images.select([i for i, label in enumerate(images.labels) if label in {*known, *unknown}])
    split = draw_split(
        chosen.labels, images_per_class=30, per_class=PER_CLASS, test_per_class=TEST_PER_CLASS, seed=seed
    )
    train = [i for i in split.train if chosen.labels[i] in known]
    learned = [chosen.images[i] for i in train]
    asked = [chosen.images[i] for i in split.test]
    stranger = np.array([chosen.labels[i] in unknown for i in split.test])
    A = channel.fit(learned).encode(learned)
    K, K_test = channel.gram(A), channel.gram(channel.encode(asked), A)
    found = {}
    for rule in RULES:
        gp = GPClassifier("precomputed", unknown_rule=rule).fit(K, chosen.labels[train])
        assessed = gp.assess(K_test)
        found[rule] = {
            "unknown_auroc": roc_auc(stranger, assessed.unknown_score),
            "false_alarm_rate": float(assessed.unknown[~stranger].mean()),
            "found_rate": float(assessed.unknown[stranger].mean()),
        }
    return found


def records(draws: list[dict[str, dict[str, float]]], channel: str) -> list[dict[str, Any]]:
    """A record for each rule and metric."""
    rows = []
    for rule in RULES:
        for metric in ("unknown_auroc", "false_alarm_rate", "found_rate"):
            values = [draw[rule][metric] for draw in draws]
            rows.append(
                {
                    "channels": channel,
                    "learner": "gp",
                    "combine": "none",
                    "per_class": PER_CLASS,
                    "rule": rule,
                    "metric": metric,
                    "mean": float(np.mean(values)),
                    "std": _deviation(values),
                    "standard_error": _deviation(values) / len(values) ** 0.5,
                    "values": values,
                }
            )
    return rows


def _deviation(values: list[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of Caltech-101's category folders")
    parser.add_argument("--channels", default="spatial_pmk", help="one channel, or several joined by commas")
    parser.add_argument("--known", type=int, default=20, help="categories to learn")
    parser.add_argument("--unknown", type=int, default=10, help="categories held out")
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args()
    images = image_set_from_class_folders(options.data, exclude=("BACKGROUND_Google",))
    rows = []
    for name in options.channels.split(","):
        draws = []
        for seed in track(range(options.seed, options.seed + options.repeats), name, options.repeats):
            channel = make_channel(name, random_state=seed, n_jobs=-1, cache=FeatureCache())
            categories = draw_categories(images.classes, options.known, options.unknown, seed)
            draws.append(one_draw(images, channel, *categories, seed))
        rows += records(draws, name)
    for row in rows:
        print(
            f"{row['channels']:16} {row['rule']:22} {row['metric']:17} {row['mean']:.4f} +- {row['standard_error']:.4f}"
        )
    protocol = {
        "known": options.known,
        "unknown": options.unknown,
        "per_class": PER_CLASS,
        "test_per_class": TEST_PER_CLASS,
        "repeats": options.repeats,
        "seed": options.seed,
        "command": "python -m experiments.unknown.compare " + shlex.join(sys.argv[1:]),
        "versions": {"fewsight": __version__, "numpy": np.__version__, "python": platform.python_version()},
    }
    write_text(options.json, json_text({"protocol": protocol, "records": rows}))


if __name__ == "__main__":
    main()

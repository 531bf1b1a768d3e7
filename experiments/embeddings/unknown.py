"""Is an image of a category that was never learned noticed? fewsight's rules against the usual ones for embeddings.

    python -m experiments.embeddings.unknown DATA --work FOLDER

20 categories of Caltech-101 are learned from 15 images each, 10 others are held out; 15 test images of each of the 30. Every
rule gives each test image a number; the area under the ROC curve says how well it tells held-out categories from learned ones.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.base import clone

from experiments.common.command import images_of, run
from experiments.embeddings.command import CHANNEL, arguments, channel_of, summary_of, write_results
from experiments.unknown.compare import PER_CLASS, TEST_PER_CLASS, draw_categories
from fewsight._base.archive import write_text
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.channels import Channel
from fewsight.evaluation.results import json_text
from fewsight.images import ImageSet, draw_split
from fewsight.kernels import Linear
from fewsight.kernels.rbf import squared_distances
from fewsight.learners import GPClassifier, LogisticClassifier, NearestMeanClassifier, NearestNeighbourClassifier
from fewsight.learners.novelty import AUTO, RULES
from fewsight.metrics import roc_auc

SHRINKAGE = 0.5  # of the covariance within classes to a multiple of the identity: 300 examples for 1,280 numbers
NEIGHBOUR = 5


def logistic_rules(rows: Array, labels: Any, asked: Array) -> dict[str, Array]:
    """Of logistic regression: its largest probability, its largest logit and the energy. Higher is stranger."""
    model = LogisticClassifier(Linear()).fit(rows, labels)
    logits = model.latent(asked).mean
    return {
        "logistic: largest probability": -model.predict_proba(asked).max(axis=1),
        "logistic: largest logit": -logits.max(axis=1),
        "logistic: energy": -logsumexp(logits, axis=1),
    }


def distance_rules(rows: Array, labels: Any, asked: Array) -> dict[str, Array]:
    """To the nearest example, to the fifth nearest, to the nearest class mean, and that in units of the spread of a class."""
    distances = squared_distances(asked, rows)
    members = labels[:, None] == np.unique(labels)
    means = (members / members.sum(axis=0)).T @ rows
    within = rows - means[members.argmax(axis=1)]
    covariance = within.T @ within / len(rows)
    covariance = (1 - SHRINKAGE) * covariance + SHRINKAGE * np.trace(covariance) / len(covariance) * np.eye(
        len(covariance)
    )
    whitening = np.linalg.inv(np.linalg.cholesky(covariance)).T
    return {
        "nearest neighbour": -NearestNeighbourClassifier(Linear()).fit(rows, labels).latent(asked).mean.max(axis=1),
        f"neighbour number {NEIGHBOUR}": np.sort(distances, axis=1)[:, NEIGHBOUR - 1],
        "nearest class mean": -NearestMeanClassifier(Linear()).fit(rows, labels).latent(asked).mean.max(axis=1),
        "Mahalanobis": squared_distances(asked @ whitening, means @ whitening).min(axis=1),
    }


def one_draw(images: ImageSet, channel: Channel, seed: int, known: int, unknown: int) -> dict[str, dict[str, float]]:
    """For each rule the area under the ROC curve; for fewsight's also false alarms and what was found."""
    learned, held_out = draw_categories(images.classes, known, unknown, seed)
    chosen = images.select([i for i, label in enumerate(images.labels) if label in {*learned, *held_out}])
    split = draw_split(
        chosen.labels, images_per_class=30, per_class=PER_CLASS, test_per_class=TEST_PER_CLASS, seed=seed
    )
    train = [i for i in split.train if chosen.labels[i] in learned]
    labels = np.array([chosen.labels[i] for i in train])
    stranger = np.array([chosen.labels[i] in held_out for i in split.test])
    channel = channel.fit([chosen.images[i] for i in train], labels)
    rows, asked = (channel.encode([chosen.images[i] for i in part]) for part in (train, split.test))
    found = {f"gp: {rule}": _of_rule(rule, channel, rows, labels, asked, stranger) for rule in (AUTO, *RULES)}
    plain = rows.matrix.toarray(), labels, asked.matrix.toarray()
    rivals: list[Callable[..., dict[str, Array]]] = [logistic_rules, distance_rules]
    scores = {name: values for rival in rivals for name, values in rival(*plain).items()}
    return found | {name: {"unknown_auroc": roc_auc(stranger, values)} for name, values in scores.items()}


def _of_rule(rule: str, channel: Channel, rows: Any, labels: Any, asked: Any, stranger: Any) -> dict[str, float]:
    gp = GPClassifier("precomputed", unknown_rule=rule).fit(channel.gram(rows), labels)
    assessed = gp.assess(channel.gram(asked, rows))
    return {
        "unknown_auroc": roc_auc(stranger, assessed.unknown_score),
        "false_alarm_rate": float(assessed.unknown[~stranger].mean()),
        "found_rate": float(assessed.unknown[stranger].mean()),
    }


def records(draws: list[dict[str, dict[str, float]]]) -> list[dict[str, Any]]:
    """A record for each rule and metric."""
    rows = []
    for rule, metrics in draws[0].items():
        learner, _, name = rule.partition(": ") if ": " in rule else ("none", "", rule)
        head = {"channels": CHANNEL, "learner": learner, "combine": "none", "per_class": PER_CLASS, "rule": name}
        rows += [{**head, "metric": metric, **summary_of([draw[rule][metric] for draw in draws])} for metric in metrics]
    return rows


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out; what one draw found is kept in the work folder."""
    images, channel = images_of(options.data), channel_of(options)
    draws = []
    for seed in track(options.seeds, "unknown", len(options.seeds)):
        kept = Path(options.work) / "unknown" / f"{options.known}_{options.unknown}_seed{seed}.json"
        if not kept.exists():
            with silent():
                fresh = clone(channel).set_params(cache=channel.cache, random_state=seed)
                found = one_draw(images, fresh, seed, options.known, options.unknown)
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_text(kept, json_text(found))
        draws.append(json.loads(kept.read_text()))
    rows = records(draws)
    protocol = {
        "known": options.known,
        "unknown": options.unknown,
        "per_class": PER_CLASS,
        "test_per_class": TEST_PER_CLASS,
    }
    write_results(options, rows, protocol)
    for row in rows:
        error = row["standard_error"] or 0.0
        print(f"{row['learner']:9} {row['rule']:22} {row['metric']:17} {row['mean']:.4f} +- {error:.4f}")


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = arguments("unknown", __doc__)
    found.add_argument("--known", type=int, default=20, help="categories to learn (20)")
    found.add_argument("--unknown", type=int, default=10, help="categories held out (10)")
    return found


if __name__ == "__main__":
    run(parser(), work)

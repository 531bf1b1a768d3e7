"""How the histogram learner ranks against its peers on histograms that nothing about it was chosen on.

Pyramids of gradient histograms (`phog`) of Caltech-101: each target of Rodner2010's experiments in turn is to be found among all
other categories, from 15 images of it and 2,000 of others; all other images that take part are tested. Our learner
and the peers are set as in `ranking.py`, with C = 1.

    python -m experiments.rodner2012.unseen_histograms DATA --work FOLDER
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.kernel_approximation import AdditiveChi2Sampler

from experiments.common.cells import standard_error
from experiments.common.command import commit_of_tree, run
from experiments.rodner2010.command import pool_arguments, pool_of
from experiments.rodner2010.grams import BACKGROUND, Pool
from experiments.rodner2012.ranking import of_ours, of_peer
from fewsight._base.progress import silent, track
from fewsight._base.replacement import write_text
from fewsight.channels import Phog
from fewsight.evaluation.provenance import package_version, versions
from fewsight.evaluation.results import Summary, json_text
from fewsight.images import FeatureCache
from fewsight.kernels import HistogramIntersection

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from histogram_data import Split

OURS = ("default", "balanced")
PEERS = ("linear_balanced", "linear", "svc_balanced", "svc")
POSITIVES, OTHERS = 15, 2_000
RESULTS = Path("experiments/results/rodner2012/unseen_histograms.json")


def rows_of(pool: Pool, n_jobs: int) -> Any:
    """The histograms of all images that take part, without the background."""
    channel = Phog(cache=FeatureCache(), n_jobs=n_jobs).fit([pool.images.images[i] for i in pool.fitted])
    images = [image for image, label in zip(pool.images.images, pool.labels, strict=True) if label != BACKGROUND]
    return channel.encode(images).matrix.tocsr()


def draw(rows: Any, labels: Any, target: str, seed: int) -> Split:
    """Category 0 is the target."""
    rng = np.random.default_rng([seed, len(labels)])
    own, others = (rng.permutation(np.flatnonzero(chosen)) for chosen in (labels == target, labels != target))
    train = np.concatenate([own[:POSITIVES], others[:OTHERS]])
    test = np.concatenate([own[POSITIVES:], others[OTHERS:]])
    return Split(rows[train], (labels[train] != target).astype(int), rows[test], (labels[test] != target).astype(int))


def areas(split: Split) -> dict[str, float]:
    """The area under the ROC curve on the test images, of every way."""
    found = {way: of_ours(split, way)["auc"] for way in OURS}
    sampler, gram = AdditiveChi2Sampler(), HistogramIntersection().gram
    features = sampler.fit_transform(split.X)
    sides = {
        "linear": (features, sampler.transform(split.X_test)),
        "svc": (gram(split.X), gram(split.X_test, split.X)),
    }
    return {**found, **{way: of_peer(split, way, *sides[way.split("_")[0]], 0.0)["auc"] for way in PEERS}}


def work(options: argparse.Namespace) -> None:
    """Measure, print, write."""
    pool = pool_of(options)
    labels = np.array([label for label in pool.labels if label != BACKGROUND])
    rows = rows_of(pool, options.n_jobs)
    draws = []
    for seed in track(options.seeds, "draws", len(options.seeds)):
        path = options.work / "unseen_histograms" / f"seed{seed}_{options.targets}.json"
        if not path.exists():
            chosen = pool.targets[:: max(1, len(pool.targets) // options.targets)]
            with silent():
                content = {target: areas(draw(rows, labels, target, seed)) for target in chosen}
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json_text(content))
        draws.append(json.loads(path.read_text()))
    by_target = {
        way: np.array([[found[target][way] for target in draws[0]] for found in draws]).mean(axis=0)
        for way in (*OURS, *PEERS)
    }
    records = []
    for way, values in by_target.items():
        apart, summary = by_target["default"] - values, Summary.of(tuple(map(float, values)))
        error = standard_error(apart)
        head = {"channels": "phog", "method": way, "metric": "auc", "mean": summary.mean, "std": summary.std}
        records.append({**head, "values": list(summary.values), "default_minus_this": float(apart.mean())})
        records[-1]["standard_error_over_targets"] = error
        print(f"{way:16} {summary.mean:.4f}   default minus this {apart.mean():+.4f} ± {error:.4f}")
    protocol = {
        "seeds": list(options.seeds),
        "targets": list(draws[0]),
        "training_images": {"of the target": POSITIVES, "of others": OTHERS},
        "command": options.command,
        "commit": commit_of_tree(),
        "fewsight": package_version(),
        "versions": versions(),
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    write_text(options.json, json_text({"protocol": protocol, "records": records}))


def parser() -> argparse.ArgumentParser:
    """The options of this experiment."""
    options = pool_arguments("unseen_histograms", __doc__, seeds="0-2", paper="rodner2012")
    options.add_argument("--targets", type=int, default=14, help="about how many of the targets take part (14)")
    options.add_argument("--json", type=Path, default=RESULTS, help=f"where the results go ({RESULTS})")
    return options


if __name__ == "__main__":
    run(parser(), work)

"""Which channels to use when nothing is said: accuracy, log loss and time per image over all domains.

    python -m experiments.domains.defaults DATA --work FOLDER

Codebooks and scales are learned once for each set, without labels, from images that are never tested (`cues.py`); a seed draws
what is learned from. Several channels are combined as `fewsight learn` combines them, by evidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from experiments.common.command import base_arguments, commit_of_tree, numbers, run, words
from experiments.domains.cues import SOURCES, CueSet, all_sets
from experiments.domains.summary import protocol_of, record_of, write_results
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.channels.pretrained import Pretrained
from fewsight.channels.prior_shares import INFORMED_SHARE
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.metrics import log_loss

NETWORK = "pretrained"
CHOICES: Mapping[str, tuple[str, ...]] = {
    "spatial_pmk": ("spatial_pmk",),
    "quick": ("colour", "texture", "phog"),
    "spatial_pmk + quick": ("spatial_pmk", "colour", "texture", "phog"),
    "pretrained": (NETWORK,),
    "pretrained + spatial_pmk": (NETWORK, "spatial_pmk"),
    "pretrained + quick": (NETWORK, "colour", "texture", "phog"),
    "pretrained + spatial_pmk + quick": (NETWORK, "spatial_pmk", "colour", "texture", "phog"),
}


def measure(known: CueSet, channels: Sequence[str], per_class: int, seed: int) -> dict[str, float]:
    """Of a learner with these channels on one draw."""
    drawn = known.drawn(per_class, seed)
    codes, truth = known.codes[0][drawn], known.codes[1]
    pairs = [grams_of(known, channel, drawn, codes) for channel in channels]
    several = len(channels) > 1
    model = GPClassifier("precomputed", weights="evidence", prior_weights=prior_of(channels) if several else None)
    model.fit([K for K, _ in pairs] if several else pairs[0][0], codes)
    stated = model.predict_proba([K_test for _, K_test in pairs] if several else pairs[0][1])
    loss = log_loss(truth, stated, range(stated.shape[1]))
    return {"accuracy": float((stated.argmax(axis=1) == truth).mean()), "log_loss": loss}


def prior_of(channels: Sequence[str]) -> list[float]:
    """How much each channel counts before anything is learned about it."""
    return [INFORMED_SHARE if name == NETWORK else 1.0 - INFORMED_SHARE for name in channels]


def grams_of(known: CueSet, channel: str, drawn: Array, codes: Array) -> tuple[Array, Array]:
    """K and K_test of a channel; the width of the Gaussian of the network's vectors is learned from the labels."""
    if channel != NETWORK:
        train, test, _ = known.gram(channel)
        return train[np.ix_(drawn, drawn)], test[:, drawn]
    rows, asked = known.vectors[0][drawn], known.vectors[1]
    kernel = RBF(scale_by_evidence(rows, codes, np.random.default_rng(0), Pretrained.usual_squared_scale))
    return kernel.gram(rows), kernel.gram(asked, rows)


def seconds(known: CueSet, channels: Sequence[str]) -> float:
    """CPU seconds for one image, of the channels whose time was taken: all but the network's."""
    return float(sum(known.gram(channel)[2] for channel in channels if channel != NETWORK))


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    sets = all_sets(options.data, options.work, options.sets)
    rows = []
    cells = [
        (known, name, size) for known in sets for name in CHOICES for size in options.sizes if size <= known.per_class
    ]
    for known, name, size in track(cells, "defaults", len(cells)):
        with silent():
            found = [measure(known, CHOICES[name], size, seed) for seed in options.seeds]
        head = {"set": known.source, "per_class": size, "channels": name, "seconds": seconds(known, CHOICES[name])}
        rows += [record_of(head, "gp", metric, np.array([each[metric] for each in found])) for metric in found[0]]
    write_results(options.json, protocol_of(options, commit_of_tree()), records=rows)
    for name in CHOICES:
        for metric in ("accuracy", "log_loss"):
            means = {size: _mean(rows, name, metric, size) for size in options.sizes}
            print(f"{name:34} {metric:9}", ", ".join(f"{size}: {value:.3f}" for size, value in means.items()))


def _mean(rows: Sequence[Mapping[str, object]], name: str, metric: str, size: int) -> float:
    """Over sets."""
    wanted = (name, metric, size)
    found = [row["mean"] for row in rows if (row["channels"], row["metric"], row["per_class"]) == wanted]
    return float(np.mean(np.array(found, dtype=np.float64)))


def parser() -> argparse.ArgumentParser:
    """The options."""
    folder = "the folder that holds more, caltech101 and brodatz"
    found = base_arguments("defaults", __doc__, folder=folder, seeds="0-4", of="draws", paper="domains")
    results = Path("experiments/results/domains/defaults.json")
    found.add_argument("--json", type=Path, default=results, help=f"where the results go ({results})")
    found.add_argument("--sets", type=words, default=SOURCES, help=f"joined by commas ({','.join(SOURCES)})")
    found.add_argument("--sizes", type=numbers, default=(1, 5, 15), help="labels per category (1,5,15)")
    return found


if __name__ == "__main__":
    run(parser(), work)

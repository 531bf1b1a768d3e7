"""The features of a pretrained network with 1, 5 and 15 images per category: fewsight against what people fit to them today.

    python -m experiments.embeddings.accuracy DATA --work FOLDER

The protocol is that of [Kapoor2010, section 8]: 30 images of each category of Caltech-101, n of them to learn from, 15 others to
test on. Baselines get the same vectors (square roots, unit length) through a linear kernel: what people do with embeddings.
With --classic, fewsight also learns from the six classic channels together with the network; what these learn without labels
(codebooks) comes from the 15 images per category that may be learned from, whatever n is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from experiments.common.cells import Cells, Table, Way, records, values_of
from experiments.common.command import CHANNELS, images_of, numbers, run, words
from experiments.common.grams import Grams, GramStore, Place
from experiments.embeddings.command import CHANNEL, arguments, channel_of, summary_of, write_results
from fewsight.channels import make_channel, prior_shares
from fewsight.evaluation.provenance import settings_of
from fewsight.images import FeatureCache
from fewsight.learners import LEARNERS, GPClassifier

VECTORS = f"{CHANNEL} vectors"  # the same rows, compared by their inner product
BASELINES = ("logistic", "nn", "mean", "svm")
IMAGES, TEST = 30, 15
METRICS = {"accuracy": 1, "log_loss": -1, "calibration_error": -1}  # 1: more is better


@dataclass(frozen=True)
class Stores:
    """Gram matrices of the network, fitted on what is learned from, beside those of classic channels, fitted on a pool."""

    parts: Sequence[GramStore]

    @property
    def work(self) -> Path:
        return self.parts[0].work

    @cached_property
    def digests(self) -> dict[str, str]:
        return {name: digest for part in self.parts for name, digest in part.digests.items()}

    @staticmethod
    def home(place: Place) -> Place:
        return place

    def make(self, places: Iterable[Place]) -> None:
        wanted = list(places)
        for part in self.parts:
            part.make(wanted)

    def load(self, place: Place) -> Grams:
        """Of all channels; the images come in the same order in every store."""
        found = [part.load(place) for part in self.parts]
        train, test = ({k: v for one in found for k, v in getattr(one, name).items()} for name in ("train", "test"))
        return Grams(train, test, found[0].labels, found[0].test_labels)


def stores_of(options: argparse.Namespace) -> Stores:
    """What the options ask for."""
    images, cache = images_of(options.data), FeatureCache()
    network = {CHANNEL: channel_of(options), VECTORS: channel_of(options, compare="cosine")}
    parts = [GramStore(images, network, options.work, options.images_per_class, options.test_per_class)]
    if options.classic:
        classic = {name: make_channel(name, cache=cache, n_jobs=options.n_jobs) for name in options.classic}
        pool = options.images_per_class - options.test_per_class
        work = options.classic_work or options.work
        parts.append(GramStore(images, classic, work, options.images_per_class, options.test_per_class, pool))
    return Stores(parts)


def ways_of(classic: Sequence[str]) -> list[Way]:
    """fewsight, the baselines, and fewsight with the classic channels besides."""
    ours = [Way(GPClassifier("precomputed", prototypes=False), (CHANNEL,), {"learner": "gp", "combine": "none"})]
    theirs = [
        Way(LEARNERS[name]("precomputed"), (VECTORS,), {"learner": name, "combine": "none"}) for name in BASELINES
    ]
    if not classic:
        return ours + theirs
    together = (CHANNEL, *classic)
    prior = prior_shares([make_channel(name) for name in together]).tolist()
    learner = GPClassifier("precomputed", weights="evidence", prior_weights=prior, prototypes=False)
    return [*ours, *theirs, Way(learner, together, {"learner": "gp", "combine": "evidence"})]


def verdicts(cells: Cells, ways: Sequence[Way], sizes: Sequence[int]) -> list[dict[str, Any]]:
    """fewsight against the best baseline by each metric, and with classic channels against without, split by split."""
    ours, *others = ways
    baselines = [way for way in others if way.describe["learner"] != "gp"]
    rows = []
    for size in sizes:
        for metric, sign in METRICS.items():
            best = max(baselines, key=lambda way: sign * values_of(cells, way, size, metric).mean())
            rows += [
                {"per_class": size, "metric": metric, "ours": _name(one), "theirs": _name(other)}
                | summary_of((values_of(cells, one, size, metric) - values_of(cells, other, size, metric)).tolist())
                for one, other in [(ours, best), *((way, ours) for way in others if way not in baselines)]
            ]
    return rows


def _name(way: Way) -> str:
    return f"{way.describe['learner']} {'+'.join(way.channels)}"


def work(options: argparse.Namespace) -> None:
    """Measure, write, and say what came out."""
    stores, ways = stores_of(options), ways_of(options.classic)
    cells = Table(stores, ways, options.places).fill()  # type: ignore[arg-type]
    found = [{**row, "channels": row["channels"].replace(VECTORS, CHANNEL)} for row in records(cells)]
    compared = verdicts(cells, ways, options.sizes)
    classic = {name: settings_of(make_channel(name)) for name in options.classic}
    protocol = {
        "images_per_class": options.images_per_class,
        "per_class": list(options.sizes),
        "test_per_class": options.test_per_class,
        "classic_channels": classic,
        "learners": {_name(way): settings_of(way.learner) for way in ways},
    }
    write_results(options, found, protocol, differences=compared)
    for row in found:
        if row["metric"] in METRICS:
            shown = "pretrained" if row["channels"] == CHANNEL else "pretrained + classic"
            error = np.std(row["values"], ddof=1) / len(row["values"]) ** 0.5 if len(row["values"]) > 1 else 0.0
            print(
                f"{row['per_class']:3} {shown:21} {row['learner']:9} {row['metric']:18} {row['mean']:.4f} +- {error:.4f}"
            )


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = arguments("accuracy", __doc__)
    found.add_argument("--sizes", type=numbers, default=(1, 5, 15), help="examples per category (1,5,15)")
    found.add_argument("--images-per-class", type=int, default=IMAGES, help=f"that take part in a draw ({IMAGES})")
    found.add_argument("--test-per-class", type=int, default=TEST, help=f"of these, to test on ({TEST})")
    found.add_argument(
        "--classic", type=words, nargs="?", default=(), const=CHANNELS, help=f"further channels ({','.join(CHANNELS)})"
    )
    found.add_argument(
        "--classic-work", type=Path, help="the work folder of experiments.common.grams, if it is another"
    )
    return found


if __name__ == "__main__":
    run(parser(), work)

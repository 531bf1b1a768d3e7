"""Bags of 1,000 visual words for draws of Caltech-101, kept in a work folder. [Rodner2012, section 6.1]

Dense SIFT and a codebook that is learned on the training images of each draw; no position. A file holds the histograms and the
labels of one draw; what is there already is not computed again.

    python -m experiments.rodner2012.words DATA --work FOLDER --seeds 100,0-9
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from experiments.common.command import draw_arguments, images_of, run
from experiments.common.grams import GramStore, Place
from fewsight._base.archive import read_archive, write_archive
from fewsight._base.progress import silent, track
from fewsight._base.types import State
from fewsight.channels import SpatialPmk
from fewsight.images import FeatureCache


@dataclass(frozen=True)
class Bags:
    """One draw: histograms as CSR with their labels."""

    train: Any  # (n, words)
    test: Any  # (m, words)
    labels: Any  # (n,)
    test_labels: Any  # (m,)


@dataclass(frozen=True)
class WordStore:
    """Bags of words of draws, on disk or to be made."""

    draws: GramStore  # with one channel, `words`

    def path(self, place: Place) -> Path:
        """The file of a draw."""
        return self.draws.path("words", place)

    def load(self, place: Place) -> Bags:
        """The bags of one draw, made if they are not there."""
        if not self.path(place).exists():
            self._make(place)
        arrays = read_archive(self.path(place)).arrays
        train, test = (_rows(arrays, part) for part in ("train", "test"))
        return Bags(train, test, arrays["train_labels"], arrays["test_labels"])

    def _make(self, place: Place) -> None:
        split, channel = self.draws.split(place), self.draws.channels["words"]
        train, test = ([self.draws.images.images[i] for i in part] for part in (split.train, split.test))
        labels = {
            f"{name}_labels": np.array([self.draws.images.labels[i] for i in part])
            for name, part in (("train", split.train), ("test", split.test))
        }
        fitted = SpatialPmk(**{**channel.get_params(deep=False), "random_state": place.seed}).fit(train)
        rows = {"train": fitted.encode(train), "test": fitted.encode(test)}
        path = self.path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [_arrays(name, part.matrix) for name, part in rows.items()]
        header = {"channel": self.draws.settings["words"], "seed": place.seed, "per_class": place.per_class}
        write_archive(path, State(header, {**parts[0], **parts[1], **labels}))


def store_of(options: argparse.Namespace) -> WordStore:
    """The images and draws that the options name."""
    channel = SpatialPmk(n_words=options.words, n_levels=1, cache=FeatureCache(), n_jobs=options.n_jobs)
    return WordStore(
        GramStore(
            images_of(options.data), {"words": channel}, options.work, options.images_per_class, options.test_per_class
        )
    )


def word_arguments(name: str, description: str | None, *, seeds: str = "0-9") -> argparse.ArgumentParser:
    """The options of commands that learn from bags of words."""
    parser = draw_arguments(name, description, seeds=seeds, sizes="15", paper="rodner2012")
    parser.add_argument("--words", type=int, default=1_000, help="of the codebook (1000)")
    return parser


def _arrays(name: str, rows: Any) -> dict[str, Any]:
    return {
        f"{name}_{key}": value
        for key, value in (
            ("values", rows.data),
            ("columns", rows.indices),
            ("starts", rows.indptr),
            ("shape", np.array(rows.shape)),
        )
    }


def _rows(arrays: dict[str, Any], name: str) -> Any:
    values, columns, starts, shape = (arrays[f"{name}_{key}"] for key in ("values", "columns", "starts", "shape"))
    return scipy.sparse.csr_array((values, columns, starts), shape=tuple(shape))


def parser() -> argparse.ArgumentParser:
    """The options of this command."""
    return word_arguments("words", __doc__)


def _main() -> None:
    def work(options: argparse.Namespace) -> None:
        store = store_of(options)
        for place in track(options.places, "bags of words", len(options.places)):
            with silent():
                bags = store.load(place)
            print(store.path(place), bags.train.shape, f"{bags.train.nnz / np.prod(bags.train.shape):.2f} non-zero")

    run(parser(), work)


if __name__ == "__main__":
    _main()

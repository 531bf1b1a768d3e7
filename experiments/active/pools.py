"""Pools whose labels are known, and which of a pool takes part in a run.

digits: the 1,797 digits that come with scikit-learn. caltech4: airplanes, faces, motorbikes and rear cars. caltech101: the
complete Caltech-101. Images are compared by `dense_pmk`; for caltech101 it is fitted on the background images.
caltech101_pretrained: the same images compared by `pretrained`, a network whose ImageNet classes overlap these categories.
A part is drawn by the seed of a run: of digits and caltech4 any images, of caltech101 20 categories and up to 50 images of each.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from experiments.common.caltech4 import Caltech4, caltech4
from experiments.kapoor2010.binary import Binary, complete
from fewsight._base.types import Array, Indices
from fewsight.channels import make_channel
from fewsight.images import FeatureCache
from fewsight.kernels import RBF

POOLS = ("digits", "caltech4", "caltech101", "caltech101_pretrained")
N_CATEGORIES, PER_CATEGORY = 20, 50  # of a part of caltech101


@dataclass(frozen=True)
class Known:
    """A Gram matrix (m, m) and the truth about every example."""

    K: Array
    truth: Any

    def part(self, rows: Indices) -> Known:
        """Some of it, as a pool of its own."""
        return Known(self.K[np.ix_(rows, rows)], self.truth[rows])


@dataclass(frozen=True)
class Source:
    """Where pools come from."""

    name: str
    whole: Known
    channel: str

    def part(self, size: int, rng: np.random.Generator) -> Known:
        """About `size` examples; of many categories only some."""
        truth = self.whole.truth
        classes = np.unique(truth)
        if len(classes) > N_CATEGORIES:
            chosen = rng.permutation(classes)[:N_CATEGORIES]
            groups = [rng.permutation(np.flatnonzero(truth == label))[:PER_CATEGORY] for label in chosen]
            rows = np.concatenate(groups)
        else:
            rows = np.arange(len(truth))
        return self.whole.part(np.sort(rng.permutation(rows)[:size]))


def source(name: str, options: argparse.Namespace) -> Source:
    """A pool by its name."""
    return Source(name, *_digits()) if name == "digits" else Source(name, *_images(name, options))


@cache
def _digits() -> tuple[Known, str]:
    X, truth = load_digits(return_X_y=True)
    return Known(RBF(scale=2.0).gram(X / 16.0), truth), "rbf"


def _images(name: str, options: argparse.Namespace) -> tuple[Known, str]:
    named = "pretrained" if name.endswith("_pretrained") else options.channel
    channel = make_channel(named, cache=FeatureCache(), n_jobs=options.n_jobs)
    if name.startswith("caltech101"):
        problem = Binary(complete(options.data), channel, options.work, n_queries=0)
        return Known(problem.gram(), problem.labels.astype(str)), channel.name
    store = Caltech4(caltech4(options.data), channel, options.work, tested="rest")
    store.make([0])
    drawn = store.load(0)
    return Known(drawn.K, drawn.labels), channel.name

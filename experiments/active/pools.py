"""Pools whose labels are known, and which of a pool takes part in a run.

digits: the 1,797 digits that come with scikit-learn. caltech4: airplanes, faces, motorbikes and rear cars. caltech101: the
complete Caltech-101. Images are compared by `dense_pmk`; for caltech101 it is fitted on the background images.
caltech101_pretrained: the same images compared by `pretrained`, a network whose ImageNet classes overlap these categories.
caltech101_vectors: the same network's vectors, compared by a Gaussian of the usual width of the part that is drawn.
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
from experiments.domains.vectors import CALTECH, LabelledVectors, read_vectors
from experiments.kapoor2010.binary import Binary, complete
from fewsight._base.types import Array, Indices
from fewsight.channels import make_channel
from fewsight.channels.vector_channel import scale_by_evidence
from fewsight.images import FeatureCache
from fewsight.kernels import RBF

POOLS = ("digits", "caltech4", "caltech101", "caltech101_pretrained")
VECTORS = "caltech101_vectors"
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
        rows = _of_some(truth, rng) if len(classes) > N_CATEGORIES else np.arange(len(truth))
        return self.whole.part(np.sort(rng.permutation(rows)[:size]))


@dataclass(frozen=True)
class VectorSource:
    """Where pools of one vector for each image come from; the Gaussian's width is that of the part, chosen without labels."""

    name: str
    vectors: LabelledVectors
    channel: str = "pretrained"

    def part(self, size: int, rng: np.random.Generator) -> Known:
        """At most `size` examples of some categories."""
        rows = rng.permutation(_of_some(self.vectors.labels, rng))[:size]
        X = self.vectors.rows(np.sort(rows))
        kernel = RBF(scale_by_evidence(X, np.full(len(X), -1), np.random.default_rng(0)))
        return Known(kernel.gram(X), self.vectors.labels[np.sort(rows)])


def _of_some(truth: Any, rng: np.random.Generator) -> Indices:
    """Positions of up to 50 examples of each of 20 categories."""
    chosen = rng.permutation(np.unique(truth))[:N_CATEGORIES]
    return np.concatenate([rng.permutation(np.flatnonzero(truth == label))[:PER_CATEGORY] for label in chosen])


def source(name: str, options: argparse.Namespace) -> Source | VectorSource:
    """A pool by its name."""
    if name == VECTORS:
        return VectorSource(name, read_vectors(CALTECH, options.data, options.work))
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

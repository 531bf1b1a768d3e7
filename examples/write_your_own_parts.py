"""
Write a channel, a kernel, a rule
=================================

A part of your own joins fewsight by one decorator and can be used wherever ours are: in learners, model files and on
the command line. ``fewsight.testing`` holds it to the same checks.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.distance import cdist

import fewsight
from fewsight.testing import check_channel, check_kernel, check_rule

# %%
# **A kernel** is a frozen dataclass of its parameters that knows the values between rows, and of each row with
# itself.


@fewsight.register
@dataclass(frozen=True)
class Laplace(fewsight.Kernel):
    """k(x, z) = exp(-sum_d |x_d - z_d| / scale)"""

    kind: ClassVar[str] = "laplace"
    accepts_sparse: ClassVar[bool] = False
    scale: float = 1.0

    def _gram(self, A, B):
        return np.exp(-cdist(A, A if B is None else B, "cityblock") / self.scale)

    def _diag(self, A):
        return np.ones(len(A))


check_kernel(Laplace(0.7))
print("Laplace keeps the contract of kernels")

# %%
# **A channel** that sees one vector per image says how to make it (``_vector``), and states everything that decides
# the result (``_feature_recipe``), which is the key of the cache. Options are stated once, with a default and a
# sentence.


@fewsight.register
class MeanColour(fewsight.VectorChannel):
    """The mean colour of each cell of a grid."""

    name: ClassVar[str] = "mean_colour"

    cells: int = fewsight.option(default=2, doc="cells along each side of the image, 1 or more.")

    def _feature_recipe(self):
        return {"kind": "mean_colour", "version": 1, "cells": self.cells}

    def _vector(self, image):
        pixels = image.pixels(64)  # (h, w, 3) in [0, 1], the longest side at most 64
        height, width = pixels.shape[:2]
        rows, columns = self._edges(height), self._edges(width)
        return np.concatenate([pixels[a:b, c:d].mean(axis=(0, 1)) for a, b in rows for c, d in columns])

    def _edges(self, size):
        """First pixel of each cell, and the one after its last; at least one pixel."""
        starts = [cell * size // self.cells for cell in range(self.cells)]
        return [(start, max(start + 1, (cell + 1) * size // self.cells)) for cell, start in enumerate(starts)]


check_channel(MeanColour())
tiles = fewsight.sample_set()
labels = np.array(tiles.labels)
print("vectors:", MeanColour().vectors(tiles.images[:5]).shape)

train, test = np.arange(0, len(tiles), 5), np.arange(1, len(tiles), 5)
gp = fewsight.GPClassifier(MeanColour(cells=3)).fit([tiles.images[i] for i in train], labels[train])
print(f"{gp.score([tiles.images[i] for i in test], labels[test]):.0%} of the sample set by mean colours")

# %%
# **A query rule** gives each candidate a score, and a reason in words. Batches, near-duplicates and ties are not its
# business.


@fewsight.register
@dataclass(frozen=True)
class Entropy(fewsight.QueryRule):
    """The largest entropy of the probabilities of the categories."""

    name: ClassVar[str] = "entropy"

    def _scores(self, view, candidates, rng):
        p = view.probabilities(candidates)
        return -(p * np.log(np.maximum(p, 1e-12))).sum(axis=1)

    def reason(self, view, position):
        return "could be many things"


check_rule(Entropy())
X = np.random.default_rng(0).normal(size=(60, 3))
y = np.where(X[:, 0] > 0, "right", "left")
active = fewsight.ActiveLearner(fewsight.GPClassifier(fewsight.RBF(1.0)), rule="entropy", explore=False).fit(X)
for _ in range(12):
    query = active.query()
    active.teach(query.indices, y[query.indices])
print("asks by entropy:", query.reasons[0])

"""What the latent values of each class look like, learned from training examples that are left out.

The largest latent mean decides if all classes claim their own examples equally strongly and other examples not at all. Some do
not: the latent values of a shirt are high for T-shirts too, and a class of scattered examples claims none of them strongly. The
mean of the latent values (c,) of the left-out examples of a class, its prototype, shows that; so the nearest prototype decides.

With f a row of latent means less their mean over the c classes, e_k the k-th unit vector, a the mean over classes of what a class
claims its own left-out examples with, in units of (1 - 1/c), and m_k the mean of f over the n_k left-out examples of class k,

    s_k = (f . p_k - |p_k|^2 / 2) / a,    p_k = a (e_k - 1/c) + r_k (m_k - a (e_k - 1/c)),
    r_k = strength (n_k - 2) / (n_k - 2 + HALF), or 0 where n_k < 2.

The first term of p_k is what prototypes would be if all classes were alike; with it alone s_k is f_k but for a constant, so the
largest mean decides. How strongly the other term counts is learned from the same examples: see `judged_calibration`. Regression
that is followed by a discriminant analysis of its values, here one with equal variances, is that of [Hastie1994].
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.learners.labels import NO_CLASS

# On eight sets, seeds 100-103, HALF 2, 4 and 8 have a log loss of .482, .478 and .479 with five labels, the largest mean .490.
NONE_YET = 2  # left-out examples of a class do not count yet;
HALF = 4.0  # with so many more the mean of its own counts half as much as what is expected
STRENGTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
USUAL = 0.5  # strength that is expected
NATS = 2.0  # by which left-out examples must speak for a strength that is 1 away from it
# With two, only where to cut could change: nothing gained on two categories of five sets, seeds 100-105.
LEAST_CLASSES = 3
LARGEST = 1e12  # of any number in a model file
MOST_EXAMPLES = 2**53


@final
@dataclass(frozen=True, eq=False)
class Prototypes:
    """The prototypes of c classes.

    level : the factor a of what is expected of all classes, > 0.
    means : the mean latent values of the left-out examples of each class (c, c), a row each, less their mean over classes.
    counts : how many they are (c,).
    strength : how much `means` count, from 0 to 1.
    """

    level: float
    means: Array
    counts: Indices
    strength: float = USUAL

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Prototypes) or (self.level, self.strength) != (other.level, other.strength):
            return False
        return np.array_equal(self.means, other.means) and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.level, self.strength))

    @classmethod
    def of(cls, mean: Array, classes: Indices) -> Self | None:
        """From latent means (m, c) of left-out examples and their classes (m,); None where they can say nothing."""
        c = mean.shape[1]
        counts = np.bincount(classes[classes != NO_CLASS], minlength=c)
        if c < LEAST_CLASSES or counts.max(initial=0) <= NONE_YET:
            return None
        sums = np.zeros((c, c))
        known = classes != NO_CLASS
        np.add.at(sums, classes[known], _centred(mean[known]))
        means = sums / np.maximum(counts, 1)[:, None]
        level = float(means.diagonal()[counts > 0].mean()) / (1.0 - 1.0 / c)
        return cls(level, means, counts) if level > 0 else None

    def with_strength(self, strength: float) -> Prototypes:
        """The same prototypes, counting so much."""
        return replace(self, strength=strength)

    @property
    def log_prior(self) -> float:
        """Of the strength, in nats and up to a constant."""
        return -NATS * abs(self.strength - USUAL)

    def values(self, mean: Array) -> Array:
        """How near each example is to each prototype (m, c), the largest to the nearest, from its latent means.

        Of a class that came after the prototypes were learned, the expected one is taken.
        """
        shapes = self._shapes if mean.shape[1] == len(self.means) else self._shapes_of(mean.shape[1])
        return _centred(mean) @ shapes.T - 0.5 * self.level * (shapes**2).sum(axis=1)

    def left_out_values(self, mean: Array, classes: Indices) -> Array:
        """The same for the examples that they were learned from: each has no part in the prototype of its own class."""
        found, known = self.values(mean), np.flatnonzero((classes != NO_CLASS) & (classes < len(self.means)))
        own, f = classes[known], _centred(mean[known])
        remaining = self.counts[own] - 1
        means = (self.counts[own, None] * self.means[own] - f) / np.maximum(remaining, 1)[:, None]
        shapes = self._around(means, remaining, np.eye(mean.shape[1])[own])
        found[known, own] = (f * shapes).sum(axis=1) - 0.5 * self.level * (shapes**2).sum(axis=1)
        return found

    @cached_property
    def _shapes(self) -> Array:
        """The prototypes in units of the level (c, c)."""
        return self._around(self.means, self.counts, np.eye(len(self.means)))

    def _shapes_of(self, c: int) -> Array:
        """For another number of classes: the first ones are the same."""
        known = min(c, len(self.means))
        shapes = np.eye(c) - 1.0 / c
        expected = np.eye(len(self.means)) - 1.0 / len(self.means)
        shapes[:known, :known] += (self._shapes - expected)[:known, :known]
        return shapes

    def _around(self, means: Array, counts: Indices, own: Array) -> Array:
        """Shrunk towards what is expected; `own` (k, c) is 1 in the column of the class of each row."""
        expected = own - 1.0 / own.shape[1]
        beyond = np.maximum(counts - float(NONE_YET), 0.0)
        share = self.strength * beyond / (beyond + HALF)
        return expected + share[:, None] * (means / self.level - expected)

    def state(self) -> State:
        header = {"level": self.level, "strength": self.strength}
        return State(header, {"means": self.means, "counts": np.asarray(self.counts, dtype=np.int64)})

    @classmethod
    def from_state(cls, state: State) -> Self:
        means = state.array("means", (None, None), np.float64, least=-LARGEST, most=LARGEST)
        if means.shape[0] != means.shape[1]:
            raise InvalidInput(f"the prototypes must have a column for each class: {len(means)}, got {means.shape[1]}.")
        counts = state.array("counts", (len(means),), np.int64, least=0, most=MOST_EXAMPLES).astype(np.intp)
        level = state.number("level", least=1.0 / LARGEST, most=LARGEST)
        return cls(level, means, counts, state.number("strength", least=0.0, most=1.0))


def _centred(mean: Array) -> Array:
    """Less the mean over classes."""
    return np.asarray(mean - mean.mean(axis=1, keepdims=True))

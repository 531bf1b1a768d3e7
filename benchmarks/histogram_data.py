"""Histograms like bags of visual words, for benchmarks and experiments: rows that sum to one, in categories.

A word is as frequent as Zipf's law says, more or less so in a category, in a kind of scene and in one image; an image has a few
hundred local features, which are drawn from its words. So most words are missing in an image, and the values of one word
are spread over a few multiples of 1 / (number of features).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

N_SCENES = 40
CATEGORY_SPREAD, SCENE_SPREAD, IMAGE_SPREAD = 0.25, 0.35, 0.85  # of the logarithm of a word's frequency
FEATURES, FEATURES_SPREAD = (
    430,
    0.35,
)  # local features of an image (median, spread of the logarithm): a quarter of 1,000 words
MEANS_SPREAD, PLACES_SPREAD = 0.5, 0.25  # of a category's factors; the spread within a category is about 1
BURST = 0.5  # shape of what multiplies the rate of a word in a cell: the less, the more it comes in bursts
ROWS_AT_A_TIME = 2000


class Split(NamedTuple):
    """Training and test rows with their categories; category 0 is the one to find."""

    X: scipy.sparse.csr_array
    categories: np.ndarray
    X_test: scipy.sparse.csr_array
    categories_test: np.ndarray

    @property
    def targets(self) -> np.ndarray:
        """+1 for category 0, -1 for the others."""
        return np.where(self.categories == 0, 1.0, -1.0)

    @property
    def targets_test(self) -> np.ndarray:
        return np.where(self.categories_test == 0, 1.0, -1.0)


def training_and_test(n_positives: int, n_others: int, n_test: int, n_categories: int) -> tuple[np.ndarray, np.ndarray]:
    """Categories of the images: the one is 0. Of each other `n_test` are tested, of the one 40 times as many."""
    others = np.arange(1, n_categories)
    counts = ((n_positives, n_others), (40 * n_test, n_test))
    train, test = (np.concatenate([np.zeros(one, int), np.repeat(others, each)]) for one, each in counts)
    return train, test


def in_parts(categories: np.ndarray, images: Callable[[np.ndarray], scipy.sparse.csr_array]) -> scipy.sparse.csr_array:
    """Histograms of the images of these categories, some at a time."""
    tops = range(0, len(categories), ROWS_AT_A_TIME)
    parts = [images(categories[top : top + ROWS_AT_A_TIME]) for top in tops]
    return scipy.sparse.csr_array(scipy.sparse.vstack(parts, format="csr"))


def as_shares(counts: np.ndarray) -> scipy.sparse.csr_array:
    """Rows that add up to 1; a row without any feature gets one."""
    counts[counts.sum(axis=1) == 0, 0] = 1.0
    return scipy.sparse.csr_array(counts / counts.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class Words:
    """How often each word comes, overall, by category and by scene."""

    usual: np.ndarray
    by_category: np.ndarray
    by_scene: np.ndarray

    @classmethod
    def drawn(cls, n_words: int, n_categories: int, rng: np.random.Generator) -> Words:
        usual = -0.7 * np.log(rng.permutation(n_words) + 3.0)
        by_category = CATEGORY_SPREAD * rng.normal(size=(n_categories, n_words))
        return cls(usual, by_category, SCENE_SPREAD * rng.normal(size=(N_SCENES, n_words)))

    def images(self, categories: np.ndarray, rng: np.random.Generator, dense: bool = False) -> scipy.sparse.csr_array:
        """A histogram for each category that is named; with `dense` no word is quite missing."""
        return in_parts(categories, lambda some: self._some(some, rng, dense))

    def _some(self, categories: np.ndarray, rng: np.random.Generator, dense: bool) -> scipy.sparse.csr_array:
        logs = IMAGE_SPREAD * rng.normal(size=(len(categories), len(self.usual)))
        logs += self.usual + self.by_category[categories] + self.by_scene[rng.integers(N_SCENES, size=len(categories))]
        shares = np.exp(logs)
        shares /= shares.sum(axis=1, keepdims=True)
        features = FEATURES * np.exp(FEATURES_SPREAD * rng.normal(size=(len(categories), 1)))
        counts = rng.poisson(features * shares).astype(np.float64)
        counts += features * shares if dense else 0.0
        return as_shares(counts)


def one_against_many(
    n_others: int = 10,
    n_positives: int = 100,
    n_test: int = 5,
    n_categories: int = 1000,
    n_words: int = 1000,
    n_noise: int = 0,
    dense: bool = False,
    seed: int = 0,
) -> Split:
    """100 images of one category and a few of each of 999 others: 10,090 with 10 each, 50,050 with 50. [Rodner2012, section 6.3]

    Test images are `n_test` of each category and 40 times as many of the one. The first `n_noise` words come from other images.
    """
    rng = np.random.default_rng(seed)
    words = Words.drawn(n_words, n_categories, rng)
    train, test = training_and_test(n_positives, n_others, n_test, n_categories)
    X, X_test = (shuffled(words.images(which, rng, dense), n_noise, rng) for which in (train, test))
    return Split(X, train, X_test, test)


def topics_against_many(
    n_others: int = 10,
    n_positives: int = 100,
    n_test: int = 5,
    n_categories: int = 1000,
    n_words: int = 1000,
    n_topics: int = 60,
    seed: int = 0,
) -> Split:
    """As `one_against_many`, of another distribution: topics are Dirichlet variables over words, a category is one over topics.

    An image draws its own mix from that of its category and its features from the mix; a tenth of them come from anywhere.
    """
    rng = np.random.default_rng([seed, 1])
    topics = rng.dirichlet(np.full(n_words, 0.05), n_topics)
    tastes = rng.dirichlet(np.full(n_topics, 0.3), n_categories)
    parts = []
    for categories in training_and_test(n_positives, n_others, n_test, n_categories):
        parts += [in_parts(categories, lambda some: _topic_images(some, topics, tastes, rng)), categories]
    return Split(*parts)


def _topic_images(
    categories: np.ndarray, topics: np.ndarray, tastes: np.ndarray, rng: np.random.Generator
) -> scipy.sparse.csr_array:
    mixes = rng.gamma(8.0 * tastes[categories] + 0.02)
    shares = 0.9 * (mixes / mixes.sum(axis=1, keepdims=True)) @ topics + 0.1 / topics.shape[1]
    counts = rng.poisson(rng.integers(150, 600, size=(len(categories), 1)) * shares).astype(np.float64)
    return as_shares(counts)


@dataclass(frozen=True)
class Bursts:
    """Words that come together, in cells of an image: factors raise or lower many words at once.

    A category has a mean of each factor, a spread of each (so that which words vary together differs by category), and cells
    that it prefers for each. Counts are negative binomial: a word that comes once in a cell comes there again.
    """

    usual: np.ndarray  # (n_words,), logarithms
    loadings: np.ndarray  # (n_factors, n_words)
    means: np.ndarray  # (n_categories, n_factors)
    spreads: np.ndarray  # likewise
    places: np.ndarray  # (n_categories, n_cells, n_factors)

    @classmethod
    def drawn(cls, n_words: int, n_cells: int, n_categories: int, n_factors: int, rng: np.random.Generator) -> Bursts:
        usual = -0.7 * np.log(rng.permutation(n_words) + 3.0)
        loadings = rng.normal(size=(n_factors, n_words)) / np.sqrt(n_factors)
        means = MEANS_SPREAD * rng.normal(size=(n_categories, n_factors))
        spreads = rng.gamma(4.0, 0.25, size=(n_categories, n_factors))
        places = PLACES_SPREAD * rng.normal(size=(n_categories, n_cells, n_factors))
        return cls(usual, loadings, means, spreads, places)

    def images(self, categories: np.ndarray, rng: np.random.Generator) -> scipy.sparse.csr_array:
        """A histogram for each category that is named, cell after cell."""
        return in_parts(categories, lambda some: self._some(some, rng))

    def _some(self, categories: np.ndarray, rng: np.random.Generator) -> scipy.sparse.csr_array:
        factors = self.means[categories] + self.spreads[categories] * rng.normal(
            size=(len(categories), len(self.loadings))
        )
        logs = (factors[:, None, :] + self.places[categories]) @ self.loadings + self.usual
        shares = np.exp(logs).reshape(len(categories), -1)
        features = FEATURES * np.exp(FEATURES_SPREAD * rng.normal(size=(len(categories), 1)))
        rates = features * shares / shares.sum(axis=1, keepdims=True)
        counts = rng.poisson(rates * rng.gamma(BURST, 1 / BURST, size=rates.shape)).astype(np.float64)
        return as_shares(counts)


def bursts_against_many(
    n_others: int = 10,
    n_positives: int = 100,
    n_test: int = 5,
    n_categories: int = 1000,
    n_words: int = 250,
    n_cells: int = 4,
    n_factors: int = 20,
    seed: int = 0,
) -> Split:
    """As `one_against_many`, of a third distribution: words in four cells that come together and in bursts."""
    rng = np.random.default_rng([seed, 2])
    made = Bursts.drawn(n_words, n_cells, n_categories, n_factors, rng)
    train, test = training_and_test(n_positives, n_others, n_test, n_categories)
    return Split(made.images(train, rng), train, made.images(test, rng), test)


def shuffled(X: scipy.sparse.csr_array, n_noise: int, rng: np.random.Generator) -> scipy.sparse.csr_array:
    """The first words exchanged between images, each on its own: as frequent as before, and without any information."""
    if not n_noise:
        return X
    noise = X[:, :n_noise].toarray()
    rows = scipy.sparse.hstack([scipy.sparse.csr_array(rng.permuted(noise, axis=0)), X[:, n_noise:]], format="csr")
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return scipy.sparse.csr_array(scipy.sparse.diags_array(1 / np.where(sums > 0, sums, 1.0)) @ rows)


@dataclass(frozen=True)
class TwoOfEight:
    """How eight numbers come about of which the first two tell two classes apart."""

    own: tuple[float, float]  # shapes of the two, exchanged in the second class
    others: float  # shape of each of the six
    kind: str = "dirichlet"  # or "gamma" or "beta"


TWO_OF_EIGHT = {
    "independent": TwoOfEight((3.0, 1.0), 4.0, "gamma"),
    "uniform": TwoOfEight((2.0, 1.0), 1.0, "beta"),
    "simplex, flat": TwoOfEight((3.0, 1.0), 1.0),
    "simplex": TwoOfEight((3.0, 1.0), 4.0),
    "simplex, sparse": TwoOfEight((2.0, 0.5), 4.0),
    "simplex, dense": TwoOfEight((6.0, 2.0), 8.0),
}


def relevance(per_class: int, rng: np.random.Generator, kind: str = "independent") -> tuple[np.ndarray, np.ndarray]:
    """Eight numbers >= 0 for examples of two classes that differ in the first two alone, and targets +1 / -1.

    [Rodner2012, section 6.5] leaves its distributions to a reference that is not at hand, so there are several. In "independent"
    and "uniform" numbers are independent gamma or beta variables. Rows of the others are Dirichlet and sum to one, so that the
    six, which have one distribution in both classes, still tell how much the first two share: they are not without information.
    """
    made = TWO_OF_EIGHT[kind]
    rows = []
    for first, second in (made.own, made.own[::-1]):
        shapes = np.array([first, second, *[made.others] * 6])
        if made.kind == "dirichlet":
            rows.append(rng.dirichlet(shapes, per_class))
        elif made.kind == "gamma":
            rows.append(rng.gamma(shapes, size=(per_class, 8)))
        else:
            opposite = np.array([second, first, *[made.others] * 6])
            rows.append(rng.beta(shapes, opposite, size=(per_class, 8)))
    return np.concatenate(rows), np.repeat([1.0, -1.0], per_class)

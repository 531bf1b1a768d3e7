"""What is learned and tested in a cell of the bench: a set, a number of labels per category, a seed, even or uneven.

Draws follow `fewsight.images.draw_split`: smaller training sets are the beginning of larger ones. Test images are even, at most
TESTED of a category. In an uneven training set the largest category has `per_class` labels, the smallest a fifth of that, the
others lie between in equal ratios, in an order that the seed decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from experiments.domains.unseen import UNSEEN_READERS
from experiments.domains.vectors import BRODATZ, CALTECH, MORE, LabelledVectors, Strings
from fewsight._base.types import Array, Indices
from fewsight.images import draw_split

TESTED = 50
LEAST_TESTED = 15
SMALLEST_SHARE = 5.0


@dataclass(frozen=True)
class Domain:
    """A set, or a draw of some of its categories for each seed."""

    name: str
    source: str
    sizes: tuple[int, ...]
    categories: int | None = None  # drawn for each seed; None: all
    least_tested: int = LEAST_TESTED
    seeds: int = 10  # at most

    @property
    def uneven_sizes(self) -> tuple[int, ...]:
        """Sizes at which categories can differ."""
        return tuple(size for size in self.sizes if size >= SMALLEST_SHARE)


SIZES = (1, 2, 5, 15, 50)
BENCH: Mapping[str, Domain] = {  # on which choices are made
    domain.name: domain
    for domain in (
        *(Domain(name, name, SIZES) for name in MORE),
        *(Domain(f"caltech_{count}", CALTECH, SIZES, count) for count in (2, 5, 20)),
        Domain("caltech_101", CALTECH, (1, 2, 5, 15), seeds=3),
        Domain("brodatz_20", BRODATZ, (1, 2, 5), 20, least_tested=4),
        Domain("brodatz_112", BRODATZ, (1, 2, 5), least_tested=4, seeds=3),
    )
}
UNSEEN: Mapping[str, Domain] = {  # on which none is made
    name: Domain(name, name, (1, 2, 5, 15) if name == "tiles" else SIZES) for name in UNSEEN_READERS
}
PAIRS: Mapping[str, Domain] = {  # of categories that are hard to tell apart
    f"{name}_2": Domain(f"{name}_2", name, SIZES, 2) for name in MORE
}
DOMAINS: Mapping[str, Domain] = {**BENCH, **UNSEEN, **PAIRS}


@dataclass(frozen=True, order=True)
class Place:
    """Where a cell of the bench is measured."""

    domain: str
    per_class: int
    seed: int
    even: bool = True

    @property
    def stem(self) -> str:
        """A file name."""
        return f"{self.domain}-{self.per_class}-{'even' if self.even else 'uneven'}-{self.seed}"


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from and to test on; categories are numbers from 0."""

    train: Array  # (n, d)
    codes: Indices  # (n,)
    test: Array  # (m, d)
    test_codes: Indices  # (m,)

    @property
    def n_classes(self) -> int:
        return int(self.codes.max()) + 1


def places_of(
    domains: Iterable[Domain], seeds: Sequence[int], sizes: Sequence[int], *, uneven: bool = True
) -> list[Place]:
    """All cells of some domains; a domain of many categories has fewer seeds."""
    found = []
    for domain in domains:
        for seed in seeds[: domain.seeds]:
            found += [Place(domain.name, size, seed) for size in domain.sizes if size in sizes]
            if uneven:
                found += [Place(domain.name, size, seed, False) for size in domain.uneven_sizes if size in sizes]
    return found


def draw_task(place: Place, known: LabelledVectors) -> Task:
    """The images of a cell. All sizes up to 15 share their test images."""
    domain = DOMAINS[place.domain]
    reserve = max(size for size in domain.sizes if size <= 15 or size == place.per_class)
    labels = _of_some_categories(known.labels, domain, reserve, place.seed)
    split = draw_split(
        labels.tolist(), per_class=place.per_class, test_per_class=TESTED, seed=place.seed, reserve=reserve
    )
    classes = np.unique(known.labels[split.train])
    codes, test_codes = (np.searchsorted(classes, known.labels[part]) for part in (split.train, split.test))
    kept = np.arange(len(codes)) if place.even else _uneven(codes, place)
    return Task(known.rows(split.train[kept]), codes[kept], known.rows(split.test), test_codes)


def draw_unlabelled(place: Place, known: LabelledVectors, count: int) -> Array:
    """Rows of further images of each category, of which the labels are not looked at: those that a larger even training set
    would have, so none is tested."""
    larger = replace(place, per_class=place.per_class + count)
    domain = DOMAINS[place.domain]
    reserve = max(size for size in domain.sizes if size <= 15 or size == place.per_class)
    labels = _of_some_categories(known.labels, domain, reserve, place.seed)
    numbers = {"per_class": larger.per_class, "test_per_class": TESTED, "seed": place.seed, "reserve": reserve}
    train = draw_split(labels.tolist(), **numbers).train
    return known.rows(train[place.per_class * len(np.unique(known.labels[train])) :])


def _of_some_categories(labels: Strings, domain: Domain, reserve: int, seed: int) -> Strings:
    """The labels of the categories of a draw; None for all others, and for categories with too few images."""
    names, counts = np.unique(labels, return_counts=True)
    enough = names[counts >= reserve + domain.least_tested]
    chosen = np.random.default_rng(seed).permutation(enough)[: domain.categories]
    return np.where(np.isin(labels, chosen), labels.astype(object), None)


def _uneven(codes: Indices, place: Place) -> Indices:
    """The first images of each category, as many as are wanted."""
    n_classes = int(codes.max()) + 1
    shares = np.geomspace(1.0, 1.0 / SMALLEST_SHARE, n_classes)
    counts = np.rint(place.per_class * shares).astype(int)[np.random.default_rng(place.seed).permutation(n_classes)]
    turns = np.arange(len(codes)) // n_classes  # the first of every category, then the second of every category
    return np.flatnonzero(turns < counts[codes])

"""Channel `windows`: words counted in windows of the image, each window compared by itself. [Gehler2009, sections 4 and 5]"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.checks import check_choice, check_integer, check_number, shown
from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, LocalFeatures, Recipe, State
from fewsight._compiled import chi_square
from fewsight._compiled.box_counts import box_counts
from fewsight.channels.dense import DenseSiftChannel
from fewsight.channels.option_fields import option
from fewsight.channels.word_memory import LocalWords, Recent, WordMemory
from fewsight.encodings import (
    Box,
    Codebook,
    Projection,
    check_boxes,
    draw_box,
    kmeans_codebook,
    principal_components,
    random_codebook,
)
from fewsight.images import FeatureCache, Image
from fewsight.images.hashing import hash_of
from fewsight.kernels import BlockChiSquare

METHODS = ("kmeans", "random")
ASSIGNMENTS = ("hard", "soft")
N_NEAREST = 4  # words that share a local feature, where they do
MOST_WINDOWS = 5_000
MOST_CODEBOOK = 2**31 - 1  # the number of a codebook is a seed
MOST_ROWS = 500  # training images that the scales are learned from, about
SOFT_SAMPLE = 5_000  # descriptors that say how far a word reaches
LEAST_DISTANCE, MOST_DISTANCE = 1e-9, 2.0  # histograms that sum to one are no farther apart than 2

_MEMORY = WordMemory()
_CHECKED: deque[tuple[Any, tuple[Box, ...]]] = deque(maxlen=8)  # layouts that were given, and what they are
_POOLS: Recent[tuple[Projection | None, npt.NDArray[Any]]] = Recent(2)
_BOOKS: Recent[tuple[Codebook, float]] = Recent(300)


@functools.lru_cache(maxsize=8)
def _drawn(random_state: int, n_boxes: int) -> tuple[Box, ...]:
    rng = np.random.default_rng([random_state, 5])
    return tuple(draw_box(rng) for _ in range(n_boxes))


JoinedWords: TypeAlias = tuple[Indices, npt.NDArray[np.float32], npt.NDArray[np.uint16], Array]


@final
class WindowRows:
    """Rows (n, n_words) of images in one window after the other, counted when they are asked for by the window's number."""

    def __init__(self, boxes: Sequence[Box], words: Sequence[JoinedWords], n_words: int) -> None:
        self._boxes, self._words, self._n_words = boxes, words, n_words

    def __len__(self) -> int:
        return len(self._boxes)

    def __getitem__(self, number: int) -> scipy.sparse.csr_array:
        box = np.array([self._boxes[number]], np.float32)
        return scipy.sparse.csr_array(_shares(box_counts(*self._words[number], box, self._n_words)[:, 0]))


class Windows(DenseSiftChannel):
    """Which small structures stand in which part of the image: dense SIFT words in windows, each compared by chi-square.

    k = sum of weight x exp(-chi-square of the words in the window / the median of it over pairs of training images). The windows,
    the codebook of each and the weights may have been chosen by a learner: see docs/mkl.md.
    """

    name: ClassVar[str] = "windows"

    boxes: tuple[Box, ...] | None = option(
        default=None,
        doc="the windows: left, top, right and bottom of each, as shares of the image; None to draw n_boxes at random.",
    )
    n_boxes: int = option(default=50, doc="windows that are drawn where boxes are not given.")
    codebooks: tuple[int, ...] = option(
        default=(0,), doc="the number of the codebook of each window, or one for all; each number is another codebook."
    )
    weights: tuple[float, ...] | None = option(default=None, doc="how much each window counts; None for all the same.")
    n_words: int = option(default=300, doc="words of a codebook.")
    method: str = option(
        default="kmeans",
        doc='"kmeans" for words that are centres of clusters, "random" for descriptors drawn at random.',
    )
    assignment: str = option(
        default="hard",
        doc='"hard" counts the nearest word of a local feature, "soft" shares it among the four nearest.',
    )
    n_components: int = option(
        default=0, doc="principal components of the descriptors that are compared; 0 for the descriptors as they are."
    )

    # What was asked for, checked.

    @property
    def layout(self) -> tuple[Box, ...]:
        """The windows, checked or drawn once for many images."""
        if self.boxes is None:
            return _drawn(self.random_state, check_integer(self, "n_boxes", self.n_boxes, least=1, most=MOST_WINDOWS))
        known = next((checked for given, checked in _CHECKED if given is self.boxes), None)
        if known is not None:
            return known
        checked = check_boxes(self, self.boxes)
        if isinstance(self.boxes, tuple) and all(isinstance(box, tuple) for box in self.boxes):  # nobody can change it
            _CHECKED.append((self.boxes, checked))
        return checked

    @property
    def shares(self) -> Array:
        """How much each window counts, (n_windows,); they add up to 1."""
        count = len(self.layout)
        if self.weights is None:
            return np.full(count, 1.0 / count)
        if not isinstance(self.weights, (tuple, list)) or len(self.weights) != count:
            raise InvalidInput(
                f"Windows: weights must be None or {count} numbers, one for each window, got {shown(self.weights)}."
            )
        weights = np.array(
            [check_number(self, "each of the weights", weight, least=0, most=1e100) for weight in self.weights]
        )
        if not weights.any():
            raise InvalidInput(f"Windows: one or more of the weights must be above 0, got {shown(self.weights)}.")
        return np.asarray(weights / weights.sum())

    @property
    def _numbers(self) -> tuple[int, ...]:
        """The number of the codebook of each window."""
        count, given = len(self.layout), self.codebooks
        if not isinstance(given, (tuple, list)) or len(given) not in (1, count):
            raise InvalidInput(
                f"Windows: codebooks must be one number, or {count}, one for each window, got {shown(given)}."
            )
        checked = [check_integer(self, "each of the codebooks", one, least=0, most=MOST_CODEBOOK) for one in given]
        return tuple(checked * count if len(checked) == 1 else checked)

    @property
    def _different(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(self._numbers))

    def _pool_recipe(self) -> Recipe:
        return {
            "kind": "descriptor_pool",
            "version": 1,
            "n_descriptors": check_integer(self, "n_descriptors", self.n_descriptors, least=1),
            "n_components": check_integer(self, "n_components", self.n_components, least=0, most=128),
            "random_state": self.random_state,
        }

    def _book_recipe(self) -> Recipe:
        return {
            **self._pool_recipe(),
            "n_words": check_integer(self, "n_words", self.n_words, least=1, most=50_000),
            "method": check_choice(self, "method", self.method, METHODS),
        }

    def _learn_recipe(self) -> Recipe:
        if len(self.layout) > MOST_WINDOWS:
            raise InvalidInput(f"Windows: there must be at most {MOST_WINDOWS:,} boxes, got {len(self.layout):,}.")
        book = self._book_recipe()
        if len(self.layout) * self.n_words > np.iinfo(np.int32).max:
            raise InvalidInput(f"Windows: n_words times windows must be below 2^31, got {self.n_columns:,}.")
        _ = self.shares
        return {
            **book,
            "kind": "windows",
            "assignment": check_choice(self, "assignment", self.assignment, ASSIGNMENTS),
            "boxes": [list(box) for box in self.layout],
            "codebooks": list(self._numbers),
            "most": MOST_ROWS,
        }

    # What is learned: the codebooks, and how far apart the words of two images usually are in each window.

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return features.descriptors[self._drawn(len(features), n_images, rng)]

    def _learned_from(self, images: list[Image], groups: Indices | None) -> State:
        hashes = "".join(image.content_hash for image in images)
        key = FeatureCache.key_of("pool", self._feature_recipe(), self._pool_recipe(), hashes)

        def pool() -> tuple[Projection | None, npt.NDArray[Any]]:
            samples = self._map(self._sampled(len(images)), list(enumerate(images)), "local features")
            return self._projected(np.concatenate(samples))

        projection, points = _POOLS.get(key, pool)
        state = self._books(projection, points, key)
        self._take_books(state)
        return State(state.header, {**state.arrays, "distances": self._medians(images)})

    def _sampled(self, n_images: int) -> Any:
        def sample(numbered: tuple[int, Image]) -> np.ndarray:
            position, image = numbered
            rng = np.random.default_rng([self.random_state, position])
            return self._sample(self._features_of(image), n_images, rng)

        return sample

    def _learn(self, samples: list[np.ndarray]) -> State:
        """Codebooks, with distances that are as far as they can be: `_learned_from` knows the images, and learns them."""
        projection, points = self._projected(np.concatenate(samples))
        state = self._books(projection, points, hash_of(points.tobytes()))
        return State(state.header, {**state.arrays, "distances": np.full(len(self.layout), MOST_DISTANCE)})

    def _projected(self, descriptors: npt.NDArray[Any]) -> tuple[Projection | None, npt.NDArray[Any]]:
        if not self.n_components:
            return None, descriptors
        found = principal_components(descriptors, self.n_components, position=0.0, whiten=False)
        return found, (descriptors.astype(np.float32) - found.mean) @ found.components

    def _books(self, projection: Projection | None, points: npt.NDArray[Any], key: str) -> State:
        state = State({"n_codebooks": len(self._different)}, {})
        softness = []
        for position, number in enumerate(self._different):
            book, reach = _BOOKS.get(
                FeatureCache.key_of("codebook", key, {**self._book_recipe(), "number": number}),
                lambda number=number: self._made(points, number),  # type: ignore[misc]
            )
            state = state.join(f"codebook{position}", book.state())
            softness.append(reach)
        state = State(state.header, {**state.arrays, "softness": np.array(softness)})
        return state if projection is None else state.join("projection", projection.state())

    def _made(self, points: npt.NDArray[Any], number: int) -> tuple[Codebook, float]:
        """One codebook, and the mean squared distance of a descriptor to its word."""
        rng = np.random.default_rng([self.random_state, number])
        if self.method == "random":
            book = random_codebook(points, self.n_words, rng)
        else:
            book = kmeans_codebook(
                points, self.n_words, random_state=int(rng.integers(2**31)) if number else self.random_state
            )
        _, squares = book.nearest(points[rng.permutation(len(points))[:SOFT_SAMPLE]], 1)
        return book, max(float(squares.mean(dtype=np.float64)), 1e-6)

    def _medians(self, images: Sequence[Image]) -> Array:
        """The median chi-square distance of two training images, for each window."""
        rng = np.random.default_rng([self.random_state, 7])
        rows = self._rows([images[place] for place in np.sort(rng.permutation(len(images))[:MOST_ROWS])])
        return np.array([_median_distance(rows[number]) for number in range(len(rows))])

    def _set_learned(self, state: State) -> None:
        self._take_books(state)
        count = len(self.layout)
        self.distances_ = state.array("distances", (count,), np.float64, least=LEAST_DISTANCE, most=MOST_DISTANCE)
        self.learned_ = state

    def _take_books(self, state: State) -> None:
        count = len(self._different)
        if state.integer("n_codebooks", least=1, most=MOST_WINDOWS) != count:
            raise InvalidInput(f"Windows: there must be {count} codebooks.")
        self.projection_ = Projection.from_state(state.nested("projection")) if self.n_components else None
        books = [Codebook.from_state(state.nested(f"codebook{position}")) for position in range(count)]
        width = self._descriptor.width if self.projection_ is None else self.projection_.components.shape[1]
        if self.projection_ is not None and len(self.projection_.mean) != self._descriptor.width:
            raise InvalidInput(f"Windows: components of SIFT have {self._descriptor.width} rows.")
        for book in books:
            if book.words.shape[1] != width or book.n_words > self.n_words:
                raise InvalidInput(
                    f"Windows: a codebook must have at most {self.n_words} words of {width} numbers, got {book.words.shape}."
                )
        self.books_ = dict(zip(self._different, books, strict=True))
        softness = state.array("softness", (count,), np.float64, above=0.0, most=1e12)
        self.softness_ = dict(zip(self._different, softness.tolist(), strict=True))

    # One image.

    @property
    def kernel(self) -> BlockChiSquare:
        self._check_fitted()
        return BlockChiSquare(self.n_words, tuple((1.0 / self.distances_).tolist()), tuple(self.shares.tolist()))

    @property
    def n_columns(self) -> int:
        return len(self.layout) * self.n_words

    def _encode_recipe(self) -> Recipe:
        digests = [self.books_[number].digest for number in self._numbers]
        soft = [self.softness_[number] for number in self._numbers] if self.assignment == "soft" else None
        projection = None if self.projection_ is None else self.projection_.digest
        return {
            "kind": "windows",
            "version": 1,
            "boxes": [list(box) for box in self.layout],
            "codebooks": digests,
            "softness": soft,
            "projection": projection,
        }

    def _encoding_of(self, image: Image, *, keep_features: bool = True) -> Entry:
        """From words in memory where they are; a row is quick to make of them, and there may be thousands of windows to try."""
        return self._counted(*self._places_and_words(image, keep_features=keep_features))

    def _places_and_words(
        self, image: Image, *, keep_features: bool = True
    ) -> tuple[npt.NDArray[np.float32], dict[int, LocalWords]]:
        """Where the local features of an image are, and their words by each codebook."""
        key = self._features_key(image)
        features = _MEMORY.features(key, lambda: self._features_of(image, keep=keep_features))
        return features.locations, {number: self._words_of(image, key, number) for number in self._different}

    def _words_of(self, image: Image, key: str, number: int) -> LocalWords:
        name = f"{self.books_[number].digest} {self.assignment} {self.softness_[number] if self.assignment == 'soft' else ''}"
        if self.projection_ is not None:
            name += self.projection_.digest
        return _MEMORY.words(
            key, name, lambda: self._features_of(image), lambda features: self._assigned(features, number)
        )

    def _encode(self, features: LocalFeatures) -> Entry:
        words = {number: self._assigned(features, number) for number in self._different}
        return self._counted(features.locations, words)

    def _assigned(self, features: LocalFeatures, number: int) -> LocalWords:
        book = self.books_[number]
        points = features.descriptors if self.projection_ is None else self.projection_.points(features)
        if self.assignment == "hard":
            return LocalWords(_narrow(book.assign(points)[:, None], book.n_words), None)
        words, squares = book.nearest(points, N_NEAREST)
        closeness = np.exp(-(squares - squares[:, :1]) / self.softness_[number])
        return LocalWords(_narrow(words, book.n_words), closeness / closeness.sum(axis=1, keepdims=True))

    def _counted(self, locations: npt.NDArray[np.float32], words: dict[int, LocalWords]) -> Entry:
        """Of each window a histogram that sums to one, or is empty where nothing lies in it."""
        layout, numbers = np.array(self.layout, np.float32), np.array(self._numbers)
        counts = np.empty((len(layout), self.n_words))
        for number, theirs in words.items():
            users = numbers == number
            counts[users] = box_counts(*_joined([locations], [theirs]), layout[users], self.n_words)[0]
        shares = _shares(counts).ravel()
        columns = np.flatnonzero(shares)
        return SparseRows.entry(columns, shares[columns])

    def window_rows(self, images: Sequence[Image]) -> WindowRows:
        """The rows of each window by itself: those of a thousand windows of many images would fill the memory together.

        Parameters
        ----------
        images : paths, or arrays (height, width) or (height, width, 3).
        """
        self._check_fitted()
        return self._rows(images)

    def _rows(self, images: Sequence[Image]) -> WindowRows:
        places = self._map(self._places_and_words, list(images), "words")
        locations = [where for where, _ in places]
        joined = {number: _joined(locations, [words[number] for _, words in places]) for number in self._different}
        return WindowRows(self.layout, [joined[number] for number in self._numbers], self.n_words)

    def is_encoded(self, image: Image) -> bool:
        """Whether the cache has the local features of an image, of which an encoding is quickly made."""
        self._check_fitted()
        return self._kept is not None and self._features_key(image) in self._kept

    # What was chosen.

    def parts(self) -> list[Self]:
        """A channel for each window, unfitted: what a learner of weights takes, `MKLClassifier(Windows(n_boxes=100).parts())`."""
        layout = zip(self.layout, self._numbers, strict=True)
        made = [type(self)(**_common(self), boxes=(box,), codebooks=(number,)) for box, number in layout]
        return [channel.set_workplace(cache=self.cache, n_jobs=self.n_jobs) for channel in made]

    @classmethod
    def of(cls, channels: Sequence[Windows], weights: Sequence[float]) -> Self:
        """One channel of the windows of several, whose weights these are: what a learner chose, as one channel like any other.

        Parameters
        ----------
        channels : channels that differ in windows, codebooks and weights only.
        weights : how much each of them counts; those that count nothing are left out.
        """
        if not channels or len(channels) != len(weights) or not all(isinstance(each, Windows) for each in channels):
            raise InvalidInput("Windows: of needs one or more windows channels and a weight for each.")
        options = [_common(channel) for channel in channels]
        if any(other != options[0] for other in options):
            raise InvalidInput(
                "Windows: the channels must not differ in other options than windows, codebooks and weights."
            )
        parts: dict[tuple[Box, int], float] = {}
        for channel, weight in zip(channels, weights, strict=True):
            for box, number, share in zip(channel.layout, channel._numbers, channel.shares, strict=True):
                parts[box, number] = parts.get((box, number), 0.0) + float(weight) * float(share)
        kept = {part: weight for part, weight in parts.items() if weight > 0}
        if not kept:
            raise InvalidInput(f"Windows: one or more of the weights must be above 0, got {shown(list(weights))}.")
        boxes, numbers = zip(*kept, strict=True)
        made = cls(**options[0], boxes=boxes, codebooks=numbers, weights=tuple(kept.values()))
        return made.set_workplace(cache=channels[0].cache, n_jobs=channels[0].n_jobs)


def _common(channel: Windows) -> dict[str, Any]:
    """The options in which channels must agree that become one."""
    own = ("boxes", "n_boxes", "codebooks", "weights", "cache", "n_jobs")
    return {name: value for name, value in channel.get_params(deep=False).items() if name not in own}


def _joined(locations: Sequence[npt.NDArray[np.float32]], words: Sequence[LocalWords]) -> JoinedWords:
    """Words of images one after the other, as `box_counts` takes them: where each image begins, locations, words and shares."""
    starts = np.cumsum([0, *(len(each) for each in locations)])
    shares = [np.ones(each.words.shape) if each.shares is None else each.shares.astype(np.float64) for each in words]
    numbers = [each.words.astype(np.uint16) for each in words]
    return starts, np.concatenate(locations), np.concatenate(numbers), np.concatenate(shares)


def _shares(counts: Array) -> Array:
    """Rows that sum to one, or stay empty."""
    return np.asarray(counts / np.maximum(counts.sum(axis=-1, keepdims=True), np.finfo(float).tiny))


def _narrow(words: npt.NDArray[np.intp], n_words: int) -> npt.NDArray[Any]:
    return words.astype(np.uint8 if n_words <= 256 else np.uint16)


def _median_distance(rows: Any) -> float:
    """The median chi-square distance of two different rows; 1 where there are no two, or most are alike."""
    n = rows.shape[0]
    distances = chi_square.distances(rows)[np.triu_indices(n, 1)]
    median = float(np.median(distances)) if n > 1 else 0.0
    return median if median > LEAST_DISTANCE else 1.0

"""What every channel offers, and the one place where per-image work meets the cache and the processors."""

from __future__ import annotations

import contextlib
import copy
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import cv2
import numpy as np
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_limits

from fewsight._base.checks import check_integer, shown
from fewsight._base.encodings import Encodings, Entry, SparseRows
from fewsight._base.errors import InvalidInput, NotFitted, UnreadableImage
from fewsight._base.none_of_these import is_none_of_these
from fewsight._base.parallel import map_pieces
from fewsight._base.types import Array, Indices, LabelsLike, LocalFeatures, Recipe, State
from fewsight.channels.option_fields import Options, option
from fewsight.images import FeatureCache, Image, ImageArray, as_image
from fewsight.kernels import Kernel
from fewsight.kernels.against import Against

ROUNDING = 1e-13  # of sums over thousands of columns, relative
LARGEST_SEED = 2**32 - 1  # that scikit-learn takes
WORKPLACE = ("cache", "n_jobs")  # options that change where and how fast, never what comes out
Piece = TypeVar("Piece")
Result = TypeVar("Result")


class Channel(Options, BaseEstimator, ABC):
    """A named recipe: which local features, how they become an encoding, which kernel compares encodings.

    Subclasses state their options (`channels/option_fields.py`), and know how to describe one image (`_describe`), what to keep
    of it for learning (`_sample`), how to learn from that (`_learn`) and how to encode one image (`_encode`). What was learned
    lives in `learned_`. A channel that learns from labels as well says so (`_uses_labels`) and knows how (`_learn_labelled`).
    Its encodings are rows of numbers, most of them zero, unless it names another kind (`encodings`).
    """

    name: ClassVar[str]
    # What `encode` returns, and `kernel` compares.
    encodings: ClassVar[type[Encodings]] = SparseRows
    # Parts of the local features ("scales", "strengths", "aspect") that it cannot do without: where a cache that an older
    # version filled does not hold them, they are computed anew.
    required_features: ClassVar[tuple[str, ...]] = ()
    # Options that say where a file is that the channel needs; it may lie elsewhere when a model file is opened.
    places: ClassVar[tuple[str, ...]] = ()
    # Whether what it sees was learned from many other images, or brought by the user; see `prior_shares`.
    informed: ClassVar[bool] = False
    # Whether `fit` is to be given all images there are, those without a label too; see `fit_channel`.
    learns_from_unlabelled: ClassVar[bool] = False

    # How many numbers an encoding of a photograph has that are not zero, about, with the options that it has unless told
    # otherwise: memory is estimated by it before any image is read.
    typical_numbers: ClassVar[int] = 1_000

    random_state: int = option(default=0, doc="seed of all that is drawn at random.")
    cache: FeatureCache | None = option(default=None, doc="a FeatureCache, or None to compute everything anew.")
    n_jobs: int | None = option(default=None, doc="images described at the same time, as in joblib.")

    # What a channel must say.

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Compares two encodings."""

    @abstractmethod
    def _feature_recipe(self) -> Recipe:
        """All that decides what `_describe` returns."""

    @abstractmethod
    def _describe(self, image: Image) -> LocalFeatures:
        """The local features of one image."""

    @abstractmethod
    def _learn_recipe(self) -> Recipe:
        """All that decides what `_learn` returns, beside the training images."""

    @abstractmethod
    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        """What one of `n_images` training images contributes to `_learn`: small, so that all of them fit in memory."""

    @abstractmethod
    def _learn(self, samples: list[np.ndarray]) -> State:
        """What the encoding needs to know (a codebook, say), from the training images' samples."""

    @property
    def _uses_labels(self) -> bool:
        """Whether what is learned depends on the labels of the training images."""
        return False

    def _learn_labelled(self, samples: list[np.ndarray], groups: Indices) -> State:
        """As `_learn`, for a channel that uses labels: `groups` numbers the class of each image, -1 if it has none."""
        return self._learn(samples)

    @abstractmethod
    def _encode_recipe(self) -> Recipe:
        """All that decides what `_encode` returns, beside the local features; includes a digest of `learned_`."""

    @abstractmethod
    def _encode(self, features: LocalFeatures) -> Entry:
        """The encoding of one image, as `encodings.entry` gives it: of sparse rows, its ascending columns and their values."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """How many numbers a row has; of sets of descriptors, a descriptor."""

    @abstractmethod
    def _set_learned(self, state: State) -> None:
        """Take back what `_learn` returned, checking it: it may come from a file."""

    @property
    def _descriptor_width(self) -> int | None:
        """How many numbers a descriptor has, where that is known before any image is described."""
        return None

    @classmethod
    def missing(cls) -> str | None:
        """What must be installed before this channel can be used, and how; None if nothing."""
        return None

    def remarks(self, images: Sequence[Any]) -> list[str]:
        """What a person should know about how the channel takes these images: sentences.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.
        """
        return []

    def check(self) -> None:
        """Raise if an option, or a file that one of them names, is not what it must be."""
        self._check_options()

    @property
    def _kept(self) -> FeatureCache | None:
        """Where results are kept."""
        return self.cache

    # What a channel offers.

    def fit(self, images: Sequence[Any], labels: LabelsLike | None = None) -> Self:
        """Learn what the encoding needs from the training images. The labels are for channels that use them.

        One label per image: strings, integers or booleans; None is an image without.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects. At least one.
        labels : a label for each image, None where there is none; or None for no labels at all.
        """
        images = as_images(images)
        if not images:
            raise InvalidInput(f"{type(self).__name__}: fit needs at least one image, got none.")
        self._check_options()
        groups = self._groups(labels, len(images)) if self._uses_labels and labels is not None else None
        cache = self._kept
        if cache is None:
            self._set_learned(self._learned_from(images, groups))
            return self
        key = self._learned_key(images, groups)
        if cache.read(key, self._took) is None:
            state = self._learned_from(images, groups)
            cache.put(key, state)
            self._set_learned(state)
        return self

    def prepare(self, images: Sequence[Any]) -> list[UnreadableImage]:
        """Compute and cache the local features; return what could not be read instead of failing on it.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.
        """
        self._check_options()

        def attempt(image: Image) -> UnreadableImage | None:
            try:
                if self._kept is None or self._features_key(image) not in self._kept:
                    self._features_of(image)
            except UnreadableImage as error:
                return error
            return None

        return [error for error in self._map(attempt, as_images(images), "local features") if error is not None]

    def local_features(self, images: Sequence[Any]) -> list[LocalFeatures]:
        """Descriptors at locations, image by image.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.

        Returns
        -------
        list of LocalFeatures
            For each image descriptors (k, d) at locations (k, 2), which are fractions of width and height; k and d are
            the channel's.
        """
        return self._map(self._features_of, as_images(images), "local features")

    def encode(self, images: Sequence[Any], *, keep_features: bool = True) -> Encodings:
        """The encodings of the images, in their order, ready for `gram`.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.
        keep_features : whether the cache keeps the local features too, which take some ten times as much room: another codebook
            or another fit would need them.

        Returns
        -------
        Encodings
            A row for each image, `shape` (n, n_columns); `.matrix` is the matrix inside.
        """
        self._check_fitted()
        encoding = partial(self._encoding_of, keep_features=keep_features)
        entries = self._map(encoding, as_images(images), "encodings")
        return self.encodings.stack(entries, self.n_columns)

    def is_described(self, image: Image) -> bool:
        """Whether the cache has the local features of an image; an image that cannot be read has none.

        Parameters
        ----------
        image : one that may have been described with these options, in this process or another.
        """
        try:
            return self._kept is not None and self._features_key(image) in self._kept
        except (UnreadableImage, OSError):
            return False

    def is_encoded(self, image: Image) -> bool:
        """Whether the cache has the encoding of an image.

        Parameters
        ----------
        image : one that may have been encoded by this fitted channel, in this process or another.
        """
        self._check_fitted()
        return self._kept is not None and self._encoding_key(image) in self._kept

    def gram(self, A: Encodings, B: Encodings | None = None) -> Array:
        """Kernel values between encodings; of A with itself if B is None.

        Parameters
        ----------
        A : encodings of n images.
        B : encodings of m images, or None for A itself.

        Returns
        -------
        array (n, m)
            (n, n) and exactly symmetric where B is None.
        """
        return self.kernel.gram(A, B)

    def against(self, B: Encodings, *, single: bool = False) -> Against:
        """Encodings made ready once, for many comparisons of a few others with all of them.

        Parameters
        ----------
        B : encodings of m images.
        single : whether they may be rounded to single precision, where that saves time and values stay within about 1e-6.
        """
        return self.kernel.against(B, single=single)

    def diag(self, A: Encodings) -> Array:
        """Kernel values of each encoding with itself.

        Parameters
        ----------
        A : encodings of n images.

        Returns
        -------
        array (n,)
            Values >= 0.
        """
        return self.kernel.diag(A)

    def distances(self, A: Encodings, B: Encodings) -> Array:
        """Distances in the space that the kernel spans; what rounding leaves of zero is zero.

        Parameters
        ----------
        A : encodings of n images.
        B : encodings of m images.

        Returns
        -------
        array (n, m)
            Distances >= 0.
        """
        squares = self.diag(A)[:, None] + self.diag(B)[None, :]
        squared = squares - 2 * self.gram(A, B)
        return np.sqrt(np.where(squared > ROUNDING * squares, squared, 0.0))

    def state(self) -> State:
        """Options and what was learned, for the model file."""
        self._check_fitted()
        params = {key: value for key, value in self.get_params(deep=False).items() if key not in WORKPLACE}
        options = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in params.items()}
        return State({"name": self.name, "options": options}, {}).join("learned", self.learned_)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The fitted channel that `state` described.

        Parameters
        ----------
        state : what `state` returned; it may come from a file, and is checked.
        """
        stored: dict[str, Any] = state.header["options"]
        options: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()
        }
        channel = cls(**options)
        channel._set_learned(state.nested("learned"))
        channel._try_out()
        return channel

    def _try_out(self) -> None:
        """What came from a file, and may have been edited, fits together: one small image goes all the way."""
        self._check_options()
        squares = (np.indices((32, 32)) // 8).sum(axis=0) % 2  # whose corners are found by those that look for some
        self._encode(self._features_of(ImageArray((200 * squares).astype(np.uint8))))

    def set_workplace(self, *, cache: FeatureCache | None, n_jobs: int | None) -> Self:
        """Work with this cache and this many jobs from now on; nothing that comes out changes by it.

        Parameters
        ----------
        cache : a FeatureCache, or None to keep nothing.
        n_jobs : images described at the same time, as in joblib; None for one.
        """
        self.cache, self.n_jobs = cache, n_jobs
        return self

    def __sklearn_clone__(self) -> Self:
        """An unfitted channel like this one, with the same cache: it keeps account of the size of its folder."""
        options = copy.deepcopy({key: value for key, value in self.get_params(deep=False).items() if key != "cache"})
        return type(self)(**options, cache=self.cache)

    # One image at a time, through the cache.

    def _features_of(self, image: Image, *, keep: bool = True) -> LocalFeatures:
        if self._kept is None:
            return self._describe(image)
        key = self._features_key(image)
        kept = self._kept.read(key, self._features_from)
        if kept is not None and all(getattr(kept, part) is not None for part in self.required_features):
            return kept
        features = self._describe(image)
        if keep:
            self._kept.put(key, features.state())
        return features

    def _features_from(self, state: State) -> LocalFeatures:
        return LocalFeatures.from_state(state, self._descriptor_width)

    def _features_key(self, image: Image) -> str:
        return FeatureCache.key_of("local features", image.content_hash, self._feature_recipe())

    def _encoding_of(self, image: Image, *, keep_features: bool = True) -> Entry:
        if self._kept is None:
            return self._encode(self._features_of(image))
        key = self._encoding_key(image)
        kept = self._kept.read(key, lambda state: self.encodings.kept_entry(state, self.n_columns))
        if kept is not None:
            return kept
        entry = self._encode(self._features_of(image, keep=keep_features))
        self._kept.put(key, State({}, dict(entry)))
        return entry

    def _encoding_key(self, image: Image) -> str:
        """Sparse rows, which were the only kind once, are not named in it: caches of that time are still read."""
        kind: list[Recipe] = [] if self.encodings is SparseRows else [{"encodings": self.encodings.kind}]
        recipes = self._feature_recipe(), self._encode_recipe()
        return FeatureCache.key_of("encoding", image.content_hash, *recipes, *kind)

    def _learned_key(self, images: list[Image], groups: Indices | None) -> str:
        hashes = "".join(image.content_hash for image in images)
        labelled: list[Recipe] = [] if groups is None else [{"groups": groups.tolist()}]
        return FeatureCache.key_of("learned", self._feature_recipe(), self._learn_recipe(), hashes, *labelled)

    def _took(self, state: State) -> bool:
        """Whether what was learned could be taken back."""
        self._set_learned(state)
        return True

    def _learned_from(self, images: list[Image], groups: Indices | None) -> State:
        """Each image has a random stream of its own: its sample is the same in whatever order they are done."""

        def sample(numbered: tuple[int, Image]) -> np.ndarray:
            position, image = numbered
            rng = np.random.default_rng([self.random_state, position])
            return self._sample(self._features_of(image), len(images), rng)

        samples = self._map(sample, list(enumerate(images)), "local features")
        return self._learn(samples) if groups is None else self._learn_labelled(samples, groups)

    def _map(self, function: Callable[[Piece], Result], pieces: list[Piece], what: str) -> list[Result]:
        """Images are the pieces of parallel work; inside a piece everything runs on one thread, so that neither the
        numbers nor the load depend on how many threads the numerical libraries would like to use."""
        with _one_thread():
            return map_pieces(function, pieces, n_jobs=self.n_jobs, what=f"{self.name}: {what}")

    def _check_options(self) -> None:
        """Recipes are made of checked options, so making them is the check. Comes before any image is read."""
        check_integer(self, "random_state", self.random_state, least=0, most=LARGEST_SEED)
        self._feature_recipe()
        self._learn_recipe()

    def _groups(self, labels: LabelsLike, n: int) -> Indices:
        """The number of each image's class, in the order of their first appearance; -1 where the label is None, or names none.

        What a class is called makes no difference to what is learned from it.
        """
        who = type(self).__name__
        try:
            listed = list(labels)
            listed = [None if is_none_of_these(label) else label for label in listed]
            classes = list(dict.fromkeys(label for label in listed if label is not None))
        except TypeError:
            raise InvalidInput(
                f"{who}: labels must be a list of strings, integers or None, got {shown(labels)}."
            ) from None
        if len(listed) != n:
            raise InvalidInput(f"{who}: images and labels must have the same length, got {n} and {len(listed)}.")
        numbers = {None: -1, **{label: number for number, label in enumerate(classes)}}
        return np.array([numbers[label] for label in listed], dtype=np.intp)

    def _check_fitted(self) -> None:
        if not hasattr(self, "learned_"):
            raise NotFitted(f"{type(self).__name__}: call fit with training images before encoding any.")


def fit_channel(channel: Channel, images: Sequence[Any], labels: LabelsLike, positions: Indices) -> Channel:
    """Fit a channel on the images at these positions, whose labels these are.

    A channel that learns from unlabelled images is given the others as well, with None for a label.
    """
    if not channel.learns_from_unlabelled:
        return channel.fit([images[position] for position in positions], labels)
    known = dict(zip(positions.tolist(), labels, strict=True))
    return channel.fit(images, [known.get(position) for position in range(len(images))])


def check_images(images: object) -> None:
    """Refuse what is no list of images: one image, one path, nothing."""
    one = isinstance(images, (str, bytes, os.PathLike, Image)) or not hasattr(images, "__len__")
    if one or (isinstance(images, np.ndarray) and images.ndim == 3 and images.shape[-1] in (3, 4)):
        raise InvalidInput(
            f"images: must be a list of paths, arrays or Image objects, got {shown(images)}; put one image into a list, and "
            "name the images of a folder one by one."
        )


def as_images(images: Sequence[Any]) -> list[Image]:
    """Paths, arrays or Image objects, as Image objects."""
    check_images(images)
    return [as_image(image) for image in images]


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        cv2.setNumThreads(threads)

"""What the channels on one vector per image share: how vectors are compared, and how wide the Gaussian is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from fewsight._base.checks import check_choice, check_integer, check_number, shown
from fewsight._base.encodings import Entry, SparseRows
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, Json, LocalFeatures, Recipe, State
from fewsight.channels.base import Channel
from fewsight.channels.option_fields import option
from fewsight.gp import log_evidence_and_gradients
from fewsight.images import Image
from fewsight.kernels import RBF, Kernel, Linear
from fewsight.kernels.rbf import squared_distances

COMPARISONS = ("rbf", "cosine", "linear")
MOST_ROWS = 600  # training images, of whole classes, that the scale is learned from, about
MOST_COLUMNS = 65_536
LEAST_SCALE, MOST_SCALE = 1e-9, 1e9
WIDTHS = (0.25, 0.5, 1.0, 2.0)  # squared scales to choose from, in usual ones
USUAL_WIDTH = (
    1.0  # squared scale in mean squared distances of two images, for a channel that does not know a better one
)
NATS_PER_OCTAVE = 2.0  # by which the evidence must speak for another than the usual one
NOISES = (0.02, 0.06, 0.2, 0.6)  # at the best of which a width is judged
LARGEST = 1e30  # of a number in a vector, so that its square is one too


class VectorChannel(Channel, ABC):
    """One vector per image, compared by the Gaussian kernel, the cosine of their angle or their inner product.

    Its local features are that vector, once, in the middle of the image. All that is learned is the scale of the Gaussian: of a
    few widths, the one that makes their labels most probable, where they speak clearly; without labels, or with one image per
    category, the usual one.
    """

    informed: ClassVar[bool] = True
    # Squared scale that suits vectors of unit length of this kind, as they are; None: USUAL_WIDTH.
    usual_squared_scale: ClassVar[float | None] = None

    compare: str = option(default="rbf", doc='"rbf" (a Gaussian), "cosine" or "linear" (the inner product).')
    scale: float | None = option(
        default=None, doc="of the Gaussian; None chooses it by the evidence of the training labels."
    )
    unit_length: bool = option(default=True, doc="whether the Gaussian compares vectors divided by their length.")

    @abstractmethod
    def _vector(self, image: Image) -> np.ndarray:
        """The numbers of one image, (d,)."""

    def _shaped(self, vector: Array) -> Array:
        """What is done to each number before vectors are compared: nothing, unless a channel knows better."""
        return vector

    def _source(self) -> dict[str, str]:
        """What the model file says about where the vectors come from, beside the options."""
        return {}

    def _check_source(self, source: Json) -> None:
        """Take back what `_source` returned; it may come from a file."""

    @property
    def kernel(self) -> Kernel:
        self._check_fitted()
        return RBF(self.scale_) if self._checked_compare() == "rbf" else Linear()

    @property
    def n_columns(self) -> int:
        self._check_fitted()
        return self.n_columns_

    @property
    def _descriptor_width(self) -> int | None:
        return self.n_columns_ if hasattr(self, "learned_") else None

    def _features_from(self, state: State) -> LocalFeatures:
        features = super()._features_from(state)
        if len(features) != 1:
            raise InvalidInput(f"the stored array descriptors must hold one vector, got {len(features)}.")
        return features

    def _describe(self, image: Image) -> LocalFeatures:
        vector = self._vector(image)
        if not (np.abs(vector) <= LARGEST).all():
            raise InvalidInput(f"{type(self).__name__}: vectors must hold finite numbers, got others for {image.name}.")
        return LocalFeatures(vector[None], np.full((1, 2), 0.5, np.float32))

    def vectors(self, images: Sequence[Any]) -> Array:
        """The vectors themselves, as the network or the table gives them. The channel need not be fitted.

        Parameters
        ----------
        images : n images: paths, arrays (h, w) or (h, w, 3), or `Image` objects.

        Returns
        -------
        array (n, d)
            The vectors in the order of the images, as float64; (0, 0) for no image.
        """
        self._check_options()
        rows = [features.descriptors[0] for features in self.local_features(images)]
        self._check_lengths(rows)
        return np.stack(rows).astype(np.float64) if rows else np.empty((0, 0))

    @property
    def _uses_labels(self) -> bool:
        return self._checked_compare() == "rbf" and self.scale is None

    def _learn_recipe(self) -> Recipe:
        scale = self.scale
        if scale is not None:
            scale = check_number(self, "scale", scale, least=LEAST_SCALE, most=MOST_SCALE)
        drawn = {"most": MOST_ROWS, "random_state": self.random_state}
        chosen = {"widths": WIDTHS, "noises": NOISES, "scale": scale, "usual": self._usual_width()}
        return {"kind": "vector_scale", "version": 2, **drawn, **chosen, **self._encode_recipe()}

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return self._row(features.descriptors)

    def _learn(self, samples: list[np.ndarray]) -> State:
        return self._learn_labelled(samples, np.full(len(samples), -1))

    def _learn_labelled(self, samples: list[np.ndarray], groups: Indices) -> State:
        self._check_lengths(samples)
        rng = np.random.default_rng(self.random_state)
        scale = 1.0
        if self._checked_compare() == "rbf":
            scale = self.scale or scale_by_evidence(np.stack(samples), groups, rng, self._usual_width())
        return State({"scale": float(scale), "n_columns": len(samples[0]), "source": self._source()}, {})

    def _check_lengths(self, rows: list[np.ndarray]) -> None:
        sizes = sorted({len(row) for row in rows})
        if len(sizes) > 1:
            raise InvalidInput(
                f"{type(self).__name__}: all vectors must have one length, got {sizes[0]} and {sizes[-1]}."
            )

    def _usual_width(self) -> float | None:
        return self.usual_squared_scale if self.unit_length else None

    def _set_learned(self, state: State) -> None:
        self.scale_ = check_number(self, "scale", state.header["scale"], least=LEAST_SCALE, most=MOST_SCALE)
        n_columns = state.header["n_columns"]
        self.n_columns_ = check_integer(self, "the length of a vector", n_columns, least=1, most=MOST_COLUMNS)
        self._check_source(state.header["source"])
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        if not isinstance(self.unit_length, bool):
            raise InvalidInput(
                f"{type(self).__name__}: unit_length must be True or False, got {shown(self.unit_length)}."
            )
        return {"kind": "vector", "version": 1, "compare": self._checked_compare(), "unit_length": self.unit_length}

    def _encode(self, features: LocalFeatures) -> Entry:
        row = self._row(features.descriptors)
        if len(row) != self.n_columns:
            raise InvalidInput(
                f"{type(self).__name__}: vectors must have {self.n_columns} numbers, as those of the training images, "
                f"got {len(row)}."
            )
        return SparseRows.entry(np.arange(len(row)), row)

    def _row(self, descriptors: np.ndarray) -> Array:
        """The vector as the kernel takes it. One of zeros has no direction, and stays as it is."""
        row = self._shaped(descriptors[0].astype(np.float64))
        unit = {"cosine": True, "linear": False, "rbf": self.unit_length}[self._checked_compare()]
        length = float(np.linalg.norm(row))
        return row / length if unit and length > 0 else row

    @classmethod
    def from_state(cls, state: State) -> Self:
        for place in cls.places:
            if str(state.header["options"].get(place)).startswith(("//", "\\\\")):
                raise InvalidInput(
                    f"{cls.__name__}: {place} must not be on another computer when it comes from a model file."
                )
        return super().from_state(state)

    def _try_out(self) -> None:
        """Nothing is run when a model file is opened: its network or its table may be somewhere else."""
        self._learn_recipe()

    def _checked_compare(self) -> str:
        return check_choice(self, "compare", self.compare, COMPARISONS)


def scale_by_evidence(rows: Array, groups: Indices, rng: np.random.Generator, usual: float | None = None) -> float:
    """The scale of the Gaussian kernel under which the groups of these rows are most probable; -1 is no group.

    `usual` is the squared scale that is expected; None for USUAL_WIDTH mean squared distances.
    """
    chosen = _of_whole_groups(groups, rng)
    judged = rows[chosen] if len(chosen) else rows[rng.permutation(len(rows))[:MOST_ROWS]]
    distances = squared_distances(judged, None)
    n = len(distances)
    mean = float(distances.sum()) / max(1, n * (n - 1))
    expected = USUAL_WIDTH * mean if usual is None else usual
    if not (expected > LEAST_SCALE**2 and mean > LEAST_SCALE**2):
        return 1.0 if usual is None else float(np.sqrt(usual))  # one row, or all alike
    width = _best_width(distances / expected, groups[chosen]) if len(chosen) else 1.0
    return float(np.clip(np.sqrt(width * expected), LEAST_SCALE, MOST_SCALE))


def _of_whole_groups(groups: Indices, rng: np.random.Generator) -> Indices:
    """Rows of randomly drawn groups, about MOST_ROWS in all; none if no two rows share a group.

    Whole groups, because how like each other their members are is what the scale is about.
    """
    numbers, counts = np.unique(groups[groups >= 0], return_counts=True)
    if len(numbers) < 2 or counts.max() < 2:
        return np.empty(0, np.intp)
    order = rng.permutation(len(numbers))
    enough = 1 + int(np.searchsorted(np.cumsum(counts[order]), MOST_ROWS))
    return np.flatnonzero(np.isin(groups, numbers[order[: max(2, enough)]]))


def _best_width(distances: Array, groups: Indices) -> float:
    """By the evidence for a free mean at any scale, at the best of a few noise levels, and how far it is from the usual one.

    Noise is balanced as learners balance it: groups of different sizes count the same.
    """
    targets = np.where(groups[:, None] == np.unique(groups), 1.0, -1.0)
    numbers, counts = np.unique(groups, return_inverse=True, return_counts=True)[1:]
    balance = (len(counts) * counts / counts.sum())[numbers]

    def value(width: float) -> float:
        K = np.exp(-0.5 / width * distances)
        found = (
            log_evidence_and_gradients([K], np.ones(1), targets, noise * balance, free_mean=True, any_scale=True)
            for noise in NOISES
        )
        return max(each.value for each in found) - NATS_PER_OCTAVE * abs(np.log2(width))

    return max(WIDTHS, key=value)

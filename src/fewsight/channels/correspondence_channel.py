"""Channels `geometric_blur` and `geometric_blur_distortion`: edge points matched one by one. [Kapoor2010, section 8]

exp(-gamma D) of the mean distance D between nearest points is not always positive semi-definite. So an image is a row: its
kernel values with landmarks, the images that the channel was fitted on, times U diag(l)^(-1/2), where l and U are the
eigenvalues above zero of the landmarks' Gram matrix and their eigenvectors. Rows are compared by inner product. Between landmarks
that is their Gram matrix with what is below zero left out; for all other images nothing special has to be done.

Some images are near to all others, and would be the nearest neighbour of most; some are far from all. So a distance is measured
in those that are usual around its two images: divided by the root of their mean distances to their nearest landmarks.
"""

from __future__ import annotations

import hashlib
from abc import ABC
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number
from fewsight._base.encodings import DenseRows, DescriptorSets, Encodings, Entry
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS
from fewsight._base.types import Array, LocalFeatures, Recipe, State
from fewsight.channels.option_fields import option
from fewsight.channels.pixel_channel import PixelChannel
from fewsight.features import EdgePoints, GeometricBlur
from fewsight.images import FeatureCache
from fewsight.kernels import Kernel, Linear
from fewsight.kernels.set_distances import both_distances

PER_MEAN_DISTANCE = 1.5  # gamma times the mean distance of landmarks: the best of 1, 2 and 4 is 1 or 2
LEAST_NEARNESS = 0.1  # of the mean distance of landmarks: what many copies of one image count as
LEAST_EIGENVALUE = 1e-6  # of the largest one; single precision says nothing about smaller ones
USUAL_DISTORTION = 1.0
Halves = npt.NDArray[np.float16]  # descriptors (n, 48) with x and y behind them


class CorrespondenceChannel(PixelChannel, ABC):
    """Learns landmarks, and describes an image by its kernel values with them.

    An image without edges is like others without: they share a column of their own.
    """

    encodings: ClassVar[type[Encodings]] = DenseRows
    # Whether positions count.
    distorts: ClassVar[bool]

    n_points: int = option(default=250, doc="edge points of an image, at most; the time grows with their square.")
    radius: float = option(
        default=0.22, doc="of the neighbourhood that a descriptor sees, in lengths of the longer side of the image."
    )
    gamma: float | None = option(
        default=None,
        doc="how quickly similarity falls with distance; None takes it from the mean distance of landmarks.",
    )
    neighbours: int = option(
        default=30,
        doc="nearest landmarks whose mean distance is the unit of an image's distances; 0 leaves distances as they are.",
    )
    max_landmarks: int = option(
        default=1600,
        doc="training images that all images are compared with, at most; drawn at random where there are more.",
    )

    @property
    def kernel(self) -> Kernel:
        return Linear()

    @property
    def _descriptor(self) -> GeometricBlur:
        return GeometricBlur(points=EdgePoints(n_points=self.n_points), radius=self.radius)

    @property
    def _descriptor_width(self) -> int:
        return self._descriptor.width

    @property
    def _distortion(self) -> float:
        """How much positions count, in the second of the two distances."""
        return USUAL_DISTORTION

    @property
    def _n_neighbours(self) -> int:
        return check_integer(self, "neighbours", self.neighbours, least=0, most=20_000)

    @property
    def n_columns(self) -> int:
        self._check_fitted()
        return self.projection_.shape[1] + 1

    def _learn_recipe(self) -> Recipe:
        gamma = self.gamma
        if gamma is not None:
            gamma = check_number(self, "gamma", gamma, least=1e-9, most=1e9)
        most = check_integer(self, "max_landmarks", self.max_landmarks, least=1, most=20_000)
        scaled = {"neighbours": self._n_neighbours, "least_nearness": LEAST_NEARNESS}
        chosen = {"gamma": gamma, "per_mean_distance": PER_MEAN_DISTANCE, "least_eigenvalue": LEAST_EIGENVALUE}
        drawn = {"max_landmarks": most, "random_state": self.random_state}
        compared = {"distorts": self.distorts, "distances": self._distance_recipe()}
        return {"kind": "landmarks", "version": 2, **compared, **scaled, **chosen, **drawn}

    def _distance_recipe(self) -> Recipe:
        return {"kind": "correspondence", "version": 1, "distortion": self._distortion}

    def _sample(self, features: LocalFeatures, n_images: int, rng: np.random.Generator) -> np.ndarray:
        return _halves(features)

    def _learn(self, samples: list[np.ndarray]) -> State:
        found = [position for position, sample in enumerate(samples) if len(sample)]
        if len(found) > self.max_landmarks:
            drawn = np.random.default_rng(self.random_state).permutation(found)[: self.max_landmarks]
            found = sorted(drawn.tolist())
        landmarks = [samples[position] for position in found]
        points = np.concatenate([np.empty((0, self._descriptor_width + 2), np.float16), *landmarks])
        counts = np.array([len(each) for each in landmarks], np.int64)
        D = self._distances(_sets(landmarks, self._descriptor_width), _digest(points, counts), None)
        near = self._nearness(D + np.diag(np.full(len(D), np.inf)), LEAST_NEARNESS * _mean_distance(D))
        scaled = D / np.sqrt(np.outer(near, near))
        gamma = self.gamma or _usual_gamma(scaled)
        projection = _projection(np.exp(-gamma * scaled)).astype(np.float32)
        arrays = {"landmarks": points, "counts": counts, "nearness": near, "projection": projection}
        return State({"gamma": gamma, "least_nearness": LEAST_NEARNESS * _mean_distance(D)}, arrays)

    def _nearness(self, D: Array, least: float) -> Array:
        """The mean distance of each row to its nearest landmarks; 1 where distances are not to be divided."""
        count = min(self._n_neighbours, D.shape[1] - 1)
        if count < 1 or least <= 0:
            return np.ones(len(D))
        nearest = np.partition(D, count - 1, axis=1)[:, :count]
        return np.maximum(nearest.mean(axis=1), least)

    def _set_learned(self, state: State) -> None:
        points = state.array("landmarks", (None, self._descriptor_width + 2), np.float16)
        counts = state.array("counts", (None,), INTEGERS, least=1)
        projection = state.array("projection", (len(counts), None), np.float32)
        if counts.sum() != len(points) or projection.shape[1] > len(counts):
            raise InvalidInput(
                f"{type(self).__name__}: landmarks must have {int(counts.sum())} points and at most {len(counts)} columns, "
                f"got {len(points)} and {projection.shape[1]}."
            )
        self.gamma_ = state.number("gamma", least=1e-9, most=1e12)
        self.nearness_ = state.array("nearness", (len(counts),), np.float64, least=np.finfo(np.float64).tiny)
        self._least_nearness = state.number("least_nearness", least=0, most=1e12)
        ends = np.cumsum(counts)
        landmarks = [points[end - count : end] for end, count in zip(ends, counts, strict=True)]
        self.landmarks_ = _sets(landmarks, self._descriptor_width)
        self.projection_ = projection.astype(np.float64)
        squares = np.maximum((self.projection_**2).sum(axis=0), np.finfo(np.float64).tiny)
        rows = self.projection_ / squares  # U diag(l)^(1/2)
        self._landmark_rows = {_digest(each): row for each, row in zip(landmarks, rows, strict=True)}
        self._landmarks_digest = _digest(points, counts)
        self._projection_digest = _digest(projection)
        self.learned_ = state

    def _encode_recipe(self) -> Recipe:
        learned = {"gamma": self.gamma_, "landmarks": self._landmarks_digest, "projection": self._projection_digest}
        compared = {"distorts": self.distorts, "distances": self._distance_recipe()}
        scaled = {"neighbours": self._n_neighbours, "least_nearness": self._least_nearness}
        return {"kind": "landmark_row", "version": 2, **compared, **scaled, **learned}

    def _encode(self, features: LocalFeatures) -> Entry:
        """A landmark's row is known: no pair of training images is compared again."""
        points = _halves(features)
        row = np.zeros(self.n_columns)
        if not len(points):
            row[-1] = 1.0
            return DenseRows.entry(row)
        known = self._landmark_rows.get(_digest(points))
        if known is None:
            D = self._distances(self.landmarks_, self._landmarks_digest, points)[:, 0]
            near = self._nearness(D[None], self._least_nearness)
            known = np.exp(-self.gamma_ * D / np.sqrt(near * self.nearness_)) @ self.projection_
        row[:-1] = known
        return DenseRows.entry(row)

    def _distances(self, landmarks: DescriptorSets, digest: str, points: Halves | None) -> Array:
        """D of landmarks with the points of an image (n, 1), or with each other (n, n).

        Both kinds of distance are computed at once: with a cache, the second of the two channels has nothing left to compute.
        """
        image = None if points is None else _sets([points], self._descriptor_width)
        shape = (2, len(landmarks), len(landmarks) if image is None else 1)
        cache = self._kept
        key = FeatureCache.key_of(
            "distances", self._distance_recipe(), digest, "" if points is None else _digest(points)
        )
        found = None if cache is None else cache.read(key, lambda s: s.array("distances", shape, np.float64, least=0))
        if found is None:
            jobs, what = (self.n_jobs, f"{self.name}: distances") if image is None else (1, "")
            found = both_distances(landmarks, image, self._distortion, n_jobs=jobs, what=what)
            if cache is not None:
                cache.put(key, State({}, {"distances": found}))
        return np.asarray(found[int(self.distorts)])


class GeometricBlurPoints(CorrespondenceChannel):
    """Which edges look alike wherever they are: geometric blur at edge points, each matched with the nearest one."""

    name: ClassVar[str] = "geometric_blur"
    distorts: ClassVar[bool] = False


class GeometricBlurDistortion(CorrespondenceChannel):
    """Which edges look alike and lie in the same place: as geometric_blur, but matches far apart in the image count less."""

    name: ClassVar[str] = "geometric_blur_distortion"
    distorts: ClassVar[bool] = True

    distortion: float = option(
        default=USUAL_DISTORTION, doc="distance of descriptors that a move across the whole width of the image equals."
    )

    @property
    def _distortion(self) -> float:
        return check_number(self, "distortion", self.distortion, least=0, most=1e3)


def _halves(features: LocalFeatures) -> Halves:
    return np.hstack([features.descriptors, features.locations]).astype(np.float16)


def _sets(images: list[Halves], width: int) -> DescriptorSets:
    """In single precision, as they are compared."""
    entries = [
        DescriptorSets.entry(each[:, :-2].astype(np.float32), each[:, -2:].astype(np.float32)) for each in images
    ]
    return DescriptorSets.stack(entries, width)


def _digest(*arrays: npt.NDArray[Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _mean_distance(D: Array) -> float:
    """Of two different landmarks."""
    n = len(D)
    return float(D.sum()) / max(1, n * (n - 1))


def _usual_gamma(D: Array) -> float:
    """From the mean distance of two landmarks; 1 where there are no two that differ."""
    mean = _mean_distance(D)
    return PER_MEAN_DISTANCE / mean if mean > 1e-9 else 1.0


def _projection(K: Array) -> Array:
    """U diag(l)^(-1/2) of the eigenvalues that are well above zero (n, r)."""
    if not len(K):
        return np.empty((0, 0))
    values, vectors = np.linalg.eigh(K)
    kept = values > LEAST_EIGENVALUE * values[-1]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))

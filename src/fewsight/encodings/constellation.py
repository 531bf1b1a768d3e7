"""Constellation models: a few parts, each with a Gaussian of its appearance and of its place relative to the left-most part.

An image is a set of interest points ordered from left to right, and which of them are the parts is not known: all increasing
choices of M out of F points are equally probable beforehand, and the likelihood is the sum over them. [Holub2008, section 2]

    p(I) = 1 / C(F, M) sum_h prod_m N(a_h(m); appearance_m) prod_{m>0} N(x_h(m) - x_h(0); shape_m) [ prod_{f not in h} N(a_f; C) ]

The last factor is not in the paper: the clutter term C gives the points that no part claims a density too: one broad Gaussian.
Its points are uniform over a square as wide as the image, as the left-most part is, so that places add nothing. An image with
fewer than M points has no choice: nothing can be said about parts. Its likelihood is that of its clutter, or one without a
clutter term; its scores are zero; none of its points is a part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight._compiled.part_choices import LOG_TWO_PI, best_choices, choice_sums

MOST_PARTS = 6
LARGEST = 1e6  # of a mean, in standard deviations of all patches or widths of the image
LEAST_VARIANCE, MOST_VARIANCE = 1e-9, 1e9
START_SPREAD = 0.2  # standard deviation of a part's place before anything is learned, in widths of the image


@final
@dataclass(frozen=True, eq=False)
class PointSets:
    """Interest points of several images, each image's from left to right; of one x from top to bottom, then as they came.

    `appearances` (n, d); `positions` (n, 2), x and y, both in widths of the image; image i has the points from `starts[i]` up to
    `starts[i + 1]`; point k of them was number `order[k]` of its image.
    """

    appearances: Array
    positions: Array
    starts: Indices
    order: Indices

    @classmethod
    def of(cls, appearances: Sequence[npt.ArrayLike], positions: Sequence[Array], width: int) -> PointSets:
        """From the points of each image, in any order; `width` numbers describe the appearance of each."""
        orders = [np.lexsort((place[:, 1], place[:, 0])) for place in positions]
        starts = np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.intp)
        sorted_looks = [np.asarray(look, np.float64)[order] for look, order in zip(appearances, orders, strict=True)]
        sorted_places = [np.asarray(place, np.float64)[order] for place, order in zip(positions, orders, strict=True)]
        return cls(
            np.concatenate([np.empty((0, width)), *sorted_looks]),
            np.concatenate([np.empty((0, 2)), *sorted_places]),
            starts,
            np.concatenate([np.empty(0, np.intp), *orders]),
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def counts(self) -> Indices:
        """How many points each image has."""
        return np.diff(self.starts)

    def take(self, images: Indices) -> PointSets:
        """Those of some images."""
        spans = [np.arange(self.starts[image], self.starts[image + 1]) for image in images]
        points = np.concatenate([np.empty(0, np.intp), *spans])
        starts = np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.intp)
        return PointSets(self.appearances[points], self.positions[points], starts, self.order[points])

    def totals(self, values: Array) -> Array:
        """Sums of values (n, ...) over the points of each image."""
        sums, some = np.zeros((len(self), *values.shape[1:])), self.counts > 0
        if some.any():
            sums[some] = np.add.reduceat(values, self.starts[:-1][some], axis=0)
        return sums


class Expectation(NamedTuple):
    """What a model expects of images: the parts are not known, but how probable each choice is."""

    log_likelihood: Array  # (images,)
    shares: Array  # (points, M): how probable it is that a point is a part
    offsets: Array  # (images, M - 1, 2): expected place minus its mean
    squared_offsets: Array  # the same, squared


class Gaussians(NamedTuple):
    """Of each part: means and variances of independent dimensions."""

    means: Array
    variances: Array

    def log_density(self, rows: Array) -> Array:
        """Of each row (n, d) for each part: (n, M)."""
        precisions = 1.0 / self.variances
        squares = rows**2 @ precisions.T - 2.0 * rows @ (precisions * self.means).T
        constants = (self.means**2 * precisions + np.log(self.variances) + LOG_TWO_PI).sum(axis=1)
        return -0.5 * (squares + constants)


@final
@dataclass(frozen=True, eq=False)
class Constellation:
    """A model of M parts.

    Parameters
    ----------
    appearance : means and variances (M, d).
    shape : means and variances (M - 1, 2) of the places of all parts but the first, relative to it, in widths of the image.
    clutter : mean and variance (1, d) of the appearance of points that are no part; None: the paper's bare form.
    """

    appearance: Gaussians
    shape: Gaussians
    clutter: Gaussians | None = None

    @property
    def n_parts(self) -> int:
        return len(self.appearance.means)

    @property
    def n_shape_scores(self) -> int:
        """How many of the scores are those of the shape; they come last."""
        return 4 * (self.n_parts - 1)

    @property
    def n_scores(self) -> int:
        return 2 * self.appearance.means.size + self.n_shape_scores

    def expect(self, points: PointSets) -> Expectation:
        """Likelihoods, and how probable it is that each point is each part."""
        looks, clutter = self._log_appearance(points)
        log_sums, *rest = choice_sums(looks, points.positions, points.starts, *self.shape)
        known = points.counts >= self.n_parts
        log_choices = np.where(known, log_binomial(np.where(known, points.counts, self.n_parts), self.n_parts), 0.0)
        log_likelihood = np.where(known, log_sums, 0.0) - log_choices + clutter
        return Expectation(log_likelihood, *rest)

    def log_likelihood(self, points: PointSets) -> Array:
        """log p(I) of each image (images,)."""
        return self.expect(points).log_likelihood

    def localise(self, points: PointSets) -> Indices:
        """The most probable choice: of each image the points, numbered as they came, that are the parts (images, M).

        -1 where there are fewer points than parts.
        """
        chosen = best_choices(self._log_appearance(points)[0], points.positions, points.starts, *self.shape)
        found = np.full(chosen.shape, -1, np.intp)
        known = chosen[:, 0] >= 0
        found[known] = points.order[(chosen + points.starts[:-1, None])[known]]
        return found

    def fisher_scores(self, points: PointSets) -> Array:
        """Slopes of the log-likelihood of each image (images, n_scores). [Holub2008, eq. 3, 9 and 10]

        With respect to the means and then the variances of the appearance, part by part, then those of the shape.
        """
        expected = self.expect(points)
        means, squares = self._appearance_moments(points, expected.shares)
        weights = points.totals(expected.shares)[:, :, None]
        appearance = _slopes(means, squares, weights, self.appearance.variances)
        known = (points.counts >= self.n_parts).astype(np.float64)[:, None, None]
        shape = _slopes(expected.offsets, expected.squared_offsets, known, self.shape.variances)
        return np.concatenate([part.reshape(len(points), -1) for part in (*appearance, *shape)], axis=1)

    def _log_appearance(self, points: PointSets) -> tuple[Array, Array]:
        """Log densities (points, M), relative to the clutter's if there is one; and the log-likelihood of the clutter alone."""
        looks = self.appearance.log_density(points.appearances)
        if self.clutter is None:
            return looks, np.zeros(len(points))
        clutter = self.clutter.log_density(points.appearances)
        return np.ascontiguousarray(looks - clutter), points.totals(clutter)[:, 0]

    def _appearance_moments(self, points: PointSets, shares: Array) -> tuple[Array, Array]:
        """Expected difference from the mean, and its square, of each image and part (images, M, d), not divided by anything."""
        moments = np.zeros((2, len(points), *self.appearance.means.shape))
        for part, mean in enumerate(self.appearance.means):
            offsets = points.appearances - mean
            moments[0, :, part] = points.totals(shares[:, part, None] * offsets)
            moments[1, :, part] = points.totals(shares[:, part, None] * offsets**2)
        return moments[0], moments[1]

    @cached_property
    def digest(self) -> str:
        """Of all numbers of the model."""
        content = b"".join(np.ascontiguousarray(array).tobytes() for array in self.state().arrays.values())
        return hashlib.blake2b(content, digest_size=16).hexdigest()

    def state(self) -> State:
        """For the model file."""
        parts = {"appearance": self.appearance, "shape": self.shape, "clutter": self.clutter}
        arrays = {
            f"{name}_{field}": getattr(part, field) for name, part in parts.items() if part for field in part._fields
        }
        return State({"clutter": self.clutter is not None}, arrays)

    @classmethod
    def from_state(cls, state: State) -> Constellation:
        """From the model file, checked."""
        appearance = _stored_gaussians(state, "appearance", (None, None))
        n_parts, d = appearance.means.shape
        check_integer("Constellation", "the number of parts", n_parts, least=1, most=MOST_PARTS)
        clutter = _stored_gaussians(state, "clutter", (1, d)) if state.flag("clutter") else None
        return cls(appearance, _stored_gaussians(state, "shape", (n_parts - 1, 2)), clutter)


def learn_constellations(
    points: PointSets,
    n_parts: int,
    *,
    clutter: Gaussians | None,
    random_state: int = 0,
    n_starts: int = 3,
    max_steps: int = 50,
    least_appearance_variance: float = 0.05,
    least_shape_variance: float = 1e-4,
) -> list[Constellation]:
    """Models that make the images probable, by expectation and maximisation, one from each start; the most probable comes first.

    A start takes as many points of a random image as there are parts. Each goes on for `max_steps`, or until the mean
    log-likelihood does not increase. Variances stay above their floors. Images with fewer points than parts say nothing; where
    all are such, every model is as wide as all points, with its parts in a row.

    Parameters
    ----------
    points : of the training images.
    n_parts : from 1 to 6.
    clutter : of points that are no part; None for none.
    random_state : seed of the starts.
    n_starts : how many starts there are.
    max_steps : of each start, at most.
    least_appearance_variance : floor, in the units of the appearances.
    least_shape_variance : floor, in squared widths of the image.
    """
    check_integer("learn_constellations", "n_parts", n_parts, least=1, most=MOST_PARTS)
    check_integer("learn_constellations", "n_starts", n_starts, least=1, most=100)
    check_integer("learn_constellations", "max_steps", max_steps, least=0, most=100_000)
    floors = tuple(
        check_number("learn_constellations", name, value, least=LEAST_VARIANCE, most=100.0)
        for name, value in (
            ("least_appearance_variance", least_appearance_variance),
            ("least_shape_variance", least_shape_variance),
        )
    )
    if not np.isfinite(points.appearances).all() or not np.isfinite(points.positions).all():
        raise InvalidInput("learn_constellations: points must be finite numbers, got NaN or infinity.")
    telling = points.take(np.flatnonzero(points.counts >= n_parts))
    if not len(telling):
        return [_flat_model(points.appearances.shape[1], n_parts, clutter)] * n_starts
    rng = np.random.default_rng(random_state)
    starts = [_start(telling, n_parts, clutter, floors, rng) for _ in range(n_starts)]
    climbed = [climb(start, telling, max_steps, floors)[0] for start in starts]
    return sorted(climbed, key=lambda model: -float(model.log_likelihood(telling).mean()))


def learn_constellation(points: PointSets, n_parts: int, *, clutter: Gaussians | None, **options: Any) -> Constellation:
    """The most probable of the models that `learn_constellations` finds with these options."""
    return learn_constellations(points, n_parts, clutter=clutter, **options)[0]


def climb(
    model: Constellation, points: PointSets, max_steps: int, floors: tuple[float, ...]
) -> tuple[Constellation, list[float]]:
    """Expectation and maximisation from a model on; and the mean log-likelihood before each step, and after the last."""
    values: list[float] = []
    best = model
    for _ in range(max_steps + 1):
        expected = model.expect(points)
        values.append(float(expected.log_likelihood.mean()))
        if len(values) > 1 and not values[-1] > values[-2]:
            return best, values
        best = model
        if len(values) <= max_steps:
            model = _maximised(model, points, expected, floors)
    return best, values


def log_binomial(n: Indices | int, k: int) -> Array:
    """log of n choose k."""
    n = np.asarray(n, np.float64)
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def broad_gaussian(appearances: Array, least_variance: float = 0.05) -> Gaussians:
    """One Gaussian of all points, for the clutter; standard where there are no two points."""
    d = appearances.shape[1]
    if len(appearances) < 2:
        return Gaussians(np.zeros((1, d)), np.ones((1, d)))
    return Gaussians(
        appearances.mean(axis=0, keepdims=True), np.maximum(appearances.var(axis=0, keepdims=True), least_variance)
    )


def _maximised(
    model: Constellation, points: PointSets, expected: Expectation, floors: tuple[float, ...]
) -> Constellation:
    """The parameters under which what is expected is most probable; a variance below its floor is raised to it, which is the
    best that the floor leaves."""
    means, squares = np.empty((2, *model.appearance.means.shape))
    for part, mean in enumerate(model.appearance.means):
        offsets = points.appearances - mean
        means[part], squares[part] = expected.shares[:, part] @ offsets, expected.shares[:, part] @ offsets**2
    weights = expected.shares.sum(axis=0)[:, None]
    appearance = _moved(model.appearance, means / weights, squares / weights, floors[0])
    places, squared = expected.offsets.mean(axis=0), expected.squared_offsets.mean(axis=0)
    return replace(model, appearance=appearance, shape=_moved(model.shape, places, squared, floors[1]))


def _moved(gaussians: Gaussians, offsets: Array, squares: Array, floor: float) -> Gaussians:
    return Gaussians(gaussians.means + offsets, np.maximum(squares - offsets**2, floor))


def _slopes(offsets: Array, squares: Array, weights: Array, variances: Array) -> tuple[Array, Array]:
    """Of the expected log density with respect to means and variances; weights (images, M, 1) say how much each part counts."""
    return offsets / variances, 0.5 * (squares / variances - weights) / variances


def _start(
    points: PointSets, n_parts: int, clutter: Gaussians | None, floors: tuple[float, ...], rng: np.random.Generator
) -> Constellation:
    """Parts at random points of one image, as wide as all points."""
    image = int(rng.integers(len(points)))
    first, last = points.starts[image], points.starts[image + 1]
    chosen = np.sort(rng.choice(np.arange(first, last), n_parts, replace=False))
    variances = np.maximum(points.appearances.var(axis=0), floors[0])
    appearance = Gaussians(points.appearances[chosen], np.tile(variances, (n_parts, 1)))
    places = points.positions[chosen[1:]] - points.positions[chosen[0]]
    return Constellation(appearance, Gaussians(places, np.full(places.shape, START_SPREAD**2)), clutter)


def _flat_model(d: int, n_parts: int, clutter: Gaussians | None) -> Constellation:
    """Where nothing can be learned."""
    places = np.stack([np.arange(1, n_parts) / n_parts, np.zeros(n_parts - 1)], axis=1)
    appearance = Gaussians(np.zeros((n_parts, d)), np.ones((n_parts, d)))
    return Constellation(appearance, Gaussians(places, np.full(places.shape, START_SPREAD**2)), clutter)


def _stored_gaussians(state: State, name: str, shape: tuple[int | None, int | None]) -> Gaussians:
    means = state.array(f"{name}_means", shape, np.float64, least=-LARGEST, most=LARGEST)
    if not means.shape[1]:
        raise InvalidInput(f"Constellation: the stored {name}_means must have a column, got {shown(means.shape)}.")
    variances = state.array(f"{name}_variances", means.shape, np.float64, least=LEAST_VARIANCE, most=MOST_VARIANCE)
    return Gaussians(means, variances)

"""Sums and maxima over all increasing choices of M out of F points, one for each part of a constellation.

    w(f) = exp( sum_m appearance[f_m, m] + sum_{m>0} log N(position[f_m] - position[f_0]; mean_m, variance_m) )

The choices are f_0 < ... < f_{M-1}. For a fixed first point the sum over the others factorises along the order of the points, so
that it and all its marginals take O(F^2 M) steps by forward and backward sums in the log domain; there are C(F, M) choices.
[Holub2008, eq. 1, 9 and 10]
"""

from __future__ import annotations

import itertools
from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight._compiled._caching import compiled

Ints = npt.NDArray[Any]
Sums = tuple[Array, Array, Array, Array]

LOG_TWO_PI = float(np.log(2 * np.pi))
NEGLIGIBLE = 50.0  # e^-50 of a sum is far below the last bit of it
SMALLEST = 1e-250  # of a sum of scaled weights; below it too much of them has underflowed


def _log_weights(appearance: Array, positions: Array, means: Array, variances: Array) -> tuple[Ints, Array, Array]:
    """All choices (n, M) of one image, their log weights (n,) and their offsets from the expected places (n, M - 1, 2)."""
    n_points, n_parts = appearance.shape
    choices = np.array(list(itertools.combinations(range(n_points), n_parts)), np.intp).reshape(-1, n_parts)
    offsets = positions[choices[:, 1:]] - positions[choices[:, :1]] - means
    log_weights = appearance[choices, np.arange(n_parts)].sum(axis=1)
    log_weights = log_weights - 0.5 * (offsets**2 / variances + np.log(variances) + LOG_TWO_PI).sum(axis=(1, 2))
    return choices, log_weights, offsets


def choice_sums_reference(appearance: Array, positions: Array, starts: Ints, means: Array, variances: Array) -> Sums:
    """The definition, choice by choice. Image i has the points from `starts[i]` to `starts[i + 1]`, in order.

    `appearance` (n, M) are log densities, `positions` (n, 2), `means` and `variances` (M - 1, 2). Returns for each image the log
    of the sum of all weights, for each point its share in each part (n, M), and for each image and part but the first the
    expected offset from its mean, and its square (images, M - 1, 2). With fewer than M points the log is -inf, the rest 0.
    """
    n_images, (n_points, n_parts) = len(starts) - 1, appearance.shape
    log_sums, shares = np.full(n_images, -np.inf), np.zeros((n_points, n_parts))
    first, second = np.zeros((n_images, n_parts - 1, 2)), np.zeros((n_images, n_parts - 1, 2))
    for image in range(n_images):
        here = slice(starts[image], starts[image + 1])
        choices, log_weights, offsets = _log_weights(appearance[here], positions[here], means, variances)
        if len(choices):
            most = log_weights.max()
            log_sums[image] = most + np.log(np.exp(log_weights - most).sum())
            weights = np.exp(log_weights - log_sums[image])
            for part in range(n_parts):
                np.add.at(shares[here, part], choices[:, part], weights)
            first[image] = np.einsum("h,hmk->mk", weights, offsets)
            second[image] = np.einsum("h,hmk->mk", weights, offsets**2)
    return log_sums, shares, first, second


@compiled(nogil=True, error_model="numpy")
def choice_sums(appearance: Array, positions: Array, starts: Ints, means: Array, variances: Array) -> Sums:
    """As `choice_sums_reference`, by forward and backward sums. Other threads may run.

    First points whose choices have less than e^-NEGLIGIBLE of the whole are left out. The sums of a first point are those of
    numbers, each part's weights divided by their largest; in the log domain where that would leave nothing of them.
    """
    n_images, n_parts = len(starts) - 1, appearance.shape[1]
    log_sums, shares = np.full(n_images, -np.inf), np.zeros(appearance.shape)
    first, second = np.zeros((n_images, n_parts - 1, 2)), np.zeros((n_images, n_parts - 1, 2))
    for image in range(n_images):
        start, stop = starts[image], starts[image + 1]
        n = stop - start
        if n < n_parts:
            continue
        here, places = appearance[start:stop], positions[start:stop]
        # For each first point: weights of later parts, sums from each point on, and the log of the whole.
        backward, weights = np.empty((n, n_parts, n + 1)), np.empty((n, n_parts, n))
        wholes, tops, in_logs = np.full(n, -np.inf), np.empty((n, n_parts)), np.zeros(n, np.bool_)
        products = np.full(n, -np.inf)  # logs: of the largest weights of all parts, be their order right or not
        for i in range(n - n_parts + 1):
            _weigh(weights[i], here, places, i, means, variances)
            products[i] = here[i, 0] + _tops(tops[i], weights[i], i)
        most_choices, least = (n_parts - 1) * np.log(n), -np.inf
        for i in np.argsort(-products):
            if products[i] == -np.inf or products[i] + most_choices < least:
                break
            total = _sum_scaled(backward[i], weights[i], tops[i], i)
            in_logs[i] = total < SMALLEST
            if in_logs[i]:
                _weigh(weights[i], here, places, i, means, variances)
                wholes[i] = here[i, 0] + _sum_backward(backward[i], weights[i], i)
            else:
                wholes[i] = products[i] + np.log(total)
            least = max(least, wholes[i] - NEGLIGIBLE)
        whole = _log_sum(wholes)
        log_sums[image] = whole
        if whole == -np.inf:
            continue
        forward = np.empty(n)
        for i in range(n - n_parts + 1):
            if wholes[i] - whole <= -NEGLIGIBLE:
                continue
            given = (shares[start:stop], first[image], second[image], backward[i], weights[i], forward)
            if in_logs[i]:
                _share(*given, here, places, i, means, whole)
            else:
                _share_scaled(*given, places, i, means, np.exp(wholes[i] - whole))
    return log_sums, shares, first, second


@numba.njit(error_model="numpy")
def _tops(tops: Array, weights: Array, i: int) -> float:
    """The largest log weight of each part after the first, with the first point at i. Returns their sum."""
    n_parts, n = weights.shape
    total = 0.0
    for m in range(1, n_parts):
        top = -np.inf
        for f in range(i + m, n - n_parts + m + 1):
            top = max(top, weights[m, f])
        tops[m] = top
        total += top
    return total


@numba.njit(error_model="numpy")
def _sum_scaled(backward: Array, weights: Array, tops: Array, i: int) -> float:
    """As `_sum_backward`, of weights that are no longer logs: in their place come the weights, divided by their largest."""
    n_parts, n = weights.shape
    total = 1.0
    for m in range(n_parts - 1, 0, -1):
        total = 0.0
        for f in range(n - n_parts + m, i + m - 1, -1):
            weights[m, f] = np.exp(weights[m, f] - tops[m])
            total += weights[m, f] * (backward[m + 1, f + 1] if m + 1 < n_parts else 1.0)
            backward[m, f] = total
    return total


@numba.njit(error_model="numpy")
def _share_scaled(
    shares: Array,
    first: Array,
    second: Array,
    backward: Array,
    weights: Array,
    forward: Array,
    places: Array,
    i: int,
    means: Array,
    share_of_first: float,
) -> None:
    """As `_share`, after `_sum_scaled`; the choices that begin at point i have `share_of_first` of the whole."""
    n_parts, n = weights.shape
    shares[i, 0] += share_of_first
    forward[:] = share_of_first / (backward[1, i + 1] if n_parts > 1 else 1.0)
    for m in range(1, n_parts):
        mx, my = places[i, 0] + means[m - 1, 0], places[i, 1] + means[m - 1, 1]
        total = 0.0
        for f in range(i + m, n - n_parts + m + 1):
            value = forward[f] * weights[m, f]
            share = value * (backward[m + 1, f + 1] if m + 1 < n_parts else 1.0)
            dx, dy = places[f, 0] - mx, places[f, 1] - my
            shares[f, m] += share
            first[m - 1, 0] += share * dx
            first[m - 1, 1] += share * dy
            second[m - 1, 0] += share * dx * dx
            second[m - 1, 1] += share * dy * dy
            forward[f] = total  # for part m + 1: this point excluded
            total += value
        if m + 1 < n_parts:
            forward[n - n_parts + m + 1] = total


@numba.njit(error_model="numpy")
def _weigh(weights: Array, appearance: Array, places: Array, i: int, means: Array, variances: Array) -> None:
    """Log weights (M, F) of the points after i in the parts after the first, where they leave room for the parts between."""
    n, n_parts = appearance.shape
    for m in range(1, n_parts):
        vx, vy = variances[m - 1, 0], variances[m - 1, 1]
        mx, my = means[m - 1, 0] + places[i, 0], means[m - 1, 1] + places[i, 1]
        constant = -0.5 * (np.log(vx) + np.log(vy)) - LOG_TWO_PI
        px, py = 0.5 / vx, 0.5 / vy
        for f in range(i + m, n - n_parts + m + 1):
            dx, dy = places[f, 0] - mx, places[f, 1] - my
            weights[m, f] = appearance[f, m] + constant - px * dx * dx - py * dy * dy


@numba.njit(error_model="numpy")
def _sum_backward(backward: Array, weights: Array, i: int) -> float:
    """backward[m, f]: log of the sum over all choices of parts m, m + 1, ... at points from f on. Returns that of all after i."""
    n_parts, n = weights.shape
    for m in range(n_parts - 1, 0, -1):
        top, total = -np.inf, 0.0
        for f in range(n - n_parts + m, i + m - 1, -1):
            value = weights[m, f] + (backward[m + 1, f + 1] if m + 1 < n_parts else 0.0)
            if value > top:
                total = total * np.exp(top - value) + 1.0 if total > 0.0 else 1.0
                top = value
            elif value > -np.inf:
                total += np.exp(value - top)
            backward[m, f] = top + np.log(total) if total > 0.0 else -np.inf
    return backward[1, i + 1] if n_parts > 1 else 0.0


@numba.njit(error_model="numpy")
def _share(
    shares: Array,
    first: Array,
    second: Array,
    backward: Array,
    weights: Array,
    forward: Array,
    appearance: Array,
    places: Array,
    i: int,
    means: Array,
    whole: float,
) -> None:
    """Add what the choices that begin at point i have in the shares and in the expected offsets."""
    n_parts, n = weights.shape
    before = appearance[i, 0] - whole  # log of the sum over parts up to m - 1 at points before f
    shares[i, 0] += np.exp(before + (backward[1, i + 1] if n_parts > 1 else 0.0))
    forward[:] = before
    for m in range(1, n_parts):
        top, total = -np.inf, 0.0
        for f in range(i + m, n - n_parts + m + 1):
            value = forward[f] + weights[m, f]
            share = np.exp(value + (backward[m + 1, f + 1] if m + 1 < n_parts else 0.0))
            if share > 0.0:
                shares[f, m] += share
                for k in range(2):
                    offset = places[f, k] - places[i, k] - means[m - 1, k]
                    first[m - 1, k] += share * offset
                    second[m - 1, k] += share * offset * offset
            forward[f] = top + np.log(total) if total > 0.0 else -np.inf  # for part m + 1: this point excluded
            if value > top:
                total = total * np.exp(top - value) + 1.0 if total > 0.0 else 1.0
                top = value
            elif value > -np.inf:
                total += np.exp(value - top)
        if m + 1 < n_parts:
            forward[n - n_parts + m + 1] = top + np.log(total) if total > 0.0 else -np.inf


@numba.njit(error_model="numpy")
def _log_sum(values: Array) -> float:
    top = values.max()
    return top + np.log(np.exp(values - top).sum()) if top > -np.inf else -np.inf


def best_choices_reference(
    appearance: Array, positions: Array, starts: Ints, means: Array, variances: Array
) -> Indices:
    """The definition: of each image the choice of the largest weight (images, M), as points of the image; of several the first in
    lexicographic order. -1 where there are fewer than M points."""
    found = np.full((len(starts) - 1, appearance.shape[1]), -1, np.intp)
    for image in range(len(starts) - 1):
        here = slice(starts[image], starts[image + 1])
        choices, log_weights, _ = _log_weights(appearance[here], positions[here], means, variances)
        if len(choices):
            found[image] = choices[log_weights.argmax()]
    return found


@compiled(nogil=True, error_model="numpy")
def best_choices(appearance: Array, positions: Array, starts: Ints, means: Array, variances: Array) -> Indices:
    """As `best_choices_reference`, but for rounding between equal weights, by backward maxima. Other threads may run."""
    n_images, n_parts = len(starts) - 1, appearance.shape[1]
    found = np.full((n_images, n_parts), -1, np.intp)
    for image in range(n_images):
        here, places = appearance[starts[image] : starts[image + 1]], positions[starts[image] : starts[image + 1]]
        n, highest = len(here), -np.inf
        chosen = np.empty((n_parts, n + 1), np.intp)
        best = np.empty((n_parts + 1, n + 1))
        weights = np.empty((n_parts, n))
        for i in range(n - n_parts + 1):
            weights[:] = -np.inf
            best[:] = -np.inf
            best[n_parts] = 0.0
            _weigh(weights, here, places, i, means, variances)
            for m in range(n_parts - 1, 0, -1):
                for f in range(n - n_parts + m, i + m - 1, -1):
                    value = weights[m, f] + best[m + 1, f + 1]
                    after = best[m, f + 1]
                    best[m, f] = value if value >= after else after
                    chosen[m, f] = f if value >= after else chosen[m, f + 1]
            value = here[i, 0] + best[1, i + 1]
            if value > highest or (i == 0 and value == highest):
                highest = value
                found[image, 0] = i
                for m in range(1, n_parts):
                    found[image, m] = chosen[m, found[image, m - 1] + 1]
    return found

"""Sums over symmetric matrices in one pass: what learning the weights of kernels does beside factorising their sum.

All matrices are n x n, with rows in C order; of each only the upper triangle is read. Four come along at a time, so that what
they are added to, or multiplied with, is read once for four of them. On one thread: between two calls of LAPACK the threads of
the numerical library are still spinning, and a second one here would wait for them.
"""

from __future__ import annotations

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight._compiled._caching import compiled


def add_four_reference(total: Array, A: Array, B: Array, C: Array, D: Array, weights: Array) -> None:
    """The definition, on the upper triangle of total; below it stands anything."""
    total += sum(weight * K for weight, K in zip(weights, (A, B, C, D), strict=True))


@compiled()
def add_four(total: Array, A: Array, B: Array, C: Array, D: Array, weights: Array) -> None:
    """As `add_four_reference`, leaving alone what is below the diagonal."""
    n = len(total)
    a, b, c, d = weights
    for i in range(n):
        for j in range(i, n):
            total[i, j] += (a * A[i, j] + b * B[i, j]) + (c * C[i, j] + d * D[i, j])


def inner_four_reference(W: Array, A: Array, B: Array, C: Array, D: Array) -> Array:
    """The definition: sum(W * K) over the upper triangle, the diagonal by half, for each of four K."""
    upper = np.triu(W) - np.diag(W.diagonal()) / 2
    return np.array([(upper * K).sum() for K in (A, B, C, D)])


@compiled(fastmath={"reassoc", "contract"})
def inner_four(W: Array, A: Array, B: Array, C: Array, D: Array) -> Array:
    """As `inner_four_reference`."""
    n = len(W)
    sums = np.zeros(4)
    for i in range(n):
        half = 0.5 * W[i, i]
        a, b, c, d = half * A[i, i], half * B[i, i], half * C[i, i], half * D[i, i]
        for j in range(i + 1, n):
            a += W[i, j] * A[i, j]
            b += W[i, j] * B[i, j]
            c += W[i, j] * C[i, j]
            d += W[i, j] * D[i, j]
        sums += np.array([a, b, c, d])
    return sums


def group_sums_reference(S: Array, groups: Indices, n_groups: int) -> Array:
    """The definition: (n_groups, n), the sum of the rows of each group of a symmetric matrix given by its upper triangle."""
    whole = np.triu(S) + np.triu(S, 1).T
    return np.array([whole[groups == group].sum(axis=0) for group in range(n_groups)]).reshape(n_groups, len(S))


@compiled()
def group_sums(S: Array, groups: Indices, n_groups: int) -> Array:
    """As `group_sums_reference`."""
    n = len(S)
    sums = np.zeros((n_groups, n))
    for i in range(n):
        own = sums[groups[i]]
        own[i] += S[i, i]
        for j in range(i + 1, n):
            own[j] += S[i, j]
            sums[groups[j], i] += S[i, j]
    return sums

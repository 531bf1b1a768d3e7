"""Log evidence of a weighted sum of Gram matrices, and its gradients. [Kapoor2010, sections 4.4 and 6]

A = sum_i w_i K_i + diag(noise) is shared by all c columns of targets, so with dual weights D = A^-1 targets and
W = c A^-1 - D D^T the gradient with respect to anything in A is -1/2 sum(W * dA): one factorisation and one inverse,
whatever the number of classes.

Two things can be left open at no further cost. A *free mean*: each column has a constant of its own, about which nothing is known
beforehand. Most targets of a one-against-all problem are -1; a prior mean of zero has the kernels explain that too, and
favours those that find all images alike. With u = A^-1 1, A^-1 becomes P = A^-1 - u u^T / (1^T u) and the determinant grows by
(1^T u) / n: the density of all differences between targets. *Any scale*: the evidence at the best common factor of weights and
noise, misfit / (degrees of freedom * c), which decisions do not depend on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import blas, lapack

from fewsight._base.checks import check_matrix, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.gp._checks import check_grams, check_per_example
from fewsight.gp._cholesky import LOG_TWO_PI, CholeskyFactor, announce_jitter, factorise, with_diagonal

BLOCK = 48  # rows that are worked on at a time
TINY = 1e-300  # in place of no misfit at all, whose logarithm is asked for


@final
@dataclass(frozen=True)
class Evidence:
    """Log evidence summed over the columns of targets, and its derivatives for k weights and n noise variances."""

    value: float
    d_weights: Array
    d_noise: Array
    scale: float = 1.0  # the common factor of weights and noise that it is the evidence of


def log_evidence_and_gradients(
    grams: Sequence[Array],
    weights: Array,
    targets: Array,
    noise_variance: float | Array,
    *,
    free_mean: bool = False,
    any_scale: bool = False,
) -> Evidence:
    """log p(targets (n, c)) under sum_i weights[i] grams[i] + diag(noise_variance), with gradients."""
    who = "log_evidence_and_gradients"
    grams = check_grams(who, grams)
    weights = check_matrix(who, "weights", np.reshape(weights, (-1, 1)), shape=(len(grams), 1))[:, 0]
    if (weights < 0).any():
        raise InvalidInput(f"{who}: weights must be >= 0, got {shown(weights)}.")
    targets = check_matrix(who, "targets", targets, shape=(len(grams[0]), None))
    noise = check_per_example(who, "noise_variance", noise_variance, len(targets))
    evidence, jitter = evaluate(grams, weights, targets, noise, free_mean=free_mean, any_scale=any_scale)
    announce_jitter(who, jitter, f"all {len(targets)}")
    return evidence


def evaluate(
    grams: Sequence[Array], weights: Array, targets: Array, noise: Array, *, free_mean: bool, any_scale: bool
) -> tuple[Evidence, float]:
    """As `log_evidence_and_gradients`, for checked arguments, with the jitter it took."""
    factor, jitter = factorise("evidence", lambda: with_diagonal(weighted_sum(grams, weights), noise))
    n, n_targets = targets.shape
    if not targets.size:
        return Evidence(0.0, np.zeros(len(grams)), np.zeros(n)), jitter
    dual_weights, log_determinant, freedom = factor.solve(targets), factor.log_determinant, n
    of_mean = np.zeros((n, 0))
    if free_mean:
        of_mean, total = _of_mean(factor)
        dual_weights -= of_mean * np.einsum("ij,ik->jk", of_mean, targets)
        log_determinant, freedom = log_determinant + float(np.log(total / n)), n - 1
    misfit = float(np.einsum("ij,ij->", targets, dual_weights))
    scale = max(misfit / max(freedom * n_targets, 1), TINY) if any_scale else 1.0
    value = -0.5 * (misfit / scale + n_targets * (log_determinant + freedom * (LOG_TWO_PI + float(np.log(scale)))))
    columns = np.hstack([dual_weights / np.sqrt(scale), np.sqrt(n_targets) * of_mean])
    W = blas.dsyrk(-1.0, columns, beta=float(n_targets), c=_inverse_over(factor), lower=1, overwrite_c=1)
    return Evidence(value, -0.5 * _symmetric_inners(W, grams), -0.5 * W.diagonal(), scale), jitter


def _of_mean(factor: CholeskyFactor) -> tuple[Array, float]:
    """u / sqrt(1^T u) as a column, and 1^T u, where u = A^-1 1."""
    u = factor.solve(np.ones((len(factor), 1)))
    total = float(u.sum())
    return u / np.sqrt(total), total


def _inverse_over(factor: CholeskyFactor) -> Array:
    """The lower triangle of A^-1, zeros above it, in the place of a factor that nobody needs any more."""
    factor.lower.setflags(write=True)
    return lapack.dpotri(factor.lower, lower=1, overwrite_c=1)[0]


def weighted_sum(grams: Sequence[Array], weights: Array) -> Array:
    """The lower triangle of sum_i w_i K_i as a new matrix in Fortran order; nothing above it counts."""
    n = len(grams[0])
    total, room = np.empty((n, n)), np.empty(BLOCK * n)
    for block in _upper_blocks(n):
        part = np.multiply(_in_rows(grams[0])[block], weights[0], out=total[block])
        term = room[: part.size].reshape(part.shape)
        for K, weight in zip(grams[1:], weights[1:], strict=True):
            part += np.multiply(_in_rows(K)[block], weight, out=term)
    return total.T


def _symmetric_inners(lower: Array, grams: Sequence[Array]) -> Array:
    """sum(W * K) of symmetric matrices, W given by its lower triangle in Fortran order with zeros above it."""
    half = np.zeros(len(grams))
    for block in _upper_blocks(len(lower)):
        part = lower.T[block]
        half += [float(np.einsum("ij,ij->", part, _in_rows(K)[block])) for K in grams]
    return 2.0 * half - np.array([float(np.einsum("ii,ii->", lower, K)) for K in grams])


def _upper_blocks(n: int) -> list[tuple[slice, slice]]:
    """Rows, a few at a time, from their first diagonal entry on: small enough that all matrices pass while one stays in the
    cache, and half of the whole."""
    return [(slice(start, start + BLOCK), slice(start, n)) for start in range(0, n, BLOCK)]


def _in_rows(K: Array) -> Array:
    """A symmetric matrix such that its rows are contiguous."""
    return K if K.flags.c_contiguous else K.T

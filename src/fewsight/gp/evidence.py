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
from fewsight._base.types import Array, Indices
from fewsight._compiled import symmetric_sums
from fewsight.gp._checks import check_grams, check_per_example
from fewsight.gp._cholesky import LOG_TWO_PI, CholeskyFactor, announce_jitter, factorise, with_diagonal
from fewsight.gp.gram_sums import as_grams

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
    targets = check_matrix(who, "targets", targets, shape=(grams.side, None))
    noise = check_per_example(who, "noise_variance", noise_variance, len(targets))
    evidence, jitter = evaluate(grams, weights, targets, noise, free_mean=free_mean, any_scale=any_scale)
    announce_jitter(who, jitter, f"all {len(targets)}")
    return evidence


def evaluate(
    grams: Sequence[Array],
    weights: Array,
    targets: Array,
    noise: Array,
    *,
    free_mean: bool,
    any_scale: bool,
    patterns: Patterns | None = None,
) -> tuple[Evidence, float]:
    """As `log_evidence_and_gradients`, for checked arguments, with the jitter it took; `patterns` are those of the targets."""
    grams = as_grams(grams)
    factor, jitter = factorise("evidence", lambda: with_diagonal(grams.lower_sum(weights), noise))
    n, n_targets = targets.shape
    if not targets.size:
        return Evidence(0.0, np.zeros(len(grams)), np.zeros(n)), jitter
    log_determinant, freedom = factor.log_determinant, n
    inverse = _inverse_over(factor)
    dual_weights, u = (patterns or Patterns.of(targets)).solve(inverse)
    of_mean = np.zeros((n, 0))
    if free_mean:
        total = float(u.sum())
        of_mean = u[:, None] / np.sqrt(total)
        dual_weights -= of_mean * np.einsum("ij,ik->jk", of_mean, targets)
        log_determinant, freedom = log_determinant + float(np.log(total / n)), n - 1
    misfit = float(np.einsum("ij,ij->", targets, dual_weights))
    scale = max(misfit / max(freedom * n_targets, 1), TINY) if any_scale else 1.0
    value = -0.5 * (misfit / scale + n_targets * (log_determinant + freedom * (LOG_TWO_PI + float(np.log(scale)))))
    columns = np.hstack([dual_weights / np.sqrt(scale), np.sqrt(n_targets) * of_mean])
    W = blas.dsyrk(-1.0, columns, beta=float(n_targets), c=inverse, lower=1, overwrite_c=1)
    return Evidence(value, -0.5 * grams.inners(W), -0.5 * W.diagonal(), scale), jitter


@final
@dataclass(frozen=True, eq=False)
class Patterns:
    """Targets by their different rows: those of a classification have as many as there are classes.

    A^-1 targets is then a matter of adding up the rows of A^-1 pattern by pattern, once the inverse is there.
    """

    targets: Array  # (n, c)
    rows: Array  # (g, c), all different
    groups: Indices  # (n,), targets = rows[groups]

    @classmethod
    def of(cls, targets: Array) -> Patterns:
        numbers: dict[bytes, int] = {}
        groups = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in targets], dtype=np.intp)
        rows = np.empty((len(numbers), targets.shape[1]))
        rows[groups] = targets
        return cls(targets, rows, groups)

    def solve(self, inverse: Array) -> tuple[Array, Array]:
        """A^-1 targets (n, c), and A^-1 1 (n,), from the lower triangle of A^-1 in Fortran order."""
        n = len(self.targets)
        if 2 * len(self.rows) > n:  # hardly anything repeats
            solved = blas.dsymm(1.0, inverse, np.column_stack([self.targets, np.ones(n)]), lower=1)
            return solved[:, :-1], solved[:, -1]
        sums = symmetric_sums.group_sums(inverse.T, self.groups, len(self.rows))
        return blas.dgemm(1.0, sums.T, self.rows), sums.sum(axis=0)


def _inverse_over(factor: CholeskyFactor) -> Array:
    """The lower triangle of A^-1, zeros above it, in the place of a factor that nobody needs any more."""
    factor.lower.setflags(write=True)
    return lapack.dpotri(factor.lower, lower=1, overwrite_c=1)[0]

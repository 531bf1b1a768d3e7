"""Eigenvalues and functions of a matrix from products with it: the iteration of Lanczos. [Rodner2012, section 5.2]

`largest_eigenvalues` keeps all vectors of the iteration and makes each orthogonal to all before. `quadrature` keeps none: it
runs on many start vectors at once, and what comes out gives b^T f(A) b for any smooth f (Gauss's rule), here for all noise
levels at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.linalg import eigh_tridiagonal

from fewsight._base.checks import check_integer, check_positive
from fewsight._base.types import Array
from fewsight.gp.linear_systems import norms
from fewsight.gp.operators import LinearOperator

BREAKDOWN = 1e-10  # of the size of the matrix: what is left of a vector is rounding
Multiply = Callable[[Array], Array]


@final
@dataclass(frozen=True, eq=False)
class Ritz:
    """Values close to the largest eigenvalues, in descending order, never above them; vectors (n, count) of unit length.

    An eigenvalue lies within `residuals` of each value, so `upper_bound` is one for the largest, provided the search found
    the largest at all: a random start misses it with probability zero.
    """

    values: Array
    residuals: Array
    vectors: Array

    @property
    def upper_bound(self) -> float:
        return float(self.values[0] + self.residuals[0])


def largest_eigenvalues(
    operator: LinearOperator,
    count: int,
    *,
    noise: float | Array = 0.0,
    tolerance: float = 1e-3,
    max_steps: int | None = None,
    random_state: int | None = 0,
) -> Ritz:
    """The largest eigenvalues of K + diag(noise), the first of them to a relative tolerance.

    At least `2 count + 10` steps are done, whatever the tolerance; no more than `max_steps` (then the residual says how far
    it is).
    """
    who = "largest_eigenvalues"
    n = operator.n
    count = min(check_integer(who, "count", count, least=1), n)
    tolerance = check_positive(who, "tolerance", tolerance)
    least = min(2 * count + 10, n)
    limit = min(n, max(least, 200 if max_steps is None else check_integer(who, "max_steps", max_steps, least=1)))
    added = np.broadcast_to(np.asarray(noise, dtype=np.float64), (n,))
    basis = np.zeros((n, limit + 1), order="F")
    start = np.random.default_rng(random_state).random(n) + 0.5  # K >= 0 has a leading vector without negative entries
    basis[:, 0] = start / np.linalg.norm(start)
    alphas, betas = np.zeros(limit), np.zeros(limit)
    for step in range(limit):
        v = basis[:, step]
        w = operator @ v + added * v
        alphas[step] = v @ w
        for _ in range(2):  # once is not enough
            w = w - basis[:, : step + 1] @ (basis[:, : step + 1].T @ w)
        betas[step] = np.linalg.norm(w)
        exhausted = betas[step] <= BREAKDOWN * np.abs(alphas).max()
        if step + 1 >= least or exhausted or step + 1 == limit:
            ritz = _ritz(alphas[: step + 1], betas[: step + 1], basis[:, : step + 1], count)
            if exhausted or step + 1 == limit or ritz.residuals[0] <= tolerance * ritz.values[0]:
                return ritz
        basis[:, step + 1] = w / betas[step]
    raise AssertionError("the last step returns")


def _ritz(alphas: Array, betas: Array, basis: Array, count: int) -> Ritz:
    values, vectors = eigh_tridiagonal(alphas, betas[:-1])
    kept = np.argsort(-values)[: min(count, len(values))]
    return Ritz(values[kept], np.abs(betas[-1] * vectors[-1, kept]), basis @ vectors[:, kept])


@final
@dataclass(frozen=True, eq=False)
class Quadrature:
    """Nodes (c, steps) and weights (c, steps): b^T f(A) b is about sum(weights * f(nodes)) for each of c start vectors b."""

    nodes: Array
    weights: Array

    def apply(self, function: Callable[[Array], Array]) -> Array:
        """b^T function(A) b for each start vector (c,)."""
        return np.einsum("ij,ij->i", self.weights, function(self.nodes))


def quadrature(multiply: Multiply, starts: Array, steps: int) -> Quadrature:
    """Gauss's rule for each column of `starts` (n, c) and the symmetric matrix A that `multiply` multiplies with."""
    return next(quadratures(multiply, starts, [steps]))


def quadratures(multiply: Multiply, starts: Array, steps: Iterable[int]) -> Iterator[Quadrature]:
    """As `quadrature`, after each of several numbers of steps, ascending: every one goes on where the one before it ended."""
    lengths = norms(starts)
    V = starts / np.where(lengths > 0, lengths, 1.0)
    before, beta = np.zeros_like(V), np.zeros(V.shape[1])
    alphas: list[Array] = []
    betas: list[Array] = []
    for goal in steps:
        while len(alphas) < min(goal, len(starts)):
            W = multiply(V) - beta * before
            alpha = np.einsum("ij,ij->j", V, W)
            W -= alpha * V
            beta = norms(W)
            alphas.append(alpha)
            scale = np.abs(alphas).max(axis=0)
            beta = np.where(beta > BREAKDOWN * scale, beta, 0.0)  # the rest of a column that is exhausted has no weight
            betas.append(beta)
            before, V = V, np.divide(W, beta, out=np.zeros_like(W), where=beta > 0)
        yield _rule(np.array(alphas).T, np.array(betas).T, lengths)


def _rule(alphas: Array, betas: Array, lengths: Array) -> Quadrature:
    """Of each column, by the eigenvalues of its tridiagonal matrix."""
    pairs = [eigh_tridiagonal(a, b[:-1]) for a, b in zip(alphas, betas, strict=True)]
    nodes = np.array([values for values, _ in pairs])
    return Quadrature(nodes, np.array([vectors[0] ** 2 for _, vectors in pairs]) * lengths[:, None] ** 2)

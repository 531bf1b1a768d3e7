"""A target task and a support task as dependent Gaussian processes, for every correlation at once. [Rodner2010, eq. 3 to 6]

Examples of one task covary as the kernel says, those of different tasks rho times as much. With A and C the covariances of
the target's and of the support's own examples, noise included, and B between them, the whole is [[A, rho B], [rho B^T, C]].
Its Schur complement C - rho^2 B^T A^-1 B has eigenvectors (with respect to C) that do not depend on rho, and A does not
depend on the support task. So the target is factorised once, each support task takes one small eigendecomposition, and every
further rho costs O(m s) for m target and s support examples: their leave-one-out values and the likelihood of the target's
labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import blas

from fewsight._base.types import Array, Indices
from fewsight.gp._cholesky import LOG_TWO_PI, plain_factor, with_diagonal

ROUNDING = 1e-12  # how near to 1 a squared correlation may come before the whole counts as singular


class LeftOut(NamedTuple):
    """Each target example predicted from all others of both tasks: mean and variance of its noisy target (J, m, G)."""

    mean: Array
    variance: Array


@final
@dataclass(frozen=True, eq=False)
class CorrelationPaths:
    """J support tasks beside a target of m examples; those of tasks with fewer than s examples are filled up with zeros.

    A leading side of 1 means: the same for all support tasks.
    """

    targets: Array  # (1 or J, m)
    dual_weights: Array  # (1 or J, m), of the target alone: A^-1 targets
    precision: Array  # (1 or J, m), the diagonal of A^-1
    log_determinant: Array  # (1 or J,), of A
    eigenvalues: Array  # (J, s), of B^T A^-1 B with respect to C, from 0 to below 1
    directions: Array  # (J, m, s), A^-1 B times the eigenvectors
    support_targets: Array  # (J, s), the support's targets in the eigenvectors' coordinates
    transform: Array  # (J, s, s), from the eigenvectors' coordinates to the support's examples

    @property
    def n_tasks(self) -> int:
        return len(self.eigenvalues)

    def select(self, tasks: Indices) -> CorrelationPaths:
        """Some of the support tasks."""
        shared = (self.targets, self.dual_weights, self.precision, self.log_determinant)
        own = (self.eigenvalues, self.directions, self.support_targets, self.transform)
        return CorrelationPaths(*(a if len(a) == 1 else a[tasks] for a in shared), *(a[tasks] for a in own))

    def leave_one_out(self, rhos: Array) -> LeftOut:
        """For G correlations of each support task (J, G)."""
        shrunk, weights = self._support_side(rhos)
        rho = rhos[:, None, :]
        dual_weights = self.dual_weights[..., None] - rho * (self.directions @ weights)
        variance = 1.0 / (self.precision[..., None] + rho**2 * (self._squares @ shrunk))
        return LeftOut(self.targets[..., None] - dual_weights * variance, variance)

    def weights(self, rhos: Array) -> tuple[Array, Array]:
        """What kernel values with the target's (J, m, G) and with the support's examples (J, s, G) are multiplied by, for the
        posterior mean of the target's function. [Rodner2010, eq. 4]"""
        rho = rhos[:, None, :]
        _, weights = self._support_side(rhos)
        own = self.dual_weights[..., None] - rho * (self.directions @ weights)
        return own, rho * (self.transform @ weights)

    def conditional_log_likelihood(self, rhos: Array) -> Array:
        """log p(target's labels | support's labels) for G correlations of each support task (J, G)."""
        shrunk, weights = self._support_side(rhos)
        misfit = (self.targets * self.dual_weights).sum(axis=1)[:, None]
        misfit = misfit - rhos * np.einsum("js,jsg->jg", self._crossing, weights)
        misfit = misfit + np.einsum("js,jsg->jg", self.support_targets, weights)
        misfit = misfit - (self.support_targets**2).sum(axis=1)[:, None]
        log_determinant = self.log_determinant[:, None] - np.log(shrunk).sum(axis=1)
        return -0.5 * (misfit + log_determinant + self.targets.shape[1] * LOG_TWO_PI)

    def _support_side(self, rhos: Array) -> tuple[Array, Array]:
        """The inverse Schur complement and the support's dual weights, both in the eigenvectors' coordinates (J, s, G)."""
        rho = rhos[:, None, :]
        shrunk = 1.0 / (1.0 - rho**2 * self.eigenvalues[:, :, None])
        return shrunk, shrunk * (self.support_targets[:, :, None] - rho * self._crossing[:, :, None])

    @cached_property
    def _crossing(self) -> Array:
        """What the target alone predicts for the support's examples, in the eigenvectors' coordinates (J, s)."""
        return np.einsum("jms,jm->js", self.directions, np.broadcast_to(self.targets, self.directions.shape[:2]))

    @cached_property
    def _squares(self) -> Array:
        return self.directions**2


def paths_beside(
    K: Array, target: Indices, targets: Array, supports: Sequence[Indices], noise_variance: float
) -> CorrelationPaths | None:
    """Support tasks whose labels are all +1, beside one target that they share; None where a covariance is singular.

    K is the Gram matrix of all examples; `target` and each of `supports` are rows of it. The whole is positive definite for
    every rho if it is for 1, since it is a mixture of those for 1 and for 0.
    """
    factor = plain_factor(with_diagonal(np.array(K[np.ix_(target, target)], order="F"), noise_variance))
    if factor is None:
        return None
    rows, filled = _padded(supports)
    try:
        whitening = np.linalg.inv(np.linalg.cholesky(_own_covariances(K, rows, filled, noise_variance)))  # (J, s, s)
    except np.linalg.LinAlgError:
        return None
    between = np.where(filled[:, :, None], np.take(K[target], rows, axis=1).transpose(1, 2, 0), 0.0)  # (J, s, m)
    white = whitening @ between
    solved = _times(factor.inverse(), white)
    eigenvalues, vectors = np.linalg.eigh(white @ solved.transpose(0, 2, 1))
    if not _apart_from_one(eigenvalues):
        return None
    turn = vectors.transpose(0, 2, 1)
    return CorrelationPaths(
        targets[None],
        factor.solve(targets[:, None]).T,
        factor.inverse_diagonal[None],
        np.array([factor.log_determinant]),
        np.maximum(eigenvalues, 0.0),
        (turn @ solved).transpose(0, 2, 1),
        np.einsum("jts,js->jt", turn @ whitening, filled.astype(float)),
        (turn @ whitening).transpose(0, 2, 1),
    )


@final
@dataclass(frozen=True, eq=False)
class Inverted:
    """A whole covariance, noise included, with what was made of it for one column of targets."""

    covariance: Array  # (n, n)
    inverse: Array  # (n, n)
    log_determinant: float
    targets: Array  # (n,)
    dual_weights: Array  # (n,), inverse @ targets


def path_inside(whole: Inverted, support: Indices) -> CorrelationPaths | None:
    """One support task whose examples, with labels +1 now, are among those of the whole; the target's are all others.

    Blocks of the inverse give what leaves the support out: O(n s^2) instead of a factorisation. None where it is singular.
    """
    rest = np.delete(np.arange(len(whole.targets)), support)
    inverse_own, inverse_between = (whole.inverse[np.ix_(rows, support)] for rows in (support, rest))
    own = whole.covariance[np.ix_(support, support)]
    schur = np.linalg.inv(inverse_own)  # C - B^T A^-1 B
    whitening = np.linalg.inv(np.linalg.cholesky(own))
    eigenvalues, vectors = np.linalg.eigh(whitening @ (own - (schur + schur.T) / 2) @ whitening.T)
    if not _apart_from_one(eigenvalues):
        return None
    transform = whitening.T @ vectors
    solved = -inverse_between @ schur  # A^-1 B
    without = whole.dual_weights - whole.inverse[:, support] @ whole.targets[support]
    return CorrelationPaths(
        whole.targets[rest][None],
        (without[rest] + solved @ without[support])[None],
        (whole.inverse.diagonal()[rest] + np.einsum("ms,ms->m", solved, inverse_between))[None],
        np.array([whole.log_determinant - np.linalg.slogdet(schur)[1]]),
        np.maximum(eigenvalues, 0.0)[None],
        (solved @ transform)[None],
        transform.sum(axis=0)[None],
        transform[None],
    )


def _times(symmetric: Array, rows: Array) -> Array:
    """Each row of (J, s, m) times a symmetric matrix in Fortran order: one product for all."""
    flat = rows.reshape(-1, rows.shape[2])
    product: Array = blas.dgemm(1.0, symmetric, flat.T) if flat.size else flat.T
    return product.T.reshape(rows.shape)


def _apart_from_one(eigenvalues: Array) -> bool:
    return bool(np.isfinite(eigenvalues).all() and eigenvalues.max(initial=0.0) < 1.0 - ROUNDING)


def _padded(supports: Sequence[Indices]) -> tuple[Indices, np.ndarray]:
    """Rows (J, s), filled up with 0, and which of them are examples."""
    size = max((len(support) for support in supports), default=0)
    rows = np.zeros((len(supports), size), np.intp)
    filled = np.zeros(rows.shape, bool)
    for position, support in enumerate(supports):
        rows[position, : len(support)] = support
        filled[position, : len(support)] = True
    return rows, filled


def _own_covariances(K: Array, rows: Indices, filled: np.ndarray, noise_variance: float) -> Array:
    """(J, s, s); where a task is filled up stands the identity, which changes nothing."""
    both = filled[:, :, None] & filled[:, None, :]
    own = np.where(both, K[rows[:, :, None], rows[:, None, :]], 0.0)
    diagonal = np.einsum("jss->js", own)
    diagonal += np.where(filled, noise_variance, 1.0)
    return own

"""The one factorisation everything in gp/ rests on: A = L L^T with LAPACK, and what follows from L.

Matrices handed to LAPACK are in Fortran order, so that none is copied on the way; a symmetric matrix in C order becomes
one by transposing, which costs nothing. Inner products go through einsum: NumPy brings a BLAS of its own, whose threads
would contend with those of SciPy's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import blas, eigvalsh, lapack

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput, JitterWarning
from fewsight._base.types import Array, Indices
from fewsight._compiled import cholesky_update

JITTER_STEPS = (0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # of the mean diagonal
LOG_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class CholeskyFactor:
    """L with A = L L^T: lower (n, n), Fortran order, zeros above a positive diagonal, read-only."""

    lower: Array

    def __post_init__(self) -> None:
        self.lower.setflags(write=False)

    def __len__(self) -> int:
        return len(self.lower)

    def solve(self, B: Array) -> Array:
        """A^-1 B, in Fortran order."""
        return lapack.dpotrs(self.lower, B, lower=1)[0] if B.size else np.zeros(B.shape, order="F")

    def half_solve(self, B: Array) -> Array:
        """L^-1 B, whose squared column lengths are the diagonal of B^T A^-1 B."""
        return blas.dtrsm(1.0, self.lower, B, lower=1) if B.size else np.zeros(B.shape, order="F")

    def back_solve(self, B: Array) -> Array:
        """L^-T B: what turns a half solution into a whole one."""
        return blas.dtrsm(1.0, self.lower, B, lower=1, trans_a=1) if B.size else np.zeros(B.shape, order="F")

    @cached_property
    def log_determinant(self) -> float:
        """log |A|."""
        return 2.0 * float(np.log(self.lower.diagonal()).sum())

    @cached_property
    def inverse_diagonal(self) -> Array:
        """The diagonal of A^-1 = L^-T L^-1 (n,): squared column lengths of L^-1, cheaper than the inverse itself."""
        if not len(self):
            return np.zeros(0)
        inverse = lapack.dtrtri(self.lower, lower=1)[0].T
        return np.einsum("ij,ij->i", inverse, inverse)

    def inverse_lower(self) -> Array:
        """The lower triangle of A^-1, zeros above it, as a new array."""
        return lapack.dpotri(self.lower, lower=1)[0]

    def inverse(self) -> Array:
        """A^-1 as a new array in Fortran order."""
        lower = self.inverse_lower() if len(self) else np.zeros((0, 0), order="F")
        return np.asfortranarray(lower + np.tril(lower, -1).T)

    def append(self, half_solved: Array, corner: CholeskyFactor) -> CholeskyFactor:
        """The factor of [[A, B], [B^T, C]] from L^-1 B (n, m) and the factor of the Schur complement C - B^T A^-1 B."""
        n = len(self)
        size = n + len(corner)
        lower = np.zeros((size, size), order="F")
        lower[:n, :n] = self.lower
        lower[n:, :n] = half_solved.T
        lower[n:, n:] = corner.lower
        return CholeskyFactor(lower)

    def remove(self, indices: Indices) -> CholeskyFactor:
        """The factor of A without these rows and columns."""
        return CholeskyFactor(cholesky_update.remove(self.lower, indices))

    def packed(self) -> Array:
        """The lower triangle, column after column (n (n + 1) / 2,)."""
        return lapack.dtrttp(self.lower, uplo="L")[0] if len(self) else np.zeros(0)

    @staticmethod
    def unpack(packed: Array, n: int) -> CholeskyFactor:
        """The factor of n rows that `packed` was made from."""
        return CholeskyFactor(lapack.dtpttr(n, packed, uplo="L")[0] if n else np.zeros((0, 0), order="F"))


def log_density(factor: CholeskyFactor, targets: Array, dual_weights: Array) -> float:
    """log N(t; 0, A), summed over the columns t of targets; dual_weights = A^-1 targets. [Kapoor2010, section 4.4]"""
    n, n_targets = targets.shape
    misfit = float(np.einsum("ij,ij->", targets, dual_weights))
    return -0.5 * (misfit + n_targets * (factor.log_determinant + n * LOG_TWO_PI))


def with_diagonal(A: Array, addition: float | Array) -> Array:
    """A, which is overwritten, with something added to its diagonal."""
    diagonal = np.einsum("ii->i", A)
    diagonal += addition
    return A


def factorise(
    owner: object, build: Callable[[], Array], scale: Array | None = None, size: int = 0
) -> tuple[CholeskyFactor, float]:
    """The factor of `build()` and the jitter it took: the least of a few amounts, added to every diagonal entry.

    `build` returns a new matrix in Fortran order each time, of which the lower triangle counts. A pivot that could be
    rounding error alone is as bad as a negative one: rounding grows with the diagonal and with the number of rows. Where
    `build` gives a Schur complement, `scale` is the diagonal of the block it started from and `size` the number of rows
    that were eliminated before.
    """
    for step in JITTER_STEPS:
        A = build()
        diagonal = A.diagonal().copy() if scale is None else scale
        least = max(len(A), size) * np.finfo(np.float64).eps * diagonal
        jitter = step * float(diagonal.mean()) if step else 0.0
        factor = _factored(with_diagonal(A, jitter), least)
        if factor is not None:
            return factor, jitter
    raise InvalidInput(
        f"{owner_name(owner)}: the covariance matrix (Gram matrix and noise) must be positive semi-definite, got one with "
        f"the eigenvalue {least_eigenvalue(build()):.3g}, where the mean of its diagonal is {float(diagonal.mean()):.3g}."
    )


def least_eigenvalue(A: Array) -> float:
    """Of a symmetric matrix whose lower triangle is given; it costs more than a factorisation, so only a refusal asks for it."""
    return float(eigvalsh(A, lower=True, subset_by_index=[0, 0])[0])


def plain_factor(A: Array) -> CholeskyFactor | None:
    """The factor of A, which is overwritten, without jitter; None where it is not positive definite beyond rounding."""
    return _factored(A, len(A) * np.finfo(np.float64).eps * A.diagonal())


def _factored(A: Array, least: Array) -> CholeskyFactor | None:
    """None where a squared pivot is not above `least`."""
    lower, failed = _dpotrf(A)
    return CholeskyFactor(_clean(lower)) if not failed and (lower.diagonal() ** 2 > least).all() else None


def _dpotrf(A: Array) -> tuple[Array, int]:
    """LAPACK's factorisation in place, and whether it failed; above the diagonal stands what stood there."""
    return lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0) if len(A) else (A, 0)


def _clean(lower: Array) -> Array:
    """The same array with zeros above the diagonal; column by column is eight times faster than dpotrf's own way."""
    for j in range(1, len(lower)):
        lower[:j, j] = 0.0
    return lower


def announce_jitter(owner: object, jitter: float, what: str) -> None:
    """Warn that something had to be added to the diagonal, if it had to be."""
    if jitter:
        warnings.warn(
            f"{owner_name(owner)}: the covariance matrix with noise is not positive definite; "
            f"{jitter:.3g} was added to the diagonal entries of {what} examples.",
            JitterWarning,
            stacklevel=3,
        )

"""K of all pairs in single precision, where it is small enough to be formed, and its inverse as a preconditioner.

A product with it takes a fraction of the time of an implicit one, and its Cholesky factor, which takes the place of K itself,
turns some dozen iterations of conjugate gradients into one or two. Neither changes a solution: residuals are those of the
operator that K was rounded from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, final

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from fewsight._base.types import Array, Indices

if TYPE_CHECKING:
    from fewsight.gp.linear_systems import Preconditioner

Singles: TypeAlias = npt.NDArray[np.float32]
# Nanoseconds, measured beside those of `iterative_posterior`: of a product, for each pair of rows and column; of the factor, for
# each row cubed; of a pair of triangular systems, for each pair of rows and column.
PRODUCT, FACTORED, SOLVED = 0.02, 0.0028, 0.03


@final
@dataclass(frozen=True, eq=False)
class RoundedGram:
    """K (n, n) in single precision, as an operator: products are right to about a millionth."""

    K: Singles

    @property
    def n(self) -> int:
        """How many rows K has."""
        return len(self.K)

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.K @ np.asarray(V, dtype=np.float32), dtype=np.float64)

    def diag(self) -> Array:
        """The diagonal of K."""
        return self.K.diagonal().astype(np.float64)

    def columns(self, indices: Indices) -> Array:
        """These columns, (n, m)."""
        return self.K[:, indices].astype(np.float64)

    def inverted(self, noise: Array) -> RoundedInverse | None:
        """The inverse of K + noise (n, columns), of their geometric mean where each column has its own; it takes the place of K,
        which is gone then. None where rounding leaves nothing that is positive definite."""
        self.K.flat[:: self.n + 1] += np.exp(np.log(noise).mean(axis=1)).astype(np.float32)
        try:
            factor, _ = cho_factor(self.K.T, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        return RoundedInverse(factor)


@final
@dataclass(frozen=True, eq=False)
class RoundedInverse:
    """What preconditioners are made of: the Cholesky factor of K + noise in single precision."""

    factor: Singles  # its lower triangle

    def preconditioner(self, noise: Array, kept: npt.NDArray[np.bool_] | None = None) -> Preconditioner:
        """For all examples or, where some are left out, for those that are kept; the factor was made with this noise, or with one
        that is close to it."""
        return self.solve if kept is None else _WithoutSome.of(self, np.flatnonzero(~kept))

    def solve(self, R: Array) -> Array:
        """(K + noise)^-1 R, nearly."""
        return np.asarray(self._solve(np.asarray(R, dtype=np.float32)), dtype=np.float64)

    def columns(self, indices: Indices) -> Singles:
        """These columns of the inverse, (n, m)."""
        unit = np.zeros((len(self.factor), len(indices)), np.float32, order="F")
        unit[indices, np.arange(len(indices))] = 1.0
        return self._solve(unit)

    def _solve(self, R: Singles) -> Singles:
        return np.asarray(cho_solve((self.factor, True), R, check_finite=False))


@final
@dataclass(frozen=True, eq=False)
class _WithoutSome:
    """The inverse of the part of K + noise that is left without some rows and columns, by that of the whole.

    With W the columns of the whole inverse P of what is left out: P - W (the rows of W that are left out)^-1 W^T.
    """

    whole: RoundedInverse
    left_out: Indices
    columns: Singles  # W
    corner: tuple[Array, bool]

    @classmethod
    def of(cls, whole: RoundedInverse, left_out: Indices) -> _WithoutSome:
        columns = whole.columns(left_out)
        corner = columns[left_out].astype(np.float64)
        return cls(whole, left_out, columns, cho_factor(0.5 * (corner + corner.T), lower=True))

    def __call__(self, R: Array) -> Array:
        Z = self.whole.solve(R)
        Z -= self.columns @ cho_solve(self.corner, Z[self.left_out])
        Z[self.left_out] = 0.0
        return Z


def seconds_formed(n: int, forming: float, columns: int, systems: int, left_out: int) -> float:
    """About how long everything takes with K formed: making it (`forming`), products with so many columns, its factor, and so
    many systems that are solved, with `left_out` examples that are left out meanwhile."""
    pairs = 1e-9 * n * n
    return forming + pairs * (PRODUCT * columns + FACTORED * n + SOLVED * (2 * systems + left_out))

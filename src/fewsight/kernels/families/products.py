"""Products of kernels of groups of columns, each with an exponent: which groups count, and how much. [Gehler2009, section 6]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_integer, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.kernels.base import Kernel
from fewsight.kernels.columns import Columns
from fewsight.kernels.families.base import SlopedFamily, Theta
from fewsight.kernels.histograms import ExponentialChiSquare
from fewsight.kernels.power_product import PowerProduct
from fewsight.kernels.rbf import RBF
from fewsight.kernels.rows import Rows

SPREAD = 1.0  # standard deviation of the logarithm of a proposed exponent
FAR = -745.0  # below it the exponential of a double is zero
TYPICAL_DISTANCE = 1e-9  # of columns that hardly change, at the least


@final
@dataclass(frozen=True)
class ProductFamily(SlopedFamily):
    """k(x, z) = prod_g exp(-distance(x_g, z_g))^exponent_g over groups g of columns, with theta = the exponents, zero or more.

    Parameters
    ----------
    size : columns of a group: the first `size` columns, the next `size` and so on; the last group may be smaller.
    distance : "euclidean" for half the squared distance, "chi_square" for histograms.
    """

    kind: ClassVar[str] = "products"
    size: int = 2
    distance: str = "euclidean"

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", check_integer(self, "size", self.size, least=1))
        if self.distance not in ("euclidean", "chi_square"):
            raise InvalidInput(
                f"{owner_name(self)}: distance must be euclidean or chi_square, got {shown(self.distance)}."
            )

    @property
    def _part(self) -> Kernel:
        return RBF(1.0) if self.distance == "euclidean" else ExponentialChiSquare(1.0)

    def propose(self, examples: Rows, rng: np.random.Generator) -> Theta:
        rows = self._dense(examples)
        n_groups = len(self._groups(rows.shape[1]))
        kept = rng.permutation(n_groups)[: round(np.exp(rng.uniform(0.0, np.log(n_groups))))]
        numbers = np.zeros(n_groups)
        numbers[kept] = np.exp(rng.normal(0.0, SPREAD, len(kept))) / len(kept)
        return self.theta(numbers, rows)

    def make(self, theta: Theta) -> PowerProduct:
        exponents, n_columns = self._parameters(theta, "exponents", "n_columns")
        groups = self._groups(check_integer(self, "n_columns", n_columns, least=1))
        return PowerProduct(tuple(Columns(group, self._part) for group in groups), exponents)

    def numbers(self, theta: Theta, rows: Array) -> Array:
        """Exponents for groups whose typical distance is one."""
        return np.array(self.make(theta).exponents) * self._typical(rows)

    def theta(self, numbers: Array, rows: Array) -> Theta:
        return {"exponents": (numbers / self._typical(rows)).tolist(), "n_columns": rows.shape[1]}

    def value_and_slopes(self, numbers: Array, rows: Array, columns: Array) -> tuple[float, Array]:
        """With M = K * (A A^T), dT/d exponent_g = -1/2 sum_ij M_ij distance_g(i, j)."""
        distances, typical = self._distances(rows), self._typical(rows)
        logarithm = -np.tensordot(numbers / typical, distances, axes=1)
        M = np.exp(np.maximum(logarithm, FAR)) * (columns @ columns.T)
        slopes = -0.5 * np.einsum("gij,ij->g", distances, M)
        return 0.5 * float(M.sum()), slopes / typical

    def _groups(self, n_columns: int) -> list[tuple[int, ...]]:
        return [tuple(range(first, min(first + self.size, n_columns))) for first in range(0, n_columns, self.size)]

    def _distances(self, rows: Array) -> Array:
        """(g, n, n)."""
        parts = [Columns(group, self._part).gram(rows) for group in self._groups(rows.shape[1])]
        return -np.log(np.maximum(np.stack(parts), np.finfo(float).tiny))

    def _typical(self, rows: Array) -> Array:
        """The mean distance of each group; 1 for one that never changes."""
        means = self._distances(rows).mean(axis=(1, 2))
        return np.where(means > TYPICAL_DISTANCE, means, 1.0)

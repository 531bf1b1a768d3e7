"""Multi-resolution histograms whose intersection is the pyramid match kernel. [Kapoor2010, section 5]

The pyramid match counts at each resolution the matches that are new there, weighted by w_i = 1 / (size of a bin). As the number
of matches at a level is an intersection I_i, sum_i w_i (I_i - I_(i-1)) = sum_i (w_i - w_(i+1)) I_i: one intersection of rows
whose bins carry the weight (w_i - w_(i+1)), which is not negative because bins grow. So it is a Mercer kernel. It is a partial
match: points of the larger set that find no partner cost nothing. Rows that are divided by the number of points give that up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_integer, check_number
from fewsight._base.types import Array, Indices, Recipe

Points = npt.NDArray[np.float32]  # (n, d), a row per local feature


@dataclass(frozen=True)
class UniformPyramid:
    """Grids of cubes, each level's twice as wide as those of the level before, over the space of the local features.

    Occupied bins are scattered over `n_columns` columns by a hash: two bins that meet in one column by chance add a match
    between two images about once in n_columns / (features of both) times.
    """

    finest: float = 2.0
    n_levels: int = 5
    n_columns: int = 2**22
    random_state: int = 0

    def __post_init__(self) -> None:
        check_number(self, "finest", self.finest, least=1e-3, most=1e6)
        check_integer(self, "n_levels", self.n_levels, least=1, most=30)
        check_integer(self, "n_columns", self.n_columns, least=1)
        check_integer(self, "random_state", self.random_state, least=0)

    @property
    def sides(self) -> Array:
        """Width of a bin at each level."""
        return self.finest * np.exp2(np.arange(self.n_levels, dtype=np.float64))

    @property
    def weights(self) -> Array:
        """What a match that is new at each level counts: finest / width."""
        return self.finest / self.sides

    @property
    def increments(self) -> Array:
        """w_i - w_(i+1): the weight of all matches at each level; they sum to w_0 = 1."""
        return self.weights - np.append(self.weights[1:], 0.0)

    def recipe(self) -> Recipe:
        return {
            "kind": "uniform_pyramid",
            "version": 1,
            "finest": self.finest,
            "n_levels": self.n_levels,
            "n_columns": self.n_columns,
            "random_state": self.random_state,
        }

    def encode(self, points: Points) -> tuple[Indices, Array]:
        """Columns (ascending) and values of one image's row; the row sums to one."""
        return self._row(points, max(1, len(points)))

    def counts(self, points: Points) -> tuple[Indices, Array]:
        """As `encode`; the row sums to the number of points, which is what the image matches with itself."""
        return self._row(points, 1)

    def _row(self, points: Points, divisor: int) -> tuple[Indices, Array]:
        shifts, factors = self._random(points.shape[1])
        columns, values = [], []
        for level, (side, increment) in enumerate(zip(self.sides, self.increments, strict=True)):
            bins = np.floor((points + shifts) / side).astype(np.int64).view(np.uint64)
            columns.append(_hash(bins, factors[level]) % np.uint64(self.n_columns))
            values.append(np.full(len(points), increment / divisor))
        found, place = np.unique(np.concatenate(columns).astype(np.intp), return_inverse=True)
        sums: Array = np.bincount(place, np.concatenate(values), minlength=len(found)).astype(np.float64)
        return found, sums

    def _random(self, n_dims: int) -> tuple[Array, npt.NDArray[np.uint64]]:
        """Shifts of the grids' common origin, and odd factors of the hash, a row per level."""
        rng = np.random.default_rng([self.random_state, n_dims])
        shifts = rng.random(n_dims) * self.sides[-1]
        factors = rng.integers(0, 2**64, (self.n_levels, n_dims + 1), dtype=np.uint64) | np.uint64(1)
        return shifts, factors


def _hash(bins: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Multiply and add modulo 2^64, then fold the high half, which is the well mixed one, onto the low."""
    mixed = (bins * factors[:-1]).sum(axis=1, dtype=np.uint64) + factors[-1]
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    return mixed >> np.uint64(20)

"""When a preconditioner pays for the systems that a histogram learner solves, and the one that serves them all.

With rank 300 conjugate gradients take about half of the iterations, each of which costs more, and the preconditioner has to be
made. What an operation costs is known from `benchmarks/bench_preconditioner.py`; how many iterations there would be is found out
with one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array
from fewsight.gp import ColumnOperator, LowRankPreconditioner, Solution, conjugate_gradients, pivoted_cholesky

AUTO = "auto"
RANK = 300  # smaller ones save less than they cost
KEPT = 0.6  # of the iterations is what it leaves, or less: 0.4 to 0.6 on images, 0.7 where there were ten
LEAST_ITERATIONS = 8  # of fewer hardly any can be saved
MARGIN = 0.85  # of the time without it that it must be expected to take, or less
# Nanoseconds: of a product, for each non-zero and column, with one column and in blocks of eight; of the preconditioner for each
# row, rank and column; of making it, for each non-zero and rank, and for each row and square of the rank.
ONE_COLUMN, MANY_COLUMNS, APPLIED, COLUMN_MADE, FACTOR_MADE = 1.2, 0.4, 0.55, 0.85, 0.4
MOST_ITERATIONS = 200  # that are expected before any was made


@final
@dataclass(frozen=True, eq=False)
class LowRank:
    """K nearly as L L^T, and what is left of its diagonal; see `fewsight.gp.preconditioning`."""

    L: Array  # (n, rank)
    left: Array  # (n,)

    @classmethod
    def of(cls, operator: ColumnOperator, rank: int) -> LowRank:
        """By as many columns of K as its rank."""
        return cls(*pivoted_cholesky(operator, rank))

    def preconditioner(self, noise: Array, kept: npt.NDArray[np.bool_] | None = None) -> LowRankPreconditioner:
        """For this noise and, where some examples are left out, for those that are kept."""
        return LowRankPreconditioner.of(self.L if kept is None else self.L * kept[:, None], self.left, noise)

    def grown(self, diagonal: Array) -> LowRank | None:
        """For more examples, the last of which it knows nothing about; None where they are too many for that."""
        more = len(diagonal) - len(self.left)
        if more > len(self.left) // 4:
            return None
        L = np.vstack([self.L, np.zeros((more, self.L.shape[1]))])
        return LowRank(L, np.concatenate([self.left, diagonal[len(self.left) :]]))


def pays(n: int, n_numbers: int, iterations: int, columns: int) -> bool:
    """Whether rank RANK saves time on so many columns of systems that take so many iterations; K has n_numbers non-zeros."""
    product = n_numbers * (MANY_COLUMNS if columns >= 8 else ONE_COLUMN)
    plain = iterations * columns * product
    helped = KEPT * iterations * columns * (product + APPLIED * n * RANK)
    return iterations >= LEAST_ITERATIONS and MARGIN * plain > helped + RANK * (
        COLUMN_MADE * n_numbers + FACTOR_MADE * n * RANK
    )


def low_rank_for(
    operator: ColumnOperator,
    n_numbers: int,
    sides: Array,
    noise: Array,
    rank: int | str,
    columns: int,
    tolerance: float,
    max_iterations: int,
) -> LowRank | None:
    """For systems with these right-hand sides, and `columns` of them altogether that will share it; None without one."""
    if rank != AUTO:
        return LowRank.of(operator, int(rank)) if rank else None
    n = operator.n
    if n <= 2 * RANK or not pays(n, n_numbers, MOST_ITERATIONS, columns):
        return None
    pilot: Solution = conjugate_gradients(
        operator, sides[:, :1], noise[:, :1], tolerance=tolerance, max_iterations=max_iterations
    )
    return LowRank.of(operator, RANK) if pays(n, n_numbers, pilot.iterations, columns) else None

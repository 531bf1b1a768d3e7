"""The posterior of all one-vs-all problems by conjugate gradients, with a free mean for each. [Rodner2012, sections 3 and
5.1]"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.gp import IterativeVariance, LinearOperator, Preconditioner, Restricted, Solution, conjugate_gradients
from fewsight.kernels import HistogramOperator, LookupTable
from fewsight.learners.histograms.low_rank import AUTO, RANK, LowRank, low_rank_for, pays

TABLE_BYTES = 512 * 2**20  # that a look-up table may take; beyond, prediction is exact
TINY = 1e-300


@final
@dataclass(frozen=True)
class Options:
    """How exactly to solve and to predict."""

    tolerance: float
    max_iterations: int
    bins: int | None
    rank: int | str = 0  # of the preconditioner, or "auto"


@final
@dataclass(frozen=True, eq=False)
class HistogramPosterior:
    """Latent value of class c at x: means[c] + k(x)^T dual[:, c]; its covariance is scale * (K + noise) without the mean.

    With two classes the latent values are each other's opposites, so that one system is solved; `dual`, `ones` and `noise`
    have one column then, for the second class.
    """

    operator: HistogramOperator
    classes: Indices  # (n,): the column of each example's class
    n_classes: int
    noise: Array  # (n, 1) or (n, columns)
    dual: Array  # (n, columns): A^-1 (targets - means)
    ones: Array  # (n, 1) or (n, columns): A^-1 1
    means: Array  # (columns,)
    scale: float
    options: Options
    iterations: int
    residual: float
    converged: bool
    low_rank: LowRank | None = None  # what the preconditioner is made of, where there is one

    @classmethod
    def condition(
        cls,
        operator: HistogramOperator,
        classes: Indices,
        n_classes: int,
        noise: Array,
        options: Options,
        start: HistogramPosterior | None = None,
        further: int = 0,
    ) -> HistogramPosterior:
        """Solve for all classes as one block, from an earlier posterior of fewer examples or classes where there is one.

        `further` says how many more systems are to be expected, with which a preconditioner would be shared.
        """
        targets = targets_of_columns(classes, n_classes)
        sides, wide = _sides(targets, noise)
        low_rank = _low_rank(operator, sides, wide, options, start, further)
        solved = _solve(operator, sides, wide, options, _start(start, sides), _prepared(low_rank, wide))
        dual, ones, means, scale = without_means(solved.columns, targets)
        return cls(
            operator,
            classes,
            n_classes,
            noise,
            dual,
            ones,
            means,
            scale,
            options,
            solved.iterations,
            solved.residual,
            solved.converged,
            low_rank,
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.classes)

    def mean(self, X: object) -> Array:
        """Latent means (m, n_classes) of new rows, by table unless it would be too large."""
        product = self._table.product(X) if self._table is not None else self.operator.product(X, self.dual)
        return self._both(product + self.means)

    def exact_mean(self, X: object) -> Array:
        """As `mean`, never by table."""
        return self._both(self.operator.product(X, self.dual) + self.means)

    def left_out(self, fold: Indices) -> Array:
        """Latent means of training examples (m, n_classes), predicted from all that are not among them: solved anew."""
        start = np.hstack([self.dual + self.means * self.ones, self.ones])
        how = self.options, start, self.low_rank
        return left_out_means(self.operator, self.classes, self.n_classes, self.noise, fold, *how)

    def variances(self, column: int = 0, systems: int = 0) -> IterativeVariance:
        """Of the latent values of a class, in units of K; `systems` says how many are to be solved for."""
        noise = self.noise[:, column if self.noise.shape[1] > 1 else 0]
        ones = self.ones[:, column if self.noise.shape[1] > 1 else 0]
        low_rank = self.low_rank or (self._later if self._pays_later(systems) else None)
        prepared = _prepared(low_rank, noise[:, None])
        return IterativeVariance(self.operator, noise, ones, min(self.options.tolerance, 1e-3), prepared)

    def _pays_later(self, systems: int) -> bool:
        """Whether systems that come after training are worth a preconditioner that training was not."""
        if self.options.rank != AUTO:
            return bool(self.options.rank)
        return pays(self.n, self.operator.n_numbers, self.iterations, systems)

    @cached_property
    def _later(self) -> LowRank:
        rank = self.options.rank
        return LowRank.of(self.operator, RANK if isinstance(rank, str) else rank)

    @cached_property
    def _table(self) -> LookupTable | None:
        bins = self.options.bins
        if bins is None or 8 * self.operator.width * (bins + 1) * self.dual.shape[1] > TABLE_BYTES:
            return None
        return LookupTable.from_operator(self.operator, self.dual, bins)

    def _both(self, means: Array) -> Array:
        return of_all_classes(means, self.n_classes)


def left_out_means(
    operator: HistogramOperator,
    classes: Indices,
    n_classes: int,
    noise: Array,
    fold: Indices,
    options: Options,
    start: Array | None = None,
    low_rank: LowRank | None = None,
) -> Array:
    """Latent means (m, n_classes) of the examples of a fold, predicted from all others."""
    kept = np.ones(operator.n, dtype=bool)
    kept[fold] = False
    targets = targets_of_columns(classes, n_classes)
    sides, wide = _sides(targets, noise)
    options = Options(max(options.tolerance, 1e-3), options.max_iterations, None)
    first = None if start is None else start * kept[:, None]
    prepared = _prepared(low_rank, wide, kept)
    solved = _solve(Restricted(operator, kept), sides * kept[:, None], wide, options, first, prepared)
    dual, _, means, _ = without_means(solved.columns, targets)
    return of_all_classes((operator @ dual)[fold] + means, n_classes)


def of_all_classes(means: Array, n_classes: int) -> Array:
    """A column for each class, where two classes share one."""
    return np.hstack([-means, means]) if n_classes == 2 else means


def targets_of_columns(classes: Indices, n_classes: int) -> Array:
    """+1 in the column of an example's class, -1 in the others; one column, of the second class, where there are two."""
    columns = np.arange(1, 2) if n_classes == 2 else np.arange(n_classes)
    return np.where(classes[:, None] == columns, 1.0, -1.0)


def _sides(targets: Array, noise: Array) -> tuple[Array, Array]:
    """What to solve for, targets and then ones for every different noise, and the noise of each of these."""
    shared = noise.shape[1] == 1
    sides = np.hstack([targets, np.ones((len(targets), 1 if shared else targets.shape[1]))])
    return sides, noise if shared else np.hstack([noise, noise])


def without_means(solved: Array, targets: Array) -> tuple[Array, Array, Array, float]:
    """Dual weights, A^-1 1, means and the scale of the evidence, from A^-1 [targets, ones]; rows left out are zero in all."""
    c = targets.shape[1]
    ones = solved[:, c:]
    means = np.einsum("ij,ij->j", np.broadcast_to(ones, targets.shape), targets) / ones.sum(axis=0)
    dual = solved[:, :c] - ones * means
    freedom = max(int(ones.any(axis=1).sum()) - 1, 1) * c
    return dual, ones, means, max(float(np.einsum("ij,ij->", dual, targets)) / freedom, TINY)


def _solve(
    operator: LinearOperator,
    sides: Array,
    noise: Array,
    options: Options,
    start: Array | None = None,
    preconditioner: Preconditioner | None = None,
) -> Solution:
    return conjugate_gradients(
        operator,
        sides,
        noise,
        start=start,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        preconditioner=preconditioner,
    )


def _low_rank(
    operator: HistogramOperator,
    sides: Array,
    noise: Array,
    options: Options,
    before: HistogramPosterior | None,
    further: int,
) -> LowRank | None:
    """That of an earlier posterior, where it will do, or a new one where it pays."""
    if before is not None:
        return None if before.low_rank is None else before.low_rank.grown(operator.diag())
    columns = sides.shape[1] + further
    how = options.rank, columns, options.tolerance, options.max_iterations
    return low_rank_for(operator, operator.n_numbers, sides, noise, *how)


def _prepared(
    low_rank: LowRank | None, noise: Array, kept: npt.NDArray[np.bool_] | None = None
) -> Preconditioner | None:
    return None if low_rank is None else low_rank.preconditioner(noise, kept)


def _start(before: HistogramPosterior | None, sides: Array) -> Array | None:
    """What was solved before, with zeros for new examples and, for new classes, what all examples outside of a class have."""
    if before is None:
        return None
    solved = np.hstack([before.dual + before.means * before.ones, before.ones])
    if solved.shape[1] != sides.shape[1]:
        return None
    return np.vstack([solved, np.zeros((len(sides) - len(solved), sides.shape[1]))])

"""The posterior of all one-vs-all problems by conjugate gradients, with a free mean for each. [Rodner2012, sections 3 and
5.1]

With A = K + noise and u = A^-1 1, the mean of a problem with targets y is m = u^T y / 1^T u, and its dual weights are
A^-1 y - m u. The targets of all problems and the ones are solved for as one block; nothing but products with K is needed.

Where K of all pairs is small enough to be formed in single precision, its factor is the preconditioner (see
`fewsight.gp.rounded_gram`), and one or two iterations are enough. Elsewhere one of rank 300 (see `fewsight.gp.preconditioning`)
takes away about half of the iterations, makes each more costly, and has to be made. What an operation costs is known from
`benchmarks/bench_preconditioner.py`; a pilot run with one column shows how many iterations there would be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar, final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_positive
from fewsight._base.errors import InvalidInput
from fewsight._base.progress import steps_of
from fewsight._base.state import INTEGERS
from fewsight._base.types import Array, Indices, Rows, State
from fewsight.gp.iterative_variance import IterativeVariance
from fewsight.gp.linear_systems import Watch, conjugate_gradients, norms
from fewsight.gp.operators import ColumnOperator, PredictiveOperator, Products, Restricted
from fewsight.gp.preconditioning import LowRank
from fewsight.gp.rounded_gram import RoundedGram, RoundedInverse

AUTO = "auto"
RANK = 300  # smaller ones save less than they cost
KEPT = 0.6  # of the iterations is what it leaves, or less: 0.4 to 0.6 on images, 0.7 where there were ten
LEAST_ITERATIONS = 8  # of fewer hardly any can be saved
MARGIN = 0.85  # of the time without it that it must be expected to take, or less
# Nanoseconds: of a product, for each number it reads and column, with one column and in blocks of eight; of the preconditioner
# for each row, rank and column; of making it, for each number of K and rank, and for each row and square of the rank.
ONE_COLUMN, MANY_COLUMNS, APPLIED, COLUMN_MADE, FACTOR_MADE = 1.2, 0.4, 0.55, 0.85, 0.4
MOST_ITERATIONS = 200  # that are expected before any was made
STEPS = 100  # in which progress is told
LOOSE = 1e-3  # tolerance that is exact enough for examples that are left out
TINY = 1e-300
LEAST_TOTAL = 1e-100  # of stored ones: what is divided by less is soon infinite
Operator = TypeVar("Operator", bound=PredictiveOperator)


@final
@dataclass(frozen=True)
class SolverOptions:
    """How exactly to solve and to predict."""

    tolerance: float
    max_iterations: int
    bins: int | None  # of the look-up table for predictions; None for exact ones
    rank: int | str = 0  # of the preconditioner, or "auto"


class Solved(NamedTuple):
    """All that is known of the problems once their systems are solved."""

    dual_weights: Array  # (n, columns): A^-1 (targets - means)
    ones: Array  # (n, 1) or (n, columns): A^-1 1
    means: Array  # (columns,)
    scale: float  # of kernel and noise, the best for the evidence
    iterations: int
    residual: float  # the largest of all systems, relative
    converged: bool


@final
@dataclass(frozen=True, eq=False)
class IterativePosterior(Generic[Operator]):
    """Latent value of class c at x: means[c] + k(x)^T dual_weights[:, c]; its covariance is scale * (K + noise) without the mean.

    With two classes, and no example that belongs to neither, the latent values are each other's opposites, so that one system is
    solved; `dual_weights`, `ones` and `noise` have one column then, for the second class.
    """

    operator: Operator
    classes: Indices  # (n,): the column of each example's class; -1 for one that belongs to none
    n_classes: int
    noise: Array  # (n, 1) or (n, columns)
    options: SolverOptions
    dual_weights: Array  # (n, columns)
    ones: Array  # (n, 1) or (n, columns)
    means: Array  # (columns,)
    scale: float
    iterations: int
    residual: float
    converged: bool
    low_rank: LowRank | RoundedInverse | None = None  # what preconditioners are made of, where there is something

    @classmethod
    def condition(
        cls,
        operator: Operator,
        classes: Indices,
        n_classes: int,
        noise: Array,
        options: SolverOptions,
        start: IterativePosterior[Operator] | None = None,
        further: int = 0,
        gram: RoundedGram | None = None,
    ) -> IterativePosterior[Operator]:
        """Solve for all classes as one block, from an earlier posterior of fewer examples where there is one.

        `further` says how many more systems are expected, which would share a preconditioner; `gram` is the operator in single
        precision, where it was formed: what it holds is gone afterwards.
        """
        targets = targets_of_columns(classes, n_classes)
        columns = targets.shape[1] + noise.shape[1]
        first: Array | None = None
        low_rank: LowRank | RoundedInverse | None = None if gram is None else gram.inverted(noise)
        if start is not None:
            first = start._start(targets, noise)
            if isinstance(start.low_rank, LowRank):
                low_rank = start.low_rank.grown(operator.diag())
        elif low_rank is None:
            low_rank = choose_low_rank(operator, targets[:, :1], noise[:, :1], options, columns + further)
        with steps_of("training", STEPS) as reach:
            solved = _solve(operator, targets, noise, options, first, low_rank, watch=_progress(reach, options))
        return cls(operator, classes, n_classes, noise, options, *solved, low_rank)

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.classes)

    def mean(self, X: Rows) -> Array:
        """Latent means (m, n_classes) of new rows, by table where the options say so."""
        return of_all_classes(self.products.product(X) + self.means, self.n_classes)

    def exact_mean(self, X: Rows) -> Array:
        """As `mean`, never by table."""
        return of_all_classes(self.operator.product(X, self.dual_weights) + self.means, self.n_classes)

    def left_out(self, fold: Indices) -> Array:
        """Latent means of training examples (m, n_classes), predicted from all that are not among them: solved anew."""
        first = (
            None if isinstance(self.low_rank, RoundedInverse) else self._solved()
        )  # where an iteration or two are enough
        how = self.options, first, self.low_rank
        return left_out_means(self.operator, self.classes, self.n_classes, self.noise, fold, *how)

    def prior_variance(self, X: Rows) -> Array:
        """Of the latent values of new rows before any example was known (m,)."""
        return self.scale * self.operator.diag_of(X)

    def variance(self, X: Rows) -> Array:
        """Of the latent values of new rows (m, n_classes): a system for each row and each noise."""
        K_new, prior = self.operator.cross(X), self.operator.diag_of(X)
        columns = [self.variances(column, len(prior)).of(K_new, prior) for column in range(self.noise.shape[1])]
        each = self.scale * np.column_stack(columns)
        return each if each.shape[1] == self.n_classes else np.repeat(each, self.n_classes, axis=1)

    def variances(self, column: int = 0, systems: int = 0, gram: RoundedGram | None = None) -> IterativeVariance:
        """Of the latent values of a class, in units of K; `systems` says how many are to be solved for. `gram` is the operator in
        single precision, where it was formed: what it holds is gone afterwards."""
        at = column if self.noise.shape[1] > 1 else 0
        noise, ones = self.noise[:, at], self.ones[:, at]
        low_rank = self.low_rank or (None if gram is None else gram.inverted(noise[:, None]))
        if low_rank is None and self._pays_later(systems):
            low_rank = self._later
        preconditioner = None if low_rank is None else low_rank.preconditioner(noise[:, None])
        return IterativeVariance(self.operator, noise, ones, min(self.options.tolerance, LOOSE), preconditioner)

    def state(self) -> State:
        """What `from_state` needs beside the operator, the number of classes and the options."""
        header = {name: getattr(self, name) for name in ("scale", "iterations", "residual", "converged")}
        arrays = {"noise": self.noise, "dual": self.dual_weights, "ones": self.ones, "means": self.means}
        return State(header, {**arrays, "example_classes": self.classes})

    @classmethod
    def from_state(
        cls,
        state: State,
        operator: Operator,
        n_classes: int,
        options: SolverOptions,
    ) -> IterativePosterior[Operator]:
        """The posterior that `state()` described; InvalidInput if it cannot have come from there."""
        n = operator.n
        classes = state.array("example_classes", (n,), INTEGERS, least=-1, most=n_classes - 1).astype(
            np.intp, copy=False
        )
        columns = n_columns(classes, n_classes)
        dual_weights = state.array("dual", (n, columns), np.float64)
        noise = state.array("noise", (n, None), np.float64, above=0.0)
        if noise.shape[1] not in (1, columns):
            raise InvalidInput(f"the noise must have one column, or one for each class, got {noise.shape[1]}.")
        ones, means = state.array("ones", noise.shape, np.float64), state.array("means", (columns,), np.float64)
        if not (ones.sum(axis=0) > LEAST_TOTAL).all():  # 1^T A^-1 1, which the variance is divided by
            raise InvalidInput(
                f"the stored ones must sum to a number > 0 in each column, got {ones.sum(axis=0).min():g}."
            )
        scale = check_positive("model", "scale", state.number("scale"))
        how = state.integer("iterations", most=2**53), state.number("residual", least=0.0), state.flag("converged")
        return cls(operator, classes, n_classes, noise, options, dual_weights, ones, means, scale, *how)

    @cached_property
    def products(self) -> Products:
        """K between new rows and the examples times the dual weights, by table where the options say so."""
        return self.operator.table(self.dual_weights, self.options.bins)

    @cached_property
    def _later(self) -> LowRank:
        rank = self.options.rank
        return LowRank.of(self.operator, RANK if isinstance(rank, str) else rank)

    def _pays_later(self, systems: int) -> bool:
        """Whether systems that come after training are worth a preconditioner that training was not."""
        if self.options.rank != AUTO:
            return bool(self.options.rank)
        return pays(self.n, self.operator.n_numbers, self.iterations, systems)

    def _solved(self) -> Array:
        """A^-1 [centred targets, ones]."""
        centres = targets_of_columns(self.classes, self.n_classes).mean(axis=0)
        return np.hstack([self.dual_weights + (self.means - centres) * self.ones, self.ones])

    def _start(self, targets: Array, noise: Array) -> Array:
        """What was solved, for the targets and the noise of these and more examples, of these and more classes.

        New examples begin at zero. To the examples that were there, a new class is one that none of them belongs to: its targets
        are all alike there, and so its solution is a multiple of that of the ones.
        """
        duals, means = self.dual_weights, self.means
        if len(means) < min(self.n_classes, targets.shape[1]):  # two classes shared a column, and no longer do
            duals, means = np.hstack([-duals, duals]), np.concatenate([-means, means])
        new = targets.shape[1] - len(means)
        duals, means = np.pad(duals, ((0, 0), (0, new))), np.append(means, np.full(new, -1.0))
        ones = np.repeat(self.ones.mean(axis=1, keepdims=True), max(noise.shape[1], len(means)), axis=1)
        if self.ones.shape[1] == self.dual_weights.shape[1] == len(means) - new:
            ones[:, : self.ones.shape[1]] = self.ones
        first = np.zeros((len(targets), len(means) + noise.shape[1]))
        first[: self.n, : len(means)] = duals + (means - targets.mean(axis=0)) * ones[:, : len(means)]
        first[: self.n, len(means) :] = ones[:, : noise.shape[1]]
        return first


def left_out_means(
    operator: ColumnOperator,
    classes: Indices,
    n_classes: int,
    noise: Array,
    fold: Indices,
    options: SolverOptions,
    start: Array | None = None,
    low_rank: LowRank | RoundedInverse | None = None,
) -> Array:
    """Latent means (m, n_classes) of the examples of a fold, predicted from all others."""
    kept = np.ones(operator.n, dtype=bool)
    kept[fold] = False
    targets = targets_of_columns(classes, n_classes)
    options = SolverOptions(max(options.tolerance, LOOSE), options.max_iterations, None)
    solved = _solve(Restricted(operator, kept), targets, noise, options, start, low_rank, kept)
    return of_all_classes((operator @ solved.dual_weights)[fold] + solved.means, n_classes)


def of_all_classes(means: Array, n_classes: int) -> Array:
    """A column for each class, where two classes share one."""
    return np.hstack([-means, means]) if means.shape[1] < n_classes else means


def n_columns(classes: Indices, n_classes: int) -> int:
    """How many columns of targets there are: two classes share one, unless an example belongs to none."""
    return 1 if n_classes == 2 and (classes >= 0).all() else n_classes


def targets_of_columns(classes: Indices, n_classes: int) -> Array:
    """+1 in the column of an example's class, -1 in the others; one column, of the second class, where two share it."""
    columns = np.arange(n_classes)[-n_columns(classes, n_classes) :]
    return np.where(classes[:, None] == columns, 1.0, -1.0)


def _solve(
    operator: ColumnOperator,
    targets: Array,
    noise: Array,
    options: SolverOptions,
    start: Array | None,
    low_rank: LowRank | RoundedInverse | None,
    kept: npt.NDArray[np.bool_] | None = None,
    watch: Watch | None = None,
) -> Solved:
    """All problems as one block, with ones for every different noise; rows that are not `kept` are zero in all that comes out.

    Targets are centred: the mean is free, so that the solution is the same, and the tolerance is one of what there is to learn
    also where a class is rare.
    """
    centres = targets.mean(axis=0) if kept is None else targets[kept].mean(axis=0)
    sides = np.hstack([targets - centres, np.ones(noise.shape)])
    noises = noise if noise.shape[1] == 1 else np.hstack([noise, noise])
    if kept is not None:
        sides, start = sides * kept[:, None], None if start is None else start * kept[:, None]
    found = conjugate_gradients(
        operator,
        sides,
        noises,
        start=start,
        tolerance=options.tolerance,
        max_iterations=options.max_iterations,
        preconditioner=None if low_rank is None else low_rank.preconditioner(noises, kept),
        watch=watch,
    )
    n, c = targets.shape
    solved, ones = found.columns[:, :c], found.columns[:, c:]
    shifts = np.einsum("ij,ij->j", np.broadcast_to(ones, (n, c)), sides[:, :c]) / ones.sum(axis=0)
    dual_weights, means = solved - ones * shifts, centres + shifts
    freedom = max(int(ones.any(axis=1).sum()) - 1, 1) * c
    scale = max(float(np.einsum("ij,ij->", dual_weights, targets)) / freedom, TINY)
    return Solved(dual_weights, ones, means, scale, found.iterations, found.residual, found.converged)


def _progress(reach: Callable[[int], None], options: SolverOptions) -> Watch:
    """Residuals fall about as fast in their logarithm as iterations go by."""
    largest = 0.0

    def watch(iteration: int, R: Array) -> None:
        nonlocal largest
        worst = float(norms(R).max(initial=0.0))
        largest = max(largest, worst)
        fallen = np.log(max(largest, TINY) / max(worst, TINY)) / -np.log(min(options.tolerance, 0.5))
        reach(int(STEPS * min(float(fallen), 1.0)))

    return watch


def choose_low_rank(
    operator: PredictiveOperator, target: Array, noise: Array, options: SolverOptions, columns: int
) -> LowRank | None:
    """Of the rank in the options, None for 0; with "auto", where it saves time on `columns` systems like that of the target."""
    if not isinstance(options.rank, str):
        return LowRank.of(operator, options.rank) if options.rank else None
    n = operator.n
    if n <= 2 * RANK or not pays(n, operator.n_numbers, MOST_ITERATIONS, columns):
        return None
    pilot = conjugate_gradients(
        operator, target, noise, tolerance=options.tolerance, max_iterations=options.max_iterations
    )
    return LowRank.of(operator, RANK) if pays(n, operator.n_numbers, pilot.iterations, columns) else None


def pays(n: int, n_numbers: int, iterations: int, columns: int) -> bool:
    """Whether rank RANK saves time on this many systems, each of this many iterations; a product with K reads n_numbers."""
    product = n_numbers * (MANY_COLUMNS if columns >= 8 else ONE_COLUMN)
    plain = iterations * columns * product
    helped = KEPT * iterations * columns * (product + APPLIED * n * RANK)
    made = RANK * (COLUMN_MADE * n_numbers + FACTOR_MADE * n * RANK)
    return iterations >= LEAST_ITERATIONS and MARGIN * plain > helped + made

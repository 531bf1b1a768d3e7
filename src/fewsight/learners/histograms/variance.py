"""Predictive variance in constant time per image: an upper bound, and an estimate that ranks well.

[Rodner2012, section 7] names it as future work. The upper bound k(x, x) - |C^T k|^2 of a few leading directions C comes from
the same kind of table as the mean. It is far above the truth, as most of the spectrum lies beyond a few directions. But what the
rest explains depends on how a histogram is spread, and sums over its bins say that: a linear combination of these sums, fitted to
exact left-out variances of some training examples, gives the estimate; it is never above the bound. Bins that no training
example has are added as they are, since nothing is known about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self, final

import numpy as np
import scipy.sparse

from fewsight._base.checks import LARGEST
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS
from fewsight._base.types import Array, Indices, Rows, Sparse, State
from fewsight.gp import IterativePosterior, Products
from fewsight.gp.iterative_posterior import AUTO
from fewsight.kernels import HistogramOperator
from fewsight.learners.histograms.formed_gram import formed_gram

DIRECTIONS = 16
EXAMPLES = 192  # training examples whose variance is computed exactly
RIDGE = 1e-3  # of the variance of each sum
LEAST_MEAN = 1e-2  # of the mean of all bins: rarer bins count as if they were no rarer
BINS = 100
N_SUMS = 13  # that the estimate is a combination of, see `_sums`
LEAST_TOTAL = 1e-100  # what is divided by less is soon infinite


@final
@dataclass(frozen=True, eq=False)
class FastVariance:
    """Variance of latent values in units of K, by tables and sums. `error` is its root mean square on examples it was not
    fitted to.

    `fitted_to` and `exact` are the training examples and their exact left-out variances.
    """

    operator: HistogramOperator
    columns: Array  # (n, 1 + directions): A^-1 1 and C
    total: float  # 1^T A^-1 1
    bins: Array  # (3, width): mean, root mean square and share of non-zeros of the weighted values of each bin
    coefficients: Array
    error: float
    fitted_to: Indices
    exact: Array

    @classmethod
    def fit(
        cls, posterior: IterativePosterior[HistogramOperator], *, directions: int = DIRECTIONS, random_state: int = 0
    ) -> Self:
        """Exact variances of some training examples, solved for, and what predicts them."""
        n, operator = posterior.n, posterior.operator
        gram = (
            formed_gram(operator, EXAMPLES) if posterior.options.rank == AUTO and posterior.low_rank is None else None
        )
        variances = posterior.variances(gram=gram)
        chosen = np.sort(np.random.default_rng(random_state).permutation(n)[:EXAMPLES])
        columns = np.column_stack(
            [posterior.ones[:, 0], variances.directions(min(directions, n), random_state=random_state)]
        )
        exact = variances.left_out(chosen)
        draft = cls(
            operator,
            columns,
            float(columns[:, 0].sum()),
            _bins(operator),
            np.zeros(0),
            np.inf,
            chosen,
            exact,
        )
        sums, base = draft._left_out_sums(chosen)
        half = np.arange(len(chosen)) % 2 == 0
        trial = _ridge(sums[half], (exact - base)[half])
        error = float(np.sqrt(np.mean((base + sums @ trial - exact)[~half] ** 2))) if (~half).any() else np.inf
        return cls(
            operator,
            columns,
            draft.total,
            draft.bins,
            _ridge(sums, exact - base),
            error,
            chosen,
            exact,
        )

    def of(self, X: Rows) -> Array:
        """Estimated variances (m,) of new rows."""
        inner = self._inner(X)
        sums, base = self._sums(X, inner)
        return np.clip(base + sums @ self.coefficients, 0.0, self._bound(X, inner))

    def left_out(self, indices: Indices) -> Array:
        """Estimated variances of training examples, each as if it had not been there."""
        sums, base = self._left_out_sums(indices)
        return np.clip(base + sums @ self.coefficients, 0.0, self.operator.diag()[indices] + 1.0 / self.total)

    def bound(self, X: Rows) -> Array:
        """Upper bounds of the variances (m,); exact inner products, so that they hold."""
        return self._bound(X, self.operator.product(X, self.columns))

    def state(self) -> State:
        """What `from_state` needs beside the operator."""
        arrays = {name: getattr(self, name) for name in ("columns", "bins", "coefficients", "fitted_to", "exact")}
        return State({"error": self.error if np.isfinite(self.error) else None}, arrays)

    @classmethod
    def from_state(cls, state: State, operator: HistogramOperator) -> Self:
        columns = state.array("columns", (operator.n, None), np.float64)
        if not 2 <= columns.shape[1] <= 1 + DIRECTIONS:
            raise InvalidInput(
                f"the stored variance must have 1 to {DIRECTIONS} directions, got {columns.shape[1] - 1}."
            )
        total = float(columns[:, 0].sum())
        if not LEAST_TOTAL < total < LARGEST:
            raise InvalidInput(f"the stored variance: the first columns must sum to a number > 0, got {total:g}.")
        fitted_to = state.array("fitted_to", (None,), INTEGERS, least=0, most=operator.n - 1).astype(np.intp)
        error = state.number_or_none("error", least=0.0)
        return cls(
            operator,
            columns,
            total,
            state.array("bins", (3, operator.width), np.float64, least=0.0),
            state.array("coefficients", (N_SUMS,), np.float64),
            np.inf if error is None else error,
            fitted_to,
            state.array("exact", fitted_to.shape, np.float64, least=0.0),
        )

    def _inner(self, X: Rows) -> Array:
        """Inner products with the columns, by table unless it would be too large."""
        return self._table.product(X)

    @cached_property
    def _table(self) -> Products:
        return self.operator.table(self.columns, BINS)

    def _bound(self, X: Rows, inner: Array) -> Array:
        rows = self._weighted(X)
        diagonal = _row_sums(rows, rows.data)
        explained = np.einsum("ij,ij->i", inner[:, 1:], inner[:, 1:])
        return np.maximum(diagonal - explained + (1.0 - inner[:, 0]) ** 2 / self.total, 0.0)

    def _left_out_sums(self, indices: Indices) -> tuple[Array, Array]:
        own = self.operator.diag()[indices, None] * self.columns[indices]
        inner = (self.operator @ self.columns)[indices] - own
        return self._sums(self.operator.histograms.take(indices), inner)

    def _sums(self, X: Rows, inner: Array) -> tuple[Array, Array]:
        """What the estimate is a combination of (m, k), and what is added as it is (m,)."""
        rows = self._weighted(X)
        mean, square, share = (part[rows.indices] for part in self.bins)  # of the bin of each number
        known = np.where(share > 0, rows.data, 0.0)
        floor = LEAST_MEAN * max(float(self.bins[0].mean()), 1e-300)
        relative = known / np.maximum(mean, floor)
        surprise = np.log(np.maximum(relative, 1e-12))
        parts = [known, known**2, known * relative, known * surprise, known * share, known * mean, known * square]
        parts += [known**2 * share, (share > 0).astype(np.float64)]
        explained = inner[:, 1:] ** 2
        columns = [
            np.ones(rows.shape[0]),
            explained[:, 0],
            explained[:, 1:].sum(axis=1),
            (1.0 - inner[:, 0]) ** 2 / self.total,
            *(_row_sums(rows, part) for part in parts),
        ]
        return np.column_stack(columns), _row_sums(rows, rows.data - known)

    def _weighted(self, X: Rows) -> Sparse:
        rows = self.operator.transformed(X)
        data = rows.data * self.operator.weights[rows.indices]
        return scipy.sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)


@final
@dataclass(frozen=True, eq=False)
class LazyVariance:
    """The fast variance of a posterior, fitted when somebody asks for it."""

    posterior: IterativePosterior[HistogramOperator]
    random_state: int
    given: FastVariance | None = None

    @cached_property
    def fast(self) -> FastVariance:
        if self.given is not None:
            return self.given
        try:  # the posterior may come from a file that somebody edited
            with np.errstate(over="raise", invalid="raise", divide="raise"):
                return FastVariance.fit(self.posterior, random_state=self.random_state)
        except (FloatingPointError, np.linalg.LinAlgError) as error:
            raise InvalidInput(
                "HistogramGPClassifier: the posterior must allow for variances, got one whose numbers are too large or too "
                "small for that; learn it again."
            ) from error


def _bins(operator: HistogramOperator) -> Array:
    columns = operator.sorted_values
    counts = np.diff(columns.starts)
    dims = np.repeat(np.arange(operator.width), counts)
    values = columns.values * operator.weights[dims]
    mean, square = (np.bincount(dims, values**power, minlength=operator.width) / operator.n for power in (1, 2))
    return np.stack([mean, np.sqrt(square), counts / operator.n])


def _ridge(sums: Array, wanted: Array) -> Array:
    """Least squares with a small penalty on standardised columns; the first column is the constant."""
    centre, spread = sums[:, 1:].mean(axis=0), sums[:, 1:].std(axis=0)
    spread = np.where(spread > 1e-12 * np.maximum(np.abs(centre), 1.0), spread, np.inf)
    Z = (sums[:, 1:] - centre) / spread
    gain = np.linalg.solve(Z.T @ Z + RIDGE * len(Z) * np.eye(Z.shape[1]), Z.T @ (wanted - wanted.mean())) / spread
    return np.concatenate([[wanted.mean() - gain @ centre], gain])


def _row_sums(rows: Sparse, data: Array) -> Array:
    """Of each row of a CSR matrix, with other numbers in place of its own."""
    sums = scipy.sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape).sum(axis=1)
    return np.asarray(sums, dtype=np.float64).ravel()

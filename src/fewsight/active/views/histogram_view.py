"""A pool of histograms as `HistogramGPClassifier` sees it, following every label."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.histogram_rows import HistogramRows, KeptColumns, comparable, intersections
from fewsight.active.views.base import Answer
from fewsight.active.views.labelled import ClosedForm, LabelledView, targets_for
from fewsight.gp import FreeMeanPosterior, IterativePosterior, SolverOptions
from fewsight.kernels import HistogramOperator
from fewsight.learners.histograms import FastVariance

LOOSE_MEAN = 1e3  # prior variance of a mean that is as good as free, over a kernel of mean diagonal 1


@final
class HistogramView(LabelledView):
    """Means and variances of a pool in units of the kernel; `append` and `take_back` change it, rules only read it.

    Memory is that of the labelled examples' kernel values with the pool, 4 bytes each (20 MB for 500 labels and a pool of
    10,000); where that would be more than a gigabyte, nothing is kept, means come from conjugate gradients and variances are
    estimates.

    Parameters
    ----------
    rows : the pool.
    columns : of its kernel with the weights and transform in use.
    factor : by which these are to be multiplied.
    noise_variance : of every label.
    """

    def __init__(self, rows: HistogramRows, columns: KeptColumns, factor: float, noise_variance: float) -> None:
        super().__init__(factor * columns.operator.diag())
        self.rows, self.columns, self.factor, self.noise_variance = rows, columns, factor, noise_variance
        self._comparable: Any = None
        self._exact: FreeMeanPosterior | None = None
        self._estimated: tuple[Array, Array] | None = None

    # What rules read.

    @property
    def mean(self) -> Array:
        return self._now()[0]

    @property
    def variance(self) -> Array:
        return np.maximum(self._now()[1], 0.0)

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        if self._comparable is None:
            self._comparable = comparable(self.columns.operator, self.rows.rows)
        return self.factor * intersections(self._comparable[rows], self._comparable[columns])

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        self._now()
        K = self.kernel(rows, columns)
        if not self.labels:
            return K
        if self._exact is None:
            raise InvalidInput(
                f"HistogramView: covariances are known up to about {self.columns.most:,} labels of this pool, "
                f"got {self.n_labelled:,}."
            )
        left, right = (self.kernel(self.positions, some) for some in (rows, columns))
        return self._exact.covariance(K, left, right, rows, columns)

    # What changes it.

    def append(self, position: int, label: Answer) -> None:
        """Learn one label: one column of the kernel, and O(n m), where columns are kept."""
        exact = self._exact
        super().append(position, label)
        self._forget()
        if exact is not None and self.n_labelled <= self.columns.most:
            exact.append(int(position), targets_for(label, self.classes))
            self._exact = exact

    def take_back(self) -> Answer:
        label = super().take_back()
        self._forget()
        return label

    def _forget(self) -> None:
        self._exact = self._estimated = None

    def closed_form(self) -> ClosedForm:
        """With a mean that is as good as free."""
        K = self.kernel(self.positions, self.positions) + LOOSE_MEAN
        return ClosedForm(K, self.labelled.targets(), np.full(self.n_labelled, self.noise_variance))

    def _now(self) -> tuple[Array, Array]:
        """Means and variances by all labels, learned when somebody asks."""
        if not self.labels:
            return np.zeros((len(self), 0)), self.diagonal.copy()
        if self._exact is None and self._estimated is None:
            if self.n_labelled <= self.columns.most or len(self.classes) < 2:
                self._exact = FreeMeanPosterior(self.columns, self.factor, self.noise_variance, self.diagonal)
                self._exact.condition(self.positions, self.labelled.targets())
            else:
                self._estimated = self._by_conjugate_gradients()
        return self._estimated if self._exact is None else (self._exact.mean, self._exact.variance)  # type: ignore[return-value]

    def _by_conjugate_gradients(self) -> tuple[Array, Array]:
        """Of very many labels: exact means, and the learner's fast estimate of the variances."""
        kernel, rows = self.columns.operator, self.rows.rows
        plain = HistogramOperator.from_rows(rows[self.positions], weights=self.factor * kernel.weights)
        operator = plain.with_transform(kernel.transform.kind, getattr(kernel.transform, "parameter", None))
        numbers = self.labelled.numbers()
        noise, options = np.full((self.n_labelled, 1), self.noise_variance), SolverOptions(1e-3, 1_000, None, "auto")
        posterior = IterativePosterior.condition(operator, numbers, len(self.classes), noise, options)
        return posterior.mean(rows), FastVariance.fit(posterior).of(rows)

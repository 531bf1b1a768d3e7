"""A pool of histograms as `HistogramGPClassifier` sees it, following every label."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.histograms import HistogramRows, KeptColumns, comparable, intersections
from fewsight.active.views.histogram_posteriors import ExactPosterior, IteratedPosterior
from fewsight.active.views.labelled import CalibratedView, LabelledView
from fewsight.learners.calibration import Calibration

LOOSE_MEAN = 1e3  # prior variance of a mean that is as good as free, over a kernel of mean diagonal 1


@final
class HistogramView(CalibratedView, LabelledView):
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
        super().__init__()
        self.rows, self.columns, self.factor, self.noise_variance = rows, columns, factor, noise_variance
        self.calibration: Calibration | None = None
        self._diagonal = factor * columns.operator.diag()
        self._comparable: Any = None
        self._posterior: ExactPosterior | IteratedPosterior | None = None

    # What rules read.

    @property
    def mean(self) -> Array:
        posterior = self._now()
        return np.zeros((len(self), 0)) if posterior is None else posterior.mean

    @property
    def variance(self) -> Array:
        posterior = self._now()
        return self._diagonal.copy() if posterior is None else np.maximum(posterior.variance, 0.0)

    @property
    def diagonal(self) -> Array:
        return self._diagonal

    def __len__(self) -> int:
        return len(self.rows)

    def kernel(self, rows: Indices, columns: Indices) -> Array:
        if self._comparable is None:
            self._comparable = comparable(self.columns.operator, self.rows.rows)
        return self.factor * intersections(self._comparable[rows], self._comparable[columns])

    def covariance(self, rows: Indices, columns: Indices) -> Array:
        posterior, K = self._now(), self.kernel(rows, columns)
        if posterior is None:
            return K
        if isinstance(posterior, IteratedPosterior):
            raise InvalidInput(
                f"HistogramView: covariances are known up to about {self.columns.most:,} labels of this pool, "
                f"got {self.n_labelled:,}."
            )
        left, right = (self.kernel(self.positions, some) for some in (rows, columns))
        return posterior.covariance(K, left, right, rows, columns)

    # What changes it.

    def append(self, position: int, label: Any) -> None:
        """Learn one label: one column of the kernel, and O(n m), where columns are kept."""
        before = self._posterior
        super().append(position, label)
        if isinstance(before, ExactPosterior) and self.n_labelled <= self.columns.most:
            before.follow(int(position), np.where([label == known for known in self.classes], 1.0, -1.0))
            self._posterior = before

    def _forget(self) -> None:
        self._posterior = None

    def labelled(self) -> tuple[Array, Array, Array]:
        """Of the labelled examples: covariance (n, n), with a mean as good as free, targets (n, c) and noise (n,)."""
        K = self.kernel(self.positions, self.positions) + LOOSE_MEAN
        return K, self._targets(), np.full(self.n_labelled, self.noise_variance)

    def _targets(self) -> Array:
        targets = np.where([[label == known for known in self.classes] for label in self.labels], 1.0, -1.0)
        return targets.reshape(len(self.labels), len(self.classes))

    def _now(self) -> ExactPosterior | IteratedPosterior | None:
        """What all labels say, learned when somebody asks; None without any."""
        if self._posterior is None and self.labels:
            columns, factor, noise = self.columns, self.factor, self.noise_variance
            exact = self.n_labelled <= columns.most or len(self.classes) < 2
            self._posterior = (
                ExactPosterior(columns, factor, noise, self._diagonal)
                if exact
                else IteratedPosterior(self.rows, columns.operator, factor, noise)
            )
            self._posterior.condition(self.positions, self._targets())
        return self._posterior

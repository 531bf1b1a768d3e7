"""A pool of rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.active.pools.base import Pool
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.kernels import HistogramIntersection, Kernel
from fewsight.kernels.against import Against
from fewsight.kernels.rows import Rows, check_rows
from fewsight.learners.histograms import HistogramInput, check_histograms
from fewsight.learners.inputs import Input, VectorInput, kernels_of_rows
from fewsight.learners.inputs.vectors import default_kernel


@final
class VectorPool(Pool):
    """Rows of numbers (m, d), dense or, where the kernels take them, sparse. One kernel, several, or None for a Gaussian as wide
    as the data (those at `learn_from`)."""

    def __init__(
        self, X: Any, kernel: Kernel | Sequence[Kernel] | None = None, learn_from: Indices | None = None
    ) -> None:
        super().__init__()
        empty = not hasattr(X, "shape") and not len(X)
        self.X = np.zeros((0, 1)) if empty else check_rows("VectorPool", "pool", X)
        known = self.X if learn_from is None else self.X[learn_from]
        self._kernel = kernel if kernel is not None else default_kernel(known if known.size else np.zeros((1, 1)))
        self.kernels = kernels_of_rows(self._kernel)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_kernels(self) -> int:
        return len(self.kernels)

    @cached_property
    def diagonals(self) -> list[Array]:
        return [kernel.diag(self.X) if len(self) else np.zeros(0) for kernel in self.kernels]

    def _compare(self, rows: Indices, columns: Indices | None) -> list[Array]:
        chosen = self.X[rows]  # of rows that were checked
        if columns is None:
            return [ready.compare(chosen) for ready in self._ready]
        return [kernel.compare(chosen, self.X[columns]) for kernel in self.kernels]

    @cached_property
    def _ready(self) -> list[Against]:
        """The whole pool, with which every example that gets a label is compared."""
        return [kernel.against(self.X) for kernel in self.kernels]

    def examples(self, positions: Indices) -> Rows:
        return self.X[positions]

    def histograms(self, owner: object, known: Indices) -> HistogramRows:
        if not isinstance(self._kernel, HistogramIntersection):
            return super().histograms(owner, known)
        side = HistogramInput()
        side.n_columns = int(self.X.shape[1])
        return HistogramRows(check_histograms(self.X), side)

    def input_of(self, positions: Indices, scales: Array) -> Input:
        side = VectorInput(self._kernel)
        side.X, side.scales = self.X[positions], scales
        return side

    @property
    def parameter(self) -> Kernel | Sequence[Kernel]:
        return self._kernel

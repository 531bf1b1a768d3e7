"""A pool of rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.base import Pool
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.active.pools.kept_rows import MOST_BYTES, KeptRows
from fewsight.active.pools.ready_parts import ReadyParts
from fewsight.kernels import HistogramIntersection, Kernel
from fewsight.kernels.against import Against
from fewsight.kernels.rows import Rows, check_rows
from fewsight.learners.examples import Examples
from fewsight.learners.histograms import HistogramInput, check_histograms
from fewsight.learners.inputs import Input, VectorInput, kernels_of_rows
from fewsight.learners.inputs.vectors import default_kernel


@final
class VectorPool(Pool):
    """Rows of numbers (m, d), dense or, where the kernels take them, sparse. One kernel, several, or None for a Gaussian as wide
    as the data (those at `learn_from`). Kernel values that are kept take at most `max_bytes`.

    Parameters
    ----------
    X : rows of numbers (m, d), dense or sparse.
    kernel : a kernel or several; None for a Gaussian as wide as the rows.
    learn_from : positions of the rows that decide how wide it is; None for all.
    max_bytes : how much memory the kernel values that are kept may take.
    """

    def __init__(
        self,
        X: Any,
        kernel: Kernel | Sequence[Kernel] | None = None,
        learn_from: Indices | None = None,
        *,
        max_bytes: int = MOST_BYTES,
    ) -> None:
        super().__init__(KeptRows(max_bytes))
        empty = not hasattr(X, "shape") and not len(X)
        self.X = np.zeros((0, 1)) if empty else check_rows("VectorPool", "pool", X)
        known = self.X if learn_from is None else self.X[learn_from]
        self._given = kernel
        self._kernel = kernel if kernel is not None else default_kernel(known if known.size else np.zeros((1, 1)))
        self.kernels = kernels_of_rows(self._kernel)
        self._parts = ReadyParts(self._made_ready, len(self))

    def grow(self, examples: Examples) -> VectorPool:
        """With further rows; the kernel stays what it is, also where it was chosen by the first ones."""
        if not len(self):
            return VectorPool(examples, self._given, max_bytes=self.kept.max_bytes)
        new = check_rows("VectorPool", "examples", examples, width=int(self.X.shape[1]))
        sparse = scipy.sparse.issparse(self.X)
        if sparse != scipy.sparse.issparse(new):
            raise InvalidInput(
                f"VectorPool: examples must be {'sparse' if sparse else 'dense'} rows, as the pool's are."
            )
        joined = scipy.sparse.vstack([self.X, new]).tocsr() if sparse else np.vstack([self.X, new])
        pool = VectorPool(joined, self._kernel)
        pool.kept, pool._parts = self.kept.copy(), ReadyParts(pool._made_ready, len(pool), self._parts)
        return pool

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
            return [
                np.hstack([ready[number].compare(chosen) for ready in self._parts.all()])
                for number in range(self.n_kernels)
            ]
        return [kernel.compare(chosen, self.X[columns]) for kernel in self.kernels]

    def _made_ready(self, start: int, stop: int) -> list[Against[Any]]:
        """A part of the pool, with which every example that gets a label is compared."""
        return [kernel.against(self.X[start:stop]) for kernel in self.kernels]

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

"""How encodings are compared, and how rows of them are put together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse

from fewsight._base.types import Array
from fewsight.kernels import Kernel
from fewsight.kernels.against import Against

Encodings: TypeAlias = Any  # a scipy.sparse.csr_array with a row per image
ROUNDING = 1e-13  # of sums over thousands of columns, relative


class Comparing(ABC):
    """Something with a kernel for encodings."""

    @property
    @abstractmethod
    def kernel(self) -> Kernel:
        """Compares two encodings."""

    def gram(self, A: Encodings, B: Encodings | None = None) -> Array:
        """Kernel values between encodings."""
        return self.kernel.gram(A, B)

    def against(self, B: Encodings) -> Against:
        """Encodings made ready once, for many comparisons of a few others with all of them."""
        return self.kernel.against(B)

    def diag(self, A: Encodings) -> Array:
        """Kernel values of each encoding with itself."""
        return self.kernel.diag(A)

    def distances(self, A: Encodings, B: Encodings) -> Array:
        """Distances in the space that the kernel spans; what rounding leaves of zero is zero."""
        squares = self.diag(A)[:, None] + self.diag(B)[None, :]
        squared = squares - 2 * self.gram(A, B)
        return np.sqrt(np.where(squared > ROUNDING * squares, squared, 0.0))


def stacked(rows: list[tuple[np.ndarray, np.ndarray]], n_columns: int) -> Encodings:
    """Rows, given by their columns and values, as one matrix."""
    counts = [len(columns) for columns, _ in rows]
    indptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    columns = np.concatenate([columns for columns, _ in rows]) if rows else np.empty(0, np.int32)
    values = np.concatenate([values for _, values in rows]) if rows else np.empty(0)
    return scipy.sparse.csr_array((values, columns, indptr), shape=(len(rows), n_columns))

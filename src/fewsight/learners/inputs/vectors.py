"""Rows of numbers, compared by a kernel object."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse

from fewsight._base.types import Array, Indices, State
from fewsight.kernels import RBF, Kernel, kernel_from_recipe, stored_recipe
from fewsight.learners.inputs.base import Input
from fewsight.learners.inputs.stored import Matrix, checked_scales, matrix_from_state, matrix_state


class VectorInput(Input):
    """Rows of numbers, compared by a kernel object."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Matrix, labels: Any, positions: Indices) -> list[Array]:
        self.X = X if len(positions) == X.shape[0] else X[positions]
        self._set_scales([self.kernel.diag(self.X)])
        return self._scaled([self.kernel.gram(self.X)])

    def read(self, X: Matrix) -> Matrix:
        return X

    def compare(self, rows: Matrix) -> list[Array]:
        return self._scaled([self.kernel.gram(rows, self.X)])

    def diagonals(self, rows: Matrix) -> list[Array]:
        return self._scaled([self.kernel.diag(rows)])

    def extend(self, X: Matrix) -> tuple[Input, list[Array], list[Array]]:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(X) else np.vstack
        larger = self._with(stack([self.X, X]))
        return larger, self.compare(X), self._scaled([self.kernel.gram(X)])

    def select(self, indices: Indices) -> Input:
        return self._with(self.X[indices])

    @property
    def n_training(self) -> int:
        return int(self.X.shape[0])

    @property
    def parameter(self) -> Kernel:
        return self.kernel

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def state(self) -> State:
        return State({"kind": "vectors", "kernel": stored_recipe(self.kernel)}, {"scales": self.scales}).join(
            "training", matrix_state(self.X)
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        restored = cls(kernel_from_recipe(state.header["kernel"]))
        restored.X, restored.scales = matrix_from_state(state.nested("training")), checked_scales(state, 1)
        return restored

    def _with(self, X: Matrix) -> VectorInput:
        other = VectorInput(self.kernel)
        other.X, other.scales = X, self.scales
        return other


def default_kernel(X: Array) -> RBF:
    """A Gaussian as wide as the data: squared scale = half the number of columns times their variance."""
    variance = float(np.var(X))
    return RBF(scale=float(np.sqrt(0.5 * X.shape[1] * variance)) if variance > 0 else 1.0)

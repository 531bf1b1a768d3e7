"""Rows of numbers, compared by one or several kernel objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse

from fewsight._base.checks import owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices, State
from fewsight.kernels import RBF, Kernel, kernel_from_recipe, stored_recipe
from fewsight.learners.inputs.base import Input, Made
from fewsight.learners.inputs.stored import Matrix, checked_scales, matrix_from_state, matrix_state


class VectorInput(Input):
    """Rows of numbers, compared by one or several kernel objects."""

    def __init__(self, kernels: Kernel | Sequence[Kernel]) -> None:
        self.one = isinstance(kernels, Kernel)  # which is then what `parameter` gives back
        self.kernels: list[Kernel] = [kernels] if isinstance(kernels, Kernel) else list(kernels)

    def fit(self, X: Matrix, labels: Any, positions: Indices) -> Sequence[Array]:
        self.X = X if len(positions) == X.shape[0] else X[positions]
        self._set_scales([kernel.diag(self.X) for kernel in self.kernels])
        return self._scaled_grams(kernel.gram(self.X) for kernel in self.kernels)

    def read(self, X: Matrix) -> Matrix:
        return X

    def compare(self, rows: Matrix) -> Sequence[Array]:
        return self._scaled_blocks(kernel.gram(rows, self.X) for kernel in self.kernels)

    def diagonals(self, rows: Matrix) -> list[Array]:
        return self._scaled([kernel.diag(rows) for kernel in self.kernels])

    def extend(self, X: Matrix) -> tuple[Input, Sequence[Array], Sequence[Array]]:
        stack = scipy.sparse.vstack if scipy.sparse.issparse(X) else np.vstack
        larger = self._with(stack([self.X, X]))
        return larger, self.compare(X), self._scaled_blocks(kernel.gram(X) for kernel in self.kernels)

    def select(self, indices: Indices) -> Input:
        return self._with(self.X[indices])

    @property
    def examples(self) -> Matrix:
        return self.X

    def gram(self, made: Made) -> Array:
        side = self.taking([made])
        return side.kernels[0].gram(self.X) / side.scales[0]

    def taking(self, made: Sequence[Made]) -> VectorInput:
        for kernel in made:
            if not isinstance(kernel, Kernel):
                raise InvalidInput(
                    f"{owner_name(self)}: rows of numbers must be compared by kernels, got {shown(kernel)}."
                )
        other = VectorInput([kernel for kernel in made if isinstance(kernel, Kernel)])
        other.X = self.X
        other._set_scales([kernel.diag(self.X) for kernel in other.kernels])
        return other

    def joined(self, made: Sequence[Made]) -> VectorInput:
        return self.taking([*self.kernels, *made])

    def keeping(self, numbers: Indices) -> VectorInput:
        if len(numbers) == len(self.kernels):
            return self
        other = VectorInput([self.kernels[number] for number in numbers])
        other.X, other.scales = self.X, self.scales[numbers]
        return other

    @property
    def n_training(self) -> int:
        return int(self.X.shape[0])

    @property
    def parameter(self) -> Kernel | list[Kernel]:
        return self.kernels[0] if self.one else self.kernels

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])

    def state(self) -> State:
        recipes = [stored_recipe(kernel) for kernel in self.kernels]
        compared = {"kernel": recipes[0]} if self.one else {"kernels": recipes}
        state = State({"kind": "vectors", **compared}, {"scales": self.scales})
        return state.join("training", matrix_state(self.X))

    @classmethod
    def from_state(cls, state: State) -> Self:
        if "kernels" in state.header:
            recipes = state.header["kernels"]
            if not isinstance(recipes, list) or not recipes:
                raise InvalidInput("the kernels must be a list of one or more.")
            restored = cls([kernel_from_recipe(recipe) for recipe in recipes])
        else:
            restored = cls(kernel_from_recipe(state.header["kernel"]))
        restored.X = matrix_from_state(state.nested("training"))
        restored.scales = checked_scales(state, len(restored.kernels))
        return restored

    def _with(self, X: Matrix) -> VectorInput:
        other = VectorInput(self.parameter)
        other.X, other.scales = X, self.scales
        return other


def kernels_of_rows(kernel: object) -> list[Kernel]:
    """The kernel objects that the `kernel` parameter of a learner holds, one or several; none if it is something else."""
    listed = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    kernels = [each for each in listed if isinstance(each, Kernel)]
    return kernels if len(kernels) == len(listed) else []


def default_kernel(X: Array) -> RBF:
    """What compares rows if nothing is said."""
    return RBF.as_wide_as(X)

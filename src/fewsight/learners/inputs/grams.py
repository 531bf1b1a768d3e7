"""Gram matrices that the user brings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from fewsight._base.checks import check_gram, check_matrix, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS
from fewsight._base.types import Array, Indices, State
from fewsight.gp import BlockStack, GramList, Grams, GramStack, Matrices, ScaledBlocks, ScaledGrams
from fewsight.learners.inputs.base import Input
from fewsight.learners.inputs.stored import checked_scales

MOST_EXAMPLES = 1_000_000  # whose Gram matrix takes 8 terabytes: a file that speaks of more was edited


class GramInput(Input):
    """Gram matrices already: one, a list of them or a `GramStack`. The test side's diagonal is taken as its training mean."""

    def __init__(self, owner: object) -> None:
        self.owner = owner_name(owner)

    def fit(self, X: Any, labels: Any, positions: Indices) -> Sequence[Array]:
        if isinstance(X, Grams) and not isinstance(X, GramList):
            return self._fit_stack(X, positions)
        self.several = is_list_of_matrices(X)
        grams = [check_gram(self.owner, "X", gram) for gram in self._blocks(X)]
        sides = sorted({len(gram) for gram in grams})
        if len(sides) != 1:
            raise InvalidInput(f"{self.owner}: the Gram matrices must have one size, got {sides}.")
        self.width, self.columns = sides[0], positions
        lowest = min(float(np.diag(gram).min(initial=0.0)) for gram in grams)
        if lowest < 0:
            raise InvalidInput(f"{self.owner}: the diagonal of a Gram matrix X must be >= 0, got {lowest:g}.")
        chosen = grams if len(positions) == self.width else [gram[np.ix_(positions, positions)] for gram in grams]
        self._set_scales([np.diag(gram) for gram in chosen])
        return self._scaled(chosen)

    def _fit_stack(self, X: Grams, positions: Indices) -> Sequence[Array]:
        """Matrices that were checked when they were stacked, and are not copied."""
        self.several, self.width, self.columns = True, X.side, positions
        if len(positions) < X.side:
            X = GramStack.of(gram[np.ix_(positions, positions)] for gram in X)
        self.scales = X.scales()
        return ScaledGrams(X, 1.0 / self.scales)

    def read(self, X: Any) -> Sequence[Array]:
        blocks = X if isinstance(X, BlockStack) else self._blocks(X)
        if len(blocks) != len(self.scales):
            raise InvalidInput(
                f"{self.owner}: fitted on {len(self.scales)} Gram matrices, so X must be a list of as many "
                f"test x training blocks, got {len(blocks)}."
            )
        if isinstance(blocks, BlockStack) and blocks.shape[1] == self.width == len(self.columns):
            return blocks
        name = "X (test x training)"
        checked = [check_matrix(self.owner, name, block, shape=(None, self.width)) for block in blocks]
        return [self._training_columns(block) for block in checked]

    def compare(self, rows: Sequence[Array]) -> Sequence[Array]:
        return ScaledBlocks(rows, 1.0 / self.scales) if isinstance(rows, BlockStack) else self._scaled(rows)

    def diagonals(self, rows: Sequence[Array]) -> list[Array]:
        return [np.ones(len(rows[0]))] * len(rows)

    def extend(self, X: Any) -> tuple[Input, Sequence[Array], Sequence[Array]]:
        """X holds the new rows against all examples so far and then against each other: m x (n + m)."""
        m = len(self._blocks(X)[0])
        name, shape = "X (new x (training + new))", (m, self.width + m)
        rows = [check_matrix(self.owner, name, block, shape=shape) for block in self._blocks(X)]
        larger = self._with(self.width + m, np.concatenate([self.columns, self.width + np.arange(m)]))
        old = [self._training_columns(row[:, : self.width]) for row in rows]
        return larger, self._scaled(old), self._scaled([row[:, self.width :] for row in rows])

    def beside(self, X: Any, positions: Indices) -> tuple[Sequence[Array], Sequence[Array]]:
        blocks = [np.asarray(block)[positions] for block in (X if self.several else [X])]
        with_training = self._scaled([block[:, self.columns] for block in blocks])
        return with_training, self._scaled([block[:, positions] for block in blocks])

    def select(self, indices: Indices) -> Input:
        return self._with(self.width, self.columns[indices])

    @property
    def n_training(self) -> int:
        return len(self.columns)

    @property
    def parameter(self) -> str:
        return "precomputed"

    @property
    def n_columns(self) -> int:
        return self.width

    def state(self) -> State:
        header = {"kind": "precomputed", "owner": self.owner, "several": self.several, "width": self.width}
        return State(header, {"scales": self.scales, "columns": self.columns})

    @classmethod
    def from_state(cls, state: State) -> Self:
        restored = cls(state.text("owner"))
        restored.several, restored.width = state.flag("several"), state.integer("width", least=1, most=MOST_EXAMPLES)
        restored.columns = state.array("columns", (None,), INTEGERS, least=0, most=restored.width - 1).astype(np.intp)
        restored.scales = checked_scales(state, None if restored.several else 1)
        return restored

    def _blocks(self, X: Any) -> list[Any]:
        return list(X) if self.several else [X]

    def _training_columns(self, block: Array) -> Array:
        whole = len(self.columns) == self.width and np.array_equal(self.columns, np.arange(self.width))
        return block if whole else block[:, self.columns]

    def _with(self, width: int, columns: Indices) -> GramInput:
        other = GramInput(self.owner)
        other.several, other.width, other.columns, other.scales = self.several, width, columns, self.scales
        return other


def is_list_of_matrices(X: Any) -> bool:
    """Whether X is several Gram matrices rather than one."""
    if isinstance(X, np.ndarray):
        return X.ndim == 3
    if isinstance(X, Matrices):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and np.ndim(X[0]) == 2

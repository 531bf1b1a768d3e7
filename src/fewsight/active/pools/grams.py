"""A pool whose kernel values are all given."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.base import Pool, combined
from fewsight.learners.examples import Examples
from fewsight.learners.inputs import GramInput, Input, is_list_of_matrices

CHUNK = 512  # rows checked at a time
SYMMETRY = 1e-6  # of the largest value: Gram matrices may be float32


@final
class GramPool(Pool):
    """One Gram matrix (m, m) of the whole pool, or a list of them; float32 stays float32 until a row is used.

    Parameters
    ----------
    grams : a Gram matrix (m, m), a list of them, or an array (k, m, m).
    """

    def __init__(self, grams: Any) -> None:
        super().__init__()
        self.several = is_list_of_matrices(grams)
        self.matrices = [_checked(gram) for gram in (grams if self.several else [grams])]
        sides = sorted({len(gram) for gram in self.matrices})
        if len(sides) != 1:
            raise InvalidInput(f"GramPool: the Gram matrices must have one size, got {sides}.")

    def __len__(self) -> int:
        return len(self.matrices[0])

    @property
    def n_kernels(self) -> int:
        return len(self.matrices)

    @cached_property
    def diagonals(self) -> list[Array]:
        return [np.asarray(gram.diagonal(), dtype=np.float64) for gram in self.matrices]

    def rows(self, positions: Indices, factors: Array) -> Array:
        return combined(self.parts(positions), factors)

    def parts(self, positions: Indices) -> list[Array]:
        return [gram[positions] for gram in self.matrices]  # nothing to keep: all of it is there

    def grow(self, examples: Examples) -> GramPool:
        """With rows of the new examples (q, m + q), or a list of such: against all there are, then against each other."""
        blocks: Any = examples if is_list_of_matrices(examples) else [examples]
        if len(blocks) != len(self.matrices):
            raise InvalidInput(
                f"GramPool: there must be a block of new rows for each of {len(self.matrices)} Gram matrices, got {len(blocks)}."
            )
        m = len(self)
        grown = []
        for gram, given in zip(self.matrices, blocks, strict=True):
            block = np.asarray(given)
            if block.ndim != 2 or block.shape[1] != m + len(block):
                raise InvalidInput(
                    "GramPool: new rows must be against all examples and then against each other "
                    f"(q x {m} + q), got shape {block.shape}."
                )
            grown.append(np.block([[gram, block[:, :m].T], [block]]) if m else block)
        return GramPool(grown if self.several else grown[0])

    def _compare(self, rows: Indices, columns: Indices | None) -> list[Array]:
        chosen = [gram[rows] if columns is None else gram[np.ix_(rows, columns)] for gram in self.matrices]
        return [np.asarray(block, dtype=np.float64) for block in chosen]

    def input_of(self, positions: Indices, scales: Array) -> Input:
        """New examples are then rows against the whole pool."""
        side = GramInput("GPClassifier")
        side.several, side.width, side.columns, side.scales = self.several, len(self), positions, scales
        return side

    @property
    def parameter(self) -> str:
        return "precomputed"


def _checked(gram: Any) -> npt.NDArray[Any]:
    """A finite, square, symmetric matrix of float32 or float64, looked at in pieces: it may be large."""
    matrix = np.asarray(gram)
    if matrix.size == 0:
        return np.zeros((0, 0))
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInput(f"GramPool: a Gram matrix must be square (pool x pool), got shape {matrix.shape}.")
    scale = float(np.abs(matrix.diagonal()).max(initial=0.0)) or 1.0
    for start in range(0, len(matrix), CHUNK):
        piece = matrix[start : start + CHUNK]
        if not np.isfinite(piece).all():
            raise InvalidInput("GramPool: a Gram matrix must hold finite numbers only, got NaN or infinity.")
        if np.abs(piece - matrix[:, start : start + CHUNK].T).max() > SYMMETRY * scale:
            raise InvalidInput("GramPool: a Gram matrix must be symmetric, got one that differs from its transpose.")
    return matrix

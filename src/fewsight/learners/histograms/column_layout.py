"""Encodings of several channels as one matrix, and those of millions of columns in fewer.

Of hashed bins most columns are empty. Only those that some training example has are kept, and one more for each channel, in
which a new image has all that it has in none of those. A kernel with the training examples does not change by it, nor one with
itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np
import scipy.sparse

from fewsight._base.encodings import Encodings
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS
from fewsight._base.types import Array, Indices, Sparse, State
from fewsight.kernels.rows import as_sparse, matrix_of

WIDE = 65_536  # columns; encodings with no more are left as they are


@final
@dataclass(frozen=True, eq=False)
class Narrowing:
    """Which columns are kept of several channels side by side; channel k has those from `bounds[k]` on."""

    used: Indices  # ascending
    bounds: Indices  # (n_channels + 1,)

    @classmethod
    def of(cls, rows: Sparse, widths: list[int]) -> Narrowing | None:
        """What training rows ask for; None where they are not wide."""
        bounds = np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)
        return cls(np.unique(rows.indices).astype(np.intp), bounds) if bounds[-1] > WIDE else None

    @property
    def width(self) -> int:
        """Of narrowed rows."""
        return len(self.used) + len(self.bounds) - 1

    @property
    def groups(self) -> Indices:
        """The channel of each column of narrowed rows."""
        return np.concatenate([self._channel_of(self.used), np.arange(len(self.bounds) - 1)])

    def narrowed(self, rows: Sparse) -> Sparse:
        """The same rows in fewer columns."""
        columns = rows.indices.astype(np.intp)
        places = np.minimum(np.searchsorted(self.used, columns), max(len(self.used) - 1, 0))
        known = self.used[places] == columns if len(self.used) else np.zeros(len(columns), dtype=bool)
        places = np.where(known, places, len(self.used) + self._channel_of(columns))
        narrow = scipy.sparse.csr_array((rows.data, places, rows.indptr), shape=(rows.shape[0], self.width), copy=True)
        narrow.sum_duplicates()
        return narrow

    def state(self) -> State:
        return State({}, {"used": self.used, "bounds": self.bounds})

    @classmethod
    def from_state(cls, state: State) -> Narrowing:
        bounds = state.array("bounds", (None,), INTEGERS, least=0)
        if len(bounds) < 2 or bounds[0] != 0 or (np.diff(bounds) < 0).any():
            raise InvalidInput("the stored array bounds must hold ascending numbers, the first of them 0.")
        used = state.array("used", (None,), INTEGERS, least=0, most=int(bounds[-1]) - 1)
        if (np.diff(used) <= 0).any():
            raise InvalidInput("the columns that are kept must be ascending numbers.")
        return cls(used.astype(np.intp), bounds.astype(np.intp))

    def _channel_of(self, columns: Indices) -> Indices:
        return np.searchsorted(self.bounds, columns, side="right").astype(np.intp) - 1


@final
@dataclass(frozen=True, eq=False)
class SideBySide:
    """Encodings of several channels as those of one, whose kernel is the mean of theirs, each of mean diagonal 1."""

    scales: Array  # (n_channels,), the mean diagonals; not used where there is one channel
    widths: list[int]
    narrowing: Narrowing | None = None

    @classmethod
    def of(cls, parts: Sequence[Encodings], others: Sequence[Encodings] | None = None) -> SideBySide:
        """As the training encodings of each channel ask for; the columns of others are kept as well."""
        sums = [float(_matrix(part).sum()) for part in parts]
        scales = np.array([max(total / max(len(part), 1), 1e-300) for total, part in zip(sums, parts, strict=True)])
        plain = cls(scales, [part.shape[1] for part in parts])
        return replace(plain, narrowing=Narrowing.of(plain.rows(parts if others is None else others), plain.widths))

    def rows(self, parts: Sequence[Encodings]) -> Sparse:
        """The encodings of all channels as one matrix."""
        matrices = [_matrix(part) for part in parts]
        stacked = (
            matrices[0]
            if len(parts) == 1
            else scipy.sparse.hstack(
                [part / (scale * len(parts)) for part, scale in zip(matrices, self.scales, strict=True)], format="csr"
            )
        )
        return stacked if self.narrowing is None else self.narrowing.narrowed(stacked)

    @property
    def width(self) -> int:
        """Of the one matrix."""
        return sum(self.widths) if self.narrowing is None else self.narrowing.width

    @property
    def groups(self) -> Indices:
        """The channel of each column."""
        if self.narrowing is not None:
            return self.narrowing.groups
        return np.repeat(np.arange(len(self.widths)), self.widths)


def _matrix(encodings: Encodings) -> Sparse:
    return as_sparse(matrix_of("HistogramGPClassifier", "X", encodings))

"""Encodings: what a channel makes of images and its kernel compares.

Three kinds: rows of numbers, most of them zero (`SparseRows`) or not (`DenseRows`), and sets of descriptors (`DescriptorSets`).
Whatever stands above channels counts, takes, joins and stores them, and never asks which kind they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeAlias, final

import numpy as np
import numpy.typing as npt
import scipy.sparse

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight._base.state import INTEGERS, NUMBERS
from fewsight._base.types import Array, Indices, Rows, Sparse, State

MOST_COLUMNS = 2**31 - 1  # and rows: what an index of 32 bits reaches
Entry: TypeAlias = Mapping[str, npt.NDArray[Any]]  # what the cache keeps of the encoding of one image


class Encodings(ABC):
    """The encodings of several images, in order. They never change."""

    kind: ClassVar[str]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """How many images, and how many numbers a row or a descriptor has."""

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def take(self, indices: Indices) -> Self:
        """Those of some images, in the order asked for.

        Parameters
        ----------
        indices : positions of images (k,), from 0; may repeat.
        """

    def part(self, start: int, stop: int) -> Self:
        """Those from one position up to before another; rows share memory with these, unless they are less than half of them.

        Parameters
        ----------
        start : the first position, from 0.
        stop : the one after the last.
        """
        return self if (start, stop) == (0, len(self)) else self.take(np.arange(start, stop))

    @abstractmethod
    def join(self, other: Self) -> Self:
        """These, and then those of other images.

        Parameters
        ----------
        other : encodings of the same kind and width.
        """

    @classmethod
    @abstractmethod
    def stack(cls, entries: Sequence[Entry], width: int) -> Self:
        """The encodings of several images, from what `entry` made of each; `width` is the second number of their `shape`.

        Parameters
        ----------
        entries : what `entry` made of each image.
        width : the number of columns of a row, or of a descriptor; 1 or more.
        """

    @classmethod
    @abstractmethod
    def kept_entry(cls, state: State, width: int) -> Entry:
        """What `entry` made of one image, from the cache, checked: it may be damaged.

        Parameters
        ----------
        state : what the cache kept of one image.
        width : the number of columns of a row, or of a descriptor.
        """

    @abstractmethod
    def state(self) -> State:
        """For the model file."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """From the model file, checked: it may have been edited.

        Parameters
        ----------
        state : what `state` returned; it may come from a file.
        """


class RowEncodings(Encodings, ABC):
    """A row of numbers for each image."""

    matrix: Rows

    @property
    def shape(self) -> tuple[int, int]:
        n, width = self.matrix.shape
        return int(n), int(width)


@final
@dataclass(frozen=True, eq=False)
class SparseRows(RowEncodings):
    """Rows of numbers, most of them zero, as one CSR matrix."""

    kind: ClassVar[str] = "sparse_rows"
    matrix: Sparse

    def take(self, indices: Indices) -> SparseRows:
        return SparseRows(self.matrix[indices])

    def part(self, start: int, stop: int) -> SparseRows:
        X = self.matrix.tocsr()
        here, starts = slice(X.indptr[start], X.indptr[stop]), X.indptr[start : stop + 1] - X.indptr[start]
        shape = (stop - start, self.shape[1])
        return SparseRows(scipy.sparse.csr_array((X.data[here], X.indices[here], starts), shape=shape))

    def join(self, other: SparseRows) -> SparseRows:
        return SparseRows(scipy.sparse.csr_array(scipy.sparse.vstack([self.matrix, other.matrix], format="csr")))

    @staticmethod
    def entry(columns: npt.NDArray[np.integer], values: Array) -> Entry:
        """The row of one image: its ascending columns and their values."""
        return {"columns": columns.astype(np.int32), "values": values}

    @classmethod
    def kept_entry(cls, state: State, width: int) -> Entry:
        columns = state.array("columns", (None,), np.int32, least=0, most=width - 1)
        if (np.diff(columns) <= 0).any():
            raise InvalidInput("the stored columns must ascend.")
        return {"columns": columns, "values": state.array("values", columns.shape, np.float64)}

    @classmethod
    def stack(cls, entries: Sequence[Entry], width: int) -> SparseRows:
        counts = [len(entry["columns"]) for entry in entries]
        starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        if starts[-1] <= MOST_COLUMNS:  # else SciPy would keep all columns in 64 bits
            starts = starts.astype(np.int32)
        columns = np.concatenate([np.empty(0, np.int32), *(entry["columns"] for entry in entries)])
        values = np.concatenate([np.empty(0), *(entry["values"] for entry in entries)])
        return cls(scipy.sparse.csr_array((values, columns, starts), shape=(len(entries), width)))

    def state(self) -> State:
        X = self.matrix.tocsr()
        small = max(X.nnz, X.shape[1]) < 2**31  # half of what there is to compress
        columns, starts = (part.astype(np.int32) if small else part for part in (X.indices, X.indptr))
        arrays = {"values": X.data, "columns": columns, "starts": starts}
        return State({"sparse": True, "shape": list(self.shape)}, arrays)

    @classmethod
    def from_state(cls, state: State) -> SparseRows:
        if not state.flag("sparse"):
            raise InvalidInput("the training examples must be a sparse matrix, got a dense one.")
        n, width = (int(side) for side in state.numbers("shape", 2, least=0, most=MOST_COLUMNS))
        starts = state.array("starts", (n + 1,), INTEGERS, least=0)
        count = int(starts[-1])
        columns = state.array("columns", (count,), INTEGERS, least=0, most=width - 1)
        if starts[0] != 0 or (np.diff(starts) < 0).any():
            raise InvalidInput("the stored array starts must ascend from 0.")
        matrix = scipy.sparse.csr_array(
            (state.array("values", (count,), np.float64), columns, starts), shape=(n, width)
        )
        matrix.check_format(full_check=True)
        return cls(matrix)


@final
@dataclass(frozen=True, eq=False)
class DenseRows(RowEncodings):
    """Rows of numbers as one array (n, d)."""

    kind: ClassVar[str] = "dense_rows"
    matrix: Array

    def take(self, indices: Indices) -> DenseRows:
        return DenseRows(self.matrix[indices])

    def part(self, start: int, stop: int) -> DenseRows:
        return DenseRows(self.matrix[start:stop])

    def join(self, other: DenseRows) -> DenseRows:
        return DenseRows(np.concatenate([self.matrix, other.matrix]))

    @staticmethod
    def entry(values: Array) -> Entry:
        """The row (d,) of one image."""
        return {"values": values}

    @classmethod
    def kept_entry(cls, state: State, width: int) -> Entry:
        return {"values": state.array("values", (width,), np.float64)}

    @classmethod
    def stack(cls, entries: Sequence[Entry], width: int) -> DenseRows:
        return cls(np.stack([entry["values"] for entry in entries]) if entries else np.empty((0, width)))

    def state(self) -> State:
        return State({"sparse": False}, {"values": self.matrix})

    @classmethod
    def from_state(cls, state: State) -> DenseRows:
        if state.flag("sparse"):
            raise InvalidInput("the training examples must be a dense matrix, got a sparse one.")
        return cls(state.array("values", (None, None), np.float64))


@final
@dataclass(frozen=True, eq=False)
class DescriptorSets(Encodings):
    """A set of descriptors for each image; image i has those from `starts[i]` up to `starts[i + 1]`. A set may be empty.

    Where `positions` (n, 2) or `weights` (n,) are given, each descriptor has one.
    """

    kind: ClassVar[str] = "descriptor_sets"
    descriptors: npt.NDArray[Any]  # (n, d), whole numbers or floats
    starts: Indices  # (number of images + 1,)
    positions: npt.NDArray[np.float32] | None = None
    weights: Array | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.starts) - 1, int(self.descriptors.shape[1])

    @property
    def counts(self) -> Indices:
        """How many descriptors each image has."""
        return np.diff(self.starts)

    def of(self, image: int) -> npt.NDArray[Any]:
        """The descriptors of one image."""
        return self.descriptors[self.starts[image] : self.starts[image + 1]]

    def take(self, indices: Indices) -> DescriptorSets:
        chosen = np.asarray(indices, dtype=np.intp)
        counts = self.counts[chosen]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
        places = np.repeat(self.starts[:-1][chosen] - starts[:-1], counts) + np.arange(starts[-1])
        return DescriptorSets(starts=starts, **{name: part[places] for name, part in self._parts().items()})

    def join(self, other: DescriptorSets) -> DescriptorSets:
        parts, others = self._parts(), other._parts()
        if parts.keys() != others.keys():
            raise InvalidInput(
                f"DescriptorSets: those that are joined must have the same parts, got {', '.join(parts)} and {', '.join(others)}."
            )
        joined = {name: np.concatenate([part, others[name]]) for name, part in parts.items()}
        return DescriptorSets(starts=np.concatenate([self.starts, self.starts[-1] + other.starts[1:]]), **joined)

    @staticmethod
    def entry(
        descriptors: npt.NDArray[Any], positions: npt.NDArray[np.float32] | None = None, weights: Array | None = None
    ) -> Entry:
        """The set of one image."""
        parts = {"descriptors": descriptors, "positions": positions, "weights": weights}
        return {name: part for name, part in parts.items() if part is not None}

    @classmethod
    def kept_entry(cls, state: State, width: int) -> Entry:
        return _parts_of_sets(state, width)

    @classmethod
    def stack(cls, entries: Sequence[Entry], width: int) -> DescriptorSets:
        if not entries:
            return cls(np.empty((0, width), np.float32), np.zeros(1, np.intp))
        counts = [len(entry["descriptors"]) for entry in entries]
        parts = {name: np.concatenate([entry[name] for entry in entries]) for name in entries[0]}
        return cls(starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp), **parts)

    def state(self) -> State:
        return State({"sets": True}, {"starts": self.starts, **self._parts()})

    @classmethod
    def from_state(cls, state: State) -> DescriptorSets:
        parts = _parts_of_sets(state, None)
        restored = cls(starts=state.array("starts", (None,), INTEGERS, least=0).astype(np.intp), **parts)
        restored.check()
        return restored

    def check(self) -> None:
        """Raise if the parts do not fit together, or hold something else than finite numbers."""
        n = len(self.descriptors)
        for name, part, shape in (
            ("descriptors", self.descriptors, (n, *self.descriptors.shape[1:2])),
            ("positions", self.positions, (n, 2)),
            ("weights", self.weights, (n,)),
        ):
            if part is not None and (
                part.shape != shape or part.dtype.kind not in "iuf" or not np.isfinite(part).all()
            ):
                raise InvalidInput(
                    f"DescriptorSets: {name} must be finite numbers of shape {shape}, got {shown(part)}."
                )
        starts = self.starts
        if starts.ndim != 1 or not len(starts) or starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 0).any():
            raise InvalidInput(f"DescriptorSets: starts must ascend from 0 to {n}, got {shown(starts)}.")

    def _parts(self) -> dict[str, npt.NDArray[Any]]:
        """What there is one of for each descriptor."""
        return dict(self.entry(self.descriptors, self.positions, self.weights))


def _parts_of_sets(state: State, width: int | None) -> dict[str, npt.NDArray[Any]]:
    """What there is one of for each descriptor; those have `width` numbers, where that is known."""
    descriptors = state.array("descriptors", (None, width), NUMBERS)
    parts = {"descriptors": descriptors}
    for name, shape in (("positions", (len(descriptors), 2)), ("weights", (len(descriptors),))):
        if name in state:
            parts[name] = state.array(name, shape, NUMBERS)
    return parts

"""What a pool of unlabelled examples offers: kernel values among its members, a few rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.inputs import Input


class Pool(ABC):
    """m examples that may be asked about, compared by one or several kernels.

    A pool never changes, so that one serves many runs. Kernel values are those of the kernels themselves: a view divides them by
    scales. Rows of examples that got a label are kept, as re-learning needs them again.
    """

    def __init__(self) -> None:
        self._kept: dict[int, Array] = {}  # position -> (k, m)

    @abstractmethod
    def __len__(self) -> int:
        """How many examples there are."""

    @property
    @abstractmethod
    def n_kernels(self) -> int:
        """How many kernels compare them."""

    @property
    @abstractmethod
    def diagonals(self) -> list[Array]:
        """Each kernel of every example with itself (m,)."""

    @abstractmethod
    def _compare(self, rows: Indices, columns: Indices | None) -> list[Array]:
        """Each kernel between examples; None stands for all. Neither side is empty."""

    @abstractmethod
    def input_of(self, positions: Indices, scales: Array) -> Input:
        """These examples as the training side of a learner, in the form in which the pool was given."""

    @property
    @abstractmethod
    def parameter(self) -> KernelLike:
        """What to pass as `kernel` to a learner that shall take examples of this form."""

    def block(self, rows: Indices, columns: Indices, factors: Array) -> Array:
        """The kernels' sum, weighted by `factors` (k,), between some examples and others."""
        if not len(rows) or not len(columns):
            return np.zeros((len(rows), len(columns)))
        return combined(self._compare(rows, columns), factors)

    def rows(self, positions: Indices, factors: Array) -> Array:
        """The kernels' weighted sum between some examples and the whole pool (q, m); what was computed is kept."""
        return combined(self.parts(positions), factors)

    def parts(self, positions: Indices) -> list[Array]:
        """Each kernel between some examples and the whole pool (q, m); what was computed is kept."""
        missing = np.array([position for position in positions if int(position) not in self._kept], dtype=np.intp)
        if len(missing):
            fresh = np.stack(self._compare(missing, None), axis=1)
            self._kept.update(zip(missing.tolist(), fresh, strict=True))
        if not len(positions):
            return [np.zeros((0, len(self))) for _ in range(self.n_kernels)]
        kept = [self._kept[position] for position in positions.tolist()]
        return [np.stack([parts[number] for parts in kept]) for number in range(self.n_kernels)]

    def diagonal(self, factors: Array) -> Array:
        """The kernels' weighted sum of each example with itself (m,)."""
        return combined(self.diagonals, factors)

    def scales(self, positions: Indices | None = None) -> Array:
        """The mean diagonal of each kernel over the pool, or over some of it (k,); 1 where that is zero."""
        diagonals = [diagonal if positions is None else diagonal[positions] for diagonal in self.diagonals]
        means = np.array([float(diagonal.mean()) if len(diagonal) else 1.0 for diagonal in diagonals])
        return np.where(means > 0, means, 1.0)

    def examples(self, positions: Indices) -> Examples:
        """These examples in the form in which the pool was given, for a learner that takes no Gram matrices."""
        raise InvalidInput(
            f"{type(self).__name__}: the learner must take Gram matrices, as nothing else is known of these examples."
        )

    def histograms(self, owner: object, known: Indices) -> HistogramRows:
        """The examples as rows of one matrix of histograms, for a learner that takes those.

        Channels stand side by side, each divided by its mean diagonal over the examples at `known`.
        """
        raise InvalidInput(
            f"{owner_name(owner)}: with HistogramGPClassifier the pool must be rows of numbers >= 0, or images with channels "
            "that compare by histogram intersection."
        )

    def grams(self, positions: Indices) -> list[Array]:
        """Each kernel among some examples (n, n)."""
        if not len(positions):
            return [np.zeros((0, 0)) for _ in range(self.n_kernels)]
        return self._compare(positions, positions)


def combined(parts: Sequence[Array] | Array, factors: Array) -> Array:
    """The sum of the parts, each times its factor, as float64."""
    total: Array = factors[0] * np.asarray(parts[0], dtype=np.float64)
    for part, factor in zip(parts[1:], factors[1:], strict=True):
        total += factor * np.asarray(part, dtype=np.float64)
    return total

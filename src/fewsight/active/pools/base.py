"""What a pool of unlabelled examples offers: kernel values among its members, a few rows at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

import numpy as np

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.pools.histogram_rows import HistogramRows
from fewsight.active.pools.kept_rows import Block, KeptRows
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.inputs import Input

FEW_ROWS = 4
AT_A_TIME = 32  # rows that are computed together: of many kernels, a block of them is large


class Pool(ABC):
    """m examples that may be asked about, compared by one or several kernels.

    A pool never changes, so that one serves many runs, and several threads; `grow` gives a larger one. Kernel values are those
    of the kernels themselves: a view divides them by scales. Rows of examples that got a label are kept, as re-learning needs
    them again, up to a bound in bytes.
    """

    def __init__(self, kept: KeptRows | None = None) -> None:
        self.kept = KeptRows() if kept is None else kept

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
        """These examples as the training side of a learner, in the form in which the pool was given.

        Parameters
        ----------
        positions : positions in the pool (n,), from 0.
        scales : what each of the k kernels is divided by (k,), > 0.
        """

    @property
    @abstractmethod
    def parameter(self) -> KernelLike:
        """What to pass as `kernel` to a learner that shall take examples of this form."""

    @abstractmethod
    def grow(self, examples: Examples) -> Self:
        """The pool with more examples of the same form behind those that there are; what was computed is kept.

        Parameters
        ----------
        examples : further examples of the form in which the pool came.
        """

    def block(self, rows: Indices, columns: Indices, factors: Array) -> Array:
        """The kernels' sum, weighted by `factors` (k,), between some examples and others.

        Parameters
        ----------
        rows : positions (r,), from 0.
        columns : positions (s,), from 0.
        factors : a factor for each of the k kernels (k,).

        Returns
        -------
        array (r, s)
            float64.
        """
        if not len(rows) or not len(columns):
            return np.zeros((len(rows), len(columns)))
        if len(rows) <= FEW_ROWS and 2 * len(columns) > len(self):  # whole rows are quicker, and are kept
            return self.rows(rows, factors)[:, columns]
        return combined(self._compare(rows, columns), factors)

    def with_sample(self, rows: Indices, sample: Indices, factors: Array) -> Array:
        """As `block`, with a sample of the pool that is mostly the same when it is asked for again.

        Parameters
        ----------
        rows : positions (r,), from 0.
        sample : positions (s,), from 0.
        factors : a factor for each of the k kernels (k,).
        """
        return self.block(rows, sample, factors)

    def rows(self, positions: Indices, factors: Array) -> Array:
        """The kernels' weighted sum between some examples and the whole pool (q, m); what was computed is kept.

        Parameters
        ----------
        positions : positions (q,), from 0.
        factors : a factor for each of the k kernels (k,).
        """
        rows = np.empty((len(positions), len(self)))
        for start in range(0, len(positions), AT_A_TIME):
            some = positions[start : start + AT_A_TIME]
            for row, parts in enumerate(self._each_part(some), start):
                rows[row] = combined(parts, factors)
        return rows

    def parts(self, positions: Indices) -> list[Array]:
        """Each kernel between some examples and the whole pool (q, m); what was computed is kept.

        Parameters
        ----------
        positions : positions (q,), from 0.
        """
        if not len(positions):
            return [np.zeros((0, len(self))) for _ in range(self.n_kernels)]
        each = self._each_part(positions)
        return [np.stack([parts[number] for parts in each]).astype(np.float64) for number in range(self.n_kernels)]

    def _each_part(self, positions: Indices) -> list[Block]:
        """Of each example, each kernel with the whole pool (k, m): kept, kept and continued, or computed."""
        wanted, m = positions.tolist(), len(self)
        known = self.kept.known(wanted)
        missing = [position for position in dict.fromkeys(wanted) if position not in known]
        fresh = self._computed(missing, None)
        for width in sorted({row.shape[1] for row in known.values()} - {m}):  # of a pool that has grown since
            short = [position for position, row in known.items() if row.shape[1] == width]
            more = self._computed(short, np.arange(width, m))
            fresh |= {position: np.hstack([known[position], more[position]]) for position in short}
        if fresh:
            self.kept.keep(fresh)
        known |= fresh
        return [known[position] for position in wanted]

    def _computed(self, positions: list[int], columns: Indices | None) -> dict[int, Array]:
        """Each kernel of each of these examples with others (k, s)."""
        if not positions:
            return {}
        blocks = np.stack(self._compare(np.array(positions, dtype=np.intp), columns), axis=1)
        return {position: np.array(block) for position, block in zip(positions, blocks, strict=True)}

    def diagonal(self, factors: Array) -> Array:
        """The kernels' weighted sum of each example with itself (m,).

        Parameters
        ----------
        factors : a factor for each of the k kernels (k,).
        """
        return combined(self.diagonals, factors)

    def scales(self, positions: Indices | None = None) -> Array:
        """The mean diagonal of each kernel over the pool, or over some of it (k,); 1 where that is zero.

        Parameters
        ----------
        positions : positions (q,), from 0; None for all.
        """
        diagonals = [diagonal if positions is None else diagonal[positions] for diagonal in self.diagonals]
        means = np.array([float(diagonal.mean()) if len(diagonal) else 1.0 for diagonal in diagonals])
        return np.where(means > 0, means, 1.0)

    def examples(self, positions: Indices) -> Examples:
        """These examples in the form in which the pool was given, for a learner that takes no Gram matrices.

        Parameters
        ----------
        positions : positions (q,), from 0.
        """
        raise InvalidInput(
            f"{type(self).__name__}: the learner must take Gram matrices, as nothing else is known of these examples."
        )

    def histograms(self, owner: object, known: Indices) -> HistogramRows:
        """The examples as rows of one matrix of histograms, for a learner that takes those.

        Channels stand side by side, each divided by its mean diagonal over the examples at `known`.

        Parameters
        ----------
        owner : who asks, for messages.
        known : (k,), positions of the examples that training may look at.
        """
        raise InvalidInput(
            f"{owner_name(owner)}: with HistogramGPClassifier the pool must be rows of numbers >= 0, or images with channels "
            "that compare by histogram intersection."
        )

    def grams(self, positions: Indices) -> list[Array]:
        """Each kernel among some examples (n, n).

        Parameters
        ----------
        positions : positions (n,), from 0.
        """
        if not len(positions):
            return [np.zeros((0, 0)) for _ in range(self.n_kernels)]
        return self._compare(positions, positions)


def combined(parts: Sequence[Array] | Array, factors: Array) -> Array:
    """The sum of the parts, each times its factor, as float64."""
    total: Array = factors[0] * np.asarray(parts[0], dtype=np.float64)
    for part, factor in zip(parts[1:], factors[1:], strict=True):
        total += factor * np.asarray(part, dtype=np.float64)
    return total

"""Many Gram matrices, packed: a thousand of 1,515 examples take 4.6 gigabytes, where a list of float64 would take 18.

Of a symmetric matrix the lower triangle is kept, in single precision, which is right to 6e-8 of each number; every sum is made
in double precision. Triangles stand one after the other in blocks of memory that never move, so that appending copies nothing
but the new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.checks import check_gram, check_integer, check_matrix, owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight._compiled import packed_sums
from fewsight.gp.gram_sums import Grams, Matrices, check_columns

Single = npt.NDArray[np.float32]

BLOCK_BYTES = 2**28  # of rows that stand together; what is not used of it takes no memory yet
MOST_ROWS = 64  # of a block
PRODUCT_PLACES = 8_192  # of triangles that are multiplied at a time


@final
class GramStack(Grams):
    """Gram matrices (n, n) as packed lower triangles in single precision.

    `GramStack.of(grams)` packs matrices one after the other, so that `grams` may be a generator; `append` adds one.
    """

    def __init__(self, side: int) -> None:
        self._side = check_integer(self, "side", side, least=1)
        self._rows = _Rows(self._side * (self._side + 1) // 2)

    @classmethod
    def of(cls, grams: Iterable[Array]) -> GramStack:
        """The matrices, of which there must be one or more, all of one size."""
        stack = None
        for K in grams:
            stack = cls(len(K)) if stack is None else stack
            stack.append(K)
        if stack is None:
            raise InvalidInput("GramStack: grams must hold at least one matrix, got none.")
        return stack

    def append(self, K: npt.ArrayLike) -> None:
        """Add a finite, symmetric matrix (n, n)."""
        who, name = owner_name(self), "a Gram matrix"
        matrix = check_gram(who, name, check_matrix(who, name, K, shape=(self.side, self.side)))
        packed_sums.pack(np.ascontiguousarray(_check_single(who, name, matrix)), self._rows.new())

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def side(self) -> int:
        return self._side

    @property
    def nbytes(self) -> int:
        """Memory that the matrices take."""
        return self._rows.nbytes

    def _matrix(self, number: int) -> Array:
        return self._unpacked(self._rows[number])

    def scales(self) -> Array:
        at = np.arange(self.side)
        diagonals = [triangle[at * (at + 3) // 2] for triangle in self._rows]
        means = np.array([float(diagonal.mean(dtype=np.float64)) for diagonal in diagonals])
        return np.where(means > 0, means, 1.0)

    def weighted_sum(self, weights: Array) -> Array:
        return self.weighted_sums(np.asarray(weights)[None])[0]

    def weighted_sums(self, weights: Array) -> Array:
        """As `weighted_sum` for each row of weights (q, k): (q, n, n), in one pass over the matrices."""
        totals = self._rows.weighted(check_matrix(self, "weights", weights, shape=(None, len(self))))
        whole = np.empty((len(totals), self.side, self.side))
        for total, K in zip(totals, whole, strict=True):
            packed_sums.unpack(total, K)
        return whole

    def inners(self, W: Array) -> Array:
        return self.inners_of(W, np.arange(len(self)))

    def inners_of(self, W: Array, numbers: Indices) -> Array:
        """As `inners`, of these matrices only; the others are not read."""
        factors = np.empty(self._rows.width)
        packed_sums.pack(np.ascontiguousarray(2.0 * W - np.diag(W.diagonal())), factors)
        return self._rows.inner(factors, numbers)

    def chosen(self, numbers: Indices) -> ChosenGrams:
        return ChosenGrams(self, numbers)

    def quadratic_forms(self, columns: Array) -> Array:
        columns = check_columns(self, columns)
        forms = np.zeros((len(self), columns.shape[1]))
        for first, products in _products_of_pairs(columns):
            places = slice(first, first + len(products))
            for start, block in self._rows.blocks():
                forms[start : start + len(block)] += block[:, places].astype(np.float64) @ products
        return forms

    def keep(self, numbers: Sequence[int] | Indices) -> GramStack:
        """A stack of these matrices only, in this order."""
        other = GramStack(self.side)
        for number in numbers:
            other._rows.new()[:] = self._rows[int(number)]
        return other

    def of_examples(self, positions: Indices) -> GramStack:
        """A stack of the same kernels between these examples only."""
        other = GramStack(len(positions))
        for number in range(len(self)):
            packed_sums.pack(self.part(number, positions), other._rows.new())
        return other

    def part(self, number: int, positions: Indices) -> Array:
        K = np.empty((len(positions), len(positions)))
        packed_sums.unpack_part(self._rows[number], np.asarray(positions, np.intp), K)
        return K

    def forms_and_products(self, columns: Array, weights: Array) -> tuple[Array, Array]:
        """Forms from the triangles as they are; only matrices that have weight are unpacked, for the columns that use them."""
        columns = check_columns(self, columns)
        weights = check_matrix(self, "weights", weights, shape=(columns.shape[1], len(self)))
        totals = np.zeros(columns.shape)
        K = np.empty((self.side, self.side))  # one for all: new memory takes longer than what is written to it
        for number in np.flatnonzero(weights.any(axis=0)):
            packed_sums.unpack(self._rows[int(number)], K)
            users = np.flatnonzero(weights[:, number])
            totals[:, users] += weights[users, number] * (K @ columns[:, users])
        return self.quadratic_forms(columns), totals

    def _unpacked(self, triangle: npt.NDArray[np.floating]) -> Array:
        K = np.empty((self.side, self.side))
        packed_sums.unpack(triangle, K)
        return K


@final
class ChosenGrams(Grams):
    """Some matrices of a stack, each once, in any order; nothing is copied."""

    def __init__(self, stack: GramStack, numbers: Indices) -> None:
        self.stack, self.numbers = stack, np.asarray(numbers, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def side(self) -> int:
        return self.stack.side

    def _matrix(self, number: int) -> Array:
        return self.stack[int(self.numbers[number])]

    def part(self, number: int, positions: Indices) -> Array:
        return self.stack.part(int(self.numbers[number]), positions)

    def weighted_sum(self, weights: Array) -> Array:
        return self.weighted_sums(np.asarray(weights)[None])[0]

    def weighted_sums(self, weights: Array) -> Array:
        """As `weighted_sum` for each row of weights (q, k): (q, n, n), in one pass over the matrices."""
        weights = check_matrix(self, "weights", weights, shape=(None, len(self)))
        of_all = np.zeros((len(weights), len(self.stack)))
        of_all[:, self.numbers] = weights
        return self.stack.weighted_sums(of_all)

    def inners(self, W: Array) -> Array:
        return self.stack.inners_of(W, self.numbers)


@final
class BlockStack(Matrices):
    """Kernel values between m new examples and n others, k matrices (m, n) in single precision."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self._rows = _Rows(shape[0] * shape[1])

    @classmethod
    def of(cls, blocks: Iterable[Array]) -> BlockStack:
        """The matrices, of which there must be one or more, all of one shape."""
        stack = None
        for K in blocks:
            stack = cls((K.shape[0], K.shape[1])) if stack is None else stack
            stack.append(K)
        if stack is None:
            raise InvalidInput("BlockStack: blocks must hold at least one matrix, got none.")
        return stack

    def append(self, K: npt.ArrayLike) -> None:
        """Add a finite matrix (m, n)."""
        matrix = _check_single(self, "a block", check_matrix(self, "a block", K, shape=self.shape))
        self._rows.new()[:] = matrix.ravel()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Memory that the matrices take."""
        return self._rows.nbytes

    def _matrix(self, number: int) -> Array:
        return self._rows[number].reshape(self.shape).astype(np.float64)

    def weighted_sum(self, weights: Array) -> Array:
        weights = check_matrix(self, "weights", np.asarray(weights)[None], shape=(1, len(self)))
        return self._rows.weighted(weights)[0].reshape(self.shape)

    def weighted_products(self, weights: Array, columns: Array) -> Array:
        """sum_i w_ic K_i a_c (m, c): decisions of c problems, each with weights (c, k) and a column of (n, c) of its own."""
        columns = check_matrix(self, "columns", columns, shape=(self.shape[1], None))
        weights = check_matrix(self, "weights", weights, shape=(columns.shape[1], len(self)))
        total = np.zeros((self.shape[0], columns.shape[1]))
        for number in np.flatnonzero(weights.any(axis=0)):
            total += weights[:, number] * (self._matrix(int(number)) @ columns)
        return total


@final
class ScaledBlocks(Matrices):
    """Blocks of kernel values, each times a factor; nothing is copied."""

    def __init__(self, blocks: BlockStack, factors: Array) -> None:
        self.blocks, self.factors = blocks, factors

    def __len__(self) -> int:
        return len(self.blocks)

    def _matrix(self, number: int) -> Array:
        return self.factors[number] * self.blocks[number]

    def weighted_sum(self, weights: Array) -> Array:
        return self.blocks.weighted_sum(weights * self.factors)


class _Rows:
    """Rows of numbers in single precision, in blocks that never move; sums over all of them."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._capacity = min(MOST_ROWS, max(packed_sums.EIGHT, BLOCK_BYTES // (4 * max(width, 1))))
        self._blocks: list[Single] = []
        self._count = 0

    def new(self) -> Single:
        """One more row, to be filled."""
        block, at = divmod(self._count, self._capacity)
        if block == len(self._blocks):
            self._blocks.append(np.empty((self._capacity, self.width), dtype=np.float32))
        self._count += 1
        return self._blocks[block][at]

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: int) -> Single:
        block, at = divmod(range(self._count)[number], self._capacity)
        return self._blocks[block][at]

    def __iter__(self) -> Iterator[Single]:
        return (self[number] for number in range(self._count))

    @property
    def nbytes(self) -> int:
        return 4 * self.width * self._count

    def blocks(self) -> Iterator[tuple[int, Single]]:
        """The number of the first row of each block, and its rows."""
        for number, block in enumerate(self._blocks):
            start = number * self._capacity
            yield start, block[: self._count - start]

    def weighted(self, weights: Array) -> Array:
        """weights (q, k) times the rows (k, p)."""
        totals = np.zeros((len(weights), self.width))
        for start, block in self.blocks():
            packed_sums.add_all(totals, block, weights[:, start : start + len(block)])
        return totals

    def inner(self, factors: Array, numbers: Indices) -> Array:
        """These rows of (k, p) times the factors (p,)."""
        sums = np.empty(len(numbers))
        for start, block in self.blocks():
            here = np.flatnonzero((numbers >= start) & (numbers < start + len(block)))
            sums[here] = packed_sums.inner_all(block, factors, numbers[here] - start)
        return sums


def _check_single(owner: object, name: str, matrix: Array) -> Array:
    """Numbers that single precision can hold."""
    largest = np.abs(matrix).max(initial=0.0)
    if largest > np.finfo(np.float32).max:
        raise InvalidInput(f"{owner_name(owner)}: {name} must hold numbers that float32 can hold, got {largest:g}.")
    return matrix


def _products_of_pairs(columns: Array) -> Iterator[tuple[int, Array]]:
    """a_i a_j of each column of (n, c), for the pairs of a packed triangle: a few rows of it at a time, after the place of the
    first pair. Pairs of different examples count twice, as their two places in a symmetric matrix do."""
    n, start = len(columns), 0
    while start < n:
        first, end = start * (start + 1) // 2, start + 1
        while end < n and end * (end + 1) // 2 - first < PRODUCT_PLACES:
            end += 1
        rows = range(start, end)
        products = np.concatenate([columns[i] * columns[: i + 1] for i in rows])
        diagonal = np.array([i * (i + 3) // 2 - first for i in rows])
        products *= 2.0
        products[diagonal] /= 2.0
        yield first, products
        start = end

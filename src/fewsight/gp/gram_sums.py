"""Several Gram matrices of the same examples, and the sums over them that learning their weights needs.

`GramList` is a few matrices in double precision, `GramStack` many of them packed in single precision, `GramsOnRequest` matrices
that are made whenever they are needed and never kept. What combines kernels takes any of them. Matrices that compare new examples
with others, and are not square, have sums as well.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import final, overload

import numpy as np

from fewsight._base.checks import check_integer, check_matrix
from fewsight._base.types import Array, Indices
from fewsight._compiled import symmetric_sums

ROWS_AT_A_TIME = 32  # of matrices that are added up


class Matrices(Sequence[Array], ABC):
    """k matrices of one shape; as a sequence, each of them in double precision."""

    @abstractmethod
    def _matrix(self, number: int) -> Array:
        """One of them, by a number from 0 to below k; read only."""

    @overload
    def __getitem__(self, number: int) -> Array: ...
    @overload
    def __getitem__(self, number: slice) -> list[Array]: ...
    def __getitem__(self, number: int | slice) -> Array | list[Array]:
        if isinstance(number, slice):
            return [self._matrix(each) for each in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} matrices, and none has the number {number}")
        return self._matrix(number % len(self))

    def mean(self) -> Array:
        """Their plain average."""
        return self.weighted_sum(np.full(len(self), 1.0 / len(self)))

    @abstractmethod
    def weighted_sum(self, weights: Array) -> Array:
        """sum_i w_i K_i, a new matrix."""


class Grams(Matrices):
    """k symmetric matrices (n, n) that compare the same n examples."""

    @property
    @abstractmethod
    def side(self) -> int:
        """How many examples they compare, n."""

    def scales(self) -> Array:
        """The mean diagonal of each (k,), or 1 for a matrix of zeros."""
        return np.array([scale_of(K) for K in self])

    def chosen(self, numbers: Indices) -> Grams:
        """Some of them, each once, in any order."""
        return GramList([self._matrix(int(number)) for number in numbers])

    def part(self, number: int, positions: Indices) -> Array:
        """One of them between these examples only, (m, m)."""
        return self._matrix(number)[np.ix_(positions, positions)]

    def weighted_sum(self, weights: Array) -> Array:
        total = np.zeros((self.side, self.side))
        for number in np.flatnonzero(weights):
            total += weights[number] * self._matrix(int(number))
        return total

    def weighted_sums(self, weights: Array) -> Array:
        """As `weighted_sum` for each row of weights (q, k): (q, n, n); each matrix is made once."""
        weights = check_matrix(self, "weights", weights, shape=(None, len(self)))
        totals = np.zeros((len(weights), self.side, self.side))
        for number, theirs in enumerate(weights.T):
            K = self._matrix(number)
            for total, weight in zip(totals, theirs, strict=True):
                total += weight * K
        return totals

    def lower_sum(self, weights: Array) -> Array:
        """The lower triangle of sum_i w_i K_i as a new matrix in Fortran order; nothing above it counts."""
        return self.weighted_sum(weights).T

    def inners(self, W: Array) -> Array:
        """sum(W * K_i) of each (k,) with a symmetric W, of which the lower triangle counts."""
        whole = np.tril(W) + np.tril(W, -1).T
        return np.array([np.einsum("ij,ij->", whole, K) for K in self])

    def quadratic_forms(self, columns: Array) -> Array:
        """a_c^T K_i a_c of each matrix and each column of (n, c): (k, c). Half of it is T of [Gehler2009, eq. 5]."""
        columns = check_columns(self, columns)
        return np.array([np.einsum("ij,ij->j", columns, K @ columns) for K in self]).reshape(len(self), -1)

    def forms_and_products(self, columns: Array, weights: Array) -> tuple[Array, Array]:
        """`quadratic_forms` (k, c) and sum_i w_ci K_i a_c (n, c) for weights (c, k): one product for each matrix."""
        columns = check_columns(self, columns)
        weights = check_matrix(self, "weights", weights, shape=(columns.shape[1], len(self)))
        forms, totals = np.empty(weights.T.shape), np.zeros(columns.shape)
        for number, theirs in enumerate(weights.T):
            products = self._matrix(number) @ columns
            forms[number] = np.einsum("ij,ij->j", columns, products)
            if theirs.any():
                totals += theirs * products
        return forms, totals


@final
class GramList(Grams):
    """Matrices in double precision, as they are."""

    def __init__(self, matrices: Sequence[Array]) -> None:
        self.matrices = list(matrices)

    def __len__(self) -> int:
        return len(self.matrices)

    @property
    def side(self) -> int:
        return len(self.matrices[0])

    def _matrix(self, number: int) -> Array:
        return self.matrices[number]

    def mean(self) -> Array:
        return mean_of(self.matrices)

    def weighted_sum(self, weights: Array) -> Array:
        return weighted_sum(self.matrices, weights)

    def weighted_sums(self, weights: Array) -> Array:
        weights = check_matrix(self, "weights", weights, shape=(None, len(self)))
        totals = np.empty((len(weights), self.side, self.side))
        for first in range(0, self.side, ROWS_AT_A_TIME):  # so that little is copied
            rows = np.stack([K[first : first + ROWS_AT_A_TIME] for K in self.matrices])
            totals[:, first : first + ROWS_AT_A_TIME] = np.tensordot(weights, rows, axes=1)
        return totals

    def lower_sum(self, weights: Array) -> Array:
        total = np.zeros((self.side, self.side))
        for four, first in self._fours():
            theirs = np.zeros(4)
            theirs[: len(self) - first] = weights[first : first + 4]
            symmetric_sums.add_four(total, *four, theirs)
        return total.T

    def inners(self, W: Array) -> Array:
        rows = np.asfortranarray(W).T
        halves = [symmetric_sums.inner_four(rows, *four) for four, _ in self._fours()]
        return 2.0 * np.concatenate(halves)[: len(self)]

    def _fours(self) -> Iterator[tuple[tuple[Array, Array, Array, Array], int]]:
        """Four matrices at a time, the first one again where there are no more, and the number of the first of them."""
        for first in range(0, len(self), 4):
            a, *more = (_in_rows(K) for K in self.matrices[first : first + 4])
            b, c, d = (more + [a] * 3)[:3]
            yield (a, b, c, d), first


@final
class GramsOnRequest(Grams):
    """Matrices that are made anew whenever they are needed: `make(number)` for each of `count` numbers, (side, side)."""

    def __init__(self, make: Callable[[int], Array], count: int, side: int) -> None:
        self.make = make
        self._count = check_integer(self, "count", count, least=1)
        self._side = check_integer(self, "side", side, least=1)

    def __len__(self) -> int:
        return self._count

    @property
    def side(self) -> int:
        return self._side

    def _matrix(self, number: int) -> Array:
        return check_matrix(self, f"make({number})", self.make(number), shape=(self.side, self.side))


@final
class ScaledGrams(Grams):
    """Gram matrices, each times a factor; nothing is copied."""

    def __init__(self, grams: Grams, factors: Array) -> None:
        self.grams, self.factors = grams, factors

    def __len__(self) -> int:
        return len(self.grams)

    @property
    def side(self) -> int:
        return self.grams.side

    def _matrix(self, number: int) -> Array:
        return self.factors[number] * self.grams[number]

    def scales(self) -> Array:
        return self.grams.scales() * self.factors

    def weighted_sum(self, weights: Array) -> Array:
        return self.grams.weighted_sum(weights * self.factors)

    def weighted_sums(self, weights: Array) -> Array:
        return self.grams.weighted_sums(weights * self.factors)

    def lower_sum(self, weights: Array) -> Array:
        return self.grams.lower_sum(weights * self.factors)

    def inners(self, W: Array) -> Array:
        return self.grams.inners(W) * self.factors

    def part(self, number: int, positions: Indices) -> Array:
        return self.factors[number] * self.grams.part(number, positions)

    def quadratic_forms(self, columns: Array) -> Array:
        return self.grams.quadratic_forms(columns) * self.factors[:, None]

    def forms_and_products(self, columns: Array, weights: Array) -> tuple[Array, Array]:
        forms, products = self.grams.forms_and_products(columns, weights * self.factors)
        return forms * self.factors[:, None], products


def weighted_sum(matrices: Sequence[Array], weights: Array) -> Array:
    """sum_i w_i K_i of a list of arrays, or of matrices that know their sums."""
    return matrices.weighted_sum(weights) if isinstance(matrices, Matrices) else np.tensordot(weights, matrices, axes=1)


def mean_of(matrices: Sequence[Array]) -> Array:
    """The plain average of a list of arrays, or of matrices that know their sums.

    Parameters
    ----------
    matrices : arrays of one shape.

    Returns
    -------
    array of the same shape
        Their mean.
    """
    return matrices.mean() if isinstance(matrices, Matrices) else _mean_of_list(matrices)


def _mean_of_list(matrices: Sequence[Array]) -> Array:
    """As np.mean(matrices, axis=0), to the last bit, which would copy all of them into one array first."""
    if any(K.dtype != np.float64 or K.shape != matrices[0].shape for K in matrices):
        return np.asarray(np.mean(matrices, axis=0))
    total = matrices[0].copy()
    for first in range(0, len(total), ROWS_AT_A_TIME):  # so that they stay in the cache
        rows = total[first : first + ROWS_AT_A_TIME]
        for K in matrices[1:]:
            rows += K[first : first + ROWS_AT_A_TIME]
    return total / len(matrices)


def as_grams(grams: Sequence[Array]) -> Grams:
    """Gram matrices that know their sums; a plain list is taken as it is."""
    return grams if isinstance(grams, Grams) else GramList(grams)


def scale_of(K: Array) -> float:
    """The mean diagonal, or 1 for a kernel that is zero."""
    mean = float(K.diagonal().mean())
    return mean if mean > 0 else 1.0


def check_columns(grams: Grams, columns: Array) -> Array:
    """(n, c) finite numbers; a single column may be (n,)."""
    matrix = columns[:, None] if np.ndim(columns) == 1 else columns
    return check_matrix(grams, "columns", matrix, shape=(grams.side, None))


def _in_rows(K: Array) -> Array:
    """A symmetric matrix such that its rows are contiguous, read-only: one kind of array, for which loops compile once."""
    rows = np.ascontiguousarray(K if K.flags.c_contiguous else K.T).view()
    rows.setflags(write=False)
    return rows

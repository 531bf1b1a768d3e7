"""What a kernel is, and how kernels combine: sums, products and positive multiples of kernels are kernels."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, Generic, TypeAlias, cast

import numpy as np

from fewsight._base.checks import check_positive, is_number, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Json, Recipe
from fewsight.kernels.against import Against, Compared, Plain
from fewsight.kernels.rows import RowsLike, check_rows

Parameter: TypeAlias = "float | str | Kernel | tuple[Parameter, ...] | None"


@dataclass(frozen=True)
class Kernel(ABC, Generic[Compared]):
    """A positive semi-definite function of two rows. Kernels are values: frozen, comparable, hashable.

    A final class is a frozen dataclass of its parameters. It names its `kind`, says what its rows must be, and writes
    `_gram` and `_diag`, which get rows that have been checked. For kernels of sets of descriptors see `SetKernel`.
    """

    kind: ClassVar[str]
    compares: ClassVar[str] = "rows of numbers"
    accepts_sparse: ClassVar[bool] = True
    needs_non_negative: ClassVar[bool] = False

    __array_ufunc__ = None  # 2.0 * kernel is ours to answer when the 2.0 is NumPy's

    def gram(self, A: RowsLike, B: RowsLike | None = None) -> Array:
        """Values of each row of A with each row of B; of A with itself if B is None, then exactly symmetric.

        A and B are matrices of finite numbers of one width: arrays or, where the kernel accepts them, SciPy sparse. Encodings
        of a channel will do as well.

        Parameters
        ----------
        A : rows of numbers (n, d), dense or sparse.
        B : rows of numbers (m, d), or None for A itself.

        Returns
        -------
        array (n, m)
            float64; (n, n) where B is None.
        """
        rows = self._checked("A", A)
        return self._gram(rows, None if B is None else self._checked("B", B, rows.shape[1]))

    def compare(self, A: Compared, B: Compared) -> Array:
        """`gram` of rows that were checked before, some of a pool, say: they are not looked at again.

        Parameters
        ----------
        A : rows (n, d) as the kernel has checked them.
        B : rows (m, d) as the kernel has checked them.

        Returns
        -------
        array (n, m)
            float64.
        """
        return self._gram(A, B)

    def diag(self, A: RowsLike) -> Array:
        """The value of each row of A with itself.

        Parameters
        ----------
        A : rows of numbers (n, d), dense or sparse.

        Returns
        -------
        array (n,)
            float64, >= 0.
        """
        return self._diag(self._checked("A", A))

    def against(self, B: RowsLike, *, single: bool = False) -> Against[Compared]:
        """B made ready once: `kernel.against(B).gram(A)` is `kernel.gram(A, B)`, sooner where A is a few rows of many calls.

        Parameters
        ----------
        B : rows of numbers (m, d), dense or sparse.
        single : whether B may be rounded to single precision, where that saves time and values stay within about 1e-6.
        """
        rows = self._checked("B", B)
        return self._against_in_single(rows) if single else self._against(rows)

    def recipe(self) -> Recipe:
        """The kind and the parameters, ready for JSON; `kernel_from_recipe` makes an equal kernel of it."""
        parameters = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {"kind": self.kind, **{name: plain(value) for name, value in parameters.items()}}

    def __add__(self, other: object) -> Kernel:
        return Sum((*_parts(self, Sum), *_parts(other, Sum))) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # the 0 that sum() starts from

    def __mul__(self, other: object) -> Kernel:
        if isinstance(other, Kernel):
            return Product((*_parts(self, Product), *_parts(other, Product)))
        return Scaled(cast(float, other), self) if isinstance(other, Real) else NotImplemented

    def __rmul__(self, other: object) -> Kernel:
        return Scaled(cast(float, other), self) if isinstance(other, Real) else NotImplemented

    @abstractmethod
    def _gram(self, A: Compared, B: Compared | None) -> Array:
        """`gram` of checked rows: C-ordered float64 arrays, or canonical CSR without stored zeros. A new array."""

    @abstractmethod
    def _diag(self, A: Compared) -> Array:
        """`diag` of checked rows. A new array."""

    def _against(self, B: Compared) -> Against[Compared]:
        """`against` of checked rows."""
        return Plain(self, B)

    def _against_in_single(self, B: Compared) -> Against[Compared]:
        """`against` of checked rows, which may be rounded; not, unless a kernel knows how."""
        return self._against(B)

    def _elements(self) -> tuple[Kernel[Compared], ...]:
        """The kernels that look at rows themselves: this one, or what it is made of."""
        return (self,)

    def _width(self) -> int | None:
        """The width of rows that the parameters fix, if they do."""
        return None

    def _checked(self, name: str, value: RowsLike, width: int | None = None) -> Compared:
        """What `_gram` and `_diag` of this kernel, and of those it is made of, can take."""
        elements = self._elements()
        return elements[0]._checked_for(self, elements, name, value, width)

    def _checked_for(
        self,
        owner: Kernel[Compared],
        elements: tuple[Kernel[Compared], ...],
        name: str,
        value: RowsLike,
        width: int | None,
    ) -> Compared:
        """Checked for all elements of the owner, of which this kernel is one."""
        dense_only = next((element for element in elements if not element.accepts_sparse), None)
        picky = next((element for element in elements if element.needs_non_negative), None)
        rows = check_rows(owner, name, value, width=width, dense_only=dense_only, non_negative=picky)
        for element in elements:
            if element._width() not in (None, rows.shape[1]):
                raise InvalidInput(
                    f"{owner_name(element)}: {name} must have {element._width()} columns, as many as the kernel has "
                    f"parameters, got {rows.shape[1]}."
                )
        return cast(Compared, rows)


@dataclass(frozen=True)
class Composed(Kernel[Compared]):
    """Several kernels of the same rows, their values combined number by number."""

    combine: ClassVar[np.ufunc]
    parts: tuple[Kernel[Compared], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", _check_parts(self, self.parts))

    def _gram(self, A: Compared, B: Compared | None) -> Array:
        K = self.parts[0]._gram(A, B)
        for part in self.parts[1:]:
            self.combine(K, part._gram(A, B), out=K)
        return K

    def _diag(self, A: Compared) -> Array:
        return np.asarray(self.combine.reduce([part._diag(A) for part in self.parts]))

    def _elements(self) -> tuple[Kernel[Compared], ...]:
        return tuple(element for part in self.parts for element in part._elements())


@dataclass(frozen=True)
class Sum(Composed[Compared]):
    """k(x, z) = k_1(x, z) + k_2(x, z) + ..."""

    kind: ClassVar[str] = "sum"
    combine: ClassVar[np.ufunc] = np.add


@dataclass(frozen=True)
class Product(Composed[Compared]):
    """k(x, z) = k_1(x, z) * k_2(x, z) * ..."""

    kind: ClassVar[str] = "product"
    combine: ClassVar[np.ufunc] = np.multiply


@dataclass(frozen=True)
class Scaled(Kernel[Compared]):
    """k(x, z) = factor * k_1(x, z), with a factor above zero."""

    kind: ClassVar[str] = "scaled"
    factor: float
    part: Kernel[Compared]

    def __post_init__(self) -> None:
        object.__setattr__(self, "factor", check_positive(self, "factor", self.factor))
        if not isinstance(self.part, Kernel):
            raise InvalidInput(f"Scaled: part must be a kernel, got {shown(self.part)}.")

    def _gram(self, A: Compared, B: Compared | None) -> Array:
        K = self.part._gram(A, B)
        K *= self.factor
        return K

    def _diag(self, A: Compared) -> Array:
        return self.factor * self.part._diag(A)

    def _elements(self) -> tuple[Kernel[Compared], ...]:
        return self.part._elements()


def check_not_negative(owner: object, name: str, value: float) -> float:
    """A finite number of zero or more, as a float."""
    if not is_number(value) or not (math.isfinite(value) and value >= 0):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a finite number >= 0, got {shown(value)}.")
    return float(value)


def _parts(kernel: Kernel, family: type[Composed]) -> tuple[Kernel, ...]:
    """A sum of sums is one sum, and likewise a product."""
    return kernel.parts if isinstance(kernel, family) else (kernel,)


def _check_parts(owner: Kernel, parts: tuple[Kernel, ...] | list[Kernel] | Kernel) -> tuple[Kernel, ...]:
    listed = (parts,) if isinstance(parts, Kernel) or not isinstance(parts, (tuple, list)) else tuple(parts)
    wrong = [part for part in listed if not isinstance(part, Kernel)]
    if wrong or not listed:
        raise InvalidInput(
            f"{owner_name(owner)}: parts must be one or more kernels, got {shown(wrong[0]) if wrong else 'none'}."
        )
    compared = sorted({element.compares for part in listed for element in part._elements()})
    if len(compared) > 1:
        raise InvalidInput(f"{owner_name(owner)}: parts must all compare the same, got {' and '.join(compared)}.")
    return listed


def plain(value: Parameter) -> Json:
    """A parameter as JSON knows it."""
    if isinstance(value, Kernel):
        return value.recipe()
    return [plain(item) for item in value] if isinstance(value, tuple) else value

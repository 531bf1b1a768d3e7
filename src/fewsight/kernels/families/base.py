"""What a kernel family is: kernels that differ in a parameter theta, of which a learner asks for those it can use.

A learner that learns which kernels to use [Gehler2009, section 2] starts with a few of them and asks for more:

    theta = family.propose(examples, rng)                   # a guess
    theta = family.climb(theta, examples, dual_weights)     # a better one, where the family can
    K = input.gram(family.make(theta))                      # the Gram matrix of the training examples

What is made is a kernel if examples are rows of numbers, and a channel if they are images; from then on it is like any other.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, final

import numpy as np
from scipy.optimize import minimize

from fewsight._base.checks import check_matrix, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Recipe
from fewsight.kernels.base import Kernel, plain
from fewsight.kernels.rows import Rows, as_dense, check_rows

Theta: TypeAlias = dict[str, Any]  # JSON-able: all that tells one kernel of a family from another
Examples_contra = TypeVar("Examples_contra", contravariant=True)
Made_co = TypeVar("Made_co", covariant=True)


@dataclasses.dataclass(frozen=True)
class KernelFamily(ABC, Generic[Examples_contra, Made_co]):
    """Kernels of one kind with parameters theta. Families are values: frozen, comparable, hashable.

    A final class is a frozen dataclass of its options. It names its `kind`, proposes parameters and makes what belongs to them.
    """

    kind: ClassVar[str]
    climbs: ClassVar[bool] = False  # whether `climb` does anything

    @abstractmethod
    def propose(self, examples: Examples_contra, rng: np.random.Generator) -> Theta:
        """Parameters drawn at random, such that they suit these training examples.

        Parameters
        ----------
        examples : the training examples: rows of numbers (n, d), or images.
        rng : where the random numbers come from.
        """

    @abstractmethod
    def make(self, theta: Theta) -> Made_co:
        """The kernel or channel with these parameters, which may come from a file and are checked.

        Parameters
        ----------
        theta : parameters by name, as JSON can hold them.
        """

    def climb(self, theta: Theta, examples: Examples_contra, dual_weights: Array) -> Theta:
        """Parameters near theta with a larger T = 1/2 sum_c a_c^T K a_c, for dual weights (n, c) or (n,).

        In a support vector machine a is the dual variable times the label: T is what a kernel would gain [Gehler2009, eq. 5].

        Parameters
        ----------
        theta : parameters to start from.
        examples : the training examples: rows of numbers (n, d), or images.
        dual_weights : numbers (n, c) or (n,).
        """
        return theta

    @final
    def recipe(self) -> Recipe:
        """The kind and the options, ready for JSON; `family_from_recipe` makes an equal family of it."""
        options = {field.name: plain(getattr(self, field.name)) for field in dataclasses.fields(self)}
        return {"kind": self.kind, **options}

    def _parameters(self, theta: object, *names: str) -> list[Any]:
        """The parameters of that name, which must be all there are."""
        if not isinstance(theta, dict) or set(theta) != set(names):
            raise InvalidInput(f"{owner_name(self)}: theta must have {', '.join(names)}, got {shown(theta)}.")
        return [theta[name] for name in names]


@dataclasses.dataclass(frozen=True)
class VectorFamily(KernelFamily[Rows, Kernel]):
    """A family of kernels of rows of numbers."""

    def _dense(self, examples: Rows) -> Array:
        """The rows as an array, of which there must be some."""
        rows = as_dense(check_rows(self, "examples", examples))
        if not rows.size:
            raise InvalidInput(f"{owner_name(self)}: examples must be one or more rows of numbers, got none.")
        return rows


@dataclasses.dataclass(frozen=True)
class SlopedFamily(VectorFamily):
    """A family whose parameters are numbers >= 0, with T and its slopes known: `climb` follows them."""

    climbs: ClassVar[bool] = True

    @abstractmethod
    def numbers(self, theta: Theta, rows: Array) -> Array:
        """The parameters as numbers (p,) of about size one for these rows."""

    @abstractmethod
    def theta(self, numbers: Array, rows: Array) -> Theta:
        """The parameters from such numbers."""

    @abstractmethod
    def value_and_slopes(self, numbers: Array, rows: Array, columns: Array) -> tuple[float, Array]:
        """T of the kernel with these parameters, for columns (n, c), and its slopes (p,) for the numbers."""

    def climb(self, theta: Theta, examples: Rows, dual_weights: Array) -> Theta:
        """By L-BFGS, within numbers from zero; never ends below where it began."""
        rows = self._dense(examples)
        columns = dual_weights[:, None] if np.ndim(dual_weights) == 1 else dual_weights
        columns = check_matrix(self, "dual_weights", columns, shape=(len(rows), None))
        start = self.numbers(theta, rows)
        first, _ = self.value_and_slopes(start, rows, columns)
        unit = max(abs(first), np.finfo(float).tiny)

        def fall(numbers: Array) -> tuple[float, Array]:
            value, slopes = self.value_and_slopes(numbers, rows, columns)
            return -value / unit, -slopes / unit

        found = minimize(fall, start, jac=True, bounds=[(0.0, LARGEST)] * len(start), method="L-BFGS-B", options=STEPS)
        return self.theta(found.x, rows) if -found.fun * unit > first else theta


STEPS = {"maxiter": 50}  # of a climb; who wants more climbs on from there
LARGEST = 1e6  # a number beyond it makes all examples strangers to each other

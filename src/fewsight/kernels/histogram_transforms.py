"""Monotone functions of histogram values, so that the kernel becomes sum_d min(g(x_d), g(z_d)). [Rodner2012, eq. 7]

All keep zero at zero, so that what is sparse stays sparse, and all keep the order of values, so that what is sorted stays sorted.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_choice, check_positive, is_number, owner_name, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array

OWNER = "HistogramOperator"
SMALL = 0.1  # below, a series takes the place of a difference of nearly equal numbers


@dataclass(frozen=True)
class Transform(ABC):
    """A function g of values >= 0 and, where it has one, of a parameter."""

    kind: ClassVar[str]

    @abstractmethod
    def __call__(self, values: Array) -> Array:
        """g of each value."""

    @abstractmethod
    def derivative(self, values: Array) -> Array:
        """What g of each value gains for each unit by which the parameter grows."""


@final
@dataclass(frozen=True)
class Plain(Transform):
    """g(x) = x."""

    kind: ClassVar[str] = "none"

    def __call__(self, values: Array) -> Array:
        return values

    def derivative(self, values: Array) -> Array:
        raise InvalidInput(f"{OWNER}: transform must have a parameter to be differentiated by, got 'none'.")


@final
@dataclass(frozen=True)
class Power(Transform):
    """g(x) = x^parameter, with a parameter above zero."""

    kind: ClassVar[str] = "power"
    parameter: float

    def __call__(self, values: Array) -> Array:
        return _finite(np.power(values, self.parameter))

    def derivative(self, values: Array) -> Array:
        logs = np.log(values, out=np.zeros_like(values), where=values > 0)
        return np.power(values, self.parameter) * logs


@final
@dataclass(frozen=True)
class Exponential(Transform):
    """g(x) = (exp(parameter x) - 1) / (exp(parameter) - 1), which is x where the parameter is zero."""

    kind: ClassVar[str] = "exponential"
    parameter: float

    def __call__(self, values: Array) -> Array:
        rate = self.parameter
        if rate == 0:
            return values
        if rate < 0:
            return np.expm1(rate * values) / math.expm1(rate)
        with np.errstate(over="ignore"):  # exp(rate) may be beyond all floats where the quotient is not
            return _finite(np.exp(rate * (values - 1)) * np.expm1(-rate * values) / math.expm1(-rate))

    def derivative(self, values: Array) -> Array:
        rate = self.parameter
        if rate == 0:
            return values * (values - 1) / 2
        return self(values) * (_excess(rate * values) - _excess(np.array([rate]))) / rate


TRANSFORMS = (Plain.kind, Power.kind, Exponential.kind)


def transform_named(name: str, parameter: float | None, owner: object = OWNER) -> Transform:
    """The function of that name ('none', 'power' or 'exponential') with that parameter."""
    check_choice(owner, "transform", name, TRANSFORMS)
    if name == Power.kind:
        return Power(check_positive(owner, "parameter", parameter))
    if name == Exponential.kind:
        return Exponential(check_finite(owner, "parameter", parameter))
    if parameter is not None:
        raise InvalidInput(f"{owner_name(owner)}: parameter must be None without a transform, got {shown(parameter)}.")
    return Plain()


def check_finite(owner: object, name: str, value: float | None) -> float:
    """A finite number, as a float."""
    if not is_number(value) or not math.isfinite(value):
        raise InvalidInput(f"{owner_name(owner)}: {name} must be a finite number, got {shown(value)}.")
    return float(value)


def _excess(u: Array) -> Array:
    """u / (1 - exp(-u)) - 1, which is u / 2 + u^2 / 12 - u^4 / 720 + u^6 / 30240 - ... near zero."""
    square = u * u
    series = u / 2 + square * (1 / 12 - square * (1 / 720 - square * (1 / 30240 - square / 1209600)))
    with np.errstate(over="ignore"):  # exp(-u) beyond all floats: the quotient is zero
        quotient = np.divide(u, -np.expm1(-u), out=np.ones_like(u), where=np.abs(u) >= SMALL)
    return np.where(np.abs(u) < SMALL, series, quotient - 1)


def _finite(values: Array) -> Array:
    if not np.isfinite(values).all():
        raise InvalidInput(f"{OWNER}: parameter must keep all transformed values finite, got one that does not.")
    return values

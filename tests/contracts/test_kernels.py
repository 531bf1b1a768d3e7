"""Every exported kernel satisfies the contract. A new one is covered by being in KERNELS, with an example if it needs one."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from fewsight import kernels
from fewsight.kernels import (
    KERNELS,
    RBF,
    BlockChiSquare,
    Columns,
    Correspondence,
    ExponentialChiSquare,
    GeneralHistogramIntersection,
    HistogramIntersection,
    Kernel,
    Linear,
    Polynomial,
    PowerProduct,
    Product,
    Projected,
    RelevanceRBF,
    Scaled,
    Sum,
)
from fewsight.testing import KERNEL_CHECKS, ROW_KERNEL_CHECKS
from fewsight.testing.kernel_checks import compares_sets

EXAMPLES: dict[type[Kernel], list[Kernel]] = {
    Polynomial: [Polynomial(), Polynomial(degree=3, offset=0.0, scale=0.5)],
    RBF: [RBF(), RBF(scale=0.3), RBF(scale=(0.3, 2.0, 1.0))],
    RelevanceRBF: [RelevanceRBF((0.5, 0.0, 3.0, 1.0)), RelevanceRBF((0.0, 0.0)), RelevanceRBF((2.0,))],
    ExponentialChiSquare: [ExponentialChiSquare(), ExponentialChiSquare(gamma=3.0)],
    GeneralHistogramIntersection: [
        GeneralHistogramIntersection(),
        GeneralHistogramIntersection("power", 0.5),
        GeneralHistogramIntersection("exponential", 3.0),
        GeneralHistogramIntersection(weights=(0.0, 1.0, 2.0)),
    ],
    Correspondence: [Correspondence(), Correspondence(gamma=200.0)],
    BlockChiSquare: [BlockChiSquare(2, (1.0, 3.0), (0.5, 2.0)), BlockChiSquare(1, (2.0, 1.0, 0.5), (1.0, 0.0, 0.1))],
    PowerProduct: [
        PowerProduct((RBF(), Columns((0,), ExponentialChiSquare())), (0.5, 2.0)),
        PowerProduct((Columns((0,), RBF(0.4)),), (0.0,)),
    ],
    Sum: [Sum((Linear(), RBF()))],
    Product: [Product((HistogramIntersection(), RBF(), Linear()))],
    Scaled: [Scaled(2.5, HistogramIntersection())],
    Columns: [Columns((0,), RBF()), Columns((0,), HistogramIntersection()), Columns((0,), Scaled(2.0, Linear()))],
    Projected: [Projected(((0.5, 1.0, -1.0, 0.0), (1.0, 0.0, 0.0, 2.0)), RBF()), Projected(((1.0, 0.5),), Linear())],
}
EVERY = [kernel for family in KERNELS.values() for kernel in EXAMPLES.get(family) or [family()]]


@pytest.mark.parametrize("kernel", EVERY, ids=repr)
@pytest.mark.parametrize("check", KERNEL_CHECKS, ids=lambda check: check.__name__)
def test_every_kernel_satisfies_the_contract(check: Callable[[Kernel], None], kernel: Kernel) -> None:
    check(kernel)


@pytest.mark.parametrize("kernel", [kernel for kernel in EVERY if not compares_sets(kernel)], ids=repr)
@pytest.mark.parametrize("check", ROW_KERNEL_CHECKS, ids=lambda check: check.__name__)
def test_every_kernel_of_rows_satisfies_the_contract_of_those(check: Callable[[Kernel], None], kernel: Kernel) -> None:
    check(kernel)


def test_every_exported_final_kernel_has_a_kind() -> None:
    exported = {value for name in kernels.__all__ if isinstance(value := getattr(kernels, name), type)}
    ours = {family for family in KERNELS.values() if family.__module__.startswith("fewsight.")}
    assert {value for value in exported if issubclass(value, Kernel) and not inspect.isabstract(value)} == ours
    assert all(family.kind == kind for kind, family in KERNELS.items())


@pytest.mark.parametrize("kernel", EVERY, ids=repr)
def test_a_kernel_can_be_rebuilt_from_its_repr(kernel: Kernel) -> None:
    assert eval(repr(kernel), vars(kernels)) == kernel

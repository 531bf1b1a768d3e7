"""Kernels add, multiply and scale as their values do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, HistogramIntersection, Kernel, Linear, Polynomial, Product, Scaled, Sum

X = np.random.default_rng(0).random((8, 3))
Z = np.random.default_rng(1).random((5, 3))


@dataclass(frozen=True)
class DenseOnly(Kernel):
    """A kernel of a user's own that cannot read sparse rows."""

    kind: ClassVar[str] = "dense_only"
    accepts_sparse: ClassVar[bool] = False

    def _gram(self, A: Any, B: Any) -> np.ndarray:
        return np.ones((len(A), len(A if B is None else B)))

    def _diag(self, A: Any) -> np.ndarray:
        return np.ones(len(A))


def test_a_sum_adds_values() -> None:
    kernel = Linear() + RBF(0.5) + HistogramIntersection()
    parts = [Linear(), RBF(0.5), HistogramIntersection()]
    np.testing.assert_allclose(kernel.gram(X, Z), sum(part.gram(X, Z) for part in parts), rtol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), sum(part.diag(X) for part in parts), rtol=1e-14)
    assert kernel == Sum(tuple(parts))  # flat, however it was bracketed
    assert Linear() + (RBF(0.5) + HistogramIntersection()) == kernel
    assert sum(parts) == kernel


def test_a_product_multiplies_values() -> None:
    kernel = Linear() * RBF(0.5) * Polynomial()
    expected = Linear().gram(X, Z) * RBF(0.5).gram(X, Z) * Polynomial().gram(X, Z)
    np.testing.assert_allclose(kernel.gram(X, Z), expected, rtol=1e-14)
    assert kernel == Product((Linear(), RBF(0.5), Polynomial()))


@pytest.mark.parametrize("factor", [3, 0.25, np.float64(1.5), np.int64(2), np.float32(0.5)])
def test_a_number_scales_values_from_either_side(factor: Any) -> None:
    assert factor * Linear() == Linear() * factor == Scaled(float(factor), Linear())
    np.testing.assert_allclose((factor * Linear()).gram(X, Z), float(factor) * Linear().gram(X, Z), rtol=1e-14)
    np.testing.assert_allclose((factor * Linear()).diag(X), float(factor) * Linear().diag(X), rtol=1e-14)


def test_sums_inside_products_keep_their_brackets() -> None:
    kernel = (Linear() + RBF()) * Linear()
    expected = (Linear().gram(X) + RBF().gram(X)) * Linear().gram(X)
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-14)


def test_kernels_with_the_same_parameters_are_the_same_dictionary_key() -> None:
    assert len({RBF((1, 2)), RBF([1.0, 2.0]), RBF(np.array([1, 2])), Linear(), Linear(), 2 * Linear()}) == 3


@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf"), True])
def test_a_factor_that_would_not_give_a_kernel_is_refused(factor: Any) -> None:
    with pytest.raises(InvalidInput, match=r"Scaled: factor must be a finite number > 0, got "):
        factor * Linear()


@pytest.mark.parametrize("other", ["linear", None, [1.0], X])
def test_only_kernels_and_numbers_combine(other: Any) -> None:
    with pytest.raises(TypeError):
        Linear() + other
    with pytest.raises(TypeError):
        other * Linear()


def test_parts_that_are_not_kernels_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Sum: parts must be one or more kernels, got 'linear'\."):
        Sum(("linear",))
    with pytest.raises(InvalidInput, match=r"Product: parts must be one or more kernels, got none\."):
        Product(())
    with pytest.raises(InvalidInput, match=r"Scaled: part must be a kernel, got 3\."):
        Scaled(1.0, 3)


def test_a_combination_needs_what_any_of_its_parts_needs() -> None:
    with pytest.raises(InvalidInput, match=r"HistogramIntersection: A must hold numbers >= 0 only, got -1\."):
        (Linear() + 2 * HistogramIntersection()).gram(-np.ones((2, 3)))
    with pytest.raises(
        InvalidInput, match=r"RBF: A must have 2 columns, as many as the kernel has parameters, got 3\."
    ):
        (Linear() * RBF((1.0, 2.0))).gram(X)


def test_a_kernel_that_cannot_read_sparse_rows_says_so() -> None:
    for kernel in (DenseOnly(), DenseOnly() + Linear(), 2 * (Linear() * DenseOnly())):
        assert kernel.gram(X).shape == (8, 8)
        with pytest.raises(
            InvalidInput, match=r"DenseOnly: A must be a dense array, got a sparse matrix; use A.toarray"
        ):
            kernel.gram(scipy.sparse.csr_array(X))

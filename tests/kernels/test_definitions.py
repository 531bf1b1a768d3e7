"""Each kernel against its formula, written out number by number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewsight.kernels import RBF, ExponentialChiSquare, HistogramIntersection, Kernel, Linear, Polynomial


def chi_square(x: np.ndarray, z: np.ndarray) -> float:
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


FORMULAS: list[tuple[Kernel, Callable[[np.ndarray, np.ndarray], float]]] = [
    (Linear(), lambda x, z: sum(a * b for a, b in zip(x, z, strict=True))),
    (Polynomial(3, offset=0.5, scale=2.0), lambda x, z: (2.0 * float(np.dot(x, z)) + 0.5) ** 3),
    (RBF(0.7), lambda x, z: math.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * 0.7**2))),
    (
        RBF((0.5, 1.0, 2.0)),
        lambda x, z: math.exp(-(((x[0] - z[0]) / 0.5) ** 2 + (x[1] - z[1]) ** 2 + ((x[2] - z[2]) / 2) ** 2) / 2),
    ),
    (HistogramIntersection(), lambda x, z: sum(min(a, b) for a, b in zip(x, z, strict=True))),
    (ExponentialChiSquare(0.8), lambda x, z: math.exp(-0.8 * chi_square(x, z))),
]

histograms = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.just(0.0) | st.floats(1e-6, 10.0, allow_subnormal=False))
)


@pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=lambda value: repr(value) if isinstance(value, Kernel) else ""
)
@settings(max_examples=40, deadline=None)
@given(A=histograms, B=histograms)
def test_every_value_follows_the_formula(
    kernel: Kernel, formula: Callable[[np.ndarray, np.ndarray], float], A: np.ndarray, B: np.ndarray
) -> None:
    expected = [[formula(x, z) for z in B] for x in A]
    np.testing.assert_allclose(kernel.gram(A, B), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.gram(scipy.sparse.csr_array(A), B), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.gram(A), [[formula(x, z) for z in A] for x in A], rtol=1e-9, atol=1e-11)


@settings(max_examples=60, deadline=None)
@given(A=histograms, factor=st.floats(0.1, 100.0))
def test_histogram_intersection_grows_with_its_histograms_and_is_bounded_by_the_smaller(
    A: np.ndarray, factor: float
) -> None:
    kernel = HistogramIntersection()
    K, mass = kernel.gram(A), A.sum(axis=1)
    assert (np.minimum(mass[:, None], mass) * (1 + 1e-12) >= K).all()
    assert (K >= 0).all()
    np.testing.assert_allclose(kernel.gram(factor * A), factor * K, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(A=histograms)
def test_exponential_chi_square_is_one_exactly_between_equal_rows_and_never_more(A: np.ndarray) -> None:
    K = ExponentialChiSquare(2.0).gram(A, A.copy())
    np.testing.assert_array_equal(np.diag(K), 1.0)
    assert (K <= 1.0).all()


def test_rbf_never_exceeds_one_and_is_one_on_the_diagonal_exactly() -> None:
    X = np.random.default_rng(0).normal(1000.0, 1e-7, (50, 30))  # nearly equal rows, far from zero
    for rows in (X, scipy.sparse.csr_array(X)):
        K = RBF(1e-3).gram(rows)
        np.testing.assert_array_equal(np.diag(K), 1.0)
        assert (K <= 1.0).all()


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("scale", [1.0, 1e-4])
def test_rbf_is_accurate_far_from_zero_and_for_small_scales(offset: float, scale: float) -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(
        0.0, 100.0, (4, 5)
    )  # clusters far apart, near ones inside: the hard case for |x|^2 + |z|^2 - 2xz
    X = offset + np.repeat(centres, 6, axis=0) + scale * rng.normal(size=(24, 5))
    exact = np.exp(-0.5 * (((X[:, None] - X[None]) / scale) ** 2).sum(axis=2))
    np.testing.assert_allclose(RBF(scale).gram(X), exact, atol=1e-9)
    np.testing.assert_allclose(RBF(scale).gram(X, X[:7]), exact[:, :7], atol=1e-9)


def test_rbf_with_equal_scales_is_rbf_with_one_scale() -> None:
    X = np.random.default_rng(2).normal(size=(9, 4))
    np.testing.assert_allclose(RBF([0.3] * 4).gram(X), RBF(0.3).gram(X), rtol=1e-13)


def test_a_very_large_scale_switches_a_dimension_off() -> None:
    X = np.random.default_rng(3).normal(size=(9, 2))
    np.testing.assert_allclose(RBF((0.5, 1e9)).gram(X), RBF(0.5).gram(X[:, :1]), rtol=1e-12)

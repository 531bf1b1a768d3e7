"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF


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


@pytest.mark.parametrize("scale", [0.7, (0.5, 2.0, 1.0)])
@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_rows_made_ready_once_give_the_same_values(scale: float | tuple[float, ...], shift: float) -> None:
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 3)) + shift, rng.normal(size=(30, 3)) + shift
    kernel = RBF(scale=scale)
    ready = kernel.against(B)
    np.testing.assert_allclose(ready.gram(A), kernel.gram(A, B), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.diag(ready.gram(B)), 1.0, atol=1e-12)
    far = np.vstack([B, B[:1] + 1e6])  # too far for the short way
    np.testing.assert_allclose(kernel.against(far).gram(B), kernel.gram(B, far), rtol=1e-9, atol=1e-12)


def test_rows_made_ready_in_single_precision_give_nearly_the_same_values() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(4, 300)), rng.normal(size=(60, 300))
    kernel = RBF(scale=12.0)
    for rows in (B, scipy.sparse.csr_array(B)):
        ready = kernel.against(rows, single=True)
        np.testing.assert_allclose(ready.gram(A), kernel.gram(A, B), atol=1e-6)
        assert np.abs(ready.gram(A) - kernel.gram(A, B)).max() > 0.0  # rounded, and so half as large
    wide = kernel.against(100.0 * B, single=True)  # too far apart for it
    np.testing.assert_allclose(wide.gram(100.0 * B), kernel.gram(100.0 * B), rtol=1e-9, atol=1e-12)
    empty = kernel.against(B[:0], single=True)
    assert empty.gram(A).shape == (4, 0)


def test_no_width_follows_from_rows_that_are_not_finite() -> None:
    with pytest.raises(InvalidInput, match=r"RBF\.as_wide_as: X must hold finite numbers only"):
        RBF.as_wide_as(np.array([[1.0, np.nan]]))


def test_sparse_rows_have_the_width_of_dense_ones() -> None:
    rows = np.array([[0.0, 2.0, 0.0], [0.5, 0.0, 7.0]])
    assert RBF.as_wide_as(scipy.sparse.csr_array(rows)).scale == pytest.approx(RBF.as_wide_as(rows).scale, rel=1e-12)
    assert RBF.as_wide_as(scipy.sparse.csr_array((3, 2))) == RBF.as_wide_as(np.zeros((0, 3))) == RBF(scale=1.0)

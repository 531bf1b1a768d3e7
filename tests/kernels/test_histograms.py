"""Kernels of histograms."""

from __future__ import annotations

import numpy as np
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fewsight.kernels import ExponentialChiSquare, HistogramIntersection

histograms = st.integers(1, 6).flatmap(
    lambda n: arrays(np.float64, (n, 3), elements=st.just(0.0) | st.floats(1e-6, 10.0, allow_subnormal=False))
)


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


def test_chi_square_of_rows_made_ready_in_single_precision_is_nearly_the_same() -> None:
    rng = np.random.default_rng(0)
    B = rng.dirichlet(np.full(90, 0.2), size=50)
    kernel = ExponentialChiSquare(1.5)
    for rows in (B, scipy.sparse.csr_array(B)):
        np.testing.assert_allclose(kernel.against(rows, single=True).gram(B[:3]), kernel.gram(B[:3], B), atol=1e-6)
    counts = np.rint(1e4 * B)  # far too large for single precision
    np.testing.assert_allclose(
        kernel.against(counts, single=True).gram(counts[:3]), kernel.gram(counts[:3], counts), rtol=1e-12
    )
    assert kernel.against(B[:0], single=True).gram(B[:3]).shape == (3, 0)

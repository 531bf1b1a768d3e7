"""Rows converted a few at a time give what all at once give, and take no more memory than that."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse

from fewsight.kernels import RBF, ExponentialChiSquare, HistogramIntersection, Kernel, Linear, rows

SEVERAL = [Linear(), RBF(0.2), RBF(1e-4), HistogramIntersection(), ExponentialChiSquare()]


def sample(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.random((n, 12)) * (rng.random((n, 12)) < 0.5)


@pytest.mark.parametrize("kernel", SEVERAL, ids=repr)
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("piece_bytes", [1, 500, 10**6])
def test_pieces_give_what_the_whole_gives(
    kernel: Kernel, make: type, piece_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    A, B = sample(23, 0), sample(17, 1)
    whole, block = kernel.gram(A), kernel.gram(A, B)
    monkeypatch.setattr(rows, "PIECE_BYTES", piece_bytes)
    monkeypatch.setattr(rows, "RESULT_SHARE", 0.0)
    K = kernel.gram(make(A))
    np.testing.assert_allclose(K, whole, rtol=1e-11, atol=1e-13)
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_allclose(kernel.gram(make(A), make(B)), block, rtol=1e-11, atol=1e-13)


def test_dense_and_sparse_histograms_agree_to_the_last_bit() -> None:
    A, B = sample(30, 2), sample(20, 3)
    for kernel in (HistogramIntersection(), ExponentialChiSquare()):
        np.testing.assert_array_equal(
            kernel.gram(A, B), kernel.gram(scipy.sparse.csr_array(A), scipy.sparse.csr_array(B))
        )
        np.testing.assert_array_equal(kernel.gram(A, B), kernel.gram(B, A).T)


def test_several_threads_may_ask_at_once() -> None:
    A = sample(200, 4)
    expected, results = HistogramIntersection().gram(A), []
    threads = [threading.Thread(target=lambda: results.append(HistogramIntersection().gram(A))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result, expected)

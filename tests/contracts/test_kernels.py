"""What every exported kernel must satisfy. A new one is covered by being in KERNELS, with an example if it needs one."""

from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import scipy.sparse

from fewsight import kernels
from fewsight._base.errors import InvalidInput
from fewsight.kernels import (
    KERNELS,
    RBF,
    ExponentialChiSquare,
    GeneralHistogramIntersection,
    HistogramIntersection,
    Kernel,
    Linear,
    Polynomial,
    Product,
    Scaled,
    Sum,
    kernel_from_recipe,
)

EXAMPLES: dict[type[Kernel], list[Kernel]] = {
    Polynomial: [Polynomial(), Polynomial(degree=3, offset=0.0, scale=0.5)],
    RBF: [RBF(), RBF(scale=0.3)],
    ExponentialChiSquare: [ExponentialChiSquare(), ExponentialChiSquare(gamma=3.0)],
    GeneralHistogramIntersection: [
        GeneralHistogramIntersection(),
        GeneralHistogramIntersection("power", 0.5),
        GeneralHistogramIntersection("exponential", 3.0),
    ],
    Sum: [Sum((Linear(), RBF()))],
    Product: [Product((HistogramIntersection(), RBF(), Linear()))],
    Scaled: [Scaled(2.5, HistogramIntersection())],
}
EVERY = [kernel for family in KERNELS.values() for kernel in EXAMPLES.get(family) or [family()]]
every_kernel = pytest.mark.parametrize("kernel", EVERY, ids=repr)


def rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Histograms, about half of them zeros: what every kernel accepts."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.5)
    return X / np.maximum(X.sum(axis=1, keepdims=True), 1e-9)


def test_every_exported_final_kernel_has_a_kind() -> None:
    exported = {value for name in kernels.__all__ if isinstance(value := getattr(kernels, name), type)}
    final = {value for value in exported if issubclass(value, Kernel) and not inspect.isabstract(value)}
    assert final == set(KERNELS.values())
    assert all(family.kind == kind for kind, family in KERNELS.items())


@every_kernel
def test_gram_is_exactly_symmetric(kernel: Kernel) -> None:
    for X in (rows(150, 20), scipy.sparse.csr_array(rows(150, 20))):
        K = kernel.gram(X)
        np.testing.assert_array_equal(K, K.T)


@every_kernel
def test_gram_is_positive_semi_definite(kernel: Kernel) -> None:
    X = rows(40, 12)
    K = kernel.gram(np.concatenate([X, X[:5]]))  # repeated rows: singular, but never below zero
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


@every_kernel
def test_diag_is_the_diagonal(kernel: Kernel) -> None:
    X = rows(30, 9)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel.gram(X)), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(scipy.sparse.csr_array(X)), kernel.diag(X), rtol=1e-12)
    assert kernel.diag(X).shape == (30,)


@every_kernel
def test_rows_that_were_made_ready_are_compared_as_before(kernel: Kernel) -> None:
    A, B = rows(4, 30, 1), rows(50, 30, 2)
    A[0] = B[0] = 0  # nothing in common
    for left, right in ((A, B), (scipy.sparse.csr_array(A), scipy.sparse.csr_array(B))):
        ready = kernel.against(right)
        np.testing.assert_allclose(ready.gram(left), kernel.gram(left, right), rtol=1e-12, atol=1e-14)
        assert ready.gram(left[:0]).shape == (0, 50)
    with pytest.raises(InvalidInput, match="must be a matrix of any x 30"):
        ready.gram(rows(2, 7))


@every_kernel
def test_gram_of_rows_with_themselves_is_gram_of_the_rows(kernel: Kernel) -> None:
    X = rows(30, 9)
    np.testing.assert_allclose(kernel.gram(X, X), kernel.gram(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.gram(X, X.copy()), kernel.gram(X), rtol=1e-12, atol=1e-14)


@every_kernel
def test_exchanging_the_rows_transposes_the_gram_matrix(kernel: Kernel) -> None:
    A, B = rows(7, 9, seed=1), rows(12, 9, seed=2)
    K = kernel.gram(A, B)
    assert K.shape == (7, 12)
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, kernel.gram(B, A).T, rtol=1e-12, atol=1e-14)


@every_kernel
def test_a_gram_matrix_of_some_rows_is_a_part_of_that_of_all(kernel: Kernel) -> None:
    X = rows(20, 9)
    np.testing.assert_allclose(kernel.gram(X[3:8], X[10:]), kernel.gram(X)[3:8, 10:], rtol=1e-12, atol=1e-14)


@every_kernel
def test_sparse_rows_give_what_dense_rows_give(kernel: Kernel) -> None:
    A, B = rows(11, 30, seed=3), rows(8, 30, seed=4)
    sparse_A, sparse_B = scipy.sparse.csr_array(A), scipy.sparse.csr_array(B)
    for left, right in [(sparse_A, sparse_B), (A, sparse_B), (sparse_A, B), (scipy.sparse.coo_matrix(A), sparse_B)]:
        np.testing.assert_allclose(kernel.gram(left, right), kernel.gram(A, B), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.gram(sparse_A), kernel.gram(A), rtol=1e-12, atol=1e-14)


@every_kernel
def test_untidy_sparse_rows_are_read_right_and_left_alone(kernel: Kernel) -> None:
    dims, values = np.array([3, 0, 3, 1, 2, 0]), np.array([0.25, 0.5, 0.125, 0.0, 0.5, 0.25])
    untidy = scipy.sparse.csr_matrix((values, dims, np.array([0, 4, 6])), shape=(2, 4))  # unsorted, doubled, a stored 0
    before = untidy.copy()
    np.testing.assert_allclose(kernel.gram(untidy), kernel.gram(untidy.toarray()), rtol=1e-12)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(untidy, part), getattr(before, part))


@every_kernel
def test_single_rows_single_columns_and_no_rows_work(kernel: Kernel) -> None:
    assert kernel.gram(rows(1, 5)).shape == (1, 1)
    assert kernel.gram(rows(6, 1)).shape == (6, 6)
    assert kernel.gram(rows(1, 1), rows(3, 1)).shape == (1, 3)
    assert kernel.gram(rows(0, 4)).shape == (0, 0)
    assert kernel.gram(rows(2, 4), scipy.sparse.csr_array(rows(0, 4))).shape == (2, 0)
    np.testing.assert_allclose(kernel.gram(rows(1, 5)), [kernel.diag(rows(1, 5))], rtol=1e-12)


@every_kernel
def test_other_orders_and_types_of_arrays_give_the_same_numbers(kernel: Kernel) -> None:
    X = np.random.default_rng(0).integers(0, 3, (9, 6))
    expected = kernel.gram(X.astype(np.float64))
    for same in (X, X.tolist(), X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(kernel.gram(same), expected, rtol=1e-12, atol=1e-14)


@every_kernel
def test_inputs_are_never_changed(kernel: Kernel) -> None:
    A, B = rows(5, 6), rows(4, 6, seed=1)
    before = A.copy(), B.copy()
    kernel.gram(A), kernel.gram(A, B), kernel.diag(A)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])


@every_kernel
def test_a_recipe_survives_json(kernel: Kernel) -> None:
    restored = kernel_from_recipe(json.loads(json.dumps(kernel.recipe(), allow_nan=False)))
    assert restored == kernel
    assert hash(restored) == hash(kernel)
    assert repr(restored) == repr(kernel)


@every_kernel
def test_a_kernel_can_be_rebuilt_from_its_repr_and_never_changes(kernel: Kernel) -> None:
    assert eval(repr(kernel), vars(kernels)) == kernel
    for name in kernel.recipe().keys() - {"kind"}:
        with pytest.raises(AttributeError):
            setattr(kernel, name, None)


@every_kernel
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
def test_what_cannot_be_compared_is_refused(kernel: Kernel, make: type) -> None:
    good = make(rows(3, 4))
    for wrong, sentence in [
        (make(rows(3, 5)), "B must be a matrix of any x 4, got 3 x 5."),
        (make([[0.0, np.nan, 1.0, 1.0]]), "B must hold finite numbers only"),
        (make([[0.0, np.inf, 1.0, 1.0]]), "B must hold finite numbers only"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            kernel.gram(good, wrong)

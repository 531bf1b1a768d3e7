"""What every kernel must satisfy."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import scipy.sparse

from fewsight._base.encodings import DescriptorSets
from fewsight._base.types import Array
from fewsight.kernels import KERNELS, Kernel, SetKernel, kernel_from_recipe
from fewsight.kernels.rows import Rows
from fewsight.testing.refusals import check_is, refusal

Compared = TypeVar("Compared", Array, scipy.sparse.csr_array, DescriptorSets)


def agree(found: Array, expected: Array) -> None:
    """To rounding."""
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def rows(kernel: Kernel, n: int, d: int, seed: int = 0) -> Array:
    """Histograms, about half of them zeros: what every kernel accepts. They have d columns, unless the kernel fixes how many."""
    rng = np.random.default_rng(seed)
    d = kernel._width() or d
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.5)
    return X / np.maximum(X.sum(axis=1, keepdims=True), 1e-9)


def examples(kernel: Kernel, n: int, d: int, seed: int = 0) -> Rows | DescriptorSets:
    """What the kernel compares: rows, or sets of one to four descriptors."""
    if not compares_sets(kernel):
        return rows(kernel, n, d, seed)
    rng = np.random.default_rng(seed)
    return DescriptorSets.stack([DescriptorSets.entry(rng.random((rng.integers(1, 5), 3))) for _ in range(n)], 3)


def compares_sets(kernel: Kernel) -> bool:
    return all(isinstance(element, SetKernel) for element in kernel._elements())


def taken(X: Compared, places: Sequence[int]) -> Compared:
    """The examples at these places."""
    at = np.array(places, dtype=np.intp)
    return X.take(at) if isinstance(X, DescriptorSets) else X[at]


def forms(kernel: Kernel, X: Compared) -> list[Compared | scipy.sparse.csr_array]:
    """The same examples in every form that the kernel takes."""
    return [X, scipy.sparse.csr_array(X)] if isinstance(X, np.ndarray) and kernel.accepts_sparse else [X]


def it_is_registered_under_its_kind(kernel: Kernel) -> None:
    assert KERNELS.is_registered(type(kernel)), (
        f"{type(kernel).__name__} must be registered: fewsight.register({type(kernel).__name__})"
    )
    assert (type(kernel).__doc__ or "").strip(), "a kernel must have a docstring: its formula"


def its_gram_matrix_is_exactly_symmetric(kernel: Kernel) -> None:
    for X in forms(kernel, examples(kernel, 150, 20)):
        K = kernel.gram(X)
        np.testing.assert_array_equal(K, K.T)


def its_gram_matrix_is_positive_semi_definite(kernel: Kernel) -> None:
    X = examples(kernel, 40, 12)
    K = kernel.gram(taken(X, [*range(40), *range(5)]))  # some twice: singular, but never below zero
    assert np.isfinite(K).all(), "kernel values must be finite"
    assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)


def its_diagonal_is_that_of_the_gram_matrix(kernel: Kernel) -> None:
    X = examples(kernel, 30, 9)
    for same in forms(kernel, X):
        np.testing.assert_allclose(kernel.diag(same), np.diag(kernel.gram(X)), rtol=1e-12)
    assert kernel.diag(X).shape == (30,)


def what_was_made_ready_is_compared_as_before(kernel: Kernel) -> None:
    A, B = examples(kernel, 4, 30, 1), examples(kernel, 50, 30, 2)
    if isinstance(A, np.ndarray) and isinstance(B, np.ndarray):
        A[0] = B[0] = 0  # nothing in common
    for left, right in zip(forms(kernel, A), forms(kernel, B), strict=True):
        ready = kernel.against(right)
        agree(ready.gram(left), kernel.gram(left, right))
        assert ready.gram(taken(left, [])).shape == (0, 50)


def examples_with_themselves_give_the_gram_matrix(kernel: Kernel) -> None:
    X = examples(kernel, 30, 9)
    agree(kernel.gram(X, X), kernel.gram(X))
    agree(kernel.gram(X, taken(X, range(30))), kernel.gram(X))


def exchanging_both_sides_transposes_the_gram_matrix(kernel: Kernel) -> None:
    A, B = examples(kernel, 7, 9, seed=1), examples(kernel, 12, 9, seed=2)
    K = kernel.gram(A, B)
    assert K.shape == (7, 12)
    assert K.dtype == np.float64
    agree(K, kernel.gram(B, A).T)


def some_examples_give_a_part_of_the_gram_matrix_of_all(kernel: Kernel) -> None:
    X = examples(kernel, 20, 9)
    agree(kernel.gram(taken(X, range(3, 8)), taken(X, range(10, 20))), kernel.gram(X)[3:8, 10:])


def one_example_and_none_work(kernel: Kernel) -> None:
    one = examples(kernel, 1, 5)
    np.testing.assert_allclose(kernel.gram(one), [kernel.diag(one)], rtol=1e-12)
    for none in forms(kernel, taken(one, [])):
        assert kernel.gram(none).shape == (0, 0)
        assert kernel.gram(one, none).shape == (1, 0)


def sparse_rows_give_what_dense_rows_give(kernel: Kernel) -> None:
    A, B = rows(kernel, 11, 30, seed=3), rows(kernel, 8, 30, seed=4)
    sparse_A, sparse_B = scipy.sparse.csr_array(A), scipy.sparse.csr_array(B)
    if not kernel.accepts_sparse:
        with refusal("must be a dense array, got a sparse matrix"):
            kernel.gram(sparse_A)
        return
    for left, right in [(sparse_A, sparse_B), (A, sparse_B), (sparse_A, B), (scipy.sparse.coo_matrix(A), sparse_B)]:
        agree(kernel.gram(left, right), kernel.gram(A, B))
    agree(kernel.gram(sparse_A), kernel.gram(A))


def untidy_sparse_rows_are_read_right_and_left_alone(kernel: Kernel) -> None:
    width = max(kernel._width() or 4, 4)
    if not kernel.accepts_sparse or width != (kernel._width() or 4):
        return
    dims, values = np.array([3, 0, 3, 1, 2, 0]), np.array([0.25, 0.5, 0.125, 0.0, 0.5, 0.25])
    untidy = scipy.sparse.csr_matrix(
        (values, dims, np.array([0, 4, 6])), shape=(2, width)
    )  # unsorted, doubled, a stored 0
    before = untidy.copy()
    np.testing.assert_allclose(kernel.gram(untidy), kernel.gram(untidy.toarray()), rtol=1e-12)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(untidy, part), getattr(before, part))


def single_columns_work(kernel: Kernel) -> None:
    assert kernel.gram(rows(kernel, 6, 1)).shape == (6, 6)
    assert kernel.gram(rows(kernel, 1, 1), rows(kernel, 3, 1)).shape == (1, 3)


def other_orders_and_types_of_arrays_give_the_same_numbers(kernel: Kernel) -> None:
    X = np.random.default_rng(0).integers(0, 3, (9, kernel._width() or 6))
    expected = kernel.gram(X.astype(np.float64))
    for same in (X, X.tolist(), X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]):
        agree(kernel.gram(same), expected)


def what_it_is_given_is_never_changed(kernel: Kernel) -> None:
    A, B = rows(kernel, 5, 6), rows(kernel, 4, 6, seed=1)
    before = A.copy(), B.copy()
    kernel.gram(A), kernel.gram(A, B), kernel.diag(A)
    np.testing.assert_array_equal(A, before[0])
    np.testing.assert_array_equal(B, before[1])


def its_recipe_survives_json(kernel: Kernel) -> None:
    restored = kernel_from_recipe(json.loads(json.dumps(kernel.recipe(), allow_nan=False)))
    assert restored == kernel
    assert hash(restored) == hash(kernel)
    assert repr(restored) == repr(kernel)


def it_never_changes(kernel: Kernel) -> None:
    for name in kernel.recipe().keys() - {"kind"}:
        with refusal("cannot assign", AttributeError):
            setattr(kernel, name, None)


def what_cannot_be_compared_is_refused(kernel: Kernel) -> None:
    good = rows(kernel, 3, 4)
    width = good.shape[1]
    for wrong, sentence in [
        (np.ones((3, width + 1)), rf"B must be a matrix of any x {width}, got 3 x {width + 1}\."),
        (np.where(np.arange(width) == width - 1, np.nan, good[:1]), "B must hold finite numbers only"),
        (np.where(np.arange(width) == width - 1, np.inf, good[:1]), "B must hold finite numbers only"),
    ]:
        for form in forms(kernel, wrong):
            with refusal(sentence):
                kernel.gram(good, form)
            with refusal(sentence.replace("B must", "A must")):
                kernel.against(good).gram(form)


Check = Callable[[Kernel], None]
KERNEL_CHECKS: tuple[Check, ...] = (
    it_is_registered_under_its_kind,
    its_gram_matrix_is_exactly_symmetric,
    its_gram_matrix_is_positive_semi_definite,
    its_diagonal_is_that_of_the_gram_matrix,
    what_was_made_ready_is_compared_as_before,
    examples_with_themselves_give_the_gram_matrix,
    exchanging_both_sides_transposes_the_gram_matrix,
    some_examples_give_a_part_of_the_gram_matrix_of_all,
    one_example_and_none_work,
    its_recipe_survives_json,
    it_never_changes,
)
ROW_KERNEL_CHECKS: tuple[Check, ...] = (
    sparse_rows_give_what_dense_rows_give,
    untidy_sparse_rows_are_read_right_and_left_alone,
    single_columns_work,
    other_orders_and_types_of_arrays_give_the_same_numbers,
    what_it_is_given_is_never_changed,
    what_cannot_be_compared_is_refused,
)


def check_kernel(kernel: Kernel) -> None:
    """Raise an AssertionError, or whatever a method raises, where a kernel is not what a kernel must be.

    Parameters
    ----------
    kernel : a kernel of rows or of sets.
    """
    check_is("check_kernel", "kernel", kernel, Kernel)
    for check in KERNEL_CHECKS + (() if compares_sets(kernel) else ROW_KERNEL_CHECKS):
        check(kernel)

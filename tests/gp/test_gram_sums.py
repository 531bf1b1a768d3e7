"""Every kind of several Gram matrices gives the same sums, to what single precision leaves of them."""

import numpy as np
import pytest

from fewsight.gp import (
    GramList,
    GramsOnRequest,
    GramStack,
    ScaledGrams,
    as_grams,
    log_evidence_and_gradients,
    mean_of,
    weighted_sum,
)

HALF_STEP = 2.0**-24  # the relative error of a number rounded to single precision


@pytest.fixture(params=["list", "stack", "on request", "scaled", "chosen"])
def several(request, grams):
    if request.param == "list":
        return GramList(grams)
    if request.param == "stack":
        return GramStack.of(grams)
    if request.param == "scaled":
        factors = 2.0 ** np.arange(len(grams))  # powers of two: nothing is rounded
        return ScaledGrams(GramStack.of([K / f for K, f in zip(grams, factors, strict=True)]), factors)
    if request.param == "chosen":  # every other one of a stack, the last one first
        others = [np.full_like(K, 7.0) for K in grams]
        stack = GramStack.of(K for pair in zip(reversed(grams), others, strict=True) for K in pair)
        return stack.chosen(np.arange(2 * len(grams) - 2, -1, -2))
    return GramsOnRequest(lambda number: grams[number], len(grams), len(grams[0]))


def test_every_kind_is_a_sequence_of_its_matrices(several, grams):
    assert len(several) == 11
    assert several.side == len(grams[0])
    for found, expected in zip(several, grams, strict=True):
        np.testing.assert_allclose(found, expected, rtol=HALF_STEP, atol=1e-30)
        np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(several[-1], several[10])
    assert len(several[2:5]) == 3
    with pytest.raises(IndexError, match="there are 11 matrices, and none has the number 11"):
        several[11]


def test_sums_are_right_to_the_rounding_of_each_number(several, grams):
    """The bound: rounding changes a number by HALF_STEP of itself at most, and all sums are made in double precision."""
    weights = np.random.default_rng(1).normal(size=11)
    weights[[0, 7]] = 0.0
    exact, size = np.tensordot(weights, grams, axes=1), np.tensordot(np.abs(weights), np.abs(grams), axes=1)
    bound = HALF_STEP * size + 1e-13 * size
    assert (np.abs(several.weighted_sum(weights) - exact) <= bound).all()
    lower = np.tril_indices(len(exact))
    assert (np.abs(several.lower_sum(weights) - exact) <= bound)[lower].all()
    assert (np.abs(several.mean() - np.mean(grams, axis=0)) <= HALF_STEP * np.mean(np.abs(grams), axis=0) + 1e-13).all()
    scales = [np.diag(K).mean() for K in grams]
    np.testing.assert_allclose(several.scales(), scales, rtol=2 * HALF_STEP)


def test_some_of_them_are_like_all_of_them(several, grams):
    numbers, weights = np.array([9, 2, 4]), np.array([0.5, 0.0, 2.0])
    some = several.chosen(numbers)
    assert len(some) == 3
    assert some.side == several.side
    expected = 0.5 * grams[9] + 2.0 * grams[4]
    np.testing.assert_allclose(some.weighted_sum(weights), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(some.inners(grams[0]), several.inners(grams[0])[numbers], rtol=1e-9)
    positions = np.array([several.side - 1, 0])
    np.testing.assert_array_equal(some.part(1, positions), several.part(2, positions))


def test_inner_products_read_the_lower_triangle_and_are_right_to_the_rounding(several, grams, gram):
    W = gram(len(grams[0]), 99) - 1.0
    half_known = np.asfortranarray(np.tril(W))  # as LAPACK leaves an inverse
    exact, size = ([float((A * np.asarray(K)).sum()) for K in B] for A, B in ((W, grams), (np.abs(W), np.abs(grams))))
    assert (np.abs(several.inners(half_known) - exact) <= (HALF_STEP + 1e-13) * np.array(size)).all()


def test_quadratic_forms_of_all_columns_are_right_to_the_rounding(several, grams, columns):
    A = columns
    exact = np.array([[a @ K @ a for a in A.T] for K in grams])
    size = np.array([[np.abs(a) @ np.abs(K) @ np.abs(a) for a in A.T] for K in grams])
    found = several.quadratic_forms(A)
    assert found.shape == (11, 3)
    assert (np.abs(found - exact) <= (HALF_STEP + 1e-13) * size).all()
    np.testing.assert_allclose(several.quadratic_forms(A[:, 0]), found[:, :1], rtol=1e-9)


def test_forms_and_products_come_together(several, columns):
    weights = np.random.default_rng(3).normal(size=(columns.shape[1], len(several)))
    weights[:, 4] = 0.0
    forms, products = several.forms_and_products(columns, weights)
    np.testing.assert_allclose(forms, several.quadratic_forms(columns), rtol=1e-9)
    for column, row, found in zip(columns.T, weights, products.T, strict=True):
        np.testing.assert_allclose(found, several.weighted_sum(row) @ column, atol=1e-9 * np.abs(found).max())


def test_a_part_is_what_stands_between_some_examples(several):
    positions = np.array([several.side - 1, 0, several.side // 2])
    for number, K in enumerate(several):
        np.testing.assert_array_equal(several.part(number, positions), K[np.ix_(positions, positions)])


def test_several_weighted_sums_are_each_by_itself(several):
    weights = np.random.default_rng(4).normal(size=(3, len(several)))
    for found, row in zip(several.weighted_sums(weights), weights, strict=True):
        np.testing.assert_allclose(found, several.weighted_sum(row), rtol=0, atol=1e-11)


def test_a_list_stays_a_list_to_the_last_bit(gram):
    grams = [gram(9, seed) for seed in range(3)]
    weights = np.array([0.2, 0.5, 0.3])
    np.testing.assert_array_equal(as_grams(grams).weighted_sum(weights), np.tensordot(weights, grams, axes=1))
    np.testing.assert_array_equal(as_grams(grams).mean(), np.mean(grams, axis=0))
    np.testing.assert_array_equal(weighted_sum(grams, weights), np.tensordot(weights, grams, axes=1))
    np.testing.assert_array_equal(mean_of(grams), np.mean(grams, axis=0))
    assert as_grams(stack := GramStack.of(grams)) is stack


def test_the_evidence_and_its_gradients_are_those_of_the_list(several, grams, columns):
    targets, weights = np.sign(columns), np.linspace(0.1, 1.0, 11)
    expected = log_evidence_and_gradients(grams, weights, targets, 0.5, free_mean=True)
    found = log_evidence_and_gradients(several, weights, targets, 0.5, free_mean=True)
    assert found.value == pytest.approx(expected.value, rel=1e-5, abs=1e-6)
    np.testing.assert_allclose(found.d_weights, expected.d_weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.d_noise, expected.d_noise, rtol=1e-4, atol=1e-6)

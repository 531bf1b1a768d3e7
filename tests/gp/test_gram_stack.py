"""Many Gram matrices in little memory; tests of the sums that every kind offers are in test_gram_sums.py."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.gp import BlockStack, GramStack, Penalty, ScaledBlocks, gram_stack, learn_weights_and_noise, mean_of


def test_pairs_are_multiplied_in_pieces(grams, columns, monkeypatch):
    expected = GramStack.of(grams).quadratic_forms(columns)
    monkeypatch.setattr(gram_stack, "PRODUCT_PLACES", 50)
    np.testing.assert_allclose(GramStack.of(grams).quadratic_forms(columns), expected, rtol=1e-10)


def test_several_sums_come_from_one_pass(grams):
    weights = np.random.default_rng(1).random((4, 11))
    stack = GramStack.of(grams)
    for found, row in zip(stack.weighted_sums(weights), weights, strict=True):
        np.testing.assert_allclose(found, stack.weighted_sum(row), rtol=1e-12)


def test_blocks_of_memory_change_nothing(gram, monkeypatch):
    grams = [gram(6, seed) for seed in range(30)]
    monkeypatch.setattr(gram_stack, "MOST_ROWS", 8)
    stack, weights = GramStack.of(grams), np.random.default_rng(0).normal(size=30)
    np.testing.assert_allclose(stack.weighted_sum(weights), np.tensordot(weights, grams, axes=1), atol=1e-5)
    np.testing.assert_allclose(stack.inners(grams[0]), [(grams[0] * K).sum() for K in grams], rtol=1e-5)
    np.testing.assert_allclose(stack[17], grams[17], rtol=1e-6)


def test_a_thousand_matrices_of_1515_would_take_less_than_five_gigabytes():
    assert 1000 * GramStack.of([np.eye(1515)]).nbytes < 5e9


def test_matrices_and_examples_can_be_chosen(grams):
    stack = GramStack.of(grams)
    kept = stack.keep([4, 0])
    assert len(kept) == 2
    np.testing.assert_array_equal(kept[0], stack[4])
    positions = np.array([len(grams[0]) - 1, 0])
    some = stack.of_examples(positions)
    np.testing.assert_array_equal(some[3], stack[3][np.ix_(positions, positions)])


def test_what_does_not_fit_is_refused():
    stack = GramStack(2)
    with pytest.raises(InvalidInput, match="GramStack: a Gram matrix must be a matrix of 2 x 2, got 3 x 3"):
        stack.append(np.eye(3))
    with pytest.raises(InvalidInput, match="GramStack: a Gram matrix must be symmetric"):
        stack.append([[1.0, 2.0], [0.0, 1.0]])
    with pytest.raises(InvalidInput, match="must hold finite numbers only"):
        stack.append([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(InvalidInput, match=r"must hold numbers that float32 can hold, got 1e\+60"):
        stack.append(1e60 * np.eye(2))
    assert len(stack) == 0
    with pytest.raises(InvalidInput, match="GramStack: grams must hold at least one matrix, got none"):
        GramStack.of([])
    with pytest.raises(InvalidInput, match="grams must hold at least one matrix"):
        learn_weights_and_noise(stack, np.ones((2, 1)))
    with pytest.raises(InvalidInput, match="columns must be a matrix of 2 x any, got 3 x 1"):
        GramStack.of([np.eye(2)]).quadratic_forms(np.ones(3))
    with pytest.raises(InvalidInput, match="weights must be a matrix of any x 1, got 1 x 2"):
        GramStack.of([np.eye(2)]).weighted_sum(np.ones(2))


def test_weights_learned_from_a_stack_are_those_learned_from_the_list(gram):
    grams = [gram(30, seed, rank=30) / 30 for seed in range(4)]
    targets = np.linalg.cholesky(grams[1] + 0.05 * np.eye(30)) @ np.random.default_rng(0).normal(size=(30, 8))
    expected = learn_weights_and_noise(grams, targets, penalty=Penalty("even", 1e-3))
    found = learn_weights_and_noise(GramStack.of(grams), targets, penalty=Penalty("even", 1e-3))
    np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-3)
    assert found.log_evidence == pytest.approx(expected.log_evidence, rel=1e-5)


def test_blocks_of_new_examples_are_summed_as_well():
    rng = np.random.default_rng(0)
    blocks, columns, weights = rng.normal(size=(5, 4, 7)), rng.normal(size=(7, 3)), rng.random((3, 5))
    weights[:, 2] = 0.0
    stack = BlockStack.of(blocks)
    assert len(stack) == 5
    assert stack.nbytes == 4 * 5 * 28
    np.testing.assert_allclose(stack[3], blocks[3], rtol=1e-7)
    np.testing.assert_allclose(stack.weighted_sum(weights[0]), np.tensordot(weights[0], blocks, axes=1), atol=1e-6)
    expected = np.einsum("ck,kmn,nc->mc", weights, blocks, columns)
    np.testing.assert_allclose(stack.weighted_products(weights, columns), expected, atol=1e-5)
    np.testing.assert_allclose(mean_of(stack), np.mean(blocks, axis=0), atol=1e-6)
    scaled = ScaledBlocks(stack, np.arange(5.0))
    np.testing.assert_allclose(
        scaled.weighted_sum(weights[0]), stack.weighted_sum(weights[0] * np.arange(5)), rtol=1e-12
    )
    np.testing.assert_allclose(scaled[2], 2 * stack[2])
    with pytest.raises(InvalidInput, match="BlockStack: blocks must hold at least one matrix, got none"):
        BlockStack.of([])
    with pytest.raises(InvalidInput, match="BlockStack: a block must be a matrix of 4 x 7, got 7 x 4"):
        stack.append(blocks[0].T)

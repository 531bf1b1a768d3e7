"""Relevances of dimensions: slopes against differences, and a climb that finds the dimensions that matter."""

import numpy as np
import pytest
from sklearn.svm import SVC

from fewsight._base.errors import InvalidInput
from fewsight.kernels import RelevanceRBF
from fewsight.kernels.families import RelevanceFamily, family_from_recipe

FAMILY = RelevanceFamily()


def test_the_slopes_are_those_of_t():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(15, 4)) * [1.0, 10.0, 0.1, 3.0] + 50.0
    columns = rng.normal(size=(15, 2))
    numbers = np.array([0.3, 0.0, 1.2, 0.05])

    def gain(at):
        K = FAMILY.make(FAMILY.theta(at, rows)).gram(rows)
        return 0.5 * sum(a @ K @ a for a in columns.T)

    value, slopes = FAMILY.value_and_slopes(numbers, rows, columns)
    assert value == pytest.approx(gain(numbers), rel=1e-10)
    for d, slope in enumerate(slopes):
        step = 1e-6 * np.eye(4)[d]
        below = numbers if numbers[d] == 0 else numbers - step  # nothing is below zero
        difference = (gain(numbers + step) - gain(below)) / (1e-6 if numbers[d] == 0 else 2e-6)
        assert slope == pytest.approx(difference, rel=1e-4, abs=1e-6)


def chessboard(n, noise_dimensions, seed):
    """Points around the centres of a 4 x 4 board, 2.0 by 1.0 apart, and dimensions of noise."""
    rng = np.random.default_rng(seed)
    squares = rng.integers(0, 4, (n, 2))
    points = squares * [2.0, 1.0] + rng.normal(scale=[0.2, 0.1], size=(n, 2))
    X = np.hstack([points, rng.normal(scale=1.5, size=(n, noise_dimensions))])
    return X, np.where(squares.sum(axis=1) % 2, 1.0, -1.0)


def test_climbing_finds_the_two_dimensions_of_a_chessboard():
    """As a learner would: dual weights of a machine with a poor kernel, a few starts, the best climb. [Gehler2009, section 3]"""
    X, y = chessboard(200, 6, seed=0)
    rng = np.random.default_rng(1)
    poor = RelevanceRBF((0.05,) * 8).gram(X)
    machine = SVC(kernel="precomputed", C=10.0).fit(poor, y)
    a = np.zeros(200)
    a[machine.support_] = machine.dual_coef_[0]
    climbed = [FAMILY.climb(FAMILY.propose(X, rng), X, a) for _ in range(8)]
    gains = [a @ FAMILY.make(theta).gram(X) @ a for theta in climbed]
    best = np.array(climbed[int(np.argmax(gains))]["relevances"])
    assert best[2:].sum() < 0.1 * best[:2].sum()
    assert np.sqrt(best[1] / best[0]) == pytest.approx(
        2.0, rel=0.3
    )  # squares half as high need relevances four times as large


def test_a_dimension_may_be_left_out_and_come_back():
    X = np.random.default_rng(0).normal(size=(40, 2))
    a = np.where(X[:, 1] > 0, 1.0, -1.0)
    climbed = FAMILY.climb({"relevances": [0.5, 0.0]}, X, a)["relevances"]
    assert climbed[1] > 0.1


def test_families_and_parameters_that_are_none_are_refused():
    with pytest.raises(InvalidInput, match="RelevanceFamily: examples must be one or more rows of numbers, got none"):
        FAMILY.propose(np.zeros((0, 3)), np.random.default_rng(0))
    with pytest.raises(InvalidInput, match=r"RelevanceFamily: theta must have relevances, got \{\}"):
        FAMILY.make({})
    with pytest.raises(InvalidInput, match="RelevanceFamily: dual_weights must be a matrix of 3 x any, got 2 x 1"):
        FAMILY.climb({"relevances": [1.0]}, np.arange(3.0)[:, None], np.ones(2))
    with pytest.raises(InvalidInput, match="the kernel family 'nonsense' is not known here"):
        family_from_recipe({"kind": "nonsense"})
    with pytest.raises(
        InvalidInput, match="kernel family recipe: kind must be one of boxes, codebooks, column_subsets"
    ):
        family_from_recipe({})

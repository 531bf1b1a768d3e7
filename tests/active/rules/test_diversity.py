"""Batches without near-duplicates."""

import numpy as np

from fewsight.active import PoolView, VectorPool
from fewsight.active.rules.diversity import apart_from, diverse
from fewsight.active.views import Hyperparameters
from fewsight.kernels import RBF

X = np.random.default_rng(0).normal(size=(30, 4))
TWINS = np.vstack([X, X + 1e-6])
VIEW = PoolView(VectorPool(TWINS, RBF(scale=2.0)), Hyperparameters(np.ones(1), 0.1))


def test_twins_do_not_share_a_batch_while_there_are_others():
    order = np.array([0, 30, 1, 31, 2, 32, 3])
    assert diverse(VIEW, order, 4, np.random.default_rng(0)).tolist() == [0, 1, 2, 3]


def test_twins_come_last_where_nothing_else_is_left():
    order = np.array([0, 30, 1])
    assert diverse(VIEW, order, 3, np.random.default_rng(0)).tolist() == [0, 1, 30]


def test_examples_apart_from_chosen_ones_are_no_twins_of_these():
    others = np.array([30, 5, 6])
    assert apart_from(VIEW, np.array([0]), others, np.random.default_rng(0)).tolist() == [5, 6]
    assert apart_from(VIEW, np.array([0]), np.array([30]), np.random.default_rng(0)).tolist() == [30]

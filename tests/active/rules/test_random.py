"""Drawn at random: what every rule has to beat."""

import numpy as np
from scipy.stats import chisquare

from fewsight.active import PoolView, Random, VectorPool
from fewsight.active.views import Hyperparameters
from fewsight.kernels import RBF

VIEW = PoolView(
    VectorPool(np.random.default_rng(0).normal(size=(12, 2)), RBF(scale=1.0)), Hyperparameters(np.ones(1), 0.1)
)


def test_every_example_is_drawn_equally_often():
    drawn = [int(Random().query(VIEW, random_state=seed).indices[0]) for seed in range(2_400)]
    assert chisquare(np.bincount(drawn, minlength=12)).pvalue > 1e-3


def test_it_needs_no_label_and_says_why():
    query = Random().query(VIEW, batch_size=5, random_state=1)
    assert len(set(query.indices.tolist())) == 5
    assert Random().reason(VIEW, 0) == "drawn at random"

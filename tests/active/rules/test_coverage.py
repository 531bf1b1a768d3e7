"""First picks that need no label."""

import numpy as np

from fewsight.active import Coverage, PoolView, VectorPool
from fewsight.active.views import Hyperparameters
from fewsight.kernels import RBF

RNG = np.random.default_rng(1)


def test_coverage_needs_no_label_and_visits_every_cluster_first():
    centres = 20.0 * np.eye(6)
    pool = np.repeat(centres, 10, axis=0) + RNG.normal(size=(60, 6))
    view = PoolView(VectorPool(pool, RBF(scale=3.0)), Hyperparameters(np.ones(1), 0.1))
    query = Coverage().query(view, batch_size=6)
    assert sorted((query.indices // 10).tolist()) == [0, 1, 2, 3, 4, 5]
    view.append(int(query.indices[0]), "seen")
    assert Coverage().query(view, batch_size=1).indices[0] // 10 != query.indices[0] // 10

"""Principal components of descriptors, with their position."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, State
from fewsight.encodings import Projection, principal_components

RNG = np.random.default_rng(0)


def test_components_have_unit_variance_and_lose_least():
    rows = RNG.normal(size=(500, 6)) * [10, 5, 3, 1, 0.1, 0.0]
    features = LocalFeatures(rows, RNG.random((500, 2), dtype=np.float32))
    projection = principal_components(rows, 3, position=4.0)
    points = projection.points(features)
    np.testing.assert_allclose(points[:, :3].var(axis=0), 1, rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.corrcoef(points[:, 0], rows[:, 0])[0, 1]), 1, atol=0.01)
    np.testing.assert_allclose(points[:, 3:], (features.locations - 0.5) * 4, atol=1e-6)
    assert principal_components(rows, 3, position=0.0).points(features).shape == (500, 3)
    assert not principal_components(rows, 6, position=0.0).points(features)[:, 5].any()


def test_a_projection_survives_its_state_and_a_damaged_one_does_not():
    projection = principal_components(RNG.normal(size=(50, 4)), 2, position=1.0)
    assert Projection.from_state(projection.state()).digest == projection.digest
    state = projection.state()
    with pytest.raises(InvalidInput, match="the stored array components must be float32 of shape 7 x any"):
        Projection.from_state(State(state.header, {**state.arrays, "mean": np.zeros(7, np.float32)}))

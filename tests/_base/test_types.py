"""Types that several folders share."""

import json

import numpy as np
import pytest

from fewsight._base.types import LocalFeatures, State

WHOLE = LocalFeatures(
    np.arange(12, dtype=np.uint8).reshape(3, 4),
    np.linspace(0, 1, 6, dtype=np.float32).reshape(3, 2),
    np.array([0.1, 0.2, 0.3], np.float32),
    np.array([3, 2, 1], np.float32),
    aspect=1.5,
)


@pytest.mark.parametrize("features", [WHOLE, LocalFeatures(WHOLE.descriptors, WHOLE.locations)])
def test_local_features_are_kept_with_all_that_is_known_of_them(features):
    stored = features.state()
    again = LocalFeatures.from_state(State(json.loads(json.dumps(stored.header)), stored.arrays))
    for name in ("descriptors", "locations", "scales", "strengths"):
        np.testing.assert_array_equal(getattr(again, name), getattr(features, name))
    assert again.aspect == features.aspect
    assert len(again) == 3


def test_what_is_not_known_takes_no_room():
    stored = LocalFeatures(WHOLE.descriptors, WHOLE.locations).state()
    assert stored.header == {}
    assert set(stored.arrays) == {"descriptors", "locations"}


def test_a_state_inside_another_comes_back_as_it_was():
    inner = State({"a": 1}, {"x": np.arange(3)})
    outer = State({"b": 2}, {"y": np.arange(2)}).join("part", inner)
    assert outer.header == {"b": 2, "part": {"a": 1}}
    again = outer.nested("part")
    assert again.header == inner.header
    np.testing.assert_array_equal(again.arrays["x"], inner.arrays["x"])
    assert set(again.arrays) == {"x"}

"""The look of an image is kept by the hash of its content, and a damaged one is computed again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fewsight._base.types import State
from fewsight.images import FeatureCache, ImageArray, sample_set
from fewsight.images.looks import LOOK_COLUMNS, RECIPE, kept_look, look_of, stored_look

TILE = sample_set().images[0]
KEY = FeatureCache.key_of("look", TILE.content_hash, RECIPE)


def test_a_look_says_how_an_image_looks_and_its_proportions() -> None:
    flat = look_of(ImageArray(np.full((30, 60, 3), 128, np.uint8)))
    assert flat.shape == (LOOK_COLUMNS + 1,)
    np.testing.assert_allclose(flat[:144], 0.0, atol=1e-4)  # no grey value differs from their mean
    assert flat[-1] == pytest.approx(np.log(2))


def test_a_look_is_kept_and_needs_no_image_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = FeatureCache(tmp_path)
    assert stored_look(TILE.content_hash, cache) is None
    look = kept_look(TILE, cache)
    monkeypatch.setattr("fewsight.images.looks.look_of", lambda image: pytest.fail("computed again"))
    np.testing.assert_array_equal(kept_look(TILE, cache), look)
    np.testing.assert_array_equal(stored_look(TILE.content_hash, cache), look)


@pytest.mark.parametrize(
    "arrays",
    [
        {"look": np.zeros(3, np.float32)},
        {"look": np.full(LOOK_COLUMNS + 1, np.nan, np.float32)},
        {"look": np.zeros(LOOK_COLUMNS + 1)},
        {"look": np.full(LOOK_COLUMNS + 1, 1e9, np.float32)},
        {"other": np.zeros(LOOK_COLUMNS + 1, np.float32)},
        {"look": np.zeros(LOOK_COLUMNS + 1, np.float32), "other": np.zeros(3)},
    ],
)
def test_a_damaged_look_is_computed_again(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    cache = FeatureCache(tmp_path)
    cache.put(KEY, State({}, arrays))
    assert stored_look(TILE.content_hash, cache) is None
    np.testing.assert_array_equal(kept_look(TILE, cache), look_of(TILE))
    np.testing.assert_array_equal(stored_look(TILE.content_hash, cache), look_of(TILE))

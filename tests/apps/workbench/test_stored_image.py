"""Encodings by the hash of an image alone: from the cache, or a plain refusal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fewsight._base.errors import UnreadableImage
from fewsight.apps.workbench.stored_image import StoredImage, encodings_of
from fewsight.channels import make_channel
from fewsight.images import FeatureCache, ImageArray


def test_what_the_cache_has_needs_no_pixels(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    images = [ImageArray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)) for _ in range(3)]
    channel = make_channel("colour", cache=FeatureCache(tmp_path, 10**8)).fit(images)
    expected = channel.encode(images[:2])
    hashes = [image.content_hash for image in images]
    (found,) = encodings_of([channel], hashes[:2])
    np.testing.assert_array_equal(found.matrix.toarray(), expected.matrix.toarray())
    assert [channel.is_encoded(StoredImage(content)) for content in hashes] == [True, True, False]
    assert not make_channel("colour").fit(images).is_encoded(images[0])  # without a cache


def test_what_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadableImage, match="its entry in the cache is gone"):
        StoredImage("0" * 40).pixels()

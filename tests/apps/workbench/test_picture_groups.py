"""Copies of a picture and photographs of a burst are put together, by what is known of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fewsight.apps.workbench.picture_groups import picture_groups
from fewsight.images import FeatureCache, ImageArray, KnownLooks, sample_set
from fewsight.images.capture import Capture
from fewsight.images.looks import kept_look

TILES = sample_set().images[::11][:4]
SMALLER = ImageArray(np.rint(TILES[0].pixels(48) * 255).astype(np.uint8))
A, B, C, D = (image.content_hash for image in TILES)
COPY = SMALLER.content_hash


def groups(cache: FeatureCache, captures: dict[str, Capture]) -> list[tuple[str, ...]]:
    for image in (*TILES, SMALLER):
        kept_look(image, cache)
    return picture_groups(captures, KnownLooks(cache))


def test_copies_and_bursts_are_groups(tmp_path: Path) -> None:
    burst = {B: Capture(5_000, "camera"), D: Capture(6_000, "camera")}
    found = groups(FeatureCache(tmp_path), {COPY: Capture(), C: Capture(9_000, "another"), **burst, A: Capture()})
    assert found == [(COPY, A), (B, D)]


def test_a_burst_that_a_copy_belongs_to_is_one_group(tmp_path: Path) -> None:
    captures = {A: Capture(0, "camera"), B: Capture(1_000, "camera"), C: Capture(60_000, "camera"), COPY: Capture()}
    assert groups(FeatureCache(tmp_path), captures) == [(A, B, COPY)]


def test_nothing_alike_is_no_group(tmp_path: Path) -> None:
    assert groups(FeatureCache(tmp_path), {A: Capture(), B: Capture(), C: Capture()}) == []
    assert groups(FeatureCache(tmp_path), {}) == []

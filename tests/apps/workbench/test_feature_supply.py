"""Codebooks are learned once, from the first images; what was prepared is found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewsight._base.errors import ProjectError
from fewsight.apps.workbench import feature_supply
from fewsight.apps.workbench.feature_supply import SETTING, FeatureSupply
from fewsight.apps.workbench.image_stock import ImageStock
from fewsight.apps.workbench.project import ProjectFile
from fewsight.images import FeatureCache

IMAGES = [f"{number:040x}" for number in range(8)]


class Asked:
    """A preparation that notes what it is asked for."""

    def __init__(self) -> None:
        self.described: list[str] = []
        self.fits: list[tuple[list[str], Path]] = []

    def describe(self, images) -> None:
        self.described += [image for _, image in images]

    def fit(self, images, target, on_end) -> None:
        self.fits.append(([image for _, image in images], target))
        self.on_end = on_end


def stock_of(n: int, n_unread: int = 0) -> ImageStock:
    return ImageStock(paths={image: [image.encode()] for image in IMAGES[:n]}, n_unread=n_unread)


@pytest.fixture
def cache(tmp_path: Path) -> FeatureCache:
    return FeatureCache(tmp_path / "cache", 10**6)


def made(project: ProjectFile, cache: FeatureCache, channels: list[str] | None = None) -> FeatureSupply:
    return FeatureSupply(project, cache, lambda: None, channels=channels, seed=0)


def test_codebooks_come_from_the_first_images_and_all_are_encoded_then(
    project: ProjectFile, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_supply, "FIRST_IMAGES", 3)
    supply, asked = made(project, cache), Asked()
    supply.want(stock_of(2, n_unread=6), asked)
    assert asked.described == IMAGES[:2]  # read in an earlier session
    for image in (IMAGES[4], IMAGES[1]):
        supply.on_features(image, None, None)
    supply.on_features(IMAGES[5], None, "truncated")
    supply.want(stock_of(6, n_unread=2), asked)
    assert asked.fits == []
    supply.on_features(IMAGES[0], None, None)
    supply.want(stock_of(6, n_unread=2), asked)
    supply.want(stock_of(6, n_unread=2), asked)
    ((chosen, target),) = asked.fits
    assert chosen == [IMAGES[4], IMAGES[1], IMAGES[0]]
    assert supply.is_busy
    asked.on_end(None)
    assert (supply.fitted, supply.n_features, supply.is_busy) == (target, 0, True)  # all are to be encoded now
    asked.described.clear()
    supply.want(stock_of(6), asked)
    assert asked.described == IMAGES[:6]
    assert not supply.is_busy
    supply.on_features(IMAGES[2], target, None)
    assert supply.new_ones({}) == [IMAGES[2]]
    assert project.setting(SETTING)["images"] == chosen


def test_few_images_are_enough_when_there_are_no_others(project: ProjectFile, cache: FeatureCache) -> None:
    supply, asked = made(project, cache), Asked()
    supply.on_features(IMAGES[0], None, None)
    supply.want(stock_of(1, n_unread=1), asked)
    assert asked.fits == []
    supply.want(stock_of(1), asked)
    assert len(asked.fits) == 1


def test_the_same_images_again_when_the_cache_is_gone_and_others_for_other_channels(
    project: ProjectFile, cache: FeatureCache
) -> None:
    project.set(SETTING, {"channels": ["colour"], "seed": 0, "images": IMAGES[:2]})
    supply, asked = made(project, cache, ["colour"]), Asked()
    assert supply.fitted is None
    supply.want(stock_of(8, n_unread=5), asked)
    assert asked.fits[0][0] == IMAGES[:2]
    target = asked.fits[0][1]
    target.parent.mkdir(parents=True)
    target.write_bytes(b"")
    assert made(project, cache, ["colour"]).fitted == target
    assert made(project, cache, ["texture"]).learned_from == ()


def test_what_the_cache_has_is_not_asked_for_again(project: ProjectFile, cache: FeatureCache) -> None:
    project.set(SETTING, {"channels": None, "seed": 0, "images": IMAGES[:2]})
    target = made(project, cache)._file(IMAGES[:2])
    target.parent.mkdir(parents=True)
    target.write_bytes(b"")
    supply, asked = made(project, cache), Asked()
    supply.want(stock_of(4), asked)
    assert asked.described == []  # nobody has looked into the cache yet
    supply.found(IMAGES[1:4])
    supply.want(stock_of(4), asked)
    assert asked.described == IMAGES[:1]
    supply.lost(IMAGES[2:3])
    supply.want(stock_of(4), asked)
    assert asked.described == [IMAGES[0], IMAGES[2]]
    supply.keep_order([IMAGES[3], IMAGES[1]])
    supply.keep_order([IMAGES[1], IMAGES[0]])
    assert made(project, cache).kept_order() == [IMAGES[3], IMAGES[1], IMAGES[0]]


def test_codebooks_that_cannot_be_learned_are_not_tried_for_ever(project: ProjectFile, cache: FeatureCache) -> None:
    supply, asked = made(project, cache), Asked()
    supply.on_features(IMAGES[0], None, None)
    supply.want(stock_of(1), asked)
    asked.on_end("colour: no room.")
    supply.want(stock_of(1), asked)
    assert (len(asked.fits), supply.failure, project.setting(SETTING)) == (1, "colour: no room.", None)


def test_codebooks_wait_as_long_as_the_project_cannot_be_written_to(
    project: ProjectFile, cache: FeatureCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    supply, asked = made(project, cache), Asked()
    supply.on_features(IMAGES[0], None, None)
    supply.want(stock_of(1), asked)

    def full(name: str, value: object) -> None:
        raise ProjectError("no room is left on the disk")

    with monkeypatch.context() as patch:
        patch.setattr(project, "set", full)
        asked.on_end(None)
        supply.want(stock_of(1), asked)
        assert (supply.fitted, supply.is_busy, supply.remark) == (None, True, "no room is left on the disk")
    supply.want(stock_of(1), asked)
    assert (supply.fitted, supply.remark, len(asked.fits)) == (asked.fits[0][1], None, 1)
    assert project.setting(SETTING)["images"] == IMAGES[:1]


def test_why_not_one_image_has_features_is_told(project: ProjectFile, cache: FeatureCache) -> None:
    supply = made(project, cache, ["nope"])
    assert supply.remark is None
    supply.on_features(IMAGES[0], None, "no such channel")
    assert supply.remark == "Features cannot be computed: no such channel"
    supply.on_features(IMAGES[1], None, None)
    assert supply.remark is None  # it was that image

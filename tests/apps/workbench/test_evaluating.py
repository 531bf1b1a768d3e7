"""How well learners do on images: the ways of combining, and learners that suit the number of images."""

from __future__ import annotations

import numpy as np
import pytest

from fewsight.apps.workbench import Protocol, Workplace, evaluate_images, make_learners
from fewsight.apps.workbench.evaluating import weigh_windows
from fewsight.images import ImageSet, sample_set

PROTOCOL = Protocol(images_per_class=5, per_class=(2,), test_per_class=3, repeats=1)
TWO = ("colour", "texture")
HERE = Workplace(jobs=1, keep_features=False)


@pytest.fixture(scope="module")
def tiles() -> ImageSet:
    whole = sample_set()
    return whole.select(np.concatenate([np.flatnonzero(whole.labels == name)[:5] for name in ("brick", "retina")]))


def ways(tiles: ImageSet, names: list[str]) -> set[tuple[str, str]]:
    found = evaluate_images(tiles, PROTOCOL, channels=TWO, learners=make_learners(names), workplace=HERE)
    return {(setting.combine, setting.learner) for setting in found.groups}


def test_several_channels_are_combined_in_every_way_that_some_learner_has(tiles: ImageSet) -> None:
    assert ways(tiles, ["nn"]) == {("none", "nn"), ("average", "nn")}
    assert ways(tiles, ["gp", "nn"]) == {
        *((way, name) for way in ("none", "average") for name in ("gp", "nn")),
        ("evidence", "gp"),
    }
    assert ways(tiles, ["combination"]) == {("none", "combination"), ("evidence", "combination")}


def test_without_names_the_learners_are_those_that_suit_few_images(tiles: ImageSet) -> None:
    found = evaluate_images(tiles, PROTOCOL, channels=("colour",), workplace=HERE)
    assert list(found.learners) == ["gp", "svm", "nn"]


@pytest.mark.slow
def test_the_windows_of_each_category_are_learned_from_training_images(tiles: ImageSet) -> None:
    small = {"windows": {"n_boxes": 4, "n_words": 10, "n_descriptors": 1_000, "longest_side": 64}}
    about = {"channels": ("windows", "colour"), "options": small, "workplace": HERE}
    found = evaluate_images(tiles, PROTOCOL, learners=make_learners(["mkl"]), combine=("l1",), **about)
    learner = weigh_windows(found, tiles, **about)
    assert learner is not None
    assert learner.weights_.shape[1] == len(learner.channels) <= 4
    assert learner.input_.n_training == len(found.outcomes[0].train)
    assert weigh_windows(found, tiles, channels=("colour",), workplace=HERE) is None

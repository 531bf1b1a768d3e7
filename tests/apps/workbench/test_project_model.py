"""The model is always what the events make it, however they came."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from tests.apps.workbench.digit_project import digit_project

from fewsight.apps.workbench.fitted_channels import read_channels
from fewsight.apps.workbench.opinion_pages import taken_for
from fewsight.apps.workbench.project_model import ProjectModel
from fewsight.apps.workbench.stored_image import encodings_of
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images import FeatureCache

N = 120


class Followed:
    """A workbench and a model that follows it."""

    def __init__(self, folder: Path, cache: Path, who: str = "ann", n_first: int = N) -> None:
        (path,) = (cache / "codebooks").glob("*.arrays")
        self.channels = read_channels(path)
        for channel in self.channels:
            channel.set_workplace(cache=FeatureCache(cache, 2**30), n_jobs=1)
        self.bench = Workbench(folder, who=who, on_events=self.heard)
        self.images = sorted({str(file.hash) for file in self.bench.files().values()})
        self.model = ProjectModel(self.channels, seed=3)
        self.grow(self.images[:n_first])

    def heard(self, events, present) -> None:
        if hasattr(self, "model"):
            self.model.follow(events, present)

    def grow(self, images: list[str]) -> None:
        self.model.grow(images, encodings_of(self.channels, images), self.bench.present)

    def answer(self, image: str, name: str) -> None:
        asked = next((put.asked(self.belief(image)) for put in self.model.choose(1, []) if put.image == image), None)
        self.bench.label(image, self.bench.present.category_named(name) or self.bench.new_category(name), asked=asked)

    def belief(self, image: str) -> dict:
        keys, guesses = self.model.guesses()
        return {"guess": keys[int(guesses[self.model.position_of[image]])]} if keys else {}

    def relearn(self) -> None:
        job, note = self.model.relearning()
        noted = self.model.adopt(job.run(), note)
        assert noted is not None
        self.bench.note([noted])


@pytest.fixture
def place(tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    return tmp_path / "photos", tmp_path / "cache", digit_project(tmp_path / "photos", tmp_path / "cache", N)


def same(first: ProjectModel, second: ProjectModel) -> None:
    assert first.records == second.records
    assert first.learner.view_.classes == second.learner.view_.classes
    np.testing.assert_allclose(first.learner.view_.mean, second.learner.view_.mean, atol=1e-8)
    assert first.choose(3, []) == second.choose(3, [])
    assert str(first.status()) == str(second.status())


def test_answers_one_by_one_are_what_a_model_opened_later_knows(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    for turn in range(40):
        image = followed.model.choose(1, [])[0].image
        followed.answer(image, truth[image])
        if followed.model.is_due:
            followed.relearn()
        if turn == 20:
            followed.bench.none_of_these(followed.model.choose(1, [])[0].image)
            followed.bench.skip(followed.model.choose(1, [])[0].image)
    assert followed.model.records.n_learned >= 20
    assert followed.model.status().accuracy is not None
    same(followed.model, Followed(folder, cache).model)


def test_a_pool_that_grew_is_one_that_was_large_from_the_start(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache, n_first=50)
    late = followed.images[70]
    followed.bench.label(late, followed.bench.new_category(truth[late]))  # it has no features yet
    for turn in range(12):
        image = followed.model.choose(1, [])[0].image
        followed.answer(image, truth[image])
        if turn == 6:
            followed.grow(followed.images[50:])
    assert followed.model.n_labelled == 13
    same(followed.model, Followed(folder, cache).model)


@pytest.mark.parametrize("seed", range(2))
def test_any_acts_of_two_persons(place, seed: int) -> None:
    folder, cache, truth = place
    rng = random.Random(seed)
    ann, bob = Followed(folder, cache), Followed(folder, cache, "bob")
    for _ in range(60):
        who, images = rng.choice([ann, ann, bob]), rng.sample(ann.images[:60], rng.choice([1, 1, 3]))
        act, bench = rng.random(), who.bench
        if act < 0.6:
            for image in images:
                who.answer(image, truth[image])
        elif act < 0.7:
            bench.label(images, rng.choice(list(bench.present.categories) or [bench.new_category("odd")]))
        elif act < 0.75:
            bench.none_of_these(images)
        elif act < 0.8:
            bench.clear(images)
        elif act < 0.9 and bench.status().can_undo:
            bench.undo()
        elif bench.status().can_redo:
            bench.redo()
        if ann.model.is_due:
            ann.bench.refresh()
            ann.relearn()
    ann.bench.refresh()
    bob.bench.refresh()
    labels = ann.bench.present.labels()
    named = {image: name for image, name in zip(ann.images, ann.model.learner.labels_, strict=True) if name is not None}
    assert {image: ann.bench.present.categories[key] for image, key in labels.items()} == {
        image: name for image, name in named.items() if isinstance(name, str)
    }
    same(ann.model, Followed(folder, cache).model)
    same(bob.model, ann.model)


def test_a_renamed_category_has_its_new_name_in_reasons_and_what_was_learned_stays(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    for image in followed.images[:15]:
        followed.answer(image, truth[image])
    followed.relearn()
    key = next(iter(followed.bench.present.categories))
    followed.bench.rename(key, "a new name")
    assert "a new name" in followed.model.learner.view_.classes
    assert followed.model.records.n_learned == 15
    keys, _ = followed.model.guesses()
    assert key in keys


def test_a_loan_outlives_the_next_labels_and_a_restart(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    few = next(image for image in followed.images if truth[image] == "digit 8")
    for image in [image for image in followed.images[:60] if truth[image] in ("digit 3", "digit 5", "digit 1")]:
        followed.answer(image, truth[image])
    followed.answer(few, "digit 8")
    named = followed.bench.present.category_named
    before = followed.model.learner.view_.mean.copy()
    followed.bench.borrow(named("digit 8"), named("digit 3"), share=0.6)
    assert np.abs(followed.model.learner.view_.mean - before).max() > 1e-3
    other = next(image for image in followed.images[60:] if truth[image] == "digit 5")
    followed.answer(other, "digit 5")
    assert list(followed.model.learner.loans_) == ["digit 8"]
    same(followed.model, Followed(folder, cache).model)
    followed.bench.refuse_loan(named("digit 8"), named("digit 3"))
    assert followed.model.learner.loans_ == {}


def test_a_label_is_judged_by_the_others_alone(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    for image in followed.images[:60]:
        followed.answer(image, truth[image])
    followed.relearn()
    model, names = followed.model, followed.bench.present.categories
    known = model.left_out()
    own = {
        image: names[known.categories[int(known.probability[row].argmax())]] for image, row in known.position_of.items()
    }
    right = [image for image, name in own.items() if name == truth[image]]
    assert 0.5 < len(right) / len(own) < 1.0
    chosen = max(right, key=lambda image: known.probability[known.position_of[image]].max())
    other = next(name for name in sorted(names.values()) if name != truth[chosen])
    followed.bench.clear([chosen])
    followed.answer(chosen, other)
    surprise, guess = model.surprises()[chosen]
    assert guess == truth[chosen]  # whatever was said about this very image
    assert surprise == max(score for score, _ in model.surprises().values())


def test_what_was_none_of_these_is_taken_for_the_category_that_came_later(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    late = [image for image in followed.images if truth[image] == "digit 0"]
    for image in late[:5]:
        followed.bench.none_of_these(image)
    for image in [image for image in followed.images[:60] if truth[image] in ("digit 1", "digit 3", "digit 4")]:
        followed.answer(image, truth[image])
    for image in late[5:8]:
        followed.answer(image, "digit 0")
    model, zero = followed.model, followed.bench.present.category_named("digit 0")
    assert len(taken_for(zero, model.without_none(), late[:5])) > len(taken_for(zero, model.opinion(), late[:5]))
    assert {image for _, image in taken_for(zero, model.without_none(), late[:5])} > set(late[:3])
    same(model, Followed(folder, cache).model)


def test_questions_that_were_chosen_are_compared_with_the_pool_before_their_answers_come(place) -> None:
    folder, cache, truth = place
    followed = Followed(folder, cache)
    for image in followed.images[:12]:
        followed.answer(image, truth[image])
    chosen = followed.model.choose(4, [])
    positions = [followed.model.position_of[put.image] for put in chosen]
    while followed.model.look_ahead():
        pass
    assert set(followed.model.pool.kept.known(positions)) >= set(positions[:2])
    again = followed.model.choose(4, [])
    assert again == chosen
    followed.bench.close()

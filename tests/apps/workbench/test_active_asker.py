"""A project that was closed asks on as if it had never been; whatever happened, what is learned is what holds."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from fewsight.active import VectorPool
from fewsight.apps.workbench.active_asker import ActiveAsker
from fewsight.apps.workbench.project.catalogue import KnownFile, Stamp, replace
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.apps.workbench.verbs import Workbench
from fewsight.learners import GPClassifier

N = 300
IMAGES = [f"{number:040x}" for number in range(N)]


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, list[str]]:
    X, y = load_digits(return_X_y=True)
    return X[:N] / 16, [f"digit {each}" for each in y[:N]]


@pytest.fixture
def known(folder: Path) -> Path:
    """A folder whose project knows all images; the files themselves are not needed here."""
    with ProjectFile(folder / "fewsight.sqlite") as project:
        rows = [KnownFile(b"%d.png" % n, image, Stamp(1, 1, n + 1)) for n, image in enumerate(IMAGES)]
        replace(project, rows, [])
    return folder


def opened(folder: Path, X: np.ndarray, who: str = "ann") -> Workbench:
    return Workbench(folder, who=who, asker=ActiveAsker(VectorPool(X), IMAGES, seed=3))


def answer(bench: Workbench, truth: list[str], image: str) -> None:
    name = truth[IMAGES.index(image)]
    bench.label(image, bench.present.category_named(name) or bench.new_category(name))


def run(
    folder: Path, digits: tuple[np.ndarray, list[str]], n_answers: int, reopen_every: int
) -> tuple[list[object], np.ndarray]:
    """Answers as a person would give them, some skipped, some taken back; what was asked, and what is known at the end."""
    X, truth = digits
    said: list[object] = []
    bench = opened(folder, X)
    for turn in range(n_answers):
        if reopen_every and turn % reopen_every == reopen_every - 1:
            bench.close()
            bench = opened(folder, X)
        question = bench.next_question()
        assert question is not None
        said.append(question)
        if turn % 13 == 5:
            bench.skip(question.image)
        elif turn % 29 == 11:
            bench.discard(question.image)
        else:
            answer(bench, truth, question.image)
        if turn % 17 == 16:
            bench.undo()
    status = bench.asker.learner.status()
    said += [status.counts, status.accuracy, status.advice.stop, status.advice.reason]
    said += [[act.what for act in bench.history(5)], bench.next_question()]
    means = bench.asker.learner.view_.mean.copy()
    bench.close()
    return said, means


@pytest.mark.parametrize("n_answers", [60, pytest.param(200, marks=pytest.mark.slow)])
def test_reopened_after_each_20_answers_as_if_it_never_was(tmp_path: Path, digits, n_answers: int) -> None:
    found = []
    for reopen_every in (0, 20):
        folder = tmp_path / str(reopen_every)
        folder.mkdir()
        with ProjectFile(folder / "fewsight.sqlite") as project:
            rows = [KnownFile(b"%d.png" % n, image, Stamp(1, 1, n + 1)) for n, image in enumerate(IMAGES)]
            replace(project, rows, [])
        found.append(run(folder, digits, n_answers, reopen_every))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-8)


def test_what_was_learned_is_kept_and_not_learned_again(known: Path, digits) -> None:
    X, truth = digits
    with opened(known, X) as bench:
        for image in IMAGES[:40]:
            answer(bench, truth, image)
        n_relearned = len(bench.present.relearned)
        assert n_relearned >= 3
        n_learned = bench.asker._records.n_learned
    with opened(known, X) as bench:
        assert len(bench.present.relearned) == n_relearned
        assert bench.asker._records.n_learned == n_learned > 20


@pytest.mark.parametrize("seed", range(3))
def test_means_on_the_pool_equal_those_of_a_fresh_learner_after_any_acts(known: Path, digits, seed: int) -> None:
    X, truth = digits
    rng = random.Random(seed)
    with opened(known, X) as ann, opened(known, X, "bob") as bob:
        for _ in range(60):
            bench, images = rng.choice([ann, ann, bob]), rng.sample(IMAGES[:80], rng.choice([1, 1, 3]))
            act = rng.random()
            if act < 0.6:
                for image in images:
                    answer(bench, truth, image)
            elif act < 0.7:
                key = rng.choice(list(bench.present.categories) or [bench.new_category("odd")])
                bench.label(images, key)  # also wrong, also a correction, also against the other person
            elif act < 0.75:
                bench.none_of_these(images)
            elif act < 0.8:
                bench.clear(images)
            elif act < 0.9 and bench.status().can_undo:
                bench.undo()
            elif bench.status().can_redo:
                bench.redo()
        present = ann.present
        learner = ann.asker.learner
        labels = present.labels()
        assert {image for image in IMAGES if not learner.view_.unlabelled[IMAGES.index(image)]} == set(labels)
        with opened(known, X) as again:
            np.testing.assert_allclose(again.asker.learner.view_.mean, learner.view_.mean, atol=1e-8)
        fresh = GPClassifier(learner.pool_.parameter, noise_variance=learner.learner_.noise_variance_)
        positions = [IMAGES.index(image) for image in labels]
        fresh.fit(X[positions], [present.categories[labels[image]] for image in labels])
        columns = [list(fresh.classes_).index(name) for name in learner.view_.classes]
        np.testing.assert_allclose(fresh.latent(X).mean[:, columns], learner.view_.mean, atol=1e-8)


def test_two_pages_get_two_questions_and_a_renamed_category_its_name(known: Path, digits) -> None:
    X, truth = digits
    with opened(known, X) as bench:
        for image in IMAGES[:15]:
            answer(bench, truth, image)
        first = bench.next_question()
        second = bench.next_question(held=[first.image])
        assert first.image != second.image
        key = next(iter(bench.present.categories))
        bench.rename(key, "a new name")
        assert "a new name" in bench.asker.learner.view_.classes


def test_images_outside_the_pool_wait(known: Path, digits) -> None:
    X, truth = digits
    asker = ActiveAsker(VectorPool(X[:50]), IMAGES[:50], seed=3)
    with Workbench(known, who="ann", asker=asker) as bench:
        answer(bench, truth, IMAGES[100])
        answer(bench, truth, IMAGES[10])
        assert asker.learner.view_.n_labelled == 1
        assert bench.next_question().image in IMAGES[:50]

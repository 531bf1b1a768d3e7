"""The experiments on transfer: their splits keep learning and testing apart, and a small version finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.rodner2010.adapted_svm import adapted
from experiments.rodner2010.choices import WAYS, precision_of_choices
from experiments.rodner2010.grams import BACKGROUND, NAMED, Pool, sharing, targets_of, without_copies
from experiments.rodner2010.shared_photographs import namesakes
from experiments.rodner2010.tasks import Sizes, draw

from fewsight.channels import Phog
from fewsight.evaluation import Protocol, evaluate_borrowing
from fewsight.images import FeatureCache, ImageArray, ImageSet, image_set_from_class_folders
from fewsight.kernels import RBF

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
LABELS = np.repeat([BACKGROUND, "gerenuk", "llama", "watch"], [60, 30, 30, 30]).astype(object)
SMALL = Sizes(support=10, background=20, most=5)


def test_no_image_is_learned_from_and_tested_on():
    fitted = np.flatnonzero(LABELS == "gerenuk")[:8]
    for seed in range(5):
        split = draw(LABELS, "gerenuk", seed, SMALL, fitted)
        learned = np.concatenate([split.examples, split.background, *split.supports.values(), fitted])
        assert not np.isin(split.test, learned).any()
        assert set(LABELS[split.test[split.positive]]) == {"gerenuk"}
        assert set(LABELS[split.test[~split.positive]]) == {BACKGROUND}
        assert sorted(split.supports) == ["llama", "watch"]
        assert [len(rows) for rows in split.supports.values()] == [10, 10]


def test_the_targets_are_those_named_and_every_fourth_of_the_others():
    classes = [*NAMED, BACKGROUND, *(f"other{i:02}" for i in range(8))]
    assert targets_of(classes) == sorted([*NAMED, "other00", "other04"])


def test_left_out_predictions_of_the_adapted_machine_equal_learning_without_the_example():
    X = RNG.normal(size=(15, 3))
    K, y, prior = RBF(scale=1.0).gram(X), np.where(np.arange(15) < 4, 1.0, -1.0), RNG.normal(size=15)
    inside = adapted(K, y, prior)
    n, cost_ridge = 15, None
    for cost in (0.1, 1.0, 10.0, 100.0):
        ridge = 1.0 / (cost * n * np.where(y > 0, 0.5 / 4, 0.5 / 11))
        system = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solved = np.linalg.solve(system, np.append(y - inside.beta * prior, 0.0))
        if np.allclose(solved[:-1], inside.own.coefficients):
            cost_ridge = ridge, system, solved
    assert cost_ridge is not None
    ridge, system, solved = cost_ridge
    shown = y - solved[:-1] / np.linalg.inv(system).diagonal()[:-1]
    for i in range(n):
        kept = np.delete(np.arange(n + 1), i)
        without = np.linalg.solve(system[np.ix_(kept, kept)], np.append(y - inside.beta * prior, 0.0)[kept])
        rest = np.delete(np.arange(n), i)
        value = K[i, rest] @ without[:-1] + without[-1] + inside.beta * prior[i]
        assert shown[i] == pytest.approx(value, abs=1e-9)


def pool_of_rows():
    """A background everywhere, a target with a related and an unrelated category."""
    rng = np.random.default_rng(3)
    centres = {BACKGROUND: 0.0, "gerenuk": 0.6, "llama": 0.5, "watch": -0.6}
    X = rng.normal(size=(len(LABELS), 20)) + np.array([centres[label] for label in LABELS])[:, None]
    return RBF(scale=3.0).gram(X)


def test_categories_that_show_the_same_photographs_neither_lend_nor_fit_channels():
    labels = np.repeat([BACKGROUND, "Faces", "Faces_easy", "watch", "zebra"], [60, 30, 30, 30, 30]).astype(object)
    assert sharing("Faces") == {"Faces_easy"}
    assert sharing("Faces_easy") == {"Faces"}
    assert sharing("crocodile") == {"crocodile_head"}
    assert sharing("cougar_body") == {"cougar_face"}
    assert sharing("watch") == set()
    assert sorted(draw(labels, "Faces", 0, SMALL).supports) == ["watch", "zebra"]
    assert sorted(draw(labels, "watch", 0, SMALL).supports) == ["Faces", "Faces_easy", "zebra"]
    images = ImageSet([ImageArray(np.full((8, 8, 3), i, np.uint8), str(i)) for i in range(len(labels))], labels)
    fitted = set(labels[Pool(images, {}, Path("work")).fitted])
    assert fitted == {"zebra"}  # Faces is a target, so its photographs are tested, whole or cropped


def test_no_category_that_shows_a_few_photographs_of_a_target_fits_a_channel():
    names = ["cougar_body", "cougar_face", "crab", "crayfish", "crocodile", "crocodile_head", "cup", "dolphin"]
    assert targets_of(names) == ["cougar_body", "crocodile"]
    images = ImageSet([ImageArray(np.full((8, 8, 3), i, np.uint8), str(i)) for i in range(len(names))], names)
    fitted = Pool(images, {}, Path("work")).fitted
    assert [names[i] for i in fitted] == ["crab", "crayfish", "cup", "dolphin"]


def test_a_picture_takes_part_once_mirrored_or_not():
    pixels = RNG.integers(0, 256, size=(3, 24, 30, 3)).astype(np.uint8)
    shown = [pixels[0], pixels[1], pixels[0][:, ::-1], pixels[2], pixels[1]]
    images = ImageSet([ImageArray(each, str(i)) for i, each in enumerate(shown)], list("aabba"))
    assert [image.name for image in without_copies(images).images] == ["0", "1", "3"]


def test_namesakes_share_a_word():
    assert namesakes("Faces", ["Faces", "Faces_easy", "watch"]) == ["Faces_easy"]
    assert namesakes("cougar_body", ["cougar_face", "crocodile", "cougar_body"]) == ["cougar_face"]


def test_what_the_table_of_choices_says_of_the_default_is_what_the_learner_does():
    K, split = pool_of_rows(), draw(LABELS, "gerenuk", 1, SMALL)
    found = precision_of_choices(split, K, 2)
    assert set(found) == set(WAYS)
    for way, options in (
        ("independent", None),
        ("average_separation", {}),
        ("average_predictive_probability", {"criterion": "predictive_probability"}),
    ):
        learner, rows = split.among(K, 2, [] if options is None else list(split.supports), **(options or {}))
        assert found[way] == pytest.approx(split.precision(learner.decision_function(K[np.ix_(split.test, rows)])))


def test_the_quick_way_to_average_is_the_learners():
    K, split = pool_of_rows(), draw(LABELS, "gerenuk", 2, SMALL)
    scores, support, rho = split.averaged(K, 2, list(split.supports))
    learner, rows = split.among(K, 2, list(split.supports), offset=0.0)
    np.testing.assert_allclose(scores, learner.decision_function(K[np.ix_(split.test, rows)]), atol=1e-8)
    assert (support, rho) == (learner.support_[0], pytest.approx(learner.rho_[0]))


def test_transfer_helps_where_a_related_category_is_there():
    """Mean over ten splits of made-up data, one example: the code, not a file, says that it helps."""
    K = pool_of_rows()
    found = [precision_of_choices(draw(LABELS, "gerenuk", seed, SMALL), K, 1) for seed in range(10)]
    alone, transfer = (np.mean([each[way] for each in found]) for way in ("independent", "average_separation"))
    assert transfer > alone + 0.02


@pytest.mark.slow
def test_borrowing_costs_the_other_categories_less_than_a_point(caltech101, tmp_path):
    for name in ("gerenuk", "llama", "okapi", "schooner", "ketch", "watch", "chair", "cup"):
        (tmp_path / "images").mkdir(exist_ok=True)
        (tmp_path / "images" / name).symlink_to(caltech101 / name)
    images = image_set_from_class_folders(tmp_path / "images")
    protocol = Protocol(images_per_class=30, per_class=(1,), test_per_class=15, repeats=2)
    found = evaluate_borrowing(images, protocol, {"phog": Phog(cache=FeatureCache(tmp_path / "cache"))})
    before, after = (found.summary(1, method, "accuracy_others").mean for method in ("independent", "borrowed"))
    assert after > before - 0.01
    alone, helped = (found.summary(1, method, "accuracy_new").mean for method in ("independent", "borrowed"))
    assert helped >= alone


@pytest.mark.slow
def test_a_small_version_of_the_figures_runs(caltech101, tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    for name in (*NAMED, "llama", "ketch", "schooner", BACKGROUND):
        (folder / name).symlink_to(caltech101 / name)
    for figure in ("fig3", "fig4_criteria"):
        outputs = ["--json", tmp_path / f"{figure}.json", "--figure", tmp_path / f"{figure}.png"]
        options = [
            "--work",
            tmp_path / "work",
            "--seeds",
            "100-101",
            "--sizes",
            "1",
            "--most-images",
            "40",
            "--n-jobs",
            "1",
        ]
        command = [sys.executable, "-m", f"experiments.rodner2010.{figure}", folder, *options, *outputs]
        subprocess.run(list(map(str, command)), cwd=ROOT, check=True, timeout=300)
        content = json.loads((tmp_path / f"{figure}.json").read_text())
        assert {"independent", "transfer"} <= {row["method"] for row in content["records"]}
        assert str(tmp_path) not in content["protocol"]["command"]
        assert (tmp_path / f"{figure}.png").stat().st_size > 1000

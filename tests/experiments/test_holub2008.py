"""The experiments on parts: what is kept apart and taken away, and a small version of each."""

import argparse
import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from experiments.holub2008.class_images import cropped_image, inside_frame, sides, trimmed_image
from experiments.holub2008.fig10 import PERSONS, page_of_text, person_of
from experiments.holub2008.fig17 import mean_recall
from experiments.holub2008.localisation import inside
from experiments.holub2008.model_suite import PERSON_PAIRS, Form, Suite, suite_of, task_split
from experiments.holub2008.results import each_draw, write_cells
from experiments.holub2008.table1 import head_of

from fewsight._base.errors import InvalidInput
from fewsight.images import FeatureCache
from fewsight.images.image import ImageArray

ROOT = Path(__file__).parents[2]


def test_mirror_images_stay_on_one_side():
    train, test = sides("Leopards", 200, 100, 100, np.random.default_rng(0))
    assert len(train) == len(test) == 100
    assert not set(train % 100) & set(test % 100)
    train, test = sides("Faces", 435, 100, 100, np.random.default_rng(0))
    assert not set(train) & set(test)
    with pytest.raises(InvalidInput, match="Faces must have 200 images to learn from and to test on, got 150"):
        sides("Faces", 150, 100, 100, np.random.default_rng(0))


@pytest.mark.parametrize("colour", [0, 255])
def test_frames_are_trimmed_and_pictures_without_one_lose_a_margin(colour):
    picture = np.full((120, 200), colour, np.uint8)
    picture[20:100, 30:180] = np.random.default_rng(0).integers(60, 200, (80, 150))
    rows, columns = inside_frame(picture / 255)
    assert 20 <= rows.start < 25
    assert 95 < rows.stop <= 100
    assert 30 <= columns.start < 36
    assert 174 < columns.stop <= 180
    height, width = trimmed_image(ImageArray(picture)).pixels().shape[:2]
    assert (height, width) == (rows.stop - rows.start, columns.stop - columns.start)


@pytest.mark.parametrize("aspect", [0.5, 1.0, 3.0])
def test_a_background_gets_the_aspect_of_the_category(aspect):
    picture = ImageArray(np.random.default_rng(0).integers(0, 256, (200, 300)).astype(np.uint8))
    height, width = cropped_image(picture, aspect).pixels().shape[:2]
    assert width / height == pytest.approx(aspect, rel=0.02)


def test_nineteen_persons_share_no_photograph():
    assert len(PERSONS) == 19
    numbers = [number for first, last in PERSONS for number in range(first, last + 1)]
    assert len(set(numbers)) == len(numbers)
    assert min(last - first + 1 for first, last in PERSONS) >= 18
    assert [person_of(position) for position in (0, 20, 21, 42, 434)] == [0, 0, 1, -1, 18]


def test_a_page_of_text_is_black_on_white_and_always_the_same():
    page, again, other = (page_of_text(seed).pixels()[:, :, 0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(page, again)
    assert (page != other).any()
    assert 0.02 < (page < 0.5).mean() < 0.4


def test_parts_are_inside_a_box_or_not():
    found = inside(np.array([[0.5, 0.5], [0.1, 0.5], [0.5, 0.9]]), np.array([0.2, 0.8, 0.3, 0.7]))
    np.testing.assert_array_equal(found, [True, False, False])


def test_a_record_says_what_was_compared():
    assert head_of("all clutter both gp", "Faces", "none")["method"] == "combined"
    assert head_of("kb bare both generative", "Faces", "none")["method"] == "generative"
    shape = head_of("kb clutter shape gp", "Faces", "none")
    assert (shape["method"], shape["detector"], shape["clutter"], shape["learner"]) == ("shape", "kb", True, "gp")
    assert head_of("aspect", "Faces", "trimmed")["control"] == "aspect of trimmed"


@pytest.mark.slow
def test_a_category_is_told_from_the_background_in_a_small_version(caltech101, tmp_path):
    out = tmp_path / "table1.json"
    options = [
        "--seeds",
        "100",
        "--categories",
        "airplanes",
        "--controls",
        "none",
        "--detectors",
        "harris",
        "--images",
        "30",
    ]
    command = [
        sys.executable,
        "-m",
        "experiments.holub2008.table1",
        caltech101.parent,
        "--work",
        tmp_path,
        "--json",
        out,
    ]
    subprocess.run([*map(str, command), *options], cwd=ROOT, check=True, capture_output=True, timeout=300)
    found = {
        (row["method"], row["clutter"]): row["mean"]
        for row in json.loads(out.read_text())["records"]
        if row["learner"] != "svm"
    }
    assert found["hybrid", True] > 0.7
    assert found["aspect", None] > 0.85


def planted_suite(seed):
    """Three models of two scores each, of which the second tells the classes apart."""
    rng = np.random.default_rng(seed)
    labels = np.tile(["a", "b"], 30)
    rows = rng.normal(size=(60, 6))
    rows[:, 2:4] += np.where(labels == "a", 1.5, -1.5)[:, None]
    members = {name: np.arange(2 * place, 2 * place + 2) for place, name in enumerate(("R2S", "R2A", "H4S"))}
    return Suite(rows[:40], rows[40:], labels[:40], labels[40:], members)


@pytest.mark.slow
def test_of_several_models_that_which_tells_counts_most_and_is_best_alone():
    suite = planted_suite(0)
    names = list(suite.members)
    learner = suite.weighted(names)
    order = suite.by_weight(suite.descent(names), names)
    assert order[0] == "R2A"
    assert learner.score(suite.test, suite.wanted) > 0.85
    assert suite.unweighted(order[:1]) > 0.85
    assert suite.unweighted(order[-1:]) < 0.75


def test_every_feature_can_be_a_model_of_its_own():
    features = planted_suite(1).features()
    assert list(features.members)[2:4] == ["R2A 0", "R2A 1"]
    assert [columns.tolist() for columns in features.members.values()] == [[place] for place in range(6)]
    names = list(features.members)
    assert set(features.by_weight(features.descent(names), names)[:2]) == {"R2A 0", "R2A 1"}


def test_accuracy_is_the_mean_over_categories():
    wanted = np.array(["a", "a", "a", "b"])
    assert mean_recall(np.array(["a", "a", "a", "a"]), wanted) == pytest.approx(0.5)


def test_results_have_a_record_for_each_way_and_what_is_no_number_beside_them(tmp_path):
    options = argparse.Namespace(work=tmp_path, seeds=(0, 1), command="none", json=tmp_path / "found.json")
    asked = []

    def compute(task, seed):
        asked.append((task, seed))
        return {"generative": 0.5 + 0.1 * seed, "hybrid, svm": 0.8, "best": 0.7, "shares": {"K2S": 1.0}}

    for _ in range(2):  # the second time everything is in the work folder
        found = each_draw(options, "small", ("Faces",), {"images": 3}, compute)
    assert asked == [("Faces", 0), ("Faces", 1)]
    write_cells(options, found, method="combined", detector="kb", protocol={"images": 3})
    written = json.loads(options.json.read_text())
    assert [(row["method"], row["way"], row["category"]) for row in written["records"]] == [
        ("generative", "generative", "Faces"),
        ("hybrid", "hybrid, svm", "Faces"),
        ("combined", "best", "Faces"),
    ]
    assert written["records"][0]["values"] == [0.5, 0.6]
    assert written["details"] == {"Faces shares": [{"K2S": 1.0}] * 2}


@pytest.mark.slow
def test_models_of_two_persons_are_learned_from_ten_photographs_of_each(caltech101, tmp_path):
    assert len(PERSON_PAIRS) == 171
    split = task_split(caltech101.parent, "persons", 100, 0)
    assert split.train_labels.count(split.train_labels[0]) == 10
    assert len(split.train) == 20
    assert not {image.name for image in split.train} & {image.name for image in split.test}
    suite = suite_of(split, FeatureCache(tmp_path), 100, ("harris",), (Form(2, 20),), n_starts=1)
    assert list(suite.members) == ["R2S", "R2A"]
    assert sum(len(columns) for columns in suite.members.values()) == suite.train.shape[1] == 2 * (2 * 2 * 20 + 4)
    assert suite.unweighted(["R2S", "R2A"]) > 0.6


@pytest.mark.parametrize(
    "name",
    [
        "fig4",
        "table1",
        "table2",
        "fig7",
        "fig10",
        "fig11",
        "table3",
        "table4",
        "table5",
        "fig16",
        "fig17",
        "localisation",
    ],
)
def test_every_table_and_figure_is_a_command_with_a_result_file_of_its_own(name):
    module = importlib.import_module(f"experiments.holub2008.{name}")
    options = module.parser().parse_args(["DATA", "--work", "WORK"])
    assert options.json == Path(f"experiments/results/holub2008/{name}.json")
    assert f"experiments.holub2008.{name} DATA --work FOLDER" in module.__doc__

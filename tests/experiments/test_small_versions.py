"""Every experiment runs, on a part of the data, and finds what the whole finds."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fewsight.channels import make_channel
from fewsight.evaluation import Protocol, evaluate
from fewsight.images import FeatureCache, image_set_from_class_folders
from fewsight.learners import LEARNERS
from fewsight.learners.novelty import RULES

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
TEN = ["Faces", "airplanes", "anchor", "ant", "barrel", "bonsai", "brain", "butterfly", "camera", "chair"]


@pytest.fixture(scope="module")
def ten_categories(caltech101, tmp_path_factory):
    """A folder of links to ten categories, and room for the cache."""
    folder = tmp_path_factory.mktemp("ten")
    for name in TEN:
        (folder / name).symlink_to(caltech101 / name)
    return folder


@pytest.mark.parametrize("name", ["spatial_pmk", "dense_pmk"])
def test_the_order_of_the_papers_table_2_holds_on_ten_categories(ten_categories, name, tmp_path):
    """GP and SVM are close to each other and far above the nearest neighbour."""
    images = image_set_from_class_folders(ten_categories)
    found = evaluate(
        images,
        Protocol(images_per_class=25, per_class=(10,), test_per_class=15, repeats=2, seed=0),
        {name: make_channel(name, n_jobs=2, cache=FeatureCache(tmp_path))},
        {learner: kind(kernel="precomputed") for learner, kind in LEARNERS.items() if kind.needs.takes_rows},
    )
    accuracy = {row["learner"]: row["mean"] for row in found.records() if row["metric"] == "accuracy"}
    calibration = {row["learner"]: row["mean"] for row in found.records() if row["metric"] == "calibration_error"}
    assert accuracy["gp"] > accuracy["nn"] + 0.08
    assert accuracy["svm"] > accuracy["nn"] + 0.08
    assert accuracy["gp"] > 0.65
    assert calibration["gp"] < 0.15  # 300 test images: about twice what the whole set has


def run(module, *arguments):
    subprocess.run([sys.executable, "-m", module, *map(str, arguments)], cwd=ROOT, check=True, timeout=300)


def test_the_calibration_experiment_runs(ten_categories, tmp_path):
    background = ten_categories / "BACKGROUND_Google"
    background.mkdir(exist_ok=True)
    out = tmp_path / "calibration.json"
    run("experiments.calibration.compare", "--data", ten_categories, "--repeats", 1, "--per-class", "2", "--json", out)
    records = json.loads(out.read_text())["records"]
    loss = {row["learner"]: row["mean"] for row in records if row["metric"] == "log_loss"}
    assert loss["gp"] < loss["gp_uncalibrated"]


def test_the_comparison_of_rules_for_unknowns_runs(ten_categories, tmp_path):
    (ten_categories / "BACKGROUND_Google").mkdir(exist_ok=True)
    out = tmp_path / "unknown.json"
    run(
        "experiments.unknown.compare",
        "--data",
        ten_categories,
        "--known",
        6,
        "--unknown",
        4,
        "--repeats",
        1,
        "--json",
        out,
    )
    records = json.loads(out.read_text())["records"]
    area = {row["rule"]: row["mean"] for row in records if row["metric"] == "unknown_auroc"}
    assert set(area) == set(RULES)
    assert area["contrast"] > 0.6  # chance is 0.5; one small draw says no more


def test_the_ways_to_divide_a_pyramid_match_are_compared(ten_categories, tmp_path):
    out = tmp_path / "partial.json"
    options = ["--work", tmp_path / "work", "--seeds", "100", "--categories", 4, "--channels", "harris_pmk"]
    run("experiments.kapoor2010.partial_match", ten_categories, *options, "--n-jobs", 1, "--json", out)
    content = json.loads(out.read_text())
    accuracy = {row["normalise"]: row["mean"] for row in content["records"] if row["learner"] == "gp"}
    assert set(accuracy) == {"size", "self", "smaller", "count"}
    assert min(accuracy["size"], accuracy["self"], accuracy["count"]) > 0.4
    assert content["least_eigenvalues"]["harris_pmk"]["smaller"][0] < -1e-3  # no kernel
    assert content["least_eigenvalues"]["harris_pmk"]["self"][0] > -1e-6


@pytest.mark.parametrize("figure", ["fig3", "fig4_penalties"])
def test_small_versions_of_figures_3_and_4_run(ten_categories, tmp_path, figure):
    out, options = (
        tmp_path / "figure.json",
        ["--pool", 3, "--sizes", "1,3", "--seeds", "100", "--channels", "phog,colour"],
    )
    files = ["--work", tmp_path / "work", "--json", out, "--figure", tmp_path / "figure.png"]
    run(f"experiments.kapoor2010.{figure}", ten_categories, *options, *files, "--n-jobs", 1)
    rows = [row for row in json.loads(out.read_text())["records"] if row["metric"] == "accuracy"]
    assert {row["per_class"] for row in rows} == {1, 3}
    if figure == "fig4_penalties":  # every row says what it is
        assert {(row.get("penalty"), row.get("noise")) for row in rows} >= {
            ("l1", "fixed"),
            ("l2", "fixed"),
            ("none", "learned"),
        }


@pytest.mark.parametrize("name", ["table2", "table3", "fig6"])
def test_small_versions_of_tables_2_and_3_and_figure_6_run(ten_categories, tmp_path, name):
    out = tmp_path / "found.json"
    options = ["--sizes", "3", "--seeds", "100", "--channels", "phog,colour", "--n-jobs", 1]
    figure = ["--figure", tmp_path / "figure.png"] if name == "fig6" else []
    run(
        f"experiments.kapoor2010.{name}",
        *(ten_categories, *options, "--work", tmp_path / "work", "--json", out, *figure),
    )
    content = json.loads(out.read_text())
    combined = [
        row for row in content["records"] if row["metric"] == "accuracy" and row["combine"] in ("evidence", "auto")
    ]
    assert {row["channels"] for row in combined} == {"phog+colour"}
    assert all(row["mean"] > 0.3 for row in combined)
    if name == "table3":
        assert sum("reported" in row for row in content["rows"]) == 7


def test_borrowing_is_measured_with_one_to_four_images(ten_categories, tmp_path):
    out = tmp_path / "borrowing.json"
    options = ["--work", tmp_path / "work", "--seeds", "100", "--channels", "phog", "--categories", 5, "--n-jobs", 1]
    run("experiments.rodner2010.borrowing", ten_categories, *options, "--sizes", "1,4", "--json", out)
    rows = json.loads(out.read_text())["records"]
    assert {(row["per_class"], row["method"]) for row in rows} == {
        (n, way) for n in (1, 4) for way in ("independent", "borrowed", "offset")
    }
    ranked = {(row["per_class"], row["method"]): row["mean"] for row in rows if row["metric"] == "average_precision"}
    assert all(ranked[n, "offset"] == ranked[n, "independent"] for n in (1, 4))  # raised for all images alike

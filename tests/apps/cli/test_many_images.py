"""With many images `learn` and `evaluate` take the learner that forms no kernel matrix, say so, and all else works with it."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.apps.workbench import learners
from fewsight.apps.workbench.learners import channels_for, choose_learner, many_images
from fewsight.channels import SpatialPmk
from fewsight.learners import GPClassifier, HistogramGPClassifier, SparseGPClassifier
from fewsight.persistence import load

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
TWO = ("--channels", "spatial_pmk,dense_pmk", *SMALL, "--set", "dense_pmk.n_descriptors=2000")
TOOK = "Took histogram_gp, the Gaussian process for many images: there are 24 to learn from."
Run = Callable[..., Result]
Refused = Callable[..., str]


def test_learn_takes_it_from_the_number_given_and_predict_uses_its_model(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model"
    result = run("learn", photos, "-o", model, "--many", "24", *SMALL)
    assert TOOK in result.stdout.splitlines()
    assert "% of the images that were left out to check (mean of categories)." in result.stdout
    assert isinstance(load(model), HistogramGPClassifier)
    assert run("predict", model, photos, "-o", tmp_path / "table.csv", "--probabilities").exit_code == 0
    with (tmp_path / "table.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == 24
    assert sum(Path(row["file"]).parent.name == row["category"] for row in rows) > 20
    assert all(0 <= float(row["probability_brick"]) <= 1 and row["unknown"] in ("yes", "no") for row in rows)


def test_with_fewer_images_it_stays_with_gp_and_says_nothing(run: Run, photos: Path, tmp_path: Path) -> None:
    result = run("learn", photos, "-o", tmp_path / "model", "--many", "25", *SMALL)
    assert "histogram_gp" not in result.stdout
    assert isinstance(load(tmp_path / "model"), GPClassifier)


def test_several_channels_are_weighed_or_averaged(run: Run, photos: Path, tmp_path: Path) -> None:
    weighed = run("learn", photos, "-o", tmp_path / "a", "--learner", "histogram_gp", *TWO)
    assert "What decides: " in weighed.stdout
    averaged = run("learn", photos, "-o", tmp_path / "b", "--learner", "histogram_gp", "--combine", "average", *TWO)
    assert "What decides: spatial_pmk 50 %, dense_pmk 50 %." in averaged.stdout
    shares = load(tmp_path / "a").weights_
    assert shares.sum() == pytest.approx(1.0)
    assert shares != pytest.approx([0.5, 0.5])
    assert run("predict", tmp_path / "a", photos / "brick", "-o", tmp_path / "table.csv").exit_code == 0


def test_channels_that_do_not_compare_histograms_are_learned_through_some_of_the_images(
    run: Run, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    told = run("learn", photos, "-o", tmp_path / "a", "--channels", "phog,colour", "--many", "10").stdout
    assert "Took sparse_gp, the Gaussian process for many images: there are 24 to learn from." in told
    assert "What decides: " in told
    assert isinstance(load(tmp_path / "a"), SparseGPClassifier)
    assert run("predict", tmp_path / "a", photos, "-o", tmp_path / "table.csv").exit_code == 0
    reason = f"phog does not compare by histogram intersection, as {', '.join(channels_for(HistogramGPClassifier))} do."
    assert refused("learn", photos, "-o", tmp_path / "b", "--channels", "phog", "--learner", "histogram_gp") == (
        f"learn: histogram_gp cannot be used: {reason}"
    )


def test_borrowing_needs_gp() -> None:
    choice = choose_learner("auto", 24, 3, [SpatialPmk()], borrows=True, many=10)
    assert choice.name == "gp"
    assert choice.remarks[0].endswith("but its categories cannot borrow.")


def test_a_number_needs_auto(refused: Refused, photos: Path, tmp_path: Path) -> None:
    said = refused("learn", photos, "-o", tmp_path / "b", "--learner", "gp", "--many", "10", *SMALL)
    assert said == "learn: many says what auto does, so the learner must be auto, got gp."
    said = refused("evaluate", photos, "--learners", "gp", "--many", "10", *SMALL)
    assert said == "learners: many says which are taken if none are named, got names as well."


def test_it_is_taken_where_the_kernel_matrix_would_not_fit(
    run: Run, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners, "memory_of_this_machine", lambda: 64 * 10**2)
    assert TOOK in run("learn", photos, "-o", tmp_path / "model", *SMALL).stdout
    told = run("evaluate", photos, "--per-class", "5", "--repeats", "1", *SMALL).stdout
    assert "Left out svm, nn: their matrix of all pairs of images does not fit into memory." in told


def test_evaluate_takes_it_where_no_learner_is_named(run: Run, photos: Path, tmp_path: Path) -> None:
    files = ("--json", tmp_path / "out.json", "--report", tmp_path / "report.html")
    once = ("--per-class", "5", "--repeats", "1")
    result = run("evaluate", photos, *once, "--many", "15", "--noise", "0.1", *TWO, *files)
    assert "Took histogram_gp, the Gaussian process for many images: there are 15 to learn from." in result.stdout
    records = json.loads((tmp_path / "out.json").read_text())["records"]
    assert {record["learner"] for record in records} == {"histogram_gp", "svm", "nn"}
    ways = {record["combine"] for record in records if record["learner"] == "histogram_gp"}
    assert ways == {"none", "average", "evidence"}
    assert "Histogram GP" in (tmp_path / "report.html").read_text()
    assert "histogram_gp" not in run("evaluate", photos, *once, "--many", "16", *SMALL).stdout


def test_more_categories_need_more_images() -> None:
    assert [many_images(n) for n in (2, 10, 101)] == [2_300, 3_500, 5_200]


@pytest.mark.slow
def test_photographs_are_learned_and_told_apart_as_by_gp(run: Run, caltech101: Path, tmp_path: Path) -> None:
    """Six categories of Caltech-101, twenty photographs each to learn and ten to ask about."""
    for category in ("accordion", "bonsai", "chair", "dalmatian", "ewer", "watch"):
        for place, path in enumerate(sorted((caltech101 / category).iterdir())[:30]):
            folder = tmp_path / ("new" if place % 3 == 2 else "photos") / category
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, folder)
    right = {}
    for learner in ("gp", "histogram_gp"):
        options = ("--channels", "spatial_pmk", "--set", "spatial_pmk.n_words=100")
        run("learn", tmp_path / "photos", "-o", tmp_path / learner, "--learner", learner, *options)
        run("predict", tmp_path / learner, tmp_path / "new", "-o", tmp_path / "table.csv")
        with (tmp_path / "table.csv").open() as table:
            right[learner] = sum(Path(row["file"]).parent.name == row["category"] for row in csv.DictReader(table))
    assert right["gp"] >= 45
    assert abs(right["gp"] - right["histogram_gp"]) <= 3

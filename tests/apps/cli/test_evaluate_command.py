"""`fewsight evaluate`: the table, the files, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
Run = Callable[..., Result]
Refused = Callable[..., str]


def test_evaluate_prints_a_table_and_writes_both_files(run: Run, photos: Path, tmp_path: Path) -> None:
    results, report = tmp_path / "out.json", tmp_path / "out.html"
    sizes = ("--images-per-class", "8", "--per-class", "1,3", "--test-per-class", "4", "--repeats", "2")
    result = run("evaluate", photos, *sizes, "--json", results, "--report", report, "--seed", "5", *SMALL)
    assert result.exit_code == 0, result.stderr
    assert "±" in result.stdout
    assert all(f"Wrote {path}" in result.stdout for path in (results, report))
    written = json.loads(results.read_text(encoding="utf-8"))
    accuracies = [record for record in written["records"] if record["metric"] == "accuracy"]
    assert {(record["learner"], record["per_class"]) for record in accuracies} == {
        (learner, size) for learner in ("gp", "svm", "nn") for size in (1, 3)
    }
    assert all(record["channels"] == "spatial_pmk" and len(record["values"]) == 2 for record in accuracies)
    assert written["protocol"]["seed"] == 5
    assert written["protocol"]["channels"]["spatial_pmk"]["n_words"] == 20
    assert "<html" in report.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "out.json"]


def test_the_settings_of_a_paper_reach_the_learners(run: Run, photos: Path, tmp_path: Path) -> None:
    options = ("--per-class", "3", "--repeats", "1", "--noise", "1e-10", "--svm-c", "10000", "--learners", "gp,svm")
    result = run("evaluate", photos, *options, "--json", tmp_path / "out.json", *SMALL)
    assert result.exit_code == 0, result.stderr
    learners = json.loads((tmp_path / "out.json").read_text())["protocol"]["learners"]
    assert list(learners) == ["gp", "svm"]
    assert learners["gp"]["noise_variance"] == 1e-10
    assert learners["svm"]["C"] == 10000


def test_held_out_categories_are_told_of_and_recorded(run: Run, photos: Path, tmp_path: Path) -> None:
    results, report = tmp_path / "out.json", tmp_path / "out.html"
    options = ("--per-class", "3", "--repeats", "2", "--hold-out", "1", "--learners", "gp,nn", *SMALL)
    result = run("evaluate", photos, *options, "--json", results, "--report", report)
    assert result.exit_code == 0, result.stderr
    assert "Categories not learned in each repeat: 1 of 3." in result.stdout
    assert "told apart" in result.stdout
    written = json.loads(results.read_text(encoding="utf-8"))
    assert written["protocol"]["hold_out"] == 1
    saying = {record["learner"] for record in written["records"] if record["metric"] == "unknown_auroc"}
    assert saying == {"gp"}
    assert "What it has never seen" in report.read_text(encoding="utf-8")


def test_learners_that_never_say_unknown_are_told_of(run: Run, photos: Path) -> None:
    result = run(
        "evaluate", photos, "--per-class", "3", "--repeats", "1", "--hold-out", "1", "--learners", "nn", *SMALL
    )
    assert result.exit_code == 0, result.stderr
    assert "None of these learners says when an image is like nothing it has learned; gp does." in result.stdout
    assert "told apart" not in result.stdout


def test_broken_files_are_listed(run: Run, photos: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(photos, tmp_path / "photos"))
    (folder / "brick" / "broken.png").write_bytes(b"no picture")
    result = run("evaluate", folder, "--per-class", "2", "--repeats", "1", "--learners", "nn", *SMALL)
    assert result.exit_code == 0
    assert result.stderr.splitlines()[-1] == "fewsight: 1 file could not be used."


def test_all_that_was_left_out_is_told_of_as_learn_tells_it(run: Run, photos: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(photos, tmp_path / "photos"))
    for category in ("broken", "nothing"):
        (folder / category).mkdir()
    for number in range(3):
        (folder / "broken" / f"{number}.png").write_bytes(b"no picture")
    shutil.copy(folder / "brick" / "0.png", folder / "beside.png")
    evaluated = run("evaluate", folder, "--per-class", "2", "--repeats", "1", "--learners", "nn", *SMALL)
    learned = run("learn", folder, "-o", tmp_path / "model", *SMALL)
    assert evaluated.exit_code == learned.exit_code == 0, evaluated.stderr
    assert evaluated.stderr == learned.stderr
    assert evaluated.stderr.splitlines()[-2:] == [
        "fewsight: no usable image in the categories broken, nothing, which were left out.",
        f"fewsight: 1 image in no category's folder left out, such as {folder}/beside.png.",
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--learners", "gp,knn"],
            "must be one of 'gp', 'svm', 'nn', 'mean', 'logistic', 'histogram_gp', 'sparse_gp', 'combination', 'mkl', "
            "'infinite', 'span_bound', 'generative', got 'knn'.",
        ),
        (["--learners", ","], "learners: at least one is needed, got none."),
        (["--learners", "nn", "--noise", "0.1"], "noise_variance is a setting of gp, which is not asked for."),
        (["--svm-c", "-3"], "learners: C must be a finite number > 0, got -3.0."),
        (["--per-class", "500"], "every class must have at least 501 images"),
        (["--images-per-class", "8", "--per-class", "8"], "images_per_class must be at least 9"),
        (["--hold-out", "2"], "hold_out must leave two or more categories to learn, got 2 of 3."),
        (["--json", "nowhere/out.json"], "the folder nowhere does not exist; make it first."),
        (["--report", "."], ".: a folder; the name of a file is needed."),
    ],
)
def test_a_wrong_option_is_one_sentence_and_no_file(
    arguments: list[str],
    sentence: str,
    refused: Refused,
    photos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in refused("evaluate", photos, "--repeats", "1", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_baselines_are_compared_in_words_in_the_file_and_on_the_page(run: Run, photos: Path, tmp_path: Path) -> None:
    results, report = tmp_path / "out.json", tmp_path / "out.html"
    options = (
        "--channels",
        "colour",
        "--per-class",
        "3",
        "--test-per-class",
        "3",
        "--repeats",
        "2",
        "--learners",
        "gp",
    )
    result = run("evaluate", photos, *options, "--baselines", "--json", results, "--report", report)
    assert result.exit_code == 0, result.stderr
    assert "With 9 labels of 15 images, the same features for all:" in result.stdout
    assert "The best of the others, " in result.stdout
    records = json.loads(results.read_text(encoding="utf-8"))["comparison"]
    assert {record["learner"] for record in records} == {"gp", "logistic", "nn", "mean", "svm"}
    assert {record["labels"] for record in records} == {3, 6, 9}
    assert "Compared with other methods on the same features" in report.read_text(encoding="utf-8")

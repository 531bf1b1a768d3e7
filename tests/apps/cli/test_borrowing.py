"""`fewsight learn --borrow`: a category with few images borrows, says so, and can refuse."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.persistence import load

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")


Run = Callable[..., Result]


Refused = Callable[..., str]


@pytest.mark.slow
def test_learn_says_what_was_borrowed_and_the_model_keeps_it(run: Run, one_of_grass: Path, tmp_path: Path) -> None:
    result = run("learn", one_of_grass, "-o", tmp_path / "model.fewsight", "--borrow", *SMALL)
    assert result.exit_code == 0, result.output
    model = load(tmp_path / "model.fewsight")
    if "Nothing was borrowed" in result.stdout:
        assert model.loans_ == {}
    else:
        lender = model.loans_["grass"].lender
        assert f"Learned grass from 1 image, borrowing from {lender}." in result.stdout
        assert "--refuse CATEGORY" in result.stdout


@pytest.mark.slow
def test_a_loan_that_is_refused_is_not_taken(run: Run, one_of_grass: Path, tmp_path: Path) -> None:
    result = run("learn", one_of_grass, "-o", tmp_path / "model.fewsight", "--borrow", "--refuse", "grass", *SMALL)
    assert "Nothing was borrowed" in result.stdout
    assert load(tmp_path / "model.fewsight").loans_ == {}


def test_without_borrow_nothing_is_borrowed(run: Run, one_of_grass: Path, tmp_path: Path) -> None:
    result = run("learn", one_of_grass, "-o", tmp_path / "model.fewsight", *SMALL)
    assert "borrowing from" not in result.stdout
    assert load(tmp_path / "model.fewsight").loans_ == {}


@pytest.mark.parametrize("option", [("--sense", "grass=plant"), ("--refuse", "grass")])
def test_what_belongs_to_borrowing_needs_it(run: Run, photos: Path, tmp_path: Path, option: tuple[str, str]) -> None:
    result = run("learn", photos, "-o", tmp_path / "model.fewsight", *option)
    assert result.exit_code == 2
    assert f"{option[0]} needs --borrow" in " ".join(result.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_sense_of_no_category_is_refused(refused: Refused, photos: Path, tmp_path: Path) -> None:
    said = refused("learn", photos, "-o", tmp_path / "m.fewsight", "--borrow", "--sense", "bass=fish", *SMALL)
    assert "a sense must be set for one of the categories, got 'bass'" in said
    said = refused("learn", photos, "-o", tmp_path / "m.fewsight", "--borrow", "--sense", "grass", *SMALL)
    assert "a sense must have the form CATEGORY=MEANING, got 'grass'" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_evaluate_tries_every_category_as_the_new_one(run: Run, photos: Path, tmp_path: Path) -> None:
    output = tmp_path / "borrowing.json"
    result = run("evaluate", photos, "--borrow", "--per-class", "1,2", "--repeats", "2", "--json", output, *SMALL)
    assert result.exit_code == 0, result.output
    assert "Each category in turn was new; the others were learned from 4 images each." in result.stdout
    content = json.loads(output.read_text())
    keys = {(row["method"], row["metric"], row["per_class"]) for row in content["records"]}
    metrics = ("accuracy_new", "accuracy_others", "average_precision")
    assert keys == set(itertools.product(("independent", "borrowed"), metrics, (1, 2)))
    assert all(len(row["values"]) == 2 and 0 <= row["mean"] <= 1 for row in content["records"])
    assert set(content["lenders"]["1"]) == {"brick", "grass", "tissue"}
    assert content["protocol"]["lender_images"] == 4


@pytest.mark.parametrize(
    "option",
    [("--hold-out", "1"), ("--unlabelled", "3"), ("--report", "r.html"), ("--learners", "svm"), ("--noise", "1")],
)
def test_evaluate_says_what_does_not_go_with_borrowing(run: Run, photos: Path, option: tuple[str, str]) -> None:
    result = run("evaluate", photos, "--borrow", *option)
    assert result.exit_code == 2
    assert f"{option[0]} does not go with --borrow" in " ".join(result.stderr.replace("│", " ").split())


def test_too_few_images_to_lend_are_said(refused: Refused, photos: Path) -> None:
    assert "two categories or more of at least 10 images each" in refused(
        "evaluate", photos, "--borrow", "--per-class", "4"
    )

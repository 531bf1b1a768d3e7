"""`fewsight learn --borrow`: a category with few images borrows, says so, and can refuse."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.apps.workbench import BorrowingOptions, offers, read_refusals, read_senses
from fewsight.persistence import load

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")
Run = Callable[..., Result]
Refused = Callable[..., str]


@pytest.fixture(scope="session")
def one_of_grass(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All but one photograph of grass are gone."""
    folder = Path(shutil.copytree(photos, tmp_path_factory.mktemp("few") / "photos"))
    for path in sorted((folder / "grass").iterdir())[1:]:
        path.unlink()
    return folder


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
    assert "a sense must read CATEGORY=MEANING, got 'grass'" in said
    assert list(tmp_path.iterdir()) == []


def test_the_page_gets_an_offer_for_a_category_with_few_images(run: Run, one_of_grass: Path, tmp_path: Path) -> None:
    run("learn", one_of_grass, "-o", tmp_path / "model.fewsight", *SMALL)
    model = load(tmp_path / "model.fewsight")
    offered = offers(model)
    assert [each.category for each in offered] in (["grass"], [])
    assert model.loans_ == {}  # an offer changes nothing
    assert offers(model, BorrowingOptions(refused={"grass": []})) == []
    for each in offered:
        model.borrow(each.category, each.lender, each.rho)
        assert offers(model) == []


def test_lenders_that_are_refused_leave_the_others() -> None:
    how = BorrowingOptions(closest=2, refused={"okapi": ["llama"]})
    lenders, _ = how.lenders(["okapi", "llama", "gerenuk", "XK-21"])
    assert "llama" not in lenders["okapi"]
    assert "gerenuk" in lenders["okapi"]
    assert "XK-21" in lenders["okapi"]  # unknown to WordNet: kept
    assert sorted(lenders["XK-21"]) == ["gerenuk", "llama", "okapi"]


def test_without_wordnet_everyone_may_lend(monkeypatch: pytest.MonkeyPatch) -> None:
    from fewsight._base.errors import WordNetMissing
    from fewsight.transfer.wordnet import WordNet

    def missing(*_: object, **__: object) -> None:
        raise WordNetMissing("WordNet: no WordNet was found on this machine.")

    monkeypatch.setattr(WordNet, "open", missing)
    lenders, wordnet = BorrowingOptions(closest=1).lenders(["okapi", "llama", "cup"])
    assert not wordnet
    assert sorted(lenders["okapi"]) == ["cup", "llama"]
    with pytest.raises(WordNetMissing):
        BorrowingOptions(senses={"okapi": "animal"}).lenders(["okapi", "llama", "cup"])


def test_the_small_languages_are_read() -> None:
    assert read_senses(["bass=fish", " crane = machine "]) == {"bass": "fish", "crane": "machine"}
    assert read_refusals(["okapi", "gerenuk=chair", "gerenuk=cup"]) == {"okapi": [], "gerenuk": ["chair", "cup"]}


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
    "option", [("--hold-out", "1"), ("--report", "r.html"), ("--learners", "svm"), ("--noise", "1")]
)
def test_evaluate_says_what_does_not_go_with_borrowing(run: Run, photos: Path, option: tuple[str, str]) -> None:
    result = run("evaluate", photos, "--borrow", *option)
    assert result.exit_code == 2
    assert f"{option[0]} does not go with --borrow" in " ".join(result.stderr.replace("│", " ").split())


def test_too_few_images_to_lend_are_said(refused: Refused, photos: Path) -> None:
    assert "each with more than twice as many images" in refused("evaluate", photos, "--borrow", "--per-class", "4")

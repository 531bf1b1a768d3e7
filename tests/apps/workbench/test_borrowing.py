"""Who may borrow from whom, offered and refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.apps.workbench import BorrowingOptions, offers, read_refusals, read_senses
from fewsight.persistence import load

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")


Run = Callable[..., Result]


@pytest.mark.slow
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

"""Whom a category may borrow from, by meaning."""

import pytest

from fewsight._base.errors import InvalidInput, WordNetMissing
from fewsight.transfer import closest_lenders
from fewsight.transfer.wordnet import WordNet

NAMES = ["okapi", "llama", "chair", "XK-21"]


def no_wordnet(*_, **__):
    raise WordNetMissing("WordNet: no WordNet was found on this machine.")


@pytest.mark.slow
def test_the_closest_in_meaning_may_lend_and_all_that_wordnet_does_not_know():
    found = closest_lenders(NAMES, 1)
    assert set(found["okapi"]) == {"llama", "XK-21"}
    assert set(found["XK-21"]) == {"okapi", "llama", "chair"}


def test_without_wordnet_nothing_is_preselected(monkeypatch):
    monkeypatch.setattr(WordNet, "open", no_wordnet)
    assert closest_lenders(NAMES) is None


def test_senses_need_wordnet_and_a_category(monkeypatch):
    with pytest.raises(InvalidInput, match="a sense must be set for one of the categories, got 'bass'"):
        closest_lenders(NAMES, senses={"bass": "fish"})
    monkeypatch.setattr(WordNet, "open", no_wordnet)
    with pytest.raises(WordNetMissing):
        closest_lenders(NAMES, senses={"llama": "mammal"})

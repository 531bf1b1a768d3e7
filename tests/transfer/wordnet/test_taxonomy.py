"""Which categories are close in meaning, in the small WordNet and in the real one."""

import re
from pathlib import Path
from typing import Any

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.transfer.wordnet import WordNet

NAMES = ["Leopards", "cougar_face", "XK-21", "bass", "car_side", "house_cat", "fish"]


def test_the_closest_come_first_and_the_unknown_are_never_left_out(small):
    taxonomy = small.taxonomy(NAMES)
    assert taxonomy.unresolved == ["XK-21"]
    assert taxonomy.ambiguous == ["Leopards", "bass", "fish"]
    closest = taxonomy.closest("Leopards", k=3)
    assert [name for name, _ in closest] == ["cougar_face", "house_cat", "fish", "XK-21"]
    assert [value for _, value in closest] == [taxonomy.similarity("Leopards", name) for name, _ in closest]
    assert closest[-1] == ("XK-21", 0.0)
    assert taxonomy.closest("Leopards", ["car_side", "XK-21", "Leopards", "car_side"], k=1) == [
        ("car_side", taxonomy.similarity("Leopards", "car_side")),
        ("XK-21", 0.0),
    ]


def test_to_a_category_that_wordnet_does_not_know_all_candidates_come_back(small):
    others = [name for name in NAMES if name != "XK-21"]
    assert small.taxonomy(NAMES).closest("XK-21", k=2) == [(name, 0.0) for name in others]
    assert small.taxonomy(["XK-21", "XK-22"]).closest("XK-21") == [("XK-22", 0.0)]


@pytest.mark.parametrize("measure", ["resnik", "path"])
def test_similarity_is_symmetric_and_largest_with_itself(small, measure):
    taxonomy = small.taxonomy(NAMES)
    for a in NAMES:
        for b in NAMES:
            value = taxonomy.similarity(a, b, measure)
            assert value == taxonomy.similarity(b, a, measure)
            assert 0.0 <= value <= taxonomy.similarity(a, a, measure) or a == "XK-21"


def test_a_sense_that_is_set_changes_who_is_close(small):
    names = ["bass", "fish", "car"]
    assert small.taxonomy(names).closest("bass")[0][0] == "fish"
    set_by_user = small.taxonomy(names, senses={"bass": "instruments"})
    assert set_by_user.closest("bass")[0][0] == "car"
    assert set_by_user.ambiguous == ["fish"]


def test_a_category_is_described_in_one_line(small):
    taxonomy = small.taxonomy(["fan", "cat", "XK-21"])
    assert taxonomy.describe("fan") == "fan: fan.n.01 (makes a current of air); not 2. fan.n.02 (an ardent follower)"
    assert taxonomy.describe("cat") == "cat: cat.n.01 (a feline mammal)"
    assert taxonomy.describe("XK-21") == "XK-21: not known to WordNet"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda taxonomy: taxonomy.similarity("bass", "nobody"), "'nobody' must be one of the 7 categories"),
        (lambda taxonomy: taxonomy.sense("nobody"), "'nobody' must be one of the 7 categories"),
        (lambda taxonomy: taxonomy.closest("bass", ["nobody"]), "'nobody' must be one of the 7 categories"),
        (lambda taxonomy: taxonomy.closest("nobody"), "'nobody' must be one of the 7 categories"),
        (lambda taxonomy: taxonomy.closest("bass", k=0), "k must be a whole number >= 1, got 0"),
        (
            lambda taxonomy: taxonomy.closest("bass", measure="lin"),
            "measure must be one of 'resnik', 'path', got 'lin'",
        ),
        (
            lambda taxonomy: taxonomy.similarity("XK-21", "bass", "lin"),
            "measure must be one of 'resnik', 'path', got 'lin'",
        ),
    ],
)
def test_what_cannot_be_answered_is_one_sentence(small, ask, message):
    with pytest.raises(InvalidInput, match=f"Taxonomy: {message}"):
        ask(small.taxonomy(NAMES))


def test_names_that_are_no_texts_are_refused(small):
    with pytest.raises(InvalidInput, match="WordNet: the name of a category must be a text, got 7"):
        small.taxonomy([7])
    with pytest.raises(InvalidInput, match="Taxonomy: names must be a list of texts, got the text 'cat'"):
        small.taxonomy("cat")


# By tag counts, by the Brown texts, by path: what another reader of WordNet 3.0 gave. Its total had 1,173 tags of words that are
# no nouns of this release, which adds 0.006 to what tag counts say.
@pytest.mark.parametrize(
    ("a", "b", "tags", "brown", "path"),
    [
        ("lion", "leopard", 8.88, 9.84, 1 / 3),
        ("lion", "piano", 1.09, 1.53, 0.056),
        ("piano", "accordion", 8.77, 9.71, 1 / 3),
    ],
)
def test_similarities_in_the_real_wordnet(real, a, b, tags, brown, path):
    names = ["lion", "leopard", "piano", "accordion"]
    taxonomy = real.taxonomy(names)
    assert taxonomy.similarity(a, b) == pytest.approx(tags, abs=0.01)
    assert taxonomy.similarity(a, b, "path") == pytest.approx(path, abs=0.0005)
    if (real.folder.parent / "wordnet_ic").is_dir():
        by_brown = WordNet.open(real.folder, information_content="brown").taxonomy(names)
        assert by_brown.similarity(a, b) == pytest.approx(brown, abs=0.005)


# What the photographs of Caltech-101 show, for the names that have several senses or are no words of WordNet's.
CALTECH = """
Faces face.n.01, Faces_easy face.n.01, Leopards leopard.n.02, airplanes airplane.n.01, anchor anchor.n.01, bass bass.n.08,
beaver beaver.n.07, binocular binoculars.n.01, brain brain.n.01, butterfly butterfly.n.01, camera camera.n.01, cannon cannon.n.01,
car_side car.n.01, ceiling_fan fan.n.01, chair chair.n.01, cougar_body cougar.n.01, cougar_face cougar.n.01, crab crab.n.01,
crayfish crayfish.n.03, crocodile_head crocodile.n.01, cup cup.n.01, dalmatian dalmatian.n.02, dolphin dolphin.n.02,
elephant elephant.n.01, emu emu.n.02, ferry ferry.n.01, flamingo_head flamingo.n.01, hedgehog hedgehog.n.02,
inline_skate in-line_skate.n.01, lamp lamp.n.01, lobster lobster.n.02, lotus lotus.n.01, octopus octopus.n.02,
panda giant_panda.n.01, pyramid pyramid.n.03, revolver revolver.n.01,
scissors scissors.n.01, scorpion scorpion.n.03, sea_horse seahorse.n.02,
stop_sign signboard.n.01, strawberry strawberry.n.01, tick tick.n.02, umbrella umbrella.n.01, watch watch.n.01,
water_lilly water_lily.n.01, wild_cat wildcat.n.03, wrench wrench.n.03, yin_yang yang.n.01
"""


def test_names_of_caltech101_mean_what_the_photographs_show(real):
    expected = dict(pair.split() for pair in CALTECH.split(","))
    taxonomy = real.taxonomy(list(expected))
    assert {name: taxonomy.sense(name).name for name in expected} == expected


def test_what_the_documentation_shows_is_so(real, monkeypatch, capsys):
    monkeypatch.setenv("FEWSIGHT_WORDNET", str(real.folder))
    text = (Path(__file__).parents[3] / "docs/wordnet.md").read_text()
    names: dict[str, Any] = {}
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    exec(compile(code, "wordnet.md", "exec"), names)
    assert "1. bass.n.08 (" in capsys.readouterr().out
    taxonomy = names["taxonomy"]
    closest = [(name, round(value, 1)) for name, value in taxonomy.closest("gerenuk", k=3)]
    assert str(closest) in code
    assert str(taxonomy.unresolved) in code


def test_relatives_in_the_real_wordnet(real):
    names = [
        "gerenuk",
        "llama",
        "okapi",
        "chair",
        "windsor_chair",
        "accordion",
        "grand_piano",
        "ketch",
        "ferry",
        "schooner",
    ]
    taxonomy = real.taxonomy(names, senses={"schooner": "vessel"})
    for name, relatives in {"gerenuk": ["okapi", "llama"], "chair": ["windsor_chair"], "schooner": ["ketch"]}.items():
        assert [other for other, _ in taxonomy.closest(name, k=len(relatives))] == relatives


@pytest.mark.slow
def test_every_name_of_caltech101_has_a_place(real, caltech101):
    names = sorted(path.name for path in caltech101.iterdir() if path.name != "BACKGROUND_Google")
    assert len(names) == 101
    assert real.taxonomy(names).unresolved == []

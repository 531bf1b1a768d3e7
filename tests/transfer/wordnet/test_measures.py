"""Similarities of synsets against their definitions, on taxonomies drawn at random."""

import itertools
import math

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.transfer.wordnet import WordNet
from fewsight.transfer.wordnet.information import information_from_file, information_from_tags
from fewsight.transfer.wordnet.measures import similarities
from fewsight.transfer.wordnet.nouns import Nouns, Ragged


def drawn(seed, n=15, n_roots=1):
    """Each synset is a kind of one to three earlier ones; lemma i is the only word of synset i."""
    rng = np.random.default_rng(seed)
    kinds = [
        [] if i < n_roots else rng.choice(i, size=min(i, rng.integers(1, 4)), replace=False).tolist() for i in range(n)
    ]
    names = [f"word{i}" for i in range(n)]
    own, counts = Ragged.of([[i] for i in range(n)]), Ragged.of([[int(c)] for c in rng.integers(0, 9, n)])
    return Nouns(np.arange(n) + 100, np.full(n, 3), names, names, Ragged.of(kinds), names, own, counts, [])


def above(nouns, row):
    """All that a synset is a kind of, and itself, by definition."""
    return {row}.union(*(above(nouns, up) for up in nouns.hypernyms[row]))


def brute_information(nouns):
    own = [nouns.counts[row][0] + 1 for row in range(len(nouns))]
    met = [sum(own[low] for low in range(len(nouns)) if row in above(nouns, low)) for row in range(len(nouns))]
    return [-math.log(frequency / sum(own)) for frequency in met]


def brute_steps(nouns, a, b):
    """The shortest way from a up and down to b, by trying all that both are a kind of."""

    def up(row, target):
        return 0 if row == target else 1 + min((up(kind, target) for kind in nouns.hypernyms[row]), default=math.inf)

    return min((up(a, common) + up(b, common) for common in above(nouns, a) & above(nouns, b)), default=math.inf)


@pytest.mark.parametrize(("seed", "n_roots"), [(0, 1), (1, 1), (2, 3)])
def test_information_content_is_that_of_its_definition(seed, n_roots):
    nouns = drawn(seed, n_roots=n_roots)
    np.testing.assert_allclose(information_from_tags(nouns), brute_information(nouns), atol=1e-12)


@pytest.mark.parametrize(("seed", "n_roots"), [(0, 1), (1, 1), (2, 3)])
def test_similarities_are_those_of_their_definitions(seed, n_roots):
    nouns = drawn(seed, n_roots=n_roots)
    information = brute_information(nouns)
    rows = [3, 14, 0, 11, 11, 8, 12]
    resnik = similarities(nouns, np.array(information), rows, "resnik")
    path = similarities(nouns, np.array(information), rows, "path")
    for (i, a), (j, b) in itertools.product(enumerate(rows), repeat=2):
        common = above(nouns, a) & above(nouns, b)
        assert resnik[i, j] == pytest.approx(max((information[row] for row in common), default=0.0), abs=1e-12)
        assert path[i, j] == pytest.approx(1 / (1 + brute_steps(nouns, a, b)))


def test_what_is_below_in_two_ways_is_counted_once(small, made):
    """house_cat is a cat and a pet, and both are animals: the animals' frequency has it once."""
    animals = [entry for entry in made.entries if entry.file == 5]
    total, of_animals = (
        sum(1 + sum(entry.counts.values()) for entry in entries) for entries in (made.entries, animals)
    )
    assert small.taxonomy(["cat", "fish"]).similarity("cat", "fish") == pytest.approx(math.log(total / of_animals))


def ic_file(lines):
    return ("wnver::anything\n" + "\n".join(lines)).encode()


def test_a_file_of_information_content_is_read_and_a_synset_it_never_met_tells_nothing():
    nouns = drawn(0, n=4)
    information = information_from_file(nouns, ic_file(["100n 50 ROOT", "101n 25", "102n 10", "100v 7 ROOT"]), "ic")
    np.testing.assert_allclose(information, [0.0, math.log(2), math.log(5), 0.0])


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["100n 50"], "ic must be a file of information content with a noun as its ROOT"),
        (["100n 50 ROOT", "777n 3"], "line 3 of ic names synset 00000777, so it belongs to another WordNet"),
        (["100n many ROOT"], "line 2 of ic is not one of information content"),
        (["100n -1 ROOT"], "line 2 of ic must have a frequency >= 0, got -1"),
        (["100n nan ROOT"], "line 2 of ic must have a frequency >= 0, got nan"),
    ],
)
def test_a_file_of_something_else_is_one_sentence(lines, message):
    with pytest.raises(InvalidInput, match=message):
        information_from_file(drawn(0, n=4), ic_file(lines), "ic")


def test_a_file_of_information_content_is_found_by_path_or_name(tmp_path, made):
    folder = made.write(tmp_path / "dict")
    (tmp_path / "wordnet_ic").mkdir()
    file = tmp_path / "wordnet_ic" / "ic-mine.dat"
    file.write_bytes(ic_file(["1000n 80 ROOT", "1021n 20"]))
    for chosen in ("mine", "ic-mine.dat", file):
        taxonomy = WordNet.open(folder, information_content=chosen).taxonomy(["cat", "fish", "car"])
        assert taxonomy.similarity("cat", "fish") == pytest.approx(math.log(4))
        assert taxonomy.similarity("cat", "car") == 0.0
    with pytest.raises(
        InvalidInput, match=r"information_content must be a file, or the name of one in .*, got 'yours'"
    ):
        WordNet.open(folder, information_content="yours")

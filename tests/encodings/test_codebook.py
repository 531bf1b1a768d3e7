"""Words stand where the descriptors are, and every descriptor goes to the nearest."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.encodings import Codebook, kmeans_codebook

RNG = np.random.default_rng(0)
DESCRIPTORS = RNG.integers(0, 256, (500, 16), dtype=np.uint8)


def test_each_descriptor_goes_to_its_nearest_word():
    codebook = kmeans_codebook(DESCRIPTORS, 20, random_state=0)
    np.testing.assert_array_equal(codebook.assign(DESCRIPTORS), cdist(DESCRIPTORS, codebook.words).argmin(axis=1))


def test_the_words_find_well_separated_groups():
    centres = np.array([[0, 0], [200, 0], [0, 200]])
    rows = np.repeat(centres, 50, axis=0) + RNG.integers(0, 5, (150, 2))
    words = kmeans_codebook(rows.astype(np.uint8), 3, random_state=1).words
    assert cdist(centres + 2, words).min(axis=1).max() < 2


@pytest.mark.parametrize("n_words", [3, 4, 400])
def test_fewer_descriptors_than_words_become_the_words(n_words):
    rows = np.array([[1, 2], [3, 4], [1, 2], [5, 6]], np.uint8)
    codebook = kmeans_codebook(rows, n_words, random_state=0)
    assert codebook.n_words == 3
    assert codebook.assign(rows)[0] == codebook.assign(rows)[2]


def test_the_same_seed_gives_the_same_words_and_another_seed_does_not():
    first, again, other = (kmeans_codebook(DESCRIPTORS, 20, random_state=seed) for seed in (0, 0, 1))
    assert first.digest == again.digest != other.digest


def test_no_descriptors_and_no_words_are_refused():
    with pytest.raises(InvalidInput, match="at least one row"):
        kmeans_codebook(np.empty((0, 4), np.uint8), 3, random_state=0)
    with pytest.raises(InvalidInput, match="n_words must be a whole number >= 1"):
        kmeans_codebook(DESCRIPTORS, 0, random_state=0)


def test_a_codebook_survives_its_state_and_a_damaged_one_does_not():
    codebook = kmeans_codebook(DESCRIPTORS, 20, random_state=0)
    assert Codebook.from_state(codebook.state()).digest == codebook.digest
    with pytest.raises(InvalidInput, match=r"the stored array words must hold numbers from .* got NaN"):
        Codebook.from_state(State({}, {"words": np.full((2, 2), np.nan, np.float32)}))
    with pytest.raises(InvalidInput, match="with a row or more, got none"):
        Codebook.from_state(State({}, {"words": np.empty((0, 2), np.float32)}))


def test_a_large_codebook_is_met_in_small_blocks(monkeypatch):
    monkeypatch.setattr("fewsight.encodings.codebook.MOST_PAIRS", 30)
    rng = np.random.default_rng(0)
    words, descriptors = rng.normal(size=(9, 4)).astype(np.float32), rng.normal(size=(50, 4)).astype(np.float32)
    nearest = ((descriptors[:, None] - words) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(Codebook(words).assign(descriptors), nearest)

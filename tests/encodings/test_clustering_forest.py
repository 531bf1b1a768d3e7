"""The leaves of the forest are those of scikit-learn's trees, and what was stored is checked before it is used."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.encodings import ClusteringForest, clustering_forest
from fewsight.encodings.clustering_forest import _flattened

RNG = np.random.default_rng(0)
CLASSES = RNG.integers(0, 4, 600)
DESCRIPTORS = np.clip(RNG.integers(0, 120, (600, 24)) + 30 * CLASSES[:, None], 0, 255).astype(np.uint8)


def forest(classes=CLASSES, n_trees=4, n_leaves=25, **options):
    return clustering_forest(DESCRIPTORS, classes, n_trees=n_trees, n_leaves=n_leaves, **{"random_state": 0, **options})


def edited(grown, **arrays):
    state = grown.state()
    return State(state.header, {**state.arrays, **arrays})


def changed(column, place, value):
    column = column.copy()
    column[place] = value
    return column


def spread(words):
    """Mean squared distance of the descriptors to the middle of their leaf."""
    middles = [DESCRIPTORS[words == word].mean(axis=0) for word in words]
    return ((DESCRIPTORS - np.array(middles)) ** 2).sum(axis=1).mean()


def test_each_descriptor_reaches_the_leaf_that_scikit_learn_sends_it_to():
    trees = ExtraTreesClassifier(5, max_leaf_nodes=40, random_state=3).fit(DESCRIPTORS, CLASSES)
    words = _flattened([tree.tree_ for tree in trees.estimators_]).assign(DESCRIPTORS)
    assert words.shape == (600, 5)
    for ours, theirs in zip(words.T, trees.apply(DESCRIPTORS).T, strict=True):
        pairs = np.unique(np.stack([ours, theirs], axis=1), axis=0)
        assert len(pairs) == len(np.unique(ours)) == len(np.unique(theirs))


@pytest.mark.parametrize("classes", [CLASSES, None])
def test_each_tree_has_its_own_words_and_as_many_as_asked_for(classes):
    grown = forest(classes)
    assert (grown.n_trees, grown.n_words) == (4, 100)
    words = grown.assign(DESCRIPTORS)
    for tree in range(4):
        np.testing.assert_array_equal(np.unique(words[:, tree]), np.arange(25 * tree, 25 * tree + 25))


def test_with_classes_the_words_tell_them_apart():
    def purity(words):
        return np.mean([np.bincount(CLASSES[words == word]).max() / (words == word).sum() for word in words])

    shuffled = forest(RNG.permutation(CLASSES)).assign(DESCRIPTORS)
    assert purity(forest().assign(DESCRIPTORS)[:, 0]) > purity(shuffled[:, 0]) + 0.1


def test_without_classes_alike_descriptors_share_a_word():
    shuffled = forest(RNG.permutation(CLASSES)).assign(DESCRIPTORS)
    assert spread(forest(None).assign(DESCRIPTORS)[:, 0]) < 0.9 * spread(shuffled[:, 0])


@pytest.mark.parametrize("classes", [CLASSES, None])
def test_the_same_seed_gives_the_same_forest_whatever_the_number_of_jobs(classes):
    one, several, other = forest(classes), forest(classes, n_jobs=2), forest(classes, random_state=2**40)
    assert one.digest == several.digest != other.digest


@pytest.mark.parametrize("classes", [[0, 1, 0, 1], None])
def test_descriptors_that_are_all_equal_have_one_word_for_each_tree(classes):
    flat = np.zeros((4, 6), np.uint8)
    grown = clustering_forest(flat, classes, n_trees=3, n_leaves=10, random_state=0)
    np.testing.assert_array_equal(grown.assign(flat), [[0, 1, 2]] * 4)
    assert ClusteringForest.from_state(grown.state()).n_features == 0


def test_no_descriptors_have_no_words():
    assert forest().assign(DESCRIPTORS[:0]).shape == (0, 4)


def test_a_forest_survives_its_state():
    grown = forest()
    restored = ClusteringForest.from_state(grown.state())
    assert restored.digest == grown.digest
    np.testing.assert_array_equal(restored.assign(DESCRIPTORS), grown.assign(DESCRIPTORS))


GROWN = forest()
INNER = np.flatnonzero(GROWN.lefts >= 0)
CHAIN = np.arange(1, 501, 2, dtype=np.int32)  # every second node is a leaf
EDITS = {
    "array thresholds must hold numbers from .* got NaN": {"thresholds": changed(GROWN.thresholds, 0, np.nan)},
    "a root or more, got none": {"roots": GROWN.roots[:0]},
    "array lefts must be int32 of shape any, got int64": {"lefts": GROWN.lefts.astype(np.int64)},
    "array features must be int32 of shape 196, got": {"features": GROWN.features[:, None]},
    "array rights must be int32 of shape 196, got": {"rights": GROWN.rights[:-1]},
    "two children behind it": {"lefts": changed(GROWN.lefts, INNER[3], INNER[3])},  # would go round for ever
    "behind it, or none": {"lefts": changed(GROWN.lefts, INNER[0], -1)},
    "children behind": {"rights": changed(GROWN.rights, INNER[0], len(GROWN.lefts))},
    "a feature >= 0": {"features": changed(GROWN.features, INNER[0], -1)},
    "child of one other": {"rights": changed(GROWN.rights, INNER[0], GROWN.lefts[INNER[0]])},
    "must be a root": {"roots": GROWN.roots[:-1]},
    "at most 100 comparisons deep, got 250": {
        "roots": np.zeros(1, np.int32),
        "features": np.zeros(501, np.int32),
        "thresholds": np.zeros(501),
        "lefts": np.append(np.stack([CHAIN, np.full(250, -1)], axis=1).ravel(), -1).astype(np.int32),
        "rights": np.append(np.stack([CHAIN + 1, np.full(250, -1)], axis=1).ravel(), -1).astype(np.int32),
    },
    "at most 65,536 leaves, got 70,000": {
        "roots": np.arange(70_000, dtype=np.int32),
        "features": np.zeros(70_000, np.int32),
        "thresholds": np.zeros(70_000),
        "lefts": np.full(70_000, -1, np.int32),
        "rights": np.full(70_000, -1, np.int32),
    },
}


@pytest.mark.parametrize("sentence", EDITS)
def test_an_edited_forest_is_refused_in_one_sentence(sentence):
    with pytest.raises(InvalidInput, match=f"^(ClusteringForest: |the stored ).*{sentence}.*\\.$"):
        ClusteringForest.from_state(edited(GROWN, **EDITS[sentence]))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_trees": 0}, "n_trees must be a whole number from 1 to 1,000, got 0"),
        ({"n_leaves": 1}, "n_leaves must be a whole number from 2 to 16,384, got 1"),
        ({"n_trees": 1_000, "n_leaves": 100}, "n_leaves must be a whole number from 2 to 65, got 100"),
    ],
)
def test_bad_sizes_are_refused_in_one_sentence(options, sentence):
    with pytest.raises(InvalidInput, match=f"clustering_forest: {sentence}"):
        forest(**options)
    with pytest.raises(InvalidInput, match="at least one row"):
        clustering_forest(DESCRIPTORS[:0], None, n_trees=1, n_leaves=2, random_state=0)

"""The tree of bins that follow the data."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.encodings import VocabularyPyramid, vocabulary_pyramid

RNG = np.random.default_rng(0)


def test_the_vocabulary_kernel_weighs_each_match_by_the_smallest_bin_it_shares():
    """sum over bins of w_bin (matches in it - matches in its children), before rows are made to sum to one."""
    points = RNG.normal(size=(400, 3)).astype(np.float32)
    tree = vocabulary_pyramid(points, branching=3, n_levels=4, random_state=0)
    weights = np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes):
        weights[node] = tree.increments[node] + (weights[tree.parents[node]] if node else 0.0)
    first, second = points[:50], points[50:90]
    counts = [tree.counts(some) for some in (first, second)]
    shared = np.minimum(*counts)
    below = np.bincount(tree.parents[1:], shared[1:], minlength=tree.n_nodes)
    expected = (weights * (shared - below)).sum()
    totals = [(count * tree.increments).sum() for count in counts]
    assert (tree.increments * shared).sum() == pytest.approx(expected)
    row = np.zeros(tree.n_nodes)
    columns, values = tree.encode(first)
    row[columns] = values
    np.testing.assert_allclose(row, counts[0] * tree.increments / totals[0])


def test_every_point_is_in_one_child_of_every_bin_it_is_in():
    points = RNG.normal(size=(200, 3)).astype(np.float32)
    tree = vocabulary_pyramid(points, branching=4, n_levels=3, random_state=0)
    counts = tree.counts(points)
    assert counts[0] == 200
    inner = np.unique(tree.parents[1:])
    inside = np.bincount(tree.parents[1:], counts[1:], minlength=tree.n_nodes)
    np.testing.assert_array_equal(inside[inner], counts[inner])


def held_one_by_one(tree, points):
    """How many points each node holds: every point is compared with all children of the node it has come to."""
    counts = np.zeros(tree.n_nodes, int)
    for point in points:
        node, children = 0, [0]
        while len(children):
            node = children[np.linalg.norm(tree.words[children] - point, axis=1).argmin()]
            counts[node] += 1
            children = [child for child in range(1, tree.n_nodes) if tree.parents[child] == node]
    return counts


@pytest.mark.parametrize("reorder", [False, True])
def test_points_descend_to_the_nearest_child_in_whatever_order_the_nodes_are_stored(reorder):
    tree = vocabulary_pyramid(RNG.normal(size=(500, 3)).astype(np.float32), branching=4, n_levels=5, random_state=0)
    if reorder:  # depth first, which a file may hold as well: children are no longer side by side
        tree = depth_first(tree)
    points = RNG.normal(size=(100, 3)).astype(np.float32)
    expected = held_one_by_one(tree, points)
    np.testing.assert_array_equal(tree.counts(points), expected)
    np.testing.assert_array_equal(tree.counts(np.asfortranarray(points)), expected)


def depth_first(tree):
    paths = []
    for node, parent in enumerate(tree.parents):
        paths.append([*paths[parent], node] if node else [0])
    order = np.array(sorted(range(tree.n_nodes), key=paths.__getitem__))
    return VocabularyPyramid(tree.words[order], np.argsort(order)[tree.parents[order]], tree.increments[order])


def test_points_of_other_dimensions_than_the_tree_are_refused():
    tree = vocabulary_pyramid(RNG.normal(size=(50, 3)).astype(np.float32), branching=4, n_levels=3, random_state=0)
    with pytest.raises(InvalidInput, match="points must have 3 dimensions"):
        tree.encode(np.zeros((5, 4), np.float32))


def test_points_that_are_all_the_same_make_one_bin():
    tree = vocabulary_pyramid(np.ones((50, 3), np.float32), branching=4, n_levels=3, random_state=0)
    _, values = tree.encode(np.ones((5, 3), np.float32))
    assert values.sum() == pytest.approx(1)
    assert np.isfinite(tree.increments).all()


def test_a_tree_survives_its_state_and_a_damaged_one_does_not():
    tree = vocabulary_pyramid(RNG.normal(size=(100, 3)).astype(np.float32), branching=4, n_levels=3, random_state=0)
    assert VocabularyPyramid.from_state(tree.state()).digest == tree.digest
    state = tree.state()
    for name, wrong in (
        ("parents", tree.parents[::-1].copy()),
        ("increments", -tree.increments),
        ("words", tree.words[:2]),
    ):
        with pytest.raises(
            InvalidInput, match=r"VocabularyPyramid: every node|the stored array (increments|parents) must"
        ):
            VocabularyPyramid.from_state(State(state.header, {**state.arrays, name: wrong}))


def test_a_bin_of_equal_points_does_not_outweigh_all_others():
    """Their extent is rounding error; its inverse must not become a weight."""
    spread = RNG.normal(size=(300, 3)).astype(np.float32)
    equal = np.repeat(spread[:30], 20, axis=0)
    tree = vocabulary_pyramid(np.vstack([spread, equal]), branching=5, n_levels=5, random_state=0)
    assert tree.increments.max() <= 50

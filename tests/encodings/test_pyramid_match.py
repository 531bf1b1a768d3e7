"""The pyramid match: its definition, its Mercer property, and how near it comes to the exact matching it stands for."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from fewsight._base.errors import InvalidInput
from fewsight._base.types import LocalFeatures, State
from fewsight.encodings import Projection, UniformPyramid, VocabularyPyramid, principal_components, vocabulary_pyramid
from fewsight.kernels import HistogramIntersection

RNG = np.random.default_rng(0)


def rows_of(pyramid, sets, width):
    rows = np.zeros((len(sets), width))
    for row, points in zip(rows, sets, strict=True):
        columns, values = pyramid.encode(points)
        row[columns] = values
    return rows


def matches_at(first, second, side, shifts):
    """Number of points that share a bin, counted one by one: the intersection of two multi-sets."""
    bins = [[tuple(point) for point in np.floor((points + shifts) / side)] for points in (first, second)]
    return sum(min(bins[0].count(key), bins[1].count(key)) for key in set(bins[0]))


def test_the_uniform_kernel_is_the_weighted_number_of_new_matches():
    """sum_i w_i (I_i - I_(i-1)) with w_i = finest / side_i [Kapoor2010, section 5], written as it stands."""
    pyramid = UniformPyramid(finest=0.5, n_levels=4, n_columns=2**20)
    first, second = (RNG.normal(size=(40, 3)).astype(np.float32) for _ in range(2))
    shifts, _ = pyramid._random(3)
    expected, before = 0.0, 0
    for side, weight in zip(pyramid.sides, pyramid.weights, strict=True):
        matches = matches_at(first, second, side, shifts)
        expected += weight * (matches - before)
        before = matches
    rows = rows_of(pyramid, [first, second], pyramid.n_columns)
    assert np.minimum(*rows).sum() == pytest.approx(expected / 40)


@pytest.mark.parametrize("n_levels", [1, 3, 6])
def test_uniform_rows_sum_to_one_and_weights_fall_with_the_size_of_the_bins(n_levels):
    pyramid = UniformPyramid(finest=1.0, n_levels=n_levels)
    _, values = pyramid.encode(RNG.normal(size=(25, 12)).astype(np.float32))
    assert values.sum() == pytest.approx(1)
    assert (np.diff(pyramid.weights) < 0).all()
    assert (pyramid.increments >= 0).all()


def sets_around(offsets, n_points, rng):
    """Sets of points at growing distance from the first set."""
    base = rng.normal(size=(n_points, 3))
    return [(base + offset * rng.normal(size=base.shape)).astype(np.float32) for offset in offsets]


def matching_cost(first, second):
    distances = cdist(first, second)
    return distances[linear_sum_assignment(distances)].sum()


@pytest.mark.parametrize("kind", ["uniform", "vocabulary"])
def test_near_the_exact_matching_on_small_sets(kind):
    """The kernel orders sets as the optimal matching does, whose cost it approximates; means over ten draws."""
    similarities, costs = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        sets = sets_around([0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2], 30, rng)
        if kind == "uniform":
            pyramid = UniformPyramid(finest=0.25, n_levels=6, random_state=seed)
        else:
            train = np.concatenate(sets_around([0.0, 0.5, 1.0, 2.0], 300, rng))
            pyramid = vocabulary_pyramid(train, branching=5, n_levels=5, random_state=seed)
        rows = rows_of(pyramid, sets, _width(pyramid))
        similarities.append([np.minimum(rows[0], row).sum() for row in rows])
        costs.append([matching_cost(sets[0], other) for other in sets])
    similarity, cost = np.mean(similarities, axis=0), np.mean(costs, axis=0)
    assert np.argsort(-similarity).tolist() == np.argsort(cost).tolist()
    assert np.corrcoef(similarity, 1 / (1 + cost))[0, 1] > 0.8


def _width(pyramid):
    return pyramid.n_columns if isinstance(pyramid, UniformPyramid) else pyramid.n_nodes


@pytest.mark.parametrize("kind", ["uniform", "vocabulary"])
def test_the_gram_matrix_is_positive_semi_definite(kind):
    sets = [RNG.normal(size=(RNG.integers(1, 60), 4)).astype(np.float32) for _ in range(30)]
    pyramid = (
        UniformPyramid(finest=0.5, n_levels=5, n_columns=2**14)
        if kind == "uniform"
        else vocabulary_pyramid(np.concatenate(sets), branching=4, n_levels=4, random_state=0)
    )
    K = HistogramIntersection().gram(rows_of(pyramid, sets, _width(pyramid)))
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(np.diag(K), 1)


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
    rows = rows_of(tree, [first, second], tree.n_nodes)
    np.testing.assert_allclose(rows[0], counts[0] * tree.increments / totals[0])


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


@pytest.mark.parametrize(
    "pyramid",
    [UniformPyramid(), vocabulary_pyramid(np.eye(3, dtype=np.float32), branching=2, n_levels=3, random_state=0)],
)
def test_an_image_without_points_has_an_empty_row(pyramid):
    columns, values = pyramid.encode(np.empty((0, 3), np.float32))
    assert len(columns) == len(values) == 0


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
        with pytest.raises(InvalidInput, match="VocabularyPyramid"):
            VocabularyPyramid.from_state(State(state.header, {**state.arrays, name: wrong}))


def test_components_have_unit_variance_and_lose_least():
    rows = RNG.normal(size=(500, 6)) * [10, 5, 3, 1, 0.1, 0.0]
    features = LocalFeatures(rows, RNG.random((500, 2), dtype=np.float32))
    projection = principal_components(rows, 3, position=4.0)
    points = projection.points(features)
    np.testing.assert_allclose(points[:, :3].var(axis=0), 1, rtol=1e-3)
    np.testing.assert_allclose(np.abs(np.corrcoef(points[:, 0], rows[:, 0])[0, 1]), 1, atol=0.01)
    np.testing.assert_allclose(points[:, 3:], (features.locations - 0.5) * 4, atol=1e-6)
    assert principal_components(rows, 3, position=0.0).points(features).shape == (500, 3)
    assert not principal_components(rows, 6, position=0.0).points(features)[:, 5].any()


def test_a_projection_survives_its_state_and_a_damaged_one_does_not():
    projection = principal_components(RNG.normal(size=(50, 4)), 2, position=1.0)
    assert Projection.from_state(projection.state()).digest == projection.digest
    state = projection.state()
    with pytest.raises(InvalidInput, match="Projection"):
        Projection.from_state(State(state.header, {**state.arrays, "mean": np.zeros(7, np.float32)}))


def test_a_bin_of_equal_points_does_not_outweigh_all_others():
    """Their extent is rounding error; its inverse must not become a weight."""
    spread = RNG.normal(size=(300, 3)).astype(np.float32)
    equal = np.repeat(spread[:30], 20, axis=0)
    tree = vocabulary_pyramid(np.vstack([spread, equal]), branching=5, n_levels=5, random_state=0)
    assert tree.increments.max() <= 50

"""The pyramid match: its definition, its Mercer property, and how near it comes to the exact matching it stands for."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from fewsight.encodings import UniformPyramid, vocabulary_pyramid
from fewsight.kernels import HistogramIntersection, PartialMatch

RNG = np.random.default_rng(0)


def rows_of(pyramid, sets, width, encode=None):
    rows = np.zeros((len(sets), width))
    for row, points in zip(rows, sets, strict=True):
        columns, values = (encode or pyramid.encode)(points)
        row[columns] = values
    return rows


def counts_of(pyramid, sets):
    counted = pyramid.counts if isinstance(pyramid, UniformPyramid) else pyramid.weighted_counts
    return rows_of(pyramid, sets, _width(pyramid), counted)


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    "pyramid",
    [UniformPyramid(), vocabulary_pyramid(np.eye(3, dtype=np.float32), branching=2, n_levels=3, random_state=0)],
)
def test_an_image_without_points_has_an_empty_row(pyramid):
    columns, values = pyramid.encode(np.empty((0, 3), np.float32))
    assert len(columns) == len(values) == 0


def with_clutter(base, offset, n_clutter, rng):
    """The same points, each a little elsewhere, among others that are anywhere."""
    moved = base + offset * rng.normal(size=base.shape)
    return np.vstack([moved, rng.uniform(-6, 6, size=(n_clutter, 3))]).astype(np.float32)


@pytest.mark.parametrize("kind", ["uniform", "vocabulary"])
def test_the_same_object_among_clutter_keeps_its_count(kind):
    """Thirty points, and the same thirty moved a little with ninety others: the paper's count hardly falls."""
    shares = {"count": [], "self": [], "size": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        base = rng.normal(size=(30, 3))
        sets = [base.astype(np.float32), with_clutter(base, 0.02, 90, rng)]
        pyramid = UniformPyramid(finest=0.25, n_levels=6, random_state=seed)
        if kind == "vocabulary":
            pyramid = vocabulary_pyramid(np.concatenate(sets), branching=4, n_levels=4, random_state=seed)
        counts = counts_of(pyramid, sets)
        shares["count"].append(np.minimum(*counts).sum() / counts[0].sum())
        shares["self"].append(PartialMatch().gram(counts)[0, 1])
        shares["size"].append(np.minimum(*rows_of(pyramid, sets, _width(pyramid))).sum())
    means = {name: float(np.mean(found)) for name, found in shares.items()}
    assert means["count"] >= 0.8
    assert means["count"] > means["self"] > means["size"]
    assert means["size"] < 0.5


@pytest.mark.slow
def test_the_count_orders_sets_of_unequal_size_as_the_exact_partial_match_does():
    """Every point of the smaller set finds its partner; how much clutter the larger has says nothing. Means over ten draws."""
    plan = [
        (0.0, 90),
        (0.1, 10),
        (0.3, 60),
        (0.6, 0),
        (1.2, 90),
        (2.4, 30),
    ]  # how far points are moved, how much clutter
    count, size, cost = ([] for _ in range(3))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        base = rng.normal(size=(30, 3))
        sets = [base.astype(np.float32), *(with_clutter(base, *each, rng) for each in plan)]
        pyramid = UniformPyramid(finest=0.25, n_levels=6, random_state=seed)
        counts, rows = counts_of(pyramid, sets), rows_of(pyramid, sets, pyramid.n_columns)
        count.append([np.minimum(counts[0], row).sum() for row in counts[1:]])
        size.append([np.minimum(rows[0], row).sum() for row in rows[1:]])
        cost.append([matching_cost(sets[0], other) for other in sets[1:]])
    exact = np.argsort(np.mean(cost, axis=0)).tolist()
    assert np.argsort(-np.mean(count, axis=0)).tolist() == exact
    assert np.argsort(-np.mean(size, axis=0)).tolist() != exact


@pytest.mark.parametrize("kind", ["uniform", "vocabulary"])
def test_divided_by_self_similarities_it_is_a_kernel_and_its_diagonal_is_one(kind):
    sets = [RNG.normal(size=(RNG.integers(1, 60), 4)).astype(np.float32) for _ in range(30)]
    pyramid = UniformPyramid(finest=0.5, n_levels=5, n_columns=2**14)
    if kind == "vocabulary":
        pyramid = vocabulary_pyramid(np.concatenate(sets), branching=4, n_levels=4, random_state=0)
    counts = counts_of(pyramid, sets)
    K = PartialMatch().gram(counts)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(np.diag(K), 1)
    np.testing.assert_allclose(PartialMatch().diag(counts), 1)
    expected = np.minimum(counts[:, None], counts[None]).sum(-1) / np.sqrt(np.outer(counts.sum(1), counts.sum(1)))
    np.testing.assert_allclose(K, expected, atol=1e-12)


def test_divided_by_the_smaller_set_it_is_no_kernel():
    """Why there is no such choice: two sets without anything in common, and both in a third one."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    sizes = rows.sum(axis=1)
    K = HistogramIntersection().gram(rows) / np.minimum.outer(sizes, sizes)
    assert np.linalg.eigvalsh(K).min() < -0.4

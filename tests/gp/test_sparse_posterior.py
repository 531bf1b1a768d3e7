"""The sparse posterior against the exact one, against brute force, and from a file."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.gp import FeatureSums, InducingPoints, Posterior, SparsePosterior
from fewsight.kernels import RBF

N, M, C = 60, 12, 3
KERNEL = RBF(scale=1.5)
OWN, OTHERS, NOISE = np.array([1.4, 1.0, 0.7]), np.array([0.9, 1.0, 1.2]), 0.3


class Problem:
    """Rows of three classes and of none, of which the first m are inducing points."""

    def __init__(self, m=M, n=N):
        rng = np.random.default_rng(m)
        self.X, self.X_test = rng.normal(size=(n, 3)), rng.normal(size=(7, 3))
        self.classes = rng.integers(-1, C, n)
        self.points = InducingPoints.of(KERNEL.gram(self.X[:m]))
        self.features = self.points.features(KERNEL.gram(self.X, self.X[:m]))
        self.test_features = self.points.features(KERNEL.gram(self.X_test, self.X[:m]))
        self.targets = np.where(self.classes[:, None] == np.arange(C), OWN, -OTHERS)

    def sums(self, rows=slice(None)):
        made = FeatureSums.empty(len(self.points), C)
        made.add(self.features[rows], self.classes[rows])
        return made

    def posterior(self, rows=slice(None)):
        return SparsePosterior.condition(self.sums(rows), NOISE, OWN, OTHERS)


@pytest.fixture
def problem():
    return Problem()


def test_with_every_example_as_inducing_point_it_is_the_exact_posterior():
    problem = Problem(m=40, n=40)
    exact = Posterior.condition(KERNEL.gram(problem.X), problem.targets, NOISE)
    K_test, groups = KERNEL.gram(problem.X_test, problem.X), np.arange(40) % 11
    sparse, ones = problem.posterior(), np.ones(40)
    np.testing.assert_allclose(sparse.mean(problem.test_features), exact.mean(K_test), atol=1e-6)
    np.testing.assert_allclose(
        sparse.variance(problem.test_features, ones[:7]), exact.variance(K_test, ones[:7]), atol=1e-6
    )
    left_out = sparse.leave_group_out(problem.features, problem.classes, groups, ones)
    expected = exact.leave_group_out(groups)
    np.testing.assert_allclose(left_out.mean, expected.mean, atol=1e-6)
    np.testing.assert_allclose(left_out.variance, expected.variance, atol=1e-6)


def test_mean_and_variance_are_those_of_the_gaussian_with_the_projected_covariance(problem):
    """The definition, by n x n matrices: covariances Q = Phi Phi^T, and what Q misses of each test point's own variance."""
    Q = problem.features @ problem.features.T
    inverse = np.linalg.inv(Q + NOISE * np.eye(N))
    q_test, sparse = problem.test_features @ problem.features.T, problem.posterior()
    np.testing.assert_allclose(sparse.mean(problem.test_features), q_test @ inverse @ problem.targets, atol=1e-9)
    expected = 1.0 - np.diag(q_test @ inverse @ q_test.T)
    np.testing.assert_allclose(sparse.variance(problem.test_features, np.ones(7)), expected, atol=1e-9)


def test_leaving_groups_out_equals_counting_without_them(problem):
    chosen, groups = np.arange(0, N, 2), np.arange(N // 2) % 4
    found = problem.posterior().leave_group_out(
        problem.features[chosen], problem.classes[chosen], groups, np.ones(len(chosen))
    )
    for group in range(4):
        members = chosen[groups == group]
        without = problem.posterior(np.setdiff1d(np.arange(N), members))
        np.testing.assert_allclose(found.mean[groups == group], without.mean(problem.features[members]), atol=1e-9)
        variance = without.variance(problem.features[members], np.ones(len(members))) + NOISE
        np.testing.assert_allclose(found.variance[groups == group], variance, atol=1e-9)


def test_examples_may_come_in_any_number_of_pieces_and_classes_later(problem):
    late = problem.classes == C - 1
    pieces = FeatureSums.empty(M, C - 1)
    for rows in np.array_split(np.flatnonzero(~late), 5):
        pieces.add(problem.features[rows], problem.classes[rows])
    pieces = pieces.with_classes(1)
    pieces.add(problem.features[late], problem.classes[late])
    whole = problem.sums()
    np.testing.assert_allclose(np.tril(pieces.products), np.tril(whole.products), atol=1e-10)
    np.testing.assert_allclose(pieces.sums, whole.sums, atol=1e-10)
    np.testing.assert_array_equal(pieces.counts, whole.counts)


def test_a_copy_with_more_classes_leaves_the_first_alone(problem):
    first = problem.sums()
    before = first.products.copy()
    first.with_classes(1).add(problem.features, np.full(N, C))
    np.testing.assert_array_equal(first.products, before)


def test_points_and_sums_come_back_from_their_state(problem):
    points = InducingPoints.from_state(problem.points.state())
    sums = FeatureSums.from_state(problem.sums().state(), M, C)
    again = SparsePosterior.condition(sums, NOISE, OWN, OTHERS)
    K_test = KERNEL.gram(problem.X_test, problem.X[:M])
    np.testing.assert_array_equal(points.features(K_test), problem.test_features)
    np.testing.assert_array_equal(again.weights, problem.posterior().weights)


@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("products", -np.ones(M * (M + 1) // 2), "the diagonal of the stored products must be >= 0"),
        ("products", np.ones(3), "must be float64 of shape 78"),
        ("counts", np.full(C + 1, -1), "counts must hold numbers from 0"),
        ("sums", np.full((M, C + 1), np.nan), "sums must hold numbers"),
    ],
)
def test_edited_sums_are_refused_in_one_sentence(problem, name, wrong, said):
    state = problem.sums().state()
    with pytest.raises(InvalidInput, match=said):
        FeatureSums.from_state(State(state.header, {**state.arrays, name: wrong}), M, C)


def test_an_edited_factor_is_refused():
    with pytest.raises(InvalidInput, match="diagonal of the stored factor must be"):
        InducingPoints.from_state(State({"m": 2}, {"factor": np.array([1.0, 0.0, 0.0])}))


def test_targets_must_be_given_for_every_class(problem):
    with pytest.raises(InvalidInput, match="own and others must have one entry per class, 3, got"):
        SparsePosterior.condition(problem.sums(), NOISE, OWN[:2], OTHERS)

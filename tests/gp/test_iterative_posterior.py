"""The posterior by conjugate gradients is that of dense algebra, for any operator that multiplies and compares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight._base.types import Array, State
from fewsight.gp import IterativePosterior, LowRank, SolverOptions, iterative_posterior, left_out_means
from fewsight.gp.iterative_posterior import choose_low_rank, pays, targets_of_columns

RNG = np.random.default_rng(4)
N, M, CLASSES = 60, 9, np.arange(60) % 3
X, NEW = RNG.random((N, 7)), RNG.random((M, 7))
EXACT = SolverOptions(1e-12, 1_000, None)
NOISES = {"shared": np.full((N, 1), 0.3), "own": RNG.uniform(0.1, 2.0, (N, 3))}


@dataclass(frozen=True)
class GaussianOperator:
    """Rows compared by exp(-|x - z|^2); its table rounds to a number of places, which stands for any approximation."""

    X: Array

    @property
    def n(self) -> int:
        return len(self.X)

    @property
    def n_numbers(self) -> int:
        return self.n**2

    def _compared(self, A: Array) -> Array:
        return np.exp(-((A[:, None] - self.X[None]) ** 2).sum(axis=2))

    def __matmul__(self, V: Array) -> Array:
        return self._compared(self.X) @ V

    def diag(self) -> Array:
        return np.ones(self.n)

    def diag_of(self, X: Array) -> Array:
        return np.ones(len(X))

    def columns(self, indices: Array) -> Array:
        return self._compared(self.X)[:, indices]

    def cross(self, X: Array) -> Array:
        return self._compared(X).T

    def product(self, X: Array, V: Array) -> Array:
        return self._compared(X) @ V

    def table(self, V: Array, bins: int | None) -> Rounded:
        return Rounded(self, V, bins)


@dataclass(frozen=True)
class Rounded:
    operator: GaussianOperator
    V: Array
    places: int | None

    def product(self, X: Array) -> Array:
        exact = self.operator.product(X, self.V)
        return exact if self.places is None else exact.round(self.places)


OPERATOR = GaussianOperator(X)
K, K_NEW = OPERATOR @ np.eye(N), OPERATOR.cross(NEW)


def dense(noise: Array, column: int, kept: Array, K_new: Array) -> tuple[Array, Array]:
    """Latent means and variances, in units of K, of new examples in one problem, by an inverse."""
    A = np.linalg.inv(K[np.ix_(kept, kept)] + np.diag(noise[kept, column if noise.shape[1] > 1 else 0]))
    y = np.where(CLASSES[kept] == column, 1.0, -1.0)
    mean = A.sum(axis=0) @ y / A.sum()
    k = K_new[kept]
    variance = 1.0 - np.einsum("ij,ik,kj->j", k, A, k) + (1 - A.sum(axis=0) @ k) ** 2 / A.sum()
    return mean + k.T @ A @ (y - mean), variance


def conditioned(noise: Array, options: SolverOptions = EXACT) -> IterativePosterior[GaussianOperator]:
    return IterativePosterior.condition(OPERATOR, CLASSES, 3, noise, options)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_means_and_variances_are_those_of_an_inverse(noise):
    posterior = conditioned(noise)
    means, variances = zip(*(dense(noise, c, np.arange(N), K_NEW) for c in range(3)), strict=True)
    np.testing.assert_allclose(posterior.mean(NEW), np.transpose(means), atol=1e-9)
    np.testing.assert_allclose(posterior.exact_mean(NEW), np.transpose(means), atol=1e-9)
    np.testing.assert_allclose(posterior.variance(NEW), posterior.scale * np.transpose(variances), rtol=1e-6)
    np.testing.assert_array_equal(posterior.prior_variance(NEW), posterior.scale)
    assert posterior.converged
    assert posterior.residual <= 1e-12


def test_the_scale_is_the_one_that_the_evidence_likes_best():
    posterior = conditioned(NOISES["shared"])
    targets = targets_of_columns(CLASSES, 3)
    misfit = np.einsum("ij,ij->", posterior.dual_weights, targets)

    def log_evidence(scale):  # of Gaussian targets of covariance scale * A, up to a constant
        return -0.5 * (misfit / scale + 3 * (N - 1) * np.log(scale))

    assert log_evidence(posterior.scale) >= max(log_evidence(factor * posterior.scale) for factor in (0.99, 1.01))


def test_two_classes_share_one_system():
    two = (CLASSES > 0).astype(np.intp)
    posterior = IterativePosterior.condition(OPERATOR, two, 2, NOISES["shared"], EXACT)
    A = np.linalg.inv(K + 0.3 * np.eye(N))
    y = np.where(two == 1, 1.0, -1.0)
    mean = A.sum(axis=0) @ y / A.sum()
    assert posterior.dual_weights.shape == (N, 1)
    np.testing.assert_allclose(posterior.mean(NEW)[:, 1], mean + K_NEW.T @ A @ (y - mean), atol=1e-9)
    np.testing.assert_array_equal(posterior.mean(NEW)[:, 0], -posterior.mean(NEW)[:, 1])
    assert posterior.variance(NEW).shape == (M, 2)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_examples_that_are_left_out_are_predicted_as_if_they_had_never_been_there(noise):
    fold = np.array([3, 4, 20, 41])
    kept = np.delete(np.arange(N), fold)
    expected = np.transpose([dense(noise, c, kept, K[:, fold])[0] for c in range(3)])
    np.testing.assert_allclose(conditioned(noise).left_out(fold), expected, atol=5e-3)  # solved to 1e-3
    np.testing.assert_allclose(left_out_means(OPERATOR, CLASSES, 3, noise, fold, EXACT), expected, atol=5e-3)


def test_products_for_the_mean_come_from_the_table_that_the_options_ask_for():
    exact, rounded = conditioned(NOISES["shared"]), conditioned(NOISES["shared"], replace(EXACT, bins=2))
    apart = np.abs(rounded.mean(NEW) - rounded.exact_mean(NEW))
    assert 0 < apart.max() <= 0.005
    np.testing.assert_allclose(rounded.exact_mean(NEW), exact.mean(NEW), rtol=1e-12)


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_more_examples_are_learned_from_where_training_stood(noise):
    options, few = SolverOptions(1e-6, 1_000, None), slice(0, 57)
    old = IterativePosterior.condition(GaussianOperator(X[few]), CLASSES[few], 3, noise[few], options)
    cold = conditioned(noise, options)
    warm = IterativePosterior.condition(OPERATOR, CLASSES, 3, noise, options, old)
    assert warm.iterations < cold.iterations
    np.testing.assert_allclose(warm.mean(NEW), cold.mean(NEW), atol=1e-4)


@pytest.mark.parametrize("n_classes", [2, 3])  # two share a column, which three do not
@pytest.mark.parametrize("noises", [1, None], ids=["shared", "per class"])
def test_a_new_class_is_learned_from_where_training_stood(n_classes, noises):
    options, few = SolverOptions(1e-2, 1_000, None), slice(0, 57)
    known = CLASSES % n_classes
    more = np.where(np.arange(N) >= 57, n_classes, known)
    before = np.full((57, noises or (1 if n_classes == 2 else n_classes)), 0.1)
    after = np.full((N, noises or n_classes + 1), 0.1)
    old = IterativePosterior.condition(GaussianOperator(X[few]), known[few], n_classes, before, options)
    multiplied = []

    class Counted(GaussianOperator):
        def __matmul__(self, V):
            multiplied[-1] += 1 if V.ndim == 1 else V.shape[1]
            return super().__matmul__(V)

    found = []
    for start in (old, None):
        multiplied.append(0)
        found.append(IterativePosterior.condition(Counted(X), more, n_classes + 1, after, options, start).mean(NEW))
    assert multiplied[0] < multiplied[1]  # columns of K V: those of known classes are done sooner
    np.testing.assert_allclose(*found, atol=0.05)


def test_a_rare_class_is_solved_to_the_tolerance_of_what_there_is_to_learn():
    rare, noise = np.where(np.arange(N) < 2, 1, 0), NOISES["shared"]
    found, exact = (
        IterativePosterior.condition(OPERATOR, rare, 2, noise, SolverOptions(tolerance, 1_000, None)).mean(NEW)
        for tolerance in (1e-2, 1e-12)
    )
    assert np.abs(found - exact).max() < 0.05 * exact[:, 1].std()


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_a_preconditioner_changes_the_number_of_iterations_only(noise):
    options = SolverOptions(1e-10, 1_000, None, rank=20)
    plain, helped = conditioned(0.01 * noise), conditioned(0.01 * noise, options)
    assert helped.iterations < 0.7 * plain.iterations
    np.testing.assert_allclose(helped.mean(NEW), plain.mean(NEW), atol=1e-6)
    np.testing.assert_allclose(helped.variance(NEW), plain.variance(NEW), rtol=1e-3)
    fold = np.arange(5)
    np.testing.assert_allclose(helped.left_out(fold), plain.left_out(fold), atol=1e-2)


def test_a_low_rank_grows_with_a_few_examples_and_is_dropped_with_many():
    low_rank = LowRank.of(OPERATOR, 10)
    assert low_rank.grown(np.ones(N)).L.shape == (N, 10)
    grown = low_rank.grown(np.ones(N + 15))
    np.testing.assert_array_equal(grown.L[N:], 0)
    np.testing.assert_array_equal(grown.left[N:], 1)
    assert low_rank.grown(np.ones(N + 16)) is None


def test_it_pays_with_many_systems_of_many_iterations_and_products_that_read_many_numbers_only():
    assert pays(3_000, 6_000_000, 40, 700)
    assert not pays(3_000, 6_000_000, 40, 14)
    assert not pays(3_000, 6_000_000, 2, 100)
    assert not pays(3_000, 300_000, 40, 700)


def test_left_to_itself_a_preconditioner_is_used_where_it_pays(monkeypatch):
    monkeypatch.setattr(iterative_posterior, "RANK", 20)

    def chosen(operator, noise):
        target, noises = targets_of_columns(CLASSES, 3)[:, :1], np.full((N, 1), noise)
        return choose_low_rank(operator, target, noises, SolverOptions(1e-6, 1_000, None, "auto"), 400)

    found = chosen(Costly(X), 1e-3)
    assert found is not None
    assert found.L.shape == (N, 20)
    assert chosen(Costly(X), 1e6) is None  # an iteration or two: not worth it
    assert chosen(OPERATOR, 1e-3) is None  # iterations that cost nearly nothing


class Costly(GaussianOperator):
    """As if each row had thousands of numbers."""

    @property
    def n_numbers(self) -> int:
        return 10**6


@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES)
def test_its_state_brings_it_back(noise):
    posterior = conditioned(noise)
    again = IterativePosterior.from_state(posterior.state(), OPERATOR, 3, EXACT)
    np.testing.assert_array_equal(again.mean(NEW), posterior.mean(NEW))
    np.testing.assert_array_equal(again.variance(NEW), posterior.variance(NEW))
    assert (again.iterations, again.residual, again.converged) == (
        posterior.iterations,
        posterior.residual,
        posterior.converged,
    )


@pytest.mark.parametrize(
    ("name", "wrong", "sentence"),
    [
        ("dual", np.ones((N, 2)), "array dual must be float64 of shape 60 x 3, got float64 of shape 60 x 2"),
        ("ones", np.ones((N, 2)), "array ones must be float64 of shape 60 x 1, got float64 of shape 60 x 2"),
        ("means", np.ones(2), "array means must be float64 of shape 3, got float64 of shape 2"),
        ("example_classes", np.full(N, 3), "array example_classes must hold numbers from -1 to 2, got 3 to 3"),
        ("example_classes", np.zeros(N), "array example_classes must be whole numbers of shape 60, got float64"),
        ("noise", np.zeros((N, 1)), "array noise must hold numbers above 0"),
    ],
)
def test_a_state_that_was_edited_is_refused_in_one_sentence(name, wrong, sentence):
    state = conditioned(NOISES["shared"]).state()
    with pytest.raises(FewsightError, match=sentence):
        IterativePosterior.from_state(State(state.header, {**state.arrays, name: wrong}), OPERATOR, 3, EXACT)

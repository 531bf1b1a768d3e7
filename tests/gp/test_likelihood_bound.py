"""The bounds are bounds, and slopes are slopes."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.gp import (
    DenseOperator,
    bound_from_ritz,
    deflated_bound,
    evidence_slopes,
    largest_eigenvalues,
    learn_relevance,
    likelihood_bound,
    log_determinant_bound,
    log_evidence_and_gradients,
    minimise,
    squares_from_below,
)
from fewsight.kernels import HistogramIntersection, HistogramOperator

RNG = np.random.default_rng(0)


def spectra():
    """Positive definite matrices with all kinds of eigenvalues."""
    for values in (RNG.random(40) + 0.1, np.geomspace(1e-3, 1e3, 30), np.r_[50.0, np.ones(20)], np.ones(10), [3.0]):
        Q = np.linalg.qr(RNG.standard_normal((len(values), len(values))))[0]
        yield (Q * values) @ Q.T, np.sort(values)[::-1]


@pytest.mark.parametrize(("A", "values"), list(spectra()), ids=["flat", "wide", "spiked", "alike", "one"])
def test_theorem_1_any_smaller_squares_keep_the_bound(A, values):
    true, n, trace = np.log(values).sum(), len(values), values.sum()
    tight = log_determinant_bound(n, trace, (values**2).sum(), values[0])
    assert tight >= true - 1e-9
    for share in (0.9, 0.5, 0.1):  # [Rodner2012, Theorem 1]
        assert log_determinant_bound(n, trace, share * (values**2).sum(), values[0]) >= tight - 1e-9
    for factor in (1.01, 2.0):
        assert log_determinant_bound(n, trace, (values**2).sum(), factor * values[0]) >= true - 1e-9


def test_the_bound_is_tight_for_a_spike_over_a_floor():
    values = np.r_[50.0, np.ones(20)]
    found = log_determinant_bound(21, values.sum(), (values**2).sum(), 50.0)
    assert found == pytest.approx(np.log(values).sum())


def test_a_largest_eigenvalue_that_is_too_low_breaks_it():
    values = np.r_[50.0, np.ones(20)]
    low = log_determinant_bound(21, values.sum(), (values**2).sum(), 0.99 * values[0])
    assert low < np.log(values).sum()  # which is why Lanczos is taken with its residual


@pytest.mark.parametrize(("A", "values"), list(spectra()), ids=["flat", "wide", "spiked", "alike", "one"])
@pytest.mark.parametrize("count", [1, 5])
def test_bounds_from_lanczos_hold_and_the_squares_stay_below(A, values, count):
    ritz = largest_eigenvalues(DenseOperator(A), count)
    n = len(A)
    assert squares_from_below(ritz.values, np.trace(A), n) <= (values**2).sum() * (1 + 1e-12)
    for bound in (bound_from_ritz, deflated_bound):
        assert bound(ritz, float(np.trace(A)), n) >= np.log(values).sum() - 1e-8


def test_a_mean_above_the_largest_gets_one_sentence():
    with pytest.raises(FewsightError, match="largest must be at least the mean eigenvalue"):
        log_determinant_bound(3, 6.0, 12.0, 1.0)


X = RNG.dirichlet(np.full(12, 0.4), 60)
K = HistogramIntersection().gram(X)
Y = np.where(RNG.random((60, 3)) < 0.4, 1.0, -1.0)


@pytest.mark.parametrize("noise", [0.2, np.linspace(0.1, 1.0, 60), RNG.uniform(0.1, 2.0, (60, 3))])
@pytest.mark.parametrize("bound", ["bai_golub", "deflated", "tightest"])
@pytest.mark.parametrize("free", [False, True])
def test_the_likelihood_bound_is_above_the_negative_log_likelihood(noise, bound, free):
    columns = np.broadcast_to(np.atleast_2d(np.asarray(noise).T).T, (60, 3))
    parts = [
        log_evidence_and_gradients([K], np.ones(1), Y[:, [c]], columns[:, c], free_mean=free).value for c in range(3)
    ]
    found = likelihood_bound(DenseOperator(K), Y, noise, bound=bound, free_mean=free, tolerance=1e-10)
    assert found.value >= -sum(parts)
    assert found.value <= -sum(parts) + 60 * 3
    if np.ndim(noise) < 2:
        scaled = log_evidence_and_gradients([K], np.ones(1), Y, columns[:, 0], free_mean=free, any_scale=True).value
        any_scale = likelihood_bound(DenseOperator(K), Y, noise, bound=bound, free_mean=free, any_scale=True)
        assert any_scale.value >= -scaled


def test_the_bound_with_all_eigenvalues_is_the_likelihood():
    exact = log_evidence_and_gradients([K], np.ones(1), Y, 0.3).value
    found = likelihood_bound(DenseOperator(K), Y, 0.3, n_eigenvalues=60, bound="deflated", tolerance=1e-12)
    assert found.value == pytest.approx(-exact, rel=1e-9)


def test_nelder_mead_finds_the_least_value_of_positive_parameters():
    found = minimise(lambda p: float(((np.log(p) - [0.5, -2.0]) ** 2).sum()), np.array([1.0, 1.0]), tolerance=1e-4)
    np.testing.assert_allclose(found.parameters, np.exp([0.5, -2.0]), rtol=1e-2)


def test_slopes_are_those_of_the_evidence():
    operator = HistogramOperator.from_rows(X, weights=RNG.uniform(0.5, 2.0, 12))
    grams = [np.minimum(X[:, None, d], X[None, :, d]) for d in range(12)]
    exact = log_evidence_and_gradients(grams, operator.weights, Y, 0.3, free_mean=True)
    found = evidence_slopes(operator, Y, 0.3)
    np.testing.assert_allclose(found.d_weights, exact.d_weights, rtol=1e-8)
    assert found.d_noise == pytest.approx(exact.d_noise.sum(), rel=1e-8)


def test_estimated_slopes_are_near_the_exact_ones(monkeypatch):
    operator = HistogramOperator.from_rows(X)
    exact = evidence_slopes(operator, Y, 0.3)
    monkeypatch.setattr("fewsight.gp.relevance_slopes.MOST_EXACT", 10)
    estimated = evidence_slopes(operator, Y, 0.3, probes=2000, tolerance=1e-6)
    np.testing.assert_allclose(estimated.explained, exact.explained, rtol=1e-4)
    np.testing.assert_allclose(estimated.expected, exact.expected, rtol=0.1)
    np.testing.assert_allclose(estimated.own_explained, exact.own_explained, rtol=1e-4)
    np.testing.assert_allclose(estimated.own_expected, exact.own_expected, rtol=0.1)


def test_own_parts_of_slopes_and_the_scale_are_those_of_the_dense_matrices():
    operator = HistogramOperator.from_rows(X, weights=RNG.uniform(0.5, 2.0, 12))
    grams = np.minimum(X[:, None], X[None])
    inverse = np.linalg.inv(grams @ operator.weights + 0.3 * np.eye(len(X)))
    P = inverse - np.outer(inverse.sum(axis=0), inverse.sum(axis=0)) / inverse.sum()
    D = P @ Y
    found = evidence_slopes(operator, Y, 0.3)
    own = np.einsum("iid->id", grams)
    np.testing.assert_allclose(found.own_explained, (D**2).sum(axis=1) @ own, rtol=1e-8)
    np.testing.assert_allclose(found.own_expected, Y.shape[1] * np.diag(P) @ own, rtol=1e-8)
    assert found.scale == pytest.approx(np.sum(D * Y) / ((len(X) - 1) * Y.shape[1]))
    apart = np.einsum("ik,ijd,jk->d", D, grams, D) - found.own_explained
    np.testing.assert_allclose(
        found.falling(pairs=True), np.maximum(apart / found.scale + found.own_expected, 0), rtol=1e-8
    )


def test_every_step_raises_the_evidence_and_noise_dimensions_lose_weight():
    signal = RNG.dirichlet(np.full(4, 0.5), 80)
    X = np.hstack([signal, RNG.dirichlet(np.full(4, 0.5), 80)]) / 2
    Y = np.where(signal[:, :1] > signal[:, 1:2], 1.0, -1.0)
    alike = (Y - Y.mean()) / Y.std()
    grams = [np.minimum(X[:, None, d], X[None, :, d]) for d in range(8)]
    operator, values = HistogramOperator.from_rows(X), []
    for steps in (1, 2, 5, 20):
        found = learn_relevance(operator, Y, 0.3, steps=steps, prior=0, pairs=False)
        noise = found.noise_level
        values.append(log_evidence_and_gradients(grams, found.weights, alike, noise, free_mean=True).value)
    assert (np.diff(values) > 0).all()
    assert found.weights[:2].min() > found.weights[2:].max()


def test_groups_share_their_weight_and_empty_dimensions_keep_theirs():
    X_empty = np.hstack([X, np.zeros((60, 1))])
    groups = np.repeat([0, 1, 2], [6, 6, 1])
    found = learn_relevance(HistogramOperator.from_rows(X_empty), Y, 0.3, groups=groups, steps=3)
    assert len(set(found.weights[:6])) == len(set(found.weights[6:12])) == 1
    assert found.weights[12] == 1.0


def test_with_a_prior_every_step_raises_the_sum_of_evidence_and_prior():
    alike = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    grams = [np.minimum(X[:, None, d], X[None, :, d]) for d in range(12)]
    operator = HistogramOperator.from_rows(X)
    held = 3.0 * evidence_slopes(operator, alike, 0.3).expected

    def value(weights, noise):
        usual = np.sqrt((held @ weights) / (held @ (1 / weights)))
        prior = -0.5 * held @ (weights / usual + usual / weights)
        return log_evidence_and_gradients(grams, weights, alike, noise, free_mean=True).value + prior

    found = [learn_relevance(operator, Y, 0.3, steps=steps, prior=3.0, pairs=False) for steps in (1, 2, 4, 10)]
    values = [value(np.ones(12), 0.3), *(value(step.weights, step.noise_level) for step in found)]
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize("pairs", [True, False])
def test_the_larger_the_prior_the_nearer_weights_stay(pairs):
    operator = HistogramOperator.from_rows(X)
    apart = [
        np.log(learn_relevance(operator, Y, 0.3, prior=prior, pairs=pairs).weights).std() for prior in (0.5, 5, 1e9)
    ]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-6


def test_classes_count_alike_and_the_prior_grows_with_their_number():
    operator = HistogramOperator.from_rows(X)
    plain, scaled = (learn_relevance(operator, targets, 0.3).weights for targets in (Y, 1.0 + 5.0 * Y))
    np.testing.assert_allclose(plain, scaled, rtol=1e-8)
    repeated = learn_relevance(operator, np.tile(Y, 5), 0.3).weights
    np.testing.assert_allclose(plain, repeated, rtol=1e-8)

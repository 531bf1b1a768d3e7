"""Solvers, eigenvalues and curves from products with K agree with a factorisation of K."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.gp import (
    DenseOperator,
    IterativeVariance,
    LowRankPreconditioner,
    Restricted,
    conjugate_gradients,
    largest_eigenvalues,
    log_evidence_and_gradients,
    noise_curve,
    pivoted_cholesky,
    quadrature,
    quadratures,
)
from fewsight.kernels import HistogramIntersection

RNG = np.random.default_rng(3)


def histograms(n, d=30, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.random((n, d)) * (rng.random((n, d)) < 0.4)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-9)


X = histograms(120)
K = HistogramIntersection().gram(X)
Y = np.where(RNG.random((120, 3)) < 0.3, 1.0, -1.0)


@pytest.mark.parametrize("noise", [0.3, np.linspace(0.1, 2.0, 120), RNG.uniform(0.05, 3.0, (120, 3))])
@pytest.mark.parametrize("preconditioned", [False, True])
def test_conjugate_gradients_solve_with_every_kind_of_noise(noise, preconditioned):
    operator = DenseOperator(K)
    preconditioner = LowRankPreconditioner.of(*pivoted_cholesky(operator, 20), noise) if preconditioned else None
    found = conjugate_gradients(operator, Y, noise, tolerance=1e-11, preconditioner=preconditioner)
    columns = np.broadcast_to(np.atleast_2d(np.asarray(noise).T).T, (120, 3))
    expected = [np.linalg.solve(K + np.diag(columns[:, c]), Y[:, c]) for c in range(3)]
    np.testing.assert_allclose(found.columns, np.transpose(expected), rtol=1e-8, atol=1e-10)
    assert found.converged
    assert found.residual <= 1e-11


def test_the_residual_that_is_reported_is_the_true_one():
    found = conjugate_gradients(DenseOperator(K), Y, 1e-3, tolerance=1e-4)
    true = Y - (K + 1e-3 * np.eye(120)) @ found.columns
    assert found.residual == pytest.approx((np.linalg.norm(true, axis=0) / np.linalg.norm(Y, axis=0)).max())
    assert found.residual <= 1e-4


def test_a_good_start_saves_iterations_and_a_perfect_one_needs_none():
    operator = DenseOperator(K)
    cold = conjugate_gradients(operator, Y, 0.1, tolerance=1e-8)
    near = conjugate_gradients(operator, Y, 0.101, tolerance=1e-8, start=cold.columns)
    again = conjugate_gradients(operator, Y, 0.1, tolerance=1e-7, start=cold.columns)
    assert near.iterations < cold.iterations
    assert again.iterations == 0


def test_a_search_that_is_cut_short_says_so():
    found = conjugate_gradients(DenseOperator(K), Y, 1e-3, tolerance=1e-10, max_iterations=3)
    assert not found.converged
    assert found.iterations == 3
    assert found.residual > 1e-10


def test_a_tolerance_below_rounding_ends():
    found = conjugate_gradients(DenseOperator(K), Y, 1e-6, tolerance=1e-18)
    assert not found.converged
    assert found.residual < 1e-9


def test_right_sides_of_zeros_and_single_rows():
    zero = conjugate_gradients(DenseOperator(K), np.zeros((120, 2)), 1.0)
    np.testing.assert_array_equal(zero.columns, 0)
    one = conjugate_gradients(DenseOperator(np.array([[2.0]])), np.array([[3.0]]), 1.0, tolerance=1e-12)
    np.testing.assert_allclose(one.columns, [[1.0]])


def test_wrong_noise_gets_one_sentence():
    for noise in (0.0, -1.0, np.nan, np.ones(3)):
        with pytest.raises(FewsightError, match="conjugate_gradients: noise must be finite and > 0"):
            conjugate_gradients(DenseOperator(K), Y, noise)


def test_a_preconditioner_of_some_rank_saves_iterations():
    operator = DenseOperator(K)
    plain = conjugate_gradients(operator, Y, 0.01, tolerance=1e-6)
    preconditioner = LowRankPreconditioner.of(*pivoted_cholesky(operator, 60), 0.01)
    helped = conjugate_gradients(operator, Y, 0.01, tolerance=1e-6, preconditioner=preconditioner)
    assert helped.iterations < 0.7 * plain.iterations


def test_pivoted_cholesky_leaves_the_diagonal_that_it_says():
    L, left = pivoted_cholesky(DenseOperator(K), 15)
    np.testing.assert_allclose(np.diag(K - L @ L.T), left, atol=1e-12)
    whole, nothing = pivoted_cholesky(DenseOperator(K), 500)
    np.testing.assert_allclose(whole @ whole.T, K, atol=1e-8)
    np.testing.assert_allclose(nothing, 0, atol=1e-10)


def test_a_restricted_operator_is_that_of_fewer_examples():
    kept = RNG.random(120) < 0.6
    found = conjugate_gradients(Restricted(DenseOperator(K), kept), Y * kept[:, None], 0.2, tolerance=1e-11).columns
    expected = np.linalg.solve(K[np.ix_(kept, kept)] + 0.2 * np.eye(kept.sum()), Y[kept])
    np.testing.assert_allclose(found[kept], expected, atol=1e-8)
    np.testing.assert_array_equal(found[~kept], 0)


def test_ritz_values_approach_the_largest_eigenvalues_from_below_and_bound_the_largest_from_above():
    noise = np.linspace(0.5, 1.0, 120)
    true = np.linalg.eigvalsh(K + np.diag(noise))[::-1]
    ritz = largest_eigenvalues(DenseOperator(K), 4, noise=noise, tolerance=1e-9)
    np.testing.assert_allclose(ritz.values[0], true[0], rtol=1e-12)
    assert (ritz.values <= true[:4] + 1e-9).all()
    loose = largest_eigenvalues(DenseOperator(K), 1, noise=noise, tolerance=0.5)
    assert loose.values[0] <= true[0] + 1e-12
    assert loose.upper_bound >= true[0] - 1e-12


def test_eigenvalues_of_matrices_of_low_rank_and_of_one_row():
    ones = largest_eigenvalues(DenseOperator(np.ones((50, 50))), 3)
    assert ones.values[0] == pytest.approx(50)
    assert largest_eigenvalues(DenseOperator(np.array([[4.0]])), 2).values.tolist() == [4.0]


def test_gauss_quadrature_gives_functions_of_the_matrix():
    found = quadrature(lambda V: K @ V, Y, 60)
    values, vectors = np.linalg.eigh(K)
    for function in (lambda x: 1 / (np.abs(x) + 0.1), lambda x: np.log(np.abs(x) + 0.1)):
        expected = ((vectors.T @ Y) ** 2 * function(values)[:, None]).sum(axis=0)
        np.testing.assert_allclose(found.apply(function), expected, rtol=1e-6)


def test_more_steps_of_quadrature_go_on_where_fewer_ended():
    products = []

    def multiply(V):
        products.append(len(products))
        return K @ V

    for steps, found in zip((5, 12, 30), quadratures(multiply, Y, (5, 12, 30)), strict=True):
        assert len(products) == steps
        alone = quadrature(lambda V: K @ V, Y, steps)
        np.testing.assert_array_equal(found.nodes, alone.nodes)
        np.testing.assert_array_equal(found.weights, alone.weights)


@pytest.mark.parametrize("balance", [None, np.linspace(0.2, 3.0, 120)])
def test_the_curve_is_the_evidence_with_free_mean_and_any_scale(balance):
    curve = noise_curve(DenseOperator(K), Y, balance=balance)
    for level in (0.01, 0.3, 5.0):
        noise = level * (np.ones(120) if balance is None else balance)
        exact = log_evidence_and_gradients([K], np.ones(1), Y, noise, free_mean=True, any_scale=True)
        assert curve.joint_log_evidence(level) == pytest.approx(exact.value, rel=1e-10)
        assert curve.scale(level) == pytest.approx(exact.scale, rel=1e-9)


def test_the_estimated_curve_finds_the_level_of_the_exact_one(monkeypatch):
    X = histograms(400, 60, seed=2)
    K = HistogramIntersection().gram(X)
    f = np.linalg.cholesky(K + 1e-9 * np.eye(400)) @ RNG.standard_normal((400, 2))
    Y = f + 0.5 * RNG.standard_normal((400, 2))
    exact = noise_curve(DenseOperator(K), Y)
    monkeypatch.setattr("fewsight.gp.noise_levels.MOST_EXACT", 10)
    estimated = noise_curve(DenseOperator(K), Y, probes=16)
    assert np.log(estimated.best()[0] / exact.best()[0]) == pytest.approx(0, abs=0.1)
    assert np.log(estimated.best(1)[0] / exact.best(1)[0]) == pytest.approx(0, abs=0.15)
    assert 0.1 < exact.best()[0] < 0.6  # 0.25 over a kernel of diagonal 1


def test_variances_agree_with_a_solve_and_the_bound_holds():
    new = histograms(20, seed=5)
    kernel, noise = HistogramIntersection(), np.linspace(0.1, 0.4, 120)
    K_new, diagonal = kernel.gram(X, new), kernel.diag(new)
    inverse = np.linalg.inv(K + np.diag(noise))
    for ones in (None, inverse.sum(axis=1)):
        variance = IterativeVariance(DenseOperator(K), noise, ones, tolerance=1e-12)
        expected = diagonal - np.einsum("ij,ik,kj->j", K_new, inverse, K_new)
        if ones is not None:
            expected += (1 - ones @ K_new) ** 2 / inverse.sum()
        np.testing.assert_allclose(variance.of(K_new, diagonal), expected, rtol=1e-8)
        C = variance.directions(8)
        bound = diagonal - ((C.T @ K_new) ** 2).sum(axis=0) + variance.of_mean(0.0 if ones is None else ones @ K_new)
        assert (bound >= expected - 1e-10).all()
        P = inverse if ones is None else inverse - np.outer(ones, ones) / ones.sum()
        np.testing.assert_allclose(variance.left_out(np.arange(5)), (1 / np.diag(P) - noise)[:5], rtol=1e-8)

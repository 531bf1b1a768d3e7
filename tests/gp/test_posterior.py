"""The posterior's closed forms against explicit inverses and refits."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from fewsight._base.errors import InvalidInput
from fewsight.gp import Posterior

SIZES = [(1, 1), (2, 3), (12, 3), (30, 1)]


def condition(problem):
    return Posterior.condition(problem.K, problem.targets, problem.noise)


@pytest.mark.parametrize(("n", "n_targets"), SIZES)
def test_mean_and_variance_equal_the_explicit_inverse(make_problem, n, n_targets):
    problem = make_problem(n, n_targets)
    posterior = condition(problem)
    K_test, inverse = problem.K_test, problem.inverse
    np.testing.assert_allclose(posterior.dual_weights, inverse @ problem.targets, atol=1e-8)
    np.testing.assert_allclose(posterior.mean(K_test), K_test @ inverse @ problem.targets, atol=1e-8)
    expected = problem.diagonal - np.diag(K_test @ inverse @ K_test.T)
    np.testing.assert_allclose(posterior.variance(K_test, problem.diagonal), expected, atol=1e-8)


def test_one_noise_for_all_equals_the_same_noise_for_each(problem):
    one = Posterior.condition(problem.K, problem.targets, 0.3)
    each = Posterior.condition(problem.K, problem.targets, np.full(12, 0.3))
    np.testing.assert_array_equal(one.dual_weights, each.dual_weights)
    np.testing.assert_array_equal(one.noise_variance, np.full(12, 0.3))


@pytest.mark.parametrize(("n", "n_targets"), SIZES)
def test_leave_one_out_equals_refitting_without_each_example(make_problem, n, n_targets):
    problem = make_problem(n, n_targets)
    K, quick = problem.K, condition(problem).leave_one_out()
    for i in range(n):
        others = np.delete(np.arange(n), i)
        refit = Posterior.condition(K[np.ix_(others, others)], problem.targets[others], problem.noise[others])
        row = K[i : i + 1, others]
        np.testing.assert_allclose(quick.mean[i], refit.mean(row)[0], atol=1e-8)
        expected = refit.variance(row, K[i : i + 1, i])[0] + problem.noise[i]
        np.testing.assert_allclose(quick.variance[i], expected, atol=1e-8)


@pytest.mark.parametrize(("n", "n_targets"), SIZES)
def test_log_evidence_is_the_gaussian_density_summed_over_columns(make_problem, n, n_targets):
    problem = make_problem(n, n_targets)
    density = multivariate_normal(np.zeros(n), problem.K + np.diag(problem.noise))
    expected = sum(density.logpdf(column) for column in problem.targets.T)
    assert condition(problem).log_evidence == pytest.approx(expected, rel=1e-10)


def test_variance_is_never_negative():
    X = np.linspace(0, 1, 30)
    K = np.exp(-((X[:, None] - X) ** 2))
    posterior = Posterior.condition(K, np.ones((30, 1)), 1e-10)
    assert (posterior.variance(K, np.ones(30)) >= 0).all()
    assert (posterior.variance(K, 0.5 * np.ones(30)) == 0).all()


def test_an_empty_posterior_is_the_prior():
    prior = Posterior.condition(np.zeros((0, 0)), np.zeros((0, 2)), 0.1)
    assert (prior.n, prior.n_targets, prior.jitter, prior.log_evidence) == (0, 2, 0.0, 0.0)
    np.testing.assert_array_equal(prior.mean(np.zeros((3, 0))), np.zeros((3, 2)))
    np.testing.assert_array_equal(prior.variance(np.zeros((3, 0)), [1.0, 2.0, 3.0]), [1.0, 2.0, 3.0])
    assert prior.leave_one_out().mean.shape == (0, 2)
    assert prior.leave_one_out().variance.shape == (0,)


def test_a_posterior_without_targets_still_has_a_variance(problem):
    bare = Posterior.condition(problem.K, np.zeros((12, 0)), problem.noise)
    assert bare.mean(problem.K_test).shape == (5, 0)
    expected = condition(problem).variance(problem.K_test, problem.diagonal)
    np.testing.assert_array_equal(bare.variance(problem.K_test, problem.diagonal), expected)
    assert bare.log_evidence == 0.0


def every_other(K):
    spread = np.zeros((2 * len(K), 2 * len(K)))
    spread[::2, ::2] = K
    return spread[::2, ::2]


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, every_other])
def test_the_layout_of_K_does_not_matter_and_K_is_left_alone(problem, layout):
    K = layout(problem.K)
    before = K.copy()
    posterior = Posterior.condition(K, problem.targets, problem.noise)
    np.testing.assert_allclose(posterior.dual_weights, problem.inverse @ problem.targets, atol=1e-8)
    np.testing.assert_array_equal(K, before)


def test_lists_and_single_precision_are_accepted():
    posterior = Posterior.condition([[2, 1], [1, 2]], np.ones((2, 1), dtype=np.float32), 1)
    np.testing.assert_allclose(posterior.mean([[1, 1]]), [[0.5]])
    assert posterior.dual_weights.dtype == np.float64


def test_a_matrix_larger_than_a_tile_of_the_symmetry_check_is_accepted(make_problem):
    problem = make_problem(300, 2)
    np.testing.assert_allclose(condition(problem).dual_weights, problem.inverse @ problem.targets, atol=1e-8)


def test_arrays_are_the_posteriors_own_and_read_only(problem):
    posterior = condition(problem)
    before = posterior.targets.copy()
    problem.targets[:] = 0.0
    np.testing.assert_array_equal(posterior.targets, before)
    for array in (posterior.targets, posterior.dual_weights, posterior.noise_variance, posterior.jitters):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


def test_it_introduces_itself_in_one_line(problem):
    assert repr(condition(problem)) == "Posterior(n=12, n_targets=3)"


def with_entry(K, value):
    K = K.copy()
    K[2, 5] = value
    return K


REFUSED = [
    (lambda p: {"K": p.K[:5]}, "Posterior: K must be square (training x training), got 5 x 12."),
    (lambda p: {"K": p.K[0]}, "Posterior: K must be a matrix of any x any, got 12."),
    (lambda p: {"K": with_entry(p.K, 9.0)}, "Posterior: K must be symmetric"),
    (lambda p: {"K": with_entry(p.K, np.nan)}, "Posterior: K must hold finite numbers only, got NaN or infinity."),
    (lambda p: {"K": with_entry(p.K, np.inf)}, "Posterior: K must hold finite numbers only, got NaN or infinity."),
    (lambda p: {"targets": p.targets[:5]}, "Posterior: targets must be a matrix of 12 x any, got 5 x 3."),
    (lambda p: {"targets": p.targets[:, 0]}, "Posterior: targets must be a matrix of 12 x any, got 12."),
    (lambda p: {"targets": np.nan * p.targets}, "Posterior: targets must hold finite numbers only"),
    (lambda p: {"noise_variance": 0.0}, "Posterior: noise_variance must be finite and > 0, got 0.0."),
    (lambda p: {"noise_variance": np.inf}, "Posterior: noise_variance must be finite and > 0, got inf."),
    (lambda p: {"noise_variance": -p.noise}, "Posterior: noise_variance must be finite and > 0, got array"),
    (lambda p: {"noise_variance": p.noise[:5]}, "one number or one for each of 12 examples, got shape (5,)."),
]


@pytest.mark.parametrize(("change", "sentence"), REFUSED)
def test_what_cannot_be_conditioned_on_is_refused_in_a_sentence(problem, change, sentence):
    arguments = {"K": problem.K, "targets": problem.targets, "noise_variance": problem.noise, **change(problem)}
    with pytest.raises(InvalidInput) as refusal:
        Posterior.condition(**arguments)
    assert sentence in str(refusal.value)


def test_an_asymmetry_far_from_the_diagonal_is_noticed(make_problem):
    K = make_problem(300).K
    K[299, 1] += 1e-6
    with pytest.raises(InvalidInput, match="symmetric"):
        Posterior.condition(K, np.ones((300, 1)), 1.0)


def test_a_test_block_of_the_wrong_shape_is_refused_with_the_expected_one(problem):
    posterior = condition(problem)
    with pytest.raises(InvalidInput, match=r"K_test must be a matrix of any x 12, got 12 x 5\."):
        posterior.mean(problem.K_test.T)
    with pytest.raises(InvalidInput, match=r"K_test must be a matrix of any x 12, got 12 x 5\."):
        posterior.variance(problem.K_test.T, problem.diagonal)
    with pytest.raises(InvalidInput, match=r"diagonal must be a matrix of 5 x 1, got 4 x 1\."):
        posterior.variance(problem.K_test, problem.diagonal[:4])

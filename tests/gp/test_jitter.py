"""What happens when the covariance matrix is not positive definite."""

import re
import warnings

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput, JitterWarning
from fewsight.gp import Posterior, log_evidence_and_gradients


def amount_said(caught):
    return float(re.search(r"; (\S+) was added", str(caught[0].message)).group(1))


def indefinite(n, least, seed=0):
    """A symmetric matrix with mean diagonal 1 and smallest eigenvalue `least`."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0]
    eigenvalues = np.full(n, (n - least) / (n - 1))
    eigenvalues[0] = least
    K = (Q * eigenvalues) @ Q.T
    return (K + K.T) / 2


def test_duplicates_under_tiny_noise_get_jitter_and_a_warning_that_says_how_much(make_problem):
    problem = make_problem(8)
    problem.X[4:] = problem.X[:4]
    with pytest.warns(
        JitterWarning, match="Posterior: .* was added to the diagonal entries of all 8 examples"
    ) as caught:
        posterior = Posterior.condition(problem.K, problem.targets, 1e-20)
    assert posterior.jitter == pytest.approx(1e-10 * 1.5, rel=1e-12)
    assert amount_said(caught) == pytest.approx(posterior.jitter, rel=1e-2)
    np.testing.assert_array_equal(posterior.jitters, np.full(8, posterior.jitter))
    mean = posterior.mean(problem.K)
    np.testing.assert_allclose(mean[4:], mean[:4], atol=1e-3)
    np.testing.assert_allclose(mean[:4], (problem.targets[:4] + problem.targets[4:]) / 2, atol=1e-3)


def test_duplicates_under_the_noise_of_the_paper_need_no_jitter(make_problem):
    problem = make_problem(8)
    problem.X[4:] = problem.X[:4]
    assert Posterior.condition(problem.K, problem.targets, 1e-10).jitter == 0.0


@pytest.mark.parametrize(("least", "step"), [(-3e-10, 1e-9), (-3e-6, 1e-5), (-3e-3, 1e-2)])
def test_jitter_is_the_first_step_that_suffices(least, step):
    K, targets = indefinite(6, least), np.ones((6, 1))
    with pytest.warns(JitterWarning):
        posterior = Posterior.condition(K, targets, 1e-30)
    assert posterior.jitter == pytest.approx(step, rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        added = Posterior.condition(K, targets, 1e-30 + posterior.jitter)
    np.testing.assert_allclose(posterior.dual_weights, added.dual_weights, rtol=1e-9)


def test_a_matrix_far_from_positive_definite_is_refused():
    K = indefinite(6, -0.02)
    sentence = (
        "Posterior: the covariance matrix (Gram matrix and noise) must be positive semi-definite, got one with "
        f"the eigenvalue -0.02, where the mean of its diagonal is {K.diagonal().mean():.3g}."
    )
    with pytest.raises(InvalidInput, match=f"^{re.escape(sentence)}$"):
        Posterior.condition(K, np.ones((6, 1)), 1e-6)
    with pytest.raises(InvalidInput, match=r"the eigenvalue -0\.02, where"):
        log_evidence_and_gradients([K], [1.0], np.ones((6, 1)), 1e-6)


def test_appending_a_duplicate_under_tiny_noise_gives_jitter_to_the_new_example_only(make_problem):
    problem = make_problem(8)
    problem.X[7] = problem.X[3]
    K, targets = problem.K, problem.targets
    start = Posterior.condition(K[:7, :7], targets[:7], 1e-20)
    with pytest.warns(JitterWarning, match="of 1 new examples") as caught:
        posterior = start.append(K[7:, :7], K[7:, 7:], targets[7:], 1e-20)
    assert amount_said(caught) == pytest.approx(1.5e-10, rel=1e-2)
    np.testing.assert_allclose(posterior.jitters, [0, 0, 0, 0, 0, 0, 0, 1.5e-10], rtol=1e-12)
    assert posterior.jitter == posterior.jitters[7]
    assert posterior.remove([7]).jitter == 0.0


def test_appending_rows_that_contradict_the_old_ones_a_little_adds_what_they_lack():
    K = indefinite(6, -3e-6)
    start = Posterior.condition(K[:4, :4], np.ones((4, 1)), 1e-30)
    with pytest.warns(JitterWarning, match="2 new"):
        posterior = start.append(K[4:, :4], K[4:, 4:], np.ones((2, 1)), 1e-30)
    scratch = Posterior.condition(K, np.ones((6, 1)), 1e-30 + posterior.jitters)
    np.testing.assert_allclose(posterior.dual_weights, scratch.dual_weights, rtol=1e-6)


def test_appending_rows_that_contradict_the_old_ones_is_refused():
    start = Posterior.condition(np.eye(3), np.ones((3, 1)), 1e-6)
    with pytest.raises(InvalidInput, match="must be positive semi-definite"):
        start.append(np.full((1, 3), 0.9), np.eye(1), np.ones((1, 1)), 1e-6)


def test_a_pivot_that_is_rounding_error_alone_counts_as_not_positive(make_problem):
    problem = make_problem(40)
    problem.X[20:] = problem.X[:20]
    for noise in (1e-17, 1e-16, 1e-15):
        with pytest.warns(JitterWarning):
            Posterior.condition(problem.K, problem.targets, noise)


def test_evidence_warns_too():
    with pytest.warns(JitterWarning, match="log_evidence_and_gradients: .* all 4 examples"):
        log_evidence_and_gradients([np.ones((4, 4))], [1.0], np.ones((4, 1)), 1e-20)

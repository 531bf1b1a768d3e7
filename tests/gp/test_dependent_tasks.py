"""Two and more dependent tasks: closed forms against explicit inverses, gradients against finite differences."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from fewsight.gp import (
    Inverted,
    evidence_of_correlations,
    learn_correlations,
    least_noise,
    path_inside,
    paths_beside,
    task_covariance,
)

NOISE = 1e-2
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 4))
K = np.exp(-0.2 * ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2))
TARGET, TARGETS = np.arange(20), np.where(np.arange(20) < 3, 1.0, -1.0)
SUPPORTS = [np.arange(20, 30), np.arange(30, 37), np.arange(37, 38)]  # of different sizes
RHOS = np.tile([0.0, 0.3, 0.9, 1.0], (3, 1))


def combined(support, rho):
    rows = np.concatenate([TARGET, support])
    tasks = np.repeat([0, 1], [len(TARGET), len(support)])
    covariance = task_covariance(K[np.ix_(rows, rows)], tasks, [rho]) + NOISE * np.eye(len(rows))
    return covariance, np.concatenate([TARGETS, np.ones(len(support))])


def test_every_correlation_leaves_out_as_explicit_leave_one_out_does():
    found = paths_beside(K, TARGET, TARGETS, SUPPORTS, NOISE).leave_one_out(RHOS)
    for task, support in enumerate(SUPPORTS):
        for column, rho in enumerate(RHOS[task]):
            A, t = combined(support, rho)
            for left_out in TARGET:
                others = np.delete(np.arange(len(A)), left_out)
                solved = np.linalg.solve(A[np.ix_(others, others)], A[others, left_out])
                assert found.mean[task, left_out, column] == pytest.approx(solved @ t[others], abs=1e-10)
                variance = A[left_out, left_out] - solved @ A[others, left_out]
                assert found.variance[task, left_out, column] == pytest.approx(variance, abs=1e-10)


def test_the_conditional_likelihood_is_that_of_the_joint_gaussian():
    found = paths_beside(K, TARGET, TARGETS, SUPPORTS, NOISE).conditional_log_likelihood(RHOS)
    for task, support in enumerate(SUPPORTS):
        for column, rho in enumerate(RHOS[task]):
            A, t = combined(support, rho)
            n = len(TARGET)
            joint = multivariate_normal.logpdf(t, cov=A) - multivariate_normal.logpdf(t[n:], cov=A[n:, n:])
            assert found[task, column] == pytest.approx(joint, abs=1e-9)


def test_a_support_task_inside_an_inverted_whole_equals_one_beside_the_rest():
    A, t = K[:40, :40] + NOISE * np.eye(40), np.where(np.arange(40) < 2, 1.0, -1.0)
    inverse = np.linalg.inv(A)
    whole = Inverted(A, inverse, np.linalg.slogdet(A)[1], t, inverse @ t)
    support = np.arange(10, 18)
    rest = np.delete(np.arange(40), support)
    inside, beside = path_inside(whole, support), paths_beside(K, rest, t[rest], [support], NOISE)
    for one, other in zip(inside.leave_one_out(RHOS[:1]), beside.leave_one_out(RHOS[:1]), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    np.testing.assert_allclose(
        inside.conditional_log_likelihood(RHOS[:1]), beside.conditional_log_likelihood(RHOS[:1]), atol=1e-9
    )


def test_a_singular_whole_is_noticed_and_the_least_noise_mends_it():
    twins = [TARGET[:5]]  # the same images as some of the target's
    assert paths_beside(K, TARGET, TARGETS, twins, 0.0) is None
    assert paths_beside(K, TARGET, TARGETS, twins, 1e-8) is not None
    assert least_noise(K) == 0.0
    rows = np.concatenate([TARGET, TARGET])
    assert 0 < least_noise(K[np.ix_(rows, rows)]) <= 1e-6


def test_several_tasks_stay_positive_semi_definite():
    tasks = np.repeat([0, 1, 2, 3], [20, 10, 10, 10])
    for correlations in ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [1.0, 0.0, 0.5], [0.9, 0.8, 0.1]):
        assert np.linalg.eigvalsh(task_covariance(K, tasks, correlations)).min() > -1e-12
    np.testing.assert_array_equal(task_covariance(K, tasks, [1, 1, 1]), K)


def test_the_gradient_of_the_evidence_equals_finite_differences():
    tasks = np.repeat([0, 1, 2], [20, 15, 15])
    targets = RNG.choice([-1.0, 1.0], 50)
    at = np.array([0.3, 0.8])
    value, gradient = evidence_of_correlations(K, tasks, at, targets, NOISE)
    A = task_covariance(K, tasks, at) + NOISE * np.eye(50)
    assert value == pytest.approx(multivariate_normal.logpdf(targets, cov=A), rel=1e-10)
    for position in range(2):
        step = np.zeros(2)
        step[position] = 1e-5
        above, below = (evidence_of_correlations(K, tasks, at + s, targets, NOISE)[0] for s in (step, -step))
        assert gradient[position] == pytest.approx((above - below) / 2e-5, rel=1e-5)


def test_evidence_finds_which_task_is_related():
    rows = np.concatenate([np.arange(50)] * 3)  # three tasks on the same inputs
    tasks = np.repeat([0, 1, 2], 50)
    factor = np.linalg.cholesky(K + 1e-10 * np.eye(50))
    target, other = factor @ RNG.normal(size=50), factor @ RNG.normal(size=50)
    found = learn_correlations(K[np.ix_(rows, rows)], tasks, np.concatenate([target, target, other]), 1e-2)
    assert found.correlations[0] > 0.9
    assert found.correlations[1] < 0.5


def test_evidence_can_be_of_some_targets_given_the_others():
    rows = np.concatenate([TARGET, SUPPORTS[0]])
    tasks = np.repeat([0, 1], [20, 10])
    targets = np.concatenate([TARGETS, np.ones(10)])
    given = np.arange(30) >= 3
    found = learn_correlations(K[np.ix_(rows, rows)], tasks, targets, NOISE, given)

    def of_the_others(rho):
        A, t = combined(SUPPORTS[0], rho)
        return multivariate_normal.logpdf(t, cov=A) - multivariate_normal.logpdf(t[3:], cov=A[3:, 3:])

    assert found.log_evidence == pytest.approx(of_the_others(found.correlations[0]), abs=1e-9)
    assert found.log_evidence >= max(of_the_others(rho) for rho in np.linspace(0, 1, 21)) - 1e-6

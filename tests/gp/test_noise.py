"""The noise that the evidence prefers."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from fewsight._base.errors import InvalidInput
from fewsight.gp import learn_noise, log_evidence_and_gradients


def dense_evidence(K, targets, noise):
    density = multivariate_normal(np.zeros(len(K)), K + np.diag(np.full(len(K), noise)))
    return sum(density.logpdf(column) for column in targets.T)


def sample_targets(K, noise, n_targets, seed=3):
    rng = np.random.default_rng(seed)
    A = K + np.diag(np.full(len(K), noise))
    return np.linalg.cholesky(A) @ rng.normal(size=(len(K), n_targets))


@pytest.mark.parametrize("balanced", [False, True])
def test_learned_noise_is_the_best_of_a_fine_grid(make_problem, balanced):
    K = make_problem(25).K
    balance = np.random.default_rng(0).uniform(0.3, 1.7, 25) if balanced else np.ones(25)
    targets = sample_targets(K, 0.2 * balance, 4)
    learned = learn_noise(K, targets, balance=balance if balanced else None)
    grid = np.geomspace(0.01, 2.0, 400)
    values = [dense_evidence(K, targets, level * balance) for level in grid]
    assert learned.level == pytest.approx(grid[np.argmax(values)], rel=0.02)
    assert learned.log_evidence == pytest.approx(dense_evidence(K, targets, learned.level * balance), rel=1e-10)
    assert learned.log_evidence >= max(values) - 1e-9
    assert not learned.at_bound


def test_at_the_learned_noise_the_gradient_vanishes(make_problem):
    K = make_problem(25).K
    targets, balance = sample_targets(K, 0.2, 4), np.linspace(0.5, 1.5, 25)
    level = learn_noise(K, targets, balance=balance).level
    d_noise = log_evidence_and_gradients([K], [1.0], targets, level * balance).d_noise
    assert abs(level * d_noise @ balance) < 1e-3


@pytest.mark.parametrize("n", [1, 2, 3])
def test_noise_of_a_few_examples(n):
    K, targets = 0.5 * np.eye(n), np.full((n, 2), 2.0)
    assert learn_noise(K, targets).level == pytest.approx(3.5, rel=1e-4)  # K + level = mean square of the targets


def test_a_kernel_of_zero_leaves_all_to_the_noise():
    learned = learn_noise(np.zeros((4, 4)), np.array([[1.0], [2.0], [2.0], [1.0]]))
    assert learned.level == pytest.approx(2.5, rel=1e-4)


def test_noise_at_a_bound_is_said_so(make_problem):
    K = make_problem(25).K
    targets = sample_targets(K, 0.2, 40)
    below, above = learn_noise(K, targets, bounds=(0.5, 3.0)), learn_noise(K, targets, bounds=(1e-4, 0.05))
    assert (below.level, below.at_bound) == (pytest.approx(0.5), True)
    assert (above.level, above.at_bound) == (pytest.approx(0.05), True)
    inside = learn_noise(K, targets, bounds=(0.19, 0.21))
    assert 0.19 <= inside.level <= 0.21


def test_the_higher_of_two_bumps_is_found():
    # Two groups of eigenvalues and targets: one group wants little noise, the other much.
    K = np.diag([100.0] * 30 + [0.0] * 10 + [0.0] * 10)
    for small, large in [(1e-3, 3.0), (1e-3, 30.0)]:
        targets = np.sqrt([101.0] * 30 + [small] * 10 + [large] * 10)[:, None]
        learned = learn_noise(K, targets, bounds=(1e-6, 1e4))
        values = [dense_evidence(K, targets, level) for level in np.geomspace(1e-6, 1e4, 300)]
        assert learned.log_evidence >= max(values) - 1e-9


def test_a_maximum_far_from_the_middle_is_refined():
    for level in (3e-6, 0.04, 700.0):
        targets = np.full((6, 1), np.sqrt(level))
        assert learn_noise(1e-12 * np.eye(6), targets, bounds=(1e-7, 1e4)).level == pytest.approx(level, rel=1e-4)


def test_an_indefinite_kernel_gets_noise_enough_to_be_positive_definite():
    K = np.diag([1.0, 1.0, 1.0, -0.01])
    learned = learn_noise(K, np.array([[1.0], [1.0], [1.0], [0.0]]))
    assert learned.level > 0.01
    assert np.isfinite(learned.log_evidence)
    with pytest.raises(
        InvalidInput, match=r"learn_noise: K must be positive semi-definite, .* eigenvalue -0\.01 that .* 0\.005"
    ):
        learn_noise(K, np.ones((4, 1)), bounds=(1e-6, 0.005))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"K": np.ones((3, 2))}, "K must be square"),
        ({"targets": np.ones((2, 1))}, "targets must be a matrix of 3 x any, got 2 x 1."),
        ({"targets": np.ones((3, 0))}, "targets must hold at least one number, got none."),
        ({"balance": np.zeros(3)}, "balance must be finite and > 0, got array([0., 0., 0.])."),
        ({"bounds": (1.0, 0.1)}, "bounds must be two finite numbers, 0 < low < high, got (1.0, 0.1)."),
        ({"bounds": (0.0, 1.0)}, "bounds must be two finite numbers, 0 < low < high, got (0.0, 1.0)."),
    ],
)
def test_what_noise_cannot_be_learned_from_is_refused_in_a_sentence(change, sentence):
    with pytest.raises(InvalidInput) as refusal:
        learn_noise(**{"K": np.eye(3), "targets": np.ones((3, 1)), **change})
    assert f"learn_noise: {sentence}" in str(refusal.value)

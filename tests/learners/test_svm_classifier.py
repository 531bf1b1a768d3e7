"""Support vector machines are LIBSVM's, one against all or for each pair; penalty and width may be chosen."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.svm import SVC

from fewsight._base.errors import InvalidInput
from fewsight._base.types import State
from fewsight.kernels import RBF, Linear
from fewsight.learners import SVMClassifier
from fewsight.learners.svm_classifier import GAMMAS, PENALTIES

X, Y = make_blobs(60, 3, centers=3, cluster_std=2.0, random_state=2)
KERNEL = RBF(scale=2.0)  # of diagonal 1, so that its scale stays


def test_margins_are_those_of_one_machine_for_each_class():
    found = SVMClassifier(KERNEL, C=5.0).fit(X[:40], Y[:40]).latent(X[40:]).mean
    for label in range(3):
        machine = SVC(C=5.0, kernel="precomputed").fit(KERNEL.gram(X[:40]), np.where(Y[:40] == label, 1, -1))
        expected = machine.decision_function(KERNEL.gram(X[40:], X[:40]))
        np.testing.assert_allclose(found[:, label], expected, atol=1e-10)


def test_one_class_alone_claims_everything():
    learner = SVMClassifier(KERNEL).fit(X[:5], ["only"] * 5)
    assert learner.predict(X[5:8]).tolist() == ["only"] * 3


def test_the_number_of_jobs_changes_nothing():
    one, two = (SVMClassifier(KERNEL, n_jobs=jobs).fit(X[:40], Y[:40]).latent(X[40:]).mean for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_penalty_that_is_none_is_refused():
    with pytest.raises(InvalidInput, match="SVMClassifier: C must be a finite number > 0, got 0"):
        SVMClassifier(KERNEL, C=0).fit(X, Y)


def test_one_machine_for_each_pair_votes_as_libsvm_does():
    found = SVMClassifier(KERNEL, C=5.0, multiclass="one_vs_one").fit(X[:40], Y[:40])
    expected = SVC(C=5.0, kernel="precomputed").fit(KERNEL.gram(X[:40]), Y[:40])
    K = KERNEL.gram(X[40:], X[:40])
    margins = SVC(C=5.0, kernel="precomputed", decision_function_shape="ovo").fit(KERNEL.gram(X[:40]), Y[:40])
    clear = np.abs(margins.decision_function(K)).min(axis=1) > 1e-6
    votes = np.rint(found.latent(X[40:]).mean).astype(int)
    sure = clear & (np.sort(votes, axis=1)[:, -1] > np.sort(votes, axis=1)[:, -2])
    assert sure.mean() > 0.8
    np.testing.assert_array_equal(found.predict(X[40:])[sure], expected.predict(K)[sure])
    assert (votes.sum(axis=1) == 3).all()


def test_pairs_are_stored_and_a_file_without_the_choice_has_machines_against_all():
    learner = SVMClassifier(KERNEL, C="cross_validated", multiclass="one_vs_one").fit(X[:40], Y[:40])
    again = SVMClassifier.from_state(learner.state())
    np.testing.assert_allclose(again.latent(X[40:]).mean, learner.latent(X[40:]).mean, atol=1e-12)
    assert again.C_ == learner.C_
    plain = SVMClassifier(KERNEL, C=5.0).fit(X[:40], Y[:40])
    state = plain.state()
    old = json.loads(json.dumps(state.header).replace(', "gamma": null, "multiclass": "one_vs_all"', ""))
    assert old != state.header
    found = SVMClassifier.from_state(State(old, state.arrays))
    np.testing.assert_allclose(found.latent(X[40:]).mean, plain.latent(X[40:]).mean, atol=1e-12)


@pytest.mark.parametrize("multiclass", ["one_vs_all", "one_vs_one"])
def test_the_penalty_is_that_under_which_most_left_out_examples_are_recognised(multiclass):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 2))
    y = np.where(rng.random(80) < 0.25, 1, 0) ^ (A[:, 0] > 0)  # a quarter of the labels are wrong
    chosen = SVMClassifier(KERNEL, C="cross_validated", multiclass=multiclass).fit(A, y)
    assert chosen.C_ in PENALTIES
    assert chosen.C_ <= 2.0
    fixed = SVMClassifier(KERNEL, C=chosen.C_, multiclass=multiclass).fit(A, y)
    np.testing.assert_array_equal(chosen.latent(A).mean, fixed.latent(A).mean)


def test_wrong_words_are_refused():
    with pytest.raises(InvalidInput, match="SVMClassifier: C must be one of 'cross_validated', got 'best'"):
        SVMClassifier(KERNEL, C="best").fit(X, Y)
    with pytest.raises(InvalidInput, match="multiclass must be one of 'one_vs_all', 'one_vs_one', got 'pairs'"):
        SVMClassifier(KERNEL, multiclass="pairs").fit(X, Y)


def test_a_gamma_makes_a_gaussian_of_the_distances_that_the_kernel_spans():
    """A linear kernel becomes a Gaussian of the rows; its training diagonal is made 1 on average first."""
    scale = float((X[:40] ** 2).sum(axis=1).mean())
    learner = SVMClassifier(Linear(), C=5.0, gamma=3.0).fit(X[:40], Y[:40])
    expected = SVC(C=5.0, kernel="rbf", gamma=3.0 / scale).fit(X[:40], Y[:40] == 1)
    np.testing.assert_allclose(learner.latent(X[40:]).mean[:, 1], expected.decision_function(X[40:]), atol=2e-3)
    again = SVMClassifier.from_state(learner.state())
    np.testing.assert_allclose(again.latent(X[40:]).mean, learner.latent(X[40:]).mean, atol=1e-12)


def test_gamma_and_penalty_are_chosen_together_and_told():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(60, 2))
    y = (np.linalg.norm(A, axis=1) > 1.2).astype(int)  # a ring: no line tells it from its inside
    chosen = SVMClassifier(Linear(), C="cross_validated", gamma="cross_validated").fit(A[:40], y[:40])
    assert chosen.C_ in PENALTIES
    assert chosen.gamma_ in GAMMAS
    assert chosen.found() == {"C": chosen.C_, "gamma": chosen.gamma_}
    fixed = SVMClassifier(Linear(), C=chosen.C_, gamma=chosen.gamma_).fit(A[:40], y[:40])
    np.testing.assert_array_equal(chosen.latent(A).mean, fixed.latent(A).mean)
    plain = SVMClassifier(Linear(), C="cross_validated").fit(A[:40], y[:40])
    assert chosen.score(A[40:], y[40:]) > plain.score(A[40:], y[40:]) + 0.1


@pytest.mark.parametrize(
    ("gamma", "message"), [("wide", "one of 'cross_validated', got 'wide'"), (0, "a finite number > 0, got 0")]
)
def test_a_wrong_gamma_is_refused(gamma, message):
    with pytest.raises(InvalidInput, match=f"SVMClassifier: gamma must be {message}"):
        SVMClassifier(KERNEL, gamma=gamma).fit(X, Y)

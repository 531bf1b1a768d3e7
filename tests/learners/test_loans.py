"""A loan is a column learned with another category's examples: said, kept, taken back."""

import numpy as np
import pytest

from fewsight.gp import task_covariance
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, Loan
from fewsight.persistence import load, save

NAMES = ["chair", "cup", "llama", "gerenuk"]
LABELS = np.repeat(NAMES, [12, 12, 12, 1])
CENTRES = np.repeat([(3.0, 0.0), (-3.0, 0.0), (0.0, 3.0), (2.0, 4.5)], [12, 12, 12, 1], axis=0)
X = np.random.default_rng(0).normal(CENTRES, 0.6)
X_TEST = np.random.default_rng(1).normal(scale=3.0, size=(40, 2))


def learned():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=False).fit(X, LABELS)


def test_what_is_borrowed_is_the_posterior_of_two_dependent_tasks_averaged_with_learning_alone():
    model = learned().borrow("gerenuk", "llama", 0.6)
    K, K_test = RBF(scale=1.5).gram(X), RBF(scale=1.5).gram(X_TEST, X)
    lent, own = LABELS == "llama", LABELS == "gerenuk"
    A = task_covariance(K, lent.astype(int), [0.6]) + 0.1 * np.eye(len(K))
    related = (K_test * np.where(lent, 0.6, 1.0)) @ np.linalg.solve(A, np.where(lent | own, 1.0, -1.0))
    alone = K_test @ np.linalg.solve(K + 0.1 * np.eye(len(K)), np.where(own, 1.0, -1.0))
    column = model.classes_.tolist().index("gerenuk")
    np.testing.assert_allclose(model.latent(X_TEST).mean[:, column], 0.6 * related + 0.4 * alone, atol=1e-10)
    others = np.arange(len(model.classes_)) != column
    np.testing.assert_array_equal(model.latent(X_TEST).mean[:, others], learned().latent(X_TEST).mean[:, others])


def test_leave_one_out_of_a_loan_is_that_of_learning_without_the_example():
    model = learned().borrow("gerenuk", "llama", 0.6)
    column = model.classes_.tolist().index("gerenuk")
    for left_out in (0, 25, 30):  # a chair and two llamas
        kept = np.delete(np.arange(len(X)), left_out)
        without = GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=False).fit(X[kept], LABELS[kept])
        mean = without.borrow("gerenuk", "llama", 0.6).latent(X[left_out : left_out + 1]).mean[0, column]
        assert model.leave_one_out().mean[left_out, column] == pytest.approx(mean, abs=1e-10)


def test_leave_group_out_of_a_loan_is_that_of_learning_without_the_group():
    model = learned().borrow("gerenuk", "llama", 0.6)
    groups = np.arange(len(X))
    groups[[0, 3, 26]] = 0  # two chairs and a llama
    found = model.leave_group_out(groups).mean
    kept = np.flatnonzero(groups != 0)
    without = (
        GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=False)
        .fit(X[kept], LABELS[kept])
        .borrow("gerenuk", "llama", 0.6)
    )
    np.testing.assert_allclose(found[[0, 3, 26]], without.latent(X[[0, 3, 26]]).mean, atol=1e-10)
    np.testing.assert_allclose(np.delete(found, [0, 3, 26], 0), np.delete(model.leave_one_out().mean, [0, 3, 26], 0))


@pytest.mark.parametrize("balanced", [False, True])
def test_with_correlation_zero_nothing_is_borrowed_and_a_little_changes_a_little(balanced):
    alone = GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=balanced).fit(X, LABELS)
    expected, left_out = alone.latent(X_TEST).mean, alone.leave_one_out().mean
    nothing = alone.borrow("gerenuk", "llama", 0.0)
    np.testing.assert_allclose(nothing.latent(X_TEST).mean, expected, atol=1e-10)
    np.testing.assert_allclose(nothing.leave_one_out().mean, left_out, atol=1e-10)
    little = alone.borrow("gerenuk", "llama", 1e-3).latent(X_TEST).mean
    assert 0 < np.abs(little - expected).max() < 0.01


def test_a_loan_can_be_given_back():
    model = learned().borrow("gerenuk", "llama", 0.8)
    changed = model.latent(X_TEST).mean
    model.give_back("gerenuk")
    assert model.loans_ == {}
    plain = learned().latent(X_TEST).mean
    np.testing.assert_array_equal(model.latent(X_TEST).mean, plain)
    assert (changed != plain).any()


def test_a_loan_follows_examples_that_come_and_go():
    model = learned().borrow("gerenuk", "llama", 0.8)
    more = np.array([[1.9, 4.4], [0.1, 2.9]])
    model.add(more, ["gerenuk", "llama"])
    whole = GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=False).fit(
        np.vstack([X, more]), np.concatenate([LABELS, ["gerenuk", "llama"]])
    )
    whole.borrow("gerenuk", "llama", 0.8)
    np.testing.assert_allclose(model.latent(X_TEST).mean, whole.latent(X_TEST).mean, atol=1e-8)
    model.remove([len(X), len(X) + 1])
    np.testing.assert_allclose(
        model.latent(X_TEST).mean, learned().borrow("gerenuk", "llama", 0.8).latent(X_TEST).mean, atol=1e-8
    )
    model.remove(np.flatnonzero(model.labels_ == "llama"))
    assert model.loans_ == {}  # nobody left to borrow from


def test_the_model_file_keeps_a_loan(tmp_path):
    model = learned().borrow("gerenuk", "llama", 0.8)
    save(model, tmp_path / "model.fewsight")
    again = load(tmp_path / "model.fewsight")
    assert again.loans_ == {"gerenuk": Loan("llama", 0.8)}
    np.testing.assert_array_equal(again.latent(X_TEST).mean, model.latent(X_TEST).mean)
    again.give_back("gerenuk")
    np.testing.assert_array_equal(again.latent(X_TEST).mean, learned().latent(X_TEST).mean)


def test_learning_anew_forgets_loans():
    model = learned().borrow("gerenuk", "llama", 0.8)
    assert model.fit(X, LABELS).loans_ == {}

"""A category with few examples in a categoriser borrows from another."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.gp import task_covariance
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, Loan
from fewsight.persistence import load, save
from fewsight.transfer import Suggestion, borrow_for_few, suggest_loan

CENTRES = {"chair": (3.0, 0.0), "cup": (-3.0, 0.0), "llama": (0.0, 3.0), "gerenuk": (2.0, 4.5), "watch": (0.0, -3.0)}
COUNTS = {"chair": 12, "cup": 12, "llama": 12, "gerenuk": 1, "watch": 12}


def examples(counts, seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n, 2)) * 0.6 + CENTRES[name] for name, n in counts.items()])
    return X, np.repeat(list(counts), list(counts.values()))


X, LABELS = examples(COUNTS, 0)
X_TEST, TEST_LABELS = examples(dict.fromkeys(CENTRES, 60), 1)


def learned():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(X, LABELS)


def accuracy(model, names):
    right = model.predict(X_TEST) == TEST_LABELS
    return float(np.mean([right[name == TEST_LABELS].mean() for name in names]))


def test_the_related_category_lends_and_says_so():
    found = suggest_loan(learned(), "gerenuk")
    assert isinstance(found, Suggestion)
    assert found.lender == "llama"
    assert 0 < found.rho <= found.wished <= 1
    assert str(found) == "learned gerenuk from 1 image, borrowing from llama"


def test_borrowing_helps_the_new_category_and_hardly_costs_the_others():
    model, others = learned(), ["chair", "cup", "llama", "watch"]
    before = accuracy(model, ["gerenuk"]), accuracy(model, others)
    taken = borrow_for_few(model)
    assert [each.category for each in taken] == ["gerenuk"]
    assert model.loans_["gerenuk"].lender == "llama"
    assert accuracy(model, ["gerenuk"]) > before[0]
    assert accuracy(model, others) > before[1] - 0.01


def test_what_is_borrowed_is_the_posterior_of_two_dependent_tasks():
    model = learned().borrow("gerenuk", "llama", 0.6)
    K, K_test = RBF(scale=1.5).gram(X), RBF(scale=1.5).gram(X_TEST, X)
    lent = LABELS == "llama"
    targets = np.where(lent | (LABELS == "gerenuk"), 1.0, -1.0)
    A = task_covariance(K, lent.astype(int), [0.6]) + 0.1 * np.eye(len(K))
    expected = (K_test * np.where(lent, 0.6, 1.0)) @ np.linalg.solve(A, targets)
    column = model.classes_.tolist().index("gerenuk")
    np.testing.assert_allclose(model.latent(X_TEST).mean[:, column], expected, atol=1e-10)
    others = np.arange(len(model.classes_)) != column
    np.testing.assert_array_equal(model.latent(X_TEST).mean[:, others], learned().latent(X_TEST).mean[:, others])


def test_leave_one_out_of_a_loan_is_that_of_learning_without_the_example():
    model = learned().borrow("gerenuk", "llama", 0.6)
    column = model.classes_.tolist().index("gerenuk")
    for left_out in (0, 25, 30):  # a chair and two llamas
        kept = np.delete(np.arange(len(X)), left_out)
        without = GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(X[kept], LABELS[kept])
        mean = without.borrow("gerenuk", "llama", 0.6).latent(X[left_out : left_out + 1]).mean[0, column]
        assert model.leave_one_out().mean[left_out, column] == pytest.approx(mean, abs=1e-10)


def test_a_loan_of_correlation_zero_leaves_out_the_lender():
    model = learned().borrow("gerenuk", "llama", 0.0)
    kept = LABELS != "llama"
    without = GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(X[kept], LABELS[kept])
    column, other = (m.classes_.tolist().index("gerenuk") for m in (model, without))
    np.testing.assert_allclose(model.latent(X_TEST).mean[:, column], without.latent(X_TEST).mean[:, other], atol=1e-10)


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
    whole = GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(
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


def test_nobody_lends_where_all_have_as_few():
    one_each = [int(np.flatnonzero(name == LABELS)[0]) for name in CENTRES]
    model = GPClassifier(RBF(scale=1.5), noise_variance=0.1).fit(X[one_each], LABELS[one_each])
    assert suggest_loan(model, "gerenuk") is None
    assert borrow_for_few(model) == []


def test_only_the_lenders_that_are_allowed_are_considered():
    found = suggest_loan(learned(), "gerenuk", lenders=["chair", "cup"])
    assert found is None or found.lender in {"chair", "cup"}
    assert suggest_loan(learned(), "gerenuk", lenders=[]) is None
    assert borrow_for_few(learned(), lenders={"gerenuk": []}) == []


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.borrow("okapi", "llama", 0.5), "a category must be one of those learned, got 'okapi'"),
        (lambda model: model.borrow("gerenuk", "gerenuk", 0.5), "must borrow from another one"),
        (lambda model: model.borrow("gerenuk", "llama", 2), "rho must be a number from 0 to 1, got 2"),
        (lambda model: suggest_loan(model, "okapi"), "category must be one of those learned, got 'okapi'"),
        (lambda model: suggest_loan(model, "gerenuk", criterion="luck"), "criterion must be one of"),
        (lambda model: borrow_for_few(model, few=1), "few must be a whole number >= 2, got 1"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(ask, message):
    with pytest.raises(FewsightError, match=message):
        ask(learned())

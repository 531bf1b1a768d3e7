"""A category with few examples in a categoriser borrows from another."""

import numpy as np
import pytest

from fewsight._base.errors import FewsightError
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, Loan, SVMClassifier
from fewsight.transfer import NoLoan, Suggestion, borrow_for_few, consider_loan, loans_for_few, suggest_loan
from fewsight.transfer.lending import SCATTER, Rivalry, largest_bearable

CENTRES = {"chair": (3.0, 0.0), "cup": (-3.0, 0.0), "llama": (0.0, 3.0), "gerenuk": (2.0, 4.5), "watch": (0.0, -3.0)}


COUNTS = {"chair": 12, "cup": 12, "llama": 12, "gerenuk": 1, "watch": 12}


def examples(counts, seed):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n, 2)) * 0.5 + CENTRES[name] for name, n in counts.items()])
    return X, np.repeat(list(counts), list(counts.values()))


X, LABELS = examples(COUNTS, 0)


X_TEST, TEST_LABELS = examples(dict.fromkeys(CENTRES, 60), 1)


def learned():
    return GPClassifier(RBF(scale=1.5), noise_variance=0.1, balanced=False).fit(X, LABELS)


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
        (
            lambda model: suggest_loan(model, "gerenuk", lenders=["okapi"]),
            "borrow: lenders must be a list of categories that were learned, got 'okapi'",
        ),
        (lambda model: suggest_loan(model, "gerenuk", lenders="llama"), "lenders must be a list .* got 'llama'"),
        (
            lambda model: borrow_for_few(SVMClassifier("precomputed")),
            "borrow: model must be a learner whose categories can borrow, got SVMClassifier: its categories cannot borrow",
        ),
        (lambda model: suggest_loan(3, "gerenuk"), "model must be a learner whose categories can borrow, got 3"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(ask, message):
    with pytest.raises(FewsightError, match=message):
        ask(learned())


def test_a_category_that_shows_the_same_photographs_does_not_lend():
    asked = []

    def shares(borrower, lender):
        asked.append((borrower, lender))
        return lender == "llama"

    found = consider_loan(learned(), "gerenuk", shares=shares)
    assert asked[0] == ("gerenuk", "llama")  # the best is looked at first, and others only when it is out
    assert not isinstance(found, Suggestion) or found.lender != "llama"
    everyone = consider_loan(learned(), "gerenuk", shares=lambda borrower, lender: True)
    assert str(everyone) == (
        "learned gerenuk from 1 image alone: every category that may lend shows the same photographs"
    )


def test_a_category_far_from_all_others_borrows_nothing_and_says_why():
    """No lender makes a left-out image stand out more than it does by itself."""
    counts = {"chair": 12, "cup": 12, "llama": 12, "watch": 3}
    rows = np.concatenate([np.flatnonzero(name == LABELS)[:n] for name, n in counts.items()])
    model = GPClassifier(RBF(scale=1.0), noise_variance=0.1).fit(X[rows], LABELS[rows])
    found = consider_loan(model, "watch")
    assert isinstance(found, NoLoan)
    assert str(found).startswith("learned watch from 3 images alone: ")
    assert loans_for_few(model) == [found]
    assert borrow_for_few(model) == []
    assert model.loans_ == {}


def test_a_loan_is_as_large_as_the_others_can_bear():
    model = learned()
    found, rivalry = suggest_loan(model, "gerenuk"), Rivalry.of(model, "gerenuk")
    assert found.rho < found.wished

    def bears(rho):
        return rivalry.bear(model.borrowed("gerenuk", Loan("llama", rho)).left_out)

    assert bears(found.rho)
    assert not bears(found.rho + 0.02)
    assert largest_bearable(1.0, lambda rho: False) == 0.0


def test_what_the_others_lose_is_what_new_images_like_the_left_out_ones_would():
    model = learned()
    rivalry = Rivalry.of(model, "gerenuk")
    claimed = model.borrowed("gerenuk", Loan("llama", 0.9)).left_out
    rng, means, column = np.random.default_rng(0), model.leave_one_out().mean, model.classes_.tolist().index("gerenuk")
    others = np.delete(model.classes_, column)
    lost = []
    for values in (means[:, column], claimed):  # the category's value scatters around the left-out one
        drawn = values[:, None] + SCATTER * rng.normal(size=(len(values), 4000))
        right = others[np.delete(means, column, axis=1).argmax(axis=1)] == LABELS
        kept = right[:, None] & (drawn < np.delete(means, column, axis=1).max(axis=1)[:, None])
        lost.append([1 - kept[name == LABELS].mean() for name in others])
    np.testing.assert_allclose(rivalry.lost(claimed), np.subtract(lost[1], lost[0]), atol=0.01)
    assert rivalry.lost(claimed)[others == "llama"] > 0.05
    np.testing.assert_array_equal(rivalry.lost(means[:, column]), 0.0)


def test_every_category_with_few_images_gets_an_answer():
    model = learned()
    answers = loans_for_few(model)
    assert [each.category for each in answers] == ["gerenuk"]
    assert model.loans_["gerenuk"].rho == answers[0].rho
    refused = loans_for_few(learned(), lenders={"gerenuk": []})
    assert str(refused[0]) == "learned gerenuk from 1 image alone: no category that may lend has enough images"

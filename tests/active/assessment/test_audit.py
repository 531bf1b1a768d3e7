"""How good the decisions are: claims that hold in simulated runs."""

import numpy as np
import pytest
from scipy.stats import beta

from fewsight.active import ActiveLearner, GramPool
from fewsight.active.assessment.audit import Expected, accuracy_of_rest
from fewsight.active.history import Check
from fewsight.learners import GPClassifier, SVMClassifier

GP = GPClassifier("precomputed", noise_variance=0.01)


def run(K, truth, n, seed, rule="uncertainty", learner=GP, **options):
    """An active learner after n answers."""
    active = ActiveLearner(learner, rule, random_state=seed, **options).fit(K)
    for _ in range(n):
        query = active.query()
        active.teach(query.indices, truth[query.indices])
    return active


def true_accuracy(active, truth):
    rest = np.flatnonzero(active.view_.unlabelled)
    return float(np.mean(np.array(active.predict())[rest] == truth[rest]))


def part(digits, digit_gram, size, seed):
    """A random part of the digits as a pool of its own."""
    rows = np.random.default_rng(seed).permutation(len(digit_gram))[:size]
    return GramPool(digit_gram[np.ix_(rows, rows)]), digits[1][rows]


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "n"), [("uncertainty", 60), ("random", 60), ("uncertainty", 100)])
def test_the_audit_interval_covers_the_true_accuracy_of_the_rest_in_85_of_100_runs(digits, digit_gram, rule, n):
    covered = []
    for seed in range(1000, 1100):
        K, truth = part(digits, digit_gram, 300, seed)
        active = run(K, truth, n, seed, rule, relearn_every=None)
        found = active.accuracy()
        covered.append(found.low <= true_accuracy(active, truth) <= found.high)
    assert np.sum(covered) >= 85


@pytest.mark.slow
def test_the_audit_is_near_the_truth_on_average_and_narrows(digits, digit_gram):
    errors, widths = [], {40: [], 120: []}
    for seed in range(1000, 1020):
        K, truth = part(digits, digit_gram, 600, seed)
        for n in widths:
            active = run(K, truth, n, seed, relearn_every=None)
            found = active.accuracy()
            errors.append(found.estimate - true_accuracy(active, truth))
            widths[n].append(found.high - found.low)
    assert abs(np.mean(errors)) < 0.04
    assert np.mean(widths[120]) < 0.7 * np.mean(widths[40])


def test_audits_of_a_support_vector_machine_rest_on_predictions_before_the_answers(digits, digit_gram):
    K, truth = part(digits, digit_gram, 200, 0)
    active = run(K, truth, 40, 0, "margin", SVMClassifier("precomputed"))
    found = active.accuracy()
    assert found.n_audits == 8
    assert found.low <= found.estimate <= found.high


def test_an_audit_without_errors_reaches_certainty_only_upwards():
    checks = [Check(place, 100 - place, place) for place in range(20)]
    found = accuracy_of_rest(checks, range(20), np.zeros(20), 80)
    assert found.estimate == found.high == 1.0
    assert 0.8 < found.low < 0.95
    assert accuracy_of_rest(checks, range(20), np.zeros(20), 0) is None
    assert str(found) == f"about 100% ({found.low:.0%} to 100%)"


def test_errors_that_were_labelled_since_are_not_errors_of_the_rest():
    """Ten wrong among 100 to draw from, five of them labelled since: five wrong are left among 95."""
    wrong = np.array([1.0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [1.0] * 4)
    checks = [Check(place, 100, 0) for place in range(10)]
    found = accuracy_of_rest(checks, range(10), wrong, 95)
    assert found.estimate == pytest.approx(1 - 5 / 95)


def test_checks_that_are_harder_than_the_rest_are_made_up_for_by_the_probabilities():
    """Six of ten right, where 0.7 was stated; at the rest 0.8 is stated: 0.1 above six of ten and three more as stated."""
    checks = [Check(place, 100, 0) for place in range(10)]
    wrong = np.array([1.0] * 4 + [0.0] * 6)
    found = accuracy_of_rest(checks, range(10), wrong, 1000, Expected(0.8, np.full(10, 0.7)))
    student = (1.6448536 / 1.8331129) ** 2  # by which ten checks are fewer for an interval
    effective = student / (1 / 10 + 1 / 1000)
    right, n = effective * 0.6 + 3 * 0.7, effective + 3
    low, high = beta.ppf([0.05, 0.95], right + 0.5, n - right + 0.5)
    assert found.estimate == pytest.approx(right / n + 0.1, rel=1e-6)
    assert (found.low, found.high) == pytest.approx((low + 0.1, high + 0.1), rel=1e-6)


def test_an_interval_from_checks_that_are_all_wrong_or_all_right_reaches_the_end():
    checks = [Check(place, 100, place) for place in range(8)]
    expected = Expected(0.9, np.full(8, 0.7))
    none_right, all_right = (accuracy_of_rest(checks, range(8), np.full(8, x), 90, expected) for x in (1.0, 0.0))
    assert (none_right.low, all_right.high) == (0.0, 1.0)
    assert none_right.low < none_right.estimate < none_right.high < 0.8
    assert 0.5 < all_right.low < 0.95 < all_right.estimate < 1.0


def test_a_few_checks_that_are_all_right_do_not_say_that_everything_is():
    for stated in (0.5, 0.9):
        few, many = (
            accuracy_of_rest(
                [Check(place, 1000, place) for place in range(n)],
                range(n),
                np.zeros(n),
                900,
                Expected(stated, np.full(n, stated)),
            )
            for n in (5, 100)
        )
        assert few.low <= few.estimate < many.estimate < 1.0
        assert many.estimate > 0.97


def test_one_check_says_next_to_nothing():
    found = accuracy_of_rest([Check(0, 50, 0)], [0], np.zeros(1), 49, Expected(0.5, np.full(1, 0.5)))
    assert found.low < 0.2
    assert found.high == 1.0

"""How good, whether to stop, and which labels look wrong: claims that hold in simulated runs."""

import numpy as np
import pytest

from fewsight.active import ActiveLearner, GramPool, simulate
from fewsight.active.assessment.audit import Expected, accuracy_of_rest
from fewsight.active.assessment.stopping import Decisions, advise, gain_on_labelled
from fewsight.active.assessment.suspicion import even_leave_one_out, surprises_at
from fewsight.active.history import Check
from fewsight.gp import Posterior
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


@pytest.mark.parametrize(("rule", "n"), [("uncertainty", 60), ("random", 60), ("uncertainty", 100)])
def test_the_audit_interval_covers_the_true_accuracy_of_the_rest_in_85_of_100_runs(digits, digit_gram, rule, n):
    covered = []
    for seed in range(1000, 1100):
        K, truth = part(digits, digit_gram, 300, seed)
        active = run(K, truth, n, seed, rule, relearn_every=None)
        found = active.accuracy()
        covered.append(found.low <= true_accuracy(active, truth) <= found.high)
    assert np.sum(covered) >= 85


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
    """Six of ten right, where 0.7 was stated; at the rest 0.8 is stated: 0.6 and 0.1."""
    checks = [Check(place, 100, 0) for place in range(10)]
    wrong = np.array([1.0] * 4 + [0.0] * 6)
    found = accuracy_of_rest(checks, range(10), wrong, 1000, Expected(0.8, np.full(10, 0.7)))
    as_hard = accuracy_of_rest(checks, range(10), wrong, 1000, Expected(0.8, np.full(10, 0.8)))
    assert found.estimate == pytest.approx(0.7)
    assert found.low - as_hard.low == pytest.approx(0.1)
    assert found.high - as_hard.high == pytest.approx(0.1)


def test_an_interval_from_checks_that_are_all_wrong_or_all_right_reaches_the_end():
    checks = [Check(place, 100, place) for place in range(8)]
    expected = Expected(0.9, np.full(8, 0.7))
    none_right, all_right = (accuracy_of_rest(checks, range(8), np.full(8, x), 90, expected) for x in (1.0, 0.0))
    assert (none_right.low, all_right.high) == (0.0, 1.0)
    assert none_right.low < none_right.estimate < none_right.high < 0.8
    assert 0.5 < all_right.low < all_right.estimate == 1.0


def test_one_check_says_next_to_nothing():
    found = accuracy_of_rest([Check(0, 50, 0)], [0], np.zeros(1), 49, Expected(0.5, np.full(1, 0.5)))
    assert found.low < 0.2
    assert found.high == 1.0


def test_advice_to_stop_comes_when_100_more_labels_would_gain_less_than_a_point(digits, digit_gram):
    """On test examples that are never asked about; at least 80 of 100 runs."""
    pool, truth, gains = GramPool(digit_gram), digits[1], []
    for seed in range(1000, 1006):
        test = np.random.default_rng(seed).permutation(len(truth))[:700]
        active = ActiveLearner(GP, random_state=seed).fit(pool, exclude=test)
        accuracy, stopped = [], None
        while stopped is None or len(accuracy) < stopped + 100:
            query = active.query()
            active.teach(query.indices, truth[query.indices])
            decisions = np.array(active.view_.classes)[active.view_.decisions()]
            accuracy.append(np.mean(decisions[test] == truth[test]))
            if stopped is None and len(accuracy) % 10 == 0 and active.status().advice.stop:
                stopped = len(accuracy)
        gains.append(accuracy[-1] - accuracy[stopped - 1])
    assert np.mean(np.array(gains) < 0.01) >= 0.8


def test_advice_is_given_in_words(digits, digit_gram):
    early, late = (run(GramPool(digit_gram), digits[1], n, 3).status() for n in (10, 300))
    assert not early.advice.stop
    assert early.advice.reason.startswith("Too early to say: advice comes after 20 answers; so far about ")
    assert late.advice.stop
    assert "The last 40 answers changed " in late.advice.reason
    assert late.advice.reason.endswith("100 more answers would probably gain less than 1 point.")
    assert f"{late.n_labelled:,} labelled" in str(late)
    assert "random checks" in str(late)
    assert late.expected_accuracy > 0.8


def test_what_the_labelled_examples_gained_equals_learning_with_half_of_them_and_without_each(digits, digit_gram):
    n, n_before = 60, 30
    K, truth = digit_gram[:n, :n], digits[1][:n]
    targets = np.where(truth[:, None] == np.unique(truth), 1.0, -1.0)

    def right(example, others):
        others = [other for other in others if other != example]
        A = K[np.ix_(others, others)] + 0.01 * np.eye(len(others))
        mean = K[example, others] @ np.linalg.solve(A, targets[others])
        return bool(mean.argmax() == targets[example].argmax())

    expected = sum(right(i, range(n)) - right(i, range(n_before)) for i in range(n))
    assert gain_on_labelled(K, targets, np.full(n, 0.01), n_before) == expected


def test_a_pool_whose_hard_examples_are_all_labelled_is_no_reason_to_stop_for_new_ones(digits, digit_gram):
    K, truth = part(digits, digit_gram, 500, 3)
    advice = run(K, truth, 250, 3).status().advice
    assert not advice.stop
    assert "would hardly change the rest, but probably gain about 2 points on new examples." in advice.reason


def test_a_category_that_was_new_among_the_last_answers_speaks_against_stopping():
    history = [Decisions(n, 2 if n < 50 else 3, np.zeros(10, dtype=np.int32)) for n in range(30, 61)]
    advice = advise(history, np.full((5, 3), 1 / 3), np.arange(5), None)
    assert not advice.stop
    assert "1 category is new among them, so it is worth going on." in advice.reason


def test_wrong_answers_are_found_among_the_most_surprising_labels(digits, digit_pool):
    """With 5 of 100 wrong, at least half of those in the first tenth."""
    found = total = 0
    for seed in range(1000, 1004):
        rng = np.random.default_rng(seed)
        active, wrong = ActiveLearner(GPClassifier("precomputed"), random_state=seed).fit(digit_pool), set()
        for _ in range(150):
            position = int(active.query().indices[0])
            label = int(digits[1][position])
            if rng.random() < 0.05:
                label = (label + int(rng.integers(1, 10))) % 10
                wrong.add(position)
            active.teach(position, label)
        found += len(wrong & set(active.suspicious(15).indices.tolist()))
        total += len(wrong)
    assert found >= 0.5 * total


def test_leave_one_out_of_equally_frequent_classes_equals_learning_without_each(digits, digit_gram):
    n = 30
    K, truth = digit_gram[:n, :n], digits[1][:n]
    targets = np.where(truth[:, None] == np.unique(truth), 1.0, -1.0)
    even = targets - targets.mean(axis=0)
    found = even_leave_one_out(Posterior.condition(K, targets, 0.1))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        A = K[np.ix_(others, others)] + 0.1 * np.eye(n - 1)
        np.testing.assert_allclose(found[i], K[i, others] @ np.linalg.solve(A, even[others]), atol=1e-8)


def test_a_label_is_suspicious_beyond_what_is_usual_in_its_category(digits, digit_gram):
    """A wrong label comes first, the only label of its category last."""
    rows = np.concatenate([np.flatnonzero(digits[1] == digit)[:12] for digit in (0, 1, 8)] + [[5]])
    names = [*np.repeat(["zero", "one", "eight"], 12), "alone"]
    names[3] = "eight"
    found = surprises_at(
        GPClassifier("precomputed", noise_variance=0.01).fit(digit_gram[np.ix_(rows, rows)], names).posterior_
    )
    assert np.argmax(found) == 3
    assert found[-1] == found.min()
    single = GPClassifier("precomputed", noise_variance=0.01).fit(digit_gram[:3, :3], ["a", "b", "c"])
    np.testing.assert_array_equal(surprises_at(single.posterior_), np.zeros(3))


def test_a_simulation_records_every_answer_of_every_seed(digits, digit_pool):
    seen = []
    records = simulate(GP, digit_pool, digits[1], "uncertainty", 12, seeds=(3, 4), test=range(100), batch_size=5)
    for record in records:
        seen += [position for position in record["asked"] if position < 100]
    assert [record["labels"] for record in records] == [10, 15, 20, 22] * 2
    assert {record["seed"] for record in records} == {3, 4}
    assert seen == []
    assert all(record["rule"] == "uncertainty" and 0 <= record["accuracy"] <= 1 for record in records)
    again = simulate(GP, digit_pool, digits[1], "uncertainty", 12, seeds=(4,), test=range(100), batch_size=5)
    assert again == [record for record in records if record["seed"] == 4]


def test_a_simulation_with_wrong_answers_is_worse_than_one_without(digits, digit_pool):
    def end(share):
        records = simulate(GP, digit_pool, digits[1], "random", 80, seeds=(100, 101), wrong_share=share)
        return np.mean([record["accuracy"] for record in records if record["labels"] == 90])

    assert end(0.3) < end(0.0) - 0.05


def test_a_simulation_from_nothing_begins_with_the_first_answer(digits, digit_pool):
    records = simulate(GP, digit_pool, digits[1], "random", 3, start=0, seeds=(1,))
    assert [record["labels"] for record in records] == [1, 2, 3]

"""Whether more labels would help: claims that hold in simulated runs."""

import re

import numpy as np
import pytest

from fewsight.active import ActiveLearner, GramPool
from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.stopping import Decisions, OnLabelled, advise, gain_on_labelled
from fewsight.active.views import ClosedForm
from fewsight.learners import GPClassifier
from fewsight.learners.balance import balanced_targets

GP = GPClassifier("precomputed", noise_variance=0.01)


def run(K, truth, n, seed, rule="uncertainty", learner=GP, **options):
    """An active learner after n answers."""
    active = ActiveLearner(learner, rule, random_state=seed, **options).fit(K)
    for _ in range(n):
        query = active.query()
        active.teach(query.indices, truth[query.indices])
    return active


def part(digits, digit_gram, size, seed):
    """A random part of the digits as a pool of its own."""
    rows = np.random.default_rng(seed).permutation(len(digit_gram))[:size]
    return GramPool(digit_gram[np.ix_(rows, rows)]), digits[1][rows]


@pytest.mark.slow
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
    active = run(GramPool(digit_gram), digits[1], 10, 3)
    early = late = active.status()
    while not late.advice.stop and late.n_labelled < 600:
        for _ in range(30):
            query = active.query()
            active.teach(query.indices, digits[1][query.indices])
        late = active.status()
    assert not early.advice.stop
    assert early.advice.reason.startswith("Too early to say: advice comes after 20 answers; so far about ")
    assert late.advice.stop
    assert "The last 40 answers changed " in late.advice.reason
    assert late.advice.reason.endswith("100 more answers would probably gain less than 1 point.")
    assert f"{late.n_labelled:,} labelled" in str(late)
    assert "random checks" in str(late)
    assert late.expected_accuracy > 0.8


@pytest.mark.parametrize("balanced", [False, True])
def test_what_the_labelled_examples_gained_equals_learning_with_half_of_them_and_without_each(
    balanced, digits, digit_gram
):
    n, n_before = 60, 30
    K, truth = digit_gram[:n, :n], digits[1][:n]
    targets = np.where(truth[:, None] == np.unique(truth), 1.0, -1.0)

    def right(example, others):
        others = [other for other in others if other != example]
        A = K[np.ix_(others, others)] + 0.01 * np.eye(len(others))
        known = balanced_targets(targets[others]) if balanced else targets[others]
        mean = K[example, others] @ np.linalg.solve(A, known)
        return bool(mean.argmax() == targets[example].argmax())

    expected = sum(right(i, range(n)) - right(i, range(n_before)) for i in range(n))
    wrong = n - sum(right(i, range(n)) for i in range(n))
    assert gain_on_labelled(ClosedForm(K, targets, np.full(n, 0.01), balanced), n_before) == (expected, wrong)


def test_a_pool_whose_hard_examples_are_all_labelled_is_no_reason_to_stop_for_new_ones(digits, digit_gram):
    K, truth = part(digits, digit_gram, 500, 3)
    advice = run(K, truth, 250, 3).status().advice
    assert not advice.stop
    points = round(100 * advice.expected_gain_on_new)
    assert points >= 1
    gain = f"{points} point{'s' if points > 1 else ''}"
    assert f"would hardly change the rest, but probably gain about {gain} on new examples, of which" in advice.reason


def simulated(rng):
    """A state of learning: decisions of some time ago and now, probabilities, checks and labels, all of them possible."""
    m, c, n = int(rng.integers(30, 400)), int(rng.integers(2, 8)), int(rng.integers(45, 300))
    rest = np.sort(rng.permutation(m)[: int(rng.integers(1, m))])
    probabilities = rng.dirichlet(np.full(c, 10.0 ** rng.uniform(-2, 1)), m)
    now = np.where(rng.random(m) < rng.random(), probabilities.argmax(axis=1), rng.integers(0, c, m)).astype(np.int32)
    before = np.where(rng.random(m) < rng.random() ** 3, rng.integers(0, c, m), now).astype(np.int32)
    history = [Decisions(n - 40, c, before), Decisions(n, c, now)]
    low, estimate, high = np.sort(rng.random(3) ** rng.choice([0.01, 0.2, 1.0]))
    accuracy = Accuracy(float(estimate), float(low), float(high), 9) if rng.random() < 0.8 else None
    wrong = int(rng.integers(0, n + 1))
    labelled = OnLabelled(int(rng.integers(-n // 4, n - wrong + 1)), wrong)
    return history, probabilities[rest], rest, accuracy, (lambda _: labelled) if rng.random() < 0.8 else None


def test_in_a_thousand_states_no_gain_exceeds_what_the_estimate_leaves_and_no_sentence_contradicts_itself():
    rng, told = np.random.default_rng(0), 0
    for _ in range(1_000):
        state = simulated(rng)
        advice, accuracy = advise(*state), state[3]
        right = state[1].max(axis=1).mean() if accuracy is None else accuracy.estimate
        assert 0 <= advice.expected_gain <= 1 - right + 1e-12
        assert 0 <= advice.expected_gain_on_new <= 1
        assert advice.stop == ("less than 1 point" in advice.reason)
        shown = [int(number) for number in re.findall(r"about (\d+)%", advice.reason)]
        points = [int(number) for number in re.findall(r"about (\d+) points?", advice.reason)]
        if points and shown:
            told += 1
            assert points[0] <= 100 - shown[-1]  # the share that the gain is about is the last that is named
    assert told > 300


def test_a_category_that_was_new_among_the_last_answers_speaks_against_stopping():
    history = [Decisions(n, 2 if n < 50 else 3, np.zeros(10, dtype=np.int32)) for n in range(30, 61)]
    advice = advise(history, np.full((5, 3), 1 / 3), np.arange(5), None)
    assert not advice.stop
    assert "1 category is new among them, so it is worth going on." in advice.reason

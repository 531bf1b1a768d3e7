"""Which labels look wrong."""

import numpy as np
import pytest

from fewsight.active import ActiveLearner
from fewsight.active.assessment.suspicion import even_leave_one_out, surprises_at
from fewsight.gp import Posterior
from fewsight.learners import GPClassifier


@pytest.mark.slow
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


def test_an_example_of_no_class_is_never_the_most_surprising_and_speaks_against_wrong_labels():
    rng = np.random.default_rng(4)
    group = np.arange(60) % 3
    rows = 3.0 * np.eye(3)[group] + 0.5 * rng.normal(size=(60, 3))
    targets = np.where(group[:, None] == np.arange(2), 1.0, -1.0)
    targets[2] = [1.0, -1.0]  # said to be of the first class, among those of none
    squared = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    found = surprises_at(Posterior.condition(np.exp(-squared / 8.0), targets, 0.1))
    assert found.argmax() == 2
    assert (found[(group == 2) & (np.arange(60) != 2)] == found.min()).all()

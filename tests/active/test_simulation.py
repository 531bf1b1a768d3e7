"""Learning curves by a pool whose labels are known."""

import numpy as np

from fewsight.active import simulate
from fewsight.learners import GPClassifier

GP = GPClassifier("precomputed", noise_variance=0.01)


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

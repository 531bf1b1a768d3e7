"""Whose turn it is, as the acts that are on make it."""

import numpy as np

from fewsight.active.history import Act, Check
from fewsight.active.schedule import Schedule


def test_a_skipped_example_cools_down_for_the_stated_number_of_turns():
    schedule = Schedule.after([Act("skip", (3,))], cool_down=2)
    assert schedule.candidates(np.arange(5))[0].tolist() == [0, 1, 2, 4]
    assert schedule.n_cooling == 1
    schedule.follow(Act("label", (0, 1), ("a", "b"), (None, "a")))
    assert schedule.candidates(np.arange(2, 5))[0].tolist() == [2, 3, 4]
    assert schedule.n_cooling == 0


def test_where_all_cool_down_those_skipped_longest_ago_come_back():
    schedule = Schedule.after([Act("skip", (0,)), Act("skip", (1,))], cool_down=100)
    ready, said = schedule.candidates(np.arange(2))
    assert ready.tolist() == [0]
    assert said == "All 2 examples that are left were skipped; those skipped longest ago come back."


def test_a_check_counts_once_it_is_answered():
    check = Check(4, 10, 2)
    schedule = Schedule.after([Act("question", (4, 5), checks=(check,))], cool_down=5)
    assert schedule.checks == []
    schedule.follow(Act("label", (5, 4), ("a", "b"), ("b", None)))
    assert schedule.checks == [check]
    assert schedule.believed == {5: "b", 4: None}
    assert schedule.done == 2


def test_excluded_and_discarded_examples_are_closed():
    schedule = Schedule.after([Act("start", excluded=(7, 8)), Act("discard", (1,))], cool_down=5)
    assert schedule.closed == [7, 8, 1]


def test_every_fifth_question_is_a_check_for_a_share_of_a_fifth():
    schedule, drawn = Schedule(5), []
    for turn in range(10):
        checks = schedule.draw(
            np.arange(100), schedule.done + np.arange(1), 0.2, 100, turn, np.random.default_rng(turn)
        )
        drawn += [turn] * len(checks)
        schedule.follow(Act("label", (turn,), ("a",), (None,)))
    assert drawn == [4, 9]
    batch = Schedule(5).draw(np.arange(100), np.arange(10), 0.2, 100, 3, np.random.default_rng(0))
    assert [(check.n_drawn_from, check.n_labelled) for check in batch] == [(100, 3), (99, 4)]

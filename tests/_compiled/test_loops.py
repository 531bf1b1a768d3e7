"""Entering loops that can run on several threads."""

from __future__ import annotations

import threading

import numba
import pytest

from fewsight._compiled._loops import WORTH_SHARING, threads_for


def test_few_steps_take_one_thread_and_many_take_all() -> None:
    before = numba.get_num_threads()
    with threads_for(WORTH_SHARING - 1):
        assert numba.get_num_threads() == 1
    with threads_for(WORTH_SHARING):
        assert numba.get_num_threads() == before
    assert numba.get_num_threads() == before


def test_an_error_inside_leaves_the_threads_as_they_were_and_the_door_open() -> None:
    before = numba.get_num_threads()
    for _ in range(2):
        with pytest.raises(RuntimeError), threads_for(0):
            raise RuntimeError
    assert numba.get_num_threads() == before


def test_only_one_python_thread_is_inside_at_a_time() -> None:
    inside, most = [], []

    def enter() -> None:
        for _ in range(50):
            with threads_for(0):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1

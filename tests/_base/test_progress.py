"""Progress, and silence."""

import pytest

from fewsight._base.progress import reporting, silent, steps_of, track


def test_nobody_hears_of_what_is_silent():
    def reporter(items, what, total):
        raise AssertionError

    with reporting(reporter), silent():
        assert list(track([1, 2], "quietly", 2)) == [1, 2]


def test_work_that_is_no_loop_reaches_its_steps_and_all_of_them_at_its_end():
    seen = []

    def reporter(items, what, total):
        seen.append((what, total))
        for item in items:
            yield item
            seen.append(item)  # once the next is asked for
        seen.append("closed")

    with reporting(reporter):
        with steps_of("working", 4) as reach:
            assert seen == []
            reach(2)
            reach(1)
            assert seen == [("working", 4), 0]
        assert seen == [("working", 4), 0, 1, 2, 3, "closed"]
        with pytest.raises(ZeroDivisionError), steps_of("failing", 3) as reach:
            reach(1 // 0)
    assert seen[6:] == []
    with steps_of("unheard", 2) as reach:
        reach(5)

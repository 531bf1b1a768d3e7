"""Progress, and silence."""

from fewsight._base.progress import reporting, silent, track


def test_nobody_hears_of_what_is_silent():
    def reporter(items, what, total):
        raise AssertionError

    with reporting(reporter), silent():
        assert list(track([1, 2], "quietly", 2)) == [1, 2]

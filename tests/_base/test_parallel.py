"""Independent pieces of work."""

import pytest

from fewsight._base.parallel import map_pieces
from fewsight._base.progress import reporting


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_results_come_in_order_and_every_piece_is_reported(n_jobs):
    heard = []

    def reporter(items, what, total):
        for item in items:
            heard.append((what, total))
            yield item

    with reporting(reporter):
        assert map_pieces(lambda piece: piece * 2, list(range(5)), n_jobs=n_jobs, what="doubling") == [0, 2, 4, 6, 8]
    assert heard == [("doubling", 5)] * 5


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_piece_reaches_the_caller(n_jobs):
    with pytest.raises(ZeroDivisionError):
        map_pieces(lambda piece: 1 // piece, [1, 0, 2], n_jobs=n_jobs)

"""Kernel values that are kept within a bound in bytes."""

import threading

import numpy as np

from fewsight.active.pools.kept_rows import KeptRows

ROW = np.linspace(0.0, 1.0, 20).reshape(2, 10)  # two kernels, a pool of 10: 160 bytes


def test_rows_are_kept_as_they_are_then_in_single_precision_and_never_beyond_the_bound():
    kept = KeptRows(max_bytes=3 * ROW.nbytes)
    for position in range(20):
        kept.keep({position: ROW + position})
        assert kept.n_bytes <= 3 * ROW.nbytes
        assert kept.n_bytes == sum(row.nbytes for row in kept.known(range(20)).values())
        if position < 3:
            np.testing.assert_array_equal(kept.known([position])[position], ROW + position)
    assert sorted(kept.known(range(20))) == list(range(6))
    np.testing.assert_allclose(kept.known([5])[5], ROW + 5, rtol=1e-7)
    assert kept.known([5])[5].dtype == np.float32


def test_a_longer_row_takes_the_place_of_a_shorter_one_and_never_the_other_way_round():
    kept, longer = KeptRows(), np.hstack([ROW, ROW])
    kept.keep({0: ROW})
    kept.keep({0: longer})
    kept.keep({0: ROW})
    np.testing.assert_array_equal(kept.known([0])[0], longer)
    assert kept.n_bytes == longer.nbytes


def test_what_a_copy_keeps_the_first_does_not_know():
    first = KeptRows(max_bytes=1_000)
    first.keep({0: ROW})
    second = first.copy()
    second.keep({1: ROW})
    assert (sorted(first.known([0, 1])), sorted(second.known([0, 1]))) == ([0], [0, 1])
    assert second.max_bytes == 1_000


def test_many_threads_keep_what_each_of_them_brings():
    kept = KeptRows()
    threads = [
        threading.Thread(target=lambda n=n: [kept.keep({100 * n + i: ROW}) for i in range(100)]) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.known(range(800))) == 800
    assert kept.n_bytes == 800 * ROW.nbytes

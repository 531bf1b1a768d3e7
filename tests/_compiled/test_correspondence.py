"""Distances between sets of descriptors equal their definition."""

import numpy as np
import pytest

from fewsight._compiled.correspondence import distances, distances_reference


def sets(counts, d, seed):
    rng = np.random.default_rng(seed)
    n = sum(counts)
    descriptors, positions = rng.random((n, d)).astype(np.float32), rng.random((n, 2)).astype(np.float32)
    return descriptors, positions, np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)


@pytest.mark.parametrize(
    ("a_counts", "b_counts", "d"),
    [
        ([1], [1], 1),
        ([3, 5], [4, 1, 2], 3),  # fewer than are multiplied at the same time
        ([4, 8], [128, 129], 4),  # a whole panel, and one more
        ([250, 127], [250], 48),
        ([7], [300], 50),  # no multiple of four
    ],
)
def test_compiled_distances_equal_their_reference(a_counts, b_counts, d):
    A, B = sets(a_counts, d, 0), sets(b_counts, d, 1)
    expected = distances_reference(*A, *B, 0.7)
    np.testing.assert_allclose(distances(*A, *B, 0.7), expected, rtol=1e-5, atol=1e-6)
    assert (expected[1] >= expected[0]).all()


def test_the_definition_is_a_mean_of_smallest_squared_distances():
    (a, p, _), (b, q, _) = A, B = sets([3], 2, 0), sets([4], 2, 1)
    plain = ((a[:, None].astype(float) - b[None]) ** 2).sum(axis=2)
    there = plain + 0.25 * ((p[:, None].astype(float) - q[None]) ** 2).sum(axis=2)
    expected = [(each.min(axis=1).mean() + each.min(axis=0).mean()) / 2 for each in (plain, there)]
    np.testing.assert_allclose(distances_reference(*A, *B, 0.5).ravel(), expected, rtol=1e-12)


def test_a_pair_has_the_same_distance_to_the_last_bit_in_any_order_and_company():
    counts = [250, 13, 131, 4, 64]
    a, p, starts = A = sets(counts, 48, 0)
    D = distances(*A, *A, 1.0)
    np.testing.assert_array_equal(D, D.transpose(0, 2, 1))
    for j in range(len(counts)):
        alone = slice(starts[j], starts[j + 1])
        one = a[alone], p[alone], np.array([0, counts[j]])
        np.testing.assert_array_equal(distances(*A, *one, 1.0)[:, :, 0], D[:, :, j])
        np.testing.assert_array_equal(distances(*one, *A, 1.0)[:, 0], D[:, j])


def test_a_set_is_at_distance_zero_from_itself_and_of_one_descriptor_many_times():
    a, p, starts = A = sets([40, 30], 48, 3)
    assert (distances(*A, *A, 2.0).diagonal(axis1=1, axis2=2) == 0).all()
    twice = np.repeat(a[:40], 3, axis=0), np.repeat(p[:40], 3, axis=0), np.array([0, 120])
    np.testing.assert_array_equal(distances(*twice, a[:40], p[:40], starts[:2], 1.0), np.zeros((2, 1, 1)))


def test_an_empty_set_is_like_empty_ones_only():
    A, B = sets([0, 3], 5, 0), sets([2, 0], 5, 1)
    for found in (distances(*A, *B, 1.0), distances_reference(*A, *B, 1.0)):
        assert np.isinf(found[:, 0, 0]).all()
        assert np.isinf(found[:, 1, 1]).all()
        assert (found[:, 0, 1] == 0).all()
        assert np.isfinite(found[:, 1, 0]).all()

"""Kernels and channels that a Gaussian process asks for by evidence."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.channels import BoxFamily, Windows
from fewsight.images import sample_set
from fewsight.kernels import RBF, RelevanceRBF
from fewsight.kernels.families import ColumnFamily, RelevanceFamily
from fewsight.learners import GPClassifier, grow_kernels

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 5))
X[:, :2] = np.sign(X[:, :2]) + 0.2 * RNG.normal(size=(120, 2))
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


@pytest.mark.parametrize("family", [RelevanceFamily(), ColumnFamily(2)], ids=lambda family: family.kind)
def test_the_kernel_that_tells_is_found_and_serves_a_gaussian_process(family):
    grown = grow_kernels(X[:80], Y[:80], RBF(scale=5.0), family)
    np.testing.assert_allclose(grown.weights.sum(), 1.0)
    best = grown.kernels[int(grown.weights.argmax())]
    seen = np.flatnonzero(best.relevances) if isinstance(best, RelevanceRBF) else best.columns
    assert set(seen) == {0, 1}
    assert GPClassifier(grown.as_kernel()).fit(X[:80], Y[:80]).score(X[80:], Y[80:]) == 1.0


def test_the_evidence_never_falls_and_no_more_join_than_allowed():
    values = [grow_kernels(X, Y, RBF(scale=5.0), ColumnFamily(2), max_kernels=most).log_evidence for most in (1, 2, 4)]
    assert values[0] < values[1] <= values[2] + 1e-6 * abs(values[2])


def test_windows_that_were_grown_are_one_channel():
    tiles = sample_set().select(range(0, 550, 22))
    small = {"n_words": 20, "n_descriptors": 2_000, "longest_side": 64}
    images, labels = list(tiles.images), list(tiles.labels)
    start = Windows(boxes=((0.0, 0.0, 0.3, 0.3),), **small)
    grown = grow_kernels(images, labels, start, BoxFamily(**small), n_starts=5, max_kernels=3)
    channel = grown.as_kernel()
    assert isinstance(channel, Windows)
    assert len(channel.layout) == len(grown.kernels) > 1
    assert GPClassifier(channel, noise_variance=0.1).fit(images, labels).score(images, labels) > 0.8


def test_what_is_no_family_is_refused():
    with pytest.raises(InvalidInput, match="grow_kernels: family must be a kernel family, got None"):
        grow_kernels(X, Y, RBF(), None)


def test_rows_may_be_lists_without_a_kernel_and_a_seed_that_is_none_is_refused():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    labels = (rows[:, 0] > 0).tolist()
    found = grow_kernels(rows.tolist(), labels, None, RelevanceFamily(), max_kernels=2)
    assert found.weights.sum() == pytest.approx(1)
    with pytest.raises(InvalidInput, match="grow_kernels: random_state must be a whole number >= 0, got -1"):
        grow_kernels(rows, labels, None, RelevanceFamily(), random_state=-1)

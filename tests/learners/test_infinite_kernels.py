"""Kernels that a learner asks a family for, and the certificate that no other would help."""

from __future__ import annotations

import numpy as np
import pytest

import fewsight
from fewsight._base.errors import InvalidInput
from fewsight.kernels import RBF, Columns, Linear
from fewsight.kernels.families import ColumnFamily, RelevanceFamily
from fewsight.kernels.rbf import RelevanceRBF
from fewsight.learners import InfiniteKernelClassifier, MKLClassifier

RNG = np.random.default_rng(1)
X = RNG.normal(size=(140, 5))
X[:, :2] = np.sign(X[:, :2]) + 0.2 * RNG.normal(size=(140, 2))  # four blobs, those across of one class
Y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
TRAIN, TEST = slice(0, 90), slice(90, 140)


def test_the_dimensions_that_tell_are_found():
    learner = InfiniteKernelClassifier(RBF(scale=5.0), RelevanceFamily(), C=10.0).fit(X[TRAIN], Y[TRAIN])
    best = learner.kernels_[int(learner.weights_[0].argmax())]
    assert isinstance(best, RelevanceRBF)
    assert set(np.argsort(best.relevances)[-2:]) == {0, 1}
    assert learner.score(X[TEST], Y[TEST]) == 1.0


@pytest.mark.parametrize("family", [RelevanceFamily(), ColumnFamily(2)], ids=repr)
def test_learning_never_ends_above_the_finite_set_it_began_with(family):
    kernels = [RBF(scale=2.0), Linear(), Columns((0, 1), RBF(scale=0.5))]
    finite = InfiniteKernelClassifier(kernels, C=5.0, gap=1e-4).fit(X[TRAIN], Y[TRAIN])
    infinite = InfiniteKernelClassifier(kernels, family, C=5.0, gap=1e-4, max_kernels=12).fit(X[TRAIN], Y[TRAIN])
    assert (infinite.objectives_ <= finite.objectives_ * (1 + 1e-4)).all()


def test_the_certificate_holds_for_kernels_that_were_in_reach():
    """All pairs of five columns are ten kernels: asked often enough, the family offers each of them."""
    family = ColumnFamily(2, RBF(scale=1.0))
    learner = InfiniteKernelClassifier(RBF(), family, C=5.0, gap=1e-3, n_starts=200).fit(X[TRAIN], Y[TRAIN])
    assert (learner.excess_ <= 1e-3).all()
    pairs = [Columns((i, j), RBF(scale=1.0)) for i in range(5) for j in range(i + 1, 5)]
    finite = InfiniteKernelClassifier([RBF(), *pairs], C=5.0, gap=1e-3).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(learner.objectives_, finite.objectives_, rtol=3e-3)
    a = learner.dual_weights_[:, 1]
    largest = max(0.5 * a @ pair.gram(X[TRAIN]) @ a for pair in pairs)
    assert largest <= learner.thresholds_[1] * (1 + 1e-3 + 1e-9)


def test_wide_rounds_find_what_a_round_that_found_nothing_missed():
    """One start a round misses most of ten pairs; thirty starts in three wide rounds hardly miss any."""
    family = ColumnFamily(2, RBF(scale=1.0))
    settings = {"C": 5.0, "gap": 1e-3, "n_starts": 1}
    hasty = InfiniteKernelClassifier(RBF(), family, **settings).fit(X[TRAIN], Y[TRAIN])
    patient = InfiniteKernelClassifier(RBF(), family, n_wide=3, **settings).fit(X[TRAIN], Y[TRAIN])
    assert (patient.objectives_ < hasty.objectives_).all()
    a = patient.dual_weights_[:, 1]
    pairs = [Columns((i, j), RBF(scale=1.0)) for i in range(5) for j in range(i + 1, 5)]
    assert max(0.5 * a @ pair.gram(X[TRAIN]) @ a for pair in pairs) <= patient.thresholds_[1] * (1 + 2e-3)


def test_no_more_kernels_join_than_are_allowed():
    learner = InfiniteKernelClassifier(RBF(scale=9.0), ColumnFamily(2), C=5.0, gap=1e-6, max_kernels=3).fit(
        X[TRAIN], Y[TRAIN]
    )
    assert learner.weights_.shape[1] <= 3
    assert (learner.excess_ > 1e-6).any(), "it says that more would have helped"


def test_kernels_given_and_no_family_means_no_others():
    ours = InfiniteKernelClassifier([RBF(), Linear()], C=5.0, gap=1e-3).fit(X[TRAIN], Y[TRAIN])
    theirs = MKLClassifier([RBF(), Linear()], C=5.0, gap=1e-3).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(ours.weights_, theirs.weights_)


def test_family_and_generated_kernels_come_back_from_a_file(tmp_path):
    family = ColumnFamily(2, RBF(scale=0.7))
    learner = InfiniteKernelClassifier(RBF(), family, C=5.0).fit(X[TRAIN], Y[TRAIN])
    fewsight.save(learner, tmp_path / "m.fewsight")
    again = fewsight.load(tmp_path / "m.fewsight")
    assert again.family == family
    assert again.kernels_ == learner.kernels_
    np.testing.assert_allclose(again.latent(X[TEST]).mean, learner.latent(X[TEST]).mean, atol=1e-12)
    np.testing.assert_array_equal(again.excess_, learner.excess_)


def test_what_is_no_family_is_refused():
    with pytest.raises(InvalidInput, match="family must be a kernel family or None, got 'boxes'"):
        InfiniteKernelClassifier(RBF(), "boxes").fit(X[TRAIN], Y[TRAIN])


def test_a_family_cannot_add_to_gram_matrices():
    with pytest.raises(InvalidInput, match="kernels can only be made for rows of numbers or images"):
        InfiniteKernelClassifier("precomputed", RelevanceFamily()).fit(RBF().gram(X[TRAIN]), Y[TRAIN])


@pytest.mark.parametrize("seed", [-1, None, "a", 1.5])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(InvalidInput, match="InfiniteKernelClassifier: random_state must be a whole number >= 0, got"):
        InfiniteKernelClassifier(random_state=seed).fit(np.eye(4), [0, 0, 1, 1])

"""Support vector machines with learned kernel weights, as a learner."""

import numpy as np
import pytest
from sklearn.svm import SVC

import fewsight
from fewsight._base.errors import InvalidInput
from fewsight.gp import BlockStack, GramStack
from fewsight.kernels import RBF, Columns
from fewsight.learners import MKLClassifier, SVMClassifier

RNG = np.random.default_rng(0)
Y = np.arange(120) % 3
X = RNG.normal(size=(120, 10))
X[:, :2] += 2.5 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])[Y]
KERNELS = [Columns((first, first + 1), RBF(scale=1.5)) for first in range(0, 10, 2)]
TRAIN, TEST = slice(0, 70), slice(70, 120)


def fitted(norm, **options):
    return MKLClassifier(KERNELS, norm=norm, C=1.0, **options).fit(X[TRAIN], Y[TRAIN])


def test_weights_of_l1_go_to_the_columns_that_tell_and_only_those_kernels_are_stored(tmp_path):
    noise = RNG.normal(size=(120, 2))  # a kernel that no class can use: all examples are strangers
    kernels = [*KERNELS, Columns((10, 11), RBF(scale=1e-3))]
    learner = MKLClassifier(kernels, norm="l1", C=0.1).fit(np.hstack([X, noise])[TRAIN], Y[TRAIN])
    assert len(learner.chosen_) < len(kernels)
    assert (learner.weights_[:, learner.chosen_.tolist().index(0)] > 0.5).all()
    np.testing.assert_allclose(learner.weights_.sum(axis=1), 1)
    fewsight.save(learner, tmp_path / "m.fewsight")
    again = fewsight.load(tmp_path / "m.fewsight")
    assert again.kernel == [kernels[number] for number in learner.chosen_]
    new = np.hstack([X, noise])[TEST]
    np.testing.assert_allclose(again.latent(new).mean, learner.latent(new).mean, atol=1e-12)


def test_l2_keeps_all_and_prefers_what_tells():
    learner = fitted("l2")
    assert (learner.weights_ > 0).all()
    assert (learner.weights_.argmax(axis=1) == 0).all()
    assert learner.score(X[TEST], Y[TEST]) > 0.85


def test_the_choice_of_l1_with_equal_weights_is_an_average_of_few_kernels(tmp_path):
    few, even = fitted("l1"), fitted("l1_even")
    np.testing.assert_array_equal(even.chosen_, few.chosen_)
    for chosen, weights in zip(few.weights_ > 0, even.weights_, strict=True):
        np.testing.assert_allclose(weights, chosen / chosen.sum())
    fewsight.save(even, tmp_path / "m.fewsight")
    found = even.latent(X[TEST]).mean
    np.testing.assert_allclose(fewsight.load(tmp_path / "m.fewsight").latent(X[TEST]).mean, found, atol=1e-12)
    assert even.predict(X[TEST]).tolist() == even.classes_[even.predict_proba(X[TEST]).argmax(axis=1)].tolist()


def test_the_average_has_the_margins_of_one_machine_on_the_mean_kernel():
    found = fitted("average", gap=1e-8).latent(X[TEST]).mean
    K, K_test = (np.mean([k.gram(rows, X[TRAIN]) for k in KERNELS], axis=0) for rows in (X[TRAIN], X[TEST]))
    for label in range(3):
        machine = SVC(C=1.0, kernel="precomputed", tol=1e-8).fit(K, np.where(Y[TRAIN] == label, 1, -1))
        np.testing.assert_allclose(found[:, label], machine.decision_function(K_test), atol=1e-5)


@pytest.mark.parametrize("norm", ["l1", "l1_even", "average"])
def test_one_kernel_is_a_support_vector_machine(norm):
    ours = MKLClassifier(RBF(scale=3.0), norm=norm, C=2.0, gap=1e-8).fit(X[TRAIN], Y[TRAIN])
    theirs = SVMClassifier(RBF(scale=3.0), C=2.0).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_allclose(ours.latent(X[TEST]).mean, theirs.latent(X[TEST]).mean, atol=2e-3)


@pytest.mark.parametrize("norm", ["l1", "l2", "average"])
def test_the_gap_is_kept(norm):
    assert (fitted(norm, gap=1e-4).gaps_ <= 1e-4).all()


def test_a_stack_answers_as_a_list():
    grams = [kernel.gram(X[TRAIN]) for kernel in KERNELS]
    blocks = [kernel.gram(X[TEST], X[TRAIN]) for kernel in KERNELS]
    for norm in ("l1", "l2"):
        of_list, of_stack = (MKLClassifier("precomputed", norm=norm, C=1.0, gap=1e-5) for _ in range(2))
        of_list.fit(grams, Y[TRAIN])
        of_stack.fit(GramStack.of(grams), Y[TRAIN])
        found = of_stack.latent(BlockStack.of(blocks)).mean
        np.testing.assert_allclose(found, of_list.latent(blocks).mean, atol=0.02)
        assert of_list.weights_.shape == (3, 5), "all Gram matrices are still asked for"


def test_two_classes_are_one_problem():
    learner = MKLClassifier(KERNELS, C=1.0).fit(X[TRAIN], Y[TRAIN] == 1)
    margins = learner.latent(X[TEST]).mean
    np.testing.assert_allclose(margins[:, 0], -margins[:, 1])
    np.testing.assert_array_equal(learner.weights_[0], learner.weights_[1])


@pytest.mark.parametrize("norm", ["l1", "l1_even", "l2", "average"])
def test_one_class_alone_claims_everything(norm):
    learner = MKLClassifier(KERNELS, norm=norm).fit(X[:6], ["only"] * 6)
    assert learner.predict(X[6:9]).tolist() == ["only"] * 3


def test_probabilities_come_from_left_out_examples():
    labels = RNG.permutation(Y[TRAIN])  # nothing can be learned of them, but machines fit them
    learner = MKLClassifier(KERNELS, C=1000.0).fit(X[TRAIN], labels)
    assert learner.calibration_.n_examples > 0
    assert learner.score(X[TRAIN], labels) > 0.95
    assert learner.predict_proba(X[TEST]).max(axis=1).mean() < 0.65


def test_shares_are_those_of_the_kernels_that_are_kept():
    learner = fitted("l1")
    assert np.isclose(learner.shares(len(learner.chosen_)).sum(), 1)
    assert len(learner.shares(len(learner.chosen_))) == len(learner.chosen_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "l3"}, "MKLClassifier: norm must be one of 'l1', 'l1_even', 'l2', 'average', got 'l3'."),
        ({"C": -1}, "MKLClassifier: C must be a finite number > 0, got -1."),
        ({"gap": 0.9}, "MKLClassifier: gap must be a number from 1e-10 to 0.5, got 0.9."),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(InvalidInput) as refused:
        MKLClassifier(KERNELS, **options).fit(X[TRAIN], Y[TRAIN])
    assert str(refused.value) == message

"""Combining kernels: what is learned, what it is chosen by, and what it does not depend on."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from fewsight._base.errors import FewsightError
from fewsight.gp import Penalty, learn_weights_and_noise
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier, KernelCombination
from fewsight.learners.weight_search import NOISE_BOUNDS, STRENGTHS, TOLERANCE

RNG = np.random.default_rng(5)
X, Y = make_blobs(120, 4, centers=6, cluster_std=2.0, random_state=2)
NAMES = np.array(["ant", "bee", "cat", "dog", "elk", "fox"])[Y]
USELESS = RBF(scale=3.0).gram(RNG.normal(size=(120, 4)))
GOOD = RBF(scale=4.0).gram(X[:, :2])
OTHER = RBF(scale=4.0).gram(X[:, 2:])
ALIKE = 0.95 + 0.05 * RBF(scale=3.0).gram(RNG.normal(size=(120, 4)))  # finds all examples alike
TRAIN, TEST = np.arange(60), np.arange(60, 120)


def grams(*kernels):
    return [K[np.ix_(TRAIN, TRAIN)] for K in kernels], [K[np.ix_(TEST, TRAIN)] for K in kernels]


def fitted(*kernels, **settings):
    return KernelCombination("precomputed", **settings).fit(grams(*kernels)[0], NAMES[TRAIN])


def accuracy(model, *kernels):
    return np.mean(model.predict(grams(*kernels)[1]) == NAMES[TEST])


def test_cues_that_know_different_things_are_better_together():
    together = accuracy(fitted(GOOD, OTHER, USELESS), GOOD, OTHER, USELESS)
    alone = max(accuracy(GPClassifier("precomputed").fit(grams(K)[0], NAMES[TRAIN]), K) for K in (GOOD, OTHER))
    assert together > alone + 0.05


def test_a_kernel_that_knows_nothing_gets_little_weight():
    weights = fitted(GOOD, USELESS).weights_
    assert weights[1] < 0.1
    assert weights.sum() == pytest.approx(1.0)


def test_with_a_free_mean_a_kernel_that_finds_all_alike_gains_nothing_from_targets_that_are_mostly_negative():
    zero = fitted(GOOD, ALIKE, penalty="none", free_mean=False, noise_variance="evidence")
    free = fitted(GOOD, ALIKE, penalty="none", free_mean=True, noise_variance="evidence")
    assert free.weights_[1] < 0.5 * zero.weights_[1]


@pytest.mark.parametrize("penalty", ["even", "l1", "l2", "none"])
@pytest.mark.parametrize("scope", ["global", "classwise"])
def test_what_is_learned_does_not_depend_on_the_scale_of_a_kernel(penalty, scope):
    plain = fitted(GOOD, OTHER, penalty=penalty, scope=scope)
    scaled = fitted(1e4 * GOOD, 1e-3 * OTHER, penalty=penalty, scope=scope)
    np.testing.assert_allclose(scaled.weights_, plain.weights_, rtol=1e-5)
    expected = plain.predict_proba(grams(GOOD, OTHER)[1])
    np.testing.assert_allclose(scaled.predict_proba(grams(1e4 * GOOD, 1e-3 * OTHER)[1]), expected, rtol=1e-4)


def test_with_one_example_per_class_the_average_stays():
    rows = np.unique(NAMES, return_index=True)[1]
    model = KernelCombination("precomputed").fit([K[np.ix_(rows, rows)] for K in (GOOD, USELESS)], NAMES[rows])
    np.testing.assert_allclose(model.weights_, [0.5, 0.5])
    assert model.strength_ == np.inf
    assert model.n_evaluations_ == 0
    assert model.calibration_.from_prior


def test_one_class_only_is_learned_without_a_search():
    model = KernelCombination("precomputed").fit([np.eye(3), np.ones((3, 3))], ["ant"] * 3)
    np.testing.assert_array_equal(model.predict([np.eye(3), np.ones((3, 3))]), ["ant"] * 3)


@pytest.mark.parametrize("penalty", ["even", "l1", "l2"])
def test_the_automatic_strength_is_one_of_those_tried_or_the_average(penalty):
    model = fitted(GOOD, OTHER, USELESS, penalty=penalty)
    assert model.strength_ in (*STRENGTHS[penalty], np.inf)


def test_a_given_strength_is_what_is_used():
    model = fitted(GOOD, USELESS, penalty="even", strength=0.02, noise_variance="evidence", free_mean=False)
    scaled = [K / np.diag(K).mean() for K in grams(GOOD, USELESS)[0]]
    targets = np.where(NAMES[TRAIN][:, None] == model.classes_, 1.0, -1.0)
    found = learn_weights_and_noise(
        scaled, targets, penalty=Penalty("even", 0.02), noise_bounds=NOISE_BOUNDS, tolerance=TOLERANCE
    )
    np.testing.assert_allclose(model.weights_, found.weights / found.weights.sum(), rtol=1e-6)
    assert model.noise_variance_ == pytest.approx(found.noise_level / found.weights.sum(), rel=1e-6)
    assert model.strength_ == 0.02


def test_the_global_combination_is_a_gaussian_process_with_these_weights():
    model = fitted(GOOD, OTHER)
    train, test = grams(GOOD, OTHER)
    same = GPClassifier("precomputed", weights=model.weights_, noise_variance=model.noise_variance_, balanced=False)
    same.fit(train, NAMES[TRAIN])
    np.testing.assert_allclose(model.latent(test).mean, same.latent(test).mean, atol=1e-10)
    np.testing.assert_allclose(model.latent(test).std, same.latent(test).std, atol=1e-10)
    by_evidence = GPClassifier("precomputed", weights="evidence", balanced=False).fit(train, NAMES[TRAIN])
    np.testing.assert_allclose(by_evidence.weights_, model.weights_)


def test_classwise_each_class_has_the_weights_of_its_own_problem():
    model = fitted(GOOD, OTHER, scope="classwise", penalty="none", free_mean=True, noise_variance="evidence")
    assert model.weights_.shape == (6, 2)
    train, test = grams(GOOD, OTHER)
    for column, label in enumerate(model.classes_):
        targets = np.where(NAMES[TRAIN] == label, 1.0, -1.0)[:, None]
        found = learn_weights_and_noise(train, targets, free_mean=True, noise_bounds=NOISE_BOUNDS, tolerance=TOLERANCE)
        np.testing.assert_allclose(model.weights_[column], found.weights / found.weights.sum(), rtol=1e-6)
    latent = model.latent(test)
    assert latent.std.shape == (60, 6)
    assert np.ptp(latent.std, axis=1).max() > 0
    np.testing.assert_array_equal(model.classes_[latent.mean.argmax(axis=1)], model.predict(test))


def test_a_warm_start_is_shorter_and_ends_at_the_same_place():
    model = KernelCombination("precomputed", warm_start=True, penalty="none", free_mean=True)
    cold = model.fit(grams(GOOD, OTHER)[0], NAMES[TRAIN]).n_evaluations_
    weights = model.weights_
    warm = model.fit(grams(GOOD, OTHER)[0], NAMES[TRAIN]).n_evaluations_
    assert warm < cold
    np.testing.assert_allclose(model.weights_, weights, rtol=0.05)
    model.fit(grams(GOOD, OTHER, USELESS)[0], NAMES[TRAIN])  # another number of kernels begins anew
    assert model.weights_.shape == (3,)


def test_a_given_noise_stays():
    assert fitted(GOOD, OTHER, noise_variance=0.25).noise_variance_ == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"penalty": "l3"}, "KernelCombination: penalty must be one of 'none', 'l1', 'l2', 'even', got 'l3'."),
        ({"scope": "all"}, "KernelCombination: scope must be one of 'global', 'classwise', got 'all'."),
        ({"free_mean": "no"}, "KernelCombination: free_mean must be one of 'auto', got 'no'."),
        ({"strength": -1}, "KernelCombination: strength must be a number from 0 to 1e+12, got -1."),
        ({"strength": "some"}, "KernelCombination: strength must be one of 'auto', got 'some'."),
        ({"noise_variance": 0}, "KernelCombination: noise_variance must be a finite number > 0, got 0."),
        (
            {"noise_variance": "low"},
            "KernelCombination: noise_variance must be one of 'left-out', 'evidence', got 'low'.",
        ),
        ({"n_starts": 0}, "KernelCombination: n_starts must be a whole number >= 1, got 0."),
    ],
)
def test_bad_settings_are_refused_in_a_sentence(setting, sentence):
    with pytest.raises(FewsightError) as refusal:
        fitted(GOOD, OTHER, **setting)
    assert str(refusal.value) == sentence

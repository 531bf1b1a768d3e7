"""Probabilities that mean what they say, and unknowns that are unknown, from training examples alone."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from fewsight._base.errors import FewsightError
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import Calibration, _contrast, _Surprise, fit_calibration
from fewsight.learners.folds import class_folds, near_duplicates, predictable
from fewsight.learners.novelty import RULES, Novelty, Signs, fit_novelty
from fewsight.metrics import calibration_error, log_loss

KERNEL = RBF(scale=3.0)


def overlapping_blobs(seed, n_classes=8, per_class=12, n_test=100):
    """Classes that no learner can tell apart for certain."""
    centers = np.random.default_rng(99).normal(scale=4.0, size=(n_classes, 6))
    X, y = make_blobs([per_class + n_test] * n_classes, centers=centers, cluster_std=3.0, random_state=seed)
    train = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(n_classes)])
    test = np.setdiff1d(np.arange(len(y)), train)
    return X[train], y[train], X[test], y[test]


def test_calibrated_probabilities_are_nearer_to_the_truth_than_the_posteriors_own():
    X, y, X_test, y_test = overlapping_blobs(0)
    plain = GPClassifier(KERNEL, noise_variance="evidence", calibrated=False).fit(X, y)
    ours = GPClassifier(KERNEL, noise_variance="evidence").fit(X, y)
    assert not ours.calibration_.from_prior
    before, after = (calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (plain, ours))
    assert after < 0.08 < before
    loss_before, loss_after = (log_loss(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (plain, ours))
    assert loss_after < loss_before


def test_calibration_also_helps_with_the_noise_that_is_chosen_by_itself():
    X, y, X_test, y_test = overlapping_blobs(0)
    learners = [GPClassifier(KERNEL, calibrated=calibrated).fit(X, y) for calibrated in (False, True)]
    errors = [calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in learners]
    losses = [log_loss(y_test, gp.predict_proba(X_test), gp.classes_) for gp in learners]
    assert errors[1] < errors[0]
    assert losses[1] < losses[0]


def test_calibration_does_not_change_the_decision():
    X, y, X_test, _ = overlapping_blobs(1)
    ours = GPClassifier(KERNEL).fit(X, y)
    np.testing.assert_array_equal(ours.classes_[ours.predict_proba(X_test).argmax(axis=1)], ours.predict(X_test))


def leaning_means(n=4000, share=0.05):
    """Latent means of two classes that lean to the larger one, as those of a regression of -1 and +1 do."""
    rng = np.random.default_rng(3)
    classes = (rng.random(n) < share).astype(int)
    latent = 2 * share - 1 + 0.15 * classes + 0.05 * rng.standard_normal(n)
    return np.column_stack([-latent, latent]), classes


def test_where_latent_values_lean_to_the_larger_class_probabilities_do_not():
    mean, classes = leaning_means()
    shares = np.bincount(classes) / len(classes)
    assert (mean.argmax(axis=1) == 0).all()
    plain, leaning = fit_calibration(mean, classes), fit_calibration(mean, classes, shares)
    losses = [log_loss(classes, each.probabilities(mean), (0, 1)) for each in (plain, leaning)]
    assert losses[1] < 0.7 * losses[0]
    assert leaning.probabilities(mean)[:, 1].mean() == pytest.approx(shares[1], rel=0.05)
    even = fit_calibration(mean, classes, shares, balanced=True).scores(mean).argmax(axis=1)
    assert min(np.mean(even[classes == c] == c) for c in (0, 1)) > 0.9  # the two overlap at 1.5 deviations


def test_classes_of_one_size_lean_nowhere():
    mean, classes = leaning_means()
    assert fit_calibration(mean, classes, np.array([0.5, 0.5])) == fit_calibration(mean, classes)
    later = Calibration(2.0, 0.0, 5, (1.0, -1.0)).scores(np.zeros((1, 3)))  # with a class that came after it was fitted
    np.testing.assert_array_equal(later, [[1.0, -1.0, 0.0]])


@pytest.mark.parametrize("leaning", [None, np.array([0.8, -0.3, -0.5])])
def test_the_gradient_of_the_calibration_is_that_of_finite_differences(leaning):
    rng = np.random.default_rng(0)
    mean, classes = rng.normal(size=(20, 3)), rng.integers(0, 3, 20)
    surprise = _Surprise(mean, np.log(_contrast(mean)), classes, leaning, rng.random(20))
    at = np.array([0.4, -0.2, 1.3][: 2 if leaning is None else 3])
    steps = 1e-6 * np.eye(len(at))
    expected = [(surprise(at + step)[0] - surprise(at - step)[0]) / 2e-6 for step in steps]
    np.testing.assert_allclose(surprise(at)[1], expected, rtol=1e-6)


def test_one_example_per_class_falls_back_to_the_prior_and_says_so():
    X, y, X_test, _ = overlapping_blobs(2, per_class=1)
    gp = GPClassifier(KERNEL).fit(X, y)
    assert gp.calibration_.from_prior
    assert gp.calibration_ == Calibration()
    assert np.isfinite(gp.predict_proba(X_test)).all()
    assert not gp.is_unknown(X_test).any()  # there is nothing to set a threshold by


def test_near_duplicates_of_training_images_do_not_inflate_confidence():
    """Every example ten times: leaving out one copy would leave nine to answer for it."""
    X, y, X_test, y_test = overlapping_blobs(3)
    copies = np.repeat(np.arange(len(y)), 10)
    jitter = np.random.default_rng(0).normal(scale=0.01, size=(len(copies), X.shape[1]))
    once = GPClassifier(KERNEL, noise_variance=0.5).fit(X, y)
    often = GPClassifier(KERNEL, noise_variance=5.0).fit(X[copies] + jitter, y[copies])
    errors = [calibration_error(y_test, gp.predict_proba(X_test), gp.classes_) for gp in (once, often)]
    assert errors[1] < errors[0] + 0.05
    ungrouped = often.posterior_.leave_one_out()
    naive = fit_calibration(ungrouped.mean, often.posterior_.targets.argmax(axis=1))
    assert naive.sharpness > often.calibration_.sharpness + 0.3


def test_near_duplicates_are_joined_by_chains():
    places = np.array([0.0, 0.1, 0.2, 5.0, 9.0, 14.0])[:, None]
    K, classes = places @ places.T, np.array([0, 0, 0, 0, 1, 1])
    assert near_duplicates(K, classes).tolist() == [0, 0, 0, 1, 2, 3]


def test_what_is_a_near_duplicate_does_not_depend_on_how_alike_a_kernel_finds_everything():
    K = RBF(scale=2.0).gram(np.random.default_rng(0).normal(size=(40, 6)))
    classes = np.arange(40) % 4
    assert len(set(near_duplicates(K, classes))) == 40
    np.testing.assert_array_equal(near_duplicates(0.99 + 0.01 * K, classes), near_duplicates(K, classes))
    twice = np.tile(np.arange(20), 2)
    np.testing.assert_array_equal(near_duplicates(K[np.ix_(twice, twice)], classes[twice]), twice)


def test_a_fold_takes_one_of_every_class_and_groups_stay_whole():
    classes = np.array([0, 0, 0, 1, 1, 1, 2])
    groups = np.array([0, 0, 1, 2, 3, 4, 5])
    folds = class_folds(classes, groups)
    assert folds[0] == folds[1]
    assert sorted(folds[3:6].tolist()) == [0, 1, 2]
    assert predictable(classes, folds).tolist() == [0, 1, 2, 3, 4, 5]  # the only example of class 2 is not


def test_large_classes_share_a_bounded_number_of_folds():
    classes = np.repeat([0, 1], [500, 30])
    folds = class_folds(classes, np.arange(530))
    assert set(folds) == set(range(20))
    assert np.bincount(folds[:500]).tolist() == [25] * 20


@pytest.mark.parametrize("rule", sorted(RULES))
def test_strangers_score_higher_and_the_false_alarm_rate_holds(rule):
    X, y, X_test, _ = overlapping_blobs(4)
    gp = GPClassifier(KERNEL, unknown_rule=rule, false_alarm_rate=0.1).fit(X, y)
    strangers = np.full((50, X.shape[1]), 40.0)
    known = gp.is_unknown(X_test).mean()
    assert abs(known - 0.1) < 0.06
    if {"distance", "variance", "contrast"} & set(RULES[rule]):  # the others say how undecided the classes are
        assert gp.is_unknown(strangers).all()
        assert gp.unknown_score(strangers).min() > np.median(gp.unknown_score(X_test))


def test_adding_keeps_the_calibration_until_it_is_learned_again():
    X, y, X_test, _ = overlapping_blobs(5)
    gp = GPClassifier(KERNEL, noise_variance=0.3).fit(X[:48], y[:48])
    before = gp.calibration_
    gp.add(X[48:], y[48:])
    assert gp.calibration_ == before
    gp.recalibrate()
    whole = GPClassifier(KERNEL, noise_variance=0.3).fit(X, y)
    assert gp.calibration_.sharpness == pytest.approx(whole.calibration_.sharpness, abs=0.01)
    np.testing.assert_allclose(gp.unknown_score(X_test), whole.unknown_score(X_test), atol=0.05)


def test_states_survive_and_damaged_ones_do_not():
    for calibration in (Calibration(2.0, -0.5, 7), Calibration(2.0, -0.5, 7, (0.5, -0.5))):
        assert Calibration.from_state(calibration.state()) == calibration
    for leanings, sentence in (([0.5, np.inf], "leanings must be a number from"), (3, "leanings must be a list")):
        state = calibration.state()
        state.header["leanings"] = leanings
        with pytest.raises(FewsightError, match=sentence):
            Calibration.from_state(state)
    signs = Signs({"latent": np.arange(50.0), "distance": np.arange(50.0)})
    for novelty in (fit_novelty("latent", signs, 0.1), Novelty("latent", (0.0,), (1.0,), np.inf, 0)):
        assert Novelty.from_state(novelty.state()) == novelty
    broken = Novelty("latent", (0.0,), (-1.0,), 0.0, 1).state()
    with pytest.raises(FewsightError, match="positive spreads"):
        Novelty.from_state(broken)


def test_the_threshold_leaves_the_stated_share_of_left_out_examples_above():
    signs = Signs({"latent": np.random.default_rng(0).normal(size=1000)})
    novelty = fit_novelty("latent", signs, 0.05)
    assert (novelty.score(signs) > novelty.threshold).mean() == pytest.approx(0.05, abs=0.002)


def test_bad_options_are_refused_in_one_sentence():
    X, y, *_ = overlapping_blobs(6)
    with pytest.raises(FewsightError, match="unknown_rule must be one of"):
        GPClassifier(unknown_rule="guess").fit(X, y)
    with pytest.raises(FewsightError, match="false_alarm_rate must be a number between 0 and 1, got 2"):
        GPClassifier(false_alarm_rate=2).fit(X, y)

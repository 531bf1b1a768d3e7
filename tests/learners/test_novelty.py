"""Probabilities that mean what they say, and unknowns that are unknown, from training examples alone."""

import numpy as np
import pytest
from scipy.special import ndtr

from fewsight._base.errors import FewsightError
from fewsight.kernels import RBF
from fewsight.learners import GPClassifier
from fewsight.learners.calibration import Calibration
from fewsight.learners.novelty import COMBINED, RULES, Novelty, Signs, fit_novelty

KERNEL = RBF(scale=3.0)


@pytest.mark.parametrize("rule", sorted(RULES))
def test_strangers_score_higher_and_the_false_alarm_rate_holds(rule, overlapping_blobs):
    X, y, X_test, _ = overlapping_blobs(4)
    gp = GPClassifier(KERNEL, unknown_rule=rule, false_alarm_rate=0.1).fit(X, y)
    strangers = np.full((50, X.shape[1]), 40.0)
    known = gp.is_unknown(X_test).mean()
    assert abs(known - 0.1) < 0.06
    if {"distance", "variance", "contrast"} & set(RULES[rule]):  # the others say how undecided the classes are
        assert gp.is_unknown(strangers).all()
        assert gp.unknown_score(strangers).min() > np.median(gp.unknown_score(X_test))


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
    with pytest.raises(FewsightError, match="spreads must be a number from 1e-100"):
        Novelty.from_state(broken)


def test_the_threshold_leaves_the_stated_share_of_left_out_examples_above():
    signs = Signs({"latent": np.random.default_rng(0).normal(size=1000)})
    novelty = fit_novelty("latent", signs, 0.05)
    assert (novelty.score(signs) > novelty.threshold).mean() == pytest.approx(0.05, abs=0.002)


@pytest.mark.parametrize(("n_classes", "share"), [(None, 1.0), (2, 0.6), (3, 1.0)])
def test_signs_of_the_combined_rule_count_by_their_shares(n_classes, share):
    rng = np.random.default_rng(0)
    signs = Signs({name: rng.normal(size=40) * 3 + 1 for name in RULES[COMBINED]})
    score = fit_novelty(COMBINED, signs, 0.1, n_classes=n_classes).score(signs)
    units = [(values - values.mean()) / values.std() for values in signs.values.values()]
    np.testing.assert_allclose(score, share * units[0] + 0.5 * units[1] + 0.5 * units[2], atol=1e-12)


def test_with_two_classes_the_contrast_counts_less_in_a_learner(overlapping_blobs):
    X, y, *_ = overlapping_blobs(4)
    for chosen, share in ((y < 2, 0.6), (y < 3, 1.0)):
        gp = GPClassifier(KERNEL, unknown_rule=COMBINED).fit(X[chosen], y[chosen])
        alone = [GPClassifier(KERNEL, unknown_rule=sign).fit(X[chosen], y[chosen]) for sign in RULES[COMBINED]]
        shares = [one.novelty_.spreads[0] / spread for one, spread in zip(alone, gp.novelty_.spreads, strict=True)]
        np.testing.assert_allclose(shares, (share, 0.5, 0.5))


@pytest.mark.parametrize(("n", "share"), [(30, 0.05), (40, 0.2), (300, 0.01)])
def test_few_left_out_examples_are_enough_for_the_stated_rate(n, share):
    """In the mean over many draws, where the largest of the examples alone would not do."""
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(300):
        novelty = fit_novelty("latent", Signs({"latent": rng.normal(size=n)}), share)
        new = rng.normal(size=200)
        rates.append((novelty.score(Signs({"latent": new})) > novelty.threshold).mean())
    assert 0.6 * share < np.mean(rates) < 1.5 * share


def test_the_rate_of_ten_left_out_examples_is_the_stated_one_in_the_mean():
    """Gauss's quantile in place of Student's would let 7.6 % of further examples be called unknown."""
    rng = np.random.default_rng(1)
    found = [fit_novelty("latent", Signs({"latent": rng.normal(size=10)}), 0.05) for _ in range(4_000)]
    rates = [1.0 - ndtr(each.threshold * each.spreads[0] + each.centres[0]) for each in found]
    assert np.mean(rates) == pytest.approx(0.05, abs=0.012)


def test_with_few_labels_it_says_that_the_rate_does_not_hold(overlapping_blobs):
    held = {n: GPClassifier(KERNEL).fit(*overlapping_blobs(3, per_class=n)[:2]).novelty_ for n in (1, 2, 4, 5, 15)}
    assert [novelty.holds for novelty in held.values()] == [False, False, False, True, True]
    assert np.isinf(held[1].threshold)
    assert np.isinf(fit_novelty("latent", Signs({"latent": np.arange(7.0)}), 0.05).threshold)
    assert np.isfinite(held[4].threshold)
    assert "too few to call any image unknown" in held[1].doubts[0]
    assert "too few to say how often a known image is called unknown" in held[4].doubts[0]
    assert held[5].doubts == ()


def test_bad_options_are_refused_in_one_sentence(overlapping_blobs):
    X, y, *_ = overlapping_blobs(6)
    with pytest.raises(FewsightError, match="unknown_rule must be one of"):
        GPClassifier(unknown_rule="guess").fit(X, y)
    with pytest.raises(FewsightError, match="false_alarm_rate must be a number between 0 and 1, got 2"):
        GPClassifier(false_alarm_rate=2).fit(X, y)

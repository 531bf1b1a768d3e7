"""The slope of the evidence at weight zero, and kernels that are chosen by it."""

import numpy as np
import pytest

from fewsight._base.errors import InvalidInput
from fewsight.gp import EvidenceSlope, GramList, GramStack, grow_weights, log_evidence_and_gradients
from fewsight.kernels import RBF, Columns

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
CLASSES = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
TARGETS = np.where(CLASSES[:, None] == np.arange(4), 1.0, -1.0)
GRAMS = [Columns((column,), RBF(0.7)).gram(X) for column in range(4)]


@pytest.mark.parametrize("free_mean", [False, True])
def test_the_slope_at_weight_zero_is_that_of_differences(free_mean):
    noise, step = RNG.uniform(0.1, 0.5, 60), 1e-6
    slope = EvidenceSlope.at(GRAMS[0], TARGETS, noise, free_mean=free_mean)
    for K in GRAMS[1:]:
        values = [
            log_evidence_and_gradients(
                [GRAMS[0], K], np.array([1.0, weight]), TARGETS, noise, free_mean=free_mean
            ).value
            for weight in (0.0, step, 2 * step)
        ]
        difference = (-3 * values[0] + 4 * values[1] - values[2]) / (2 * step)  # second order, from one side
        assert slope.of(K) == pytest.approx(difference, rel=1e-4)
    np.testing.assert_allclose(slope.of_all(GramList(GRAMS)), [slope.of(K) for K in GRAMS], rtol=1e-9)


def test_the_slope_is_what_a_kernel_explains_less_what_it_costs():
    noise = np.full(60, 0.3)
    inverse = np.linalg.inv(GRAMS[0] + np.diag(noise))
    D = inverse @ TARGETS
    K = GRAMS[1]
    expected = 0.5 * (sum(d @ K @ d for d in D.T) - 4 * np.trace(inverse @ K))
    assert EvidenceSlope.at(GRAMS[0], TARGETS, noise).of(K) == pytest.approx(expected, rel=1e-10)


def test_kernels_that_tell_are_chosen_and_the_others_are_not():
    grown = grow_weights(GramStack.of(GRAMS), TARGETS, per_round=1)
    assert set(grown.chosen) == {0, 1}
    np.testing.assert_allclose(grown.weights.sum(), 1.0)
    assert grown.largest_slope <= 1e-4


def test_no_kernel_without_weight_would_raise_the_evidence():
    grown = grow_weights(GramList(GRAMS), TARGETS, gain=0.0)
    among = [GRAMS[number] for number in grown.chosen]
    best = log_evidence_and_gradients(
        among, grown.weights, TARGETS, np.full(60, grown.noise_level), free_mean=True, any_scale=True
    )
    assert best.value == pytest.approx(grown.log_evidence, rel=1e-6)
    for number in set(range(4)) - set(grown.chosen):
        more = log_evidence_and_gradients(
            [*among, GRAMS[number]],
            np.append(grown.weights, 0.02),
            TARGETS,
            np.full(60, grown.noise_level),
            free_mean=True,
            any_scale=True,
        )
        assert more.value <= best.value + 1e-3 * abs(best.value)


def test_no_more_kernels_are_chosen_than_allowed():
    assert len(grow_weights(GramList(GRAMS), TARGETS, most=1).chosen) == 1
    with pytest.raises(InvalidInput, match="grow_weights: per_round must be a whole number >= 1"):
        grow_weights(GramList(GRAMS), TARGETS, per_round=0)


def test_weight_is_spread_over_more_kernels_where_that_is_asked_for():
    sharp, wide, level = (grow_weights(GramList(GRAMS), TARGETS, spread=spread) for spread in (0.0, 0.075, 250.0))
    assert len(sharp.chosen) < len(wide.chosen) <= len(level.chosen) == 4
    assert (sharp.weights**2).sum() > (wide.weights**2).sum() > (level.weights**2).sum()
    np.testing.assert_allclose(level.weights, 0.25, atol=1e-3)
    assert sharp.log_evidence > wide.log_evidence > level.log_evidence  # of the kernels, without what was taken off


def test_no_share_of_spread_weights_would_better_be_elsewhere():
    spread = 0.0125
    grown = grow_weights(GramList(GRAMS), TARGETS, spread=spread)
    weights = np.zeros(4)
    weights[grown.chosen] = grown.weights

    def worth(shares):
        noise = np.full(60, grown.noise_level)
        found = log_evidence_and_gradients(GRAMS, shares, TARGETS, noise, free_mean=True, any_scale=True)
        return found.value / TARGETS.size - 4 * spread * float(shares @ shares)

    best = worth(weights)
    for giver in grown.chosen:
        for taker in range(4):
            moved = weights.copy()
            moved[giver] -= 0.02
            moved[taker] += 0.02
            assert worth(moved) <= best + 1e-6
    with pytest.raises(InvalidInput, match="grow_weights: spread must be"):
        grow_weights(GramList(GRAMS), TARGETS, spread=-1.0)


def test_noise_is_not_learned_to_be_below_the_least():
    """Targets that a kernel explains without any noise, and a bound that is relative to the sum of the weights."""
    exact = np.linalg.cholesky(GRAMS[0] + 1e-9 * np.eye(60)) @ np.random.default_rng(0).normal(size=(60, 4))
    free, bound = (grow_weights(GramList(GRAMS), exact, least_noise=least) for least in (1e-3, 0.1))
    assert free.noise_level < 0.01
    assert bound.noise_level == pytest.approx(0.1)
    assert free.log_evidence > bound.log_evidence
    with pytest.raises(InvalidInput, match=r"grow_weights: least_noise must be a number from 0\.001 to 100"):
        grow_weights(GramList(GRAMS), TARGETS, least_noise=0.0)


def test_candidates_that_are_there_twice_change_nothing():
    """The sum of the squared weights counts relative to the number of candidates."""
    once, twice = (grow_weights(GramList(GRAMS * times), TARGETS, spread=0.02) for times in (1, 2))
    weights = np.zeros(8)
    weights[twice.chosen] = twice.weights
    expected = np.zeros(4)
    expected[once.chosen] = once.weights
    np.testing.assert_allclose(weights[:4] + weights[4:], expected, atol=0.02)
    assert twice.log_evidence == pytest.approx(once.log_evidence, rel=1e-3)


def test_a_stack_of_matrices_is_never_unpacked_into_a_list(monkeypatch):
    expected = grow_weights(GramList(GRAMS), TARGETS)
    stack = GramStack.of(GRAMS)
    monkeypatch.setattr(GramStack, "_matrix", None)
    found = grow_weights(stack, TARGETS)
    np.testing.assert_array_equal(found.chosen, expected.chosen)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-3)

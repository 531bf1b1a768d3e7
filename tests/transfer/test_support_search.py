"""The correlation and the support task that a criterion likes best are found."""

import numpy as np
import pytest

from fewsight.kernels import RBF
from fewsight.transfer import CRITERIA, Candidates
from fewsight.transfer.support_search import SCAN

NOISE = 1e-3
SIZES = {"background": 30, "gerenuk": 3, "llama": 12, "watch": 18}
LABELS = np.repeat(list(SIZES), list(SIZES.values()))
SHIFTS = {"background": 0.0, "gerenuk": 1.4, "llama": 1.2, "watch": -1.4}
K = RBF(scale=3.0).gram(
    np.random.default_rng(4).normal([[SHIFTS[label]] * 4 for label in LABELS])  # the llama is close to the gerenuk
)


def rows_of(*labels):
    return np.flatnonzero(np.isin(LABELS, labels))


@pytest.mark.parametrize("criterion", list(CRITERIA))
def test_no_scanned_correlation_is_better_than_the_one_found(criterion):
    target = rows_of("background", "gerenuk")
    targets = np.where(LABELS[target] == "gerenuk", 1.0, -1.0)
    tasks = Candidates(K, target, targets, [rows_of("llama"), rows_of("watch")])
    found, _ = tasks.rank(criterion, NOISE)
    for rho in SCAN:
        at, _ = tasks.rank(criterion, NOISE, rho=float(rho))
        assert (found.value >= at.value - 1e-12).all()
        tied = found.value == at.value
        assert (found.tie[tied] >= at.tie[tied] - 1e-12).all()


def test_plateaus_do_not_stop_the_search_and_full_ties_go_to_the_smaller_correlation():
    """Average precision is 1 everywhere here: the predictive probability decides, and it has one maximum."""
    rows = rows_of("background", "gerenuk")
    targets = np.where(LABELS[rows] == "gerenuk", 1.0, -1.0)
    by_rank, _ = Candidates(K, rows, targets, [rows_of("llama")]).rank("average_precision", NOISE)
    by_probability, _ = Candidates(K, rows, targets, [rows_of("llama")]).rank("predictive_probability", NOISE)
    if by_rank.value[0] == 1.0:
        assert by_rank.tie[0] == pytest.approx(by_probability.value[0], abs=1e-3)
    nothing, _ = Candidates(
        np.eye(20), np.arange(10), np.where(np.arange(10) < 1, 1.0, -1.0), [np.arange(10, 20)]
    ).rank("average_precision", NOISE)
    assert nothing.rho[0] == 0.0  # a kernel that sees nothing in common: all correlations are alike


def test_support_tasks_of_very_different_sizes_are_ranked_as_each_alone():
    target = rows_of("background")[:8]
    targets = np.where(np.arange(8) < 2, 1.0, -1.0)
    supports = [np.arange(8, 9), np.arange(9, 60), np.arange(60, 63)]
    together, _ = Candidates(K, target, targets, supports).rank("average_precision", NOISE)
    for position, support in enumerate(supports):
        alone, _ = Candidates(K, target, targets, [support]).rank("average_precision", NOISE)
        assert together.value[position] == alone.value[0]
        assert together.rho[position] == pytest.approx(alone.rho[0], abs=0.02)

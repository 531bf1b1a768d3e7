"""Noise, balance and share of Hellinger's kernel under which training examples that are left out are predicted best.

With two classes, what counts is how left-out examples are ranked: where one class has a hundredth of the examples, a calibrated
log loss hardly tells good rankings from bad ones. Of every pair of one example of either class that were left out together, the
difference of their latent values is taken, and the loss is that of a logistic model of these differences at its best sharpness:
a smooth stand-in for the area under the ROC curve. With more classes the loss is that of calibrated probabilities.

One thing is changed at a time: the noise first, by steps of four as long as the loss falls, then the share, the balance, and the
noise once more. Of many examples some are enough to choose from, see `thinned`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fewsight._base.progress import track
from fewsight._base.types import Array, Indices, Rows
from fewsight.gp import ColumnOperator, RoundedGram, SolverOptions, left_out_means, targets_of_columns
from fewsight.gp.iterative_posterior import n_columns
from fewsight.kernels import DistributedHistogramOperator, HistogramOperator
from fewsight.learners.calibration import fit_calibration
from fewsight.learners.folds import sampled_folds
from fewsight.learners.histograms.cluster import brought_home

FOLDS = 3  # a third is left out at a time: few trainings, and examples enough
SOLVED = SolverOptions(1e-2, 200, None)  # the choice does not change with more exact systems
SHARES = (0.0, 0.5, 1.0)  # of Hellinger's kernel
BALANCES = (0.0, 0.5, 1.0)  # exponents
MIDDLE = 0.5  # of either, where the search begins
STEP, BETWEEN = 4.0, (0.5, 2.0)  # factors between levels of the noise that are tried, and in the end
LEAST_START = 0.1  # level at which the search begins; below it systems take long to solve
LEVELS = (1e-3, 1e4)
TOLD = {"level": "noise", "share": "share of Hellinger's kernel", "balance": "balance of the noise"}  # of progress
RARE = 0.1  # share of the rarer of two classes below which ranking by itself is what counts
LEAST_OF_RARE = 75  # of its examples for that: with 50 the evidence chooses no worse, with 25 better
RANKED = 100  # of each class that are left out, if there are so many
SHARPNESS = (1.0, 2.0, 4.0, 8.0, 16.0)  # of differences whose standard deviation is 1
MOST_OF_A_SIDE = 2_000  # examples of a fold in pairs with those of the other side
LEAST_SEARCHED, MOST_SEARCHED = 2_000, 5_000  # examples from which choices are made: fewer where rows have many numbers
MOST_NUMBERS = 4_000_000  # in those rows, unless that is less than the least
# Of those examples. With 0.5 the settings rank 0.010 worse, with 0.1 0.003: made-up words, 6,000 to 30,000 and a tenth more.
MOST_OF_RARE = 0.25


class Setting(NamedTuple):
    """What is searched for."""

    share: float  # of Hellinger's kernel
    balance: float  # exponent of the factors of `balance_of`
    level: float  # of the noise

    def noise(self, targets: Array) -> Array:
        """Of each example (n, 1), or of each example and problem (n, columns)."""
        return self.level * factors_of(targets, self.balance)


def factors_of(targets: Array, balance: float) -> Array:
    """Of the noise: those of `balance_of` to a power, (n, columns); ones (n, 1) where it is 0."""
    return balance_of(targets) ** balance if balance else np.ones((len(targets), 1))


def balance_of(targets: Array) -> Array:
    """Factors of the noise (n, columns): 2 * share of the examples on the same side. [Rodner2012, section 3]"""
    share = (targets > 0).mean(axis=0)
    return 2.0 * np.where(targets > 0, share, 1.0 - share)


def evenly_spaced(n: int, most: int) -> Indices:
    """All of n numbers, or `most` of them at equal distances."""
    return np.linspace(0, n - 1, min(n, most)).round().astype(np.intp)


def one_is_rare(classes: Indices, n_classes: int) -> bool:
    """Whether there are two classes, one of them rare, with examples enough to see how they are ranked."""
    if n_classes != 2 or n_columns(classes, n_classes) != 1:
        return False
    rarer = int(np.bincount(classes, minlength=2).min())
    return LEAST_OF_RARE <= rarer < RARE * len(classes)


def search(
    operator: HistogramOperator | DistributedHistogramOperator,
    classes: Indices,
    n_classes: int,
    start: Setting,
    free: Collection[str],
    gram: RoundedGram | None = None,
) -> Setting:
    """The best setting that differs from `start` in the fields named by `free`; `start` where there is nothing to leave out.

    `gram` is the operator in single precision, where it was formed and the share is not free.
    """
    folds = sampled_folds(operator, classes, FOLDS, rarest=RANKED)
    if not folds or not free:
        return start
    targets = targets_of_columns(classes, n_classes)

    @cache
    def loss(setting: Setting) -> float:
        kernel = operator.with_hellinger(setting.share) if gram is None else gram
        return left_out_loss(kernel, classes, n_classes, setting.noise(targets), folds)

    def least(name: str, values: Sequence[float], at: Setting) -> Setting:
        settings = [at] + [at._replace(**{name: value}) for value in values]
        return min(track(settings, TOLD[name], len(settings)), key=loss)  # the first of equals

    best = start
    if "level" in free:
        best = _walk(loss, best._replace(level=max(best.level, LEAST_START)))
    for name, values in (("share", SHARES), ("balance", BALANCES)):
        best = least(name, values, best) if name in free else best
    if "level" in free:
        best = _walk(loss, best)
        best = least("level", [factor * best.level for factor in BETWEEN], best)
    return best


def _walk(loss: Callable[[Setting], float], best: Setting) -> Setting:
    """The level with the least loss that steps of one factor lead to."""
    for factor in (STEP, 1 / STEP):
        following = best._replace(level=factor * best.level)
        while LEVELS[0] <= following.level <= LEVELS[1] and loss(following) < loss(best):
            best, following = following, following._replace(level=factor * following.level)
    return best


def searched(operator: HistogramOperator | DistributedHistogramOperator) -> int:
    """How many examples are enough to choose from: at most as many as there are."""
    fitting = int(MOST_NUMBERS * operator.n / max(operator.n_numbers, 1))
    return min(operator.n, MOST_SEARCHED, max(fitting, LEAST_SEARCHED))


def thinned(
    operator: HistogramOperator | DistributedHistogramOperator, rows: Rows, classes: Indices
) -> tuple[HistogramOperator, Indices]:
    """As many examples of two classes as `searched` says: their kernel on this machine, and their classes.

    They are the rarer class as far as it makes no more than MOST_OF_RARE of them, or than its share; with as many of both all
    balances of the noise would be the same. `rows` are those of the operator.
    """
    most = searched(operator)
    rarer = int(np.bincount(classes, minlength=2).argmin())
    order = np.random.default_rng(0).permutation(operator.n)
    rare, others = order[classes[order] == rarer], order[classes[order] != rarer]
    rare = rare[: max(int(MOST_OF_RARE * most), most * len(rare) // operator.n)]
    kept = np.sort(np.concatenate([rare, others[: most - len(rare)]]))
    if not isinstance(operator, HistogramOperator):
        return brought_home(operator, rows[kept]), classes[kept]
    few = HistogramOperator.from_rows(rows[kept], weights=operator.weights)
    if operator.transform.kind != "none":
        few = few.with_transform(operator.transform.kind, getattr(operator.transform, "parameter", None))
    return few.with_hellinger(operator.hellinger), classes[kept]


def left_out_loss(
    operator: ColumnOperator, classes: Indices, n_classes: int, noise: Array, folds: list[Indices]
) -> float:
    """How badly left-out examples are predicted: ranked, with two classes."""
    if n_columns(classes, n_classes) > 1:
        return float(left_out_losses(operator, classes, n_classes, noise, folds).mean())
    means = [left_out_means(operator, classes, n_classes, noise, fold, SOLVED)[:, 1] for fold in folds]
    return ranking_loss(means, [classes[fold] == 1 for fold in folds])


def left_out_losses(
    operator: ColumnOperator, classes: Indices, n_classes: int, noise: Array, folds: list[Indices]
) -> Array:
    """Minus the logarithm of the calibrated probability of the class of each left-out example."""
    means = np.concatenate([left_out_means(operator, classes, n_classes, noise, fold, SOLVED) for fold in folds])
    truth = classes[np.concatenate(folds)]
    known = classes[classes >= 0]
    calibration = fit_calibration(means, truth, np.bincount(known, minlength=n_classes) / len(known))
    stated = calibration.probabilities(means)[np.arange(len(truth)), truth]
    return -np.log(np.maximum(stated, 1e-300))


def ranking_loss(scores: list[Array], positive: list[npt.NDArray[np.bool_]]) -> float:
    """Mean of log(1 + exp(-sharpness * d)), at the best sharpness, over the differences d between the scores of a positive and of
    a negative of the same fold; 0 where there is no such pair."""
    pairs = [(_some(score[side]), _some(score[~side])) for score, side in zip(scores, positive, strict=True)]
    differences = np.concatenate([(above[:, None] - below).ravel() for above, below in pairs])
    spread = float(differences.std()) if len(differences) else 0.0
    if spread == 0.0:
        return float(np.log(2.0)) if len(differences) else 0.0
    scaled = differences / spread
    return min(float(np.logaddexp(0.0, -sharpness * scaled).mean()) for sharpness in SHARPNESS)


def _some(scores: Array) -> Array:
    """All, or MOST_OF_A_SIDE of them, evenly spaced."""
    return scores[evenly_spaced(len(scores), MOST_OF_A_SIDE)]

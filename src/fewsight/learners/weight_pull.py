"""One weight for all kernels or a weight for each: what predicts the training examples that are left out decides.

The descent on the span bound begins where one weight and one C predict most of the left-out examples, and a penalty pulls the
logarithms of the weights towards each other, the harder the less the examples can say. How hard is tried in folds too. Weights
that differ are taken only where they are right more often by more than the standard error of that difference: with a few dozen
examples the bound can be lowered in many ways that mean nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fewsight._base.types import Array, Indices
from fewsight.learners.span_bound import START_PENALTY, SpanBound, equal_weights, lowest, trained
from fewsight.learners.svm_classifier import FOLDS, stratified_folds

TOTALS = tuple(2.0**exponent for exponent in range(-6, 4))  # mean of the weighted squared distances
PENALTIES = tuple(2.0**exponent for exponent in range(-3, 10, 2))  # C
PULLS = (0.03, 0.003, 0.0)  # from strong to none
AFFORDABLE = 4_000  # folds times examples times problems
FEWEST = 3  # folds


class Start(NamedTuple):
    """Equal weights and a penalty."""

    weights: Array  # (k,)
    penalty: float


def folds_to_leave_out(classes: Indices, n_problems: int) -> list[Indices]:
    """Examples to leave out together: ten folds, or of many examples and problems the first few of them, at least three.

    None where there is one example of each class.
    """
    folds = stratified_folds(classes)
    most = int(np.clip(AFFORDABLE // (len(classes) * n_problems), FEWEST, FOLDS))
    n_folds = int(folds.max()) + 1
    return [np.flatnonzero(folds == number) for number in range(min(most, n_folds))] if n_folds > 1 else []


def best_equal_weights(distances: Array, problems: Array, folds: list[Indices]) -> Start:
    """The one weight and C that predict most of the examples left out; of equals the widest Gaussian, then the smallest C.

    `distances` (k, n, n) are squared, `problems` (n, c) targets +1 and -1; one column stands for two classes.
    """
    one = equal_weights(distances)
    if not folds:
        return Start(one, START_PENALTY)
    summed = np.tensordot(one, distances, axes=1)
    right = np.zeros((len(TOTALS), len(PENALTIES)))
    for row, total in enumerate(TOTALS):
        K = np.exp(-0.5 * total * summed)
        for column, penalty in enumerate(PENALTIES):
            right[row, column] = left_out_hits(K, problems, penalty, folds).sum()
    row, column = divmod(int(right.argmax()), len(PENALTIES))
    return Start(TOTALS[row] * one, PENALTIES[column])


def left_out_hits(K: Array, problems: Array, penalty: float, folds: list[Indices]) -> Array:
    """Whether each example that is left out is predicted by machines that were trained without its fold, fold by fold."""
    hits = []
    for out in folds:
        rest = np.setdiff1d(np.arange(len(K)), out)
        hits.append(_hits(K[np.ix_(rest, rest)], K[np.ix_(out, rest)], problems[rest], problems[out], penalty))
    return np.concatenate(hits)


def chosen_pull(
    make: Callable[[Array, Array], SpanBound],
    distances: Array,
    problems: Array,
    start: Start,
    folds: list[Indices],
    max_steps: int,
) -> float:
    """The strength under which most of the left-out examples are predicted; infinite unless weights that differ are right more
    often than one weight by more than the standard error of the difference. Of equals the strongest."""
    base = left_out_hits(np.exp(-0.5 * np.tensordot(start.weights, distances, axes=1)), problems, start.penalty, folds)
    best, gain = np.inf, 0.0
    found: list[list[Array]] = [[] for _ in PULLS]
    for out in folds:
        rest = np.setdiff1d(np.arange(len(problems)), out)
        own, asked = distances[:, rest][:, :, rest], distances[:, out][:, :, rest]
        bounds = [make(own, column) for column in problems[rest].T] if _both_in_each(problems[rest]) else []
        for pull, hits in zip(PULLS, found, strict=True):
            end = lowest(bounds, max_steps, start=start, pull=pull) if bounds else start
            K, K_asked = (np.exp(-0.5 * np.tensordot(end.weights, part, axes=1)) for part in (own, asked))
            hits.append(_hits(K, K_asked, problems[rest], problems[out], end.penalty))
    for pull, hits in zip(PULLS, found, strict=True):
        difference = np.concatenate(hits).astype(np.float64) - base
        error = float(difference.std(ddof=1) / np.sqrt(len(base))) if len(base) > 1 else np.inf
        if difference.mean() > max(gain, error):
            best, gain = pull, float(difference.mean())
    return best


def _hits(K: Array, K_asked: Array, problems: Array, wanted: Array, penalty: float) -> Array:
    values = []
    for column in problems.T:
        if (column == column[0]).all():
            values.append(np.full(len(K_asked), column[0]))
            continue
        machine = trained(K, column, penalty)
        values.append(K_asked @ machine.dual + machine.intercept)
    decided = np.stack(values, axis=1)
    if wanted.shape[1] == 1:
        return np.asarray((decided[:, 0] > 0) == (wanted[:, 0] > 0))
    return np.asarray(decided.argmax(axis=1) == wanted.argmax(axis=1))


def _both_in_each(problems: Array) -> bool:
    """Whether every problem has targets of both kinds."""
    return bool(((problems > 0).any(axis=0) & (problems < 0).any(axis=0)).all())

"""How many decisions on the rest of a pool are right, estimated from a random stream among the queries.

What a rule asks about is hard on purpose, so its answers say nothing fair about accuracy. A stated share of the
questions is drawn uniformly from what has no label yet. The classifier has got better since, so what counts is whether all
other labels together, in closed form, predict an audit wrong now. Late audits count more, in proportion to the number of labels
that there were when they were drawn: what was left then is more like what is left now.

Audits are harder than the rest is now: they were drawn before the rule asked about hard ones, and are predicted without
their own labels, while a rule stays away from where an audit gave one. How much harder, the learner's probabilities say: those
of its decisions on the rest, on average, less those of its decisions on the audits when each is left out. This is added to the
share of right audits. Probabilities that are too high or too low at both cancel; what is wrong with them elsewhere is corrected
by the audits. A handful of audits says little by itself, so what the probabilities expect counts as EXPECTATION audits more.

A learner without a closed form (a support vector machine) is judged by the predictions before the answers alone, with more
weight on late ones, which is low while it still improves. An audit drawn from N examples estimates the errors on all of
these; those that got labels since are known errors, and are subtracted.

Assumed: audits are answered, and answered right; nobody picks which of the questions to answer; few decisions that were
right become wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import ndtri, stdtrit
from scipy.stats import beta

from fewsight._base.types import Array
from fewsight.active.history import Check

LEVEL = 0.9
RECENCY, RECENCY_ALONE = 1.0, 2.0  # audits weigh by this power of the number of labels then; without a closed form
EXPECTATION = 3.0  # audits that the learner's own expectation is worth


@final
@dataclass(frozen=True)
class Expected:
    """The learner's confidence: its mean over the unlabelled rest, and for each labelled example when left out (n,)."""

    rest: float
    left_out: Array


@final
@dataclass(frozen=True)
class Accuracy:
    """The share of right decisions on the rest of the pool, with an interval that holds it in 90 of 100 cases."""

    estimate: float
    low: float
    high: float
    n_audits: int

    def __str__(self) -> str:
        return f"about {self.estimate:.0%} ({self.low:.0%} to {self.high:.0%})"


def accuracy_of_rest(
    checks: Sequence[Check], places: Sequence[int], wrong: Array, n_rest: int, expected: Expected | None = None
) -> Accuracy | None:
    """From audits, their places among the labels, and for every label (n,) whether it is predicted wrong.

    That is by all other labels where `expected` says how sure these are, and otherwise before the label came. None without any
    audit, or with nothing left.
    """
    if not checks or not n_rest:
        return None
    sizes = np.array([float(check.n_drawn_from) for check in checks])
    recency = RECENCY_ALONE if expected is None else RECENCY
    weights = sizes * np.array([(check.n_labelled + 1.0) / len(wrong) for check in checks]) ** recency
    weights /= weights.sum()
    audited = wrong[list(places)]
    if expected is None:
        shares = np.array(share_interval(audited, weights, n_rest)[:3])
        since = np.array([float(wrong[check.n_labelled :].sum()) for check in checks])
        errors = (shares * float(weights @ sizes) - float(weights @ since)) / n_rest
    else:
        stated, of_rest = 1.0 - float(weights @ expected.left_out[list(places)]), 1.0 - expected.rest
        *found, effective = share_interval(audited, weights, n_rest, stated)
        errors = np.clip(np.array(found) - (stated - of_rest), 0.0, 1.0)
        errors[0] = (effective * errors[0] + EXPECTATION * of_rest) / (effective + EXPECTATION)
    estimate, best, worst = np.clip(1.0 - errors, 0.0, 1.0).tolist()
    low, high = 0.0 if audited.all() else worst, best if audited.any() else 1.0
    return Accuracy(min(max(estimate, low), high), low, high, len(checks))


def share_interval(
    wrong: Array, weights: Array, n_rest: int, stated: float | None = None
) -> tuple[float, float, float, float]:
    """The share of wrong audits, Jeffreys' interval of it, and how many audits of equal weight would say as much.

    With weights that add up to 1 there are effectively 1 / sum of squares of them (Kish), and for an interval fewer, by the
    squared ratio of the normal to Student's quantile [KornGraubard1998]. What is estimated is the share in a finite rest,
    which scatters around its expectation by itself: 1 / n becomes 1 / n + 1 / n_rest. `stated` is the share of wrong audits that
    the learner's probabilities expect, if it has any; the interval takes it for EXPECTATION audits more.
    """
    share, tail = float(weights @ wrong), (1.0 - LEVEL) / 2
    fewer = (ndtri(tail) / stdtrit(max(1, len(wrong) - 1), tail)) ** 2
    effective = fewer / (float(weights @ weights) + 1.0 / n_rest)
    more, at = (0.0, 0.0) if stated is None else (EXPECTATION, stated)
    a, b = effective * share + more * at + 0.5, effective * (1.0 - share) + more * (1.0 - at) + 0.5
    return share, float(beta.ppf(tail, a, b)), float(beta.ppf(1.0 - tail, a, b)), effective

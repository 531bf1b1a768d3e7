"""How many decisions on the rest of a pool are right, estimated from a random stream among the queries.

What a rule asks about is hard on purpose, so its answers say nothing fair about accuracy. A stated share of the
questions is drawn uniformly from what has no label yet, and every example is predicted before its answer is learned.
The classifier has got better since, so an audit counts as an error only if all other labels together, in closed form,
predict it wrong now as well. Predicting it from the others alone would be unfair: a rule stays away from where an audit
gave a label, and nothing else was asked there. For the same reason late audits count more: by the square of the number
of labels that there were when they were drawn.

An audit drawn from N examples estimates the errors on all of these. Since then some of the N got labels, and those that
a rule chose were the hard ones; their errors are known and are subtracted. What remains, over the number of examples
left, is the error on the rest.

Assumed: audits are answered, and answered right; nobody picks which of the questions to answer; few decisions that were
right become wrong. A learner without a closed form (a support vector machine) is judged by the predictions before the
answers alone, which is low while it still improves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.stats import beta

from fewsight._base.types import Array

LEVEL = 0.9
RECENCY = 2.0  # audits weigh by this power of the number of labels when they were drawn


@final
@dataclass(frozen=True)
class Draw:
    """One audit: where it stands, from how many it was drawn, and how many labels there were then."""

    position: int
    n_drawn_from: int
    n_labelled: int


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


def accuracy_of_rest(draws: Sequence[Draw], places: Sequence[int], wrong: Array, n_rest: int) -> Accuracy | None:
    """From audits, their places among the labels, and for every label (n,) whether it was, and still is, predicted wrong.

    None without any audit, or with nothing left.
    """
    if not draws or not n_rest:
        return None
    sizes = np.array([float(draw.n_drawn_from) for draw in draws])
    since = np.array([float(wrong[draw.n_labelled :].sum()) for draw in draws])
    weights = sizes * np.array([(draw.n_labelled + 1.0) / len(wrong) for draw in draws]) ** RECENCY
    weights /= weights.sum()
    shares = _interval(wrong[list(places)], weights, n_rest)
    errors = [(share * float(weights @ sizes) - float(weights @ since)) / n_rest for share in shares]
    estimate, best, worst = (float(np.clip(1.0 - error, 0.0, 1.0)) for error in errors)
    return Accuracy(estimate, worst, best, len(draws))


def _interval(wrong: Array, weights: Array, n_rest: int) -> tuple[float, float, float]:
    """The share of wrong audits, and Jeffreys' interval of it.

    With weights that add up to 1 there are effectively 1 / sum of squares of them (Kish). What is estimated is the share in
    a finite rest, which scatters around its expectation by itself: 1 / n becomes 1 / n + 1 / n_rest.
    """
    share = float(weights @ wrong)
    effective = 1.0 / (float(weights @ weights) + 1.0 / n_rest)
    a, b = effective * share + 0.5, effective * (1.0 - share) + 0.5
    tail = (1.0 - LEVEL) / 2
    low = 0.0 if not wrong.any() else float(beta.ppf(tail, a, b))
    high = 1.0 if wrong.all() else float(beta.ppf(1.0 - tail, a, b))
    return share, low, high

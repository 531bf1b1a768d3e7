"""Ask for the answer that is expected to leave the fewest errors in the pool.

For a candidate i with posterior covariances c (s,) to a sample of the pool, an answer with targets t changes all means
by c (t - mean_i)^T / (variance_i + noise); balanced targets keep the levels that they have now. Calibrated probabilities of the
means before and after say how many errors each leaves to expect; the answers are weighted by their own probabilities.
Covariances of all candidates are one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import Query, QueryRule, telling_about_others
from fewsight.active.rules.diversity import diverse
from fewsight.active.rules.uncertainty import Uncertainty
from fewsight.active.views import View

LEAST_PROBABILITY = 0.02  # of an answer that is worth thinking through


@final
@dataclass(frozen=True)
class ValueOfInformation(QueryRule):
    """The largest expected fall of the number of errors in the pool, by the learner's own probabilities.

    n_candidates : how many, the most uncertain without near-duplicates, are thought through (at least two for each of a batch).
    n_sample : examples, drawn at random, whose errors stand for those of the pool.
    n_answers : how many of the likeliest answers are thought through for each.
    """

    name: ClassVar[str] = "value_of_information"
    uses_probabilities: ClassVar[bool] = True

    n_candidates: int = 30
    n_sample: int = 500
    n_answers: int = 3

    def __post_init__(self) -> None:
        check_integer(self, "n_candidates", self.n_candidates, least=1, most=10_000)
        check_integer(self, "n_sample", self.n_sample, least=1, most=100_000)
        check_integer(self, "n_answers", self.n_answers, least=1, most=1_000)

    def reason(self, view: View, position: int) -> str:
        return telling_about_others(super().reason(view, position))

    def choose(self, view: View, candidates: Indices, size: int | None, rng: np.random.Generator) -> Query:
        size = min(size or 1, len(candidates))
        kept = max(self.n_candidates, 2 * size)
        uncertainty = Uncertainty()._scores(view, candidates, rng)
        likely = diverse(view, candidates[np.argsort(-uncertainty, kind="stable")], kept, rng)
        return super().choose(view, likely, size, rng)

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        open_ones = np.flatnonzero(view.unlabelled)
        sample = rng.permutation(open_ones)[: self.n_sample]
        covariance = view.covariance(candidates, sample)
        before = _errors(view, view.mean[sample], view.variance[sample])
        gains = [before - self._errors_after(view, i, c, sample) for i, c in zip(candidates, covariance, strict=True)]
        return np.array(gains) * len(open_ones) / len(sample)

    def _errors_after(self, view: View, position: int, covariance: Array, sample: Indices) -> float:
        """Errors to expect in the sample once the answer is there, over the likely answers."""
        chances = view.probabilities(np.array([position]))[0]
        likely = np.argsort(-chances, kind="stable")[: self.n_answers]
        likely = likely[chances[likely] >= min(LEAST_PROBABILITY, float(chances.max()))]
        pivot = float(view.variance[position]) + view.noise_variance
        variance = np.maximum(view.variance[sample] - covariance**2 / pivot, 0.0)
        mean, here = view.mean[sample], view.mean[position]
        total = 0.0
        for answer in likely:
            changed = mean + np.multiply.outer(covariance / pivot, view.targets_if(int(answer)) - here)
            total += float(chances[answer]) * _errors(view, changed, variance)
        return total / float(chances[likely].sum())


def _errors(view: View, mean: Array, variance: Array) -> float:
    """How many of these decisions are wrong, by their own probabilities."""
    return float((1.0 - view.probabilities_of(mean, variance).max(axis=1)).sum())

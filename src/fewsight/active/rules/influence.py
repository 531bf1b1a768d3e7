"""Ask where the decision is open and the answer tells most about others whose decisions are open.

A label at i takes c_ij^2 / (variance_i + noise) off the variance at j, where c_ij is their posterior covariance, whatever the
label is. Weighted by how likely the decision at j is wrong, and averaged over a sample of the pool, this says what an answer
is worth to all others. What it says about i itself is left out: an outlier is uncertain and stands for nothing else.
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

UNCERTAINTY = Uncertainty()


@final
@dataclass(frozen=True)
class Influence(QueryRule):
    """Of the most uncertain examples, the one whose label would settle most of the errors that are to be expected elsewhere.

    With fewer than two categories, and where a learner does not know covariances at little cost, it asks as `Uncertainty` does.

    n_candidates : how many, the most uncertain, are compared with the sample (at least two for each of a batch).
    n_sample : examples, drawn at random from those that may be asked about, that stand for the pool.
    """

    name: ClassVar[str] = "influence"
    uses_probabilities: ClassVar[bool] = True

    n_candidates: int = 30
    n_sample: int = 200

    def __post_init__(self) -> None:
        check_integer(self, "n_candidates", self.n_candidates, least=1, most=10_000)
        check_integer(self, "n_sample", self.n_sample, least=1, most=100_000)

    def reason(self, view: View, position: int) -> str:
        plain = super().reason(view, position)
        return telling_about_others(plain) if _can_tell(view) else plain

    def choose(self, view: View, candidates: Indices, size: int | None, rng: np.random.Generator) -> Query:
        if not _can_tell(view):
            return UNCERTAINTY.choose(view, candidates, size, rng)
        size = min(size or 1, len(candidates))
        uncertain = candidates[np.argsort(-UNCERTAINTY._scores(view, candidates, rng), kind="stable")]
        kept = max(self.n_candidates, 2 * size)
        likely = uncertain[:kept] if size == 1 else diverse(view, uncertain, kept, rng)
        return self._best(view, likely, _settled(view, likely, self._sample(view, candidates)), size, rng)

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        if not _can_tell(view):
            return UNCERTAINTY._scores(view, candidates, rng)
        return _settled(view, candidates, self._sample(view, candidates))

    def _sample(self, view: View, candidates: Indices) -> Indices:
        """The first candidates of a random order that does not change: they stay the same from question to question, but for
        those that get a label, so that a pool can be ready to compare others with them."""
        may_be = np.zeros(len(view), dtype=bool)
        may_be[candidates] = True
        order = np.random.default_rng(len(view)).permutation(len(view))
        return order[may_be[order]][: self.n_sample]


def _settled(view: View, candidates: Indices, sample: Indices) -> Array:
    """What a label of each candidate takes off the variances of the sample, weighted by their errors (q,)."""
    covariance = view.covariance_with(candidates, sample)
    covariance[candidates[:, None] == sample[None, :]] = 0.0
    errors = 1.0 - view.probabilities(sample).max(axis=1)
    pivots = np.maximum(view.variance[candidates] + view.noise_variance, 1e-300)
    settled: Array = covariance**2 @ errors / len(sample) / pivots
    return settled


def _can_tell(view: View) -> bool:
    return view.covariance_is_quick and len(view.classes) > 1

"""Ask about what stands for many others: first picks that need no label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fewsight._base.checks import check_integer
from fewsight._base.types import Array, Indices
from fewsight.active.rules.base import STANDS_FOR_MANY, Query, QueryRule, sorted_query
from fewsight.active.views import View


@final
@dataclass(frozen=True)
class Coverage(QueryRule):
    """Facility location in kernel space: each pick is the example that brings the pool closest to what was picked.

    How well an example is covered is its largest cosine with anything labelled or picked. A pick is scored by how much it adds to
    that, on average over a sample of the pool; picks are made one after the other, so a batch covers without repeating itself.

    n_candidates : examples, drawn at random, among which the best is looked for (at least four for each of a batch).
    n_sample : examples, drawn at random, that stand for the pool.
    """

    name: ClassVar[str] = "coverage"
    needs_labels: ClassVar[bool] = False

    n_candidates: int = 100
    n_sample: int = 500

    def __post_init__(self) -> None:
        check_integer(self, "n_candidates", self.n_candidates, least=1, most=100_000)
        check_integer(self, "n_sample", self.n_sample, least=1, most=100_000)

    def reason(self, view: View, position: int) -> str:
        return STANDS_FOR_MANY

    def _scores(self, view: View, candidates: Indices, rng: np.random.Generator) -> Array:
        sample = rng.permutation(len(view))[: self.n_sample]
        gains = np.maximum(_cosines(view, candidates, sample) - _covered(view, sample), 0.0)
        return gains.mean(axis=1)

    def choose(self, view: View, candidates: Indices, size: int | None, rng: np.random.Generator) -> Query:
        size = min(size or 1, len(candidates))
        drawn = rng.permutation(candidates)[: max(self.n_candidates, 4 * size)]
        sample = rng.permutation(len(view))[: self.n_sample]
        covered = _covered(view, sample)
        cosines = _cosines(view, drawn, sample)
        chosen, scores = [], []
        left = np.ones(len(drawn), dtype=bool)
        for _ in range(size):
            gains = np.where(left, np.maximum(cosines - covered, 0.0).mean(axis=1), -1.0)
            best = int(np.argmax(gains))
            chosen.append(int(drawn[best]))
            scores.append(float(gains[best]))
            left[best] = False
            covered = np.maximum(covered, cosines[best])
        return sorted_query(np.array(chosen, dtype=np.intp), np.array(scores))


def _covered(view: View, sample: Indices) -> Array:
    """The largest cosine of each sampled example with one of the pool that has a label (s,)."""
    labelled = np.flatnonzero(~view.unlabelled)
    return _cosines(view, labelled, sample).max(axis=0, initial=0.0)


def _cosines(view: View, rows: Indices, columns: Indices) -> Array:
    lengths = np.sqrt(np.maximum(view.diagonal, 1e-300))
    return view.kernel(rows, columns) / lengths[rows][:, None] / lengths[columns][None, :]

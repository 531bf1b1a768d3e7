"""What rules see: the posterior of a pool that follows every label, or any fitted learner as it is."""

from __future__ import annotations

from typing import Any

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight.active.pools import GramPool, VectorPool
from fewsight.active.views.base import View
from fewsight.active.views.fixed import FixedView, pool_of, scales_of
from fewsight.active.views.histogram_view import HistogramView
from fewsight.active.views.pool_view import Hyperparameters, PoolView
from fewsight.active.views.refitted import RefittedView
from fewsight.kernels import HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, KernelLearner
from fewsight.learners.inputs import GramInput, VectorInput


def as_view(source: Any, examples: Any = None, pool_gram: Any = None) -> View:
    """A view as it is, or what a fitted learner sees in examples; the latter follows covariances where it can."""
    if isinstance(source, View):
        return source
    if not hasattr(source, "latent"):
        raise InvalidInput(f"query: a view or a fitted learner with `latent` must be given, got {owner_name(source)}.")
    if examples is None:
        raise InvalidInput("query: with a learner the examples of the pool must be given as well, got none.")
    if isinstance(source, GPClassifier) and (pool_gram is not None or not isinstance(source.input_, GramInput)):
        return PoolView.of(source, examples, pool_gram)
    if pool_gram is not None:
        return FixedView(source, examples, GramPool(pool_gram))
    if isinstance(source, HistogramGPClassifier) and not source.input_.channels:
        return FixedView(source, examples, VectorPool(examples, HistogramIntersection()))
    if isinstance(source, KernelLearner) and isinstance(source.input_, VectorInput):
        return FixedView(source, examples, VectorPool(examples, source.input_.kernel))
    return FixedView(source, examples)


__all__ = [
    "FixedView",
    "HistogramView",
    "Hyperparameters",
    "PoolView",
    "RefittedView",
    "View",
    "as_view",
    "pool_of",
    "scales_of",
]

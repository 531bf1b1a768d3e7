"""One follower for each kind of learner: the only place in `active` that asks what a learner is."""

from __future__ import annotations

import numpy as np

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array, Indices
from fewsight.active.followers.base import LEAST_TO_LEARN, Certainty, Follower, LeftOut
from fewsight.active.followers.gp import GPFollower
from fewsight.active.followers.histogram import HistogramFollower
from fewsight.active.followers.refit import ExampleFollower, GramFollower
from fewsight.active.pools import GramPool, Pool, VectorPool, as_pool
from fewsight.active.views import FixedView, PoolView, View
from fewsight.kernels import HistogramIntersection
from fewsight.learners import GPClassifier, HistogramGPClassifier, KernelLearner, Learner
from fewsight.learners.examples import Examples
from fewsight.learners.inputs import GramInput, VectorInput
from fewsight.learners.probability import softmax

# The first that fits.
FOLLOWERS: dict[type, type[Follower]] = {
    GPClassifier: GPFollower,
    HistogramGPClassifier: HistogramFollower,
    KernelLearner: GramFollower,
    Learner: ExampleFollower,
}


def follower_of(owner: object, learner: Learner) -> type[Follower]:
    """The kind of follower that a learner needs."""
    for kind, follower in FOLLOWERS.items():
        if isinstance(learner, kind):
            return follower
    raise InvalidInput(f"{owner_name(owner)}: learner must be a learner of fewsight, got {type(learner).__name__}.")


def pool_for(owner: object, learner: Learner, examples: Examples | Pool, exclude: Indices) -> Pool:
    """Examples as the pool that a learner asks about."""
    return as_pool(owner, follower_of(owner, learner).kernel(learner), examples, exclude)


def view_of(source: View | Learner, examples: Examples | None = None, pool_gram: Array | None = None) -> View:
    """A view as it is, or what a fitted learner sees in examples; the latter knows covariances where it can."""
    if isinstance(source, View):
        return source
    if not hasattr(source, "latent"):
        raise InvalidInput(f"query: a view or a fitted learner with `latent` must be given, got {owner_name(source)}.")
    if examples is None:
        raise InvalidInput("query: with a learner the examples of the pool must be given as well, got none.")
    if isinstance(source, GPClassifier) and (pool_gram is not None or not isinstance(source.input_, GramInput)):
        return PoolView.of(source, examples, pool_gram)
    return _fixed(source, examples, _comparing_pool(source, examples, pool_gram))


def _comparing_pool(learner: Learner, examples: Examples, pool_gram: Array | None) -> Pool | None:
    """What compares the examples of a fitted learner with each other, where that is known."""
    if pool_gram is not None:
        return GramPool(pool_gram)
    side = getattr(learner, "input_", None)
    if isinstance(side, VectorInput):
        return VectorPool(examples, side.parameter)
    if isinstance(learner, HistogramGPClassifier) and not learner.input_.channels:
        return VectorPool(examples, HistogramIntersection())
    return None


def _fixed(learner: Learner, examples: Examples, pool: Pool | None) -> FixedView:
    latent = learner.latent(examples)
    mean, variance = np.asarray(latent.mean), np.asarray(latent.std)[:, 0] ** 2
    stated = learner.predict_proba(examples) if hasattr(learner, "predict_proba") else softmax(mean)
    n_labelled = getattr(getattr(learner, "input_", None), "n_training", 0) or len(getattr(learner, "labels_", ()))
    noise = float(np.mean(getattr(learner, "noise_variance_", 0.0)))
    classes = np.asarray(learner.classes_).tolist()
    return FixedView(learner, classes, mean, variance, stated, n_labelled, noise, pool)


__all__ = [
    "FOLLOWERS",
    "LEAST_TO_LEARN",
    "Certainty",
    "ExampleFollower",
    "Follower",
    "GPFollower",
    "GramFollower",
    "HistogramFollower",
    "LeftOut",
    "follower_of",
    "pool_for",
    "view_of",
]

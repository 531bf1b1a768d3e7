"""Estimators with scikit-learn's contract. A learner is added by adding it to LEARNERS, one of another package by
`fewsight.register` or an entry point; all else follows from its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sklearn.base import clone

from fewsight._base.checks import owner_name
from fewsight._base.errors import InvalidInput
from fewsight._base.registry import Registry
from fewsight.learners.base import Assessment, Latent, Learner, LeftOut, Verdict
from fewsight.learners.generative_classifier import GenerativeClassifier
from fewsight.learners.gp_classifier import GPClassifier
from fewsight.learners.histogram_gp import HistogramGPClassifier
from fewsight.learners.infinite_kernels import InfiniteKernelClassifier
from fewsight.learners.kernel_combination import KernelCombination
from fewsight.learners.kernel_growth import GrownKernels, grow_kernels
from fewsight.learners.kernel_learner import KernelLearner
from fewsight.learners.loans import Loan, LoanMixin
from fewsight.learners.logistic import LogisticClassifier
from fewsight.learners.mkl_classifier import MKLClassifier
from fewsight.learners.nearest_neighbour import NearestMeanClassifier, NearestNeighbourClassifier
from fewsight.learners.span_bound_classifier import SpanBoundClassifier
from fewsight.learners.sparse_gp import SparseGPClassifier
from fewsight.learners.svm_classifier import SVMClassifier

_CLASSES: tuple[type[Learner], ...] = (
    *(GPClassifier, SVMClassifier, NearestNeighbourClassifier, NearestMeanClassifier, LogisticClassifier),
    *(HistogramGPClassifier, SparseGPClassifier, KernelCombination, MKLClassifier, InfiniteKernelClassifier),
    *(SpanBoundClassifier, GenerativeClassifier),
)
LEARNERS: Registry[Learner] = Registry("learner", Learner, _CLASSES, group="fewsight.learners")

LearnerLike: TypeAlias = Learner | Callable[[], Learner]


def unfitted(owner: object, learner: LearnerLike) -> Learner:
    """An unfitted copy of a learner, or of what comes when it is called."""
    made = learner() if callable(learner) else learner
    if not isinstance(made, Learner):
        raise InvalidInput(f"{owner_name(owner)}: a learner must be a fewsight Learner, got {type(made).__name__}.")
    fresh: Learner = clone(made)
    return fresh


__all__ = [
    "LEARNERS",
    "Assessment",
    "GPClassifier",
    "GenerativeClassifier",
    "GrownKernels",
    "HistogramGPClassifier",
    "InfiniteKernelClassifier",
    "KernelCombination",
    "KernelLearner",
    "Latent",
    "Learner",
    "LearnerLike",
    "LeftOut",
    "Loan",
    "LoanMixin",
    "LogisticClassifier",
    "MKLClassifier",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "SVMClassifier",
    "SpanBoundClassifier",
    "SparseGPClassifier",
    "Verdict",
    "grow_kernels",
    "unfitted",
]

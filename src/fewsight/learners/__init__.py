"""Estimators with scikit-learn's contract. A learner is added by adding it to LEARNERS, one of another package by
`fewsight.register` or an entry point; all else follows from its class."""

from fewsight._base.registry import Registry
from fewsight.learners.base import Assessment, Latent, Learner, LeftOut
from fewsight.learners.gp_classifier import GPClassifier
from fewsight.learners.histogram_gp import HistogramGPClassifier
from fewsight.learners.kernel_combination import KernelCombination
from fewsight.learners.kernel_learner import KernelLearner
from fewsight.learners.loans import Loan, LoanMixin
from fewsight.learners.logistic import LogisticClassifier
from fewsight.learners.nearest_neighbour import NearestMeanClassifier, NearestNeighbourClassifier
from fewsight.learners.svm_classifier import SVMClassifier

_CLASSES: tuple[type[Learner], ...] = (
    *(GPClassifier, SVMClassifier, NearestNeighbourClassifier, NearestMeanClassifier, LogisticClassifier),
    *(HistogramGPClassifier, KernelCombination),
)
LEARNERS: Registry[Learner] = Registry("learner", Learner, _CLASSES, group="fewsight.learners")

__all__ = [
    "LEARNERS",
    "Assessment",
    "GPClassifier",
    "HistogramGPClassifier",
    "KernelCombination",
    "KernelLearner",
    "Latent",
    "Learner",
    "LeftOut",
    "Loan",
    "LoanMixin",
    "LogisticClassifier",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "SVMClassifier",
]

"""Estimators with scikit-learn's contract. A learner is added by adding it to LEARNERS."""

from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.borrowing import Loan
from fewsight.learners.gp_classifier import Assessment, GPClassifier
from fewsight.learners.kernel_combination import KernelCombination
from fewsight.learners.logistic import LogisticClassifier
from fewsight.learners.nearest_neighbour import NearestMeanClassifier, NearestNeighbourClassifier
from fewsight.learners.svm_classifier import SVMClassifier

LEARNERS: dict[str, type[KernelLearner]] = {
    "gp": GPClassifier,
    "svm": SVMClassifier,
    "nn": NearestNeighbourClassifier,
    "mean": NearestMeanClassifier,
    "logistic": LogisticClassifier,
}

__all__ = [
    "LEARNERS",
    "Assessment",
    "GPClassifier",
    "KernelCombination",
    "KernelLearner",
    "Latent",
    "Loan",
    "LogisticClassifier",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "SVMClassifier",
]

"""Estimators with scikit-learn's contract. A learner is added by adding it to LEARNERS; all else follows from its class."""

from fewsight.learners.base import Assessment, Latent, Learner, LeftOut
from fewsight.learners.gp_classifier import GPClassifier
from fewsight.learners.histogram_gp import HistogramGPClassifier
from fewsight.learners.kernel_combination import KernelCombination
from fewsight.learners.kernel_learner import KernelLearner
from fewsight.learners.loans import Loan
from fewsight.learners.logistic import LogisticClassifier
from fewsight.learners.nearest_neighbour import NearestMeanClassifier, NearestNeighbourClassifier
from fewsight.learners.svm_classifier import SVMClassifier

LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (
        *(GPClassifier, SVMClassifier, NearestNeighbourClassifier, NearestMeanClassifier, LogisticClassifier),
        *(HistogramGPClassifier, KernelCombination),
    )
}

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
    "LogisticClassifier",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "SVMClassifier",
]

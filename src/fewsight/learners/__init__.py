"""Estimators with scikit-learn's contract. A learner is added by adding it to LEARNERS."""

from fewsight.learners.base import KernelLearner, Latent
from fewsight.learners.gp_classifier import Assessment, GPClassifier
from fewsight.learners.histogram_gp import HistogramGPClassifier
from fewsight.learners.kernel_combination import KernelCombination
from fewsight.learners.loans import Loan
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

# These take histograms themselves, dense or sparse, not Gram matrices.
HISTOGRAM_LEARNERS: dict[str, type[HistogramGPClassifier]] = {"histogram_gp": HistogramGPClassifier}

__all__ = [
    "HISTOGRAM_LEARNERS",
    "LEARNERS",
    "Assessment",
    "GPClassifier",
    "HistogramGPClassifier",
    "KernelCombination",
    "KernelLearner",
    "Latent",
    "Loan",
    "LogisticClassifier",
    "NearestMeanClassifier",
    "NearestNeighbourClassifier",
    "SVMClassifier",
]

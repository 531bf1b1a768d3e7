"""Exact Gaussian process regression on class targets: posterior, leave-one-out, evidence and what it teaches."""

from fewsight.gp.borrowing import BorrowedColumn, borrowed_column
from fewsight.gp.combination import PENALTIES, LearnedWeights, Penalty, learn_weights_and_noise
from fewsight.gp.correlation_path import CorrelationPaths, Inverted, LeftOut, path_inside, paths_beside
from fewsight.gp.evidence import Evidence, log_evidence_and_gradients
from fewsight.gp.noise import LearnedNoise, learn_noise
from fewsight.gp.posterior import LeaveOneOut, Posterior
from fewsight.gp.tasks import (
    NOISE_LADDER,
    LearnedCorrelations,
    evidence_of_correlations,
    learn_correlations,
    least_noise,
    task_covariance,
    task_factors,
)

__all__ = [
    "NOISE_LADDER",
    "PENALTIES",
    "BorrowedColumn",
    "CorrelationPaths",
    "Evidence",
    "Inverted",
    "LearnedCorrelations",
    "LearnedNoise",
    "LearnedWeights",
    "LeaveOneOut",
    "LeftOut",
    "Penalty",
    "Posterior",
    "borrowed_column",
    "evidence_of_correlations",
    "learn_correlations",
    "learn_noise",
    "learn_weights_and_noise",
    "least_noise",
    "log_evidence_and_gradients",
    "path_inside",
    "paths_beside",
    "task_covariance",
    "task_factors",
]

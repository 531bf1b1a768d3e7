"""Exact Gaussian process regression on class targets: posterior, leave-one-out, evidence and what it teaches."""

from fewsight.gp.combination import PENALTIES, LearnedWeights, Penalty, learn_weights_and_noise
from fewsight.gp.evidence import Evidence, log_evidence_and_gradients
from fewsight.gp.noise import LearnedNoise, learn_noise
from fewsight.gp.posterior import LeaveOneOut, Posterior

__all__ = [
    "PENALTIES",
    "Evidence",
    "LearnedNoise",
    "LearnedWeights",
    "LeaveOneOut",
    "Penalty",
    "Posterior",
    "learn_noise",
    "learn_weights_and_noise",
    "log_evidence_and_gradients",
]

"""Exact Gaussian process regression on class targets: posterior, leave-one-out, evidence and what it teaches."""

from fewsight.gp.evidence import (
    Evidence,
    LearnedNoise,
    LearnedWeights,
    learn_noise,
    learn_weights_and_noise,
    log_evidence_and_gradients,
)
from fewsight.gp.posterior import LeaveOneOut, Posterior

__all__ = [
    "Evidence",
    "LearnedNoise",
    "LearnedWeights",
    "LeaveOneOut",
    "Posterior",
    "learn_noise",
    "learn_weights_and_noise",
    "log_evidence_and_gradients",
]

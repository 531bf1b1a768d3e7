"""Whether an image is like anything that was learned, kept apart from which category it is most like.

Signs of novelty, each higher for stranger images: a large posterior variance, a small largest latent value (by itself, or above
the mean of all classes: far from everything all are zero), a small largest probability, a large distance to the nearest training
example in kernel space. A rule adds up one or several of them, each
measured in standard deviations of left-out training examples; the threshold is a quantile of those, so that a stated share of
known images is taken for unknown. Which rule is best depends on the kernel: unless one is asked for, it is the one that best
tells training examples whose whole class is left out from those whose class is known. See `docs/unknown.md`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fewsight._base.types import Array, Indices, State
from fewsight.metrics import roc_auc

RULES: dict[str, tuple[str, ...]] = {
    "variance": ("variance",),
    "probability": ("probability",),
    "latent": ("latent",),
    "contrast": ("contrast",),
    "distance": ("distance",),
    "latent+variance": ("latent", "variance"),
    "latent+distance": ("latent", "distance"),
    "probability+distance": ("probability", "distance"),
    "contrast+distance": ("contrast", "distance"),
    "contrast+variance": ("contrast", "variance"),
}
DEFAULT_RULE = "contrast"
AUTO = "auto"  # one of the following, by leaving out whole classes
CANDIDATES = ("contrast", "contrast+variance")
LEAST_SPREAD = 1e-100  # of a sign in a model file


@dataclass(frozen=True)
class Signs:
    """What speaks for novelty, by name: (m,) numbers, higher for stranger examples."""

    values: Mapping[str, Array]

    @property
    def n(self) -> int:
        """How many examples they are about."""
        return len(next(iter(self.values.values())))

    @classmethod
    def of(cls, mean: Array, variance: Array, probabilities: Array, similarity: Array | None = None) -> Signs:
        """From latent means (m, c), latent variances (m,), probabilities (m, c) and the largest cosine with training (m,).

        Without cosines, all examples are equally far.
        """
        return cls(
            {
                "variance": variance,
                "latent": -mean.max(axis=1),
                "contrast": mean.mean(axis=1) - mean.max(axis=1),
                "probability": -probabilities.max(axis=1),
                "distance": np.zeros(len(mean)) if similarity is None else -similarity,
            }
        )


@dataclass(frozen=True)
class Novelty:
    """A rule with its units and its threshold; nothing is unknown where no training example could be left out."""

    rule: str
    centres: tuple[float, ...]
    spreads: tuple[float, ...]
    threshold: float  # infinite: never
    n_examples: int

    def score(self, signs: Signs) -> Array:
        """How strange each example is; comparable with `threshold`."""
        parts = zip(RULES[self.rule], self.centres, self.spreads, strict=True)
        return np.sum([(signs.values[name] - centre) / spread for name, centre, spread in parts], axis=0)

    def state(self) -> State:
        threshold = None if np.isinf(self.threshold) else self.threshold
        header = {"rule": self.rule, "centres": list(self.centres), "spreads": list(self.spreads)}
        return State({**header, "threshold": threshold, "n_examples": self.n_examples}, {})

    @classmethod
    def from_state(cls, state: State) -> Novelty:
        rule = state.choice("rule", RULES)
        centres = state.numbers("centres", len(RULES[rule]))
        spreads = state.numbers("spreads", len(RULES[rule]), least=LEAST_SPREAD)
        threshold = np.inf if state.header.get("threshold", 0) is None else state.number("threshold")
        return cls(rule, centres, spreads, threshold, state.integer("n_examples", most=2**53))


def fit_novelty(rule: str, signs: Signs, false_alarm_rate: float) -> Novelty:
    """Units and threshold from left-out training examples, of which this share is taken for unknown."""
    parts = RULES[rule]
    n = signs.n
    if n == 0:
        return Novelty(rule, (0.0,) * len(parts), (1.0,) * len(parts), np.inf, 0)
    centres = tuple(float(signs.values[name].mean()) for name in parts)
    spreads = tuple(float(signs.values[name].std()) or 1.0 for name in parts)
    unset = Novelty(rule, centres, spreads, np.inf, n)
    rank = int(np.ceil((n + 1) * (1.0 - false_alarm_rate)))  # of the left-out and one new, exchangeable with them
    if rank > n:
        return unset
    threshold = float(np.sort(unset.score(signs))[rank - 1])
    return Novelty(rule, centres, spreads, threshold, n)


def choose_rule(known: Signs, strange: Signs) -> str:
    """The rule that best tells examples of left-out classes from left-out examples of known ones; the first of equals."""
    is_strange = np.arange(known.n + strange.n) >= known.n

    def area(rule: str) -> float:
        novelty = fit_novelty(rule, known, 0.5)
        return float(roc_auc(is_strange, np.concatenate([novelty.score(known), novelty.score(strange)])))

    return max(CANDIDATES, key=area)


def without_own_class(mean: Array, classes: Indices) -> Array:
    """Latent means (n, c - 1) of the other classes, for examples whose own class was left out."""
    others = np.arange(mean.shape[1]) != classes[:, None]
    return mean[others].reshape(len(mean), -1)


def relative(variance: Array, prior: Array) -> Array:
    """Posterior over prior variance; 1, nothing learned, for an example that the kernel cannot see (prior variance 0)."""
    return np.where(prior > 0, variance / np.where(prior > 0, prior, 1.0), 1.0)


def largest_cosine(K_test: Array, diagonal: Array, training_diagonal: Array) -> Array:
    """Kernel value with the nearest training example (m,), for kernels scaled to a diagonal of one; 0 without any."""
    lengths = np.sqrt(np.maximum(np.outer(diagonal, training_diagonal), 1e-300))
    return (K_test / lengths).max(axis=1, initial=0.0)


def similarity_to_other_folds(K: Array, folds: Indices) -> Array:
    """As `largest_cosine`, for each training example among those that are not left out with it."""
    lengths = np.sqrt(np.maximum(K.diagonal(), 1e-300))
    cosines = K / lengths[:, None] / lengths[None, :]
    return np.where(folds[:, None] != folds[None, :], cosines, 0.0).max(axis=1, initial=0.0)

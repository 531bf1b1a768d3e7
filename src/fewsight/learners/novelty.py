"""Whether an image is like anything that was learned, kept apart from which category it is most like.

Signs of novelty, each higher for stranger images: a large posterior variance, a small largest latent value (by itself, or above
the mean of all classes: far from everything all are zero), a small largest probability, a large distance to the nearest training
example in kernel space. A rule adds up one or several of them, each
measured in standard deviations of left-out training examples; the threshold is a quantile of those, so that a stated share of
known images is taken for unknown. Which rule is best depends on the kernel: unless one is asked for, it is COMBINED, or another
one that tells training examples whose whole class is left out clearly better from those whose class is known. See
`docs/unknown.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

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
    "contrast+variance+distance": ("contrast", "variance", "distance"),
}
COMBINED = "contrast+variance+distance"
SHARES = {COMBINED: (1.0, 0.5, 0.5)}  # of the signs of a rule; in all others they count the same
# Of COMBINED with two classes: a contrast between two says which of them, and less about whether it is one of them.
SHARES_OF_TWO = (0.6, 0.5, 0.5)
DEFAULT_RULE = "contrast"  # of a learner that knows no distances
AUTO = "auto"  # one of the following, by leaving out whole classes
CANDIDATES = (COMBINED, "contrast", "contrast+variance")
CANDIDATES_WITH_OUTSIDERS = (
    "latent",
    "latent+variance",
)  # as well, where examples of no class show what is to be noticed
CLEARLY = 0.02  # of area under the ROC curve, by which another candidate must be better than COMBINED
LEAST_TO_TELL = 8  # left-out examples without which nothing is called unknown
LABELS_TO_HOLD = 5  # of each class, with which the stated rate of false alarms holds
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
    holds: bool = True  # whether there were labels enough for the stated rate of false alarms

    def score(self, signs: Signs) -> Array:
        """How strange each example is; comparable with `threshold`."""
        parts = zip(RULES[self.rule], self.centres, self.spreads, strict=True)
        return np.sum([(signs.values[name] - centre) / spread for name, centre, spread in parts], axis=0)

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the stated rate of false alarms cannot promise, in a sentence."""
        if self.holds:
            return ()
        few = f"There are fewer than {LABELS_TO_HOLD} images per category on average"
        if np.isinf(self.threshold):
            return (f"{few}, too few to call any image unknown.",)
        return (f"{few}, too few to say how often a known image is called unknown.",)

    def state(self) -> State:
        threshold = None if np.isinf(self.threshold) else self.threshold
        header = {"rule": self.rule, "centres": list(self.centres), "spreads": list(self.spreads)}
        return State({**header, "threshold": threshold, "n_examples": self.n_examples, "holds": self.holds}, {})

    @classmethod
    def from_state(cls, state: State) -> Novelty:
        rule = state.choice("rule", RULES)
        centres = state.numbers("centres", len(RULES[rule]))
        spreads = state.numbers("spreads", len(RULES[rule]), least=LEAST_SPREAD)
        threshold = np.inf if state.header.get("threshold", 0) is None else state.number("threshold")
        holds = state.flag("holds") if "holds" in state else True  # earlier files do not say
        return cls(rule, centres, spreads, threshold, state.integer("n_examples", most=2**53), holds)


def fit_novelty(
    rule: str,
    signs: Signs,
    false_alarm_rate: float,
    labels_per_class: float = np.inf,
    *,
    n_classes: int | None = None,
    with_outsiders: bool = False,
) -> Novelty:
    """Units and threshold from left-out training examples, of which about this share is taken for unknown.

    The threshold lies between two estimates of the quantile: that of the examples themselves, which knows their tail but needs
    many of them, and that of a Gaussian whose mean and deviation are not known better than n examples tell, which does with few.
    They count the same where one example is expected above it.
    Where there are very few, nothing is unknown; but with outsiders, which somebody wants noticed, what is stranger than all.
    """
    parts = RULES[rule]
    n, holds = signs.n, labels_per_class >= LABELS_TO_HOLD
    if n == 0:
        return Novelty(rule, (0.0,) * len(parts), (1.0,) * len(parts), np.inf, 0, holds=False)
    shares = SHARES.get(rule, (1.0,) * len(parts))
    shares = SHARES_OF_TWO if rule == COMBINED and n_classes == 2 else shares
    centres = tuple(float(signs.values[name].mean()) for name in parts)
    spreads = tuple((float(signs.values[name].std()) or 1.0) / share for name, share in zip(parts, shares, strict=True))
    unset = Novelty(rule, centres, spreads, np.inf, n, holds=False)
    scores = unset.score(signs)
    if n < LEAST_TO_TELL:
        return replace(unset, threshold=float(scores.max())) if with_outsiders else unset
    return replace(unset, threshold=_upper_quantile(scores, false_alarm_rate), holds=holds)


def _upper_quantile(scores: Array, share: float) -> float:
    """What about this share of further scores will exceed, from some of their kind.

    (a further score - mean) / (deviation sqrt(1 + 1 / n)) of n Gaussian scores has Student's distribution, not Gauss's: the
    quantile of the latter would be exceeded by 7.6 % of further scores instead of 5 at n = 10.
    """
    n = len(scores)
    student = float(stdtrit(n - 1, 1.0 - share)) * (1.0 + 1.0 / n) ** 0.5
    of_gaussian = float(scores.mean() + scores.std(ddof=1) * student)
    trust = (share * n) ** 2  # in the examples: the square of how many are expected above
    return (of_gaussian + trust * float(np.quantile(scores, 1.0 - share, method="hazen"))) / (1.0 + trust)


def choose_rule(known: Signs, *strange: Signs, candidates: Sequence[str] = CANDIDATES) -> str:
    """The rule that best tells strange examples, of each kind alike, from left-out ones of known classes: COMBINED in doubt."""

    def area(rule: str) -> float:
        novelty = fit_novelty(rule, known, 0.5)
        inside = novelty.score(known)
        each = [(np.arange(known.n + signs.n) >= known.n, novelty.score(signs)) for signs in strange]
        found = float(np.mean([roc_auc(truth, np.concatenate([inside, scores])) for truth, scores in each]))
        return found + (CLEARLY if rule == COMBINED else 0.0)

    return max(candidates, key=area)


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

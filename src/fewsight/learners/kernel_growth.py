"""Kernels for a Gaussian process, asked of a family one after another by the evidence they would add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array

from fewsight._base.checks import check_integer, check_number, shown
from fewsight._base.errors import InvalidInput
from fewsight._base.types import Array
from fewsight.channels import Channel, Windows
from fewsight.gp import EvidenceSlope, GramList, evidence_scale, sparse_weights
from fewsight.kernels import Kernel, Scaled, Sum
from fewsight.kernels.families import KernelFamily
from fewsight.learners.examples import Examples, KernelLike
from fewsight.learners.inputs import choose_input, kernels_of_rows
from fewsight.learners.inputs.base import Made
from fewsight.learners.labels import LabelsLike, classes_to_learn, labelled, targets_of

START_NOISE = 0.2  # of the kernels' mean diagonal
JOINING = 1e-3  # the weight with which a kernel joins, before weights are learned again


@final
@dataclass(frozen=True, eq=False)
class GrownKernels:
    """Kernels or unfitted channels, weights for training diagonals of mean 1, which add up to 1, and the noise beside them."""

    kernels: list[Made]
    weights: Array  # (k,)
    scales: Array  # (k,), mean training diagonal of each
    noise_variance: float
    log_evidence: float
    slope: float  # the largest of the last round, per target: where it is below the gain, nothing that was looked at would help

    def as_kernel(self) -> Kernel | Windows:
        """One kernel of rows, or one channel of windows, which is like any other: `GPClassifier(grown.as_kernel())`."""
        rows = [kernel for kernel in self.kernels if isinstance(kernel, Kernel)]
        if len(rows) == len(self.kernels):
            shares = (self.weights / self.scales).tolist()
            parts = [Scaled(share, kernel) for kernel, share in zip(rows, shares, strict=True)]
            return parts[0] if len(parts) == 1 else Sum(tuple(parts))
        windows = [channel for channel in self.kernels if isinstance(channel, Windows)]
        if len(windows) != len(self.kernels):
            raise InvalidInput("GrownKernels: only kernels of rows or windows channels can be joined into one.")
        return Windows.of(windows, self.weights.tolist())


def grow_kernels(
    X: Examples,
    y: LabelsLike,
    kernel: KernelLike,
    family: KernelFamily[Any, Made],
    *,
    gain: float = 1e-4,
    n_starts: int = 20,
    max_kernels: int = 10,
    random_state: int = 0,
) -> GrownKernels:
    """Begin with some kernels or channels, and take in what a family proposes while that raises the evidence.

    Parameters
    ----------
    X : the training examples: rows of numbers, or images.
    y : their labels.
    kernel : the kernels or channels to begin with, as for every learner.
    family : where further ones come from.
    gain : a kernel joins if the slope of the evidence for its weight, at zero and per target, is above this.
    n_starts : parameters that the family proposes in each round; it improves the best where it can.
    max_kernels : no more kernels join when there are this many.
    random_state : seed of the proposals.
    """
    who = "grow_kernels"
    if not isinstance(family, KernelFamily):
        raise InvalidInput(f"{who}: family must be a kernel family, got {shown(family)}.")
    gain = check_number(who, "gain", gain, least=0, most=1e6)
    n_starts = check_integer(who, "n_starts", n_starts, least=1)
    most = check_integer(who, "max_kernels", max_kernels, least=1)
    seed = check_integer(who, "random_state", random_state, least=0)
    examples: Any = check_array(X, dtype=np.float64) if kernel is None or kernels_of_rows(kernel) else X
    labels, positions = labelled(who, y, len(examples))
    side = choose_input(who, kernel, examples)
    grams = [np.asarray(K) for K in side.fit(examples, labels, positions)]
    targets = targets_of(labels, classes_to_learn(who, labels))
    made: list[Made] = list(side.parameter) if isinstance(side.parameter, (list, tuple)) else [side.parameter]
    weights, level, balance = np.full(len(grams), 1.0 / len(grams)), START_NOISE, np.ones(len(targets))
    rng = np.random.default_rng(seed)
    while True:
        among = GramList(grams)
        weights, level, value = sparse_weights(among, targets, balance, weights, level)
        unit = targets / np.sqrt(evidence_scale(among, weights, targets, level * balance))
        slope = EvidenceSlope.at(among.weighted_sum(weights), unit, level * balance, free_mean=True)
        best, theta = _best(family, side, slope, unit, n_starts, rng)
        if best / targets.size <= gain or len(grams) >= most:
            break
        further = family.make(theta)
        made.append(further)
        grams.append(side.gram(further))
        weights = np.append(weights, JOINING)
    kept = np.flatnonzero(weights)
    scales = side.joined(made[len(side.scales) :]).scales if len(made) > len(side.scales) else side.scales
    side.release()
    chosen = [_unfitted(made[number]) for number in kept]
    return GrownKernels(chosen, weights[kept], scales[kept], level, value, best / targets.size)


def _best(
    family: KernelFamily[Any, Made],
    side: Any,
    slope: EvidenceSlope,
    targets: Array,
    n_starts: int,
    rng: np.random.Generator,
) -> tuple[float, Any]:
    """The largest slope of what the family proposes, and of what it makes better of the best, with its parameters."""
    examples = side.examples
    proposed = [family.propose(examples, rng) for _ in range(n_starts)]
    found = [(slope.of(side.gram(family.make(theta))), theta) for theta in proposed]
    best = max(found, key=lambda pair: pair[0])
    if not family.climbs:
        return best
    climbed = family.climb(best[1], examples, slope.dual_weights)
    return max(best, (slope.of(side.gram(family.make(climbed))), climbed), key=lambda pair: pair[0])


def _unfitted(made: Made) -> Made:
    return clone(made) if isinstance(made, Channel) else made

"""Whether more labels would change much.

The decisions on the pool are remembered answer by answer. Those of the rest that the last answers changed are counted,
and what the changes were worth is expected by the calibrated probabilities of the present posterior: the probability of
the present decision less that of the earlier one. Learning curves flatten as the logarithm of the number of labels, n,
so what w answers did, h more are expected to do

    log((n + h) / n) / log(n / (n - w))

times. They cannot gain more than there is to gain: the errors on the rest, as many as the audit allows.

The rest is not all: a rule asks about the hard ones first, so what is left of a small pool is easy, while images still to
come are as the whole pool was. The labelled examples stand for the part that is gone. Each is predicted from all other
labels, in closed form, now and as it would have been with half of the labels; their labels say which prediction was
right. So few examples need a longer look back than the last w answers.

Advice to stop is given where the gain expected of 100 more answers, on the rest and on the whole, is so far below a point
that it is rarely above one, and no category was new among the last answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.active.assessment.audit import Accuracy
from fewsight.gp import Posterior

WINDOW = 40  # answers looked back
LEAST = 20  # answers without which no advice to stop is given
AHEAD = 100  # answers looked ahead
SMALL_GAIN = 0.01  # what is promised
STOP_BELOW = 0.004  # what is expected then


@final
@dataclass(frozen=True)
class Advice:
    """Whether to stop, and why, in a sentence or two.

    expected_changes : decisions on the rest that 100 more answers would change; None while that cannot be said.
    expected_gain : how much more of the rest they would get right, as a share; None likewise.
    """

    stop: bool
    reason: str
    expected_changes: float | None = None
    expected_gain: float | None = None


class Decisions(NamedTuple):
    """On the whole pool, as column numbers (m,), with the number of labels and of classes then."""

    n_labelled: int
    n_classes: int
    columns: npt.NDArray[np.int32]


def gain_on_labelled(K: Array, targets: Array, noise: Array, n_before: int) -> int:
    """How many more labelled examples (n) all others predict right than those of the first `n_before` did.

    K is their covariance (n, n), targets are theirs (n, c), noise is each one's variance (n,).
    """
    truth, first = targets.argmax(axis=1), slice(0, n_before)
    before = Posterior.condition(K[first, first], targets[first], noise[first])
    predicted = before.mean(K[n_before:, first])
    then = np.concatenate([before.leave_one_out().mean, predicted]).argmax(axis=1)
    now = Posterior.condition(K, targets, noise).leave_one_out().mean.argmax(axis=1)
    return int((now == truth).sum()) - int((then == truth).sum())


def advise(
    history: Sequence[Decisions],
    probabilities: Array,
    rest: Indices,
    accuracy: Accuracy | None,
    on_labelled: Callable[[int], int] | None = None,
) -> Advice:
    """From the decisions after the last answers, the present probabilities (r, c) of the rest, their positions, and the audit.

    `on_labelled` says, for a number of first labels, how many more labelled examples are predicted right now than by those.
    """
    if not len(rest):
        return Advice(True, "Nothing is left to ask.", 0.0, 0.0)
    if len(history) < 2 or history[-1].n_labelled - history[0].n_labelled < LEAST:
        return Advice(False, f"Too early to say: advice comes after {LEAST} answers{_about(accuracy, '; so far ')}")
    (n_before, classes_before, before), (n, n_classes, now) = history[0], history[-1]
    changed = before[rest] != now[rest]
    rows = np.flatnonzero(changed)
    worth = float((probabilities[rows, now[rest][rows]] - probabilities[rows, before[rest][rows]]).sum())
    ahead = min(AHEAD, len(rest))
    growth = np.log((n + ahead) / n) / np.log(n / max(n_before, 1))
    gain = min(worth / len(rest) * growth, 1.0 if accuracy is None else 1.0 - accuracy.low)
    of_all = gain
    if on_labelled is not None:
        longer = np.log((n + ahead) / n) / np.log(n / (n // 2))
        of_all = (worth * growth + on_labelled(n // 2) * longer) / (len(rest) + n)
    facts = f"The last {n - n_before} answers changed {len(rows):,} of {len(rest):,} decisions{_about(accuracy, '; ')}"
    stop = max(gain, of_all) < STOP_BELOW and n_classes == classes_before
    reason = f"{facts} {_reason(ahead, gain, of_all, n_classes - classes_before)}"
    return Advice(bool(stop), reason, len(rows) * float(growth), float(max(gain, of_all)))


def _reason(ahead: int, gain: float, of_all: float, new_classes: int) -> str:
    if new_classes:
        return f"{_number(new_classes, 'category is', 'categories are')} new among them, so it is worth going on."
    if max(gain, of_all) < STOP_BELOW:
        return f"{ahead} more answers would probably gain less than {SMALL_GAIN * 100:.0f} point."
    points = _number(max(1, round(max(gain, of_all) * 100)), "point", "points")
    if gain < STOP_BELOW:
        return f"{ahead} more answers would hardly change the rest, but probably gain about {points} on new examples."
    return f"{ahead} more answers would probably gain about {points}."


def _about(accuracy: Accuracy | None, joint: str) -> str:
    return "." if accuracy is None else f"{joint}{accuracy} of the rest are right."


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"

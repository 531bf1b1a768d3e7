"""Whether more labels would change much.

The decisions on the pool are remembered answer by answer. Those of the rest that the last answers changed are counted,
and what the changes were worth is expected by the calibrated probabilities of the present posterior: the probability of
the present decision less that of the earlier one. Learning curves flatten as the logarithm of the number of labels, n,
so what w answers did, h more are expected to do

    log((n + h) / n) / log(n / (n - w))

times. They cannot gain more than there is to gain: the errors on the rest, as many as the audit allows. Advice to stop
is given where the gain expected of 100 more answers is below half a point, so that it is rarely above one, and no
category was new among the last answers. What counts is how decisions improve; examples that are labelled by hand are
right anyway.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import numpy as np
import numpy.typing as npt

from fewsight._base.types import Array, Indices
from fewsight.active.judging.audit import Accuracy

WINDOW = 40  # answers looked back
LEAST = 20  # answers without which no advice to stop is given
AHEAD = 100  # answers looked ahead
SMALL_GAIN = 0.01  # what is promised
STOP_BELOW = 0.005  # what is expected then


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


@dataclass
class DecisionHistory:
    """Decisions on the whole pool after each of the last answers, as column numbers."""

    snapshots: list[tuple[int, int, npt.NDArray[np.int32]]] = field(default_factory=list)

    def record(self, n_labelled: int, n_classes: int, decisions: Indices) -> None:
        """Remember the decisions after so many labels, in place of any that no longer hold."""
        self.forget(n_labelled - 1)
        self.snapshots.append((n_labelled, n_classes, decisions.astype(np.int32)))
        del self.snapshots[: -(WINDOW + 1)]

    def forget(self, n_labelled: int) -> None:
        """Everything after so many labels."""
        while self.snapshots and self.snapshots[-1][0] > n_labelled:
            self.snapshots.pop()


def advise(history: DecisionHistory, probabilities: Array, rest: Indices, accuracy: Accuracy | None) -> Advice:
    """From the history, the present probabilities (r, c) of the rest, their positions, and the audit."""
    if not len(rest):
        return Advice(True, "Nothing is left to ask.", 0.0, 0.0)
    if len(history.snapshots) < 2 or history.snapshots[-1][0] - history.snapshots[0][0] < LEAST:
        return Advice(False, f"Too early to say: advice comes after {LEAST} answers{_about(accuracy, '; so far ')}")
    (n_before, classes_before, before), (n, n_classes, now) = history.snapshots[0], history.snapshots[-1]
    changed = before[rest] != now[rest]
    rows = np.flatnonzero(changed)
    worth = float((probabilities[rows, now[rest][rows]] - probabilities[rows, before[rest][rows]]).sum())
    ahead = min(AHEAD, len(rest))
    growth = np.log((n + ahead) / n) / np.log(n / max(n_before, 1))
    gain = min(worth / len(rest) * growth, 1.0 if accuracy is None else 1.0 - accuracy.low)
    stop = bool(gain < STOP_BELOW) and n_classes == classes_before
    reason = _reason(n - n_before, len(rows), len(rest), accuracy, ahead, gain, n_classes - classes_before)
    return Advice(stop, reason, len(rows) * float(growth), float(gain))


def _reason(
    answers: int, changed: int, rest: int, accuracy: Accuracy | None, ahead: int, gain: float, new_classes: int
) -> str:
    facts = f"The last {answers} answers changed {changed:,} of {rest:,} decisions{_about(accuracy, '; ')}"
    if new_classes:
        return (
            f"{facts} {_number(new_classes, 'category is', 'categories are')} new among them, so it is worth going on."
        )
    if gain < STOP_BELOW:
        return f"{facts} {ahead} more answers would probably gain less than {SMALL_GAIN * 100:.0f} point."
    return f"{facts} {ahead} more answers would probably gain about {_number(max(1, round(gain * 100)), 'point', 'points')}."


def _about(accuracy: Accuracy | None, joint: str) -> str:
    return "." if accuracy is None else f"{joint}{accuracy} of the rest are right."


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"

"""Whether more labels would change much.

The decisions on the pool are remembered answer by answer. Those of the rest that the last answers changed are counted,
and what the changes were worth is expected by the calibrated probabilities of the present posterior: the probability of
the present decision less that of the earlier one. Learning curves flatten as the logarithm of the number of labels, n,
so what w answers did, h more are expected to do

    log((n + h) / n) / log(n / (n - w))

times. What is said is never more than there is to gain: the errors on the rest, as the audit estimates them or, before the
first audit, as the probabilities expect them. So the gain, the estimate and its interval never contradict each other. But
few random checks estimate few errors badly, so whether to stop is decided by what the last answers promise without that bound,
and at least by what a slow learning curve, on which errors fall as n^-0.4, takes off those that the probabilities expect.

The rest is not all: a rule asks about the hard ones first, so what is left of a small pool is easy, while images still to
come are as the whole pool was. The labelled examples stand for the part that is gone. Each is predicted from all other
labels, in closed form, now and as it would have been with half of the labels; their labels say which prediction was
right. So few examples need a longer look back than the last w answers. What there is to gain on new examples is what the rest
and the labelled examples get wrong together.

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
from fewsight.active.views.labelled import ClosedForm
from fewsight.learners.balance import leave_out
from fewsight.learners.labels import NO_CLASS, class_numbers

WINDOW = 40  # answers looked back
LEAST = 20  # answers without which no advice to stop is given
AHEAD = 100  # answers looked ahead
SMALL_GAIN = 0.01  # what is promised
STOP_BELOW = 0.006  # what is expected then
DECAY = 0.4  # errors fall at least as this power of the number of labels


@final
@dataclass(frozen=True)
class Advice:
    """Whether to stop, and why, in a sentence or two.

    expected_changes : decisions on the rest that 100 more answers would change; None while that cannot be said.
    expected_gain : how much more of the rest they would get right, as a share; None likewise.
    expected_gain_on_new : how much more of new examples, which are as the whole pool was; None likewise.
    promised_gain : what decides about stopping: the largest gain that the last answers and a slow learning curve leave open, even
        if checks say that less is to gain; None likewise.
    """

    stop: bool
    reason: str
    expected_changes: float | None = None
    expected_gain: float | None = None
    expected_gain_on_new: float | None = None
    promised_gain: float | None = None


class Decisions(NamedTuple):
    """On the whole pool, as column numbers (m,), with the number of labels and of classes then."""

    n_labelled: int
    n_classes: int
    columns: npt.NDArray[np.int32]


class OnLabelled(NamedTuple):
    """Labelled examples that are predicted right by all others and were not by some, and those that still are not."""

    gained: int
    wrong: int


def gain_on_labelled(known: ClosedForm, n_before: int) -> OnLabelled:
    """How many more labelled examples all others predict right than those of the first `n_before` did.

    Those of no class do not count.
    """
    truth, before = class_numbers(known.targets), known.posterior(n_before)
    predicted = before.mean(known.covariance[n_before:, :n_before])
    then = np.concatenate([leave_out(before, balanced=known.balanced).mean, predicted]).argmax(axis=1)
    now = leave_out(known.posterior(), balanced=known.balanced).mean.argmax(axis=1)
    n_right = int((now == truth).sum())
    return OnLabelled(n_right - int((then == truth).sum()), int((truth != NO_CLASS).sum()) - n_right)


@final
@dataclass(frozen=True)
class Outlook:
    """What is right now, and what some more answers would gain: on the rest, and on new examples. All are shares."""

    right: float
    gain: float
    right_of_new: float
    gain_on_new: float
    promised: float  # the largest of both and of what a slow learning curve gains, whatever share is right

    @classmethod
    def of(
        cls,
        right: float,
        gain: float,
        n_rest: int,
        labelled: OnLabelled | None,
        n_labelled: int,
        longer: float,
        least: float,
    ) -> Outlook:
        """From the share of the rest that is right, what the last answers promise for it, and what labels gained elsewhere.

        `longer` is how many times what half of the labels gained on the labelled examples is to come, `least` what a slow
        learning curve gains.
        """
        promised, gain = max(gain, 0.0), float(np.clip(gain, 0.0, 1.0 - right))
        if labelled is None:
            return cls(right, gain, right, gain, max(promised, least))
        n = n_rest + n_labelled
        wrong = ((1.0 - right) * n_rest + labelled.wrong) / n
        of_all, promised_of_all = ((each * n_rest + labelled.gained * longer) / n for each in (gain, promised))
        on_new = float(np.clip(of_all, 0.0, wrong))
        return cls(right, gain, 1.0 - wrong, on_new, max(promised, promised_of_all, least))

    @property
    def is_small(self) -> bool:
        """Whether hardly anything is to be gained."""
        return self.promised < STOP_BELOW

    def sentence(self, ahead: int) -> str:
        """What this many more answers would do."""
        if self.is_small:
            return f"{ahead} more answers would probably gain less than {SMALL_GAIN * 100:.0f} point."
        if self.gain >= STOP_BELOW:
            return f"{ahead} more answers would probably gain {_points(self.gain, self.right)}."
        gained = f"{_points(self.gain_on_new, self.right_of_new)} on new examples"
        now = f"of which about {self.right_of_new:.0%} would be right now"
        return f"{ahead} more answers would hardly change the rest, but probably gain {gained}, {now}."


def _points(gain: float, right: float) -> str:
    """Never more than what the share that is right, rounded as it is shown, leaves."""
    if gain < SMALL_GAIN:
        return "up to 1 point"
    return f"about {_number(max(1, min(round(gain * 100), 100 - round(right * 100))), 'point', 'points')}"


def advise(
    history: Sequence[Decisions],
    probabilities: Array,
    rest: Indices,
    accuracy: Accuracy | None,
    on_labelled: Callable[[int], OnLabelled] | None = None,
) -> Advice:
    """From the decisions after the last answers, the present probabilities (r, c) of the rest, their positions, and the audit.

    `on_labelled` says, for a number of first labels, how many more labelled examples are predicted right now than by those.
    """
    if not len(rest):
        return Advice(True, "Nothing is left to ask.", 0.0, 0.0, 0.0)
    if len(history) < 2 or history[-1].n_labelled - history[0].n_labelled < LEAST:
        return Advice(False, f"Too early to say: advice comes after {LEAST} answers{_about(accuracy, '; so far ')}")
    (n_before, classes_before, before), (n, n_classes, now) = history[0], history[-1]
    rows = np.flatnonzero(before[rest] != now[rest])
    worth = float((probabilities[rows, now[rest][rows]] - probabilities[rows, before[rest][rows]]).sum())
    ahead = min(AHEAD, len(rest))
    log_growth = np.log((n + ahead) / n)
    growth, longer = float(log_growth / np.log(n / max(n_before, 1))), float(log_growth / np.log(n / (n // 2)))
    expected = float(probabilities.max(axis=1).mean())
    right = expected if accuracy is None else accuracy.estimate
    least = DECAY * (1.0 - expected) * float(log_growth)
    labelled = None if on_labelled is None else on_labelled(n // 2)
    outlook = Outlook.of(right, worth / len(rest) * growth, len(rest), labelled, n, longer, least)
    new = n_classes - classes_before
    facts = f"The last {n - n_before} answers changed {len(rows):,} of {len(rest):,} decisions{_about(accuracy, '; ')}"
    found = f"{_number(new, 'category is', 'categories are')} new among them, so it is worth going on."
    reason = f"{facts} {found if new else outlook.sentence(ahead)}"
    stop = outlook.is_small and not new
    return Advice(bool(stop), reason, len(rows) * growth, outlook.gain, outlook.gain_on_new, outlook.promised)


def _about(accuracy: Accuracy | None, joint: str) -> str:
    return "." if accuracy is None else f"{joint}{accuracy} of the rest are right."


def _number(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"

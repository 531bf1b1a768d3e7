"""How accuracy has grown with the labels, and how many more a wished accuracy would take.

Every random check was decided before its label came, so some checks that follow each other say how many decisions on the rest
were right at that time. The curve is the share of right ones among the last checks at each time, with its interval; it ends with
the present estimate (`assessment.audit`), which knows more: all checks, and what later labels say about them.

Accuracy grows as the logarithm of the number of labels (`assessment.stopping`). If h more answers are expected to gain g, it
grows by c = g / log(1 + h / n) times that logarithm. So accuracy is higher by s after

    n (exp(s / c) - 1)

more, and a further h gain less than e from h / (exp(e / c) - 1) labels on. Both are told only where they are no more than the
rest holds and than a few times what was labelled so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from fewsight.active.assessment.audit import Accuracy, share_interval
from fewsight.active.assessment.status import Status
from fewsight.active.assessment.stopping import AHEAD, STOP_BELOW
from fewsight.active.history import Check

TOGETHER, FEWEST = 20, 8  # checks that one point stands for: at most, at least
MOST_POINTS = 12
MARKS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)  # accuracies that people wish for
CLOSE = 0.01  # a mark that is nearer than this counts as reached
TOO_FAR = 50.0  # in units of the logarithm
FURTHEST = 3.0  # times the labels so far: further ahead nothing is promised

Point = tuple[int, Accuracy]  # labels, and accuracy with them


def accuracy_curve(checks: Sequence[Check], right: Sequence[bool]) -> list[Point]:
    """From random checks in the order in which they were drawn, and whether each was decided right then."""
    ends = range(FEWEST, len(checks) + 1)
    step = -(-len(ends) // MOST_POINTS) if ends else 1
    points: dict[int, Accuracy] = {}
    for end in list(ends)[::-step][::-1]:
        some = slice(max(0, end - TOGETHER), end)
        labels = round(float(np.mean([check.n_labelled for check in checks[some]])))
        points[labels] = _share(checks[some], right[some])
    return sorted(points.items())


def _share(checks: Sequence[Check], right: Sequence[bool]) -> Accuracy:
    wrong = 1.0 - np.asarray(right, dtype=np.float64)
    n_rest = max(1, round(float(np.mean([check.n_drawn_from for check in checks]))))
    share, best, worst = share_interval(wrong, np.full(len(wrong), 1.0 / len(wrong)), n_rest)
    return Accuracy(
        1.0 - share, 0.0 if wrong.all() else 1.0 - worst, 1.0 if not wrong.any() else 1.0 - best, len(wrong)
    )


def next_mark(share: float) -> float | None:
    """The next accuracy that people wish for; None above all of them."""
    return next((mark for mark in MARKS if mark >= share + CLOSE), None)


@final
@dataclass(frozen=True)
class Forecast:
    """What `ahead` more answers are expected to gain, with this many labels and this many examples without one."""

    gain: float
    ahead: int
    n_labelled: int
    n_rest: int

    @classmethod
    def of(cls, status: Status, gain: float | None) -> Forecast | None:
        """From where things stand; None where nothing is expected."""
        if not gain or gain <= 0.0 or status.n_labelled < 1 or status.n_rest < 1:
            return None
        return cls(gain, min(AHEAD, status.n_rest), status.n_labelled, status.n_rest)

    def answers_to_gain(self, share: float) -> int | None:
        """Answers that gain so much; None where that lies too far ahead."""
        return self._near(self.n_labelled * np.expm1(min(share / self._rate, TOO_FAR)))

    def answers_to_stop(self) -> int | None:
        """Answers after which more of them hardly help, as the advice to stop has it; None where that lies too far ahead."""
        return self._near(AHEAD / np.expm1(min(STOP_BELOW / self._rate, TOO_FAR)) - self.n_labelled)

    @property
    def _rate(self) -> float:
        """Accuracy for each unit of the logarithm."""
        return self.gain / float(np.log1p(self.ahead / self.n_labelled))

    def _near(self, answers: float) -> int | None:
        return None if answers > min(float(self.n_rest), FURTHEST * self.n_labelled) else max(1, round(answers))

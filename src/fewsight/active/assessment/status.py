"""Where things stand, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.active.assessment.audit import Accuracy
from fewsight.active.assessment.stopping import Advice


@final
@dataclass(frozen=True)
class Status:
    """Where things stand.

    Attributes
    ----------
    counts : labels of each category.
    n_labelled, n_rest, n_skipped : examples with a label, without one, and of these cooling down.
    accuracy : on the rest, by the audit; None before the first audit.
    expected_accuracy : on the rest, as the learner's own probabilities say; None before the first label.
    advice : whether to stop, and why.
    n_none : labelled examples that belong to none of the categories.
    """

    counts: dict[Any, int]
    n_labelled: int
    n_rest: int
    n_skipped: int
    accuracy: Accuracy | None
    expected_accuracy: float | None
    advice: Advice
    n_none: int = 0

    def __str__(self) -> str:
        counts = {**self.counts, **({NONE_OF_THESE: self.n_none} if self.n_none else {})}
        listed = ", ".join(f"{label}: {count}" for label, count in counts.items())
        lines = [f"{self.n_labelled:,} labelled{f' ({listed})' if listed else ''}, {self.n_rest:,} left."]
        if self.n_skipped:
            lines.append(f"{self.n_skipped:,} skipped for now.")
        if self.accuracy is not None:
            lines.append(f"By {self.accuracy.n_audits} random checks, {self.accuracy} of the rest are right.")
        if self.expected_accuracy is not None:
            lines.append(f"The learner itself expects {self.expected_accuracy:.0%}.")
        return "\n".join([*lines, self.advice.reason])

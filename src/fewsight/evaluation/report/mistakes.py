"""The mistakes that a learner was most sure of: they teach most about what it looks at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewsight.evaluation.outcomes import LabelArray, Outcome


@dataclass(frozen=True)
class Mistake:
    """A test image taken for another category. Indices count the images of the set."""

    image: int
    truth: Any
    predicted: Any
    confidence: float | None  # probability of the answer given; None where the learner states none
    example: int  # a training image of the category it was taken for


def confident_mistakes(outcomes: Sequence[Outcome], labels: LabelArray, most: int, *, alike: int = 3) -> list[Mistake]:
    """The surest mistakes over all repeats: each image once, and at most `alike` that confuse the same two categories.

    `labels` are those of the whole set.
    """
    mistakes = [mistake for outcome in outcomes for mistake in _mistakes(outcome, labels)]
    images: set[int] = set()
    kinds: Counter[tuple[Any, Any]] = Counter()
    chosen = []
    for mistake in sorted(mistakes, key=lambda mistake: (-(mistake.confidence or 0.0), mistake.image)):
        kind = (mistake.truth, mistake.predicted)
        if mistake.image not in images and kinds[kind] < alike:
            chosen.append(mistake)
            images.add(mistake.image)
            kinds[kind] += 1
    return chosen[:most]


def _mistakes(outcome: Outcome, labels: LabelArray) -> list[Mistake]:
    examples: dict[Any, list[int]] = {}
    for index in outcome.train:
        examples.setdefault(labels[index], []).append(int(index))
    columns = {label: column for column, label in enumerate(outcome.classes)}
    found = []
    for row in np.flatnonzero(outcome.truth != outcome.predicted):
        image, answer = int(outcome.test[row]), outcome.predicted[row]
        stated = outcome.probabilities
        confidence = None if stated is None else float(stated[row, columns[answer]])
        example = examples[answer][image % len(examples[answer])]  # not always the same one
        found.append(Mistake(image, outcome.truth[row], answer, confidence, example))
    return found

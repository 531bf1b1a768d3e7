"""The images that are least like anything learned, and those of held-out categories that were not noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewsight._base.types import Array
from fewsight.evaluation.outcomes import LabelArray, Outcome, Strangeness


@dataclass(frozen=True)
class Stranger:
    """An image that was shown after training. Indices count the images of the set."""

    image: int
    truth: Any
    taken_for: Any
    held_out: bool  # its category was not learned
    called_unknown: bool
    score: float  # as in `Scores`
    example: int  # a training image of the category it was taken for


@dataclass(frozen=True)
class Scores:
    """Scores of all repeats, above the threshold of their repeat; as they are where a repeat has no threshold."""

    known: Array
    held_out: Array
    has_threshold: bool

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Scores:
        pairs = list(zip(outcomes, _above_threshold(outcomes), strict=True))
        known = np.concatenate([scores[: len(outcome.test)] for outcome, scores in pairs])
        held_out = np.concatenate([scores[len(outcome.test) :] for outcome, scores in pairs])
        return cls(known, held_out, _have_thresholds(outcomes))


def strangest(outcomes: Sequence[Outcome], labels: LabelArray, most: int) -> list[Stranger]:
    """The images with the highest scores over all repeats, each once. `labels` are those of the whole set."""
    ordered = sorted(_strangers(outcomes, labels), key=lambda stranger: (-stranger.score, stranger.image))
    return _once(ordered)[:most]


def unnoticed(outcomes: Sequence[Outcome], labels: LabelArray, most: int, *, alike: int = 3) -> list[Stranger]:
    """Images of held-out categories with the lowest scores, each once; at most `alike` of one category taken for one other."""
    missed = [s for s in _strangers(outcomes, labels) if s.held_out and not s.called_unknown]
    kinds: Counter[tuple[Any, Any]] = Counter()
    chosen = []
    for stranger in _once(sorted(missed, key=lambda stranger: (stranger.score, stranger.image))):
        kind = (stranger.truth, stranger.taken_for)
        if kinds[kind] < alike:
            chosen.append(stranger)
            kinds[kind] += 1
    return chosen[:most]


def said(outcome: Outcome) -> Strangeness:
    """What the learner said; asked only where it says anything."""
    assert outcome.strangeness is not None
    return outcome.strangeness


def _strangers(outcomes: Sequence[Outcome], labels: LabelArray) -> Iterator[Stranger]:
    for outcome, scores in zip(outcomes, _above_threshold(outcomes), strict=True):
        examples: dict[Any, list[int]] = {}
        for index in outcome.train:
            examples.setdefault(labels[index], []).append(int(index))
        images = np.concatenate([outcome.test, outcome.held_out]).tolist()
        answers = np.concatenate([outcome.predicted, outcome.taken_for])
        for row, (image, answer) in enumerate(zip(images, answers, strict=True)):
            yield Stranger(
                image=image,
                truth=labels[image],
                taken_for=answer,
                held_out=row >= len(outcome.test),
                called_unknown=bool(said(outcome).called_unknown[row]),
                score=float(scores[row]),
                example=examples[answer][image % len(examples[answer])],  # not always the same one
            )


def _once(strangers: Iterable[Stranger]) -> list[Stranger]:
    """The first mention of each image."""
    first: dict[int, Stranger] = {}
    for stranger in strangers:
        first.setdefault(stranger.image, stranger)
    return list(first.values())


def _above_threshold(outcomes: Sequence[Outcome]) -> list[Array]:
    moved = _have_thresholds(outcomes)
    return [said(outcome).scores - (said(outcome).threshold if moved else 0.0) for outcome in outcomes]


def _have_thresholds(outcomes: Sequence[Outcome]) -> bool:
    return all(np.isfinite(said(outcome).threshold) for outcome in outcomes)

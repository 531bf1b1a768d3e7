"""What every learner says in every cell of the bench, kept in the work folder, and what it is worth.

After a change of what a learner computes, remove its folder below `answers`: vectors and peers stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from experiments.domains.peers import Answers, Learner
from experiments.domains.tasks import DOMAINS, Place, Task, draw_task, draw_unlabelled
from experiments.domains.vectors import LabelledVectors, read_vectors
from fewsight._base.progress import silent, track
from fewsight._base.replacement import replacing
from fewsight._base.types import Array, Indices
from fewsight.metrics import calibration_error, log_loss

Cell = dict[str, float]  # metrics by name
DRAWS = 200  # of labels from stated probabilities, to see the calibration error that perfect calibration shows


@dataclass
class Bench:
    """Vectors and answers below one work folder."""

    data: Path
    work: Path
    _known: dict[str, LabelledVectors] = field(default_factory=dict)

    def task(self, place: Place) -> Task:
        """The rows of a cell."""
        return draw_task(place, self._vectors(place))

    def unlabelled(self, place: Place, count: int) -> Array:
        """Further rows, `count` of each category, without labels."""
        return draw_unlabelled(place, self._vectors(place), count)

    def _vectors(self, place: Place) -> LabelledVectors:
        source = DOMAINS[place.domain].source
        if source not in self._known:
            self._known[source] = read_vectors(source, self.data, self.work)
        return self._known[source]

    def fill(self, learners: Mapping[str, Learner], places: Sequence[Place]) -> None:
        """Compute the answers that are not there yet."""
        missing = [place for place in places if any(not self._path(name, place).exists() for name in learners)]
        for place in track(missing, "learning", len(missing)):
            task = self.task(place)
            for name, learner in learners.items():
                if not self._path(name, place).exists():
                    with silent():
                        self._write(name, place, learner(task), task.test_codes)

    def answers(self, name: str, place: Place) -> tuple[Answers, Indices]:
        """What a learner said, and the truth."""
        with np.load(self._path(name, place)) as kept:
            stated = kept["probabilities"].astype(np.float64) if "probabilities" in kept else None
            return Answers(kept["scores"].astype(np.float64), stated), kept["truth"]

    def cell(self, name: str, place: Place) -> Cell:
        """What it is worth."""
        return measure(*self.answers(name, place))

    def _path(self, name: str, place: Place) -> Path:
        return self.work / "answers" / name / f"{place.stem}.npz"

    def _write(self, name: str, place: Place, answers: Answers, truth: Indices) -> None:
        path = self._path(name, place)
        path.parent.mkdir(parents=True, exist_ok=True)
        stated = {} if answers.probabilities is None else {"probabilities": answers.probabilities.astype(np.float32)}
        with replacing(path) as stream:
            np.savez(stream, scores=answers.scores.astype(np.float32), truth=truth, **stated)


def measure(answers: Answers, truth: Indices) -> Cell:
    """Accuracy and, of stated probabilities, log loss, calibration error, what it would be if they were true, and how much
    the mean confidence exceeds the accuracy."""
    cell = {"accuracy": float((answers.scores.argmax(axis=1) == truth).mean())}
    if answers.probabilities is None:
        return cell
    stated = answers.probabilities / answers.probabilities.sum(axis=1, keepdims=True)
    right = float((stated.argmax(axis=1) == truth).mean())
    classes = range(stated.shape[1])
    return cell | {
        "log_loss": log_loss(truth, stated, classes),
        "calibration_error": calibration_error(truth, stated, classes),
        "calibration_error_if_true": expected_calibration_error(stated),
        "overconfidence": float(stated.max(axis=1).mean()) - right,
    }


def expected_calibration_error(stated: Array, n_bins: int = 15) -> float:
    """The mean calibration error of perfectly calibrated probabilities: whether the decision is right is drawn from them."""
    top = stated.max(axis=1)
    place = np.clip(np.ceil(top * n_bins).astype(int) - 1, 0, n_bins - 1)
    drawn = np.random.default_rng(0).random((DRAWS, len(top))) < top
    gaps = np.zeros((DRAWS, n_bins))
    np.add.at(gaps.T, place, (drawn - top).T)
    return float(np.abs(gaps).sum(axis=1).mean() / len(top))

"""From a model file and images to predictions, a batch at a time: never retrains, holds no more than a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fewsight._base.errors import InvalidInput, ModelFileError, UnreadableImage
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.apps.workbench.channel_options import set_places
from fewsight.apps.workbench.image_sources import Workplace, unreadable_among
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.apps.workbench.result_kinds import PREDICTION_PAGE, PREDICTIONS
from fewsight.images import Image, ImageFile, ImageSet, images_in
from fewsight.learners import Learner
from fewsight.persistence import load_learner

BATCH = 64  # images whose encodings are in memory at the same time


@dataclass(frozen=True)
class Prediction:
    """What the model says about one image."""

    file: str
    category: str
    probability: float
    uncertainty: float  # see `uncertainty_of`
    unknown: str  # yes or no: whether it is unlike all that was learned; empty where the learner does not say
    probabilities: tuple[float, ...]  # in the order of the model's categories


class Predictions:
    """Predictions, made while they are iterated over; `unreadable` and `n_predicted` grow meanwhile.

    Iteration ends with an InvalidInput if not one image could be read.
    """

    def __init__(self, model: Learner, images: Sequence[Image], workplace: Workplace) -> None:
        self.categories = [str(category) for category in model.classes_]
        self.unreadable: list[UnreadableImage] = []
        self.n_predicted = 0
        self._model, self._images, self._workplace = model, images, workplace

    def __iter__(self) -> Iterator[Prediction]:
        with self._workplace.cache() as cache:
            for channel in self._model.channels:
                channel.cache, channel.n_jobs = cache, self._workplace.jobs
            for batch in _batches(track(self._images, "predictions", len(self._images))):
                with silent():
                    rows = self._predict(batch)
                self.n_predicted += len(rows)
                yield from rows
        if not self.n_predicted:
            raise InvalidInput("not one of the images could be read, so there is nothing to predict.")

    def _predict(self, batch: list[Image]) -> list[Prediction]:
        failures = unreadable_among(batch, self._model.channels)
        self.unreadable.extend(failures)
        images = ImageSet(batch).without(failures).images
        if not images:
            return []
        found = self._model.verdict(images)
        unknown = [""] * len(images) if found.unknown is None else np.where(found.unknown, "yes", "no").tolist()
        columns = (images, found.probabilities, uncertainty_of(found.probabilities), unknown)
        return [self._row(*parts) for parts in zip(*columns, strict=True)]

    def _row(self, image: Image, probabilities: Array, uncertainty: float, answer: str) -> Prediction:
        best = int(probabilities.argmax())
        each = tuple(probabilities.tolist())
        return Prediction(file_of(image), self.categories[best], each[best], float(uncertainty), answer, each)


@checked_files(reads=("model_file", "paths", "options"), writes={"output": PREDICTIONS, "report": PREDICTION_PAGE})
def predict_images(
    model_file: str | Path,
    paths: Sequence[str | Path],
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    output: str | Path | None = None,
    report: str | Path | None = None,
    workplace: Workplace | None = None,
) -> Predictions:
    """What a model file says about images: files, and folders with all they hold.

    `output` is where the answers will go, with `write_table`, and `report` the page of pictures, with
    `write_prediction_report`: neither may be one of these files.
    The options can only say where a file lies that a channel needs: `{"vectors": {"table": "new.csv"}}`.
    """
    model = model_for_images(model_file)
    set_places(model.channels, options or {})
    for channel in model.channels:
        channel.check()
    found = images_in(paths)
    predictions = Predictions(model, found.images, workplace or Workplace())
    predictions.unreadable.extend(found.unreadable)
    return predictions


def model_for_images(model_file: str | Path) -> Learner:
    """The model of a file; one that does not categorise images is refused."""
    model = load_learner(model_file)
    if not model.needs.are_images(model.channels):
        raise ModelFileError(f"{model_file}: this model does not categorise images; it can be used from Python only.")
    return model


def file_of(image: Image) -> str:
    """The path as given, with every character it has; the name, for an image that is no file."""
    return image.path if isinstance(image, ImageFile) else image.name


def uncertainty_of(probabilities: Array) -> Array:
    """Entropy of each row divided by its largest possible value: 0 is certain, 1 is no idea."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(probabilities))
    terms = probabilities * np.log(np.where(probabilities > 0, probabilities, 1.0))
    return np.clip(np.abs(terms.sum(axis=1)) / np.log(probabilities.shape[1]), 0.0, 1.0)


def _batches(images: Iterable[Image]) -> Iterator[list[Image]]:
    remaining = iter(images)
    while batch := list(islice(remaining, BATCH)):
        yield batch

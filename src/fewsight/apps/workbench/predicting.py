"""From a model file and images to predictions, a batch at a time: never retrains, holds no more than a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fewsight._base.cluster import connected
from fewsight._base.errors import InvalidInput, ModelFileError, UnreadableImage
from fewsight._base.progress import silent, track
from fewsight._base.types import Array
from fewsight.apps.workbench.channel_options import set_places
from fewsight.apps.workbench.cluster_work import answers_of_workers
from fewsight.apps.workbench.image_sources import Workplace, unreadable_among
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.apps.workbench.result_kinds import PREDICTION_PAGE, PREDICTIONS
from fewsight.images import Image, ImageFile, images_in
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


class Judged(NamedTuple):
    """What a model says about a batch of images."""

    readable: list[int]  # places in the batch
    probabilities: Array  # (readable, categories)
    unknown: list[str]  # yes, no, or empty
    failures: list[tuple[int, str]]  # places of the others, and why


Elsewhere = Callable[
    [Iterable[list[Image]]], Iterator[tuple[list[Image], Judged]]
]  # batches in, what others say of them


def judge(model: Learner, batch: list[Image]) -> Judged:
    """On this machine, or on a worker of a cluster."""
    reasons = {failure.name: failure.reason for failure in unreadable_among(batch, model.channels)}
    readable = [place for place, image in enumerate(batch) if image.name not in reasons]
    failures = [(place, reasons[image.name]) for place, image in enumerate(batch) if image.name in reasons]
    if not readable:
        return Judged([], np.empty((0, len(model.classes_))), [], failures)
    found = model.verdict([batch[place] for place in readable])
    unknown = [""] * len(readable) if found.unknown is None else np.where(found.unknown, "yes", "no").tolist()
    return Judged(readable, found.probabilities, unknown, failures)


class Predictions:
    """Predictions, made while they are iterated over; `unreadable` and `n_predicted` grow meanwhile.

    Iteration ends with an InvalidInput if not one image could be read.
    """

    def __init__(
        self, model: Learner, images: Sequence[Image], workplace: Workplace, elsewhere: Elsewhere | None = None
    ) -> None:
        self.categories = [str(category) for category in model.classes_]
        self.unreadable: list[UnreadableImage] = []
        self.n_predicted = 0
        self._model, self._images, self._workplace, self._elsewhere = model, images, workplace, elsewhere

    def __iter__(self) -> Iterator[Prediction]:
        batches = _batches(track(self._images, "predictions", len(self._images)))
        for batch, judged in self._judged(batches) if self._elsewhere is None else self._elsewhere(batches):
            self.unreadable.extend(UnreadableImage(batch[place].name, reason) for place, reason in judged.failures)
            self.n_predicted += len(judged.readable)
            columns = (judged.readable, judged.probabilities, uncertainty_of(judged.probabilities), judged.unknown)
            for place, probabilities, uncertainty, answer in zip(*columns, strict=True):
                yield self._row(batch[place], probabilities, uncertainty, answer)
        if not self.n_predicted:
            raise InvalidInput("not one of the images could be read, so there is nothing to predict.")

    def _judged(self, batches: Iterable[list[Image]]) -> Iterator[tuple[list[Image], Judged]]:
        """On this machine."""
        with self._workplace.cache() as cache:
            for channel in self._model.channels:
                channel.cache, channel.n_jobs = cache, self._workplace.jobs
            for batch in batches:
                with silent():
                    judged = judge(self._model, batch)
                yield batch, judged

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
    cluster: str | None = None,
) -> Predictions:
    """What a model file says about images: files, and folders with all they hold.

    `output` is where the answers will go, with `write_table`, and `report` the page of pictures, with
    `write_prediction_report`: neither may be one of these files.
    The options can only say where a file lies that a channel needs: `{"vectors": {"table": "new.csv"}}`.
    With `cluster`, the address of a Dask scheduler, its workers look at the images, which they must see under the same path.
    """
    model = model_for_images(model_file)
    set_places(model.channels, options or {})
    for channel in model.channels:
        channel.check()
    found = images_in(paths)
    elsewhere = None if cluster is None else partial(_on_cluster, cluster, Path(model_file), dict(options or {}))
    predictions = Predictions(model, found.images, workplace or Workplace(), elsewhere)
    predictions.unreadable.extend(found.unreadable)
    return predictions


def model_for_images(model_file: str | Path) -> Learner:
    """The model of a file; one that does not classify images is refused."""
    model = load_learner(model_file)
    if not model.needs.are_images(model.channels):
        raise ModelFileError(f"{model_file}: this model does not classify images; it can be used from Python only.")
    return model


def _on_cluster(
    address: str, model_file: Path, options: Mapping[str, Mapping[str, Any]], batches: Iterable[list[Image]]
) -> Iterator[tuple[list[Image], Judged]]:
    with connected("predict", address) as client:
        yield from answers_of_workers(client, model_file, partial(_placed, options), judge, batches)


def _placed(options: Mapping[str, Mapping[str, Any]], model: Learner) -> None:
    set_places(model.channels, options)


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

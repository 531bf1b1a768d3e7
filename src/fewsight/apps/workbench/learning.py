"""From labelled images to a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fewsight._base.checks import check_choice
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.borrowing import Borrowed, BorrowingOptions, borrow
from fewsight.apps.workbench.channel_options import AUTO, make_channels
from fewsight.apps.workbench.image_sources import ImageSource, Workplace, remarks_about, unreadable_among
from fewsight.apps.workbench.learner_choice import GP, check_memory, choose_learner
from fewsight.apps.workbench.output_paths import check_output_file
from fewsight.apps.workbench.predicting import channels_of
from fewsight.channels import Channel
from fewsight.images import ImageSet
from fewsight.learners import GPClassifier, HistogramGPClassifier
from fewsight.persistence import save

Model = GPClassifier | HistogramGPClassifier


@dataclass(frozen=True)
class Learned:
    """What was learned, and from what."""

    model: Model
    images: ImageSet  # those that were learned from, with what was found on the way
    counts: dict[str, int]  # images per category
    leave_one_out_accuracy: float | None  # mean over the categories with two images or more; None if there is none
    learner: str = GP  # or HISTOGRAM_GP, whose accuracy is that on some hundreds of images that were left out
    combine: str = "evidence"  # or "average": how much the channels count, if there are several
    replaced: bool = False  # a file stood where the model was written
    remarks: tuple[str, ...] = ()  # about the learner that was chosen, and of the channels about these images
    borrowed: Borrowed | None = None  # None where borrowing was not asked for

    @property
    def shares(self) -> dict[str, float]:
        """How much each channel counts in the model, the most first; they add up to 1."""
        shares = (self.model.weights_ / self.model.weights_.sum()).tolist()
        named = zip((channel.name for channel in channels_of(self.model)), shares, strict=True)
        return dict(sorted(named, key=lambda pair: -pair[1]))


def learn_folder(
    source: ImageSource,
    output: str | Path,
    *,
    channels: Sequence[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    combine: str | None = None,
    noise_variance: float | None = None,
    seed: int = 0,
    borrowing: BorrowingOptions | None = None,
    learner: str = AUTO,
    many: int | None = None,
    workplace: Workplace | None = None,
) -> Learned:
    """Learn the categories of a folder with a Gaussian process and write the model file; see `learn`.

    Without `channels`, those of `default_channels()`.
    """
    output = check_output_file(output)
    workplace = workplace or Workplace()
    with workplace.cache() as cache:
        made = make_channels(channels, options or {}, seed=seed, jobs=workplace.jobs, cache=cache)
        learned = learn(
            source.read(),
            made,
            combine=combine,
            noise_variance=noise_variance,
            borrowing=borrowing,
            learner=learner,
            many=many,
        )
    replaced = output.exists()
    save(learned.model, output)
    return replace(learned, replaced=replaced)


def learn(
    images: ImageSet,
    channels: Sequence[Channel],
    *,
    combine: str | None = None,
    noise_variance: float | None = None,
    borrowing: BorrowingOptions | None = None,
    learner: str = AUTO,
    many: int | None = None,
) -> Learned:
    """Learn from the labelled images that can be read; the others are listed.

    How much each of several channels counts is learned too ("evidence"), unless `combine` is "average". Categories with
    few images borrow from others if `borrowing` says how. `learner` and `many`: see `choose_learner`.
    """
    way = _check_combine(combine, channels)
    labelled = images.without([i for i, label in enumerate(images.labels) if label is None])
    n_categories = len(set(labelled.labels))
    choice = choose_learner(learner, len(labelled), n_categories, channels, borrows=borrowing is not None, many=many)
    if choice.name == GP:
        check_memory(len(labelled), channels)
    remarks = remarks_about(images.images, channels)
    usable = labelled.without(unreadable_among(labelled.images, channels))
    counts = dict(sorted(Counter(usable.labels).items()))
    _check_enough(counts)
    model = _new_model(choice.name, channels, way, noise_variance).fit(usable.images, usable.labels)
    borrowed = borrow(model, borrowing) if borrowing is not None and isinstance(model, GPClassifier) else None
    return Learned(
        model,
        usable,
        counts,
        leave_one_out_accuracy(model),
        choice.name,
        way,
        remarks=(*choice.remarks, *remarks),
        borrowed=borrowed,
    )


def _new_model(learner: str, channels: Sequence[Channel], combine: str, noise_variance: float | None) -> Model:
    """Unfitted, with the noise that is given or the learner's own way to find it."""
    noise: dict[str, Any] = {} if noise_variance is None else {"noise_variance": noise_variance}
    if learner == GP:
        return GPClassifier(list(channels), weights=combine, **noise)
    weighed = combine == "evidence" and len(channels) > 1
    return HistogramGPClassifier(list(channels), relevance="channels" if weighed else "none", **noise)


def leave_one_out_accuracy(model: Model) -> float | None:
    """Mean accuracy per category when each image is left out; without categories that would have no image left."""
    if isinstance(model, HistogramGPClassifier):
        return model.left_out_accuracy_
    right = model.leave_one_out_labels() == model.labels_
    members = [model.labels_ == category for category in model.classes_]
    shares = [float(right[rows].mean()) for rows in members if rows.sum() > 1]
    return float(np.mean(shares)) if shares else None


def _check_combine(combine: str | None, channels: Sequence[Channel]) -> str:
    if combine is None:
        return "evidence"
    check_choice("learn", "combine", combine, ("evidence", "average"))
    if len(channels) < 2:
        only = ", ".join(channel.name for channel in channels)
        raise InvalidInput(f"learn: combine {combine!r} needs two or more channels, got only {only}.")
    return combine


def _check_enough(counts: Mapping[str, int]) -> None:
    if len(counts) < 2:
        found = f"only {next(iter(counts))!r}" if counts else "none"
        raise InvalidInput(
            f"learn: needs readable images of at least two categories, found {found}; a folder of other images will do."
        )

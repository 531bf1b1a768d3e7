"""From labelled images to a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.channel_options import make_channels
from fewsight.apps.workbench.image_sources import ImageSource, Workplace, unreadable_among
from fewsight.apps.workbench.memory import memory_of_this_machine
from fewsight.apps.workbench.places import check_output_file
from fewsight.channels import Channel
from fewsight.images import ImageSet
from fewsight.learners import GPClassifier
from fewsight.persistence import save

BYTES_PER_PAIR = 64  # of images, while learning: a number in each of about eight matrices


@dataclass(frozen=True)
class Learned:
    """What was learned, and from what."""

    model: GPClassifier
    images: ImageSet  # those that were learned from, with what was found on the way
    counts: dict[str, int]  # images per category
    leave_one_out_accuracy: float | None  # mean over the categories with two images or more; None if there is none
    replaced: bool = False  # a file stood where the model was written


def learn_folder(
    source: ImageSource,
    output: str | Path,
    *,
    channels: Sequence[str] = ("spatial_pmk",),
    options: Mapping[str, Mapping[str, Any]] | None = None,
    noise_variance: float | None = None,
    seed: int = 0,
    workplace: Workplace | None = None,
) -> Learned:
    """Learn the categories of a folder with a Gaussian process and write the model file."""
    output = check_output_file(output)
    workplace = workplace or Workplace()
    with workplace.cache() as cache:
        made = make_channels(channels, options or {}, seed=seed, jobs=workplace.jobs, cache=cache)
        learned = learn(source.read(), made, noise_variance=noise_variance)
    replaced = output.exists()
    save(learned.model, output)
    return replace(learned, replaced=replaced)


def learn(images: ImageSet, channels: Sequence[Channel], *, noise_variance: float | None = None) -> Learned:
    """Learn from the labelled images that can be read; the others are listed."""
    labelled = images.without([i for i, label in enumerate(images.labels) if label is None])
    _check_memory(len(labelled))
    usable = labelled.without(unreadable_among(labelled.images, channels))
    counts = dict(sorted(Counter(usable.labels).items()))
    _check_enough(counts)
    model = GPClassifier(list(channels), noise_variance="evidence" if noise_variance is None else noise_variance)
    model.fit(usable.images, usable.labels)
    return Learned(model, usable, counts, leave_one_out_accuracy(model))


def leave_one_out_accuracy(model: GPClassifier) -> float | None:
    """Mean accuracy per category when each image is left out; without categories that would have no image left."""
    right = model.leave_one_out_labels() == model.labels_
    members = [model.labels_ == category for category in model.classes_]
    shares = [float(right[rows].mean()) for rows in members if rows.sum() > 1]
    return float(np.mean(shares)) if shares else None


def _check_enough(counts: Mapping[str, int]) -> None:
    if len(counts) < 2:
        found = f"only {next(iter(counts))!r}" if counts else "none"
        raise InvalidInput(
            f"learn: needs readable images of at least two categories, found {found}; a folder of other images will do."
        )


def _check_memory(n_images: int) -> None:
    """Learning compares every image with every other: what cannot end well is refused before hours of work."""
    memory = memory_of_this_machine()
    needed = BYTES_PER_PAIR * n_images**2
    if memory is not None and needed > memory:
        most = int((memory / BYTES_PER_PAIR) ** 0.5)
        raise InvalidInput(
            f"learn: {n_images:,} images would need about {needed / 2**30:,.0f} gigabytes of memory, and there are "
            f"{memory / 2**30:,.0f}; use at most {most:,} images."
        )

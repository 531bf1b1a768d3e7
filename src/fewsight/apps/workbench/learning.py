"""From labelled images to a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewsight._base.errors import InvalidInput, UnreadableImage
from fewsight._base.none_of_these import NONE_OF_THESE
from fewsight.apps.workbench.borrowing import Borrowed, BorrowingOptions, borrow
from fewsight.apps.workbench.channel_options import AUTO, make_channels
from fewsight.apps.workbench.cluster_work import at_cluster
from fewsight.apps.workbench.image_sources import (
    ImageSource,
    Workplace,
    remarks_about,
    unreadable_among,
    unreadable_pictures,
)
from fewsight.apps.workbench.learners import (
    FOR_MANY,
    check_memory,
    choose_learner,
    learner_on_cluster,
    new_learner,
    share_described,
    usual_channels,
    way_of,
)
from fewsight.apps.workbench.output_paths import checked_files
from fewsight.apps.workbench.result_kinds import MODEL
from fewsight.channels import Channel
from fewsight.images import Image, ImageSet, find_duplicates
from fewsight.images.originals import original_of_each
from fewsight.images.photographs import SamePhotographs
from fewsight.learners import LEARNERS, Learner, LeftOut
from fewsight.learners.stability import some_unlabelled
from fewsight.persistence import save

if TYPE_CHECKING:
    from distributed import Client

DOUBTFUL = 0.05  # the probability of a label, by all other images, below which it looks wrong


@dataclass(frozen=True)
class Copies:
    """Images of the same picture, by name: each picture was learned from once in each category that it lay in."""

    n_set_aside: int = 0
    sets: tuple[tuple[str, ...], ...] = ()
    contradictions: tuple[
        tuple[tuple[str, str], ...], ...
    ] = ()  # of one picture: images and their different categories


@dataclass(frozen=True)
class Doubt:
    """A label that the other images speak against: how probable they make it, and what they say instead."""

    image: str
    category: str
    probability: float
    guess: str


@dataclass(frozen=True)
class Learned:
    """What was learned, and from what."""

    model: Learner
    images: ImageSet  # those that were learned from, with what was found on the way; some may have no label
    counts: dict[str, int]  # images per category
    left_out: LeftOut | None = None  # how often images were recognised that were left out; None where that is not known
    combine: str = "evidence"  # or "average": how much the channels count, if there are several
    replaced: bool = False  # a file stood where the model was written
    remarks: tuple[str, ...] = ()  # about the learner that was chosen, and of the channels about these images
    borrowed: Borrowed | None = None  # None where borrowing was not asked for
    copies: Copies = Copies()
    n_outsiders: int = 0  # images of no category that were learned from as well
    doubts: tuple[Doubt, ...] = ()  # labels that look wrong, the most surprising first

    @property
    def shares(self) -> dict[str, float]:
        """How much each channel counts in the model, the most first; they add up to 1."""
        names = [channel.name for channel in self.model.channels]
        named = zip(names, self.model.shares(len(names)).tolist(), strict=True)
        return dict(sorted(named, key=lambda pair: -pair[1]))


@checked_files(reads=("source", "options"), writes={"output": MODEL})
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
    cluster: str | None = None,
) -> Learned:
    """Learn the categories of a folder and write the model file; see `learn`.

    Without `channels`, those of `usual_channels`.
    """
    if cluster is not None:  # workers have other working directories
        source = replace(source, folder=source.folder.resolve())
    output, workplace, images = Path(output), workplace or Workplace(), source.read()
    channels, why = usual_channels(channels, (learner,))
    with workplace.cache() as cache:
        made = make_channels(channels, options or {}, seed=seed, jobs=workplace.jobs, cache=cache)
        learned = learn(
            images,
            made,
            combine=combine,
            noise_variance=noise_variance,
            borrowing=borrowing,
            learner=learner,
            many=many,
            cluster=cluster,
        )
    replaced = output.exists()
    save(learned.model, output)
    return replace(learned, replaced=replaced, remarks=(*why, *source.remarks(images), *learned.remarks))


def learn(
    images: ImageSet,
    channels: Sequence[Channel],
    *,
    combine: str | None = None,
    noise_variance: float | None = None,
    borrowing: BorrowingOptions | None = None,
    learner: str = AUTO,
    many: int | None = None,
    cluster: str | None = None,
) -> Learned:
    """Learn from the labelled images that can be read; the others are listed.

    Where a channel, or the learner itself, learns from images without a label as well, they are given these too.

    How much each of several channels counts is learned too ("evidence") where the learner can, unless `combine` is "average".
    Categories with few images borrow from others if `borrowing` says how. `learner` and `many`: see `choose_learner`.
    With `cluster`, the address of a Dask scheduler, its workers describe and count the images for `sparse_gp`.
    """
    if cluster is not None:
        learner = learner_on_cluster(learner, channels, borrows=borrowing is not None)
        with at_cluster("learn", cluster) as client:
            return _learn(images, channels, combine, noise_variance, borrowing, learner, many, client)
    return _learn(images, channels, combine, noise_variance, borrowing, learner, many)


def _learn(
    images: ImageSet,
    channels: Sequence[Channel],
    combine: str | None,
    noise_variance: float | None,
    borrowing: BorrowingOptions | None,
    learner: str,
    many: int | None,
    client: Client | None = None,
) -> Learned:
    labelled = images.without([i for i, label in enumerate(images.labels) if label is None])
    n_categories = len(set(labelled.labels))
    choice = choose_learner(learner, len(labelled), n_categories, channels, borrows=borrowing is not None, many=many)
    chosen = LEARNERS[choice.name]
    way = way_of(chosen, channels, combine)
    unfitted = new_learner(choice.name, channels, way, noise_variance)
    if client is not None:
        unfitted.set_params(cluster=client)
    described = share_described(labelled.images, channels)
    check_memory(unfitted, len(labelled), n_categories, channels, described=described)
    remarks = remarks_about(images.images, channels)
    takes_unlabelled = chosen.needs.takes_unlabelled or any(channel.learns_from_unlabelled for channel in channels)
    if takes_unlabelled:
        given = images
    elif unfitted.looks_at_unlabelled(len(labelled), n_categories):
        given = _with_some_unlabelled(images, n_categories)
    else:
        given = labelled
    outsiders, told = _outsiders(images, chosen, channels)

    def fitted(usable: ImageSet) -> tuple[ImageSet, Copies, dict[str, int], Learner]:
        usable, copies = _without_copies(usable, channels)
        counts = dict(sorted(Counter(label for label in usable.labels if label is not None).items()))
        _check_enough(counts, usable)
        examples = [*usable.images, *outsiders]
        labels = [*usable.labels, *[NONE_OF_THESE] * len(outsiders)] if outsiders else usable.labels
        return usable, copies, counts, unfitted.fit(examples, labels)

    try:  # a learner for many describes images while it learns; before, it is only seen whether they open
        unreadable = unreadable_pictures if chosen in FOR_MANY else unreadable_among
        usable, copies, counts, model = fitted(given.without(unreadable(given.images, channels)))
    except UnreadableImage:  # a channel met one that opens and still cannot be described
        usable, copies, counts, model = fitted(given.without(unreadable_among(given.images, channels)))
    if client is not None:
        model.set_params(cluster=None)  # which it needs no more
    photographs = SamePhotographs(usable.images, usable.labels.tolist(), channels[0].cache, channels[0].n_jobs)
    borrowed = None if borrowing is None else borrow(model.borrower(), borrowing, photographs)
    return Learned(
        model,
        usable,
        counts,
        model.left_out(),
        way,
        remarks=(*choice.remarks, *told, *remarks, *model.doubts()),
        borrowed=borrowed,
        copies=copies,
        n_outsiders=len(outsiders),
        doubts=_doubts(model, usable),
    )


def _with_some_unlabelled(images: ImageSet, n_categories: int) -> ImageSet:
    """The labelled images, and of the others as many as a learner looks at."""
    unlabelled = np.flatnonzero([label is None for label in images.labels])
    return images.without(np.setdiff1d(unlabelled, some_unlabelled(unlabelled, n_categories)).tolist())


def _outsiders(
    images: ImageSet, learner: type[Learner], channels: Sequence[Channel]
) -> tuple[list[Image], tuple[str, ...]]:
    """The images of no category that can be learned from, and what is to be said about others."""
    if not images.outsiders:
        return [], ()
    if not learner.learns_none_of_these:
        return [], (
            f"Left out {len(images.outsiders):,} images of none of these: {learner.name} cannot learn from them.",
        )
    broken = {failure.name for failure in unreadable_among(images.outsiders, channels)}
    return [image for image in images.outsiders if image.name not in broken], ()


def _doubts(model: Learner, usable: ImageSet) -> tuple[Doubt, ...]:
    """Labels that the others make improbable, of categories with other images."""
    stated = model.left_out_probabilities()
    labels = [str(label) for label in usable.labels if label is not None]
    if stated is None or len(stated) < len(labels):
        return ()
    names = [image.name for image, label in zip(usable.images, usable.labels, strict=True) if label is not None]
    classes, counts = [str(label) for label in model.classes_], Counter(labels)
    found = [
        Doubt(name, label, float(row[classes.index(label)]), classes[int(row.argmax())])
        for name, label, row in zip(names, labels, stated, strict=False)
        if counts[label] > 1
    ]
    doubted = [each for each in found if each.probability < DOUBTFUL and each.guess != each.category]
    return tuple(sorted(doubted, key=lambda each: each.probability))


def _without_copies(images: ImageSet, channels: Sequence[Channel]) -> tuple[ImageSet, Copies]:
    """The images without copies that say nothing new, and what was found."""
    found = find_duplicates(images.images, cache=channels[0].cache, n_jobs=channels[0].n_jobs)
    if not found.n_copies:
        return images, Copies()
    kept = original_of_each(images.images, list(zip(found.pictures.tolist(), images.labels.tolist(), strict=True)))
    names = [image.name for image in images]
    return images.without(np.setdiff1d(np.arange(len(images)), kept).tolist()), Copies(
        len(images) - len(kept),
        tuple(tuple(names[place] for place in places) for places in found.sets),
        tuple(
            tuple((names[place], images.labels[place]) for place in places)
            for places in found.contradictions(images.labels)
        ),
    )


def _check_enough(counts: Mapping[str, int], images: ImageSet) -> None:
    if len(counts) >= 2:
        return
    found, unreadable, loose = f"only {next(iter(counts))!r}" if counts else "none", images.unreadable, images.loose
    why = "a folder of other images will do."
    if unreadable:
        files = "1 file" if len(unreadable) == 1 else f"{len(unreadable):,} files, the first of them"
        why = f"could not use {files} {unreadable[0].name} ({unreadable[0].reason})."
    elif loose:
        lie = "1 image lies" if len(loose) == 1 else f"{len(loose):,} images lie"
        why = f"{lie} in no category's folder (`fewsight label` asks what they show)."
    raise InvalidInput(f"learn: needs readable images of at least two categories, found {found}; {why}")

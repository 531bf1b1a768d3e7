"""Where images and their categories come from, as a person says it; and where computed features are kept meanwhile."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fewsight._base.checks import check_choice
from fewsight._base.errors import UnreadableImage
from fewsight._base.parallel import map_pieces
from fewsight._base.scratch import scratch_folder
from fewsight.apps.workbench.exchange import image_set_from_project
from fewsight.apps.workbench.project.catalogue import in_folder
from fewsight.apps.workbench.project.location import FILE_NAME
from fewsight.channels import Channel
from fewsight.images import FeatureCache, Image, ImageSet, image_set_from_class_folders, image_set_from_table
from fewsight.images.duplicates import opens
from fewsight.images.files import printable

PATIENCE_SECONDS = 20.0  # for threads to end; one image takes far less


@dataclass(frozen=True)
class ImageSource:
    """A folder of class folders, or with `labels` a flat folder and a CSV table that says which image is what.

    A folder with a project and no table: the labels of the project.
    """

    folder: Path
    labels: Path | None = None
    exclude: Sequence[str] = ()

    def read(self) -> ImageSet:
        """The labelled images, without the excluded categories."""
        source, images = self.labels, None
        if self.labels is not None:
            images = image_set_from_table(self.folder, self.labels)
        elif (self.folder / FILE_NAME).is_file():
            source, images = self.folder / FILE_NAME, image_set_from_project(self.folder)
        if images is None:
            return image_set_from_class_folders(self.folder, exclude=tuple(self.exclude))
        for category in self.exclude:
            check_choice(f"{source}", "a category to exclude", category, images.classes)
        kept = images.select([i for i, label in enumerate(images.labels) if label not in self.exclude])
        kept.unreadable, kept.outsiders = images.unreadable, images.outsiders
        return kept

    def remarks(self, images: ImageSet) -> tuple[str, ...]:
        """What to say where labels contradict the category folders that images lie in: somebody may have corrected those."""
        other = []
        for image, label in zip(images.images, images.labels, strict=True):
            inside = in_folder(Path(printable(self.folder)), image.name)
            folder = None if inside is None else os.fsdecode(inside).split("/")[0]
            if label is not None and folder != label and folder in images.classes:
                other.append(f"{image.name} ({label})")
        if not other:
            return ()
        lie = "1 image lies" if len(other) == 1 else f"{len(other):,} images lie"
        some = f"{', '.join(other[:3])}{', ...' if len(other) > 3 else ''}"
        return (f"{lie} in the folder of another category than the label names; the label counts: {some}.",)


@dataclass(frozen=True)
class Workplace:
    """How the work is done, never what comes out: processors, and the folder that keeps features between runs.

    `tell` is given a sentence where that folder turned out too small.
    """

    jobs: int = -1
    cache_folder: Path | None = None
    keep_features: bool = True
    tell: Callable[[str], None] | None = None

    @contextlib.contextmanager
    def cache(self) -> Iterator[FeatureCache]:
        """The user's cache, the one asked for, or one that is gone after the block."""
        with contextlib.ExitStack() as stack:
            folder: str | Path | None = self.cache_folder
            if not self.keep_features:
                folder = stack.enter_context(scratch_folder())
            stack.enter_context(_workers_gone_afterwards())
            cache = FeatureCache(folder)
            yield cache
        if self.tell is not None and cache.n_crowded_out:
            self.tell(
                f"the cache is too small for this work: {cache.n_crowded_out:,} of its entries had to go before the end and may "
                f"have been computed more than once. It holds at most {cache.max_bytes / 2**30:.3g} gigabytes; "
                "`fewsight cache --limit` sets another limit."
            )


@contextlib.contextmanager
def _workers_gone_afterwards() -> Iterator[None]:
    """However the block ends, wait for the threads it began: an interrupted pool still finishes the images in its hands,
    and would write features into a folder that is being removed."""
    before = set(threading.enumerate())
    try:
        yield
    finally:
        end = time.monotonic() + PATIENCE_SECONDS
        for thread in set(threading.enumerate()) - before:
            thread.join(max(0.0, end - time.monotonic()))


def unreadable_among(images: Sequence[Image], channels: Sequence[Channel]) -> list[UnreadableImage]:
    """The images that cannot be used, each once. What the channels computed on the way stays in their cache."""
    failures = [failure for channel in channels for failure in channel.prepare(images)]
    return list({failure.name: failure for failure in failures}.values())


def unreadable_pictures(images: Sequence[Image], channels: Sequence[Channel]) -> list[UnreadableImage]:
    """As `unreadable_among`, without describing any image that opens: its look stays in the cache, which is small."""
    first = channels[0]
    opened = map_pieces(partial(opens, cache=first.cache), list(images), n_jobs=first.n_jobs, what="opening images")
    doubtful = [image for image, open_ in zip(images, opened, strict=True) if not open_]
    return unreadable_among(doubtful, channels)  # some channels need no file


def remarks_about(images: Sequence[Image], channels: Sequence[Channel]) -> tuple[str, ...]:
    """What the channels have to say about these images."""
    return tuple(remark for channel in channels for remark in channel.remarks(images))

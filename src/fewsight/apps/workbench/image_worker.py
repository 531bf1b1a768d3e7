"""What prepares images: it reads a file once and makes of it hash, size, time and camera, screen copies and features.

It answers for broken files too. `image_process` is the process it works in, and `preparation` starts that.
"""

from __future__ import annotations

import json
import os
import queue
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypedDict, final

from fewsight._base.errors import FewsightError, UnreadableImage
from fewsight.apps.workbench.project.catalogue import Stamp, absolute_path
from fewsight.images.cache import FeatureCache
from fewsight.images.files import printable, read_bytes
from fewsight.images.image import Image, ImageBytes, ImageFile
from fewsight.images.looks import kept_look
from fewsight.images.shown import keep_copies, look_at

if TYPE_CHECKING:
    from fewsight.channels import Channel

CHANGED = "the file changed while it was read"


class Setup(TypedDict):
    """Where things lie: the first line."""

    folder: str
    cache: str
    max_bytes: int
    channels: list[str] | None  # their names; None for those that are used where none are named
    seed: int


class Task(TypedDict, total=False):
    """A file to prepare, by its path in hexadecimal digits; with features or, which is quicker, without.

    hash : of its content, where that is known: then only features are computed, and what the cache has is not read again.
    fitted : a file of fitted channels (`write_channels`): encodings are wanted too.
    fit : paths and hashes of images to fit channels on, which are then written to `fitted`.
    """

    path: str
    features: bool
    hash: str | None
    fitted: str | None
    fit: list[tuple[str, str]]


class Answer(TypedDict, total=False):
    """What came of a task."""

    path: str
    stamp: tuple[int, int, int]
    hash: str | None
    unreadable: str | None
    width: int
    height: int
    taken_at: int | None
    camera: str | None
    features: bool
    failure: str  # why features could not be computed, or channels not fitted


@final
class ImageWorker:
    """Prepares one file after the other."""

    def __init__(self, setup: Setup) -> None:
        self.folder = Path(setup["folder"])
        self.cache = FeatureCache(setup["cache"], setup["max_bytes"])
        self._setup = setup
        self._channels: dict[str | None, Sequence[Channel]] = {}

    def answer(self, task: Task) -> Answer:
        """All that can be made of a task; what cannot be done says why."""
        if "fit" in task:
            return self._fit(task["fit"], Path(str(task["fitted"])))
        if task.get("hash") is not None:
            return self._features_alone(task)
        return self._read(task)

    def _read(self, task: Task) -> Answer:
        """Of a file that was not read yet; a broken one says why it is."""
        raw = bytes.fromhex(task["path"])
        path = absolute_path(self.folder, raw)
        found: Answer = {"path": task["path"], "stamp": (0, -1, 0), "hash": None, "unreadable": None, "features": False}
        try:
            before = Stamp.of(os.stat(path))
            found["stamp"] = (before.size, before.modified_ns, before.inode)
            image = ImageBytes(read_bytes(path), printable(os.fsdecode(raw)))
            if Stamp.of(os.stat(path)) != before:
                raise UnreadableImage(image.name, CHANGED)
            self._look(image, found)
            if task["features"]:
                self._describe(image, task.get("fitted"))
                found["features"] = True
        except UnreadableImage as error:
            found["unreadable"] = error.reason
        except OSError as error:
            found["unreadable"] = (error.strerror or "cannot be read").lower()
        return found

    def _features_alone(self, task: Task) -> Answer:
        image = ImageFile(absolute_path(self.folder, bytes.fromhex(task["path"])), task["hash"])
        found: Answer = {"path": task["path"], "hash": task["hash"], "features": False}
        try:
            self._describe(image, task.get("fitted"))
            found["features"] = True
        except UnreadableImage as error:
            found["failure"] = error.reason
        return found

    def _fit(self, images: Sequence[tuple[str, str]], target: Path) -> Answer:
        """Learn what the channels need (codebooks) from these images, and write the channels down."""
        from fewsight.apps.workbench.fitted_channels import write_channels

        chosen = [ImageFile(absolute_path(self.folder, bytes.fromhex(path)), content) for path, content in images]
        try:
            channels = self._made()
            broken = {error.name for channel in channels for error in channel.prepare(chosen)}
            readable = [image for image in chosen if image.name not in broken]
            for channel in channels:
                channel.fit(readable)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_channels(target, channels)
        except (FewsightError, OSError) as error:
            return {"features": False, "failure": str(error)}
        return {"features": True}

    def _look(self, image: ImageBytes, found: Answer) -> None:
        look = look_at(image)
        keep_copies(self.cache, image.content_hash, look.copies)
        kept_look(image, self.cache)  # by which `KnownLooks` finds copies and bursts without reading a file again
        taken_at, camera = look.capture
        more: Answer = {"hash": image.content_hash, "width": look.width, "height": look.height}
        found.update(more | {"taken_at": taken_at, "camera": camera})

    def _describe(self, image: Image, fitted: str | None) -> None:
        """Local features into the cache and, where the channels are fitted, encodings."""
        for channel in self.channels(fitted):
            for failure in channel.prepare([image]):
                raise failure
            if fitted is not None:
                channel.encode([image])

    def channels(self, fitted: str | None) -> Sequence[Channel]:
        """Made when they are first needed: their imports take a second or two, and the first picture does not wait for them."""
        if fitted not in self._channels:
            from fewsight.apps.workbench.fitted_channels import read_channels

            self._channels[fitted] = self._made() if fitted is None else self._at_work(read_channels(Path(fitted)))
        return self._channels[fitted]

    def _made(self) -> list[Channel]:
        from fewsight.apps.workbench.channel_options import make_channels

        return make_channels(self._setup["channels"], {}, seed=self._setup["seed"], jobs=1, cache=self.cache)

    def _at_work(self, channels: Sequence[Channel]) -> Sequence[Channel]:
        for channel in channels:
            channel.set_workplace(cache=self.cache, n_jobs=1)
        return channels


def serve(tasks: queue.SimpleQueue[Mapping[str, object]], answers: IO[bytes]) -> None:
    """Answer one task after the other; the first line of the input says where things lie."""
    worker = ImageWorker(tasks.get())  # type: ignore[arg-type]
    while True:
        task: Task = tasks.get()  # type: ignore[assignment]
        try:
            answer = worker.answer(task)
        except FewsightError as error:  # a channel that cannot be made
            answer = {"features": False, "failure": str(error)}
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()

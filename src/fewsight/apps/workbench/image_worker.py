"""A process that prepares images: it reads a file once and makes of it hash, size, time and camera, screen copies and features.

`python -m fewsight.apps.workbench.image_worker` reads a task from each line of its input and answers with a line on its output,
both JSON; the first line says where things lie. It has low priority, ends when its input ends (its parent closed it, or is
gone), and answers for broken files too. See `preparation`, which starts it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypedDict, final

from fewsight._base.errors import FewsightError, UnreadableImage
from fewsight.apps.workbench.project.catalogue import Stamp, absolute_path
from fewsight.images.cache import FeatureCache
from fewsight.images.files import printable, read_bytes
from fewsight.images.image import ImageBytes
from fewsight.images.shown import keep_copies, look_at

if TYPE_CHECKING:
    from fewsight.channels import Channel

NICENESS = 10
CHANGED = "the file changed while it was read"


class Setup(TypedDict):
    """Where things lie: the first line."""

    folder: str
    cache: str
    max_bytes: int
    channels: list[tuple[str, dict[str, str | int | float | bool | None]]]  # names and options
    fitted: str | None  # a file of fitted channels, see `write_channels`


class Task(TypedDict):
    """A file to prepare, by its path in hexadecimal digits; with features or, which is quicker, without."""

    path: str
    features: bool


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


@final
class ImageWorker:
    """Prepares one file after the other."""

    def __init__(self, setup: Setup) -> None:
        self.folder = Path(setup["folder"])
        self.cache = FeatureCache(setup["cache"], setup["max_bytes"])
        self._setup = setup
        self._channels: Sequence[Channel] | None = None

    def answer(self, task: Task) -> Answer:
        """All that can be made of a file; a broken one says why it is."""
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
                self._describe(image)
                found["features"] = True
        except UnreadableImage as error:
            found["unreadable"] = error.reason
        except OSError as error:
            found["unreadable"] = (error.strerror or "cannot be read").lower()
        return found

    def _look(self, image: ImageBytes, found: Answer) -> None:
        look = look_at(image)
        keep_copies(self.cache, image.content_hash, look.copies)
        taken_at, camera = look.capture
        more: Answer = {"hash": image.content_hash, "width": look.width, "height": look.height}
        found.update(more | {"taken_at": taken_at, "camera": camera})

    def _describe(self, image: ImageBytes) -> None:
        """Local features into the cache and, where the channels are fitted, encodings."""
        for channel in self.channels():
            for failure in channel.prepare([image]):
                raise failure
            if self._setup["fitted"] is not None:
                channel.encode([image])

    def channels(self) -> Sequence[Channel]:
        """Made when they are first needed: their imports take a second or two, and the first picture does not wait for them."""
        if self._channels is None:
            from fewsight.apps.workbench.fitted_channels import read_channels
            from fewsight.channels import make_channel

            fitted = self._setup["fitted"]
            made = (
                [make_channel(name, **options) for name, options in self._setup["channels"]]
                if fitted is None
                else read_channels(Path(fitted))
            )
            for channel in made:
                channel.cache, channel.n_jobs = self.cache, 1
            self._channels = made
        return self._channels


def main() -> None:
    """Answer until the input ends."""
    answers = _own_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to hear; it closes our input
    if hasattr(os, "nice"):  # Windows: the parent asks for low priority when it starts us
        with contextlib.suppress(OSError):
            os.nice(NICENESS)
    tasks: queue.SimpleQueue[Mapping[str, object]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    worker = ImageWorker(tasks.get())  # type: ignore[arg-type]
    while True:
        task: Task = tasks.get()  # type: ignore[assignment]
        try:
            answer = worker.answer(task)
        except FewsightError as error:  # a channel that cannot be made
            answer = {
                "path": task["path"],
                "stamp": (0, -1, 0),
                "hash": None,
                "unreadable": str(error),
                "features": False,
            }
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()


def _listen(lines: IO[bytes], tasks: queue.SimpleQueue[Mapping[str, object]]) -> None:
    """The input ends when the parent does, however it ends; then so do we, whatever we are at."""
    for line in lines:
        tasks.put(json.loads(line))
    os._exit(0)


def _own_output() -> IO[bytes]:
    """The output for answers; what libraries print goes nowhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


if __name__ == "__main__":
    main()

"""Images are prepared in other processes, in a random order, what somebody waits for first.

Processes, because only they can be given low priority, and because a decoder that falls over a broken file takes only itself
along. One that dies is started again; a file on which two of them died is called unreadable. They end when this process does,
however that ends, because their input ends with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fewsight.apps.workbench.image_worker import Answer, Setup, Task
from fewsight.apps.workbench.project.catalogue import Reading, Stamp, absolute_path
from fewsight.images.cache import FeatureCache
from fewsight.images.capture import Capture

QUICK = 32  # images that are looked at before any features are computed, so that there is something to ask about
MOST_DEATHS = 2  # of processes in a row, or on one file
PATIENCE_SECONDS = 120.0  # for one image
FITTING_SECONDS = 3600.0  # for codebooks of some hundred images
CLOSING_SECONDS = 2.0
FATAL = "reading it ended the program that does so"

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
_starting = threading.Lock()  # two processes started at once would inherit each other's pipes on Windows


@dataclass(frozen=True)
class _Job:
    """A file to prepare, or to compute features of if its `hash` is known; or images to fit channels on."""

    path: bytes = b""
    features: bool = False
    hash: str | None = None
    fit: tuple[tuple[bytes, str], ...] = ()
    target: Path | None = None


def default_workers() -> int:
    """All processors but one."""
    return max(1, (os.cpu_count() or 2) - 1)


@final
class Preparation:
    """Prepares files of a folder. `on_reading` hears of each that was read, in one of the threads that wait for the processes.

    With `features`, those of the channels are computed too, and `on_features` hears of each image that has them, and by which
    fitted channels it is encoded (None while there are none). `channels` are names; None for those that are used where none are
    named. `fit` learns their codebooks in one of the processes; afterwards everything is encoded.
    """

    def __init__(
        self,
        folder: Path,
        cache: FeatureCache,
        on_reading: Callable[[Reading], None],
        *,
        on_features: Callable[[str, Path | None, str | None], None] = lambda image, fitted, failure: None,
        features: bool = False,
        channels: Sequence[str] | None = None,
        fitted: Path | None = None,
        n_workers: int | None = None,
        seed: int = 0,
    ) -> None:
        self._setup = Setup(
            folder=os.fspath(folder.absolute()),
            cache=os.fspath(cache.folder.absolute()),
            max_bytes=cache.max_bytes,
            channels=None if channels is None else list(channels),
            seed=seed,
        )
        self._wants_features, self._on_features = features, on_features
        self._fitted = fitted
        self._on_reading, self._random = on_reading, random.Random(seed)
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()  # the next at the left
        self._in_hand = 0
        self._deaths: dict[bytes, int] = {}
        self._closed = False
        self._on_fitted: Callable[[str | None], None] = lambda failure: None
        self.remarks: list[str] = []
        count = default_workers() if n_workers is None else n_workers
        self._workers = [_Worker(self._setup) for _ in range(count)]
        self._threads = [threading.Thread(target=self._serve, args=(each,), daemon=True) for each in self._workers]
        for thread in self._threads:
            thread.start()

    @property
    def pids(self) -> list[int]:
        """The processes at work."""
        return [worker.process.pid for worker in self._workers if worker.process is not None]

    @property
    def is_idle(self) -> bool:
        """Whether all that was asked for is prepared."""
        with self._changed:
            return not self._waiting and not self._in_hand

    def add(self, paths: Iterable[bytes]) -> None:
        """Prepare these files, in a random order; the first few quickly, so that there is something to show."""
        order = list(paths)
        self._random.shuffle(order)
        quick = order[:QUICK] if self._wants_features and not self._waiting else []
        with self._changed:
            self._waiting.extend(_Job(path) for path in quick)
            self._waiting.extend(_Job(path, self._wants_features) for path in order)
            self._changed.notify_all()

    def first(self, paths: Collection[bytes]) -> None:
        """Somebody waits for these."""
        with self._changed:
            self._waiting.extendleft(_Job(path) for path in reversed(list(paths)))
            self._changed.notify_all()

    def describe(self, images: Iterable[tuple[bytes, str]]) -> None:
        """Compute features, and encodings where channels are fitted, of files that were read, by path and hash."""
        with self._changed:
            self._waiting.extend(_Job(path, True, content) for path, content in images)
            self._changed.notify_all()

    def fit(self, images: Iterable[tuple[bytes, str]], target: Path, on_end: Callable[[str | None], None]) -> None:
        """Fit the channels on these images and write them to a file, by which all images are encoded from then on.

        `on_end` hears when that is done, or why it could not be.
        """
        self._on_fitted = on_end
        with self._changed:
            self._waiting.appendleft(_Job(fit=tuple(images), target=target))
            self._changed.notify_all()

    def wait(self, seconds: float | None = None) -> bool:
        """Until all is prepared, or nobody is left to do it; False if time ran out before."""
        with self._changed:
            idle = self._changed.wait_for(lambda: not (self._waiting or self._in_hand) or not self._alive(), seconds)
            return idle and not self._waiting

    def close(self) -> None:
        """End the processes, whatever they are at."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.end()
        for thread in self._threads:
            thread.join(CLOSING_SECONDS)

    def __enter__(self) -> Preparation:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    # Inside.

    def _alive(self) -> bool:
        return any(thread.is_alive() for thread in self._threads)

    def _serve(self, worker: _Worker) -> None:
        """Hand one file after the other to a process; start it again when it dies."""
        deaths = 0
        worker.start()  # its imports take half a second, and the first file need not wait for them
        while deaths <= MOST_DEATHS and (job := self._next()) is not None:
            fitted = job.target or self._fitted
            answer = worker.ask(_task(job, fitted), FITTING_SECONDS if job.fit else PATIENCE_SECONDS)
            if answer is not None:
                deaths = 0
                self._tell(job, answer, fitted)
            elif not self._closed:
                deaths += 1
                self._bury(job)
            with self._changed:
                self._in_hand -= 1
                self._changed.notify_all()
        if deaths > MOST_DEATHS:
            self.remarks.append(
                f"A program that prepares images ended {deaths} times ({worker.end_in_words}) and is not started again."
            )
        worker.end()
        with self._changed:
            self._changed.notify_all()

    def _next(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            self._in_hand += 1
            return self._waiting.popleft()

    def _bury(self, job: _Job) -> None:
        """A process died over a file: another one tries it, once."""
        self._deaths[job.path] = self._deaths.get(job.path, 0) + 1
        if self._deaths[job.path] < MOST_DEATHS:
            with self._changed:
                self._waiting.appendleft(job)
        elif job.fit or job.hash is not None:
            self._tell(job, {"features": False, "failure": FATAL}, None)
        else:
            with contextlib.suppress(OSError):
                stamp = Stamp.of(os.stat(absolute_path(self._setup["folder"], job.path)))
                self._tell(job, {"hash": None, "unreadable": FATAL, "stamp": (*stamp,)}, None)

    def _tell(self, job: _Job, answer: Answer, fitted: Path | None) -> None:
        if job.fit:
            if answer["features"]:
                self._fitted = job.target
            self._on_fitted(answer.get("failure"))
            return
        if job.hash is None and "stamp" in answer:
            self._on_reading(_reading(job.path, answer))
        image = job.hash or answer.get("hash")
        if image is not None and job.features:
            self._on_features(image, fitted if answer["features"] else None, answer.get("failure"))
        elif "stamp" not in answer and job.hash is None:  # channels that cannot be made: the file itself may be fine
            self.remarks.append(f"Features cannot be computed: {answer.get('failure')}")
            self._wants_features = False
            with self._changed:
                waiting = dict.fromkeys(each.path for each in (job, *self._waiting) if each.path)
                self._waiting = deque(_Job(path) for path in waiting)


def _task(job: _Job, fitted: Path | None) -> Task:
    where = None if fitted is None else os.fspath(fitted.absolute())
    if job.fit:
        return {"fit": [(path.hex(), content) for path, content in job.fit], "fitted": where}
    return {"path": job.path.hex(), "features": job.features, "hash": job.hash, "fitted": where}


def _reading(path: bytes, answer: Answer) -> Reading:
    return Reading(
        path,
        Stamp(*answer["stamp"]),
        answer["hash"],
        answer["unreadable"],
        answer.get("width"),
        answer.get("height"),
        Capture(answer.get("taken_at"), answer.get("camera")),
        time.time_ns(),
    )


@final
class _Worker:
    """A process and its pipes; started when it is first asked, and again after it died."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._ended = False
        self.end_in_words = ""

    def ask(self, task: Task, patience: float = PATIENCE_SECONDS) -> Answer | None:
        """The answer; None if the process died over it."""
        try:
            process = self._started()
            if process is None or process.stdin is None or process.stdout is None:
                return None
            timer = threading.Timer(patience, process.kill)
            timer.start()
            try:
                process.stdin.write(json.dumps(task).encode() + b"\n")
                process.stdin.flush()
                line = process.stdout.readline()
            finally:
                timer.cancel()
            if line:
                answer: Answer = json.loads(line)
                return answer
        except (OSError, ValueError):  # a broken pipe, half a line
            pass
        self._forget()
        return None

    def start(self) -> None:
        """Start the process, if it does not run; one that fails at once is started again when there is something to do."""
        with contextlib.suppress(OSError):
            self._started()

    def end(self) -> None:
        """Close its input, at which it ends; if it does not, kill it."""
        with self._lock:
            self._ended = True
        self._forget(CLOSING_SECONDS)

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self.process is None and not self._ended:
                with _starting:
                    self.process = subprocess.Popen(
                        [sys.executable, "-m", "fewsight.apps.workbench.image_process"],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        env={**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                        creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
                    )
                if self.process.stdin is not None:
                    self.process.stdin.write(json.dumps(self._setup).encode() + b"\n")
                    self.process.stdin.flush()
            return self.process

    def _forget(self, patience: float = 0.0) -> None:
        with self._lock:
            process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        code = process.returncode
        self.end_in_words = f"by signal {-code}" if code < 0 else f"with code {code}"

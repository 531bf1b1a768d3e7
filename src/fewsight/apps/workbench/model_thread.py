"""The thread that learns. It owns the model; others hear what it found, and ask it for what it alone knows.

An answer is learned before anything else is done. Everything that takes long (learning noise and weights) happens in a second
thread and is taken over whole, between two answers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar, final

from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.project.events import Act, Event
from fewsight.apps.workbench.question_desk import Put
from fewsight.apps.workbench.verbs import Workbench

if TYPE_CHECKING:
    from fewsight._base.types import Indices
    from fewsight.active import Relearning, Status
    from fewsight.apps.workbench.project.events import Relearned
    from fewsight.apps.workbench.project_model import Opinion, ProjectModel
    from fewsight.channels import Channel
    from fewsight.images.cache import FeatureCache

GROW_SECONDS = 2.0  # at least, between two times that images join the pool
ASSESS_SECONDS = 0.5  # at least, between two opinions about all images
BATCH = 256  # encodings read between two answers
CLOSING_SECONDS = 2.0
SWITCH_SECONDS = 1e-3  # after which a thread of numbers lets another one in

Result = TypeVar("Result")


@dataclass(frozen=True)
class Slot:
    """Questions that a page needs: how many, and which images are not to be chosen."""

    page: str
    n: int
    held: frozenset[str]


class Desk(Protocol):
    """Where questions go."""

    def slots(self) -> list[Slot]:
        """What the open pages need."""

    def install(self, page: str, puts: Sequence[Put]) -> None:
        """Questions for a page."""

    def tell(self) -> None:
        """Something changed."""


@final
@dataclass(frozen=True)
class Learned:
    """What others may know of the model at any time; never changes."""

    state: str = "none"
    n_labelled: int = 0  # labels that the model knows
    n_learned: int = 0  # labels that noise and weights were learned from
    keys: tuple[str, ...] = ()  # ids of the categories
    guesses: Indices | tuple[int, ...] = ()  # (m,), the number of the category that each image is taken for
    status: Status | None = None
    failure: str = ""


@final
class ModelThread:
    """Learns from events, chooses questions, and answers calls, one after the other."""

    def __init__(self, bench: Workbench, cache: FeatureCache, supply: FeatureSupply, desk: Desk, seed: int) -> None:
        self._bench, self._cache, self._supply, self._desk, self._seed = bench, cache, supply, desk, seed
        self._changed = threading.Condition()
        self._events: list[Event] = []
        self._calls: deque[tuple[Callable[[ProjectModel], object], Future[object]]] = deque()
        self._finished: deque[tuple[Relearning, Relearned, BaseException | None]] = deque()
        self._closed, self._ended, self._poked, self._relearn_wanted = False, False, False, False
        self._relearning: threading.Thread | None = None
        self._model: ProjectModel | None = None
        self._grown_at, self._assessed_at = 0.0, 0.0
        self._n_events = self._n_followed = 0
        self._notes: list[Act] = []
        self.learned = Learned()
        self.opinion: Opinion | None = None
        self._stale = True  # whether the opinion is older than the model
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name="fewsight model", daemon=True)

    def start(self) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        self._thread.start()

    def close(self) -> None:
        """End; a re-learning that is under way is left behind, and nothing hears of it."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(CLOSING_SECONDS)
        for _, future in self._calls:
            future.cancel()

    # What others say.

    def told(self, events: Sequence[Event]) -> None:
        """Something was written; learned as soon as possible."""
        with self._changed:
            self._events += events
            self._n_events += len(events)
            self._changed.notify_all()

    def poke(self) -> None:
        """Pages or features changed."""
        with self._changed:
            self._poked = True
            self._n_events += 1
            self._changed.notify_all()

    def relearn(self) -> None:
        """Learn noise and weights again, however few labels are new."""
        with self._changed:
            self._relearn_wanted = True
            self._changed.notify_all()

    def take_notes(self) -> list[Act]:
        """What the project should note."""
        with self._changed:
            notes, self._notes = self._notes, []
            return notes

    def wait_followed(self, seconds: float) -> bool:
        """Until the questions know all that was said so far; False if time ran out before."""
        with self._changed:
            goal = self._n_events
            return self._changed.wait_for(lambda: self._n_followed >= goal or self._closed or self._ended, seconds)

    @property
    def position_of(self) -> dict[str, int]:
        """Where each image stands in the pool; images are only ever added."""
        return {} if self._model is None else self._model.position_of

    @property
    def chooses(self) -> bool:
        """Whether the model chooses questions."""
        return self._model is not None and self._model.is_ready

    @property
    def is_loading(self) -> bool:
        """Whether a model of an earlier session is about to come back."""
        return self._supply.fitted is not None and not self.chooses and not self._failure

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to do."""
        with self._changed:
            if self._ended:
                return True
            waits = self._events or self._calls or self._finished or self._poked or self._relearn_wanted or self._notes
            if waits or self._relearning is not None or self._n_followed < self._n_events:
                return False
            model = self._model
            if model is None or not model.is_ready:
                return self._failure != "" or (self._supply.fitted is None and not self._supply.is_busy)
            return not model.is_due and not self._stale and not self._supply.new_ones(model.position_of)

    def call(self, work: Callable[[ProjectModel], Result], seconds: float = 10.0) -> Result | None:
        """Let the thread do something with the model between two answers; None while there is no model."""
        if not self.chooses:
            return None
        future: Future[object] = Future()
        with self._changed:
            if self._closed:
                return None
            self._calls.append((work, future))
            self._changed.notify_all()
        try:
            return future.result(seconds)  # type: ignore[return-value]
        except TimeoutError:
            raise InvalidInput("session: the model is busy; try again in a moment.") from None

    # The thread.

    def _run(self) -> None:
        try:
            while not self._closed:
                if not self._step():
                    self._sleep()
        except FewsightError as error:
            self._fail(str(error))
        except Exception as error:  # whatever it was: labelling goes on, and it is said
            self._fail(f"Learning has stopped: {type(error).__name__}: {error}")

    def _sleep(self) -> None:
        with self._changed:
            busy = self._events or self._calls or self._finished or self._poked or self._relearn_wanted
            if not busy and not self._closed:
                self._changed.wait(0.2)

    def _step(self) -> bool:
        """The most urgent thing that is to be done; False if there is nothing."""
        if self._model is None:
            return self._begin()
        model = self._model
        return (
            self._learn(model)
            or self._adopt(model)
            or self._answer_call(model)
            or (model.is_ready and model.look_ahead())
            or self._grow(model)
            or self._begin_relearning(model)
            or self._assess(model)
        )

    def _begin(self) -> bool:
        """Open the fitted channels, as soon as there are some."""
        with self._changed:
            self._poked = False
            self._n_followed = self._n_events  # nobody waits for a model that is not there
            self._events.clear()
            self._changed.notify_all()
        if self._supply.fitted is None:
            return False
        from threadpoolctl import threadpool_limits

        from fewsight._compiled._loops import use_one_thread
        from fewsight.apps.workbench.fitted_channels import read_channels
        from fewsight.apps.workbench.project_model import ProjectModel

        # Several threads of one small product wait for each other longer than they work. The first holds for the whole process.
        threadpool_limits(1)
        use_one_thread()
        channels = read_channels(self._supply.fitted)
        for channel in channels:
            channel.set_workplace(cache=self._cache, n_jobs=1)
        self._model = ProjectModel(channels, self._seed)
        self._supply.found(_kept_ones(channels, self._supply.kept_order()))
        return True

    def _learn(self, model: ProjectModel) -> bool:
        """What was said since, and the questions that follow from it."""
        with self._changed:
            events, self._events = self._events, []
            poked, self._poked = self._poked, False
            goal = self._n_events
        if not events and not poked:
            return False
        if events and model.is_ready:
            with self._bench.reading() as present:
                model.follow(events, present)
            self._stale = True
        if model.is_ready:
            self._choose(model)
            self._publish(model)
        with self._changed:
            self._n_followed = goal
            self._changed.notify_all()
        if events or not poked:
            self._desk.tell()
        return True

    def _choose(self, model: ProjectModel) -> None:
        """New questions for all pages, behind those that they show or have loaded."""
        for slot in self._desk.slots():
            self._desk.install(slot.page, model.choose(slot.n, slot.held))

    def _answer_call(self, model: ProjectModel) -> bool:
        with self._changed:
            if not self._calls or not model.is_ready:
                return False
            work, future = self._calls.popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work(model))
            except Exception as error:
                future.set_exception(error)
        return True

    def _grow(self, model: ProjectModel) -> bool:
        """Images that have features since join the pool."""
        new = self._supply.new_ones(model.position_of)
        if not new or (model.is_ready and time.monotonic() - self._grown_at < GROW_SECONDS):
            return False
        from fewsight.apps.workbench.stored_image import encodings_of

        wanted = new[: max(BATCH, len(model.images) // 2)] if model.is_ready else new  # all that an earlier session had
        new = _kept_ones(model.channels, wanted)
        if len(new) < len(wanted):  # somebody emptied the cache
            self._supply.lost(set(wanted) - set(new))
        if not new:
            return True
        encodings = encodings_of(model.channels, new)
        self._supply.keep_order(new)
        with self._bench.reading() as present:
            model.grow(new, encodings, present)
        self._grown_at, self._stale = time.monotonic(), True
        self._choose(model)
        self._publish(model)
        self._desk.tell()
        return True

    def _assess(self, model: ProjectModel) -> bool:
        """What is thought of all images, and where things stand; takes a while, so not after every answer."""
        if not model.is_ready or not self._stale or time.monotonic() - self._assessed_at < ASSESS_SECONDS:
            return False
        self.opinion = model.opinion()
        self._publish(model, model.status() if model.n_labelled else None)
        self._assessed_at, self._stale = time.monotonic(), False
        self._desk.tell()
        return True

    # Re-learning.

    def _begin_relearning(self, model: ProjectModel) -> bool:
        with self._changed:
            wanted = self._relearn_wanted
            if self._relearning is not None or not model.is_ready:
                return False
            self._relearn_wanted = False
        if not (model.is_due or (wanted and model.n_labelled > model.records.n_learned)):
            return False
        job, note = model.relearning()
        self._relearning = threading.Thread(
            target=self._relearn, args=(job, note), name="fewsight re-learning", daemon=True
        )
        self._relearning.start()
        self._publish(model)
        self._desk.tell()
        return True

    def _relearn(self, job: Relearning, note: Relearned) -> None:
        from fewsight._compiled._loops import use_one_thread

        failure: BaseException | None = None
        try:
            use_one_thread()
            job.run()
        except Exception as error:
            failure = error
        with self._changed:
            self._finished.append((job, note, failure))
            self._changed.notify_all()

    def _adopt(self, model: ProjectModel) -> bool:
        with self._changed:
            if not self._finished:
                return False
            job, note, failure = self._finished.popleft()
            self._relearning = None
        if failure is not None:
            self._failure = f"Learning how much each cue counts failed, so the last result stays: {failure}"
            model.records.n_learned = model.n_labelled  # tried again after the next labels
        else:
            self._failure = ""
            noted = model.adopt(job, note)
            with self._changed:
                self._notes += [] if noted is None else [noted]
        self._stale = True
        self._choose(model)
        self._publish(model)
        self._desk.tell()
        return True

    def _publish(self, model: ProjectModel, status: Status | None = None) -> None:
        keys, guesses = model.guesses()
        n_learned = model.records.n_learned
        state = "plain" if not n_learned else "learned"
        state = "learning" if self._relearning is not None else state
        state = "none" if not keys else "failed" if self._failure else state
        self.learned = Learned(
            state,
            model.n_labelled,
            n_learned,
            tuple(keys),
            guesses,
            status or (self.learned.status if model.n_labelled else None),
            self._failure,
        )

    def _fail(self, sentence: str) -> None:
        with self._changed:
            self._failure = sentence
            self.learned = Learned("failed", failure=sentence)
            self._model = None
            self._ended = True
            self._changed.notify_all()
        self._desk.tell()


def _kept_ones(channels: Sequence[Channel], images: Sequence[str]) -> list[str]:
    """Those whose encodings are all in the cache."""
    from fewsight.apps.workbench.stored_image import StoredImage

    return [image for image in images if all(channel.is_encoded(StoredImage(image)) for channel in channels)]

"""A labelling session: the one object that a page, or any other program for labelling, talks to.

All methods may be called from any thread. An act is on the disk when its method returns, and no act waits for learning: images
are prepared in other processes, the model learns in a thread of its own, and both only ever change what `questions` and `state`
say next.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import final

from fewsight._base.checks import check_integer
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.apps.workbench import answer_checks, opinion_pages
from fewsight.apps.workbench.answer_checks import ANSWERS, check_answer, check_request
from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.folder_watch import FolderWatch
from fewsight.apps.workbench.loan_desk import LoanDesk
from fewsight.apps.workbench.model_thread import ModelThread
from fewsight.apps.workbench.page_questions import PageQuestions
from fewsight.apps.workbench.project.catalogue import absolute_path, shown_path
from fewsight.apps.workbench.project.events import Act, Event, Json
from fewsight.apps.workbench.project.file import Draft, Written
from fewsight.apps.workbench.project.past_acts import PastAct, past_act
from fewsight.apps.workbench.project.present import Present
from fewsight.apps.workbench.question_desk import MOST_QUESTIONS
from fewsight.apps.workbench.session_messages import (
    Answer,
    CategoryInfo,
    Closing,
    Disagreement,
    GridImage,
    Guess,
    LabelPage,
    LoanOffer,
    PageQuestion,
    Progress,
    Receipt,
    ResultPage,
    SessionState,
    SortPreview,
    SortReport,
)
from fewsight.apps.workbench.session_settings import SessionSettings
from fewsight.apps.workbench.sort_desk import SortDesk
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images.cache import FeatureCache
from fewsight.images.files import printable, read_bytes
from fewsight.images.image import ImageBytes
from fewsight.images.shown import kept_copy, whole_copy

PATIENCE_SECONDS = 0.03  # after an answer, for questions that know it
FIRST_PATIENCE_SECONDS = 0.25  # for the first questions of a page


@final
class LabellingSession:
    """An open project with all that happens beside answering: scanning, preparing images, learning.

    `channels` are the names of those that images are compared by; without any, those of the settings, or those that `learn`
    takes. `n_workers` are processes that prepare images, all processors but one unless it is said; with 0 nothing is prepared,
    and what was read earlier can be labelled.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        project: str | os.PathLike[str] | None = None,
        who: str | None = None,
        channels: Sequence[str] = (),
        cache: str | os.PathLike[str] | None = None,
        n_workers: int | None = None,
        seed: int | None = None,
    ) -> None:
        self._changed = threading.Condition(threading.RLock())  # taken after the workbench's lock, never before
        self._version, self._closed = 1, False
        self._facts = Facts()
        self._pages = PageQuestions(self._changed, lambda: self._facts, self.tell)
        self._desk = self._pages.desk
        self._model: ModelThread | None = None
        self.cache = FeatureCache(cache)
        self.bench = Workbench(folder, project=project, who=who, on_events=self._on_events)
        self._facts = Facts.of(self.bench.present, self.bench.who)
        self._n_answered_before = len(self._facts.standings)
        self._settings, self._sorting = SessionSettings(self.bench), SortDesk(self.bench)
        self.seed = self._settings.seed(seed)
        self._desk.restore(self.bench.present, self._facts.standings)
        named = list(channels) or self._settings.channels
        supply = FeatureSupply(self.bench.file, self.cache, self._poke, channels=named or None, seed=self.seed)
        self._supply = supply
        self._watch = FolderWatch(
            self.bench, self.cache, self.tell, supply=supply, seed=self.seed, n_workers=n_workers, notes=self._notes
        )
        self._model = ModelThread(self.bench, self.cache, supply, self._pages, self.seed)
        self._pages.watch, self._pages.model = self._watch, self._model
        self._loans = LoanDesk(self.bench, self._model)
        self._watch.start()
        self._model.start()

    def __enter__(self) -> LabellingSession:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> Closing:
        """End threads and processes; what was done in this session."""
        with self._changed:
            ended, self._closed = self._closed, True
            self._changed.notify_all()
        if not ended:
            self._watch.close()
            self._learning.close()
            with contextlib.suppress(FewsightError):  # questions that nobody answered
                self.bench.note(self._notes())
            self.bench.close()
        facts, state = self._facts, self.state()
        return Closing(len(facts.standings) - self._n_answered_before, facts.n_labelled, state.n_left, state.remarks)

    # Questions.

    def questions(self, page: str, n: int = 4) -> list[PageQuestion]:
        """The questions of a page, the current one first; the same ones until they are answered."""
        n = check_integer("session", "the number of questions", n, least=1, most=MOST_QUESTIONS)
        with self._changed:
            known = self._desk.page(page, n)
            wants_more = len(known.queue) < n
        if wants_more and self._learning.chooses:
            self._learning.poke()
            self._learning.wait_followed(FIRST_PATIENCE_SECONDS)
        return self._pages.given(page)

    def holds(self, page: str, shown: str | None, held: Sequence[str] = ()) -> None:
        """What a page shows, and what else it has loaded or has answers to under way: no other page is asked about these."""
        with self._changed:
            self._desk.hold(page, shown, held)

    def release(self, page: str) -> None:
        """The page was closed: its questions may be put to others."""
        with self._changed:
            self._desk.release(page)

    # Answers.

    def answer(self, page: str, answer: Answer, request: str) -> Receipt:
        """Keep an answer; a request that is sent twice counts once."""
        started = time.monotonic()
        check_answer(answer)
        check_request(request)
        with self._changed:
            self._desk.page(page)
            asked = {image: self._pages.asked(page, image, answer.how) for image in answer.images}
        notes = self._notes()
        if answer.kind == "label":
            written = self.bench.label(answer.images, str(answer.category), asked=asked, request=request, notes=notes)
        elif answer.kind == "clear":
            written = self.bench.clear(answer.images, request=request, notes=notes)
        else:
            say = {"none": self.bench.none_of_these, "skip": self.bench.skip, "discard": self.bench.discard}
            written = say[answer.kind](answer.images, asked=asked, request=request, notes=notes)
        return self._receipt(page, written, answer_checks.said(answer, self._facts), started=started)

    def undo(self, page: str, request: str) -> Receipt:
        """Take back this person's last act. An image whose answer is taken back is asked about again, at once."""
        return self._step(page, request, back=True)

    def redo(self, page: str, request: str) -> Receipt:
        """Take back this person's last undo."""
        return self._step(page, request, back=False)

    def _step(self, page: str, request: str, back: bool) -> Receipt:
        check_request(request)
        with self._changed:
            self._desk.page(page)
        notes = self._notes()
        written = self.bench.undo(request, notes) if back else self.bench.redo(request, notes)
        act_id = str(getattr(written.events[0].act, "of", ""))
        with self.bench.reading() as present:
            done = past_act(present, act_id)
            images = [str(getattr(event.act, "image", "")) for event in present.rows_of(act_id)]
        if back and not written.repeated:
            self._pages.put_again(page, images)
        what = "the last act" if done is None else done.what
        return self._receipt(page, written, f"{'Took back' if back else 'Brought back'}: {what}.")

    # Categories.

    def new_category(self, page: str, name: str, request: str) -> Receipt:
        """A category of this name; the receipt has its id."""
        written = self.bench.add_category(name, check_request(request))
        return self._receipt(page, written, f"New category: {name}.", written.events[0].request)

    def rename(self, category: str, name: str, request: str) -> None:
        """Give a category another name."""
        self.bench.rename(category, name, check_request(request))

    def merge(self, category: str, into: str, request: str) -> None:
        """All images of a category belong to another one."""
        self.bench.merge(category, into, check_request(request))

    def set_key(self, category: str, key: str | None) -> None:
        """Let a key of the page stand for a category; None for the next free one."""
        self._settings.set_key(self._facts.categories, category, key)
        self.tell()

    def categories(self) -> list[CategoryInfo]:
        """All categories, in the order of their buttons."""
        facts = self._facts
        layout = self._settings.keys(facts.categories)
        keys, typical = layout.keys(), opinion_pages.typical_images(self._learning.opinion, facts)
        return [
            CategoryInfo(key, facts.categories[key], keys.get(key), facts.counts.get(key, 0), typical.get(key, ()))
            for key in layout.order()
            if key in facts.categories  # another program may have merged one in between
        ]

    def loan_offer(self, category: str) -> LoanOffer | None:
        """Whom a category with few images could borrow from; None if from nobody."""
        return self._loans.offer(category, self._facts.categories)

    def borrow(self, category: str, lender: str, request: str) -> None:
        """Let a category with few images borrow from another one, if that helps."""
        self._loans.borrow(category, lender, self._facts.categories, check_request(request))

    def refuse_loan(self, category: str, lender: str, request: str) -> None:
        """Do not let a category borrow from another one, and do not offer it again."""
        self.bench.refuse_loan(category, lender, check_request(request))

    # What holds.

    def state(self) -> SessionState:
        """Where the session stands."""
        with self._changed:
            facts, stock, learned = self._facts, self._watch.stock, self._learning.learned
            n_there = sum(image in stock.paths for image in facts.standings)
            remarks = [self.bench.remark, *self._watch.remarks(), self._supply.remark, learned.failure]
            accuracy, advice = opinion_pages.in_words(learned.status, self._has_all_images())
            return SessionState(
                version=self._version,
                last_event=self.bench.last_event,
                n_files=len(stock.files),
                n_read=len(stock.files) - stock.n_unread - stock.n_unreadable,
                n_features=self._supply.n_features,
                n_unreadable=stock.n_unreadable,
                n_labelled=facts.n_labelled,
                n_none=facts.kinds["none"],
                n_skipped=len(facts.skipped),
                n_discarded=facts.kinds["discard"],
                n_left=len(stock.paths) - n_there + stock.n_unread,
                can_undo=facts.can_undo,
                can_redo=facts.can_redo,
                model=learned.state,
                n_learned=learned.n_labelled,
                n_behind=max(0, facts.n_labelled - learned.n_labelled),
                accuracy=accuracy,
                advice=advice,
                remarks=tuple(dict.fromkeys(filter(None, remarks))),
                who=self.bench.who,
                folder=printable(self.bench.folder),
                n_images=len(stock.paths),
                n_known=len(stock.paths.keys() & self._learning.position_of.keys()) if self._learning.chooses else 0,
            )

    def wait(self, version: int, seconds: float) -> int:
        """Wait until the state has another version than this one, or the time is up; the version then."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != version or self._closed, max(0.0, min(seconds, 3600.0)))
            return self._version

    def settle(self, seconds: float) -> bool:
        """Until nothing is under way: all files found, read and learned from. False if time ran out before."""
        end = time.monotonic() + seconds
        quiet = 0
        while time.monotonic() < end:
            quiet = quiet + 1 if self._is_quiet() else 0
            if quiet == 3:
                return True
            time.sleep(0.02)
        return False

    def _is_quiet(self) -> bool:
        waits = self._supply.is_busy or (self._supply.fitted is None and self._watch.stock.paths)
        waits = bool(waits) and self._supply.failure is None and not self._watch.preparation.remarks
        return self._watch.is_idle and not waits and self._learning.is_idle

    def labels(self, category: str | None = None, start: int = 0, n: int = 100) -> LabelPage:
        """Labels of a category, or of all, the most surprising first; among equals the newest first."""
        surprises = self._learning.call(lambda model: model.surprises()) or {}
        with self.bench.reading() as present:
            found = present.label_events()
        return opinion_pages.label_page(found, surprises, self._watch.stock, category, start, n)

    def disagreements(self) -> list[Disagreement]:
        """The images about which persons differ."""
        return opinion_pages.disagreements(self._facts, self._watch.stock)

    def history(self, start: int = 0, n: int = 100) -> list[PastAct]:
        """What was done, the last first; batches are one line."""
        return self.bench.history(start + n)[start:]

    # What the model thinks.

    def relearn(self) -> None:
        """Learn how much each cue counts again, in the background."""
        self._learning.relearn()

    def guess(self, image: str) -> Guess | None:
        """What the model thinks of an image; None while it knows nothing."""
        return opinion_pages.guess_of(image, self._learning.opinion, self._facts)

    def results(self, group: str | None = None, least: float | None = None, start: int = 0, n: int = 100) -> ResultPage:
        """What every image is taken for: those of a category (by id), of "unknown", "unsure" or "unread", or all."""
        with self._changed:
            facts, stock = self._facts, self._watch.stock
            return opinion_pages.results_page(facts, stock, self._learning.opinion, group, least, start, n)

    def lookalikes(self, image: str, n: int = 60) -> list[GridImage]:
        """Images without an answer, those most like this one first."""
        found = self._learning.call(lambda model: model.likeness(image))
        if found is None:
            return []
        with self._changed:
            return opinion_pages.nearest(image, found, self._learning.position_of, self._facts, self._watch.stock, n)

    def sure_of(self, category: str, n: int = 100) -> list[GridImage]:
        """Images without an answer that the model is sure of, the surest first."""
        with self._changed:
            return opinion_pages.sure_of(category, self._learning.opinion, self._facts, self._watch.stock, n)

    def may_belong(self, category: str, n: int = 24) -> list[GridImage]:
        """Images of other categories that may belong to this one by what all labels but their own say, the likeliest first."""
        left_out = self._learning.call(lambda model: model.left_out())
        with self._changed:
            return opinion_pages.may_belong(category, left_out, self._facts, self._watch.stock, n)

    def progress(self) -> Progress:
        """How far labelling has come, and whether to go on."""
        facts, learned = self._facts, self._learning.learned
        counts = [(key, name, facts.counts.get(key, 0)) for key, name in facts.categories.items()]
        known = self._learning.call(lambda model: model.progress())
        return opinion_pages.progress_of(counts, facts.n_labelled, learned.status, known, self._has_all_images())

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the learner as it is now, a file for `fewsight predict`."""
        from fewsight.apps.workbench.output_paths import check_outputs
        from fewsight.apps.workbench.result_kinds import MODEL
        from fewsight.persistence import save

        check_outputs({MODEL: Path(path)}, [self.bench.folder, self.bench.file.path])
        failure = self._supply.failure or self._learning.learned.failure
        if failure and not self._learning.chooses:
            raise InvalidInput(f"session: there is no model to write: {failure}")
        known, given = self._learning.learned.n_labelled, self._facts.n_labelled
        if known < given and not self._has_all_images():
            raise InvalidInput(
                f"session: the model knows {known:,} of {given:,} labels so far, as images are still being prepared; "
                "write it when they are."
            )
        model = self._learning.call(lambda model: model.learner_or_refusal(), seconds=60.0)
        if model is None:
            raise InvalidInput("session: there is no model to write yet; label images of two categories first.")
        save(model, Path(path))

    # Files.

    def rescan(self) -> None:
        """Look at the folder again, in the background; this happens every minute anyway."""
        self._watch.scan_soon()

    def picture(self, image: str, side: int) -> bytes | None:
        """A copy of an image for the screen, as JPEG; None if it is not ready, and then it is prepared first."""
        paths = self._watch.stock.paths.get(image)
        if not paths:
            return None
        copy = kept_copy(self.cache, image, side)
        if copy is None:
            self._watch.prepare_first(paths[:1])
        return copy

    def whole_picture(self, image: str) -> bytes | None:
        """A copy of an image at actual size, as JPEG; None if its file is gone or has changed since it was read."""
        for path in self._watch.stock.paths.get(image, ())[:1]:
            with contextlib.suppress(FewsightError, OSError):
                found = ImageBytes(read_bytes(absolute_path(self.bench.folder, path)), shown_path(path))
                return whole_copy(found) if found.content_hash == image else None
        return None

    def original_size(self, image: str) -> tuple[int, int] | None:
        """Width and height of an image that was read, upright."""
        return self._watch.stock.sizes.get(image)

    def export(self, path: str | os.PathLike[str]) -> int:
        """Write all labels to a CSV table; the number of its rows."""
        from fewsight.apps.workbench.output_paths import check_outputs
        from fewsight.apps.workbench.result_kinds import LABELS

        check_outputs({LABELS: Path(path)}, [self.bench.folder, self.bench.file.path])
        return self.bench.export_labels(path).n_rows

    def plan_sort(self, target: str | os.PathLike[str], way: str = "copy", least: float = 0.5) -> SortPreview:
        """What sorting into a folder would do: with labels where there are some, else by what the model thinks."""
        with self._changed:
            opinion, has_all = self._learning.opinion, self._has_all_images()
            items = opinion_pages.sortable_files(opinion, self._facts, self._watch.stock, has_all)
        return self._sorting.plan(items, target, way, least)

    def sort(self, plan_id: str) -> SortReport:
        """Do what a plan says; it can be done once."""
        return self._sorting.sort(plan_id)

    def undo_sort(self) -> SortReport:
        """Remove what the last sorting made and is unchanged."""
        return self._sorting.undo()

    # Settings.

    def settings(self) -> dict[str, Json]:
        """Keys and order of the categories, the person's name and the channels."""
        return self._settings.shown(self._facts.categories)

    def change_settings(self, changes: dict[str, Json]) -> None:
        """Change some settings. The name counts for what is said from now on, channels from the next start on."""
        self._settings.change(self._facts.categories, changes)
        self._on_events([], self.bench.present)

    # Inside.

    def tell(self) -> None:
        """Something changed."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    @property
    def _learning(self) -> ModelThread:
        assert self._model is not None, "made when the session is"
        return self._model

    def _has_all_images(self) -> bool:
        """Whether nothing is left to prepare, and the model knows all that was prepared."""
        waits = self._watch.stock.n_unread or self._supply.is_busy or not self._watch.preparation.is_idle
        return not waits and self._supply.n_features <= len(self._learning.position_of)

    def _poke(self) -> None:
        """There are new features."""
        if self._model is not None:
            self._model.poke()

    def _on_events(self, events: list[Event], present: Present) -> None:
        """Something was written, here or by another program; the workbench is locked meanwhile."""
        if self._model is None:  # not open yet
            return
        with self._changed:
            self._facts = Facts.of(present, self.bench.who)
            answered = {str(getattr(event.act, "image", "")) for event in events if event.act.kind in ANSWERS}
            self._desk.close(answered | (self._desk.held() & self._facts.standings.keys()))  # redo gives answers too
            self._model.told(events)
            self.tell()

    def _notes(self) -> list[Draft | Act]:
        """What waits to be written: what was learned, and which questions were put."""
        notes: list[Draft | Act] = [*self._learning.take_notes()]
        with self._changed:
            return notes + self._desk.unnoted()

    def _receipt(
        self, page: str, written: Written, said: str, category: str | None = None, started: float | None = None
    ) -> Receipt:
        """Wait a moment for questions that know what was just said, as long as the whole stays quick."""
        spent = 0.0 if started is None else time.monotonic() - started
        if self._learning.chooses:
            self._learning.wait_followed(max(0.0, PATIENCE_SECONDS - spent))
        with self._changed:
            self._desk.page(page)
            questions = self._pages.given(page)
            return Receipt(written.number, written.repeated, category, questions, self.state(), said)

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
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import final

from fewsight._base.checks import check_choice, check_integer, shown
from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.apps.workbench import opinion_pages
from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.folder_watch import FolderWatch
from fewsight.apps.workbench.image_stock import first_of
from fewsight.apps.workbench.key_layout import KeyLayout
from fewsight.apps.workbench.model_thread import ModelThread, Slot
from fewsight.apps.workbench.project.catalogue import absolute_path, shown_path
from fewsight.apps.workbench.project.events import Act, Asked, Event, Json
from fewsight.apps.workbench.project.file import Draft, Written
from fewsight.apps.workbench.project.past_acts import PastAct, past_act
from fewsight.apps.workbench.project.present import Present
from fewsight.apps.workbench.question_desk import AGAIN, MOST_QUESTIONS, Put, QuestionDesk
from fewsight.apps.workbench.session_messages import (
    Answer,
    CategoryInfo,
    Closing,
    Disagreement,
    GridImage,
    Guess,
    LabelItem,
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
from fewsight.apps.workbench.sort import SortOutcome, SortPlan
from fewsight.apps.workbench.verbs import Workbench, check_person
from fewsight.images.cache import FeatureCache
from fewsight.images.files import printable, read_bytes
from fewsight.images.image import ImageBytes
from fewsight.images.shown import kept_copy, whole_copy

ANSWERS = ("label", "none", "skip", "discard", "clear")
WAYS_TO_ANSWER = ("question", "grid", "own choice")
NOTHING_LEARNED = "Nothing is learned yet, so any image will do."
TAKEN_BACK = "You took your answer back."
PATIENCE_SECONDS = 0.04  # after an answer, for questions that know it
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
        self._desk, self._facts = QuestionDesk(), Facts()
        self._model: ModelThread | None = None
        self._plans: dict[str, SortPlan] = {}
        self._progress: tuple[int, Progress] | None = None
        self.cache = FeatureCache(cache)
        self.bench = Workbench(folder, project=project, who=who, on_events=self._on_events)
        self._facts = Facts.of(self.bench.present, self.bench.who)
        self._n_answered_before = len(self._facts.standings)
        self.seed = _kept_seed(self.bench, seed)
        self._desk.restore(self.bench.present, self._facts.standings)
        named = list(channels) or [str(name) for name in _channels(self.bench.file.setting("channels", []))]
        supply = FeatureSupply(self.bench.file, self.cache, self._poke, channels=named or None, seed=self.seed)
        self._supply = supply
        self._watch = FolderWatch(
            self.bench, self.cache, self.tell, supply=supply, seed=self.seed, n_workers=n_workers, notes=self._notes
        )
        self._model = ModelThread(self.bench, self.cache, supply, self, self.seed)
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
        return self._given(page)

    def release(self, page: str) -> None:
        """The page was closed: its questions may be put to others."""
        with self._changed:
            self._desk.release(page)

    # Answers.

    def answer(self, page: str, answer: Answer, request: str) -> Receipt:
        """Keep an answer; a request that is sent twice counts once."""
        started = time.monotonic()
        _check_answer(answer)
        _check_request(request)
        with self._changed:
            self._desk.page(page)
            asked = {image: self._asked(page, image, answer.how) for image in answer.images}
        notes = self._notes()
        if answer.kind == "label":
            written = self.bench.label(answer.images, str(answer.category), asked=asked, request=request, notes=notes)
        elif answer.kind == "clear":
            written = self.bench.clear(answer.images, request=request, notes=notes)
        else:
            say = {"none": self.bench.none_of_these, "skip": self.bench.skip, "discard": self.bench.discard}
            written = say[answer.kind](answer.images, asked=asked, request=request, notes=notes)
        return self._receipt(page, written, self._said(answer), started=started)

    def undo(self, page: str, request: str) -> Receipt:
        """Take back this person's last act. An image whose answer is taken back is asked about again, at once."""
        return self._step(page, request, back=True)

    def redo(self, page: str, request: str) -> Receipt:
        """Take back this person's last undo."""
        return self._step(page, request, back=False)

    def _step(self, page: str, request: str, back: bool) -> Receipt:
        _check_request(request)
        with self._changed:
            self._desk.page(page)
        notes = self._notes()
        written = self.bench.undo(request, notes) if back else self.bench.redo(request, notes)
        act_id = str(getattr(written.events[0].act, "of", ""))
        with self.bench.reading() as present:
            done = past_act(present, act_id)
            images = [str(getattr(event.act, "image", "")) for event in present.rows_of(act_id)]
        with self._changed:
            known, answered = self._watch.stock.paths, self._facts.standings
            again = [image for image in images if image in known and image not in answered]
            if back and not written.repeated and 0 < len(again) <= MOST_QUESTIONS:
                self._desk.put_first(page, [Put(image, AGAIN, TAKEN_BACK) for image in again])
        what = "the last act" if done is None else done.what
        return self._receipt(page, written, f"{'Took back' if back else 'Brought back'}: {what}.")

    # Categories.

    def new_category(self, page: str, name: str, request: str) -> Receipt:
        """A category of this name; the receipt has its id."""
        written = self.bench.add_category(name, _check_request(request))
        return self._receipt(page, written, f"New category: {name}.", written.events[0].request)

    def rename(self, category: str, name: str, request: str) -> None:
        """Give a category another name."""
        self.bench.rename(category, name, _check_request(request))

    def merge(self, category: str, into: str, request: str) -> None:
        """All images of a category belong to another one."""
        self.bench.merge(category, into, _check_request(request))

    def set_key(self, category: str, key: str | None) -> None:
        """Let a key of the page stand for a category; None for the next free one."""
        self.bench.file.set("keys", self._keys().with_key(category, key).chosen)
        self.tell()

    def categories(self) -> list[CategoryInfo]:
        """All categories, in the order of their buttons."""
        layout, facts = self._keys(), self._facts
        keys, typical = layout.keys(), opinion_pages.typical_images(self._learning.opinion, facts)
        return [
            CategoryInfo(key, facts.categories[key], keys.get(key), facts.counts.get(key, 0), typical.get(key, ()))
            for key in layout.order()
            if key in facts.categories  # another program may have merged one in between
        ]

    def loan_offer(self, category: str) -> LoanOffer | None:
        """Whom a category with few images could borrow from; None if from nobody."""
        name = self._facts.categories.get(category)
        if name is None:
            raise InvalidInput(f"session: a category must be one of those there are, got {shown(category)}.")
        with self.bench.reading() as present:
            refused = present.refused_loans() | set(present.loans().items())
        found = self._learning.call(lambda model: model.loan_offer(category, refused))
        if found is None:
            return None
        lender, sentence = found
        return LoanOffer(category, lender, name, self._facts.categories.get(lender, lender), sentence)

    def borrow(self, category: str, lender: str, request: str) -> None:
        """Let a category with few images borrow from another one, if that helps."""
        _check_request(request)
        share = self._learning.call(lambda model: model.loan_share(category, lender))
        if not share:
            one, other = (shown(self._facts.categories.get(key, key)) for key in (category, lender))
            raise InvalidInput(f"borrow: {one} would not be told apart better with the help of {other}.")
        self.bench.borrow(category, lender, request, share)

    def refuse_loan(self, category: str, lender: str, request: str) -> None:
        """Do not let a category borrow from another one, and do not offer it again."""
        self.bench.refuse_loan(category, lender, _check_request(request))

    # What holds.

    def state(self) -> SessionState:
        """Where the session stands."""
        with self._changed:
            facts, stock, learned = self._facts, self._watch.stock, self._learning.learned
            n_there = sum(image in stock.paths for image in facts.standings)
            remarks = [self.bench.remark or "", *self._watch.remarks(), learned.failure]
            accuracy, advice = opinion_pages.in_words(learned.status)
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
                remarks=tuple(filter(None, remarks)),
                who=self.bench.who,
                folder=printable(self.bench.folder),
                n_images=len(stock.paths),
                n_known=len(stock.paths.keys() & self._learning.position_of.keys()) if self._learning.chooses else 0,
            )

    def wait(self, version: int, seconds: float) -> int:
        """Until the state has another version than this one, or so many seconds have passed; the version then."""
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
        items = [
            LabelItem(
                image,
                self._watch.stock.shown(image),
                key,
                event.who,
                event.at,
                *surprises.get(image, (0.0, "")),
            )
            for image, (key, event) in found.items()
            if category in (None, key)
        ]
        items.sort(key=lambda item: (-item.surprise, -item.at))
        return LabelPage(items[start : start + n], len(items), start + n if start + n < len(items) else None)

    def disagreements(self) -> list[Disagreement]:
        """The images about which persons differ."""
        ties = [(image, each.votes) for image, each in sorted(self._facts.standings.items()) if each.choice is None]
        return [
            Disagreement(
                image,
                self._watch.stock.shown(image),
                tuple((who, choice.kind, choice.category) for who, choice in sorted(votes.items())),
            )
            for image, votes in ties
        ]

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
        return opinion_pages.progress_of(counts, facts.n_labelled, learned.status, known)

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Write the learner as it is now, a file for `fewsight predict`."""
        from fewsight.apps.workbench.output_paths import check_outputs
        from fewsight.apps.workbench.result_kinds import MODEL
        from fewsight.persistence import save

        check_outputs({MODEL: Path(path)}, [self.bench.folder, self.bench.file.path])
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
            items = opinion_pages.sortable_files(self._learning.opinion, self._facts, self._watch.stock)
        plan = self.bench.plan_sort(items, target, way, least)
        key = uuid.uuid4().hex
        with self._changed:
            self._plans = {key: plan}
        return SortPreview(
            key,
            printable(plan.target),
            plan.way,
            plan.counts,
            len(plan.files),
            len(plan.folders),
            plan.n_in_place,
            len(plan.taken_back),
        )

    def sort(self, plan_id: str) -> SortReport:
        """Do what a plan says; it can be done once."""
        with self._changed:
            plan = self._plans.pop(plan_id, None)
        if plan is None:
            raise InvalidInput("sort: this plan is no longer there; make it again.")
        return _report(self.bench.sort(plan))

    def undo_sort(self) -> SortReport:
        """Remove what the last sorting made and is unchanged."""
        return _report(self.bench.undo_sort())

    # Settings.

    def settings(self) -> dict[str, Json]:
        """Keys and order of the categories, the person's name and the channels."""
        layout = self._keys()
        channels = self.bench.file.setting("channels", [])
        return {
            "name": self.bench.who,
            "keys": layout.chosen,
            "order": [*layout.order()],
            "actions": layout.own_actions,
            "channels": channels,
        }

    def change_settings(self, changes: dict[str, Json]) -> None:
        """Change some settings. The name counts for what is said from now on, channels from the next start on."""
        layout = self._keys()
        check: dict[str, Callable[[Json], Json]] = {
            "name": _name,
            "keys": layout.checked_keys,
            "order": layout.checked_order,
            "actions": layout.checked_actions,
            "channels": _channels,
        }
        for name in changes:
            check_choice("settings", "a setting", name, check)
        checked: dict[str, Json] = {name: check[name](value) for name, value in changes.items()}
        for name, value in checked.items():
            if name == "name":
                self.bench.who = str(value)
            else:
                self.bench.file.set(name, value)
        self._on_events([], self.bench.present)

    def _keys(self) -> KeyLayout:
        kept = self.bench.file.setting
        return KeyLayout(self._facts.categories, kept("keys", {}), kept("order", []), kept("actions", {}))

    # What the model thread asks, see `model_thread.Desk`.

    def slots(self) -> list[Slot]:
        """What the open pages need, behind the questions that stay."""
        with self._changed:
            gone = self._watch.stock.vanished
            found = []
            for name, page in self._desk.pages.items():
                kept = page.kept()
                if page.called and page.wanted > len(kept):
                    held = self._desk.held(but=name) | {put.image for put in kept} | gone
                    found.append(Slot(name, page.wanted - len(kept), frozenset(held)))
            return found

    def install(self, page: str, puts: Sequence[Put]) -> None:
        """Questions for a page; some may have been answered since they were chosen."""
        with self._changed:
            known, answered = self._watch.stock.paths, self._facts.standings
            fresh = [put for put in puts if put.image in known and put.image not in answered]
            self._desk.install(page, fresh)

    def tell(self) -> None:
        """Something changed."""
        with self._changed:
            self._version += 1
            self._changed.notify_all()

    # Inside.

    @property
    def _learning(self) -> ModelThread:
        assert self._model is not None, "made when the session is"
        return self._model

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

    def _given(self, name: str) -> list[PageQuestion]:
        """The questions of a page; images in a random order where the model has none for it."""
        with self._changed:
            page = self._desk.pages[name]
            missing = page.wanted - len(page.queue)
            waits_for_model = self._learning.chooses or self._learning.is_loading
            if missing > 0 and not (waits_for_model and page.queue):
                page.queue += self._random(name, missing)
            return [self._page_question(put) for put in self._desk.give(name, page.wanted)]

    def _random(self, name: str, n: int) -> list[Put]:
        """Images in a random order that depends on the seed and their content alone, while nothing is learned."""
        facts, stock, desk = self._facts, self._watch.stock, self._desk
        answered, cooling = facts.standings, facts.skipped
        held, own = desk.held(but=name), {put.image for put in desk.pages[name].queue}
        found = first_of(stock.in_random_order(), n, [answered, held, own, cooling])
        if not found and not own:  # what a page of an earlier session has, then what was put off
            live = desk.held(but=name, called=True)
            found = first_of(stock.in_random_order(), n, [answered, live, cooling])
            longest_ago = sorted((left, image) for image, left in cooling.items() if image in stock.paths)
            found = found or first_of((image for _, image in longest_ago), n, [answered, live])
        return [Put(image, "random", NOTHING_LEARNED, n_labelled=0) for image in found]

    def _page_question(self, put: Put) -> PageQuestion:
        stock = self._watch.stock
        width, height = stock.sizes.get(put.image, (None, None))
        same = self._watch.groups.get(put.image) or stock.burst(put.image)
        group = tuple(i for i in same if i != put.image and i in stock.paths and i not in self._facts.standings)
        return PageQuestion(put.image, stock.shown(put.image), put.reason, put.check, width, height, group)

    def _asked(self, page: str, image: str, how: str) -> Asked:
        """How an answer comes about, and what is believed about the image now."""
        learned, position = self._learning.learned, self._learning.position_of.get(image)
        believed = opinion_pages.belief(image, self._learning.opinion, learned.n_learned)
        if position is not None and position < len(learned.guesses):
            believed["guess"] = learned.keys[int(learned.guesses[position])]
        put = next((put for put in self._desk.pages[page].queue if put.image == image), None)
        if how == "question" and put is not None and put.rule != AGAIN:
            return put.asked(believed)
        return Asked("rule" if how == "question" else how, None, learned.n_labelled, believed)

    def _receipt(
        self, page: str, written: Written, said: str, category: str | None = None, started: float | None = None
    ) -> Receipt:
        """Wait a moment for questions that know what was just said, as long as the whole stays quick."""
        spent = 0.0 if started is None else time.monotonic() - started
        if self._learning.chooses:
            self._learning.wait_followed(max(0.0, PATIENCE_SECONDS - spent))
        with self._changed:
            self._desk.page(page)
            questions = self._given(page)
            return Receipt(written.number, written.repeated, category, questions, self.state(), said)

    def _said(self, answer: Answer) -> str:
        facts, n = self._facts, len(answer.images)
        if answer.kind == "label":
            return f"{facts.categories.get(str(answer.category), 'labelled')}, {facts.n_labelled:,} labelled"
        words = {"none": "none of these", "skip": "asked again later", "discard": "never asked again"}
        return words.get(answer.kind, "label taken back") + (f", {n:,} images" if n > 1 else "")


def _kept_seed(bench: Workbench, seed: int | None) -> int:
    """The seed of the project, kept when it is first opened."""
    known = bench.file.setting("seed")
    if seed is None and isinstance(known, int):
        return known
    chosen = 0 if seed is None else check_integer("session", "seed", seed, least=0, most=2**32 - 1)
    if chosen != known and bench.file.writable:
        bench.file.set("seed", chosen)
    return chosen


def _check_answer(answer: Answer) -> None:
    check_choice("session", "an answer", answer.kind, ANSWERS)
    check_choice("session", "how an answer came about", answer.how, WAYS_TO_ANSWER)
    if (answer.category is None) == (answer.kind == "label"):
        raise InvalidInput(
            f"session: a label needs a category, and other answers have none, got {shown(answer.category)} with "
            f"{answer.kind!r}."
        )


def _check_request(request: str) -> str:
    plain = isinstance(request, str) and request.isascii() and request.isprintable()
    if not plain or not 1 <= len(request) <= 100 or ":" in request:
        raise InvalidInput(
            f"session: a request must have 1 to 100 plain characters without colons, got {shown(request)}."
        )
    return request


def _report(outcome: SortOutcome) -> SortReport:
    return SortReport(outcome.n_done, [(each.name, each.reason) for each in outcome.left])


def _name(value: Json) -> Json:
    return check_person(value if isinstance(value, str) else shown(value))


def _channels(value: Json) -> list[Json]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InvalidInput(f"settings: channels must be a list of names, got {shown(value)}.")
    return value

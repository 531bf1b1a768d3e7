"""What each open page is asked: what the model chose for it, or images in a random order while there is no model.

It stands between the pages, whose questions lie on the `QuestionDesk`, and the model thread, which fills them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import final

from fewsight.apps.workbench import opinion_pages
from fewsight.apps.workbench.facts import Facts
from fewsight.apps.workbench.folder_watch import FolderWatch
from fewsight.apps.workbench.image_stock import first_of
from fewsight.apps.workbench.model_thread import ModelThread, Slot
from fewsight.apps.workbench.project.events import Asked
from fewsight.apps.workbench.question_desk import AGAIN, MOST_QUESTIONS, Put, QuestionDesk
from fewsight.apps.workbench.session_messages import PageQuestion

NOTHING_LEARNED = "Drawn at random: nothing was learned yet."
TAKEN_BACK = "You took your answer back."


@final
class PageQuestions:
    """The questions of all pages. `lock` is the session's; `facts` says what holds now, `tell` that something changed."""

    model: ModelThread
    watch: FolderWatch

    def __init__(self, lock: threading.Condition, facts: Callable[[], Facts], tell: Callable[[], None]) -> None:
        self.desk = QuestionDesk()
        self._lock, self._facts, self.tell = lock, facts, tell

    # For pages.

    def given(self, name: str) -> list[PageQuestion]:
        """The questions of a page, the current one first; images in a random order where the model has none for it."""
        with self._lock:
            page = self.desk.pages[name]
            missing = page.wanted - len(page.queue)
            waits_for_model = self.model.chooses or self.model.is_loading
            if missing > 0 and not (waits_for_model and page.queue):
                page.queue += self._random(name, missing)
            return [self._page_question(put) for put in self.desk.give(name, page.wanted)]

    def put_again(self, page: str, images: Sequence[str]) -> None:
        """Ask at once about images whose answer was taken back; not if they are many."""
        with self._lock:
            known, answered = self.watch.stock.paths, self._facts().standings
            again = [image for image in images if image in known and image not in answered]
            if 0 < len(again) <= MOST_QUESTIONS:
                self.desk.put_first(page, [Put(image, AGAIN, TAKEN_BACK) for image in again])

    def asked(self, page: str, image: str, how: str) -> Asked:
        """How an answer comes about, and what is believed about the image now."""
        learned, position = self.model.learned, self.model.position_of.get(image)
        believed = opinion_pages.belief(image, self.model.opinion, learned.n_learned)
        if position is not None and position < len(learned.guesses):
            believed["guess"] = learned.keys[int(learned.guesses[position])]
        put = self.desk.pages[page].put_of(image)
        if how == "question" and put is not None and put.rule != AGAIN:
            return put.asked(believed)
        return Asked("rule" if how == "question" else how, None, learned.n_labelled, believed)

    def _random(self, name: str, n: int) -> list[Put]:
        """Images in a random order that depends on the seed and their content alone, while nothing is learned."""
        facts, stock, desk = self._facts(), self.watch.stock, self.desk
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
        stock, answered = self.watch.stock, self._facts().standings
        width, height = stock.sizes.get(put.image, (None, None))
        same = self.watch.groups.get(put.image) or stock.burst(put.image)
        group = tuple(image for image in same if image != put.image and image in stock.paths and image not in answered)
        return PageQuestion(put.image, stock.shown(put.image), put.reason, put.check, width, height, group)

    # For the model thread, see `model_thread.Desk`.

    def slots(self) -> list[Slot]:
        """What the open pages need, behind the questions that stay."""
        with self._lock:
            gone = self.watch.stock.vanished
            found = []
            for name, page in self.desk.pages.items():
                kept = page.kept()
                if page.called and page.wanted > len(kept):
                    held = self.desk.held(but=name) | {put.image for put in kept} | gone
                    found.append(Slot(name, page.wanted - len(kept), frozenset(held)))
            return found

    def install(self, page: str, puts: Sequence[Put]) -> None:
        """Questions for a page; some may have been answered since they were chosen."""
        with self._lock:
            known, answered = self.watch.stock.paths, self._facts().standings
            fresh = [put for put in puts if put.image in known and put.image not in answered]
            self.desk.install(page, fresh)

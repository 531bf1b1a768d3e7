"""Which page has which questions: held for it, never given to another one, the same until they are answered.

A page shows the first question that it was given and has loaded the picture of the second, so these two are *fixed*: they do
not change when the model changes its mind, and the project file knows of them. Those behind them may be chosen again after every
answer. Where answers come faster than the model learns, a page shows one that was chosen away meanwhile; it tells what it shows,
and that is its question again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from fewsight._base.checks import shown
from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.project.events import Asked, Json, Question
from fewsight.apps.workbench.project.file import Draft
from fewsight.apps.workbench.project.present import Present

FIXED = 2
HOLD_SECONDS = 120.0  # after the last call of a page
MOST_QUESTIONS = 50
AGAIN = "again"  # the rule of a question that comes back because its answer was undone

_PAGE = re.compile(r"[0-9a-f]{8,64}")


@dataclass(frozen=True)
class Put:
    """An image that a person is asked about, and why this one."""

    image: str
    rule: str
    reason: str
    check: bool = False  # drawn at random, to know how good the decisions are
    n_drawn_from: int | None = None
    n_labelled: int | None = None

    def draft(self, page: str) -> Draft:
        """The event that tells of it."""
        return Draft(Question(self.image, self.rule, page), self.asked())

    def asked(self, believed: Mapping[str, Json] | None = None) -> Asked:
        """How an answer to it came about, and what was believed then."""
        more = {"reason": self.reason, **(believed or {})}
        return Asked("check" if self.check else "rule", self.n_drawn_from, self.n_labelled, more)


@dataclass
class Page:
    """The questions of a page, the current one first."""

    queue: list[Put] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)  # images that stay questions of this page until they are answered
    noted: set[str] = field(default_factory=set)  # those that the project file knows of
    given: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())  # in its last two answers from us
    told: tuple[frozenset[str], frozenset[str]] = (
        frozenset(),
        frozenset(),
    )  # that it says it has, in its last two calls
    lent: dict[str, Put] = field(default_factory=dict)  # questions that it was given and may still have
    wanted: int = 1
    seen: float = 0.0
    called: bool = True  # False: known from the project file alone

    def held(self) -> set[str]:
        """Images that no other page may get: it has them, or may have loaded them from an earlier answer of ours."""
        return {put.image for put in self.queue}.union(*self.given, *self.told)

    def put_of(self, image: str) -> Put | None:
        """The question about an image that it has; None if it has none."""
        return next((put for put in self.queue if put.image == image), self.lent.get(image))

    def kept(self) -> list[Put]:
        """The questions that stay."""
        return [put for put in self.queue if put.image in self.fixed]


@final
class QuestionDesk:
    """The pages and their questions. Whoever uses it takes care that one thread does so at a time."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.pages: dict[str, Page] = {}
        self._clock = clock

    def page(self, name: str, wanted: int | None = None) -> Page:
        """A page that is open; others that were silent for long give their questions back."""
        check_page(name)
        now = self._clock()
        for other, page in list(self.pages.items()):
            if other != name and now - page.seen > HOLD_SECONDS:
                del self.pages[other]
        found = self.pages.setdefault(name, Page())
        found.seen, found.called = now, True
        found.wanted = wanted or found.wanted
        return found

    def release(self, name: str) -> None:
        """The page was closed."""
        self.pages.pop(name, None)

    def held(self, but: str | None = None, called: bool = False) -> set[str]:
        """Images that were put to a page, or to another one than `but`; with `called`, to one that we have heard from."""
        pages = (page for name, page in self.pages.items() if name != but and (page.called or not called))
        return set().union(*(page.held() for page in pages))

    def close(self, images: Collection[str]) -> None:
        """These are no questions any more."""
        for page in self.pages.values():
            page.fixed.difference_update(images)
            page.noted.difference_update(images)
            page.queue = [put for put in page.queue if put.image not in images]
            page.lent = {image: put for image, put in page.lent.items() if image not in images}

    def hold(self, name: str, shown: str | None, held: Collection[str]) -> None:
        """A page says which image it shows, and which others it has loaded or has answers to under way.

        What another page has is not its own, whatever it says. What it shows is its first question, also where it had been
        replaced meanwhile.
        """
        page, others = self.page(name), self.held(but=name, called=True)
        page.told = (page.told[-1], frozenset(held) - others)
        put = page.lent.get(shown or "")
        if put is not None and put.image not in others:
            page.queue = [put, *(each for each in page.queue if each.image != put.image)]
            page.fixed.add(put.image)

    def install(self, name: str, puts: Iterable[Put]) -> None:
        """These come behind the fixed questions of a page, in place of what stood there."""
        page = self.pages.get(name)
        if page is None:
            return
        kept = page.kept()
        known = {put.image for put in kept} | self.held(but=name, called=True)
        page.queue = [*kept, *(put for put in puts if put.image not in known)]

    def put_first(self, name: str, puts: Sequence[Put]) -> None:
        """Questions that come back: before all others."""
        page = self.pages[name]
        images = {put.image for put in puts}
        self.close(images)
        page.queue[:0] = puts

    def give(self, name: str, n: int) -> list[Put]:
        """The first questions of a page, which it now has."""
        page = self.pages[name]
        chosen = page.queue[:n]
        images = frozenset(put.image for put in chosen)
        if images != page.given[-1]:
            page.given = (page.given[-1], images)
        page.fixed.update(put.image for put in chosen[:FIXED])
        held = page.held()
        page.lent = {image: put for image, put in page.lent.items() if image in held} | {
            put.image: put for put in chosen
        }
        return chosen

    def unnoted(self) -> list[Draft]:
        """The questions that are fixed since this was last asked."""
        drafts: list[Draft] = []
        for name, page in self.pages.items():
            new = [put for put in page.queue if put.image in page.fixed and put.image not in page.noted]
            drafts += [put.draft(name) for put in new]
            page.noted.update(put.image for put in new)
        return drafts

    def restore(self, present: Present, answered: Collection[str]) -> None:
        """The fixed questions of every page of the last session: those that were put and have no answer yet."""
        last = present.questions[-1].session if present.questions else None
        waiting: dict[str, dict[str, Put]] = {}
        for event in present.events:
            act = event.act
            if not isinstance(act, Question):
                for queue in waiting.values():
                    queue.pop(getattr(act, "image", ""), None)
            elif act.page and event.session == last:
                queue = waiting.setdefault(act.page, {})
                queue.pop(act.image, None)
                put = _put(act, event.asked or Asked())
                waiting[act.page] = {act.image: put, **queue} if act.rule == AGAIN else {**queue, act.image: put}
        for name, queue in waiting.items():
            puts = [put for image, put in queue.items() if image not in answered]
            if puts and _PAGE.fullmatch(name):
                fixed = {put.image for put in puts}
                self.pages[name] = Page(puts, fixed, set(fixed), wanted=FIXED, seen=self._clock(), called=False)


def _put(act: Question, asked: Asked) -> Put:
    reason = str((asked.believed or {}).get("reason", ""))
    return Put(act.image, act.rule, reason, asked.how == "check", asked.n_drawn_from, asked.n_labelled)


def check_page(name: str) -> str:
    """The id that a page made for itself."""
    if not isinstance(name, str) or not _PAGE.fullmatch(name):
        raise InvalidInput(f"session: a page must be named by 8 to 64 hexadecimal digits, got {shown(name)}.")
    return name

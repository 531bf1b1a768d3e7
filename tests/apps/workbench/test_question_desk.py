"""Questions are held for one page, stay while it shows them, and come back from the events."""

from __future__ import annotations

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.project import Asked, Event, Present
from fewsight.apps.workbench.project.events import NoneOfThese, Question
from fewsight.apps.workbench.question_desk import AGAIN, HOLD_SECONDS, Put, QuestionDesk, check_page

PAGE, OTHER = "a" * 8, "b" * 8
IMAGES = [f"{number:040x}" for number in range(9)]
PUTS = [Put(image, "uncertainty", "Between owl and tit.") for image in IMAGES]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def images(puts: list[Put]) -> list[int]:
    return [IMAGES.index(put.image) for put in puts]


def test_what_a_page_was_given_first_stays_and_the_rest_is_replaced() -> None:
    desk = QuestionDesk()
    desk.page(PAGE, 4)
    desk.install(PAGE, PUTS[:4])
    assert images(desk.give(PAGE, 4)) == [0, 1, 2, 3]
    desk.install(PAGE, PUTS[5:9])
    assert images(desk.give(PAGE, 4)) == [0, 1, 5, 6]
    desk.close({IMAGES[0]})
    desk.install(PAGE, PUTS[7:9])
    assert images(desk.give(PAGE, 4)) == [1, 7, 8]


def test_another_page_gets_nothing_that_one_may_have_loaded() -> None:
    clock = Clock()
    desk = QuestionDesk(clock)
    desk.page(PAGE, 4)
    desk.install(PAGE, PUTS[:4])
    desk.give(PAGE, 4)
    desk.install(PAGE, PUTS[4:6])  # 2 and 3 are no questions any more, but the page may have their pictures
    desk.page(OTHER, 4)
    desk.install(OTHER, PUTS)
    assert images(desk.give(OTHER, 9)) == [6, 7, 8]
    clock.now = HOLD_SECONDS + 1
    desk.page(OTHER)
    assert PAGE not in desk.pages
    desk.install(OTHER, PUTS)
    assert len(desk.give(OTHER, 9)) == 9


def test_what_a_page_says_that_it_shows_is_its_question_again_and_no_other_page_gets_it() -> None:
    check = Put(IMAGES[2], "uncertainty", "A random check.", True, 30, 4)
    desk = QuestionDesk()
    desk.page(PAGE, 4)
    desk.install(PAGE, [*PUTS[:2], check, PUTS[3]])
    desk.give(PAGE, 4)
    for answered in (0, 1):  # two fast keys: the page shows 2, but has not said so when the model chooses others
        desk.close({IMAGES[answered]})
        desk.install(PAGE, PUTS[4 + 2 * answered : 6 + 2 * answered])
        desk.give(PAGE, 4)
        desk.hold(PAGE, IMAGES[2], [IMAGES[2], IMAGES[3], IMAGES[8]])
    assert desk.pages[PAGE].queue[0] is check
    assert desk.pages[PAGE].put_of(IMAGES[2]) is check
    desk.page(OTHER, 4)
    desk.install(OTHER, PUTS[1:])
    assert images(desk.give(OTHER, 9)) == []  # 8 is part of a burst that the page shows
    desk.close({IMAGES[2]})
    desk.hold(PAGE, IMAGES[2], [])  # sent before the answer, read after it
    assert images(desk.give(PAGE, 9)) == [4, 6, 7]


def test_a_page_cannot_take_what_another_one_has() -> None:
    desk = QuestionDesk()
    for name, puts in ((PAGE, PUTS[:2]), (OTHER, PUTS[2:4])):
        desk.page(name, 2)
        desk.install(name, puts)
        desk.give(name, 2)
    desk.hold(PAGE, IMAGES[2], [IMAGES[2], IMAGES[3]])
    assert desk.pages[PAGE].held() == set(IMAGES[:2])
    assert images(desk.give(OTHER, 2)) == [2, 3]


def test_fixed_questions_are_noted_once() -> None:
    desk = QuestionDesk()
    desk.page(PAGE, 4)
    desk.install(PAGE, PUTS[:4])
    assert desk.unnoted() == []
    desk.give(PAGE, 4)
    assert [draft.act for draft in desk.unnoted()] == [Question(image, "uncertainty", PAGE) for image in IMAGES[:2]]
    assert desk.unnoted() == []


def test_the_fixed_questions_of_the_last_session_come_back() -> None:
    check = Put(IMAGES[1], "uncertainty", "A random check.", True, 30, 4)
    again = Put(IMAGES[3], AGAIN, "You took your answer back.")
    acts = [put.draft(PAGE) for put in (PUTS[0], check, PUTS[2], again)]
    events = [Event(n, "ann", "s", f"r{n}", draft.act, asked=draft.asked) for n, draft in enumerate(acts)]
    events.insert(0, Event(-1, "ann", "earlier", "r", Question(IMAGES[8], "random", OTHER), asked=Asked()))
    events.append(Event(9, "ann", "s", "answer", NoneOfThese(IMAGES[0])))
    desk = QuestionDesk()
    desk.restore(Present(events), {IMAGES[0]})
    assert desk.pages.keys() == {PAGE}
    assert desk.give(PAGE, 4) == [again, check, PUTS[2]]
    assert desk.unnoted() == []
    assert desk.held(called=True) == set()  # nobody has heard of that page yet
    assert desk.held() == {IMAGES[1], IMAGES[2], IMAGES[3]}


@pytest.mark.parametrize("name", ["", "A" * 8, "g" * 8, "a" * 7, "a" * 65, 8])
def test_a_page_is_named_by_hexadecimal_digits(name: object) -> None:
    with pytest.raises(InvalidInput, match="a page must be named by 8 to 64 hexadecimal digits"):
        check_page(name)

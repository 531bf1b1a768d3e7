"""A person at the page: every way through it, in a real browser, by keyboard."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route

from page_browser import Program, all_read, current, loaded_ahead, name_it, press, ready, settled, shows
from page_visits import write_burst, write_pictures

pytestmark = pytest.mark.slow

Open = Callable[[str], Page]
Start = Callable[..., Program]


def look_for_files(program: Program, open_page: Open) -> None:
    """Have the folder looked at now rather than within a minute."""
    settings = open_page(f"{program.home}/settings")
    ready(settings)
    settings.click("#rescan")


def test_the_first_visit_asks_one_question_and_needs_no_set_up(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 6)
    page = open_page(start(tmp_path / "photos").address)
    current(page)
    assert "token" not in page.url
    assert page.locator("#first p").count() == 3
    assert page.evaluate("document.activeElement.id") == "first-name"
    assert page.locator(".cat:visible").count() == 0
    name_it(page, "owl")
    assert page.locator("#first").is_hidden()
    assert page.locator("#categories .cat").inner_text().split("\n")[:2] == ["1", "owl"]
    page.wait_for_selector("#saved:has-text('saved: owl')")


def test_thirty_images_by_keyboard_alone_with_a_category_half_way(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 36)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    said = {name_it(page, "one"): "one"}
    said[name_it(page, "two")] = "two"
    settled(page)
    page.wait_for_selector(".cat:nth-child(2) kbd:has-text('2')")
    while len(said) < 15:
        key = "12"[len(said) % 2]
        said[press(page, key)] = {"1": "one", "2": "two"}[key]
    said[name_it(page, "three")] = "three"
    settled(page)
    page.wait_for_selector(".cat:nth-child(3) kbd:has-text('3')")
    while len(said) < 30:
        key = "123"[len(said) % 3]
        said[press(page, key)] = {"1": "one", "2": "two", "3": "three"}[key]
    settled(page)
    assert len(said) == 30
    assert program.labels() == said
    page.wait_for_selector("#state-labelled:has-text('30 labelled')")


def test_later_never_and_none_of_these(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 8)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    all_read(page, 8)  # before that, what was put off may be all there is
    name_it(page, "owl")
    none, later, never = press(page, "u"), press(page, "s"), press(page, "x")
    settled(page)
    assert [program.acts(kind) for kind in ("none", "skip", "discard")] == [1, 1, 1]
    seen = set()
    for _ in range(4):
        seen.add(press(page, "1"))
    assert not seen & {none, never, later}
    assert current(page) == later  # asked again when there is nothing else
    press(page, "1")
    page.wait_for_selector("#message:has-text('Every image has an answer')")


def test_undo_goes_back_across_a_restart(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 8)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    first = name_it(page, "owl")
    second, third = press(page, "1"), press(page, "1")
    page.keyboard.press("z")
    shows(page, third)
    settled(page)
    assert set(program.labels()) == {first, second}
    page.close()
    program.end()
    program.start()
    page = open_page(program.address)
    current(page)
    page.keyboard.press("Backspace")
    shows(page, second)
    settled(page)
    assert set(program.labels()) == {first}
    page.keyboard.press("r")
    page.wait_for_selector("#state-labelled:has-text('2 labelled')")
    assert set(program.labels()) == {first, second}


def test_a_burst_is_one_question_with_one_answer(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_burst(tmp_path / "photos", 3)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    page.wait_for_selector("#strip-images img >> nth=2")
    assert "one answer counts for all 3" in page.inner_text("#strip-words")
    page.keyboard.type("fox")
    page.keyboard.press("Enter")
    page.wait_for_selector("#message:has-text('Every image has an answer')")
    settled(page)
    assert list(program.labels().values()) == ["fox"] * 3
    page.keyboard.press("z")  # one act
    page.wait_for_selector("#strip-images img >> nth=2")
    assert program.labels() == {}


def test_a_burst_can_be_answered_one_by_one(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 1)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "fox")
    write_burst(tmp_path / "photos", 3)
    look_for_files(program, open_page)
    page.wait_for_selector("#strip-images img >> nth=2")
    page.keyboard.press("a")
    page.wait_for_selector("#strip-words:has-text('3 of this group left')")
    first = press(page, "1")
    page.wait_for_selector("#strip-words:has-text('2 of this group left')")
    second = press(page, "u")
    page.wait_for_selector("#strip-words:has-text('1 of this group left')")
    third = press(page, "1")
    settled(page)
    labels = program.labels()
    assert len({first, second, third}) == 3
    assert second not in labels
    assert labels[first] == labels[third] == "fox"
    assert len(labels) == 3


def test_two_tabs_never_have_one_question_and_see_each_others_answers(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 20)
    program = start(tmp_path / "photos")
    one = open_page(program.address)
    name_it(one, "owl")
    settled(one)
    two = open_page(f"{program.home}/label")
    current(two)
    two.wait_for_selector("#categories .cat kbd:has-text('1')")
    answered = []
    for n in range(12):
        assert current(one) != current(two)
        answered.append(press((one, two)[n % 2], "1"))
    assert len(set(answered)) == 12
    for page in (one, two):
        page.wait_for_selector("#state-labelled:has-text('13 labelled')")
        page.wait_for_selector(".cat .n:has-text('13 labelled')")
    settled(one)
    settled(two)
    assert len(program.labels()) == 13


def test_two_tabs_with_very_fast_keys_never_have_one_question(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 80)
    program = start(tmp_path / "photos")
    one = open_page(program.address)
    all_read(one, 80)
    for name in ("owl", "fox"):
        name_it(one, name)
        settled(one)
    known = "async () => (await (await fetch('/api/state')).json()).n_known === 80"
    one.wait_for_function(known)  # from now on every answer changes which images are asked about next
    two = open_page(f"{program.home}/label")
    current(two)
    two.wait_for_selector(".cat:nth-child(2) kbd:has-text('2')")
    sent: dict[Page, list[dict[str, str]]] = {one: [], two: []}
    for page in sent:
        page.on(
            "request", lambda request, to=sent[page]: to.append(request.post_data_json) if request.post_data else None
        )
    keys = (
        "for (const key of '1212121') document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }))"
    )
    for _ in range(4):
        for page in (one, two):
            loaded_ahead(page, 8)
            page.evaluate(keys)  # faster than any answer of the server
            current(page)
        assert current(one) != current(two)
        for page in (one, two):
            settled(page)
            assert sent[page][-1]["shown"] == current(page)  # so that the server can hold it for this tab
    assert len(program.labels()) == program.acts("label") == 58


def test_a_duplicated_tab_gets_questions_of_its_own(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 12)
    program = start(tmp_path / "photos")
    one = open_page(program.address)
    image = current(one)
    with one.context.expect_page() as opened:
        one.evaluate("window.open('/label', '_blank')")  # which copies the storage of the tab
    assert current(opened.value) != image


def test_a_server_killed_between_two_keys_loses_and_doubles_nothing(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 20)
    program = start(tmp_path / "photos")
    old = open_page(program.address)
    said = {name_it(old, "owl")}
    said.add(press(old, "1"))
    settled(old)
    loaded_ahead(old, 4)
    program.kill()
    said |= {press(old, "1"), press(old, "1")}  # from what was loaded before
    old.wait_for_selector("#link:has-text('Offline, 2 answers waiting')")
    program.start()
    assert program.home == old.url.removesuffix("/label")
    old.wait_for_selector("#link:has-text('fewsight was started again')")
    old.wait_for_selector("#link:has-text('2 answers wait')")
    assert len(program.labels()) == 2
    new = open_page(program.address)
    current(new)
    settled(old)
    old.wait_for_selector("#link", state="hidden")
    assert set(program.labels()) == said
    assert program.acts("label") == 4
    said.add(press(old, "1"))
    settled(old)
    assert set(program.labels()) == said


def test_answers_of_a_closed_tab_are_sent_by_the_next_one(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 12)
    program = start(tmp_path / "photos")
    old = open_page(program.address)
    said = {name_it(old, "owl")}
    settled(old)
    loaded_ahead(old, 4)
    program.kill()
    said |= {press(old, "1"), name_it(old, "hawk")}
    old.wait_for_selector("#link:has-text('3 answers waiting')")  # the new category is one of them
    old.close()
    program.start()
    new = open_page(program.address)
    settled(new)
    assert set(program.labels()) == said
    assert set(program.labels().values()) == {"owl", "hawk"}
    assert program.acts("label") == 3


def test_new_photographs_are_found_while_the_page_is_open(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 2)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    press(page, "1")
    page.wait_for_selector("#message:has-text('Every image has an answer')")
    write_pictures(tmp_path / "photos", 3, seed=1)
    look_for_files(program, open_page)
    current(page)
    assert page.locator("#message").is_hidden()
    page.wait_for_function("() => document.getElementById('state-features').textContent === '5 images'")


def test_the_command_ends_and_says_what_comes_next(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 6)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    settled(page)
    all_read(page, 6)
    said, _ = program.end(signal.SIGINT)
    assert "1 image answered in this session; 1 labelled in all, 5 left." in said
    assert f"fewsight label {tmp_path / 'photos'}" in said


@pytest.mark.parametrize(("key", "kind"), [("y", "borrow"), ("Escape", "refuse")])
def test_a_loan_is_offered_with_both_pictures_and_settled_by_a_key(
    tmp_path: Path, start: Start, open_page: Open, key: str, kind: str
) -> None:
    write_pictures(tmp_path / "photos", 10)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    name_it(page, "hawk")
    settled(page)
    ids = {each["name"]: each["id"] for each in page.evaluate("fetch('/api/categories').then((r) => r.json())")}
    offer = {"category": ids["hawk"], "lender": ids["owl"], "name": "hawk", "lender_name": "owl", "sentence": ""}
    page.route("**/api/loans?*", lambda route: route.fulfill(json=offer))  # what the model would say after more labels
    page.route("**/api/may_belong?*", lambda route: route.fulfill(json=[]))  # and what it would not
    press(page, "2")
    page.wait_for_selector("#notice:has-text('May it borrow from owl?')")
    assert page.locator("#notice figure").count() == 2
    assert page.locator("#notice figure img").count() >= 2
    with page.expect_request(lambda sent: sent.method == "POST" and sent.url.endswith("/api/loans")) as sent:
        page.keyboard.press(key)
    said = sent.value.post_data_json
    assert (said["act"], said["category"], said["lender"]) == (kind, ids["hawk"], ids["owl"])
    page.wait_for_selector("#notice", state="hidden")
    settled(page)  # saved, or refused because the model does not back it: nothing waits for ever


def test_the_picture_that_is_shown_stays_when_the_server_is_some_answers_behind(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 12)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    all_read(page, 12)
    name_it(page, "owl")
    settled(page)
    loaded_ahead(page, 4)

    def without_it(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        now = page.get_attribute("#sight img", "data-image")
        found["questions"] = [each for each in found["questions"] if each["image"] != now]
        route.fulfill(response=answer, json=found)

    page.route("**/api/answers", without_it, times=1)
    press(page, "1")
    seen = current(page)
    settled(page)
    assert current(page) == seen


def test_what_the_server_refuses_is_said_and_not_sent_again(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 6)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    settled(page)
    refusal = {"error": {"code": "refused", "message": "Not this one."}}
    page.route("**/api/answers", lambda route: route.fulfill(status=409, json=refusal), times=1)
    press(page, "1")
    page.wait_for_selector("#refusals p:has-text('Not saved: Not this one.')")
    settled(page)
    assert len(program.labels()) == 1
    press(page, "1")
    settled(page)
    assert len(program.labels()) == 2


def test_answers_wait_as_long_as_the_project_cannot_be_written(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 12)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    said = {name_it(page, "owl")}
    settled(page)
    loaded_ahead(page, 4)
    project, away = tmp_path / "photos" / "fewsight.sqlite", tmp_path / "away.sqlite"
    project.rename(away)
    said |= {press(page, "1"), press(page, "1")}
    page.wait_for_selector("#link:has-text('the project file has vanished')")
    page.wait_for_timeout(20_000)  # more attempts than a request that fails for another reason is given
    assert page.locator("#refusals p").count() == 0
    away.rename(project)
    settled(page)
    assert set(program.labels()) == said


def test_one_failure_after_a_long_wait_drops_no_answer(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 6)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    settled(page)
    loaded_ahead(page, 4)
    page.evaluate("() => { const real = window.setTimeout; window.setTimeout = (work, ms) => real(work, ms / 50); }")
    statuses = [503] * 10 + [500]

    def answered(route: Route) -> None:
        if statuses:
            route.fulfill(status=statuses.pop(0), json={"error": {"code": "not_saved", "message": "Not now."}})
        else:
            route.continue_()

    page.route("**/api/answers", answered)
    press(page, "1")
    settled(page)
    assert statuses == []
    assert page.locator("#refusals p").count() == 0
    assert len(program.labels()) == 2


def test_a_new_category_offers_earlier_images(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 10)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    earlier = name_it(page, "owl")
    settled(page)
    found = [{"image": earlier, "file": "earlier.png", "probability": 0.5}]
    page.route("**/api/may_belong?*", lambda route: route.fulfill(json=found))  # what the model would say
    page.route("**/api/loans?*", lambda route: route.fulfill(json=None))
    name_it(page, "hawk")
    page.wait_for_selector("#notice:has-text('1 earlier image may be hawk.')")
    page.keyboard.press("y")
    page.wait_for_url("**/grid?of=may_belong&category=*")

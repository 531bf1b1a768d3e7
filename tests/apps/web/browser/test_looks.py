"""The page for everybody: screen readers, small and large screens, dark, large text; and names that try to be more than names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page

from fewsight.apps.web.site import VIEWS
from fewsight.apps.workbench.verbs import Workbench
from page_browser import (
    PATIENCE,
    Log,
    Program,
    all_read,
    current,
    name_it,
    press,
    ready,
    settled,
    shows_another,
    visit,
)
from page_visits import write_pictures

pytestmark = pytest.mark.slow

Open = Callable[[str], Page]
Start = Callable[..., Program]

TRICKS = (
    "<img src=x onerror=alert(1)>",
    "\"quoted\" 'name' & more",
    "</script><script>alert(2)</script>",
    "{{ 7 * 7 }} {name}",
)
FILES = (
    "a\"b'c.png",
    "line\nbreak.png",
    "right\u202eto\u2066left.png",
    "<b>bold<b>.png",
    "per%2fcent %00.png",
    "o" * 200 + ".png",
)


def sideways(page: Page) -> float:
    """How far the page can be scrolled to the side."""
    return float(page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"))


def test_names_are_shown_as_they_are_and_run_nothing(tmp_path: Path, start: Start, open_page: Open, log: Log) -> None:
    folder = tmp_path / "photos <i>"
    for path, name in zip(write_pictures(folder, len(FILES)), FILES, strict=True):
        path.rename(folder / name)
    (folder / "broken\u202e<script>.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    program = start(folder)
    page = open_page(program.address)
    ready(page)
    all_read(page, len(FILES) + 1)
    for trick in TRICKS:
        name_it(page, trick)
        settled(page)
    assert sorted(program.labels().values()) == sorted(TRICKS)
    page.wait_for_function("n => document.querySelectorAll('#categories .cat').length === n", arg=len(TRICKS))
    assert page.locator("#categories .cat .name bdi").all_inner_texts() == list(TRICKS)
    for view in VIEWS:
        visit(page, f"{program.home}/{view}")
        assert page.locator("main img[src=x], main b:has-text('bold'), main i").count() == 0
        assert page.locator("script:not([src]):not([type='application/json'])").count() == 0
    visit(page, f"{program.home}/settings")
    assert page.locator(".settings-row .name").evaluate_all("all => all.map((each) => each.value)") == list(TRICKS)
    visit(page, f"{program.home}/results")
    page.wait_for_selector("td:has-text('<script>')")
    log.check()


def test_the_page_cannot_be_framed_and_a_form_of_another_site_changes_nothing(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 4)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    settled(page)
    other = page.context.new_page()
    frame = f'<iframe src="{program.home}/label"></iframe>'
    form = f'{frame}<form method=post enctype="text/plain" action="{program.home}/api/undo"><input name=x></form>'
    other.route(
        "https://evil.example/",
        lambda route: route.fulfill(content_type="text/html", body=form),
    )
    other.goto("https://evil.example/")
    framed = other.frames[1]
    assert "owl" not in framed.content()
    with other.expect_navigation():
        other.evaluate("document.forms[0].submit()")
    assert json.loads(other.inner_text("body"))["error"]["code"] in ("not_let_in", "foreign")
    assert list(program.labels().values()) == ["owl"]


@pytest.fixture
def furnished(tmp_path: Path, start: Start, open_page: Open) -> tuple[Program, Page]:
    """A project with some of everything."""
    write_pictures(tmp_path / "photos", 24)
    (tmp_path / "photos" / "broken.jpg").write_bytes(b"nothing")
    program = start(tmp_path / "photos", "--channels", "colour")
    page = open_page(program.address)
    name_it(page, "owl")
    name_it(page, "a hawk with a longer name")
    settled(page)
    for n in range(12):
        press(page, "12"[n % 2])
    press(page, "u")
    settled(page)
    return program, page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_any_view(furnished: tuple[Program, Page], scheme: str) -> None:
    program, page = furnished
    page.emulate_media(color_scheme=scheme)
    found = []
    for view in VIEWS:
        visit(page, f"{program.home}/{view}")
        if view == "label":
            current(page)
            page.keyboard.press("g")
            page.wait_for_selector("#guessed:visible")
        result = Axe().run(page)
        found += [
            (view, each["id"], each["nodes"][0]["html"][:200])
            for each in result.response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert found == []


def test_axe_finds_nothing_serious_in_dialogs_and_on_the_first_visit(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 8)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    current(page)
    states = []

    def look(state: str) -> None:
        result = Axe().run(page)
        states.extend(
            (state, each["id"]) for each in result.response["violations"] if each["impact"] in ("serious", "critical")
        )

    look("first visit")
    name_it(page, "owl")
    press(page, "1")
    page.keyboard.press("?")
    page.wait_for_selector("#key-list[open]")
    look("keys")
    page.keyboard.press("Escape")
    page.wait_for_selector("#key-list", state="hidden")
    page.keyboard.press("n")
    page.wait_for_selector("#new-dialog[open]")
    look("new category")
    page.keyboard.press("Escape")
    settled(page)
    visit(page, f"{program.home}/mine")
    page.locator(".tile").first.click()
    page.wait_for_selector("#change[open]")
    look("change")
    visit(page, f"{program.home}/results")
    page.click("[data-open=sort]")
    page.wait_for_selector("#sort[open]")
    look("sort")
    page.keyboard.press("Enter")
    page.wait_for_selector("#apply:visible")
    look("plan")
    assert states == []


@pytest.mark.parametrize(("width", "height"), [(375, 667), (768, 1024), (2560, 1440)])
def test_nothing_scrolls_sideways_and_the_answers_are_in_sight(
    furnished: tuple[Program, Page], width: int, height: int
) -> None:
    program, page = furnished
    page.set_viewport_size({"width": width, "height": height})
    for view in VIEWS:
        visit(page, f"{program.home}/{view}")
        assert sideways(page) <= 0, view
    visit(page, f"{program.home}/label")
    current(page)
    for selector in ("#sight img", "#categories .cat >> nth=0", '.keys [data-action="undo"]'):
        box = page.locator(selector).bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + min(box["height"], 44) <= height
        assert box["width"] > 20


def test_text_at_twice_the_size_stays_inside(furnished: tuple[Program, Page]) -> None:
    program, page = furnished
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for view in VIEWS:
            visit(page, f"{program.home}/{view}")
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            assert sideways(page) <= 0, (view, width)


def test_a_finger_can_do_what_a_key_does(tmp_path: Path, start: Start, browser: Browser, log: Log) -> None:
    write_pictures(tmp_path / "photos", 12)
    program = start(tmp_path / "photos")
    with browser.new_context(viewport={"width": 375, "height": 667}, has_touch=True, is_mobile=True) as context:
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        log.watch(page)
        page.goto(program.address)
        name_it(page, "owl")
        settled(page)
        for selector in ("#categories .cat", '.keys [data-action="none"]', '.keys [data-action="skip"]'):
            before = current(page)
            box = page.locator(selector).first.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            page.locator(selector).first.tap()
            shows_another(page, before)
        settled(page)
        assert [program.acts(kind) for kind in ("label", "none", "skip")] == [2, 1, 1]
        page.locator("#menu").tap()
        page.locator("#views a[href='/progress']").tap()
        page.wait_for_url("**/progress")


def test_every_action_has_a_button_that_the_tab_key_reaches(furnished: tuple[Program, Page]) -> None:
    program, page = furnished
    for view in VIEWS:
        visit(page, f"{program.home}/{view}")
        if view == "label":
            current(page)
        reached = set()
        for _ in range(120):
            page.keyboard.press("Tab")
            here = page.evaluate(
                "() => { const e = document.activeElement; return e.dataset.action ?? e.id ?? e.className; }"
            )
            reached.add(here)
        wanted = page.locator("button[data-action]:visible:not(:disabled)").evaluate_all(
            "all => all.map((each) => each.dataset.action)"
        )
        assert set(wanted) <= reached, view


def test_keys_do_nothing_while_typing_and_nothing_when_held_down(tmp_path: Path, start: Start, open_page: Open) -> None:
    write_pictures(tmp_path / "photos", 10)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "sun x u 1 z")
    settled(page)
    page.keyboard.down("1")
    for _ in range(5):
        page.keyboard.down("1")  # what a held key sends
    page.keyboard.up("1")
    page.keyboard.press("Control+1")
    settled(page)
    assert list(program.labels().values()) == ["sun x u 1 z"] * 2
    assert [program.acts(kind) for kind in ("none", "skip", "discard", "undo")] == [0, 0, 0, 0]


def test_odd_images_and_a_thousand_long_categories_stay_usable(tmp_path: Path, start: Start, open_page: Open) -> None:
    folder = tmp_path / "photos"
    write_pictures(folder, 3)
    Image.fromarray(np.full((20_000, 3, 3), 200, np.uint8)).save(folder / "tall.png")
    Image.fromarray(np.full((3, 20_000, 3), 100, np.uint8)).save(folder / "wide.png")
    Image.fromarray(np.full((1, 1, 3), 50, np.uint8)).save(folder / "dot.png")
    with Workbench(folder) as bench:
        for n in range(1_000):
            bench.new_category(f"category {n:04d} ".ljust(100, "w"))
    program = start(folder)
    page = open_page(program.address)
    seen = set()
    for _ in range(6):
        current(page)
        size = page.inner_text("#size")
        box = page.locator("#sight img").bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 8
        seen.add(size)
        image = current(page)
        page.keyboard.press("/")
        page.keyboard.type("0777")
        page.wait_for_selector(".cat.hit")
        page.keyboard.press("Enter")
        shows_another(page, image)
    assert {"3 × 20,000 pixels", "20,000 × 3 pixels", "1 × 1 pixels"} <= seen
    settled(page)
    assert set(program.labels().values()) == {"category 0777 ".ljust(100, "w")}
    for width in (375, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for view in VIEWS:
            visit(page, f"{program.home}/{view}")
            assert sideways(page) <= 0, (view, width)


@pytest.mark.parametrize("n", [5, 20])
def test_all_categories_are_in_sight_on_a_small_screen(tmp_path: Path, start: Start, open_page: Open, n: int) -> None:
    write_pictures(tmp_path / "photos", 3)
    with Workbench(tmp_path / "photos") as bench:
        for number in range(n):
            bench.new_category(f"a bird, number {number}")
    page = open_page(start(tmp_path / "photos").address)  # 1280 x 800
    current(page)
    rows = page.locator("#categories .cat")
    assert rows.count() == n
    foot = page.locator("footer.keys").bounding_box()
    last = page.locator("#new").bounding_box()
    assert foot is not None
    assert last is not None
    assert last["y"] + last["height"] <= foot["y"]
    assert page.locator("#categories").evaluate("list => list.scrollHeight <= list.clientHeight + 1")
    assert all(cap for cap in rows.locator("kbd").all_inner_texts())


def test_zoom_shows_the_image_at_its_actual_size(tmp_path: Path, start: Start, open_page: Open) -> None:
    (tmp_path / "photos").mkdir()
    pixels = np.random.default_rng(0).integers(0, 255, (300, 2400, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "photos" / "broad.png")
    page = open_page(start(tmp_path / "photos").address)
    current(page)
    page.wait_for_function("() => document.querySelector('#sight img').naturalWidth === 1600")
    page.focus("#main")
    page.keyboard.press(".")
    page.wait_for_function("() => document.querySelector('#sight img').naturalWidth === 2400")
    size = "() => { const p = document.querySelector('#sight img'); return [p.clientWidth, p.clientHeight]; }"
    assert page.evaluate(size) == [2400, 300]
    page.focus("#sight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.querySelector('#sight').scrollLeft > 0")
    page.click('[data-action="fit"]')
    assert page.evaluate(size)[0] < 1280


def test_all_scripts_together_are_small(tmp_path: Path) -> None:
    import fewsight.apps.web.application as application

    scripts = list(application.STATIC.glob("*.js"))
    assert sum(path.stat().st_size for path in scripts) < 100_000
    assert not any("http://" in path.read_text() or "https://" in path.read_text() for path in scripts)

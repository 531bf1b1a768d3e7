"""Grid, my labels, progress, results, history and settings, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from page_browser import Program, current, loading_anew, name_it, ready, settled, shows_another, visit
from page_visits import HUES, write_pictures

pytestmark = pytest.mark.slow

Open = Callable[[str], Page]
Start = Callable[..., Program]


def colour_of(page: Page) -> str:
    """What a person sees: the colour of the picture that is shown."""
    current(page)
    page.wait_for_function("() => document.querySelector('#sight img')?.naturalWidth > 0")
    seen = page.evaluate(
        """() => {
            const picture = document.querySelector("#sight img");
            const canvas = document.createElement("canvas");
            canvas.width = canvas.height = 1;
            const context = canvas.getContext("2d");
            context.drawImage(picture, 0, 0, 1, 1);
            return [...context.getImageData(0, 0, 1, 1).data];
        }"""
    )
    return min(HUES, key=lambda name: sum((a - b) ** 2 for a, b in zip(HUES[name], seen, strict=False)))


def teach(page: Page, n: int) -> None:
    """Answer by what is seen until there are this many labels."""
    known: list[str] = []
    for _ in range(n):
        name, image = colour_of(page), current(page)
        if name in known:
            page.keyboard.press(str(known.index(name) + 1))
            shows_another(page, image)
        else:
            name_it(page, name)
            known.append(name)
            settled(page)
    settled(page)


@pytest.fixture
def taught(tmp_path: Path, start: Start, open_page: Open) -> tuple[Program, Page]:
    """Sixty pictures of three colours, eighteen of them labelled, and a model that has learned and sees them all."""
    write_pictures(tmp_path / "photos", 60)
    program = start(tmp_path / "photos", "--channels", "colour", "--name", "Ann")
    page = open_page(program.address)
    teach(page, 18)
    page.wait_for_selector("#state-learned:has-text('learned from')")
    page.wait_for_function("() => document.getElementById('state-features').textContent === '60 images'")
    return program, page


def test_grid_labels_what_is_left_in_with_one_key(taught: tuple[Program, Page]) -> None:
    program, page = taught
    page.keyboard.press("l")
    page.wait_for_selector(".anchor img")
    ready(page)
    before = program.labels()
    assert page.locator(".tile").count() == 60 - len(before) - 1  # the image that they look like is not among them
    page.keyboard.press("a")  # none
    assert page.locator('.tile[aria-pressed="true"]').count() == 0
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert page.locator('.tile[aria-pressed="true"]').count() == 2
    images = [tile.get_attribute("data-image") for tile in page.locator('.tile[aria-pressed="true"]').all()]
    with loading_anew(page):
        page.keyboard.press("1")
    new = set(program.labels()) - set(before)
    assert new == set(images)
    assert page.locator(".tile").count() > 0
    assert not set(images) & {tile.get_attribute("data-image") for tile in page.locator(".tile").all()}
    with loading_anew(page):
        page.keyboard.press("z")
    assert program.labels() == before


def test_grid_offers_images_that_become_ready_while_it_is_open(taught: tuple[Program, Page], tmp_path: Path) -> None:
    program, page = taught
    page.keyboard.press("l")
    page.wait_for_selector(".anchor img")
    ready(page)
    page.keyboard.press("Space")  # leaves the first one out
    n = page.locator(".tile").count()
    write_pictures(tmp_path / "photos", 6, seed=1)
    settings = page.context.new_page()
    visit(settings, f"{program.home}/settings")
    settings.click("#rescan")
    page.wait_for_selector("#newer:visible")
    assert page.locator(".tile").count() == n  # nothing slips in by itself
    all_there = "() => document.getElementById('state-features').textContent === '66 images'"
    page.wait_for_function(all_there)
    page.click("#newer")
    page.wait_for_function("n => document.querySelectorAll('.tile').length > n", arg=n)
    assert page.locator('.tile[aria-pressed="false"]').count() == 1


def test_grid_shows_what_the_model_is_sure_of(taught: tuple[Program, Page]) -> None:
    program, page = taught
    visit(page, f"{program.home}/grid")
    page.wait_for_selector(".tile")  # once there is an opinion of all images
    ready(page)
    name = page.locator("#which option:checked").inner_text()
    assert f"look like {name}" in page.inner_text("h1")
    before = program.labels()
    with loading_anew(page):
        page.click("#label-rest")
    new = {image: label for image, label in program.labels().items() if image not in before}
    assert set(new.values()) == {name}
    for _ in range(9):  # one category after the other
        if page.locator("#label-rest").count():
            with loading_anew(page):
                page.click("#label-rest")
    page.wait_for_selector("h1:has-text('No such image is left.')")
    ready(page)
    page.keyboard.press("Escape")
    page.wait_for_url("**/label")


def test_my_labels_are_changed_in_place(taught: tuple[Program, Page]) -> None:
    program, page = taught
    visit(page, f"{program.home}/mine")
    tile = page.locator("#tiles .tile").first
    image, was = tile.get_attribute("data-image"), tile.get_attribute("data-category")
    tile.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#change[open]")
    other = next(
        value
        for value in page.locator("#change-category option").evaluate_all("all => all.map((each) => each.value)")
        if value not in ("", was)
    )
    page.select_option("#change-category", other)
    with loading_anew(page):
        page.click("#change-form button[type=submit]")
    assert page.locator(f'.tile[data-image="{image}"]').get_attribute("data-category") == other
    before = program.labels()
    page.locator(f'.tile[data-image="{image}"]').focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#change[open]")
    assert page.inner_text("[data-change=clear]") == "Take the label back"
    with loading_anew(page):
        page.click("[data-change=clear]")
    assert set(before) - set(program.labels()) == {image}


def test_progress_says_how_good_it_is_and_counts_labels(taught: tuple[Program, Page]) -> None:
    program, page = taught
    page.keyboard.press("u")
    settled(page)
    visit(page, f"{program.home}/progress")
    assert page.inner_text("h1")
    counts = page.locator(".bar span:last-child").all_inner_texts()[:4]
    assert sum(int(count) for count in counts[:3]) == len(program.labels()) == 18
    assert (page.locator(".bar").nth(3).inner_text().split("\n")[0], counts[3]) == ("none of these", "1")


def test_an_image_that_is_never_asked_about_is_found_and_labelled(
    tmp_path: Path, start: Start, open_page: Open
) -> None:
    write_pictures(tmp_path / "photos", 6)
    program = start(tmp_path / "photos")
    page = open_page(program.address)
    name_it(page, "owl")
    name_it(page, "tit")
    image = current(page)
    page.keyboard.press("x")
    settled(page)
    before = program.labels()
    visit(page, f"{program.home}/results?group=discarded")
    assert page.locator("#which option:checked").inner_text() == "never asked about (1)"
    assert page.locator(".tile").count() == 1
    page.keyboard.press("Enter")
    assert page.locator("#change-category").input_value() == ""
    page.keyboard.press("Enter")  # opens the list, as nothing was chosen
    page.keyboard.press("Escape")
    assert page.locator("#change").is_visible()
    assert program.labels() == before
    page.select_option("#change-category", label="tit")
    with loading_anew(page):
        page.keyboard.press("Enter")
    assert program.labels() == {**before, image: "tit"}
    assert page.locator(".tile").count() == 0


def test_results_are_sorted_as_planned_and_sorting_is_undone(taught: tuple[Program, Page], tmp_path: Path) -> None:
    program, page = taught
    visit(page, f"{program.home}/results")
    assert page.locator("#tiles .tile").count() == 60
    page.click('[data-open="sort"]')
    page.keyboard.press("Enter")
    page.wait_for_selector("#apply:visible")
    assert "60 files go to" in page.inner_text("#plan")
    assert not (tmp_path / "photos-sorted").exists()
    page.keyboard.press("Enter")  # the focus is on "Sort now"
    page.wait_for_selector("#outcome:has-text('Sorted 60 files')")
    found = {path.name for path in (tmp_path / "photos-sorted").rglob("*.png")}
    assert found == {path.name for path in (tmp_path / "photos").glob("*.png")}
    assert {"red", "green", "blue"} <= {path.name for path in (tmp_path / "photos-sorted").iterdir()}
    next((tmp_path / "photos-sorted" / "red").iterdir()).unlink()
    page.click('[data-open="sort"]')
    page.keyboard.press("Enter")
    page.wait_for_selector("#plan:has-text('1 files go to')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#outcome:has-text('Sorted 1 files')")
    page.click("#undo-sort")
    page.wait_for_selector("#outcome:has-text('59 files of an earlier sorting stay there')")
    page.click("#undo-sort")
    page.wait_for_selector("#outcome:has-text('Took back 59 files')")
    assert list((tmp_path / "photos-sorted").rglob("*.png")) == []
    assert len(list((tmp_path / "photos").glob("*.png"))) == 60


def test_labels_and_model_are_written_beside_the_folder_and_never_over_a_file(
    taught: tuple[Program, Page], tmp_path: Path
) -> None:
    program, page = taught
    visit(page, f"{program.home}/results")
    for kind, name in (("export", "photos.csv"), ("model", "photos.fewsight")):
        page.click(f'[data-open="{kind}"]')
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#outcome:has-text('{name}')")
        content = (tmp_path / name).read_bytes()
        assert content
        page.click(f'[data-open="{kind}"]')
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#{kind} .problem:has-text('is there already')")
        assert (tmp_path / name).read_bytes() == content
        page.fill(f"#{kind}-name", "../elsewhere")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"#{kind} .problem:has-text('name must be a plain name')")
        page.keyboard.press("Escape")
    assert not (tmp_path.parent / "elsewhere.csv").exists()
    page.click('[data-open="model"]')
    page.fill("#model-name", "my model")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"#outcome code:has-text(\"fewsight predict '{tmp_path}/my model.fewsight' OTHER_IMAGES\")")


def test_history_lists_and_undoes(taught: tuple[Program, Page]) -> None:
    program, page = taught
    visit(page, f"{program.home}/history")
    assert page.locator("tbody tr").count() > 18
    with loading_anew(page):
        page.click("main [data-action=undo]")
    assert page.locator("tr.undone").count() == 1
    assert len(program.labels()) == 17


def test_settings_change_names_keys_order_and_merge(taught: tuple[Program, Page]) -> None:
    program, page = taught
    visit(page, f"{program.home}/settings")
    rows = page.locator(".settings-row")
    names = rows.evaluate_all("all => all.map((row) => row.dataset.name)")
    rows.nth(0).locator(".name").fill("renamed")
    rows.nth(1).locator(".key").fill("q")
    rows.nth(2).locator("[data-move='-1']").click()
    page.fill("#key-guess", "e")
    page.fill("#who", "Berta")
    with loading_anew(page):
        page.click("#settings button[type=submit]")
    assert page.locator(".settings-row").evaluate_all("all => all.map((row) => row.dataset.name)") == [
        "renamed",
        names[2],
        names[1],
    ]
    visit(page, f"{program.home}/label")
    current(page)
    assert page.locator('[data-action="guess"] kbd').inner_text() == "E"
    page.keyboard.press("e")
    page.wait_for_selector("#guessed:visible")
    page.keyboard.press("q")
    settled(page)
    assert list(program.labels().values()).count(names[1]) >= 1
    visit(page, f"{program.home}/settings")
    page.locator(".settings-row .merge").nth(1).focus()
    page.locator(".settings-row .merge").nth(1).select_option(label="renamed")
    with loading_anew(page):
        page.click("#settings button[type=submit]")
    assert page.locator(".settings-row").count() == 2
    page.fill("#key-guess", "s")
    page.click("#settings button[type=submit]")
    page.wait_for_selector("#settings-problem:has-text('two have')")


def test_a_guess_is_hidden_until_asked_for_and_comes_in_words(taught: tuple[Program, Page]) -> None:
    _, page = taught
    page.wait_for_function(
        "async (image) => await (await fetch(`/api/guess?image=${image}`)).json() !== null", arg=current(page)
    )
    assert page.locator("#guessed").is_hidden()
    page.keyboard.press("g")
    page.wait_for_selector("#guessed:visible")
    assert page.inner_text("#guessed strong").split(" ")[0].rstrip(":") in ("Sure", "Leaning", "No")
    assert page.locator("#guessed details").get_attribute("open") is None
    page.keyboard.press("g")
    assert page.locator("#guessed").is_hidden()

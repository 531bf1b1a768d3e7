"""Pictures of every view, light and dark, wide and narrow, from the sample images: `docs/images/page`.

python -m experiments.labelling.screenshots --output docs/images/page --work WORK
"""

from __future__ import annotations

import argparse
import io
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page

from experiments.labelling.person import Person, browser_page, program, state_of
from fewsight.apps.web.site import VIEWS
from fewsight.apps.workbench.sample_photos import CHANNELS, write_sample_photos
from fewsight.images import sample_set

WIDE, NARROW = (1280, 800), (375, 667)
SCALE = 0.68
GAP = 14
PAPER = (128, 134, 140)
QUALITIES = (78, 66, 54, 42, 30)  # the first that keeps a file small
LARGEST = 100_000  # bytes
_SHORTEN = """([from, to]) => {
    const texts = document.createTreeWalker(document.getElementById("plan"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replace(from, to);
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("docs/images/page"))
    parser.add_argument("--work", type=Path, help="keep images and features here for the next run")
    parser.add_argument("--labels", type=int, default=90)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        take(options.work or Path(temporary), options.output, options.labels)


def take(work: Path, output: Path, n_labels: int) -> None:
    """All pictures, from one session."""
    output.mkdir(parents=True, exist_ok=True)
    folder = write_sample_photos(work / "photos")
    for old in folder.glob("fewsight.sqlite*"):
        old.unlink()
    with program(folder, work, "--channels", ",".join(CHANNELS), "--name", "Ann") as address, browser_page() as page:
        home = address.partition("/?")[0]
        page.goto(address)
        page.wait_for_selector("#sight img")
        sheet(page, output / "first.webp")
        person = Person(page, sample_truth())
        person.answer()
        while (state := state_of(page))["n_known"] < len(person.truth):
            page.wait_for_timeout(500)  # a person would answer a few images meanwhile
        for _ in range(n_labels - 1):
            person.answer()
        person.settle()
        while (state := state_of(page))["model"] != "learned" or state["n_behind"]:
            page.wait_for_timeout(500)
        page.wait_for_timeout(2_000)  # until there is an opinion of all images
        for view in VIEWS:
            visit(page, f"{home}/{view}")
            if view == "label":
                page.wait_for_selector("#sight img")
                page.keyboard.press("g")
                page.wait_for_selector("#guessed:visible")
            elif view == "grid":
                page.wait_for_selector(".tile")
            sheet(page, output / f"{view}.webp")
        visit(page, f"{home}/results")
        page.click("[data-open=sort]")
        page.keyboard.press("Enter")
        page.wait_for_selector("#apply:visible")
        page.evaluate(_SHORTEN, [str(work.absolute()), "…"])  # where this was run is nobody's business
        sheet(page, output / "sort.webp")
        print({name: state_of(page)[name] for name in ("n_labelled", "n_known", "accuracy", "advice", "model")})


def visit(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")


def sample_truth() -> dict[str, str]:
    """The category of each sample photograph, by the name that it is written under."""
    images = sample_set()
    order = np.random.default_rng(0).permutation(len(images))
    return {f"photo_{number:03d}.png": images.labels[place] for number, place in enumerate(order, start=1)}


def sheet(page: Page, path: Path) -> None:
    """One picture of four: wide and narrow, light above dark."""
    shots = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (WIDE, NARROW):
            page.set_viewport_size({"width": size[0], "height": size[1]})
            page.wait_for_timeout(250)
            shots[scheme, size] = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    height = round(SCALE * WIDE[1])
    widths = {WIDE: round(SCALE * WIDE[0]), NARROW: round(NARROW[0] * height / NARROW[1])}
    whole = Image.new("RGB", (sum(widths.values()) + 3 * GAP, 2 * height + 3 * GAP), PAPER)
    for row, scheme in enumerate(("light", "dark")):
        left = GAP
        for size in (WIDE, NARROW):
            small = shots[scheme, size].resize((widths[size], height), Image.Resampling.LANCZOS)
            whole.paste(small, (left, GAP + row * (height + GAP)))
            left += widths[size] + GAP
    keep_small(whole, path)
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def keep_small(picture: Image.Image, path: Path) -> None:
    for quality in QUALITIES:
        picture.save(path, quality=quality, method=6)
        if path.stat().st_size <= LARGEST:
            return


if __name__ == "__main__":
    main()

"""A person at the page: the program in a process of its own, a real browser, and answers by keys as the truth says."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

BROWSER = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_KEYS_SHOWN = """(keys) => {
    const shown = [...document.querySelectorAll("#categories .cat kbd")].map((each) => each.textContent);
    return String(shown) === String(keys);
}"""
_OTHER = "image => document.querySelector('#sight img')?.dataset.image !== image"


@contextlib.contextmanager
def program(folder: Path, work: Path, *options: str) -> Iterator[str]:
    """`fewsight label`, ended as a person ends it; its address."""
    environment = {**os.environ, "FEWSIGHT_CACHE": str(work / "cache"), "XDG_DATA_HOME": str(work / "data")}
    command = [sys.executable, "-m", "fewsight.apps.cli", "label", str(folder), "--no-browser", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


@contextlib.contextmanager
def browser_page(width: int = 1280, height: int = 800) -> Iterator[Page]:
    """An empty tab of the system's chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(BROWSER))
        yield browser.new_page(viewport={"width": width, "height": height})
        browser.close()


def state_of(page: Page) -> dict[str, Any]:
    """What the head of the page is made from."""
    found: dict[str, Any] = page.evaluate("fetch('/api/state').then((response) => response.json())")
    return found


@dataclass
class Person:
    """Answers what is shown. `truth` gives the category of each file by its name; the keys are read off the buttons."""

    page: Page
    truth: Mapping[str, str]
    known: dict[str, str] = field(default_factory=dict)  # category, its key; empty for one without

    def answer(self) -> bool:
        """One answer; False if nothing is asked any more."""
        page = self.page
        page.wait_for_selector("#sight img, #message a")
        image = page.get_attribute("#sight img", "data-image") if page.is_visible("#sight img") else None
        if image is None:
            return False
        name = self.truth[page.inner_text("#file")]
        if name not in self.known:
            self._name(name)
        elif self.known[name]:
            page.keyboard.press(self.known[name])
        else:
            page.keyboard.press("/")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
        page.wait_for_function(_OTHER, arg=image)
        return True

    def _name(self, name: str) -> None:
        page = self.page
        if not page.is_visible("#first-name"):
            page.keyboard.press("n")
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        self.settle()
        self.read_keys()

    def read_keys(self) -> None:
        """The keys of all categories, once the buttons show them."""
        found = self.page.evaluate("fetch('/api/categories').then((response) => response.json())")
        self.known = {each["name"]: each["key"] or "" for each in found}
        self.page.wait_for_function(_KEYS_SHOWN, arg=[key.upper() for key in self.known.values()])

    def settle(self) -> None:
        """Every answer is saved."""
        self.page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes('.outbox.'))")

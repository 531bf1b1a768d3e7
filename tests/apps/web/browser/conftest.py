"""A real browser, and the program as a person starts it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from page_browser import ARGUMENTS, CHROMIUM, PATIENCE, Log, Program


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's chromium, or a reason why there is none."""
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser without a past."""
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def log() -> Iterator[Log]:
    """Checked when the test ends."""
    kept = Log()
    yield kept
    kept.check()


@pytest.fixture
def open_page(context: BrowserContext, log: Log) -> Callable[[str], Page]:
    """Open an address in a new tab."""

    def opened(address: str) -> Page:
        page = context.new_page()
        log.watch(page)
        page.goto(address)
        return page

    return opened


@pytest.fixture
def start(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Program]]:
    """Start the program on a folder; what still runs at the end of a test is ended."""
    began: list[Program] = []
    environment = {
        **os.environ,
        "FEWSIGHT_CACHE": str(tmp_path_factory.getbasetemp() / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
    }

    def started(folder: Path, *options: str) -> Program:
        program = Program(folder, environment, options)
        program.start()
        began.append(program)
        return program

    yield started
    for program in began:
        if program.process is not None:
            program.kill()

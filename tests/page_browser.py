"""The labelling page as a person uses it: the program in a process of its own, a real browser, and keys."""

from __future__ import annotations

import contextlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

from fewsight.apps.workbench.verbs import Workbench

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
PATIENCE = 120_000  # milliseconds: no test is about the speed of a machine that does three other things


@dataclass
class Program:
    """`fewsight label` in a process of its own."""

    folder: Path
    environment: dict[str, str]
    options: tuple[str, ...] = ()
    process: subprocess.Popen[str] | None = None
    address: str = ""

    def start(self) -> str:
        command = [sys.executable, "-m", "fewsight.apps.cli", "label", str(self.folder), "--no-browser", *self.options]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.communicate()[1]
        return self.address

    @property
    def home(self) -> str:
        return self.address.partition("/?")[0]

    def end(self, how: signal.Signals = signal.SIGINT) -> tuple[str, str]:
        """What it said last on stdout and stderr."""
        assert self.process is not None
        self.process.send_signal(how)
        said = self.process.communicate(timeout=PATIENCE / 1000)
        self.process = None
        return said

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def labels(self) -> dict[str, str]:
        """What the project says now: image, name of its category."""
        with Workbench(self.folder, create=False) as bench:
            present = bench.present
            return {image: present.categories[key] for image, key in present.labels().items()}

    def acts(self, kind: str) -> int:
        """How many events of a kind were ever written."""
        with Workbench(self.folder, create=False) as bench:
            return sum(event.act.kind == kind for event in bench.present.events)


@dataclass
class Log:
    """What must not happen in a browser: errors, refused policies, requests to somebody else."""

    home: str = ""
    said: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("console", lambda line: self.said.append(line.text) if "Policy" in line.text else None)
        page.on("request", lambda request: self._request(request.url))
        page.on("dialog", lambda dialog: (self.said.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _request(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:", "about:", "blob:")):
            self.foreign.append(url)

    def check(self) -> None:
        assert self.said == []
        assert self.foreign == []


def ready(page: Page) -> None:
    """Keys and buttons of the view work."""
    page.wait_for_selector("html[data-ready]", state="attached")


def visit(page: Page, address: str) -> None:
    """Go to an address of the page, and wait until its keys and buttons work."""
    page.goto(address)
    ready(page)


@contextlib.contextmanager
def loading_anew(page: Page) -> Iterator[None]:
    """What is done inside loads the page again, or another one."""
    with page.expect_navigation():
        yield
    ready(page)


def all_read(page: Page, n: int) -> None:
    """All files of the folder were read, or tried."""
    page.wait_for_function(
        """async (n) => {
            const state = await (await fetch("/api/state")).json();
            return state.n_read + state.n_unreadable === n;
        }""",
        arg=n,
    )


def loaded_ahead(page: Page, n: int) -> None:
    """So many pictures are loaded, the one that is shown among them."""
    page.wait_for_function("n => Number(document.getElementById('sight').dataset.loaded) >= n", arg=n)


def current(page: Page) -> str:
    """The image that is shown, once there is one."""
    ready(page)
    page.wait_for_selector("#sight img")
    return str(page.get_attribute("#sight img", "data-image"))


def shows(page: Page, image: str) -> None:
    """This image is shown."""
    page.wait_for_function("image => document.querySelector('#sight img')?.dataset.image === image", arg=image)


def shows_another(page: Page, image: str) -> None:
    """Another image than this one is shown, or none is left."""
    page.wait_for_function("image => document.querySelector('#sight img')?.dataset.image !== image", arg=image)


def press(page: Page, key: str) -> str:
    """Press a key that answers; the image that was answered. Returns when another one is shown, or none is left."""
    image = current(page)
    page.keyboard.press(key)
    shows_another(page, image)
    return image


def settled(page: Page) -> None:
    """Every answer is on the disk."""
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes('.outbox.'))")


def name_it(page: Page, name: str) -> str:
    """Make a category for the image that is shown; that image."""
    image = current(page)
    if not page.is_visible("#first-name"):
        page.keyboard.press("n")
        page.wait_for_selector("#new-dialog[open]")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    shows_another(page, image)
    return image

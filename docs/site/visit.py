"""Visits the main pages of a built site in a browser: `python docs/site/visit.py build/docs [--pictures FOLDER]`.

Ends with 1 if axe-core finds a serious or critical violation on one of them, light or dark, if a page asks for anything outside
the site, or if one of its own files is missing. With --pictures it keeps a picture of each page. Needs chromium and the extra
`test`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGES = (
    "index",
    "tutorials/index",
    "tutorials/learn_in_python",
    "guide/index",
    "guide/how_it_decides",
    "labelling",
    "active",
    "unknown",
    "reference/index",
    "reference/generated/api",
    "reference/generated/command_line",
    "reference/generated/fewsight.GPClassifier",
    "reference/formats",
    "papers/index",
    "papers/kapoor2010",
    "reproduction",
    "project/index",
    "architecture",
    "project/changelog",
)
SERIOUS = ("serious", "critical")


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        """Nothing is told about each file."""


def main() -> int:
    """Visit every page in both schemes; the exit code."""
    options = _options()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Silent, directory=str(options.site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        found = list(violations(home, options.pictures))
    finally:
        server.shutdown()
    print(*found, sep="\n", end="\n" if found else "")
    print(f"visit: {len(PAGES)} pages, light and dark, {len(found)} violations.")
    return 1 if found else 0


def violations(home: str, pictures: Path | None) -> Iterator[str]:
    """A line for each: page, scheme, what is wrong and where."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.on("response", lambda answer, asked=asked: _note(answer, asked))
            for name in PAGES:
                asked.clear()
                page.goto(f"{home}/{name}.html", wait_until="load")
                yield from (f"{name}: asks for {url}" for url in asked if not url.startswith((home, "data:", "blob:")))
                for each in Axe().run(page).response["violations"]:
                    if each["impact"] in SERIOUS:
                        yield f"{name} ({scheme}): {each['id']}, {each['nodes'][0]['html'][:160]}"
                if pictures is not None:
                    pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=pictures / f"{name.replace('/', '_')}_{scheme}.png")
        browser.close()


def _note(answer: Any, asked: list[str]) -> None:
    if answer.status >= 400:
        asked.append(f"{answer.url.replace('http', 'missing', 1)} (status {answer.status})")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("--pictures", type=Path, help="where to keep a picture of each page")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Whether a built site asks anything of the outside when it is read: `python docs/site/offline.py build/docs`.

Links that a reader may follow are fine. What a browser fetches by itself (scripts, styles, fonts, pictures, frames) must lie
in the site: every such reference is looked at, in pages, in style sheets, and addresses in scripts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

OUTSIDE = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
FETCHED = {  # by tag: the attributes whose address is fetched without a click
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "input": ("src",),
    "track": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
}
NOT_FETCHED = {
    "canonical",
    "author",
    "license",
    "help",
    "index",
    "search",
    "next",
    "prev",
    "up",
}  # links that are only said
IN_STYLE = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)
# A script that fetches: an address beside a call or an attribute that fetches. Addresses of licences and namespaces are not.
IN_SCRIPT = re.compile(
    r"(?:fetch\(|import\(|importScripts\(|\.open\(\s*['\"]\w+['\"]\s*,|sendBeacon\(|\.src\s*=|"
    r"new (?:WebSocket|EventSource|Worker)\()"
    r"\s*[`'\"]((?:(?:https?|wss?):)?//[^`'\"]+)",
    re.IGNORECASE,
)


def outside_requests(folder: Path) -> list[str]:
    """One line for each reference of the site in a folder that would be fetched from elsewhere: file, then address."""
    readers = {".html": _of_page, ".svg": _of_page, ".css": _of_style, ".js": _of_script}
    found = []
    for path in sorted(folder.rglob("*")):
        if path.suffix in readers and path.is_file():
            addresses = readers[path.suffix](path.read_text(encoding="utf-8", errors="replace"))
            found += [f"{path.relative_to(folder)}: {address}" for address in addresses]
    return found


def _of_page(text: str) -> Iterator[str]:
    page = _Page()
    page.feed(text)
    page.close()
    yield from page.found


def _of_style(text: str) -> Iterator[str]:
    yield from IN_STYLE.findall(text)


def _of_script(text: str) -> Iterator[str]:
    yield from IN_SCRIPT.findall(text)


class _Page(HTMLParser):
    """Collects what a page fetches from outside, its own styles and scripts included."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        names = FETCHED.get(tag, ())
        if tag == "link" and not set(given.get("rel", "").lower().split()) <= NOT_FETCHED:
            names = ("href",)
        for name in names:
            self.found += [each.strip() for each in given.get(name, "").split(",") if OUTSIDE.match(each)]
        self.found += _of_style(given.get("style", ""))
        self._inside = tag if tag in ("style", "script") else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.found += _of_style(data)
        elif self._inside == "script":
            self.found += _of_script(data)


def main() -> None:
    folder = Path(sys.argv[1])
    found = outside_requests(folder)
    pages = len(list(folder.rglob("*.html")))
    if not pages:
        sys.exit(f"offline: there is no page in {folder}.")
    if found:
        sys.exit("\n".join(["offline: the site would fetch from outside:", *found]))
    print(f"{pages} pages, none of which fetches anything from outside.")


if __name__ == "__main__":
    main()

"""Where the page of a project runs, in a file that only its owner can read: run twice, the command opens the running page."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

import platformdirs

from fewsight.apps.web.guard import cookie_name
from fewsight.images.hashing import hash_of

ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class RunningPage:
    """A page that was started: its port, its token, and the project that it is about."""

    port: int
    token: str
    project: str  # the id inside the project file

    @property
    def address(self) -> str:
        """What to open; it lets in whoever has it."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def answers(self) -> bool:
        """Whether it still runs, and is this project's."""
        return self._said().get("project") == self.project

    def person(self) -> str | None:
        """Whose answers are given there; None if it does not run any more."""
        who = self._said().get("who")
        return who if isinstance(who, str) else None

    def _said(self) -> dict[str, object]:
        """What it says of itself; nothing if it does not answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        try:
            connection.request("GET", "/api/alive", headers={"Cookie": f"{cookie_name(self.port)}={self.token}"})
            response = connection.getresponse()
            said = json.loads(response.read(1000)) if response.status == 200 else None
            return said if isinstance(said, dict) else {}
        except (OSError, http.client.HTTPException, ValueError):
            return {}
        finally:
            connection.close()


def note_file(project_file: Path) -> Path:
    """Where the page of a project file is noted."""
    name = hash_of(os.fsencode(project_file.absolute()))
    return platformdirs.user_data_path("fewsight") / "pages" / f"{name}.json"


def write_note(project_file: Path, page: RunningPage) -> Path:
    """Note a page that now runs; nobody else may read it, not even for a moment."""
    path = note_file(project_file)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(asdict(page), stream)
    os.replace(temporary, path)
    return path


def running_page(project_file: Path) -> RunningPage | None:
    """The page of a project that runs now; None if there is none, or what was noted does not answer any more."""
    try:
        found = json.loads(note_file(project_file).read_text("utf-8"))
        page = RunningPage(int(found["port"]), str(found["token"]), str(found["project"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return page if page.answers() else None


def remove_note(project_file: Path, page: RunningPage) -> None:
    """The page has ended; the note of another one that was begun since stays."""
    path = note_file(project_file)
    with contextlib.suppress(OSError, ValueError):
        if json.loads(path.read_text("utf-8")).get("token") == page.token:
            path.unlink()

"""A page that runs is found again by its owner, and by nobody else."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from fewsight.apps.web.running_page import RunningPage, note_file, remove_note, running_page, write_note
from fewsight.apps.web.server import PageServer


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "fewsight.sqlite"


def test_a_note_can_be_read_by_its_owner_alone(own_data: Path) -> None:
    path = write_note(own_data, RunningPage(8000, "secret", "id"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_page_that_answers_is_found(server: PageServer, own_data: Path) -> None:
    write_note(own_data, server.page)
    assert running_page(own_data) == server.page


@pytest.mark.parametrize("change", [{"token": "old"}, {"project": "another"}, {"port": 1}])
def test_a_page_that_does_not_answer_is_none(server: PageServer, own_data: Path, change: dict[str, object]) -> None:
    page = {**vars(server.page), **change}
    write_note(own_data, RunningPage(**page))
    assert running_page(own_data) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"port": "x", "token": 1, "project": 2}'])
def test_a_damaged_note_is_none(own_data: Path, text: str) -> None:
    note_file(own_data).parent.mkdir(parents=True)
    note_file(own_data).write_text(text)
    assert running_page(own_data) is None


def test_a_page_removes_its_own_note_and_no_other(own_data: Path) -> None:
    first, second = RunningPage(8000, "one", "id"), RunningPage(8001, "two", "id")
    write_note(own_data, first)
    path = write_note(own_data, second)
    remove_note(own_data, first)
    assert json.loads(path.read_text())["token"] == "two"
    remove_note(own_data, second)
    assert not path.exists()

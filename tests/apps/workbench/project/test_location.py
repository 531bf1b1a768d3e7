"""Where the project file of a folder lies: in it, where the user says, or in the user's data folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.project import ProjectFile, locate, location


def test_the_project_lies_in_the_folder_or_where_the_user_says(tmp_path: Path) -> None:
    assert locate(tmp_path) == (tmp_path / "fewsight.sqlite", None)
    assert locate(tmp_path, tmp_path / "my.sqlite") == (tmp_path / "my.sqlite", None)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    closed = Path("/proc") if Path("/proc/self").exists() else tmp_path
    monkeypatch.setattr(location, "_can_write", lambda folder: folder != closed)
    place = locate(closed)
    assert home in place.path.parents
    assert place.remark == f"{closed} cannot be written to; the project is kept in {place.path}."
    ProjectFile(place.path).close()
    monkeypatch.setattr(location, "_can_write", lambda folder: True)
    assert locate(closed).path == place.path  # what was begun there goes on there


def test_whether_a_folder_can_be_written_to_is_tried(tmp_path: Path) -> None:
    assert location._can_write(tmp_path)
    assert not location._can_write(tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="must be a folder of images, got: a file"):
        locate(tmp_path / "file")
    with pytest.raises(InvalidInput, match="must be a folder of images, got: no such file"):
        locate(tmp_path / "none")

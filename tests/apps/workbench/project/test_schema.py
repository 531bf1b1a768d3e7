"""Older projects are brought up to date, whole or not at all; a project of each version is kept here and must open."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from fewsight._base.errors import ProjectError
from fewsight.apps.workbench.project import Present, ProjectFile, schema
from fewsight.apps.workbench.project.events import KINDS, Skip

FIXTURES = Path(__file__).parent / "versions"
IMAGE = "0123456789abcdef0123456789abcdef01234567"
NEXT = schema.VERSION + 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    place = tmp_path / "fewsight.sqlite"
    with ProjectFile(place) as project:
        project.append("ann", "s", [Skip(IMAGE)])
    return place


def test_an_older_file_is_copied_and_then_brought_up_to_date(path: Path) -> None:
    before = path.read_bytes()
    migrations = {schema.VERSION: "ALTER TABLE images ADD COLUMN colour TEXT;\nCREATE TABLE more (a);"}
    with ProjectFile(path, migrations=migrations, version=NEXT) as project:
        assert len(project.events()) == 1
        assert project.read("SELECT count(*) FROM more") == [(0,)]
    copy = path.with_name(f"fewsight.sqlite.version-{schema.VERSION}")
    with ProjectFile(copy) as kept:
        assert len(kept.events()) == 1
    assert copy.stat().st_size == len(before)
    with pytest.raises(ProjectError, match="newer version"):
        ProjectFile(path)


def test_a_migration_that_fails_changes_nothing(path: Path) -> None:
    migrations = {schema.VERSION: "CREATE TABLE more (a);\nCREATE TABLE events (twice);"}
    with pytest.raises(ProjectError, match="could not be opened"):
        ProjectFile(path, migrations=migrations, version=NEXT)
    with ProjectFile(path) as project:
        assert schema.parts_of(project._open()) == schema.PARTS
        assert len(project.events()) == 1


def test_a_second_copy_does_not_replace_the_first(path: Path) -> None:
    first = path.with_name(f"fewsight.sqlite.version-{schema.VERSION}")
    first.write_text("precious")
    ProjectFile(path, migrations={schema.VERSION: "CREATE TABLE more (a);"}, version=NEXT).close()
    assert first.read_text() == "precious"
    assert path.with_name(f"{first.name}.2").exists()


def test_the_mark_stands_in_the_file(path: Path) -> None:
    assert path.read_bytes()[68:72] == b"fews"
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


@pytest.mark.parametrize("fixture", sorted(FIXTURES.glob("*.sqlite")), ids=lambda path: path.stem)
def test_a_project_of_every_version_opens(fixture: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(fixture, tmp_path / "fewsight.sqlite"))
    with ProjectFile(path) as project:
        project.check()
        events = [event for _, event in project.events()]
        settings = project.setting("channels"), project.setting("seed")
        files = project.read("SELECT path, hash, unreadable, vanished_at FROM files ORDER BY path")
    present = Present(events)
    assert {event.act.kind for event in events} == set(KINDS)
    assert sorted(present.categories.values()) == ["barn owl", "tit"]
    named = {image: present.categories[category] for image, category in present.labels().items()}
    assert named == {f"{1:040x}": "barn owl", f"{2:040x}": "tit", f"{3:040x}": "barn owl"}
    assert {image for image, standing in present.standings().items() if standing.choice is None} == {f"{6:040x}"}
    assert settings == (["spatial_pmk", "colour"], 7)
    assert files == [
        (b"caf\xe9.jpg", f"{2:040x}", None, None),
        (b"empty.jpg", None, "empty file", None),
        (b"gone.jpg", f"{3:040x}", None, 5),
        (b"owl.jpg", f"{1:040x}", None, None),
    ]


def test_there_is_a_project_of_this_version() -> None:
    assert (FIXTURES / f"version-{schema.VERSION}.sqlite").exists()

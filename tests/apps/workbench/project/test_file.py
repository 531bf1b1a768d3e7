"""The project file keeps what it acknowledged, and says in one sentence what it cannot do."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from fewsight._base.errors import ProjectError
from fewsight.apps.workbench.project import Asked, ProjectFile, file, locate
from fewsight.apps.workbench.project.events import Label, NewCategory, NoneOfThese, Skip
from fewsight.apps.workbench.project.file import Draft, read_copy

IMAGE = "0123456789abcdef0123456789abcdef01234567"


def test_what_is_written_is_there_when_the_file_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "fewsight.sqlite"
    asked = Asked("check", 40, 3, {"model": 2, "likeliest": [["owl", 0.5]]})
    with ProjectFile(path) as project:
        written = project.append("ann", "s", [NewCategory("owl"), Draft(Label(IMAGE, "x"), asked)], "r").events
        project.set("channels", ["colour"])
    with ProjectFile(path, create=False) as project:
        assert [event for _, event in project.events()] == list(written)
        assert [event for _, event in project.events(after=1)] == list(written[1:])
        assert project.setting("channels") == ["colour"]
        assert project.setting("missing", 3) == 3
        project.check()
    assert os.listdir(tmp_path) == ["fewsight.sqlite"]  # no journal is left behind


def test_a_request_that_is_sent_twice_counts_once(project: ProjectFile) -> None:
    first = project.append("ann", "s", [Skip(IMAGE)], "r1")
    again = project.append("ann", "s", [Skip(IMAGE)], "r1")
    assert (first.repeated, again.repeated) == (False, True)
    assert again.events == first.events
    batch = project.append("ann", "s", [Skip(IMAGE), NoneOfThese(IMAGE)], "r2")
    assert project.append("ann", "s", [Skip(IMAGE), NoneOfThese(IMAGE)], "r2").events == batch.events
    assert len(project.events()) == 3


def test_time_goes_forward_whatever_the_clock_does(project: ProjectFile, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([5_000_000_000_000_000_000, 1_000, 2_000])
    monkeypatch.setattr(file, "time", SimpleNamespace(time_ns=lambda: next(clock)))  # the clock of this module alone
    for _ in range(3):
        project.append("ann", "s", [Skip(IMAGE)])
    times = [event.at for _, event in project.events()]
    assert times == sorted(set(times))


@pytest.mark.parametrize("sql", ["UPDATE events SET who = 'eve'", "DELETE FROM events"])
def test_events_are_never_changed(project: ProjectFile, sql: str) -> None:
    project.append("ann", "s", [Skip(IMAGE)])
    with pytest.raises(ProjectError, match="events are never"), project.writing() as connection:
        connection.execute(sql)
    assert [event.who for _, event in project.events()] == ["ann"]


def test_an_error_inside_a_transaction_leaves_nothing(project: ProjectFile) -> None:
    def fail() -> None:
        with project.writing() as connection:
            connection.execute("INSERT INTO settings VALUES ('a', '1')")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert project.setting("a") is None


# Killed, together, full.


@pytest.mark.slow
def test_every_acknowledged_answer_survives_sigkill(tmp_path: Path, writer) -> None:
    path, rng = tmp_path / "fewsight.sqlite", random.Random(0)
    for run in range(int(os.environ.get("FEWSIGHT_KILLS", "10"))):
        process = writer(path, f"run {run}", 10_000)
        acknowledged = int(process.stdout.readline())
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        rest = process.communicate()[0].splitlines()
        acknowledged = int(rest[-1]) if rest and rest[-1] else acknowledged
        with ProjectFile(path, create=False) as project:
            project.check()
            kept = [event.request for _, event in project.events() if event.who == f"run {run}"]
        assert kept[: acknowledged + 1] == [f"run {run}-{number}" for number in range(acknowledged + 1)]
        assert len(kept) <= acknowledged + 3  # written, but killed before it could say so


@pytest.mark.slow
def test_killed_while_the_file_is_made(tmp_path: Path, writer) -> None:
    rng = random.Random(1)
    for run in range(5):
        path = tmp_path / f"{run}.sqlite"
        process = writer(path, "ann", 1)
        while not path.exists() and process.poll() is None:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.02))
        process.kill()
        process.wait()
        with ProjectFile(path) as project:
            project.append("bob", "s", [Skip(IMAGE)])
            project.check()


@pytest.mark.slow
def test_two_processes_give_500_answers_each(tmp_path: Path, writer) -> None:
    path = tmp_path / "fewsight.sqlite"
    both = [writer(path, who, 500) for who in ("ann", "bob")]
    said = [process.communicate(timeout=600) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    with ProjectFile(path) as project:
        project.check()
        requests = {event.request for _, event in project.events()}
    assert requests == {f"{who}-{number}" for who in ("ann", "bob") for number in range(500)}


def test_a_full_disk_refuses_the_answer_and_takes_it_when_there_is_room(project: ProjectFile) -> None:
    project.append("ann", "s", [Skip(IMAGE)], "r0")
    (pages,) = project.read("PRAGMA page_count")[0]
    project.read(f"PRAGMA max_page_count = {pages}")
    given: list[str] = ["r0"]

    def answer_for_ever() -> None:
        while True:
            project.append("ann", "s", [Skip(IMAGE)], f"r{len(given)}")
            given.append(f"r{len(given)}")

    with pytest.raises(
        ProjectError, match="no room is left on the disk, so nothing was saved; make room and try again"
    ):
        answer_for_ever()
    assert len(project.events()) == len(given)
    project.read("PRAGMA max_page_count = 100000")
    assert not project.append("ann", "s", [Skip(IMAGE)], "next").repeated
    assert [event.request for _, event in project.events()] == [*given, "next"]
    project.check()


NO_MORE_ROOM = """
import os, resource, sys
from fewsight._base.errors import ProjectError
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.events import Skip
with ProjectFile(sys.argv[1]) as project:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(sys.argv[1]) + 20_000, most))
    given = 0
    try:
        while True:
            project.append("ann", "s", [Skip("0" * 40)], f"r{given}")
            given += 1
    except ProjectError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    project.append("ann", "s", [Skip("0" * 40)], f"r{given}")
    project.check()
    print(given > 10, [event.request for _, event in project.events()] == [f"r{n}" for n in range(given + 1)])
"""


@pytest.mark.skipif(os.name != "posix", reason="the system has no limit on the size of files")
def test_a_system_that_lets_no_file_grow_refuses_the_answer_and_takes_it_later(tmp_path: Path) -> None:
    path = tmp_path / "p.sqlite"
    command = [sys.executable, "-c", NO_MORE_ROOM, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [f"{path}: the disk refused to work (input/output error); nothing was saved.", "True True"]


def test_another_program_that_holds_the_file_locked(project: ProjectFile, monkeypatch: pytest.MonkeyPatch) -> None:
    project.read("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(project.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(
        ProjectError, match="another program holds the project file locked; nothing was saved, try again"
    ):
        project.append("ann", "s", [Skip(IMAGE)], "r")
    other.execute("ROLLBACK")
    other.close()
    assert not project.append("ann", "s", [Skip(IMAGE)], "r").repeated


def test_a_file_that_vanished_or_was_replaced_takes_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "fewsight.sqlite"
    with ProjectFile(path) as project:
        path.rename(tmp_path / "away")
        with pytest.raises(ProjectError, match="the project file has vanished, so nothing was saved"):
            project.append("ann", "s", [Skip(IMAGE)], "r")
        ProjectFile(path).close()
        with pytest.raises(ProjectError, match="another project took this file's place; nothing was saved"):
            project.append("ann", "s", [Skip(IMAGE)], "r")
    with ProjectFile(path) as other:
        assert other.events() == []


def test_a_drive_that_was_away_and_is_back_takes_answers_again(tmp_path: Path) -> None:
    path = tmp_path / "fewsight.sqlite"
    with ProjectFile(path) as project:
        project.append("ann", "s", [Skip(IMAGE)], "r1")
        copy = path.read_bytes()
        path.unlink()
        path.with_name("other").write_bytes(b"")  # so that the same file number is not used again
        path.write_bytes(copy)
        project.append("ann", "s", [Skip(IMAGE)], "r2")
    with ProjectFile(path) as project:
        assert [event.request for _, event in project.events()] == ["r1", "r2"]


# What cannot be opened.


def damaged(path: Path) -> None:
    with ProjectFile(path) as project:
        for number in range(200):
            project.append("ann", "s", [Skip(f"{number:040x}")])
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 4 * 4096] = os.urandom(4096)
    path.write_bytes(content)


def other_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE addresses (name)")


def newer(path: Path) -> None:
    ProjectFile(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")


def with_a_foreign_trigger(path: Path) -> None:
    ProjectFile(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TRIGGER more AFTER INSERT ON events BEGIN DELETE FROM settings; END")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_bytes(b"no database " * 100), "not a project of fewsight"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(2000)), "not a project of fewsight|damaged"),
        (other_database, "the database of another program, not a project of fewsight"),
        (newer, "made by a newer version of fewsight .*update fewsight to open it"),
        (damaged, "the project file is damaged and was left as it is"),
        (with_a_foreign_trigger, "the project file is damaged and was left as it is"),
        (lambda path: path.mkdir(), "a folder; the name of a project file is needed"),
    ],
)
def test_a_file_that_cannot_be_opened_is_left_as_it_is(tmp_path: Path, make, sentence: str) -> None:
    path = tmp_path / "fewsight.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ProjectError, match=sentence) as caught:
        ProjectFile(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)
    assert before is None or path.read_bytes() == before


def test_a_project_that_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match="its folder is missing or may not be used"):
        ProjectFile(tmp_path / "none.sqlite", create=False)


def test_a_closed_project_says_so(project: ProjectFile) -> None:
    project.close()
    with pytest.raises(ProjectError, match="the project was closed"):
        project.events()


def test_a_file_that_may_only_be_read_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fewsight.sqlite"
    with ProjectFile(path) as project:
        project.append("ann", "s", [Skip(IMAGE)])
    monkeypatch.setattr(file.os, "access", lambda *_: False)  # root may write whatever the permissions say
    with ProjectFile(path) as project:
        assert len(project.events()) == 1
        with pytest.raises(ProjectError, match="may not be written to, so nothing was saved"):
            project.append("ann", "s", [Skip(IMAGE)])


def test_names_with_odd_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a %20 #?\n\udce9"
    folder.mkdir()
    with ProjectFile(locate(folder).path) as project:
        project.append("ann", "s", [Skip(IMAGE)])
    with ProjectFile(folder / "fewsight.sqlite", create=False) as project:
        assert len(project.events()) == 1
    assert len(read_copy(folder / "fewsight.sqlite")) == 1


# Where it lies.

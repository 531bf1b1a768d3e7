"""A scan says what changed, and labels go where the content goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.project.catalogue import (
    NEVER,
    UNSETTLED_NS,
    Reading,
    Stamp,
    absolute_path,
    captures,
    in_folder,
    known_files,
    record,
)
from fewsight.apps.workbench.scan import Scan, scan
from fewsight.images.capture import Capture
from fewsight.images.hashing import hash_of

LONG_AGO = 1_600_000_000  # seconds: settled


def put(folder: Path, name: str, content: bytes, at: int = LONG_AGO) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))


def read_all(project: ProjectFile, folder: Path) -> None:
    """As the image workers do."""
    readings = []
    for path, file in known_files(project).items():
        if file.hash is None and file.vanished_at is None:
            content = Path(absolute_path(folder, path)).read_bytes()
            readings.append(Reading(path, file.stamp, hash_of(content), None, 4, 3, Capture(5, "camera"), 2 * 10**18))
    record(project, readings)


def hashes(project: ProjectFile) -> dict[bytes, str | None]:
    return {path: file.hash for path, file in known_files(project).items() if file.vanished_at is None}


def test_new_files_are_found_and_not_read(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    put(folder, "deep/er/b.png", b"two")
    put(folder, "notes.txt", b"three")
    put(folder, ".hidden.jpg", b"four")
    put(folder, "looks like one", b"\xff\xd8\xff and more")
    found = scan(project, folder, read=lambda path: pytest.fail("nothing is known yet, so nothing is read"))
    assert sorted(found.new) == [b"a.jpg", b"deep/er/b.png", b"looks like one"]
    assert found.n_files == 3
    assert hashes(project) == dict.fromkeys(found.new)
    assert scan(project, folder) == Scan(3)


def test_unchanged_files_are_not_read_again(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    assert captures(project) == {hash_of(b"one"): Capture(5, "camera")}
    assert scan(project, folder, read=lambda path: pytest.fail("it has not changed")) == Scan(1)


def test_a_renamed_file_keeps_its_content_without_being_read(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    (folder / "new").mkdir()
    (folder / "a.jpg").rename(folder / "new" / "b.jpg")
    found = scan(project, folder, read=lambda path: pytest.fail("its number says that it is the same"))
    assert found == Scan(1, moved=[(b"a.jpg", b"new/b.jpg")])
    assert hashes(project) == {b"new/b.jpg": hash_of(b"one")}
    assert set(known_files(project)) == {b"new/b.jpg"}


def test_a_file_moved_through_another_disk_is_known_by_its_content(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    put(folder, "kept.jpg", b"six")
    (folder / "a.jpg").unlink()
    put(folder, "b.jpg", b"one", LONG_AGO + 50)
    found = scan(project, folder)
    assert found.moved == [(b"a.jpg", b"b.jpg")]
    assert found.new == [b"kept.jpg"]
    assert hashes(project)[b"b.jpg"] == hash_of(b"one")


def test_a_copy_has_the_content_of_its_original(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    put(folder, "b.jpg", b"one")
    os.link(folder / "a.jpg", folder / "c.jpg")
    found = scan(project, folder)
    assert sorted(found.copies) == [(b"a.jpg", b"b.jpg"), (b"a.jpg", b"c.jpg")]
    assert set(hashes(project).values()) == {hash_of(b"one")}


def test_other_content_under_an_old_name_is_said_and_inherits_nothing(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    put(folder, "a.jpg", b"two")
    os.utime(folder / "a.jpg", (LONG_AGO + 1, LONG_AGO + 1))
    assert scan(project, folder) == Scan(1, replaced=[b"a.jpg"])
    assert hashes(project) == {b"a.jpg": hash_of(b"two")}


def test_a_file_that_took_the_place_of_another(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    put(folder, "b.jpg", b"two")
    scan(project, folder)
    read_all(project, folder)
    (folder / "a.jpg").replace(folder / "b.jpg")
    assert scan(project, folder) == Scan(1, replaced=[b"b.jpg"], moved=[(b"a.jpg", b"b.jpg")])
    assert hashes(project) == {b"b.jpg": hash_of(b"one")}


def test_a_file_that_was_only_touched_is_the_same(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    read_all(project, folder)
    os.utime(folder / "a.jpg", (LONG_AGO + 9, LONG_AGO + 9))
    assert scan(project, folder) == Scan(1)
    assert scan(project, folder, read=lambda path: pytest.fail("it was looked at already")) == Scan(1)


def test_files_that_vanish_and_come_back(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    put(folder, "never read.jpg", b"other")
    scan(project, folder)
    file = known_files(project)[b"a.jpg"]
    record(project, [Reading(b"a.jpg", file.stamp, hash_of(b"one"), read_at_ns=2 * 10**18)])
    (folder / "a.jpg").rename(folder.parent / "away.jpg")
    (folder / "never read.jpg").unlink()
    assert sorted(scan(project, folder).vanished) == [b"a.jpg", b"never read.jpg"]
    assert scan(project, folder) == Scan(0)  # said once
    assert set(known_files(project)) == {b"a.jpg"}
    (folder.parent / "away.jpg").rename(folder / "a.jpg")
    assert scan(project, folder) == Scan(1, returned=[b"a.jpg"])
    assert hashes(project) == {b"a.jpg": hash_of(b"one")}


def test_a_file_that_was_fresh_when_it_was_read_is_read_again(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    stamp = known_files(project)[b"a.jpg"].stamp
    record(project, [Reading(b"a.jpg", stamp, hash_of(b"one"), read_at_ns=stamp.modified_ns + UNSETTLED_NS)])
    (folder / "a.jpg").write_bytes(b"two")  # within the same tick of the clock, with the same size
    os.utime(folder / "a.jpg", (LONG_AGO, LONG_AGO))
    assert scan(project, folder) == Scan(1, replaced=[b"a.jpg"])
    assert known_files(project)[b"a.jpg"].stamp.modified_ns != NEVER


def test_what_was_read_of_a_file_that_has_changed_since_is_not_kept(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    scan(project, folder)
    record(project, [Reading(b"a.jpg", Stamp(9, 9, 9), hash_of(b"old"), read_at_ns=2 * 10**18)])
    assert hashes(project) == {b"a.jpg": None}


def test_broken_files_are_listed_with_the_reason(project: ProjectFile, folder: Path) -> None:
    put(folder, "empty.jpg", b"")
    (folder / "nowhere.jpg").symlink_to(folder / "missing")
    os.mkfifo(folder / "pipe.png")
    reasons = {
        b"empty.jpg": "empty file",
        b"nowhere.jpg": "a link to a file that is missing",
        b"pipe.png": "a pipe, not a file",
    }
    assert scan(project, folder).broken == reasons
    assert scan(project, folder).broken == reasons
    put(folder, "empty.jpg", b"mended", LONG_AGO + 1)
    found = scan(project, folder)
    assert found.changed == [b"empty.jpg"]
    assert b"empty.jpg" not in found.broken


def test_links_are_followed_once(project: ProjectFile, folder: Path) -> None:
    put(folder, "a/one.jpg", b"one")
    (folder / "a" / "circle").symlink_to(folder)
    put(folder.parent, "elsewhere/two.jpg", b"two")
    (folder / "b").symlink_to(folder.parent / "elsewhere")
    (folder / "linked.jpg").symlink_to(folder / "a" / "one.jpg")
    assert sorted(scan(project, folder).new) == [b"a/one.jpg", b"b/two.jpg", b"linked.jpg"]


def test_what_is_left_out(project: ProjectFile, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    put(folder, "sorted/owl/a.jpg", b"one")
    put(folder, "own.jpg", b"mine")
    assert scan(project, folder, [folder / "sorted", folder / "own.jpg", folder / "none"]).new == [b"a.jpg"]


names = st.binary(min_size=1, max_size=20).map(
    lambda raw: raw.replace(b"\0", b"_").replace(b"/", b"_").replace(b".", b"_")
)


@settings(max_examples=30, deadline=None)
@given(found=st.sets(names, max_size=5))
def test_any_name_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, found: set[bytes]) -> None:
    folder = tmp_path_factory.mktemp("names")
    for name in found:
        put(folder, os.fsdecode(name) + ".jpg", name)
    with ProjectFile(folder / "fewsight.sqlite") as project:
        assert set(scan(project, folder).new) == {name + b".jpg" for name in found}
        read_all(project, folder)
        assert hashes(project) == {name + b".jpg": hash_of(name) for name in found}
        assert scan(project, folder).new == []


def test_a_folder_that_vanished_leaves_the_project_as_it_was(tmp_path: Path, folder: Path) -> None:
    put(folder, "a.jpg", b"one")
    with ProjectFile(tmp_path / "elsewhere.sqlite") as project:
        scan(project, folder)
        read_all(project, folder)
        folder.rename(tmp_path / "away")
        with pytest.raises(InvalidInput, match="must be a folder of images, got: no such file"):
            scan(project, folder)
        folder.write_text("became a file")
        with pytest.raises(InvalidInput, match="must be a folder of images, got: a file"):
            scan(project, folder)
        assert hashes(project) == {b"a.jpg": hash_of(b"one")}


def test_paths_inside_the_folder(folder: Path) -> None:
    assert in_folder(folder, folder / "a" / "b.jpg") == b"a/b.jpg"
    assert in_folder(folder, folder.parent / "b.jpg") is None
    assert in_folder(folder, folder / "..hidden.jpg") == b"..hidden.jpg"

"""What lies in the folder and what others write is taken in beside labelling; time is told by a clock that a test turns."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.apps.workbench.digit_project import CHANNELS, known_project

from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.folder_watch import SCAN_SECONDS, FolderWatch
from fewsight.apps.workbench.project.catalogue import Reading, Stamp
from fewsight.apps.workbench.project.events import NewCategory
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images import FeatureCache
from fewsight.images.hashing import hash_of


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Watched:
    """A folder of three images that were read, and its watch, which looks when it is told to."""

    def __init__(self, folder: Path, cache: Path) -> None:
        known_project(folder, 3)
        self.folder, self.clock, self.n_told, self.notes = folder, Clock(), 0, []
        self.bench = Workbench(folder, who="ann")
        kept = FeatureCache(cache)
        supply = FeatureSupply(self.bench.file, kept, lambda: None, channels=CHANNELS, seed=0)
        self.watch = FolderWatch(
            self.bench, kept, self.tell, supply=supply, n_workers=0, notes=self.taken_notes, clock=self.clock
        )

    def tell(self) -> None:
        self.n_told += 1

    def taken_notes(self) -> list[NewCategory]:
        notes, self.notes = self.notes, []
        return notes

    def add(self, name: str) -> None:
        (self.folder / name).write_bytes(b"\xff\xd8\xff" + name.encode())


@pytest.fixture
def watched(folder: Path, tmp_path: Path) -> Iterator[Watched]:
    made = Watched(folder, tmp_path / "cache")
    yield made
    made.watch.close()
    made.bench.close()


def test_new_photographs_are_found_every_minute(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    assert (watch.n_scans, len(watch.stock.files)) == (1, 3)
    watched.add("new.jpg")
    watched.clock.seconds += SCAN_SECONDS - 1
    watch.look()
    assert (watch.n_scans, len(watch.stock.files)) == (1, 3)
    told = watched.n_told
    watched.clock.seconds += 1
    watch.look()
    assert (watch.n_scans, len(watch.stock.files), watch.stock.n_unread) == (2, 4, 1)
    assert watched.n_told > told


def test_and_on_demand(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    watched.add("new.jpg")
    watch.scan_soon()
    assert not watch.is_idle
    watch.look()
    assert (watch.n_scans, len(watch.stock.files)) == (2, 4)
    watched.clock.seconds += SCAN_SECONDS - 1  # the minute begins anew
    watch.look()
    assert watch.n_scans == 2


def test_a_scan_leaves_what_was_known_and_what_is_asked_as_it_was(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    before = list(watch.stock.in_random_order())
    watched.add("new.jpg")
    watch.scan_soon()
    watch.look()
    assert list(watch.stock.in_random_order()) == before  # an image joins when it was read


def test_a_folder_that_is_away_for_a_while(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    shutil.move(watched.folder, watched.folder.with_name("away"))
    watch.scan_soon()
    watch.look()
    assert any("photos" in remark for remark in watch.remarks())
    assert len(watch.stock.files) == 3
    shutil.move(watched.folder.with_name("away"), watched.folder)
    watched.clock.seconds += SCAN_SECONDS
    watch.look()
    assert watch.remarks() == []
    assert (len(watch.stock.files), watch.stock.vanished) == (3, set())


def test_other_content_under_an_old_name_is_said(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    (watched.folder / "0001.png").write_bytes(b"another image")
    watch.scan_soon()
    watch.look()
    assert watch.remarks() == ["The content of this file has changed, so it has no label now: 0001.png."]
    watched.clock.seconds += SCAN_SECONDS
    watch.look()
    assert len(watch.remarks()) == 1  # it stays until something else is to be said


def test_what_another_program_wrote_and_what_waits_to_be_written(watched: Watched) -> None:
    watch = watched.watch
    watch.look()
    with Workbench(watched.folder, who="bob") as other:
        other.new_category("owl")
    watched.notes = [NewCategory("tit")]
    watch.look()
    with watched.bench.reading() as present:
        assert sorted(present.categories.values()) == ["owl", "tit"]
    assert watched.notes == []


def test_readings_that_find_no_room_are_said_and_the_watch_goes_on(watched: Watched) -> None:
    watch, file = watched.watch, watched.bench.file
    watch.look()
    pages = file.read("PRAGMA page_count")[0][0]
    file.read(f"PRAGMA max_page_count = {pages}")
    many = [Reading(b"%d.png" % n, Stamp(1, 1, n + 1), hash_of(b"%d" % n), None, 4, 3) for n in range(2000)]
    for reading in many:
        watch._on_reading(reading)
    watch._keep(many)
    assert any("no room is left on the disk" in remark for remark in watch.remarks())
    assert watch._n_unkept == 0  # nobody waits for them
    file.read("PRAGMA max_page_count = 1000000")
    watch.look()
    assert watch.remarks() == []

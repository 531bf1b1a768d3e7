"""Sorting makes what its plan says and nothing else; undo takes exactly that back; a killed run is no harm."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench import sort, sorted_file
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.sort import (
    WAYS,
    Sortable,
    SortPlan,
    apply_plan,
    last_sorting,
    plan_sorting,
    targets_left_out,
    undo_sorting,
)
from fewsight.apps.workbench.target_names import FolderNames, TakenNames, safe_name
from fewsight.images.hashing import hash_of

Files = dict[str, bytes]


def put(folder: Path, name: str, content: bytes) -> Sortable:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Sortable(os.fsencode(name), hash_of(content), "owl")


def files_in(folder: Path) -> Files:
    """Every file by its path, without the project's own."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if not name.startswith("fewsight.sqlite"):
                found[os.path.relpath(os.path.join(place, name), folder)] = Path(place, name).read_bytes()
    return found


def sort_all(project: ProjectFile, folder: Path, items: list[Sortable], target: Path, way: str = "copy") -> SortPlan:
    plan = plan_sorting(project, folder, items, target, way)
    assert apply_plan(project, folder, plan).left == []
    return plan


def with_category(item: Sortable, category: str | None, confidence: float = 1.0, unknown: bool = False) -> Sortable:
    return Sortable(item.path, item.hash, category, confidence, unknown)


def test_one_folder_for_each_category_and_for_the_unsure_and_unknown(project: ProjectFile, folder: Path) -> None:
    items = [
        put(folder, "a.jpg", b"a"),
        with_category(put(folder, "deep/b.jpg", b"b"), "barn owl", 0.9),
        with_category(put(folder, "c.jpg", b"c"), "tit", 0.2),
        with_category(put(folder, "d.jpg", b"d"), None),
        with_category(put(folder, "e.jpg", b"e"), "tit", 0.99, unknown=True),
    ]
    before, target = files_in(folder), folder.parent / "sorted"
    plan = plan_sorting(project, folder, items, target)
    assert plan.counts == {"_unknown": 1, "_unsure": 2, "barn owl": 1, "owl": 1}
    assert not target.exists()  # a plan touches nothing
    outcome = apply_plan(project, folder, plan)
    assert (outcome.n_done, outcome.left) == (5, [])
    assert files_in(target) == {
        "owl/a.jpg": b"a",
        "barn owl/b.jpg": b"b",
        "_unsure/c.jpg": b"c",
        "_unsure/d.jpg": b"d",
        "_unknown/e.jpg": b"e",
    }
    assert files_in(folder) == before


@pytest.mark.parametrize("way", WAYS)
def test_undo_takes_back_exactly_what_was_made(project: ProjectFile, folder: Path, way: str) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b/a.jpg", b"b")], folder.parent / "sorted"
    before = files_in(folder)
    (target / "mine").mkdir(parents=True)
    (target / "mine" / "letter.txt").write_bytes(b"dear")
    sort_all(project, folder, items, target, way)
    assert files_in(target) == {"owl/a.jpg": b"a", "owl/a (2).jpg": b"b", "mine/letter.txt": b"dear"}
    assert files_in(folder) == ({} if way == "move" else before)
    assert last_sorting(project) == (1, target)
    outcome = undo_sorting(project, folder)
    assert (outcome.n_done, outcome.left) == (2, [])
    assert files_in(folder) == before
    assert files_in(target) == {"mine/letter.txt": b"dear"}
    assert sorted(os.listdir(target)) == ["mine"]
    with pytest.raises(InvalidInput, match="nothing that was sorted is left to undo"):
        undo_sorting(project, folder)


@pytest.mark.parametrize("way", WAYS)
def test_sorting_twice_changes_nothing(project: ProjectFile, folder: Path, way: str) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b.jpg", b"b")], folder.parent / "sorted"
    sort_all(project, folder, items, target, way)
    once = files_in(target)
    plan = sort_all(project, folder, items if way != "move" else [], target, way)
    assert (plan.files, plan.n_in_place) == ((), 0 if way == "move" else 2)
    assert files_in(target) == once


def test_moved_images_that_lie_in_their_place_stay_there(project: ProjectFile, folder: Path) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder / "sorted"
    sort_all(project, folder, [item], target, "move")
    assert targets_left_out(project) == []  # they are nowhere else
    moved = Sortable(b"sorted/owl/a.jpg", item.hash, "owl")
    assert sort_all(project, folder, [moved], target, "move").n_in_place == 1
    sort_all(project, folder, [with_category(moved, "tit")], target, "move")
    assert files_in(folder) == {"sorted/tit/a.jpg": b"a"}


def test_a_category_that_changed_moves_the_copy(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b.jpg", b"b")], folder.parent / "sorted"
    sort_all(project, folder, items, target)
    plan = sort_all(project, folder, [with_category(items[0], "tit"), items[1]], target)
    assert (len(plan.files), len(plan.taken_back), plan.n_in_place) == (1, 1, 1)
    assert files_in(target) == {"tit/a.jpg": b"a", "owl/b.jpg": b"b"}


def test_nothing_is_overwritten(project: ProjectFile, folder: Path) -> None:
    items, target = (
        [put(folder, "a.jpg", b"a"), put(folder, "B.jpg", b"b"), put(folder, "x/b.jpg", b"c")],
        folder.parent / "sorted",
    )
    (target / "owl").mkdir(parents=True)
    (target / "owl" / "A.JPG").write_bytes(b"theirs")
    sort_all(project, folder, items, target)
    assert files_in(target) == {"owl/A.JPG": b"theirs", "owl/a (2).jpg": b"a", "owl/B.jpg": b"b", "owl/b (2).jpg": b"c"}
    undo_sorting(project, folder)
    assert files_in(target) == {"owl/A.JPG": b"theirs"}


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_appears_after_the_plan_is_not_overwritten(project: ProjectFile, folder: Path, way: str) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    plan = plan_sorting(project, folder, [item], target, way)
    (target / "owl").mkdir(parents=True)
    (target / "owl" / "a.jpg").write_bytes(b"theirs")
    outcome = apply_plan(project, folder, plan)
    assert outcome.n_done == 0
    assert [failure.reason for failure in outcome.left] == [
        "a file of this name appeared in the target, so it was not sorted"
    ]
    assert files_in(target) == {"owl/a.jpg": b"theirs"}
    assert files_in(folder) == {"a.jpg": b"a"}


def test_undo_leaves_what_has_changed_and_what_has_no_original(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, f"{name}.jpg", name.encode()) for name in "abc"], folder.parent / "sorted"
    sort_all(project, folder, items, target)
    (target / "owl" / "a.jpg").write_bytes(b"edited")
    (folder / "b.jpg").unlink()
    outcome = undo_sorting(project, folder)
    assert outcome.n_done == 1
    assert sorted(failure.name for failure in outcome.left) == ["a.jpg", "b.jpg"]
    assert "has changed since, so it stays" in outcome.left[0].reason
    assert "the original is gone" in outcome.left[1].reason
    assert files_in(target) == {"owl/a.jpg": b"edited", "owl/b.jpg": b"b"}


def test_a_moved_file_whose_place_was_taken_stays(project: ProjectFile, folder: Path) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    sort_all(project, folder, [item], target, "move")
    put(folder, "a.jpg", b"new")
    assert "another file took its old place" in undo_sorting(project, folder).left[0].reason
    assert files_in(folder) == {"a.jpg": b"new"}
    assert files_in(target) == {"owl/a.jpg": b"a"}


def test_what_was_removed_from_the_target_by_hand_is_made_again(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b.jpg", b"b")], folder.parent / "sorted"
    sort_all(project, folder, items, target)
    (target / "owl" / "a.jpg").unlink()
    plan = sort_all(project, folder, items, target)
    assert (len(plan.files), plan.n_in_place) == (1, 1)
    shutil.rmtree(target)
    sort_all(project, folder, items, target)
    assert files_in(target) == {"owl/a.jpg": b"a", "owl/b.jpg": b"b"}
    assert undo_sorting(project, folder).n_done == 2
    assert not target.exists()
    assert undo_sorting(project, folder).n_done == 0  # of the earlier one, nothing was left but its folders


def test_what_somebody_put_into_another_folder_of_the_target_is_not_made_again(
    project: ProjectFile, folder: Path
) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    sort_all(project, folder, [item], target)
    (target / "tit").mkdir()
    (target / "owl" / "a.jpg").rename(target / "tit" / "a.jpg")
    assert sort_all(project, folder, [item], target).n_in_place == 1
    assert files_in(target) == {"tit/a.jpg": b"a"}


def test_undo_of_a_move_waits_for_a_target_that_is_away(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b.jpg", b"b")], folder.parent / "sorted"
    sort_all(project, folder, items, target, "move")
    target.rename(folder.parent / "away")
    with pytest.raises(InvalidInput, match="must hold the files that were moved there, got none of them"):
        undo_sorting(project, folder)
    (folder.parent / "away").rename(target)
    assert undo_sorting(project, folder).n_done == 2
    assert files_in(folder) == {"a.jpg": b"a", "b.jpg": b"b"}


def test_undo_says_which_moved_files_are_no_longer_there(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, "a.jpg", b"a"), put(folder, "b.jpg", b"b")], folder.parent / "sorted"
    sort_all(project, folder, items, target, "move")
    (target / "owl" / "a.jpg").rename(target / "owl" / "mine.jpg")
    outcome = undo_sorting(project, folder)
    assert (outcome.n_done, [each.name for each in outcome.left]) == (1, ["a.jpg"])
    assert "owl/a.jpg, so it cannot be moved back" in outcome.left[0].reason
    assert files_in(target) == {"owl/mine.jpg": b"a"}


def test_undo_counts_what_it_removed_and_what_earlier_sortings_made(project: ProjectFile, folder: Path) -> None:
    items, target = [put(folder, f"{name}.jpg", name.encode()) for name in "abc"], folder.parent / "sorted"
    sort_all(project, folder, items[:1], target)
    sort_all(project, folder, items, target)
    (target / "owl" / "b.jpg").unlink()
    outcome = undo_sorting(project, folder)
    assert (outcome.n_done, outcome.n_earlier) == (1, 1)
    outcome = undo_sorting(project, folder)
    assert (outcome.n_done, outcome.n_earlier) == (1, 0)
    sort_all(project, folder, items[:2], target)
    sort_all(project, folder, items, target)
    (target / "owl" / "b.jpg").unlink()
    assert undo_sorting(project, folder).n_earlier == 1  # what somebody removed is not there


def test_undo_tells_of_earlier_files_only_if_it_takes_them_back_next(project: ProjectFile, folder: Path) -> None:
    items, first, between = [put(folder, name, name.encode()) for name in ("a", "b")], folder / "1", folder / "2"
    for target, some in ((first, items[:1]), (between, items), (first, items)):
        sort_all(project, folder, some, target)
    assert undo_sorting(project, folder).n_earlier == 0
    assert undo_sorting(project, folder).n_done == 2  # those between
    sort_all(project, folder, items, between)
    sort_all(project, folder, items, first)
    assert undo_sorting(project, folder, first).n_earlier == 1


def test_a_target_is_the_same_however_it_is_written(
    project: ProjectFile, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sort_all(project, folder, [put(folder, "a.jpg", b"a")], folder.parent / "sorted")
    monkeypatch.chdir(folder)
    assert undo_sorting(project, folder, "../sorted").n_done == 1


def test_a_folder_that_cannot_be_made_is_named(project: ProjectFile, folder: Path) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    target.mkdir()
    (target / "owl").write_bytes(b"a file")
    with pytest.raises(InvalidInput, match="sorted/owl: the folder cannot be made: "):
        apply_plan(project, folder, plan_sorting(project, folder, [item], target))


def test_content_that_changed_is_not_sorted_under_its_old_category(project: ProjectFile, folder: Path) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    plan = plan_sorting(project, folder, [item], target)
    put(folder, "a.jpg", b"other")
    outcome = apply_plan(project, folder, plan)
    assert [failure.reason for failure in outcome.left] == ["it has changed or cannot be read, so it was not sorted"]
    assert files_in(target) == {}


def test_a_copy_keeps_the_time_of_its_original(project: ProjectFile, folder: Path) -> None:
    item, target = put(folder, "a.jpg", b"a"), folder.parent / "sorted"
    os.utime(folder / "a.jpg", (1_600_000_000, 1_600_000_000))
    sort_all(project, folder, [item], target)
    assert (target / "owl" / "a.jpg").stat().st_mtime == 1_600_000_000


# Targets.


def test_a_target_inside_the_folder_is_passed_over_by_scans(project: ProjectFile, folder: Path) -> None:
    sort_all(project, folder, [put(folder, "a.jpg", b"a")], folder / "sorted")
    assert targets_left_out(project) == [folder / "sorted"]


def test_targets_that_are_refused(project: ProjectFile, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item = put(folder, "a.jpg", b"a")
    for target in (folder, folder.parent, folder / "x" / ".."):
        with pytest.raises(InvalidInput, match="the target must be another folder than the one the images lie in"):
            plan_sorting(project, folder, [item], target)
    with pytest.raises(InvalidInput, match="a file; the name of a folder is needed"):
        plan_sorting(project, folder, [item], folder / "a.jpg")
    with pytest.raises(InvalidInput, match="way must be one of 'copy', 'hardlink', 'symlink', 'move'"):
        plan_sorting(project, folder, [item], folder.parent / "sorted", "teleport")
    monkeypatch.setattr(sort, "_device", lambda path: hash(path))
    with pytest.raises(
        InvalidInput, match="on another disk than the images, where hard links do not reach; use copies"
    ):
        plan_sorting(project, folder, [item], folder.parent / "sorted", "hardlink")


def test_moving_to_another_disk(project: ProjectFile, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    item, target, link = put(folder, "a.jpg", b"a"), folder.parent / "sorted", os.link

    def only_within_the_target(source: str, place: str) -> None:
        if str(folder) + os.sep in (source + place) and str(target) in (source + place):
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        link(source, place)

    monkeypatch.setattr(sort.os, "link", only_within_the_target)
    sort_all(project, folder, [item], target, "move")
    assert (files_in(folder), files_in(target)) == ({}, {"owl/a.jpg": b"a"})
    undo_sorting(project, folder)
    assert (files_in(folder), files_in(target)) == ({"a.jpg": b"a"}, {})


@pytest.mark.parametrize("way", ["copy", "move"])
def test_a_file_system_without_links(
    project: ProjectFile, folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, place: str) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(sort.os, "link", refuse)
    target = folder.parent / "sorted"
    sort_all(project, folder, [put(folder, "a.jpg", b"a")], target, way)
    assert files_in(target) == {"owl/a.jpg": b"a"}
    undo_sorting(project, folder)
    assert (files_in(folder), files_in(target)) == ({"a.jpg": b"a"}, {})


def test_photographs_that_cannot_be_taken_out_of_their_folder_are_named(
    project: ProjectFile, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    item, target, unlink = put(folder, "a.jpg", b"a"), folder.parent / "sorted", os.unlink

    def not_here(path: str) -> None:
        if os.path.dirname(path) == str(folder):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        unlink(path)

    plan = plan_sorting(project, folder, [item], target, "move")
    with monkeypatch.context() as patch:
        patch.setattr(sort.os, "unlink", not_here)
        with pytest.raises(InvalidInput, match=rf"^{folder}/a\.jpg: permission denied; what was sorted so far is kept"):
            apply_plan(project, folder, plan)
    undo_sorting(project, folder)
    assert (files_in(folder), files_in(target)) == ({"a.jpg": b"a"}, {})


def test_a_read_only_target_is_one_sentence(project: ProjectFile, folder: Path) -> None:
    if not Path("/sys/kernel").is_dir():
        pytest.skip("no folder on this system that nobody may write to")
    plan = plan_sorting(project, folder, [put(folder, "a.jpg", b"a")], "/sys/fewsight-sorted")
    with pytest.raises(InvalidInput, match="the folder cannot be made: "):
        apply_plan(project, folder, plan)


def test_a_full_disk_ends_it_and_a_repeated_run_goes_on(
    project: ProjectFile, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items, target, copy = (
        [put(folder, f"{n}.jpg", b"%d" % n) for n in range(5)],
        folder.parent / "sorted",
        sorted_file.shutil.copyfile,
    )

    def until_full(source: str, place: str) -> None:
        if source.endswith("3.jpg"):
            raise OSError(errno.ENOSPC, "No space left on device")
        copy(source, place)

    plan = plan_sorting(project, folder, items, target)
    with monkeypatch.context() as patch:
        patch.setattr(sorted_file.shutil, "copyfile", until_full)
        with pytest.raises(InvalidInput, match="what was sorted so far is kept, and a repeated run goes on"):
            apply_plan(project, folder, plan)
    again = sort_all(project, folder, items, target)
    assert (again.n_in_place, len(again.files)) == (3, 2)
    assert len(files_in(target)) == 5
    undo_sorting(project, folder)
    undo_sorting(project, folder)
    assert files_in(target) == {}


# Killed.

RUN = """
import sys
from pathlib import Path
from fewsight.apps.workbench.project import ProjectFile
from fewsight.apps.workbench.sort import Sortable, apply_plan, plan_sorting, undo_sorting
from fewsight.images.hashing import hash_of
folder, target, way = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
with ProjectFile(folder / "fewsight.sqlite") as project:
    items = [Sortable(p.name.encode(), hash_of(p.read_bytes()), "owl") for p in sorted(folder.glob("*.jpg"))]
    print("go", flush=True)
    if way == "undo":
        undo_sorting(project, folder)
    else:
        apply_plan(project, folder, plan_sorting(project, folder, items, target, way))
"""


def killed_after(seconds: float, folder: Path, target: Path, way: str) -> None:
    command = [sys.executable, "-c", RUN, str(folder), str(target), way]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        time.sleep(seconds)
        process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_killed_run_is_repeated_or_undone(folder: Path, way: str) -> None:
    rng, target = random.Random(len(way)), folder.parent / "sorted"
    items = [put(folder, f"{number:03}.jpg", b"%d" % number * 3000) for number in range(120)]
    before = files_in(folder)
    expected = {f"owl/{name}": content for name, content in before.items()}
    for turn in range(4):
        killed_after(rng.uniform(0.03, 0.3), folder, target, way)
        with ProjectFile(folder / "fewsight.sqlite") as project:
            if turn % 2:  # repeated
                there = [item for item in items if (folder / os.fsdecode(item.path)).exists()]
                sort_all(project, folder, there, target, way)
                assert files_in(target) == expected
                assert files_in(folder) == ({} if way == "move" else before)
            while last_sorting(project) is not None:
                if turn == 3:
                    project.close()
                    killed_after(rng.uniform(0.02, 0.2), folder, target, "undo")
                    project = ProjectFile(folder / "fewsight.sqlite")
                    if last_sorting(project) is None:
                        break
                assert undo_sorting(project, folder).left == []
            project.close()
        assert files_in(folder) == before
        assert files_in(target) == {}


# Names.


@pytest.mark.parametrize(
    ("category", "name"),
    [
        ("owl", "owl"),
        ("owl/barn", "owl_barn"),
        ("../../etc", "_.._etc"),
        ("..", "_"),
        ("C:\\owl", "C__owl"),
        ("con", "con_"),
        ("Aux.jpg", "Aux.jpg_"),
        ("ends with dots. . .", "ends with dots"),
        ("line\nbreak", "line_break"),
        ("Käuzchen 🦉", "Käuzchen 🦉"),
    ],
)
def test_a_categorys_folder_has_a_name_that_every_file_system_takes(category: str, name: str) -> None:
    assert safe_name(category) == name


@given(category=st.text(min_size=1, max_size=300))
def test_any_category_can_be_a_folder(category: str) -> None:
    name = safe_name(category)
    assert name not in ("", ".", "..")
    assert not set(name) & set('<>:"/\\|?*\0')
    assert len(os.fsencode(name)) <= 203
    assert safe_name(name) == name


def test_folders_never_meet() -> None:
    names = FolderNames(("_unsure",))
    found = [names.of(category) for category in ("a/b", "a?b", "A:B", "_Unsure", "a/b")]
    assert found == ["a_b", "a_b (2)", "A_B (3)", "_Unsure (2)", "a_b"]


@given(names=st.lists(st.sampled_from(["a.jpg", "A.jpg", "a (2).jpg", "x" * 240 + ".jpg", ".jpg"]), max_size=12))
def test_names_in_a_folder_never_meet(names: list[str]) -> None:
    taken = TakenNames()
    found = [taken.take(name) for name in names]
    assert len({name.casefold() for name in found}) == len(names)
    assert all(os.path.splitext(name)[1] == os.path.splitext(old)[1] for name, old in zip(found, names, strict=True))
    assert TakenNames(found).take(found[0] if found else "a") not in found or not found


def test_files_with_odd_names(project: ProjectFile, folder: Path) -> None:
    items = [
        put(folder, name, name.encode("utf-8", "surrogateescape")) for name in ("a\nb.jpg", "\udce9.jpg", "-rf *.jpg")
    ]
    target = folder.parent / "sorted"
    sort_all(project, folder, items, target)
    assert set(files_in(target)) == {"owl/a\nb.jpg", "owl/\udce9.jpg", "owl/-rf *.jpg"}
    undo_sorting(project, folder)
    assert files_in(target) == {}

"""`fewsight sort` shows a plan, does nothing unless told, and can be undone."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

CATEGORIES = ("brick", "grass", "tissue")
Run = Callable[..., Result]


def names_in(target: Path) -> dict[str, int]:
    return {folder.name: len(list(folder.iterdir())) for folder in target.iterdir()}


def test_nothing_is_done_unless_told(run: Run, labelled: Path, tmp_path: Path) -> None:
    result = run("sort", labelled, tmp_path / "sorted")
    assert result.exit_code == 0
    assert f"15 files will be copied into {tmp_path / 'sorted'}; 0 are there already." in result.stdout
    assert "nothing was done; add --yes to do it" in result.stderr
    assert not (tmp_path / "sorted").exists()


def test_a_model_sorts_a_folder_that_nobody_has_labelled(
    run: Run, refused: Callable[..., str], photos: Path, tmp_path: Path
) -> None:
    model, flat, target = tmp_path / "model.fewsight", tmp_path / "flat", tmp_path / "sorted"
    assert run("learn", photos, "-o", model, "--channels", "colour", "--no-cache").exit_code == 0
    flat.mkdir()
    for number, path in enumerate(sorted(photos.glob("*/*"))):
        shutil.copy(path, flat / f"{number}{path.suffix}")
    n_images = len(list(flat.iterdir()))
    assert "no such file" in refused("sort", flat, target, "--model", tmp_path / "none.fewsight")
    assert len(list(flat.iterdir())) == n_images  # no project was begun for a model that is not there
    assert f"Sorted {n_images} files." in run("sort", flat, target, "--model", model, "--yes", "--no-cache").stdout
    assert sum(names_in(target).values()) == n_images
    assert f"Took back {n_images} files." in run("sort", flat, "--undo").stdout


def test_labelled_images_are_sorted_and_taken_back(run: Run, labelled: Path, tmp_path: Path) -> None:
    target = tmp_path / "sorted"
    assert "Sorted 15 files." in run("sort", labelled, target, "--yes").stdout
    assert names_in(target) == dict.fromkeys(CATEGORIES, 5)
    assert "0 files will be copied" in run("sort", labelled, target, "--yes").stdout
    assert json.loads(run("sort", labelled, "--undo", "--json").stdout) == {"undone": 15, "left": [], "earlier": 0}
    assert not target.exists()


@pytest.mark.parametrize("way", ["symlink", "hardlink", "move"])
def test_other_ways(run: Run, labelled: Path, tmp_path: Path, way: str) -> None:
    before = sorted(labelled.glob("*.png"))
    result = run("sort", labelled, tmp_path / "sorted", "--way", way, "--yes", "--json")
    assert json.loads(result.stdout)["done"] == 15
    assert len(list(labelled.glob("*.png"))) == len(before) - (15 if way == "move" else 0)
    assert "Took back 15 files." in run("sort", labelled, "--undo").stdout
    assert sorted(labelled.glob("*.png")) == before


def test_a_model_says_what_the_others_are(run: Run, labelled: Path, model_file: Path, tmp_path: Path) -> None:
    target = tmp_path / "sorted"
    result = run("sort", labelled, target, "--model", model_file, "--yes", "--least", "0.0", "--no-cache")
    assert result.exit_code == 0, result.output
    counts = names_in(target)
    assert sum(counts.values()) == 24
    assert set(CATEGORIES) <= set(counts) <= {*CATEGORIES, "_unsure", "_unknown"}
    strict = run("sort", labelled, tmp_path / "strict", "--model", model_file, "--yes", "--least", "1.0", "--no-cache")
    assert strict.exit_code == 0
    assert names_in(tmp_path / "strict")["_unsure"] > 0


def test_what_to_type_next_names_the_project(run: Run, labelled: Path, tmp_path: Path) -> None:
    project = Path(shutil.move(labelled / "fewsight.sqlite", tmp_path / "ann's.sqlite"))
    result = run("sort", labelled, tmp_path / "sorted", "--project", project, "--yes")
    assert (
        f"To take it back: {shlex.join(['fewsight', 'sort', str(labelled), '--project', str(project), '--undo'])}"
        in result.stdout
    )
    assert "Took back 15 files." in run("sort", labelled, "--project", project, "--undo").stdout


def test_what_is_not_sorted_is_told(run: Run, labelled: Path, model_file: Path, tmp_path: Path) -> None:
    (labelled / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")
    said = run("sort", labelled, tmp_path / "sorted", "--yes").stderr
    assert "10 images without a label will stay; --model MODEL sorts images without a label, too." in said
    said = run("sort", labelled, tmp_path / "sorted", "--model", model_file, "--yes", "--no-cache").stderr
    assert "broken.jpg" in said
    assert "1 file could not be used." in said
    again = shlex.join(["fewsight", "sort", str(labelled), "--undo"])
    assert (
        f"Still there from an earlier sorting: 15 files. To take back, too: {again}\n"
        in run("sort", labelled, "--undo").stdout
    )


def test_what_to_type_after_undo_takes_back_no_other_sorting(run: Run, labelled: Path, tmp_path: Path) -> None:
    first, between = tmp_path / "first", tmp_path / "between"
    run("sort", labelled, first, "--yes")
    run("sort", labelled, between, "--yes")
    next(first.rglob("*.png")).unlink()
    run("sort", labelled, first, "--yes")
    said = run("sort", labelled, first, "--undo").stdout
    assert (
        f"14 files. To take back, too: {shlex.join(['fewsight', 'sort', str(labelled), str(first), '--undo'])}" in said
    )
    run("sort", labelled, first, "--yes")
    assert "earlier sorting" not in run("sort", labelled, "--undo").stdout  # the one between is taken back next
    assert sum(names_in(between).values()) == 15


def test_a_file_that_cannot_be_read_does_not_stop_the_labelled_ones(
    run: Run, photos: Path, model_file: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(photos, tmp_path / "photos"))
    n_images = len(list(folder.glob("*/*")))
    assert run("import", folder, folder).exit_code == 0
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0 no more")
    result = run("sort", folder, tmp_path / "sorted", "--model", model_file, "--yes", "--no-cache")
    assert f"Sorted {n_images} files." in result.stdout
    assert "1 file could not be used." in result.stderr


def test_what_is_refused(run: Run, refused, labelled: Path) -> None:
    assert "must be another folder than the one the images lie in" in refused("sort", labelled, labelled, "--yes")
    assert refused("sort", labelled, "--undo") == "sort: nothing that was sorted is left to undo."
    assert "way must be one of" in refused("sort", labelled, "x", "--way", "shred")
    assert run("sort", labelled).exit_code == 2

"""A project from the command line: what it says, in words and as JSON, and how it refuses."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.apps.workbench.project import location

CATEGORIES = ("brick", "grass", "tissue")
N = 24
Run = Callable[..., Result]
Refused = Callable[..., str]


def answer(run: Run, *arguments: str | Path) -> dict:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_import_says_what_it_took_and_is_safe_to_repeat(run: Run, flat: Path, labels: Path) -> None:
    with open(labels, "a") as stream:
        stream.write("missing.png,brick\n")
    first = run("import", flat, labels)
    assert first.exit_code == 0
    assert "Imported 15 new labels; 0 were known already." in first.stdout
    assert "New categories: brick, grass, tissue." in first.stdout
    assert "Not among the images: missing.png" in first.stdout
    assert "Imported 0 new labels; 15 were known already." in run("import", flat, labels).stdout
    assert answer(run, "import", flat, labels)["n_same"] == 15


def test_an_import_of_nothing_begins_no_project(refused: Callable[..., str], photos: Path, tmp_path: Path) -> None:
    said = refused("import", photos, tmp_path / "none.csv")
    assert said.endswith(
        "none.csv: must be a CSV table, a folder of class folders or a project file, got: no such file."
    )
    assert not list(photos.glob("*.sqlite"))


def test_status_in_words_and_as_json(run: Run, labelled: Path) -> None:
    shown = run("status", labelled).stdout
    assert f"{N} images: 15 labelled, 0 none of these, 0 discarded." in shown
    found = answer(run, "status", labelled)
    assert found["counts"] == dict.fromkeys(CATEGORIES, 5)
    assert (found["n_files"], found["new"], found["persons"]) == (N, 0, {"ann": 15})


def test_status_tells_what_happened_to_files(run: Run, labelled: Path) -> None:
    (labelled / "brick-0.png").rename(labelled / "renamed.png")
    (labelled / "brick-1.png").write_bytes((labelled / "grass-7.png").read_bytes())
    (labelled / "broken.png").write_bytes(b"")
    shown = run("status", labelled).stdout
    assert "Since the last time: 1 new, 1 moved." in shown
    assert "The content of this file has changed, so it has no label now: brick-1.png" in shown
    assert "Cannot be used: broken.png: empty file" in shown
    assert (
        f"{N + 1} images: 15 labelled" in shown
    )  # the renamed one kept its label; that of vanished content is kept too


def test_status_goes_on_where_nothing_can_be_written(run: Run, labelled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (labelled / "brick-0.png").rename(labelled / "renamed.png")
    (labelled / "other.png").write_bytes((labelled / "grass-7.png").read_bytes() + b"\0")
    before = (labelled / "fewsight.sqlite").read_bytes()
    may, place = os.access, labelled / "fewsight.sqlite"  # root may write whatever the permissions say
    monkeypatch.setattr(os, "access", lambda path, mode: path != place and may(path, mode))
    shown = run("status", labelled)
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert f"{N} images: 15 labelled, 0 none of these, 0 discarded." in shown.stdout
    assert "Since the last time: 1 new, 1 moved." in shown.stdout
    sentence = f"{place}: the project file may not be written to, so nothing was saved."
    assert f"The counts above are those of the last time: {sentence}" in shown.stdout
    assert answer(run, "status", labelled)["unsaved"] == sentence
    assert (labelled / "fewsight.sqlite").read_bytes() == before
    monkeypatch.undo()
    assert answer(run, "status", labelled)["unsaved"] is None


def test_undo_says_who_else_has_something_to_take_back(refused: Refused, run: Run, labelled: Path) -> None:
    assert refused("undo", labelled, "--name", "bob") == (
        "undo: bob has nothing left to undo; --name names another person, of ann."
    )
    run("undo", labelled, "--name", "ann")
    assert refused("undo", labelled, "--name", "bob") == "undo: bob has nothing left to undo."
    assert "--name names another person, of ann." in refused("undo", labelled, "--name", "bob", "--redo")


def test_undo_and_history(run: Run, labelled: Path, refused: Refused) -> None:
    assert "imported from" in run("history", labelled).stdout
    assert "Took back: imported from" in run("undo", labelled, "--name", "ann").stdout
    assert "(undone)" in run("history", labelled).stdout
    assert answer(run, "status", labelled)["n_labelled"] == 0
    assert refused("undo", labelled, "--name", "ann") == "undo: ann has nothing left to undo."
    assert answer(run, "undo", labelled, "--name", "ann", "--redo")["can_undo"]
    assert answer(run, "status", labelled)["n_labelled"] == 15
    acts = json.loads(run("history", labelled, "--json").stdout)
    assert [act["what"] for act in acts[:2]] == ["redo", "undo"]


def test_exported_labels_come_back(run: Run, labelled: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    assert f"Wrote {out}: 15 rows." in run("export", labelled, "-o", out).stdout
    before = answer(run, "status", labelled)
    (labelled / "fewsight.sqlite").unlink()
    run("import", labelled, out, "--name", "ann")
    after = answer(run, "status", labelled)
    assert (after["counts"], after["n_labelled"]) == (before["counts"], before["n_labelled"])


def test_a_project_elsewhere(run: Run, flat: Path, labels: Path, tmp_path: Path) -> None:
    run("import", flat, labels, "--project", tmp_path / "mine.sqlite")
    assert not (flat / "fewsight.sqlite").exists()
    assert answer(run, "status", flat, "--project", tmp_path / "mine.sqlite")["n_labelled"] == 15


@pytest.mark.parametrize(
    "verb", [("status",), ("history",), ("undo",), ("sort", "somewhere"), ("export", "-o", "out.csv")]
)
def test_a_folder_without_a_project_is_refused_and_left_alone(
    refused: Refused, flat: Path, verb: tuple[str, ...]
) -> None:
    names = sorted(flat.iterdir())
    said = refused(verb[0], flat, *verb[1:])
    assert said == f"{flat}: no project there yet; `fewsight import` or `fewsight label` begins one."
    assert sorted(flat.iterdir()) == names


def test_what_is_refused(refused: Refused, labelled: Path, tmp_path: Path) -> None:
    assert (
        refused("status", tmp_path / "none") == f"{tmp_path / 'none'}: must be a folder of images, got: no such file."
    )
    assert "no such file" in refused("import", labelled, tmp_path / "none.csv")
    (labelled / "fewsight.sqlite").write_text("no database, and long enough to be looked at as one" * 20)
    assert "not a project of fewsight" in refused("status", labelled)


def test_learning_from_a_project_decides_as_learning_from_its_table(run: Run, labelled: Path, tmp_path: Path) -> None:
    small = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000", "--no-cache")
    run("export", labelled, "-o", tmp_path / "labels.csv")
    shown = run("learn", labelled, "-o", tmp_path / "a.fewsight", *small)
    assert "Learned 3 categories from 15 images." in shown.stdout, shown.output
    run("learn", labelled, "--labels", tmp_path / "labels.csv", "-o", tmp_path / "b.fewsight", *small)
    answers = [run("predict", tmp_path / name, labelled, "--no-cache").stdout for name in ("a.fewsight", "b.fewsight")]
    assert answers[0] == answers[1]
    assert answers[0].count("\n") == N + 1


@pytest.mark.parametrize("verb", ["learn", "evaluate"])
def test_learning_takes_the_labels_of_a_project_that_lies_elsewhere(
    run: Run, refused: Refused, flat: Path, labels: Path, tmp_path: Path, verb: str
) -> None:
    project, quick = tmp_path / "mine.sqlite", ("--channels", "colour", "--no-cache")
    out = ("-o", tmp_path / "a.fewsight") if verb == "learn" else ("--per-class", "1", "--repeats", "1")
    run("import", flat, labels, "--project", project)
    assert "got 24 images that lie in no category's folder" in refused(verb, flat, *out, *quick)
    shown = run(verb, flat, "--project", project, *out, *quick)
    assert shown.exit_code == 0, shown.output
    assert "Learned 3 categories from 15 images." in shown.stdout or verb == "evaluate"
    both = run(verb, flat, "--project", project, "--labels", labels, *out, *quick)
    assert both.exit_code == 2
    assert "--labels and --project contradict each other" in both.stderr
    run("undo", flat, "--project", project)
    assert refused(verb, flat, "--project", project, *out, *quick) == (
        f"{project}: no image of {flat} has a label in this project."
    )


def test_learning_takes_the_labels_of_a_folder_that_cannot_be_written_to(
    run: Run, flat: Path, labels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr(location, "_can_write", lambda folder: folder != flat)
    run("import", flat, labels)
    kept = location.find(flat)
    assert kept is not None
    assert kept.parent != flat
    for verb, *out in (("learn", "-o", tmp_path / "a.fewsight"), ("evaluate", "--per-class", "1", "--repeats", "1")):
        shown = run(verb, flat, *out, "--channels", "colour", "--no-cache")
        assert shown.exit_code == 0, shown.output
        assert f"The labels are those of the project in {kept}." in shown.stdout


def test_a_sorted_folder_is_learned_from_without_what_was_put_aside(run: Run, labelled: Path, tmp_path: Path) -> None:
    model, target = tmp_path / "model.fewsight", tmp_path / "sorted"
    run("learn", labelled, "-o", model, "--channels", "colour", "--no-cache")
    run("sort", labelled, target, "--model", model, "--least", "1", "--yes", "--no-cache")
    n_aside = sum(len(list(target.glob(f"{name}/*"))) for name in ("_unsure", "_unknown"))
    assert n_aside > 0
    shown = run("learn", target, "-o", model, "--channels", "colour", "--no-cache")
    assert "Learned 3 categories from 15 images." in shown.stdout
    assert f"{n_aside} images in no category's folder left out" in shown.stderr

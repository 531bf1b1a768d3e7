"""`fewsight demo`, the whole way."""

from __future__ import annotations

import csv
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import Result

from fewsight.evaluation import Protocol
from fewsight.images import sample_set
from fewsight.persistence import load

Run = Callable[..., Result]
ASKING = re.compile(
    r"^Asking for labels(?: made no clear difference here| did not help here)?: "
    r"\d+ % right after \d+ labels; with random labels it takes \d+\.$",
    re.MULTILINE,
)
LESSONS = (
    r"^Which cue decides: \w+ counts \d+ %, \w+ counts \d+ %\.$",
    r"^Unknown images: each category in turn was left out of learning; \d+ of \d+ images of left-out categories are called "
    r"unknown, and \d+ of \d+ images of learned ones \(5 % are asked for, on average over draws\)\.$",
    r"^Wrong labels: in each turn one image got a wrong label; \d+ of \d+ were found, and "
    r"(?:1 right label was|\d+ right labels were) doubted\.$",
    r"^A category from one image: each category in turn was learned from one image; \d+ of \d+ other images are recognised, "
    r"and \d+ once it borrows from related categories(?: \(most: [\w ]+ from [\w ]+, \d+ more\))?\.$",
)
FOLDER_OF_PHOTOS = "photos"
FILES = ["model.fewsight", "predictions.csv", "report.html", "results.json"]


def test_a_file_in_the_place_of_the_folder_is_one_sentence(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (
        refused("demo", "--output", tmp_path / "file")
        == f"{tmp_path / 'file'}: a file; the name of a folder is needed."
    )


def check(folder: Path, said: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, FOLDER_OF_PHOTOS])
    assert all(str(folder / name) in said for name in FILES)
    categories = load(folder / "model.fewsight").classes_.tolist()
    assert len(categories) >= 8
    with (folder / "predictions.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    right = sum(row["file"].split("/")[0] == row["category"] for row in rows)
    assert f"{len(rows)} other images: {right} right." in said
    assert right / len(rows) > 3 / len(categories)  # three times better than chance
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["records"]
    assert {record["rule"] for record in results["asking"]} == {"uncertainty", "random"}
    (words,) = ASKING.findall(said)
    check_comparison(said, results["records"])
    report = (folder / "report.html").read_text(encoding="utf-8")
    for lesson in LESSONS:
        (sentence,) = re.findall(lesson, said, re.MULTILINE)
        assert sentence in report
    assert words in report
    (who_is_ahead,) = re.findall(r"^At \d+ per category .*$", said, re.MULTILINE)
    assert who_is_ahead in report
    assert report.count("Which image to label next") == 1
    assert "  fewsight label --demo" in said.splitlines()


def check_comparison(said: str, records: list[dict[str, Any]]) -> None:
    """Who is ahead is what the figures say."""
    found = {
        (each["learner"], each["combine"]): each["mean"]
        for each in records
        if each["metric"] == "accuracy" and "+" in each["channels"] and each["per_class"] == records[-1]["per_class"]
    }
    ours, best = found["gp", "evidence"], max(mean for (learner, _), mean in found.items() if learner != "gp")
    (points, ahead) = re.findall(r"^At \d+ per category .* is (\d+\.\d) points ahead of (.*)$", said, re.MULTILINE)[0]
    assert points == f"{100 * abs(ours - best):.1f}"
    assert ahead.startswith("fewsight") == (ours < best)
    assert f"{100 * ours:.1f}" in said


@pytest.mark.slow  # ten seconds
def test_a_short_demo_leaves_all_it_promises(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.PROTOCOL", Protocol(None, (1, 3), 3, 1))
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.EXAMPLES_TO_LEARN", 3)
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.STARTS", 2)
    tiles = sample_set()
    few = [place for name in tiles.classes[:8] for place in np.flatnonzero(tiles.labels == name)[:8]]
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.sample_set", lambda: tiles.select(few))
    result = run("demo", "--output", tmp_path / "new" / "folder")
    assert result.exit_code == 0
    check(tmp_path / "new" / "folder", result.stdout)
    (sort,) = re.findall(r"^  fewsight (sort .*)$", result.stdout, re.MULTILINE)
    sorted_ = run(*shlex.split(sort), "--yes")
    assert sorted_.exit_code == 0, sorted_.output
    found = {path.name for path in (tmp_path / "new" / "folder" / "sorted").iterdir()}
    assert (
        {"coins", "galaxies"}
        <= found
        <= {*load(tmp_path / "new/folder/model.fewsight").classes_, "_unsure", "_unknown"}
    )


@pytest.mark.slow
def test_the_demo_as_it_is(run: Run, tmp_path: Path) -> None:
    result = run("demo", "--output", tmp_path / "demo", "--no-cache")
    assert result.exit_code == 0
    check(tmp_path / "demo", result.stdout)

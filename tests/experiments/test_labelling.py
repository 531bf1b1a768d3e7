"""What the simulated person draws and counts; the runs themselves need a browser and the data."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

pytest.importorskip("playwright")


def test_a_draw_is_the_seeds_and_its_truth_is_that_of_the_folders(tmp_path: Path) -> None:
    module = importlib.import_module("experiments.labelling.stopping_point")
    for category in range(25):
        for number in range(3):
            path = tmp_path / "data" / f"c{category:02d}" / f"{number}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(bytes([category, number]))
    first = module.draw(tmp_path / "data", tmp_path / "one", 0)
    assert module.draw(tmp_path / "data", tmp_path / "two", 0) == first
    assert module.draw(tmp_path / "data", tmp_path / "three", 1) != first
    assert len(set(first.values())) == module.N_CATEGORIES
    for name, category in first.items():
        assert (tmp_path / "one" / name).resolve().parent.name == category


def test_only_files_that_nobody_labelled_are_counted(tmp_path: Path) -> None:
    module = importlib.import_module("experiments.labelling.stopping_point")
    placed = {"a.jpg": "owl", "b.jpg": "owl", "c.jpg": "_unsure", "d.jpg": "owl"}
    for name, folder in placed.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / name).touch()
    truth = {"a.jpg": "owl", "b.jpg": "hawk", "c.jpg": "owl", "d.jpg": "owl"}
    assert module.right_in(tmp_path, truth, {"d.jpg"}) == {"n_rest": 3, "n_decided": 2, "n_right": 1}


def test_the_summary_counts_the_intervals_that_hold_the_truth() -> None:
    module = importlib.import_module("experiments.labelling.stopping_point")
    told = {"estimate": 0.9, "low": 0.8, "high": 0.95}
    run = {"n_labels": 100, "advised": True, "n_rest": 10, "claimed": told}
    runs = [{**run, "n_taken_right": 9}, {**run, "n_taken_right": 10, "advised": False}]
    found = module.summary([*runs, {**run, "claimed": None, "n_taken_right": 8}])
    assert (found["runs"], found["advised"], found["labels"]) == (3, 2, 100)
    assert (found["intervals"], found["intervals_that_hold_the_truth"]) == (2, 1)
    assert found["right"] == pytest.approx(0.9)

"""The pretrained network on real photographs: what a person gets after one pip install."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight.channels import CHANNELS

CATEGORIES = (
    "accordion",
    "ant",
    "barrel",
    "bass",
    "beaver",
    "butterfly",
    "camera",
    "chair",
    "crab",
    "cup",
    "dolphin",
    "lamp",
)


@pytest.mark.slow
def test_five_photographs_of_each_category_are_nearly_enough(
    run: Callable[..., Result], caltech101: Path, tmp_path: Path
) -> None:
    missing = CHANNELS["pretrained"].missing()
    if missing is not None:
        pytest.skip(missing)
    for category in CATEGORIES:
        (tmp_path / "photos" / category).mkdir(parents=True)
        for file in sorted((caltech101 / category).glob("*.jpg"))[:15]:
            shutil.copy(file, tmp_path / "photos" / category)
    results = tmp_path / "out.json"
    options = (
        "--channels",
        "pretrained,colour",
        "--per-class",
        "1,5",
        "--repeats",
        "2",
        "--learners",
        "gp",
        "--json",
        results,
    )
    answered = run("evaluate", tmp_path / "photos", *options)
    assert answered.exit_code == 0, answered.stderr
    accuracy = {
        (record["channels"], record["combine"], record["per_class"]): record["mean"]
        for record in json.loads(results.read_text())["records"]
        if record["metric"] == "accuracy"
    }
    assert accuracy["pretrained", "none", 5] > 0.85
    assert accuracy["pretrained", "none", 1] > 0.6
    for size in (1, 5):  # a weak channel beside a strong one does no harm
        assert accuracy["pretrained+colour", "evidence", size] > accuracy["pretrained", "none", size] - 0.04
    assert accuracy["colour", "none", 5] < 0.6

"""A flat folder of images, and a project with the categories of some of them."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

CATEGORIES = ("brick", "grass", "tissue")


@pytest.fixture
def flat(photos: Path, tmp_path: Path) -> Path:
    """All images in one folder, as a camera leaves them."""
    folder = tmp_path / "flat"
    folder.mkdir()
    for path in photos.rglob("*.png"):
        shutil.copy(path, folder / f"{path.parent.name}-{path.name}")
    return folder


@pytest.fixture
def labels(flat: Path, tmp_path: Path) -> Path:
    """A table with the categories of five images each."""
    path = tmp_path / "labels.csv"
    names = [f"{category}-{number}.png" for category in CATEGORIES for number in range(5)]
    with open(path, "w", newline="") as stream:
        csv.writer(stream).writerows([("file", "category"), *((name, name.split("-")[0]) for name in names)])
    return path


@pytest.fixture
def labelled(run: Callable[..., Result], flat: Path, labels: Path) -> Path:
    assert run("import", flat, labels, "--name", "ann").exit_code == 0
    return flat

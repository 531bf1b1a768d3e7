"""A folder of images and its project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fewsight.apps.workbench.project import ProjectFile


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "photos"
    place.mkdir()
    return place


@pytest.fixture
def project(folder: Path) -> Iterator[ProjectFile]:
    with ProjectFile(folder / "fewsight.sqlite") as opened:
        yield opened

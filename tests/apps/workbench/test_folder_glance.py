"""A first look at a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.folder_glance import Glance, glance


def make(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    return root


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["a.jpg"], Glance(False, ())),
        (["A.JPEG", "owl/b.png"], Glance(False, ())),
        (["owl/a.jpg", "hawk/b.png"], Glance(False, ("hawk", "owl"))),
        (["owl/a.jpg"], Glance(False, ())),
        (["owl/a.jpg", "hawk/b.png", "notes/c.txt"], Glance(False, ("hawk", "owl"))),
        (["owl/a.jpg", "hawk/b.png", "_unsure/c.jpg"], Glance(False, ("hawk", "owl"))),
        (["owl/a.jpg", "_unsure/c.jpg", "_unknown/d.jpg"], Glance(False, ())),
        (["2024/may/a.jpg", "2024/june/b.jpg"], Glance(False, ())),
        (["notes.txt", "deep/er/b.csv"], Glance(True, ())),
        ([".hidden.jpg"], Glance(False, ())),  # the scan decides
        ([], Glance(True, ())),
    ],
)
def test_what_a_folder_looks_like(tmp_path: Path, names: list[str], found: Glance) -> None:
    assert glance(make(tmp_path, *names)) == found


def test_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="must be a folder of images, got: a file"):
        glance(make(tmp_path, "a.jpg") / "a.jpg")

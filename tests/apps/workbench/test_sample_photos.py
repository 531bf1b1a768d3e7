"""The sample set as photographs that nobody has labelled."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewsight.apps.workbench import sample_photos
from fewsight.images import ImageSet, sample_set


def test_numbers_tell_no_category_and_files_that_are_there_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = sample_set()
    few = whole.select([*range(8), *range(len(whole) - 8, len(whole))])
    monkeypatch.setattr(sample_photos, "sample_set", lambda: few)
    folder = sample_photos.write_sample_photos(tmp_path / "new" / "photos")
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"photo_{number:03d}.png" for number in range(1, 17)]
    (folder / names[0]).write_bytes(b"mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    sample_photos.write_sample_photos(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert isinstance(few, ImageSet)

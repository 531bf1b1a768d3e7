"""Sets of images get to where the experiments look for them, whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from experiments.get_data import SETS, DataSet, put, standing

from experiments import get_data
from fewsight._base.errors import InvalidInput

CALTECH = replace(SETS["caltech101"], n_images=4, n_classes=2)
CUT = DataSet("more/pets", "pets", "nobody", "none", 4, n_classes=2, per_class=2)


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """As people publish a set: inside further folders, with things beside the images."""
    folder = tmp_path / "published" / "101_ObjectCategories"
    for name in ("ant", "bee"):
        for number in (1, 2):
            (folder / name).mkdir(parents=True, exist_ok=True)
            (folder / name / f"image_{number}.jpg").write_bytes(f"{name} {number}".encode())
    (folder / "ant" / ".hidden.jpg").write_bytes(b"no")
    (folder / "readme.txt").write_text("words")
    return tmp_path / "published"


def test_a_folder_a_zip_and_a_tar_come_to_the_same_place(published: Path, tmp_path: Path) -> None:
    zipped, tarred = tmp_path / "set.zip", tmp_path / "set.tar.gz"
    with zipfile.ZipFile(zipped, "w") as archive:
        for path in published.rglob("*"):
            archive.write(path, path.relative_to(published))
    with tarfile.open(tarred, "w:gz") as tar:
        tar.add(published, arcname=".")
    for number, given in enumerate((published, zipped, tarred)):
        data = tmp_path / f"data{number}"
        assert put(CALTECH, given, data) == "there"
        found = sorted(str(path.relative_to(data)) for path in data.rglob("*.jpg"))
        assert found == [f"caltech101/{name}/image_{number}.jpg" for name in ("ant", "bee") for number in (1, 2)]
        assert (data / "caltech101/bee/image_2.jpg").read_bytes() == b"bee 2"
        assert [path.name for path in data.iterdir()] == ["caltech101"]  # nothing is left beside it


def test_what_is_there_is_not_replaced_and_what_is_no_archive_leaves_nothing(published: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "junk.zip").write_bytes(b"no archive")
    with pytest.raises(InvalidInput, match="must be a folder, a zip or a tar that can be read"):
        put(CALTECH, tmp_path / "junk.zip", data)
    assert list(data.iterdir()) == []
    put(CALTECH, published, data)
    with pytest.raises(InvalidInput, match="must not be there yet"):
        put(CALTECH, published, data)


def test_an_archive_cannot_write_outside(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar", "w") as tar:
        (tmp_path / "x.jpg").write_bytes(b"x")
        tar.add(tmp_path / "x.jpg", arcname="../../escaped.jpg")
    with pytest.raises(InvalidInput, match="can be read"):
        put(CALTECH, tmp_path / "evil.tar", tmp_path / "data")
    assert not list(tmp_path.rglob("escaped.jpg"))


def test_a_cut_set_takes_each_content_once_and_none_of_two_classes(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for split in ("train", "test"):
        for name in ("cat", "dog"):
            (source / split / name).mkdir(parents=True)
            for number in range(3):
                (source / split / name / f"{number}.jpg").write_bytes(f"{split} {name} {number}".encode())
    (source / "train/cat/again.jpg").write_bytes(b"train cat 0")
    (source / "train/cat/both.jpg").write_bytes(b"in both")
    (source / "train/dog/both.jpg").write_bytes(b"in both")
    data = tmp_path / "data"
    assert put(CUT, source, data) == "there"
    contents = [path.read_bytes() for path in (data / "more/pets").rglob("*.jpg")]
    assert len(set(contents)) == 4
    assert b"in both" not in contents
    assert all(path.name.startswith(("train_", "test_")) for path in (data / "more/pets").rglob("*.jpg"))
    other = tmp_path / "other"
    put(CUT, source, other)
    assert {p.relative_to(data) for p in data.rglob("*.jpg")} == {p.relative_to(other) for p in other.rglob("*.jpg")}


def test_a_set_that_is_not_whole_is_said_to_be(published: Path, tmp_path: Path) -> None:
    assert standing(CALTECH, tmp_path / "nowhere") == "missing"
    put(CALTECH, published, tmp_path)
    (tmp_path / "caltech101/ant/image_1.jpg").unlink()
    assert standing(CALTECH, tmp_path / "caltech101") == "3 images in 2 classes, not 4 in 2"


def test_the_command_names_every_set_with_its_source_and_place() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "FEWSIGHT_DATA"}
    command = [sys.executable, "-m", "experiments.get_data"]
    root = Path(get_data.__file__).parents[1]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    for each in SETS.values():
        assert each.source in done.stdout
        assert f"DATA/{each.layout}" in done.stdout
    refused = subprocess.run(
        [*command, "--put", "caltech101", "x.zip"], cwd=root, env=environment, capture_output=True, text=True
    )
    assert refused.stderr == "get_data: DATA must be the folder for all sets, got none.\n"

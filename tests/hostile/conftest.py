"""A folder of hostile files among good photographs, and a model learned from good ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the modules that these tests share with the fuzzing script

from hostile_commands import SMALL, Finished, command, environment, obey_file_modes, run
from hostile_kinds import CATEGORIES, HostileFolder, encoded, tiles_by_category, write_hostile_folder


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all commands, as a user has it."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache."""
    monkeypatch.setenv("FEWSIGHT_CACHE", str(cache))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileFolder]:
    folder = write_hostile_folder(tmp_path_factory.mktemp("hostile") / "photos")
    yield folder
    for path in folder.path.glob("*/closed folder"):
        path.chmod(0o700)  # so that it can be removed


@pytest.fixture(scope="session")
def learned(hostile: HostileFolder, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Finished, Path]:
    """What `learn` made of the hostile folder: how it ended, and the model file."""
    model = tmp_path_factory.mktemp("model") / "model.fewsight"
    arguments = command("learn", hostile.path, "-o", model, *SMALL)
    return run(arguments, env=environment(cache), prepare=obey_file_modes), model


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of good photographs in three categories, to be left as it is."""
    folder = tmp_path_factory.mktemp("photos")
    tiles = tiles_by_category()
    for category in CATEGORIES:
        (folder / category).mkdir()
        for number, tile in enumerate(tiles[category][:6]):
            (folder / category / f"{number}.png").write_bytes(encoded(tile, "PNG"))
    return folder


@pytest.fixture(scope="session")
def model_file(photos: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of those photographs."""
    path = tmp_path_factory.mktemp("good model") / "model.fewsight"
    finished = run(command("learn", photos, "-o", path, *SMALL), env=environment(cache))
    assert finished.code == 0, finished.err
    return path

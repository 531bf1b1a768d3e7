"""A model learned from a small folder of photographs, and the command line to ask."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fewsight.apps.cli import app

SMALL = ("--set", "spatial_pmk.n_words=20", "--set", "spatial_pmk.n_descriptors=2000")

Run = Callable[..., Result]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's cache; they share one, as a user's commands do."""
    monkeypatch.setenv("FEWSIGHT_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def model_file(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of those categories."""
    path = tmp_path_factory.mktemp("model") / "model.fewsight"
    result = CliRunner().invoke(app, ["learn", str(photos), "-o", str(path), "--no-cache", *SMALL])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def run() -> Run:
    """Run a command in this process."""

    def invoke(*arguments: str | Path) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return invoke


@pytest.fixture
def refused(run: Run) -> Callable[..., str]:
    """Run a command that must fail for a reason a person can mend; the one line it says."""

    def invoke(*arguments: str | Path) -> str:
        result = run(*arguments)
        assert result.exit_code == 1, result.output
        assert result.stdout == ""
        said = result.stderr.splitlines()
        assert len(said) == 1, said
        assert said[0].startswith("fewsight: ")
        return said[0].removeprefix("fewsight: ")

    return invoke


@pytest.fixture(scope="session")
def one_of_grass(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All but one photograph of grass are gone."""
    folder = Path(shutil.copytree(photos, tmp_path_factory.mktemp("few") / "photos"))
    for path in sorted((folder / "grass").iterdir())[1:]:
        path.unlink()
    return folder

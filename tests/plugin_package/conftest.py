"""The package of somebody else, installed for the tests of this folder."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from fewsight import CHANNELS, KERNEL_FAMILIES, KERNELS, LEARNERS, QUERY_RULES

PACKAGE = Path(__file__).parent
REGISTRIES = (CHANNELS, KERNELS, LEARNERS, QUERY_RULES, KERNEL_FAMILIES)


def write_metadata(folder: Path) -> None:
    """What pip would leave of the package beside its modules: its name, its version and its entry points."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = project["entry-points"].items()
    sections = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items()) for group, points in groups
    ]
    (info / "entry_points.txt").write_text("\n".join(sections))


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What has to stand in the path of Python."""
    folder = tmp_path_factory.mktemp("installed")
    write_metadata(folder)
    return [str(PACKAGE), str(folder)]


@pytest.fixture
def installed(paths: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package is there, as if it had been when the process began, and gone afterwards."""
    for path in paths:
        monkeypatch.syspath_prepend(path)
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "_others", {})
        monkeypatch.setattr(registry, "_waiting", None)
    yield
    for module in [name for name in sys.modules if name.startswith("example_parts")]:
        del sys.modules[module]

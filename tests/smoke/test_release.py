"""What a release demands, and that files which repeat a fact repeat it right."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from release import ROOT, at_hand, built_files, reason_against, version_of

import fewsight


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project as it must be to be released."""
    (tmp_path / "src" / "fewsight").mkdir(parents=True)
    (tmp_path / "src" / "fewsight" / "__init__.py").write_text('__version__ = "1.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 (2031-05-06)\n\n- More.\n")
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    someone = ("-c", "user.name=someone", "-c", "user.email=someone@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", folder, *someone, *arguments], check=True, capture_output=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a step")


def test_a_clean_tree_with_a_dated_changelog_can_be_released(tree: Path) -> None:
    assert version_of(tree) == "1.2.0"
    assert reason_against(tree, "1.2.0") is None


def test_what_is_not_ready_is_refused_in_one_sentence(tree: Path) -> None:
    (tree / "new.txt").write_text("x")
    assert reason_against(tree, "1.2.0") == "the tree must be as committed, got changes in new.txt."
    commit(tree)
    git(tree, "tag", "v1.2.0")
    assert reason_against(tree, "1.2.0") == "v1.2.0 must be a new tag, got one that is there; raise __version__."
    git(tree, "tag", "--delete", "v1.2.0")
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 (unreleased)\n")
    commit(tree)
    refused = reason_against(tree, "1.2.0")
    assert refused == "CHANGELOG.md must have the heading '## 1.2.0 (YYYY-MM-DD)', got none."


def test_only_a_wheel_and_an_sdist_of_the_version_are_taken(tmp_path: Path) -> None:
    (tmp_path / "fewsight-1.2.0.tar.gz").touch()
    with pytest.raises(SystemExit, match="dist must hold"):
        built_files(tmp_path, "1.2.0")
    (tmp_path / "fewsight-1.2.0-py3-none-any.whl").touch()
    assert len(built_files(tmp_path, "1.2.0")) == 2
    (tmp_path / "fewsight-1.1.0.tar.gz").touch()
    with pytest.raises(SystemExit, match=r"fewsight-1\.1\.0"):
        built_files(tmp_path, "1.2.0")


def test_a_python_that_cannot_be_started_is_named_before_anything_is_built() -> None:
    assert at_hand([sys.executable, sys.executable]) == [sys.executable]
    with pytest.raises(SystemExit, match=r"^release: python0\.9 must start a Python"):
        at_hand([sys.executable, "python0.9"])


def test_the_version_stands_in_one_place_and_is_repeated_right() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "src/fewsight/__init__.py"
    assert version_of(ROOT) == fewsight.__version__
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [fewsight.__version__]
    assert f"\n## {fewsight.__version__} (" in (ROOT / "CHANGELOG.md").read_text()


def test_what_the_sdist_names_is_there() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for name in project["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]:
        assert (ROOT / name.lstrip("/")).exists(), name


def test_the_workflow_runs_on_the_oldest_and_the_newest_python() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"].removeprefix(">=")
    makefile = (ROOT / "Makefile").read_text()
    (oldest,) = re.findall(r"^OLDEST_PYTHON \?= python(.+)$", makefile, re.MULTILINE)
    (newest,) = re.findall(r"^NEWEST_PYTHON \?= python(.+)$", makefile, re.MULTILINE)
    assert oldest == needed
    workflows = ROOT / ".github" / "workflows"
    assert f'python: ["{oldest}", "{newest}"]' in (workflows / "tests.yml").read_text()
    assert re.search(rf"^ +{oldest}\n +{newest}$", (workflows / "release.yml").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", ["tests", "release"])
def test_every_target_that_a_workflow_makes_is_one(name: str) -> None:
    made = re.findall(r"run: make ([a-z -]+)", (ROOT / ".github" / "workflows" / f"{name}.yml").read_text())
    assert made
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {target for line in made for target in line.split()} <= set(targets)

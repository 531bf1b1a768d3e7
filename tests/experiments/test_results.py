"""Committed results name the commit they come from, and come from a commit: otherwise nobody could repeat them."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path

import pytest
from experiments.common import command
from experiments.common.command import check_repeatable, commit_of_tree

from fewsight._base.errors import InvalidInput

RESULTS = Path(__file__).parents[2] / "experiments/results"
FILES = sorted(path.relative_to(RESULTS).as_posix() for path in RESULTS.rglob("*.json"))
COMMIT = re.compile(r"[0-9a-f]{7,40}")
# Written from a tree that differed from its commit, if only by the result file of another experiment. To run each again takes
# minutes to hours. The list may only become shorter: a file that was run again from a commit leaves it.
FROM_A_MODIFIED_TREE = {
    *(f"active/{name}.json" for name in ("audit", "exploring", "stopping_caltech101", "wrong_labels")),
    "embeddings/accuracy.json",
    *(f"kapoor2010/{name}.json" for name in ("fig7", "fig9", "fig10", "fig10_twins", "table4")),
    *(f"rodner2012/{name}.json" for name in ("bound", "kernels", "kernels_bound", "kernels_evidence", "ranking")),
    "rodner2012/relevance.json",
}


def commit_of(name: str) -> str:
    return str(json.loads((RESULTS / name).read_text())["protocol"]["commit"])


@pytest.mark.parametrize("name", FILES)
def test_a_result_names_its_commit_and_the_tree_was_not_modified(name: str) -> None:
    commit = commit_of(name)
    assert COMMIT.fullmatch(commit.removesuffix("+"))
    assert not commit.endswith("+") or name in FROM_A_MODIFIED_TREE, "run it again from a commit"


def test_the_list_of_old_results_holds_no_other_file() -> None:
    mended = {name for name in FROM_A_MODIFIED_TREE if name not in FILES or not commit_of(name).endswith("+")}
    assert not mended, "these come from a commit now: take them from the list"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with some code and a result."""
    for name in (
        "src/a.py",
        "experiments/b.py",
        "experiments/results/c.json",
        "benchmarks/d.py",
        "docs/e.md",
        "pyproject.toml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "all", "--no-verify"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setattr(command, "RESULTS", tmp_path / "experiments/results")
    return tmp_path


@pytest.mark.parametrize("name", ["src/a.py", "src/new.py", "experiments/b.py", "benchmarks/d.py", "pyproject.toml"])
def test_changed_code_marks_a_result_and_may_not_be_written_among_the_others(name: str, repository: Path) -> None:
    out = argparse.Namespace(json=repository / "experiments/results/new.json")
    check_repeatable(out)
    (repository / name).write_text("2")
    commit = commit_of_tree()
    assert commit is not None
    assert commit.endswith("+")
    assert COMMIT.fullmatch(commit[:-1])
    with pytest.raises(InvalidInput, match=r"new\.json: results must come from a commit, but code was changed"):
        check_repeatable(out)
    check_repeatable(argparse.Namespace(json=repository / "elsewhere.json"))
    check_repeatable(argparse.Namespace())


@pytest.mark.parametrize("name", ["experiments/results/c.json", "experiments/results/new.json", "docs/e.md"])
def test_other_results_and_documents_mark_nothing(name: str, repository: Path) -> None:
    (repository / name).write_text("2")
    assert COMMIT.fullmatch(commit_of_tree() or "")


def test_outside_a_repository_no_commit_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit_of_tree() is None

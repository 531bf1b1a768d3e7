"""A result replaces an older one of its own kind, and nothing else: every kind as the program itself writes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from fewsight._base.errors import InvalidInput
from fewsight.apps.cli import app
from fewsight.apps.workbench.result_kinds import (
    LABELS,
    MODEL,
    PREDICTION_PAGE,
    PREDICTIONS,
    REPORT,
    RESULT_KINDS,
    RESULTS,
    ResultKind,
    check_replaceable,
)

SMALL = ("--channels", "colour", "--set", "colour.longest_side=64", "--no-cache")
TITLES = [kind.title for kind in RESULT_KINDS]


def run(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def written(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[ResultKind, Path]:
    """One file of each kind."""
    place = tmp_path_factory.mktemp("results")
    files = {kind: place / f"{number}" for number, kind in enumerate(RESULT_KINDS)}
    run("learn", photos, "-o", files[MODEL], *SMALL)
    one = next(photos.glob("*/*.png"))
    run("predict", files[MODEL], one, "-o", files[PREDICTIONS], "--report", files[PREDICTION_PAGE], "--no-cache")
    quick = ("--per-class", "2", "--test-per-class", "2", "--repeats", "1", "--learners", "nn")
    run("evaluate", photos, *quick, "--json", files[RESULTS], "--report", files[REPORT], *SMALL)
    run("import", photos, photos, "--project", place / "project.sqlite")
    run("export", photos, "--project", place / "project.sqlite", "-o", files[LABELS])
    return files


@pytest.mark.parametrize("old", RESULT_KINDS, ids=TITLES)
def test_each_kind_is_known_by_its_content_and_as_no_other(
    old: ResultKind, written: dict[ResultKind, Path], tmp_path: Path
) -> None:
    file = tmp_path / "result"
    file.write_bytes(written[old].read_bytes())
    assert [kind for kind in RESULT_KINDS if kind.holds(file)] == [old]
    check_replaceable(file, old)
    for kind in RESULT_KINDS:
        if kind is not old:
            with pytest.raises(InvalidInput) as refusal:
                check_replaceable(file, kind)
            assert str(refusal.value) == (
                f"{file}: is a {old.title}, so no {kind.title} is written over it; name another file, or remove this one first."
            )


def test_a_project_is_named(written: dict[ResultKind, Path]) -> None:
    project = written[MODEL].with_name("project.sqlite")
    for kind in RESULT_KINDS:
        with pytest.raises(InvalidInput, match="is a project, so no "):
            check_replaceable(project, kind)


@pytest.mark.parametrize("kind", RESULT_KINDS, ids=TITLES)
@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("portrait.jpg", b"not even one", "a photograph"),
        ("no ending", b"\x89PNG\r\n\x1a\n", "a photograph"),
        ("notes.txt", b"notes", None),
        ("a.json", b'{"protocol": 1}', None),
        ("a.json", b"[" * 100_000, None),
        ("a.csv", b"file,category,probability,uncertainty,unknowns\n", None),
        ("a.zip", b"PK\x03\x04", None),
    ],
)
def test_what_somebody_else_made_stays(
    kind: ResultKind, name: str, content: bytes, found: str | None, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=f"is {found or f'no {kind.title}'}, so no {kind.title} is written"):
        check_replaceable(tmp_path / name, kind)


@pytest.mark.parametrize("kind", RESULT_KINDS, ids=TITLES)
def test_a_file_without_content_or_none_at_all_is_replaced(kind: ResultKind, tmp_path: Path) -> None:
    check_replaceable(tmp_path / "new", kind)
    (tmp_path / "empty.jpg").touch()
    check_replaceable(tmp_path / "empty.jpg", kind)


def test_the_demo_replaces_its_own_results_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Callable[..., str]
) -> None:
    monkeypatch.setattr("fewsight.apps.workbench.demonstration.sample_set", lambda: pytest.fail("work was begun"))
    (tmp_path / "report.html").write_text("<title>mine</title>")
    assert "is no report, so no report is written over it" in refused("demo", "--output", tmp_path)
    assert (tmp_path / "report.html").read_text() == "<title>mine</title>"

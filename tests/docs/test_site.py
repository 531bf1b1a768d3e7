"""The documentation site: pages made from the program, docstrings as numpydoc reads them, and nothing fetched from outside."""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import fewsight
import fewsight.testing

ROOT = Path(__file__).parents[2]
TUTORIALS = sorted((ROOT / "examples").glob("*.py"))


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"site_{name}", ROOT / "docs" / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


pages, docstrings, offline = module("pages"), module("docstrings"), module("offline")


def test_everything_that_is_exported_stands_in_the_reference() -> None:
    page = pages.api_page()
    for name in set(fewsight.__all__) - {"__version__"}:
        assert re.search(rf"^(   |\.\. py:data:: ){name}$", page, re.MULTILINE), name
    page = pages.testing_page()
    for name in fewsight.testing.__all__:
        assert re.search(rf"^(   |\.\. py:data:: fewsight\.testing\.){name}$", page, re.MULTILINE), name


def test_every_command_and_every_option_stands_in_the_reference() -> None:
    import typer

    from fewsight.apps.cli.program import app

    page = pages.command_page()
    program = typer.main.get_command(app)
    assert len(program.commands) > 5
    for name, command in program.commands.items():
        section = page.split(f"\n## fewsight {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for word in parameter.opts if parameter.param_type_name == "option" else [parameter.metavar]:
                assert f"`{word}" in section or f"`[{word}" in section, (name, word)
        assert "[bold]" not in section


def test_pages_that_stay_the_same_are_not_written_again(tmp_path: Path) -> None:
    pages.write_pages(tmp_path)
    (tmp_path / "api.rst").write_text("old")
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    pages.write_pages(tmp_path)
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {name for name in before if before[name] != after[name]} == {"api.rst"}
    assert (tmp_path / "api.rst").read_text() == pages.api_page()


def test_a_sentence_behind_a_parameter_is_no_type() -> None:
    wrapped = (
        "weights : of several Gram matrices or channels: average, one number for each, or evidence, which are learned"
    )
    lines = [
        "Short.",
        "",
        "Parameters",
        "----------",
        "noise : its variance, > 0.",
        wrapped,
        "    together.",
        "X : array (n, d)",
    ]
    lines += ["    The rows.", "", "Returns", "-------", "array (n,)", "    How sure."]
    made = docstrings.as_numpydoc(lines)
    assert made[4:6] == ["noise", "    its variance, > 0."]
    assert made[6:8] == ["weights", f"    {wrapped.partition(' : ')[2]}"]
    assert made[9:] == ["X : array (n, d)", "    The rows.", "", "Returns", "-------", "array (n,)", "    How sure."]
    said = docstrings.described("\n".join(lines), "Parameters")
    assert said["noise"] == "its variance, > 0."
    assert said["weights"].endswith("learned together.")
    assert set(said) == {"noise", "weights", "X"}


@pytest.mark.parametrize(
    ("name", "text", "address"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', "https://cdn.example/x.js"),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/x.css">', "//fonts.example/x.css"),
        ("a.html", '<p style="background: url(http://a.example/b.png)">', "http://a.example/b.png"),
        ("a.html", "<style>@import 'https://a.example/b.css';</style>", "https://a.example/b.css"),
        ("a.html", '<script>fetch("https://a.example/count")</script>', "https://a.example/count"),
        ("a.css", "@font-face { src: url('https://a.example/f.woff2') }", "https://a.example/f.woff2"),
        ("a.js", 'image.src = "https://a.example/pixel.gif"', "https://a.example/pixel.gif"),
        ("sub/a.html", '<img alt="" srcset="a.png 1x, https://a.example/b.png 2x">', "https://a.example/b.png 2x"),
    ],
)
def test_what_a_page_fetches_from_outside_is_found(tmp_path: Path, name: str, text: str, address: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text)
    assert offline.outside_requests(tmp_path) == [f"{name}: {address}"]


def test_links_and_what_lies_in_the_site_are_fine(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<link rel="canonical" href="https://a.example/"><a href="https://b.example">b</a><script src="x.js"></script>'
        '<svg xmlns="http://www.w3.org/2000/svg"></svg><img src="a.png" alt="">'
    )
    (tmp_path / "x.js").write_text(
        "/* licence: https://a.example */ fetch('search.json'); const ns = 'http://www.w3.org/2000/svg'"
    )
    (tmp_path / "x.css").write_text("/* https://a.example */ body { background: url(a.png) }")
    assert offline.outside_requests(tmp_path) == []


def test_every_tutorial_has_a_place_and_a_line_in_the_overview() -> None:
    assert [path.stem for path in TUTORIALS] == sorted(pages.TUTORIALS)
    overview = (ROOT / "examples" / "README.rst").read_text()
    assert re.findall(r"^``(\w+)\.py``", overview, re.MULTILINE) == list(pages.TUTORIALS)


@pytest.mark.slow
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_the_tutorial_runs_and_needs_nothing_but_public_names(path: Path, tmp_path: Path) -> None:
    imported = re.findall(r"^(?:from|import) (fewsight[\w.]*)", path.read_text(), re.MULTILINE)
    assert set(imported) <= {"fewsight", "fewsight.testing"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:FigureCanvasAgg", str(path)],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert list(tmp_path.iterdir()) == []  # nothing is left behind


def test_the_parts_of_the_formats_page_are_those_of_the_code() -> None:
    from fewsight.apps.workbench.project import schema
    from fewsight.apps.workbench.result_kinds import LABEL_COLUMNS, PREDICTION_COLUMNS
    from fewsight.evaluation import METRICS
    from fewsight.images.table import CATEGORY_COLUMNS, FILE_COLUMNS

    page = (ROOT / "docs" / "reference" / "formats.md").read_text()
    for word in (*LABEL_COLUMNS, *PREDICTION_COLUMNS, *METRICS, *FILE_COLUMNS, *CATEGORY_COLUMNS):
        assert f"`{word}`" in page, word
    tables = re.findall(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", schema.SCHEMA, re.DOTALL)
    assert len(tables) == len([name for kind, name in schema.PARTS if kind == "table"])
    for table, columns in tables:
        (row,) = re.findall(rf"^\| `{table}` \| (.*) \|$", page, re.MULTILINE)
        said = re.sub(r"\([^)]*\)", "", row)
        declared = re.findall(r"(?:^|,)\s*(\w+) (?:TEXT|INTEGER|BLOB|REAL)", columns)
        assert re.findall(r"`(\w+)`", said) == declared
    assert f"`user_version` ({schema.VERSION})" in page
    assert f"0x{schema.APPLICATION_ID:x}" in page


def test_the_documented_header_is_that_of_a_model_file() -> None:
    import json
    import zipfile

    page = (ROOT / "docs" / "reference" / "formats.md").read_text()
    section = page.split("## Model file")[1].split("\n## ")[0]
    with zipfile.ZipFile(ROOT / "tests" / "persistence" / "fixtures" / "model_v3.fewsight") as archive:
        assert archive.namelist()[0] == "header.json"
        header = json.loads(archive.read("header.json"))
    assert set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)) == set(header)


def test_everything_in_results_is_documented(photos: Path, tmp_path: Path) -> None:
    import json

    from typer.testing import CliRunner

    from fewsight.apps.cli.program import app

    output = tmp_path / "results.json"
    options = ["--channels", "colour", "--learners", "gp", "--per-class", "2", "--repeats", "1", "--no-cache"]
    done = CliRunner().invoke(app, ["evaluate", str(photos), *options, "--json", str(output)])
    assert done.exit_code == 0, done.output
    found = json.loads(output.read_text(encoding="utf-8"))
    section = (ROOT / "docs/reference/formats.md").read_text().split("## Results")[1].split("\n## ")[0]
    for name in (*found, *found["protocol"], *found["records"][0], *(record["metric"] for record in found["records"])):
        assert f"`{name}`" in section, name


def test_classes_list_the_properties_that_they_document() -> None:
    found = pages.properties()
    assert "log_evidence" in found["fewsight.Posterior"]
    assert inspect.getdoc(inspect.getattr_static(fewsight.Posterior, "log_evidence"))

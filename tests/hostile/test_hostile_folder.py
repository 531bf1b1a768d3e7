"""A folder of hostile files among good ones: all that is good is used, all that is bad is listed, whatever is asked."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hostile_commands import SMALL, Finished, command, environment, obey_file_modes, run
from hostile_kinds import EMPTY, KINDS, LONG, NOT_UTF8, SCRIPT, HostileFolder, encoded, tiles_by_category, usable_kinds
from typer.testing import CliRunner

from fewsight.apps.cli import app
from fewsight.images.files import printable
from fewsight.persistence import load

pytestmark = pytest.mark.slow  # each command runs in a process of its own

MEMORY_LIMIT = 2**30  # bytes, of the whole process with its libraries, which take a quarter of it


def check_end(finished: Finished) -> None:
    """It came to the end, said only what it means to say, and stayed small."""
    assert finished.code == 0, finished.err
    assert "Traceback" not in finished.out + finished.err
    assert all(line.startswith("fewsight: ") for line in finished.err.splitlines()), finished.err
    assert finished.peak_bytes < MEMORY_LIMIT


def check_listed(finished: Finished, bad: dict[str, str]) -> None:
    """Every bad file is named once, with its reason, and no other."""
    reasons = {}
    for path, reason in bad.items():
        named = [line for line in finished.said if line.startswith(f"{printable(path)}: ")]
        assert len(named) == 1, (path, named)
        reasons[path] = named[0].removeprefix(f"{printable(path)}: ")
        assert reason in reasons[path], path
    assert f"{len(bad)} files could not be used." in finished.said
    assert len([line for line in finished.said if line.startswith(os.sep)]) == len(bad)


def test_there_are_many_kinds_of_hostile_files() -> None:
    assert len(KINDS) > 70
    assert len([kind for kind in usable_kinds() if not kind.good]) > 25


def test_learn_uses_every_good_image(hostile: HostileFolder, learned: tuple[Finished, Path]) -> None:
    finished, model_file = learned
    check_end(finished)
    assert f"Learned {len(hostile.good)} categories from {hostile.n_good} images." in finished.out
    counts = {category: len(paths) for category, paths in hostile.good.items()}
    assert Counter(load(model_file).labels_.tolist()) == counts


def test_learn_lists_every_bad_file_with_its_reason(hostile: HostileFolder, learned: tuple[Finished, Path]) -> None:
    finished, _ = learned
    check_listed(finished, hostile.bad)
    assert finished.said[-1] == f"no usable image in the category {EMPTY}, which was left out."


def test_predict_has_a_row_for_every_good_image_and_lists_every_bad_file(
    hostile: HostileFolder, learned: tuple[Finished, Path], cache: Path, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    arguments = command("predict", learned[1], hostile.path, "-o", table, "--probabilities")
    finished = run(arguments, env=environment(cache), prepare=obey_file_modes)
    check_end(finished)
    check_listed(finished, hostile.bad)
    with table.open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted(row["file"] for row in rows) == sorted(path for paths in hostile.good.values() for path in paths)
    assert {row["category"] for row in rows} <= set(hostile.good)
    assert all(0 < float(row["probability"]) <= 1 for row in rows)
    assert os.listdir(tmp_path) == ["table.csv"]


def test_evaluate_draws_good_images_only_and_lists_every_bad_file(
    hostile: HostileFolder, cache: Path, tmp_path: Path
) -> None:
    results, report = tmp_path / "results.json", tmp_path / "report.html"
    protocol = ("--per-class", "2", "--repeats", "1", "--json", results, "--report", report)
    arguments = command("evaluate", hostile.path, *protocol, *SMALL)
    finished = run(arguments, env=environment(cache), prepare=obey_file_modes)
    check_end(finished)
    check_listed(finished, hostile.bad)
    unreadable = json.loads(results.read_text())["protocol"]["unreadable"]
    assert {entry["name"] for entry in unreadable} == {printable(path) for path in hostile.bad}
    page = report.read_text()
    assert "<script" not in page
    assert "truncated.jpg" in page


def test_a_table_on_stdout_keeps_the_very_names(hostile: HostileFolder, learned: tuple[Finished, Path]) -> None:
    odd = [path for paths in hostile.good.values() for path in paths if path.endswith((NOT_UTF8, SCRIPT, LONG))]
    result = CliRunner().invoke(app, ["predict", str(learned[1]), *odd])
    assert result.exit_code == 0
    rows = list(csv.reader(result.stdout_bytes.decode("utf-8", "surrogateescape").splitlines()))
    assert sorted(row[0] for row in rows[1:]) == sorted(odd)


def test_a_good_file_whose_name_reads_like_that_of_a_broken_one_is_used(
    learned: tuple[Finished, Path], tmp_path: Path
) -> None:
    content = encoded(tiles_by_category()["brick"][0], "PNG")
    (tmp_path / "a\\n.png").write_bytes(content)
    (tmp_path / "a\n.png").write_bytes(content[:500])
    result = CliRunner().invoke(app, ["predict", str(learned[1]), str(tmp_path)])
    assert result.exit_code == 0
    assert [row[0] for row in csv.reader(result.stdout.splitlines())] == ["file", f"{tmp_path}/a\\n.png"]
    assert result.stderr.splitlines()[0] == f"fewsight: {tmp_path}/a\\n.png: truncated"


def test_an_answer_that_cannot_be_written_is_one_line(cache: Path) -> None:
    finished = run(command("--help"), env=environment(cache), stdout=Path("/dev/full"))
    assert finished.code == 1
    assert len(finished.said) == 1
    assert finished.said[0].endswith("No space left on device.")


def test_an_answer_that_nobody_wants_is_no_error(cache: Path) -> None:
    closed = ["sh", "-c", 'exec "$@" >&-', "sh"]
    finished = run([*closed, *command("channels")], env=environment(cache))
    assert (finished.code, finished.err) == (0, "")

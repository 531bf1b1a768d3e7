"""Nothing that a command reads is ever overwritten: every verb, every kind of input, by whatever path it is named."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from PIL import Image as Pillow
from typer.testing import CliRunner

from fewsight._base.errors import InvalidInput
from fewsight.apps.cli import app
from fewsight.apps.workbench import ImageSource
from fewsight.apps.workbench.output_paths import check_filled, check_outputs
from fewsight.images import ImageFile
from small_networks import write_vectors

PHOTOGRAPHS = ("photos/owl/1.png", "photos/owl/2.png", "photos/robin/1.png", "photos/loose.jpg", "elsewhere/3.png")
TABLE = "file,category\nowl/1.png,owl\nrobin/1.png,robin\n../elsewhere/3.png,owl\n"
VECTORS = "--set", "vectors.table=vectors.npz"

# A verb: its arguments, the options that name outputs, and what it reads.
LEARN = ("learn", "photos"), ("-o",), ("photos/owl/1.png", "photos/robin/1.png", "photos/loose.jpg")
LEARN_TABLE = (
    ("learn", "photos", "--labels", "labels.csv"),
    ("-o",),
    ("labels.csv", "photos/owl/1.png", "elsewhere/3.png", "photos/owl/2.png"),
)
LEARN_VECTORS = ("learn", "photos", "--channels", "vectors", *VECTORS), ("-o",), ("vectors.npz", "photos/owl/1.png")
PREDICT = (
    ("predict", "model.fewsight", "photos"),
    ("-o", "--report"),
    ("model.fewsight", "photos/owl/2.png", "photos/loose.jpg"),
)
PREDICT_FILE = (
    ("predict", "model.fewsight", "elsewhere/3.png"),
    ("-o", "--report"),
    ("model.fewsight", "elsewhere/3.png"),
)
PREDICT_VECTORS = ("predict", "model.fewsight", "photos", *VECTORS), ("-o", "--report"), ("vectors.npz",)
EVALUATE = ("evaluate", "photos", "--labels", "labels.csv"), ("--json", "--report"), ("labels.csv", *PHOTOGRAPHS)
BORROW = ("evaluate", "photos", "--borrow"), ("--json",), ("photos/owl/1.png", "photos/robin/1.png")
EXPORT = ("export", "photos"), ("-o",), ("photos/owl/1.png", "photos/loose.jpg")
VERBS = (EXPORT, LEARN, LEARN_TABLE, LEARN_VECTORS, PREDICT, PREDICT_FILE, PREDICT_VECTORS, EVALUATE, BORROW)
WITHOUT_INPUT = {"cache", "demo", "channels", "parts"}
PROJECT_VERBS = {
    "label",
    "status",
    "sort",
    "import",
    "history",
    "undo",
}  # which write to the project file alone, or have rules of their own


@dataclass(frozen=True)
class Spelling:
    """Another way to name a file."""

    name: str
    of: Callable[[Path], str]


def symbolic_link(path: Path) -> str:
    Path("link to it").symlink_to(path.absolute())
    return "link to it"


def hard_link(path: Path) -> str:
    os.link(path, "same file")
    return "same file"


def linked_folder(path: Path) -> str:
    Path("linked folder").symlink_to(path.parent.absolute(), target_is_directory=True)
    return f"linked folder/{path.name}"


SPELLINGS = (
    Spelling("plain", str),
    Spelling("symbolic link", symbolic_link),
    Spelling("hard link", hard_link),
    Spelling("through a linked folder", linked_folder),
    Spelling("relative", lambda path: f"photos/../{path}"),
    Spelling("absolute", lambda path: str(path.absolute())),
    Spelling("other case", lambda path: str(path.with_name(path.name.upper()))),
)
CASES = [
    pytest.param(arguments, option, read, spelling, id=f"{' '.join(arguments)} {option} {read}, {spelling.name}")
    for arguments, options, inputs in VERBS
    for option in options
    for read in inputs
    for spelling in SPELLINGS
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one of every kind of input."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name in PHOTOGRAPHS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(rng.integers(0, 255, (24, 24, 3), dtype=np.uint8)).save(tmp_path / name)
    (tmp_path / "labels.csv").write_text(TABLE)
    (tmp_path / "model.fewsight").write_bytes(b"a model")
    np.savez(tmp_path / "vectors.npz", vectors=np.eye(2), files=np.array(["a", "b"]))
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("arguments", "option", "read", "spelling"), CASES)
def test_an_output_that_is_an_input_is_refused_and_the_input_stays(
    arguments: tuple[str, ...], option: str, read: str, spelling: Spelling, place: Path
) -> None:
    output = spelling.of(Path(read))
    before = contents(place)
    more = [] if arguments[0] == "export" else ["--no-cache"]
    result = CliRunner().invoke(app, [*arguments, option, output, *more])
    assert result.exit_code == 1, result.output
    assert "would overwrite" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert contents(place) == before


def commands_with_outputs() -> Iterator[tuple[str, str]]:
    """Every command of the program, and each of its options whose value is called FILE: what is read has other names."""
    for name, command in typer.main.get_command(app).commands.items():
        yield from ((name, parameter.opts[0]) for parameter in command.params if parameter.metavar == "FILE")


def test_every_verb_that_writes_is_in_the_table() -> None:
    tried = {(arguments[0], option) for arguments, options, _ in VERBS for option in options}
    short = {"-o": "--output"}
    tried = {(verb, short.get(option, option)) for verb, option in tried}
    assert set(commands_with_outputs()) == tried
    assert {arguments[0] for arguments, _, _ in VERBS} | WITHOUT_INPUT | PROJECT_VERBS == set(
        typer.main.get_command(app).commands
    )


def test_two_results_do_not_share_a_file(place: Path) -> None:
    for one, other in (
        ("x.html", "x.html"),
        ("x.html", "photos/../x.html"),
        ("x.html", "X.HTML"),
        ("é.h", "e\u0301.h"),
    ):
        result = CliRunner().invoke(app, ["evaluate", "photos", "--json", one, "--report", other])
        assert result.exit_code == 1
        assert "named for two results; each needs a file of its own." in result.stderr
    assert set(contents(place)) == {*PHOTOGRAPHS, "labels.csv", "model.fewsight", "vectors.npz"}


def test_results_may_replace_older_ones_beside_the_images(place: Path) -> None:
    (place / "photos" / "report.html").write_text("of yesterday")
    check_outputs(
        [place / "photos" / "report.html", place / "photos" / "new.csv"], [ImageSource(place / "photos"), None]
    )


def test_a_folder_of_results_is_no_folder_of_images_and_no_file(place: Path) -> None:
    check_filled([place / "photos" / "new"], [ImageSource(place / "photos")])
    with pytest.raises(InvalidInput, match="photos: is read, so results must go to another folder"):
        check_filled([place / "elsewhere" / ".." / "photos"], [ImageSource(place / "photos")])
    with pytest.raises(InvalidInput, match=r"labels\.csv: a file; the name of a folder is needed"):
        check_filled([place / "labels.csv"], [])


def test_a_name_with_an_accent_is_one_name_however_it_is_composed(place: Path) -> None:
    composed, apart = (unicodedata.normalize(form, "été.png") for form in ("NFC", "NFD"))
    (place / "photos" / "owl" / apart).write_bytes((place / "photos/owl/1.png").read_bytes())
    with pytest.raises(InvalidInput, match="would overwrite"):
        check_outputs([place / "photos" / "owl" / composed], [ImageSource(place / "photos")])


@pytest.mark.parametrize("given", [None, "no\0path", "x" * 5000, {"a": {"b": "c\0"}}, [1.5, None]])
def test_inputs_that_cannot_be_read_are_left_to_who_reads_them(given: Any, place: Path) -> None:
    check_outputs([place / "x"], [given])


def test_a_folder_that_is_read_is_not_taken_for_a_file_to_write(place: Path) -> None:
    before = contents(place)
    for arguments, options, _ in VERBS:
        result = CliRunner().invoke(app, [*arguments, options[0], "photos"])
        assert result.exit_code == 1
        assert "photos: a folder; the name of a file is needed." in result.stderr
    assert contents(place) == before


def test_the_table_that_a_model_remembers_is_an_input_too(place: Path) -> None:
    write_vectors(place / "table.npz", [ImageFile(place / f"photos/{name}/1.png") for name in ("owl", "robin")])
    table = ("--channels", "vectors", "--set", f"vectors.table={place / 'table.npz'}", "--no-cache")
    (place / "two.csv").write_text("file,category\nowl/1.png,owl\nrobin/1.png,robin\n")
    learned = CliRunner().invoke(app, ["learn", "photos", "--labels", "two.csv", "-o", "m.fewsight", *table])
    assert learned.exit_code == 0, learned.output
    before = contents(place)
    result = CliRunner().invoke(app, ["predict", "m.fewsight", "photos/owl/1.png", "-o", "table.npz", "--no-cache"])
    assert (result.exit_code, "would overwrite" in result.stderr) == (1, True), result.output
    assert contents(place) == before

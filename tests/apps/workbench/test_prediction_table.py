"""The table of predictions is CSV that comes back as it was, whatever the names."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fewsight.apps.workbench import Prediction, write_rows, write_table
from fewsight.images.cells import from_cell

# Any file name that a file system could give: text, and bytes that are not UTF-8 in Python's disguise.
names = st.binary(min_size=1).map(lambda raw: raw.replace(b"\0", b"_").decode("utf-8", "surrogateescape"))


def prediction(file: str, category: str = "owl") -> Prediction:
    return Prediction(file, category, 0.75, 0.5, "", (0.75, 0.25))


@given(files=st.lists(names, max_size=5), category=names)
def test_names_come_back_as_they_were(files: list[str], category: str) -> None:
    stream = io.BytesIO()
    write_rows(stream, [prediction(file, category) for file in files])
    text = io.TextIOWrapper(io.BytesIO(stream.getvalue()), encoding="utf-8", errors="surrogateescape", newline="")
    headings, *rows = csv.reader(text)
    assert headings == ["file", "category", "probability", "uncertainty", "unknown"]
    assert [[from_cell(cell) for cell in row] for row in rows] == [
        [file, category, "0.750000", "0.500000", ""] for file in files
    ]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for row in rows for cell in row)


def test_a_column_per_category_on_request() -> None:
    stream = io.BytesIO()
    write_rows(stream, [prediction("a.png")], ["owl", "a, b"])
    assert stream.getvalue() == (
        b'file,category,probability,uncertainty,unknown,probability_owl,"probability_a, b"\r\n'
        b"a.png,owl,0.750000,0.500000,,0.750000,0.250000\r\n"
    )


def test_a_category_that_a_spreadsheet_would_run_is_written_as_text() -> None:
    stream = io.BytesIO()
    write_rows(stream, [prediction("-o.png", "=cmd|' /C calc'!A0")])
    assert stream.getvalue().splitlines()[1] == b"'-o.png,'=cmd|' /C calc'!A0,0.750000,0.500000,"


def test_a_table_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    def rows() -> object:
        yield prediction("a.png")
        raise RuntimeError("the disk is on fire")

    with pytest.raises(RuntimeError):
        write_table(tmp_path / "out.csv", rows())
    assert list(tmp_path.iterdir()) == []

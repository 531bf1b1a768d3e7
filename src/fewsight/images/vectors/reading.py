"""Tables of vectors from files: NumPy, CSV and Parquet. Whatever is wrong with one is said in a sentence.

Every table needs the name of a file, or the hash of its content, for each row. CSV: a column `file` or `hash`, and numbers in all
others. Parquet: the same, or one column of lists. .npz: a matrix and, beside it, `files` or `hashes`. .npy: a matrix, and a text
file of the same name ending in .txt with a file's name in each line.
"""

from __future__ import annotations

import csv
import importlib
import io
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fewsight._base.archive import read_npy
from fewsight._base.errors import ArchiveError, InvalidInput
from fewsight.images.files import printable
from fewsight.images.table import FILE_COLUMNS, bytes_of_table, delimiter_of, text_of_table
from fewsight.images.vectors.table import VectorTable

HASH_COLUMNS = ("hash", "content_hash")
FILES, HASHES = ("files", "names", *FILE_COLUMNS), ("hashes", *HASH_COLUMNS)  # of an .npz
MOST_BYTES = 4 * 2**30
MOST_ROWS = 5_000_000
MOST_COLUMNS = 65_536
MOST_NUMBERS = 500_000_000
WHAT = "the table of vectors"
GET_PARQUET = "pip install 'fewsight[parquet]'"


def read_vectors(path: str | os.PathLike[str]) -> VectorTable:
    """The table in a .npz, .npy, .csv (.tsv, .txt) or .parquet file. Anything that is wrong is an InvalidInput."""
    name, ending = printable(path), Path(path).suffix.lower()
    if ending == ".npz":
        return _from_npz(path, name)
    if ending == ".npy":
        return _from_npy(Path(path), name)
    if ending == ".parquet":
        return _from_parquet(path, name)
    if ending in (".csv", ".tsv", ".txt"):
        return _from_csv(path, name)
    raise InvalidInput(
        f"{name}: {WHAT} must end in .npz, .npy, .csv, .tsv, .txt or .parquet, got {ending or 'nothing'}."
    )


def _table(name: str, keys: Sequence[str], rows: npt.NDArray[Any], *, by_hash: bool) -> VectorTable:
    if rows.ndim != 2 or rows.dtype.kind not in "fiu" or not rows.size:
        sides = " x ".join(map(str, rows.shape)) or "a single value"
        raise InvalidInput(
            f"{name}: vectors must be a matrix of numbers, a row per image, got {sides} of {rows.dtype}."
        )
    if len(keys) != len(rows):
        raise InvalidInput(f"{name}: there must be a name for every row, got {len(keys):,} for {len(rows):,} rows.")
    _check_size(name, *rows.shape)
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for float32 is found to be infinite
        return VectorTable(name, keys, rows.astype(np.float32), by_hash=by_hash)


def _check_size(name: str, n_rows: int, n_columns: int) -> None:
    if n_rows > MOST_ROWS or n_columns > MOST_COLUMNS or n_rows * n_columns > MOST_NUMBERS:
        raise InvalidInput(
            f"{name}: vectors must be at most {MOST_ROWS:,} rows, {MOST_COLUMNS:,} columns and {MOST_NUMBERS:,} numbers, "
            f"got {n_rows:,} rows of {n_columns:,}."
        )


def _from_npz(path: str | os.PathLike[str], name: str) -> VectorTable:
    content = bytes_of_table(path, WHAT, MOST_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
            if sum(entry.file_size for entry in members.values()) > MOST_BYTES:
                raise ArchiveError(f"it would unpack to more than {MOST_BYTES:,} bytes")
            arrays = {key: _member(archive, entry) for key, entry in members.items()}
    except Exception as error:  # zipfile, zlib and numpy, in bytes that nobody wrote
        raise InvalidInput(f"{name}: {WHAT} must be a sound .npz of numbers and texts, got: {_short(error)}.") from None
    keys = {key: array for key, array in arrays.items() if key.lower() in FILES + HASHES and array.ndim == 1}
    matrices = [array for array in arrays.values() if array.ndim == 2]
    if len(keys) != 1 or len(matrices) != 1:
        raise InvalidInput(
            f"{name}: an .npz must hold one matrix, and files or hashes for its rows, got {', '.join(arrays) or 'nothing'}."
        )
    ((key, texts),) = keys.items()
    if texts.dtype.kind != "U":
        raise InvalidInput(f"{name}: {key} must be an array of texts, got {texts.dtype}.")
    return _table(name, texts.tolist(), matrices[0], by_hash=key.lower() in HASHES)


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(entry) as member:
        return read_npy(member, entry.file_size, entry.filename)


def _from_npy(path: Path, name: str) -> VectorTable:
    content = bytes_of_table(path, WHAT, MOST_BYTES)
    try:
        rows = read_npy(io.BytesIO(content), len(content), path.name)
    except Exception as error:
        raise InvalidInput(f"{name}: {WHAT} must be a sound .npy of numbers, got: {_short(error)}.") from None
    beside = path.with_suffix(".txt")
    if not beside.is_file():
        raise InvalidInput(
            f"{name}: the files that the rows belong to must be in {beside.name}, one in a line, got no such file."
        )
    return _table(name, text_of_table(beside, "the list of files").splitlines(), rows, by_hash=False)


def _from_csv(path: str | os.PathLike[str], name: str) -> VectorTable:
    text = text_of_table(path, WHAT)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
    try:
        heading = [column.strip() for column in next(reader, [])]
        key, by_hash = _key_column(heading, name)
        _check_size(name, text.count("\n"), len(heading) - 1)
        keys, rows = [], []
        for cells in reader:
            if any(cell.strip() for cell in cells):
                keys.append(cells[key] if key < len(cells) else "")
                rows.append(_numbers(cells, key, heading, reader.line_num, name))
    except csv.Error as error:
        raise InvalidInput(f"{name}: {WHAT} must be CSV, got an error in line {reader.line_num}: {error}.") from None
    if not rows:
        raise InvalidInput(f"{name}: {WHAT} must have rows below its heading, got none.")
    return _table(name, keys, np.stack(rows), by_hash=by_hash)


def _numbers(cells: list[str], key: int, heading: list[str], line: int, name: str) -> npt.NDArray[np.float64]:
    if len(cells) != len(heading):
        raise InvalidInput(
            f"{name}: every row must have as many columns as the heading, {len(heading)}, got {len(cells)} in line {line}."
        )
    try:
        return np.fromiter(map(float, cells[:key] + cells[key + 1 :]), dtype=np.float64, count=len(cells) - 1)
    except ValueError:
        wrong = next(place for place, cell in enumerate(cells) if place != key and not _is_number(cell))
        raise InvalidInput(
            f"{name}: every column but {heading[key]} must hold numbers, got {cells[wrong][:40]!r} in column "
            f"{heading[wrong][:40] or wrong + 1}, line {line}."
        ) from None


def _key_column(heading: Sequence[str], name: str) -> tuple[int, bool]:
    """Which column names the images, and whether by their hash."""
    lowered = [column.lower() for column in heading]
    for names, by_hash in ((FILE_COLUMNS, False), (HASH_COLUMNS, True)):
        for wanted in names:
            if wanted in lowered:
                return lowered.index(wanted), by_hash
    found = ", ".join(printable(column) for column in heading if column)[:100] or "none"
    raise InvalidInput(f"{name}: {WHAT} must have a column file or hash in its heading, got the columns {found}.")


def _from_parquet(path: str | os.PathLike[str], name: str) -> VectorTable:
    try:
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise InvalidInput(f"{name}: Parquet is read with pyarrow, which is not installed; {GET_PARQUET}.") from None
    content = bytes_of_table(path, WHAT, MOST_BYTES)
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        _check_size(name, file.metadata.num_rows, file.metadata.num_columns)
        table = file.read()
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput(f"{name}: {WHAT} must be a sound Parquet file, got: {_short(error)}.") from None
    key, by_hash = _key_column(table.column_names, name)
    keys = ["" if value is None else str(value) for value in table.column(key).to_pylist()]
    others = [place for place in range(table.num_columns) if place != key]
    return _table(name, keys, _parquet_rows(table, others, name), by_hash=by_hash)


def _parquet_rows(table: Any, others: list[int], name: str) -> npt.NDArray[Any]:
    """One column of lists, or a number in each column."""
    columns = [table.column(place).to_pylist() for place in others]
    try:
        if len(columns) == 1 and columns[0] and isinstance(columns[0][0], (list, tuple)):
            return np.array(columns[0], dtype=np.float64)
        return np.array(columns, dtype=np.float64).T
    except (TypeError, ValueError):
        raise InvalidInput(
            f"{name}: the columns of vectors must hold numbers, or lists of one length, got others."
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _short(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:150].rstrip(".")

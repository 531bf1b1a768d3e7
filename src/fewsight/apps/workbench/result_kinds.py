"""The kinds of files that verbs write, and how an older one is known: by what it holds, never by its name.

A result takes the place of nothing but an older result of its own kind, or of a file that holds nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

from fewsight._base.archive import read_header
from fewsight._base.errors import ArchiveError, InvalidInput
from fewsight.images.files import printable, read_start
from fewsight.images.listing import is_meant_as_image
from fewsight.images.reading import SIGNATURE_BYTES, format_of

PREDICTION_COLUMNS = ("file", "category", "probability", "uncertainty", "unknown")
LABEL_COLUMNS = ("file", "category", "answer", "hash", "who")
LONGEST_HEAD = 2**16  # bytes of a page or a table that are looked at
LONGEST_JSON = 2**28
_DATABASE = b"SQLite format 3\0"


@final
@dataclass(frozen=True)
class ResultKind:
    """What a verb writes: its name in sentences, and whether a file is one."""

    title: str
    holds: Callable[[Path], bool]


def check_replaceable(path: Path, kind: ResultKind) -> None:
    """Refuse to write over what is neither an older result of this kind nor empty."""
    if not path.exists() or os.path.getsize(path) == 0 or kind.holds(path):
        return
    raise InvalidInput(
        f"{printable(path)}: is {_named(path) or f'no {kind.title}'}, so no {kind.title} is written over it; "
        "name another file, or remove this one first."
    )


def _named(path: Path) -> str | None:
    """What a file is, where that can be said."""
    start = read_start(path, SIGNATURE_BYTES)
    if start.startswith(_DATABASE):
        return "a project"
    if format_of(start) is not None or is_meant_as_image(os.fspath(path)):
        return "a photograph"
    return next((f"a {kind.title}" for kind in RESULT_KINDS if kind.holds(path)), None)


def _is_model(path: Path) -> bool:
    from fewsight.persistence.model_file import FORMAT  # brings all learners along: only where a file is there

    try:
        return read_header(path).get("format") == FORMAT
    except (ArchiveError, OSError):
        return False


def _is_table(columns: Sequence[str], path: Path) -> bool:
    """Whether the first line names these columns, and perhaps more."""
    first, *_ = read_start(path, LONGEST_HEAD).splitlines() or [b""]
    return (first + b",").startswith(",".join((*columns, "")).encode())


def _is_page(mark: str, path: Path) -> bool:
    """Whether the head of the page says that fewsight made it."""
    return f'<meta name="generator" content="{mark}">'.encode() in read_start(path, LONGEST_HEAD)


def _is_results(path: Path) -> bool:
    """Whether it holds a protocol and records."""
    try:
        content = json.loads(read_start(path, LONGEST_JSON))
    except (ValueError, RecursionError):
        return False
    return isinstance(content, dict) and {"protocol", "records"} <= content.keys()


MODEL = ResultKind("model", _is_model)
PREDICTIONS = ResultKind("table of predictions", partial(_is_table, PREDICTION_COLUMNS))
LABELS = ResultKind("table of labels that `fewsight export` wrote", partial(_is_table, LABEL_COLUMNS))
PREDICTION_PAGE = ResultKind("page of predictions", partial(_is_page, "fewsight predictions"))
REPORT = ResultKind("report", partial(_is_page, "fewsight report"))
RESULTS = ResultKind("file of results", _is_results)
RESULT_KINDS = (MODEL, PREDICTIONS, LABELS, PREDICTION_PAGE, REPORT, RESULTS)

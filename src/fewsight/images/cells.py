"""Names in the cells of a CSV file, which a spreadsheet must show and never run.

A spreadsheet takes a cell that begins with = + - @ or a control character for a formula, and a name may come from a stranger's
file. Such a name is written with an apostrophe in front, which spreadsheets take for "this is text"; reading takes it away.
"""

from __future__ import annotations

import re

_RUN = re.compile(
    r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
)  # also with apostrophes in front, so that each can be told apart
_WRITTEN = re.compile(r"'+[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


def as_cell(name: str) -> str:
    """A name as it is written.

    >>> as_cell("=1+1"), as_cell("owl")
    ("'=1+1", 'owl')
    """
    return f"'{name}" if _RUN.match(name) else name


def from_cell(cell: str) -> str:
    """The name that `as_cell` wrote."""
    return cell[1:] if _WRITTEN.match(cell) else cell

"""Results of yesterday, as small as can be: what a command finds where it will write."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from fewsight.apps.workbench.result_kinds import PREDICTION_COLUMNS


def _model() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("header.json", json.dumps({"format": "fewsight model"}))
    return stream.getvalue()


OLDER = {
    "model": _model(),
    "table": (",".join(PREDICTION_COLUMNS) + "\r\n").encode(),
    "json": b'{"protocol": {}, "records": []}',
    "report": b'<meta name="generator" content="fewsight report">',
}


def write_older(folder: Path, names: Iterable[str] = tuple(OLDER)) -> None:
    """Each under the name of what it is."""
    for name in names:
        (folder / name).write_bytes(OLDER[name])


def are_older(folder: Path, names: Iterable[str] = tuple(OLDER)) -> bool:
    """Whether all are there as they were."""
    return all((folder / name).read_bytes() == OLDER[name] for name in names)

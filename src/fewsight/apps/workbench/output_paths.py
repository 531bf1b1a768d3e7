"""Where results may go, checked before any work is done: an hour of computing must not end in a missing folder."""

from __future__ import annotations

import os
from pathlib import Path

from fewsight._base.errors import InvalidInput


def check_output_file(path: str | Path) -> Path:
    """A place where a file can be put: its folder exists and may be written to, and nothing but a file stands there."""
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"{path}: a folder; the name of a file is needed.")
    if path.exists() and not path.is_file():  # replacing a device such as /dev/null would remove it
        raise InvalidInput(f"{path}: not an ordinary file, so it is not replaced.")
    if not path.parent.is_dir():
        raise InvalidInput(f"{path}: the folder {path.parent} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InvalidInput(f"{path}: the folder {path.parent} may not be written to.")
    return path


def make_output_folder(path: str | Path) -> Path:
    """A folder that exists from now on; OSError where it cannot be made."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"{path}: a file; the name of a folder is needed.")
    path.mkdir(parents=True, exist_ok=True)
    return path

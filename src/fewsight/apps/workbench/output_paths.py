"""Where results may go, checked before any work is done: nothing that is read is ever overwritten, nor anything that is not an
older result of the same kind; and an hour of computing does not end in a missing folder.

A verb says with `checked_files` which of its parameters name files to read, and which name files to write and of what kind; the
rest follows. A contract test refuses a verb that has such parameters and does not say.
"""

from __future__ import annotations

import functools
import inspect
import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench.image_sources import ImageSource
from fewsight.apps.workbench.result_kinds import ResultKind, check_replaceable
from fewsight.images.files import printable
from fewsight.images.listing import files_below, is_meant_as_image
from fewsight.images.table import files_in_table

Given = str | Path | ImageSource | Mapping[str, Any] | Sequence[Any] | None
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Verb = Callable[Parameters, Result]


def checked_files(
    *, reads: Sequence[str] = (), writes: Mapping[str, ResultKind] | None = None, fills: Sequence[str] = ()
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """For a verb whose parameters of these names are what it reads, the files it writes and the folders it fills.

    The verb is refused, before it begins, if a file to write is one to read (by whatever link, spelling or case), stands for two
    results, would replace something of another kind, or cannot be written.
    """
    kinds = writes or {}

    def decorate(verb: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        signature = inspect.signature(verb)

        @functools.wraps(verb)
        def checked(*arguments: Parameters.args, **settings: Parameters.kwargs) -> Result:
            given = signature.bind(*arguments, **settings).arguments
            inputs = [given.get(name) for name in reads]
            check_outputs({kind: given.get(name) for name, kind in kinds.items()}, inputs)
            check_filled([given.get(name) for name in fills], inputs)
            return verb(*arguments, **settings)

        checked.__dict__["files"] = (*reads, *kinds, *fills)
        return checked

    return decorate


def check_outputs(outputs: Mapping[ResultKind, str | Path | None], inputs: Iterable[Given]) -> None:
    """Each output can be written, none is an input, no two are the same file, and none replaces another kind of file."""
    kinds = {kind: check_output_file(output) for kind, output in outputs.items() if output is not None}
    wanted = list(kinds.values())
    known: set[str | tuple[int, int]] = set()
    for output in wanted:
        if known & _identities(output):
            raise InvalidInput(f"{_shown(output)}: named for two results; each needs a file of its own.")
        known |= _identities(output)
    for path in (path for given in inputs for path in _paths_of(given)):
        for output in wanted:
            if (clash := _clash(output, path)) is not None:
                raise InvalidInput(
                    f"{_shown(output)}: would overwrite {_shown(clash)}, which is read; name another file for the result."
                )
    for kind, output in kinds.items():
        check_replaceable(output, kind)


def check_filled(folders: Iterable[str | Path | None], inputs: Iterable[Given]) -> None:
    """A folder for results is no file, and no folder of images to read."""
    paths = [path for given in inputs for path in _paths_of(given)]
    for folder in (Path(folder) for folder in folders if folder is not None):
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{_shown(folder)}: a file; the name of a folder is needed.")
        if any(_identities(folder) & _identities(path) for path in paths):
            raise InvalidInput(f"{_shown(folder)}: is read, so results must go to another folder.")


def check_output_file(path: str | Path) -> Path:
    """A place where a file can be put: its folder exists and may be written to, and nothing but a file stands there."""
    path = Path(path)
    if path.is_dir():
        raise InvalidInput(f"{_shown(path)}: a folder; the name of a file is needed.")
    if path.exists() and not path.is_file():  # replacing a device such as /dev/null would remove it
        raise InvalidInput(f"{_shown(path)}: not an ordinary file, so it is not replaced.")
    if not path.parent.is_dir():
        raise InvalidInput(f"{_shown(path)}: the folder {_shown(path.parent)} does not exist; make it first.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InvalidInput(f"{_shown(path)}: the folder {_shown(path.parent)} may not be written to.")
    return path


def make_output_folder(path: str | Path) -> Path:
    """A folder that exists from now on; OSError where it cannot be made."""
    path = Path(path)
    check_filled([path], [])
    path.mkdir(parents=True, exist_ok=True)
    return path


def _paths_of(given: Given) -> Iterator[Path]:
    """The paths in what a verb was given: channel settings and lists may name files among other things."""
    if isinstance(given, ImageSource):
        yield given.folder
        if given.labels is not None:
            yield given.labels
            yield from map(Path, files_in_table(given.folder, given.labels))
        elif given.project is not None:
            yield given.project
    elif isinstance(given, (str, Path)):
        yield Path(given)
    elif isinstance(given, (Mapping, list, tuple)):
        for part in given.values() if isinstance(given, Mapping) else given:
            yield from _paths_of(part)


def _clash(output: Path, read: Path) -> Path | None:
    """The file that is read, itself or as an image in a folder, and that writing the output would replace."""
    mine = _identities(output)
    if mine & _identities(read):
        return read
    if not _is_folder(read):
        return None
    numbers = {identity[1] for identity in mine if isinstance(identity, tuple)}
    name = _folded(output.name)
    for entry in files_below(os.fspath(read)):
        candidate = entry.is_symlink() or entry.inode() in numbers or _folded(entry.name) == name
        if candidate and mine & _identities(Path(entry.path)) and is_meant_as_image(entry.path):
            return Path(entry.path)
    return None


def _identities(path: Path) -> set[str | tuple[int, int]]:
    """What a file is known by: its place, whatever case and whichever links lead there, and its number on the disk.

    Case never tells two files apart here: on many disks, and on the next computer, it does not.
    """
    found: set[str | tuple[int, int]] = set()
    try:
        found |= {_folded(os.path.realpath(path)), _folded(os.path.join(os.path.realpath(path.parent), path.name))}
        status = os.stat(path)
        found.add((status.st_dev, status.st_ino))
    except (OSError, ValueError):  # not there, or no path at all
        pass
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _shown(path: Path) -> str:
    return printable(path)

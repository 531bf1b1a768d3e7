"""Writing and opening the model file.

The file is an archive of `fewsight._base.archive` (a zip of `header.json` and plain .npy members). Its header says
`format`, `version`, `written_by` and `kind`, under `model` what the class of that kind needs, and in `digest` a hash of
all that and of the arrays: two arrays that changed places, or a number edited by hand, would otherwise go unnoticed.
Every refusal is one `ModelFileError` sentence that starts with the file's name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fewsight import __version__
from fewsight._base.archive import HEADER, read_archive, write_archive
from fewsight._base.checks import shown
from fewsight._base.errors import ArchiveError, FewsightError, InvalidInput, ModelFileError, UnknownPart
from fewsight._base.types import State
from fewsight.learners import Learner
from fewsight.persistence.registry import KINDS, Storable, kind_of
from fewsight.persistence.soundness import check_digest, check_numbers, with_digest

FORMAT = "fewsight model"
VERSION = 5  # raised when an older fewsight could no longer open what this one writes
_ZIP_WITH_OUR_FIRST_MEMBER = (b"PK\x03\x04", HEADER.encode())


def save(model: Storable, path: str | Path) -> None:
    """Write a fitted model to one file, whole or not at all: what stood there is replaced only by a whole file.

    Parameters
    ----------
    model : a fitted learner or channel; parts of your own must be registered.
    path : the file to write, by custom ending in .fewsight.
    """
    kind, content = kind_of(model), model.state()
    _check_opens(kind, content)
    header = {
        "format": FORMAT,
        "version": _version_needed(content),
        "written_by": f"fewsight {__version__}",
        "kind": kind,
    }
    state = State(header, {}).join("model", content)
    try:
        write_archive(Path(path), with_digest(state), compress=True, what="writing the model")
    except OSError as error:
        raise ModelFileError(
            f"{path}: could not be written ({error.strerror or error}); nothing was replaced."
        ) from None


def _check_opens(kind: str, content: State) -> None:
    """What `load` would refuse is not written in the first place."""
    try:
        written = State(json.loads(json.dumps(content.header)), content.arrays)
        check_numbers(written)
        _restored(kind, written)
    except (FewsightError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InvalidInput(f"save: the model could not be opened again ({reason}); nothing was written.") from None


def _restored(kind: str, content: State) -> Storable:
    """The model, once each of its arrays was checked by who reads it: a class that forgets one can neither save nor load."""
    model = KINDS[kind].from_state(content)
    content.check_all_read()
    return model


def _version_needed(content: State) -> int:
    """The oldest version that understands a model, so that files stay readable by older fewsights where they can."""
    if "prototypes" in content.header.get("calibration", {}):
        return 5  # what decides may be prototypes
    if content.header.get("variance_to_come") is True:
        return 4  # what nobody asked for yet is computed by who does
    if "kernels" in content.header.get("input", {}):
        return 3  # several kernels of rows
    return 2 if "loans" in content.header else 1


def load_learner(path: str | Path) -> Learner:
    """As `load`, for a file that must hold a learner: a channel alone is refused."""
    model = load(path)
    if not isinstance(model, Learner):
        raise ModelFileError(f"{path}: holds a channel, not a learner, so it names no categories.")
    return model


def load(path: str | Path) -> Storable:
    """The model that `save` wrote, with the class its kind names. Anything else is a ModelFileError.

    Parameters
    ----------
    path : a file that `save` wrote.
    """
    state = _read(Path(path))
    kind = _checked_kind(path, state.header)
    try:
        check_numbers(state)
        model = _restored(kind, state.nested("model"))
        check_digest(state)
        return model
    except KeyError as error:
        raise ModelFileError(f"{path}: damaged or edited by hand ({error} is missing).") from None
    except UnknownPart as error:
        raise ModelFileError(f"{path}: {str(error).rstrip('.')}.") from None
    except Exception as error:  # whatever a class meets in a state that nobody wrote
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ModelFileError(f"{path}: damaged or edited by hand ({reason}).") from None


def _read(path: Path) -> State:
    start = b""
    try:
        if path.exists() and not path.is_file():
            raise ModelFileError(f"{path}: a folder or a device, not a model file.")
        start = _first_bytes(path)
        return read_archive(path, what="reading the model")
    except FileNotFoundError:
        raise ModelFileError(f"{path}: there is no such file.") from None
    except OSError as error:
        raise ModelFileError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except ArchiveError:
        if all(part in start for part in _ZIP_WITH_OUR_FIRST_MEMBER):
            raise ModelFileError(f"{path}: a damaged or incomplete model file; copy or learn it again.") from None
        raise _foreign(path) from None


def _first_bytes(path: Path) -> bytes:
    """Enough of the file to see whether it began as one of ours."""
    with path.open("rb") as stream:
        return stream.read(64)


def _checked_kind(path: str | Path, header: dict[str, Any]) -> str:
    """The kind, after format and version: a newer fewsight may know kinds that this one does not."""
    if header.get("format") != FORMAT:
        raise _foreign(path)
    version, kind = header.get("version"), header.get("kind")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"{path}: damaged or edited by hand (its version is {shown(version)}).")
    if version > VERSION:
        raise ModelFileError(
            f"{path}: was written by a newer fewsight (model version {version}, this one reads up to {VERSION}); "
            "update fewsight."
        )
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelFileError(f"{path}: holds a model of a kind this fewsight does not know ({shown(kind)}).")
    return kind


def _foreign(path: str | Path) -> ModelFileError:
    return ModelFileError(f"{path}: not a fewsight model file.")

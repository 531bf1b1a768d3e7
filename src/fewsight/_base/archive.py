"""A file of named arrays with a JSON header: a zip of `header.json` and plain .npy members, never a pickle.

The cache and the model file are both made of these. Each member carries the zip's checksum, so damage is noticed when it is
read. Nobody ever sees half of a file: see `fewsight._base.replacement`.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from fewsight._base.errors import ArchiveError
from fewsight._base.progress import steps_of
from fewsight._base.replacement import replacing
from fewsight._base.types import State

HEADER = "header.json"
CHUNK = 2**24  # bytes, of which progress is told
MAX_HEADER_BYTES = 16 * 2**20
PLAUSIBLE_BYTES = 256 * 2**20  # beyond, what a file unpacks to is limited by its size
LEVEL = 3  # of compression: in half the time of the usual one, a fifth larger
MAX_UNPACKING = 100  # times its size; arrays that compress better than this are small ones

_LAST_RECORD = struct.Struct("<4s4H2LH")  # of a zip without a comment


def write_archive(
    path: Path, state: State, *, compress: bool = False, durable: bool = True, what: str | None = None
) -> None:
    """Write a state to a file, whole or not at all; see `replacing`. OSError (a full disk) leaves what stood there.

    What would become so small that `read_archive` would not believe it, such as a large matrix of zeros, is not compressed.
    Progress is reported as `what`, if that is given.
    """
    with replacing(path, durable=durable) as stream:
        unpacked = _write(stream, state, zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED, what)
        if unpacked > _most_unpacked(stream.tell()):
            stream.seek(0)
            stream.truncate()
            _write(stream, state, zipfile.ZIP_STORED)


def _write(stream: BinaryIO, state: State, method: int, what: str | None = None) -> int:
    """Write all members; how many bytes they are unpacked."""
    n_bytes = sum(array.nbytes for array in state.arrays.values())
    with contextlib.ExitStack() as stack:
        archive = stack.enter_context(zipfile.ZipFile(stream, "w", method, compresslevel=LEVEL))
        reach = stack.enter_context(steps_of(what, 1 + n_bytes // CHUNK)) if what else None
        archive.writestr(_entry(HEADER, method), json.dumps(state.header, sort_keys=True))
        written = 0
        for name, array in state.arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:  # by name: with a fixed date, and LEVEL
                counted: Any = member if reach is None else _Counted(member, reach, written)
                np.lib.format.write_array(counted, np.ascontiguousarray(array), allow_pickle=False)
            written += array.nbytes
        return sum(entry.file_size for entry in archive.infolist())


class _Counted:
    """A member that says how much was written, in chunks of all members."""

    def __init__(self, member: IO[bytes], reach: Callable[[int], None], before: int) -> None:
        self._member, self._reach, self._written = member, reach, before

    def write(self, content: bytes) -> int:
        """As the member does."""
        count = self._member.write(content)
        self._written += len(content)
        self._reach(self._written // CHUNK)
        return count


def read_archive(path: Path, *, what: str | None = None) -> State:
    """The state that `write_archive` wrote. Anything else is an ArchiveError that says why.

    Progress is reported as `what`, if that is given.
    """
    with open(path, "rb") as stream:
        try:
            return _read(stream, what)
        except ArchiveError as error:
            raise ArchiveError(f"{path}: {error}") from None
        except Exception as error:  # what zipfile, zlib, json and numpy meet in bytes that nobody wrote
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise ArchiveError(f"{path}: not an archive of arrays, or damaged ({reason}).") from None


def read_header(path: Path) -> dict[str, Any]:
    """What `read_archive` would say of the file without its arrays; an ArchiveError where it has no header of ours."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_header(archive)
    except OSError:
        raise
    except Exception as error:  # as in `read_archive`
        raise ArchiveError(f"{path}: not an archive of arrays, or damaged ({type(error).__name__}).") from None


def _read(stream: BinaryIO, what: str | None) -> State:
    with zipfile.ZipFile(stream) as archive:
        if len(archive.infolist()) != _n_members_written(stream):
            raise ArchiveError("damaged (its table of contents is incomplete).")
        _check_members(archive.infolist(), os.fstat(stream.fileno()).st_size)
        header = _read_header(archive)
        members = [entry for entry in archive.infolist() if entry.filename != HEADER]
        total, arrays, behind = sum(entry.file_size for entry in members), {}, 0
        with steps_of(what, 1 + total // CHUNK) if what else contextlib.nullcontext(lambda _: None) as reach:
            for entry in members:
                arrays[entry.filename[: -len(".npy")]] = _read_array(archive, entry)
                behind += entry.file_size
                reach(behind // CHUNK)
        return State(header, arrays)


def _n_members_written(stream: BinaryIO) -> int:
    """As the last record of the zip says, which `zipfile` does not look at: a damaged table may hide members."""
    stream.seek(-_LAST_RECORD.size, os.SEEK_END)
    return int(_LAST_RECORD.unpack(stream.read(_LAST_RECORD.size))[4])


def _check_members(entries: list[zipfile.ZipInfo], n_bytes: int) -> None:
    """Before anything is unpacked: members as we write them, each once, and no more of them than such a file can hold."""
    names = [entry.filename for entry in entries]
    if HEADER not in names or len(set(names)) < len(names):
        raise ArchiveError("damaged (its header is missing, or a member is there twice).")
    if not all(name.endswith(".npy") for name in names if name != HEADER):
        raise ArchiveError("damaged (it holds something other than arrays).")
    if not all(entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for entry in entries):
        raise ArchiveError("damaged (it is compressed in an unknown way).")
    if sum(entry.file_size for entry in entries) > _most_unpacked(n_bytes):
        raise ArchiveError("damaged (it would unpack to far more than it can hold).")


def _most_unpacked(n_bytes: int) -> int:
    """What a file of this many bytes may unpack to."""
    return PLAUSIBLE_BYTES + MAX_UNPACKING * n_bytes


def _entry(name: str, method: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)  # a fixed date: the same state gives the same bytes
    entry.compress_type = method
    return entry


def _read_header(archive: zipfile.ZipFile) -> dict[str, Any]:
    with archive.open(HEADER) as member:
        content = member.read(MAX_HEADER_BYTES + 1)  # not all of it: a limit is the only thing that stops unpacking
    if len(content) > MAX_HEADER_BYTES:
        raise ArchiveError("damaged (its header is too large).")
    header = json.loads(content)
    if not isinstance(header, dict):
        raise ArchiveError("damaged (its header is not an object).")
    return header


def _read_array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(entry) as member:
        return read_npy(member, entry.file_size, entry.filename)


def read_npy(stream: Any, n_bytes: int, name: str) -> npt.NDArray[Any]:
    """The array of a .npy of `n_bytes` bytes. The shape it claims must match them, before anything of that size is allocated."""
    shape, fortran, dtype = _npy_header(stream)
    if dtype.hasobject:
        raise ArchiveError(f"array {name} holds Python objects, which are never loaded.")
    size = dtype.itemsize * int(np.prod(shape, dtype=object))
    if size > n_bytes:
        raise ArchiveError(f"damaged (array {name} claims more than it holds).")
    content = stream.read(size + 1)
    if len(content) != size:
        raise ArchiveError(f"damaged (array {name} has the wrong length).")
    return np.frombuffer(content, dtype=dtype).reshape(shape, order="F" if fortran else "C")


def _npy_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(member)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(member)
    raise ArchiveError("an array is stored in a format this version does not read.")


def pack(header: Mapping[str, Any]) -> bytes:
    """A header as canonical bytes, for hashing: the same content gives the same bytes."""
    return json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()

"""The project file on disk: how it is opened, and how an act is written so that it cannot be lost.

One act is one transaction, and `append` returns when it is on the disk. The file is whole between two commits, also on a
network drive (a rollback journal, not a write-ahead log). Several processes may use one file: each waits for its turn.
Whatever SQLite or the disk refuses becomes a ProjectError of one sentence, and nothing of that act is kept.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from fewsight._base.errors import ProjectError
from fewsight._base.replacement import replacing
from fewsight._base.scratch import scratch_folder
from fewsight.apps.workbench.project import schema
from fewsight.apps.workbench.project.events import ASKED_COLUMNS, COLUMNS, Act, Asked, Event, Json, from_row, to_row
from fewsight.apps.workbench.project.location import FILE_NAME
from fewsight.images.files import printable, reason_of

BUSY_SECONDS = 5.0  # that SQLite waits for another program
ATTEMPTS = 3  # of as many seconds each

Value = str | int | bytes | float | None
_EVENT_COLUMNS = ", ".join((*COLUMNS, *ASKED_COLUMNS))
_PLACES = ", ".join("?" * (len(COLUMNS) + len(ASKED_COLUMNS)))


@dataclass(frozen=True)
class Draft:
    """An act that is to be written, and how it came about."""

    act: Act
    asked: Asked | None = None


@dataclass(frozen=True)
class Written:
    """The events of one request; `repeated` if it had come before, and these are those of the first time."""

    events: tuple[Event, ...]
    repeated: bool = False
    number: int = 0  # of the last event in this file; 0 where nothing was written


@final
class ProjectFile:
    """An open project. Threads may share it; one of them writes at a time.

    A file that may not be written to is opened for reading, and `writable` is False.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = True,
        migrations: Mapping[int, str] = schema.MIGRATIONS,
        version: int = schema.VERSION,
    ) -> None:
        self.path = Path(path).absolute()
        self.writable = True
        self._migrations, self._version = migrations, version
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._connect(create)
        self.id = str(self.setting("project"))

    def __enter__(self) -> ProjectFile:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go; nothing waits to be written."""
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA journal_mode = DELETE")  # which removes the empty journal
                self._connection.close()
                self._connection = None

    # Events.

    def append(
        self,
        who: str,
        session: str,
        acts: Sequence[Draft | Act] | Callable[[], Sequence[Draft | Act]],
        request: str | None = None,
        notes: Sequence[Draft | Act] = (),
    ) -> Written:
        """Write the acts of one request as one batch, and return when they are on the disk.

        A request that was written before is not written again. Acts that depend on what holds now are made by a function: it
        is called when nobody else can write any more. `notes` are written before them, each an act of its own.
        """
        request = request or uuid.uuid4().hex
        with self.writing() as connection:
            earlier, number = self._of_request(connection, request)
            if earlier:
                return Written(earlier, True, number)
            drafts = [_draft(act) for act in (acts() if callable(acts) else acts)]
            at = self._next_time(connection)
            for place, note in enumerate(notes):
                self._insert(connection, _events(at + place, who, session, uuid.uuid4().hex, [_draft(note)]))
            events = _events(at + len(notes), who, session, request, drafts)
            self._insert(connection, events)
            (last,) = connection.execute("SELECT last_insert_rowid()").fetchone()
        return Written(events, number=last if events else 0)

    def insert(self, events: Sequence[Event]) -> int:
        """Events of another file, as they are; those that are here already are left alone. How many were new."""
        with self.writing() as connection:
            before = connection.total_changes
            self._insert(connection, events, "OR IGNORE")
            return connection.total_changes - before

    def events(self, after: int = 0) -> list[tuple[int, Event]]:
        """All events behind a number, with their numbers, in the order in which they were written."""
        rows = self.read(f"SELECT id, {_EVENT_COLUMNS} FROM events WHERE id > ? ORDER BY id", (after,))
        with self._readable():
            return [(int(row[0] or 0), _event(row[1:])) for row in rows]

    # Settings.

    def setting(self, name: str, default: Json = None) -> Json:
        """A setting, or the default."""
        found = self.read("SELECT value FROM settings WHERE name = ?", (name,))
        with self._readable():
            return json.loads(str(found[0][0])) if found else default

    def set(self, name: str, value: Json) -> None:
        """Keep a setting."""
        with self.writing() as connection:
            _keep(connection, name, value)

    # SQL, for the tables of files and sortings.

    def read(self, sql: str, values: Sequence[Value] = ()) -> list[tuple[Value, ...]]:
        """All rows at once: nothing stays open that others would have to wait for."""
        with self._lock, self._plainly("read"):
            return self._open().execute(sql, values).fetchall()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is on the disk when the block has ended, or nothing."""
        with self._lock, self._plainly("saved"):
            connection = self._in_place()
            self._patiently(connection, "BEGIN IMMEDIATE")
            try:
                yield connection
                self._patiently(connection, "COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.rollback()
                raise

    def check(self) -> None:
        """Look through the whole file; a ProjectError if it is damaged."""
        found = self.read("PRAGMA integrity_check(1)")
        if found != [("ok",)]:
            raise ProjectError(_damaged(self.path))

    # Inside.

    def _connect(self, create: bool) -> None:
        if self.path.is_dir():
            raise ProjectError(f"{printable(self.path)}: a folder; the name of a project file is needed.")
        with self._plainly("opened"):
            if create and not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._connected("rwc" if create else "rw")
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._identity = connection, _identity(self.path)

    def _connected(self, mode: str) -> sqlite3.Connection:
        if self.path.exists() and not os.access(self.path, os.W_OK):
            self.writable, mode = False, "ro"
        uri = f"{self.path.as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        for pragma in ("trusted_schema = OFF", "journal_mode = TRUNCATE", "synchronous = FULL", "cell_size_check = ON"):
            if self.writable or not pragma.startswith("journal"):
                self._patiently(connection, f"PRAGMA {pragma}")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the tables, or bring them up to date; refuse a file that is not ours, newer or damaged."""
        if not schema.is_ours(connection):
            raise ProjectError(f"{printable(self.path)}: the database of another program, not a project of fewsight.")
        found = schema.version_of(connection)
        if found > self._version:
            raise ProjectError(
                f"{printable(self.path)}: made by a newer version of fewsight (its tables have version {found}, this one "
                f"reads up to {self._version}); update fewsight to open it."
            )
        if found < self._version:
            self._bring_up_to_date(connection)
        if connection.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise ProjectError(_damaged(self.path))
        if self._version == schema.VERSION and schema.parts_of(connection) != schema.PARTS:
            raise ProjectError(_damaged(self.path))

    def _bring_up_to_date(self, connection: sqlite3.Connection) -> None:
        """Inside one transaction; what was there before is copied first."""
        self._patiently(connection, "BEGIN IMMEDIATE")
        try:
            found = schema.version_of(connection)  # again: another program may have been quicker
            if found == 0:
                schema.create(connection)
                _keep(connection, "project", uuid.uuid4().hex)
            elif found < self._version:
                self._copy_aside(found)
                schema.migrate(connection, self._migrations, self._version)
            self._patiently(connection, "COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.rollback()
            raise

    def _copy_aside(self, version: int) -> None:
        """`fewsight.sqlite.version-1`, or with a number behind it where that name is taken."""
        stem = f"{self.path.name}.version-{version}"
        names = (stem if number == 1 else f"{stem}.{number}" for number in range(1, 1000))
        copy = next(self.path.with_name(name) for name in names if not self.path.with_name(name).exists())
        with scratch_folder() as folder, replacing(copy) as stream:
            _copy(self.path, folder / FILE_NAME)  # a second connection reads: the first one is about to write
            with (folder / FILE_NAME).open("rb") as whole:
                shutil.copyfileobj(whole, stream)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ProjectError(f"{printable(self.path)}: the project was closed.")
        return self._connection

    def _in_place(self) -> sqlite3.Connection:
        """The connection, if its file still stands where a person would look for it: SQLite itself would go on writing
        into a file that was deleted. A drive that was away and is back is opened again."""
        connection = self._open()
        if not self.writable:
            raise ProjectError(f"{printable(self.path)}: the project file may not be written to, so nothing was saved.")
        found = _identity(self.path)
        if found is None:
            raise ProjectError(f"{printable(self.path)}: the project file has vanished, so nothing was saved.")
        if found != self._identity:
            connection.close()
            self._connect(create=False)
            if self.setting("project") != self.id:
                raise ProjectError(
                    f"{printable(self.path)}: another project took this file's place; nothing was saved."
                )
        return self._open()

    def _patiently(self, connection: sqlite3.Connection, sql: str) -> None:
        """Run a statement that must wait for other programs, again if the wait was in vain."""
        for attempt in range(ATTEMPTS):
            try:
                connection.execute(sql)
                return
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or attempt == ATTEMPTS - 1:
                    raise

    @contextlib.contextmanager
    def _plainly(self, what: str) -> Iterator[None]:
        """What SQLite and the system say, as one sentence."""
        try:
            yield
        except sqlite3.Error as error:
            raise ProjectError(_sentence(error, self.path, what)) from error
        except UnicodeDecodeError as error:  # a text of the file, or what SQLite quotes of it
            raise ProjectError(_damaged(self.path)) from error
        except OSError as error:
            reason = reason_of(error, self.path)
            raise ProjectError(f"{printable(self.path)}: the project could not be {what}: {reason}.") from error

    @contextlib.contextmanager
    def _readable(self) -> Iterator[None]:
        """What nobody wrote is a damaged file."""
        try:
            yield
        except ValueError as error:
            raise ProjectError(_damaged(self.path)) from error
        except ProjectError as error:
            raise ProjectError(f"{printable(self.path)}: {error}") from None

    def _next_time(self, connection: sqlite3.Connection) -> int:
        """Now, but always behind the last event, whatever the clock does."""
        (last,) = connection.execute("SELECT max(at) FROM events").fetchone()
        return max(time.time_ns() // 1000, (last or 0) + 1)

    def _of_request(self, connection: sqlite3.Connection, request: str) -> tuple[tuple[Event, ...], int]:
        """The events of a request that was written before, and the number of the last."""
        sql = f"SELECT id, {_EVENT_COLUMNS} FROM events WHERE request = ? OR batch = ? ORDER BY id"
        rows = connection.execute(sql, (request, request)).fetchall()
        return tuple(_event(row[1:]) for row in rows), rows[-1][0] if rows else 0

    def _insert(self, connection: sqlite3.Connection, events: Sequence[Event], otherwise: str = "") -> None:
        sql = f"INSERT {otherwise} INTO events ({_EVENT_COLUMNS}) VALUES ({_PLACES})"
        connection.executemany(sql, [to_row(event) for event in events])


def read_copy(path: str | os.PathLike[str]) -> list[Event]:
    """The events of another project file, which is left as it is, whatever its version."""
    path = Path(path)
    if not path.is_file():
        raise ProjectError(f"{printable(path)}: no such file.")
    with scratch_folder() as folder:
        copy = folder / FILE_NAME
        try:
            _copy(path, copy)
        except sqlite3.Error as error:
            raise ProjectError(_sentence(error, path, "read")) from error
        except UnicodeDecodeError as error:
            raise ProjectError(_damaged(path)) from error
        try:
            with ProjectFile(copy, create=False) as project:
                return [event for _, event in project.events()]
        except ProjectError as error:
            raise ProjectError(str(error).replace(printable(copy), printable(path))) from None


def _copy(path: Path, target: Path) -> None:
    """A whole copy, whoever writes to the file meanwhile."""
    mode = "rw" if os.access(path, os.W_OK) else "ro"  # rw: an act that was cut off is rolled back
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with (
        contextlib.closing(sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as source,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        source.execute("BEGIN")
        source.execute(
            "SELECT count(*) FROM sqlite_master"
        ).fetchall()  # waits for its turn; `backup` would wait for ever
        source.backup(copy)


def _draft(act: Draft | Act) -> Draft:
    return act if isinstance(act, Draft) else Draft(act)


def _events(at: int, who: str, session: str, request: str, drafts: Sequence[Draft]) -> tuple[Event, ...]:
    if len(drafts) == 1:
        return (Event(at, who, session, request, drafts[0].act, None, drafts[0].asked),)
    return tuple(
        Event(at + place, who, session, f"{request}:{place}", draft.act, request, draft.asked)
        for place, draft in enumerate(drafts)
    )


def _event(row: Sequence[Value]) -> Event:
    return from_row([value if isinstance(value, int) else None if value is None else _text(value) for value in row])


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


def _keep(connection: sqlite3.Connection, name: str, value: Json) -> None:
    sql = "INSERT INTO settings VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    connection.execute(sql, (name, json.dumps(value)))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF  # without SQLite's finer distinctions


def _damaged(path: Path) -> str:
    return (
        f"{printable(path)}: the project file is damaged and was left as it is; put a copy of it in its place, "
        "or move it away to begin anew."
    )


def _sentence(error: sqlite3.Error, path: Path, what: str) -> str:
    name = printable(path)
    codes = {
        sqlite3.SQLITE_BUSY: f"{name}: another program holds the project file locked; nothing was {what}, try again.",
        sqlite3.SQLITE_LOCKED: f"{name}: another program holds the project file locked; nothing was {what}, try again.",
        sqlite3.SQLITE_FULL: f"{name}: no room is left on the disk, so nothing was {what}; make room and try again.",
        sqlite3.SQLITE_READONLY: f"{name}: the project file may not be written to, so nothing was {what}.",
        sqlite3.SQLITE_PERM: f"{name}: permission denied, so nothing was {what}.",
        sqlite3.SQLITE_CANTOPEN: f"{name}: the project file cannot be {what}; its folder is missing or may not be used.",
        sqlite3.SQLITE_NOTADB: f"{name}: not a project of fewsight (no database at all, or a damaged one).",
        sqlite3.SQLITE_CORRUPT: _damaged(path),
        sqlite3.SQLITE_IOERR: f"{name}: the disk refused to work ({os.strerror(errno.EIO).lower()}); nothing was {what}.",
    }
    return codes.get(_code(error)) or f"{name}: the project could not be {what}: {error}."

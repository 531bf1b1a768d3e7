"""The tables of a project file, and the way from each older version to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

APPLICATION_ID = 0x66657773  # "fews", at byte 68 of the file
VERSION = 1  # of the tables, kept as user_version

SCHEMA = """
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- One row for each content that was read; the time is that of the camera's clock, in milliseconds.
CREATE TABLE images (hash TEXT PRIMARY KEY, width INTEGER, height INTEGER, taken_at INTEGER, camera TEXT) WITHOUT ROWID;
-- Paths are relative to the folder, as bytes, with / between folders; the hash is missing until the file was read.
CREATE TABLE files (
    path BLOB PRIMARY KEY, hash TEXT, size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
    unreadable TEXT, vanished_at INTEGER
) WITHOUT ROWID;
CREATE INDEX files_of_hash ON files (hash);
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL, who TEXT NOT NULL, session TEXT NOT NULL, request TEXT NOT NULL UNIQUE, batch TEXT,
    act TEXT NOT NULL, image TEXT, category TEXT, data TEXT,
    asked TEXT, n_drawn_from INTEGER, n_labelled INTEGER, believed TEXT
);
CREATE INDEX events_in_time ON events (at);
CREATE INDEX events_of_batch ON events (batch);
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END;
CREATE TABLE sortings (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, target BLOB NOT NULL, way TEXT NOT NULL);
-- States: planned, done, undone.
CREATE TABLE sorted (
    sorting INTEGER NOT NULL REFERENCES sortings (id), source BLOB NOT NULL, target BLOB NOT NULL, hash TEXT NOT NULL,
    state TEXT NOT NULL, PRIMARY KEY (sorting, target)
) WITHOUT ROWID;
"""

# From each older version to the next: the statements that bring the tables there.
MIGRATIONS: Mapping[int, str] = {}

PARTS = frozenset(
    {
        *(("table", name) for name in ("settings", "images", "files", "events", "sortings", "sorted")),
        *(("index", name) for name in ("files_of_hash", "events_in_time", "events_of_batch")),
        *(("trigger", name) for name in ("events_are_never_changed", "events_are_never_deleted")),
    }
)


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the tables; 0 where there are none yet."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether fewsight made this file; an empty file is nobody's yet, and so ours."""
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    return mark == APPLICATION_ID or (mark == 0 and version_of(connection) == 0 and not parts_of(connection))


def parts_of(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    """Tables, indices, triggers and views, by kind and name, without those of SQLite itself."""
    found = connection.execute("SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
    return {(kind, name) for kind, name in found}


def create(connection: sqlite3.Connection) -> None:
    """Make the tables, inside the transaction that the caller began."""
    _run(connection, SCHEMA)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def migrate(connection: sqlite3.Connection, migrations: Mapping[int, str], version: int) -> None:
    """Bring the tables to `version`, one step after the other, inside the transaction that the caller began."""
    for step in range(version_of(connection), version):
        _run(connection, migrations[step])
        connection.execute(f"PRAGMA user_version = {step + 1}")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Statement by statement: `executescript` would commit first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""

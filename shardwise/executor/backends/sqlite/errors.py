"""A sqlite3 error as ours: what, why, and what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from shardwise.errors import (
    Cancelled,
    DataError,
    Error,
    NotSupportedError,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from shardwise.executor import lite
from shardwise.executor.backends.base import Location


def path_of(location: Location) -> str:
    """The file's path as it is written: a `?` in it is part of it, for options go in WITH (…)."""
    return location.url.partition(":///")[2]


_URL = "Check the source's URL in the catalog; opening never makes a file"
_CHECK = "Run `shardwise catalog check` to see all differences"


def translate_error(error: BaseException, location: Location) -> Error:
    """Ours for what opening or reading the file raised."""
    where = f'source "{location.source}"'
    if isinstance(error, Error):
        if isinstance(error, NotSupportedError) and not error.message.startswith(where):
            error.message = f"{where}: {error.message}"
        return error
    path = path_of(location)
    file = f'{where}: file "{path}"'
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return ShardUnavailable(f"{file} does not exist", hint=_URL, is_missing=True)
    if isinstance(error, OSError):
        return ShardUnavailable(f"{file} cannot be reached: {error.strerror}", hint=_URL)
    if isinstance(error, OverflowError):
        return DataError(f"{where}: a parameter is out of the range of SQLite's INTEGER")
    engine = lite.read(error)
    for codes, what, hint in _UNAVAILABLE:
        if engine.is_code(*codes):
            return ShardUnavailable(f"{file} {what}", hint=hint, is_passing=codes == _PASSING)
    if engine.is_code("SQLITE_CANTOPEN", "SQLITE_IOERR"):
        return _not_readable(file, path, engine)
    if engine.is_code("SQLITE_INTERRUPT") or engine.message == "interrupted":
        return Cancelled("the statement was cancelled")
    return _refused(where, engine, error)


_PASSING = ("SQLITE_PROTOCOL",)
_UNAVAILABLE: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (
        ("SQLITE_NOTADB",),
        "is not a SQLite database, or is encrypted",
        "Check the source's URL in the catalog",
    ),
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        "is locked by a program that writes to it",
        "Try again once it is done; busy_timeout_ms, an option of the source, says how long to wait",
    ),
    (
        ("SQLITE_READONLY_ROLLBACK",),
        "was left amid a transaction by a program that crashed, and must be rolled back, which is to write",
        "Open it once for writing: sqlite3 file.db 'SELECT 1 FROM sqlite_schema'",
    ),
    (
        ("SQLITE_READONLY",),
        "is in WAL mode, and the files that this needs beside it are not there and cannot be made",
        "Let this user write to its directory, or say WITH (immutable = true) if nobody writes to the file",
    ),
    (
        ("SQLITE_CORRUPT",),
        "is damaged",
        "See what PRAGMA integrity_check says of it, and restore it from a backup",
    ),
    (
        _PASSING,
        "was being opened or closed by too many others at once",
        "Try again",
    ),
)


def _not_readable(file: str, path: str, engine: lite.EngineError) -> Error:
    """Why a file cannot be opened or read; by its directory entry, for it must not be opened to see."""
    if Path(path).is_dir():
        return ShardUnavailable(f"{file} is a directory", hint=_URL)
    if not os.path.lexists(path):
        return ShardUnavailable(f"{file} does not exist", hint=_URL, is_missing=True)
    if not os.access(path, os.R_OK):
        return ShardUnavailable(f"{file} may not be read by this user", hint="Give it the permission to read")
    if _is_out_of_files():
        return ShardUnavailable(
            f"{file} cannot be opened: this process may open no more files",
            hint="Raise its limit (ulimit -n), or lower open_max; a file in WAL mode takes three",
        )
    if Path(f"{path}-wal").exists() and engine.is_code("SQLITE_CANTOPEN"):
        what = "is in WAL mode, and its -shm file is not there and cannot be made"
        return ShardUnavailable(f"{file} {what}", hint="Let this user write to its directory")
    return ShardUnavailable(f"{file} cannot be read: {engine.message}", hint="Check the file and its disk")


def _refused(where: str, engine: lite.EngineError, error: BaseException) -> Error:
    """What SQLite has against the statement or its values."""
    if engine.message.startswith(("no such column", "no such table", "no such schema")):
        return OperationalError(
            f"{where} is not as the catalog says: {engine.message}", reason=Reason.SCHEMA_DRIFT, hint=_CHECK
        )
    if isinstance(error, sqlite3.DataError) or engine.message in _DATA:
        return DataError(f"{where}: {engine.message}")
    hint = None
    if engine.message.startswith(("no such function", "no such collation", "no such module", "unsafe use")):
        hint = "A view or index of the file needs what only its own program has: read the table instead"
    return OperationalError(f"{where}: {engine.message}", hint=hint)


_DATA = frozenset(("integer overflow", "malformed JSON", "string or blob too big"))


def _is_out_of_files() -> bool:
    """Whether nothing can be opened just now, for SQLite does not say why it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False

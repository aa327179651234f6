"""SQLite from Python: files opened for reading and never made, errors told apart, statements interrupted.

Only Python's own `sqlite3` may touch a database file in this process. POSIX drops all locks of a process on a
file when *any* descriptor of it is closed; a SQLite library waits with its closes until its own locks are
gone, but knows nothing of another library, nor of a plain `open()`: one of these beside a user's open
transaction has lost commits. So nothing here opens the file itself, not even to read its header.
"""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

VERSION = sqlite3.sqlite_version_info


class EngineError(NamedTuple):
    """A sqlite3 error: SQLite's name of its code ("SQLITE_BUSY", "" if it has none), and its words."""

    code: str
    message: str

    def is_code(self, *codes: str) -> bool:
        """Whether it is one of the codes; SQLITE_BUSY_RECOVERY is SQLITE_BUSY too."""
        return any(self.code == code or self.code.startswith(f"{code}_") for code in codes)


def read(error: BaseException) -> EngineError:
    """What SQLite said."""
    return EngineError(getattr(error, "sqlite_errorname", "") or "", str(error))


def open_file(path: str, *, immutable: bool = False) -> sqlite3.Connection:
    """A connection that can only read `path`; threads may share it one after another.

    Nothing is read yet: what is no database shows with the first statement. A connection never waits for
    a lock (SQLITE_BUSY at once), for it could not be interrupted then. `immutable` is the caller's word that
    nobody writes to the file: no locks, no files beside it.
    """
    whole = quote(os.fsencode(path if path.startswith("/") else Path(path).absolute()))
    uri = f"file://{whole}?mode=ro{'&immutable=1' if immutable else ''}"
    con = _connect(uri)
    try:
        con.execute("PRAGMA query_only = 1")
        con.execute("PRAGMA trusted_schema = 0")
        con.set_authorizer(authorize_reading)
    except BaseException:
        con.close()
        raise
    return con


def open_memory() -> sqlite3.Connection:
    """A private database in memory."""
    return _connect("file::memory:")


def open_private(path: str) -> sqlite3.Connection:
    """A database of our own at `path`, which nobody else opens; "" for a temporary one that may spill."""
    return _connect(f"file:{quote(os.fsencode(path))}")


def _connect(uri: str) -> sqlite3.Connection:
    con = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
    con.create_function("shardwise_real", 1, _real, deterministic=True)
    return con


def _real(digits: str | None) -> float | None:
    """`shardwise_real` in SQL: the number that Python wrote so. SQLite's versions read digits each in their
    own way."""
    return None if digits is None else float(digits)


def interrupt(con: sqlite3.Connection) -> None:
    """Stops what runs on the connection, from any thread, even if it was closed meanwhile."""
    with suppress(sqlite3.ProgrammingError):
        con.interrupt()


_READS = frozenset(
    (
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_RECURSIVE,
        sqlite3.SQLITE_TRANSACTION,
    )
)
_PRAGMAS = frozenset(
    (
        "encoding",
        "index_info",
        "index_list",
        "index_xinfo",
        "page_count",
        "page_size",
        "schema_version",
        "table_list",
        "table_xinfo",
    )
)
_FORBIDDEN_FUNCTIONS = frozenset(("load_extension", "fts3_tokenizer"))


def authorize_reading(action: int, first: str | None, second: str | None, *_: Any) -> int:
    """What a statement may do, asked when it is compiled: read, and nothing that reaches out of the file."""
    if action in _READS:
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        return sqlite3.SQLITE_OK  # a virtual table is made known; the file is not writable
    if action == sqlite3.SQLITE_FUNCTION:
        is_allowed = (second or "").lower() not in _FORBIDDEN_FUNCTIONS
    else:
        is_allowed = action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _PRAGMAS
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def identifier(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(table: str) -> tuple[str, str]:
    """Schema ("main" if none is said) and name of a table that is written as SQL."""
    parts = [part[1:-1].replace('""', '"') if part.startswith('"') else part for part in _PART.findall(table)]
    return ("main", parts[0]) if len(parts) == 1 else (parts[0], parts[-1])


_PART = re.compile(r'"(?:[^"]|"")*"|[^."]+')

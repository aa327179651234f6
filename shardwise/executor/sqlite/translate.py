"""What SQLite says of a user's statement, as ours. Errors of files are the backend's."""

from __future__ import annotations

import re
import sqlite3

from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    Error,
    OperationalError,
    ProgrammingError,
    Reason,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.executor import lite


def translate(error: BaseException) -> Error:
    """Ours for a sqlite3 error."""
    if isinstance(error, Error):
        return error
    engine = lite.read(error)
    for pattern, make in _KINDS:
        found = pattern.search(engine.message)
        if found:
            return make(engine.message, found)
    if engine.is_code("SQLITE_INTERRUPT"):
        return Cancelled("the statement was cancelled")
    if engine.is_code("SQLITE_FULL", "SQLITE_NOMEM"):
        return BudgetExceeded(
            f"the statement needs more memory than it may use: {engine.message}",
            hint="Raise memory_bytes_max or spill_bytes_max, or narrow the query",
            sqlstate="53200",
        )
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return ProgrammingError(engine.message)
    if engine.is_code("SQLITE_MISMATCH", "SQLITE_TOOBIG") or isinstance(error, sqlite3.DataError):
        return DataError(engine.message)
    if engine.is_code("SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_CANTOPEN"):
        return OperationalError(engine.message)
    return (
        ProgrammingError(engine.message)
        if engine.is_code("SQLITE_ERROR")
        else OperationalError(engine.message)
    )


def _column(message: str, found: re.Match[str]) -> Error:
    return UnknownName(f'column "{found[1]}" does not exist')


def _ambiguous(message: str, found: re.Match[str]) -> Error:
    return UnknownName(f'column "{found[1]}" is ambiguous', reason=Reason.AMBIGUOUS_COLUMN, sqlstate="42702")


def _table(message: str, found: re.Match[str]) -> Error:
    return UnknownName(f'table "{found[1]}" does not exist', reason=Reason.UNKNOWN_TABLE, sqlstate="42P01")


def _function(message: str, found: re.Match[str]) -> Error:
    return UnknownName(
        f'function "{found[1]}" does not exist',
        reason=Reason.NOT_SUPPORTED,
        sqlstate="42883",
        hint="The sqlite dialect has SQLite's own functions; a catalog of DIALECT duckdb has DuckDB's",
    )


def _syntax(message: str, found: re.Match[str]) -> Error:
    return SQLSyntaxError(message)


def _data(message: str, found: re.Match[str]) -> Error:
    return DataError(message)


def _forbidden(message: str, found: re.Match[str]) -> Error:
    return ProgrammingError(f"refused: {message}", reason=Reason.FORBIDDEN, sqlstate="42501")


_KINDS = (
    (re.compile(r"^no such column: (.+)"), _column),
    (re.compile(r"^ambiguous column name: (.+)"), _ambiguous),
    (re.compile(r"^no such table: (.+)"), _table),
    (re.compile(r"^no such function: (.+)"), _function),
    (re.compile(r"syntax error|^unrecognized token|^incomplete input"), _syntax),
    (re.compile(r"^integer overflow|^malformed JSON|JSON path error|^datatype mismatch|too big$"), _data),
    (re.compile(r"^not authorized|prohibited"), _forbidden),
)

"""Statements that shardwise does not answer, each with what to do instead."""

from __future__ import annotations

from typing import Final

from shardwise.dbapi.statements.text import Word, position_of
from shardwise.errors import NotSupportedError

_WRITES: Final = {"insert", "update", "delete", "merge", "truncate", "upsert", "replace"}
_DEFINES: Final = {"create", "alter", "drop", "attach", "detach", "comment", "vacuum"}
_TRANSACTIONS: Final = {"begin", "start", "commit", "rollback", "abort", "end", "savepoint", "release"}
_SETTINGS: Final = {"set", "reset", "pragma", "install", "load", "call", "use", "checkpoint", "force"}
_COPIES: Final = {"copy", "export", "import"}
_PREPARED: Final = {"prepare", "execute", "deallocate"}


def check(sql: str, first: Word) -> None:
    """Raises `NotSupportedError` if the word that a statement begins with says that it is no query."""
    word = first.text
    if word in _WRITES:
        what, hint = "shardwise reads only: it does not write rows", "Write on the sources themselves"
    elif word in _DEFINES:
        what = "shardwise reads only: it does not define or change tables"
        hint = "Declare tables in the catalog file; `shardwise catalog import` reads their columns"
    elif word in _TRANSACTIONS:
        what = "there are no transactions"
        hint = "Each statement stands by itself; commit() and rollback() do nothing"
    elif word in _SETTINGS:
        what = "settings and extensions cannot be changed by a statement"
        hint = "Give options to open(), connect() or execute(), for example execute(sql, deadline_s=10)"
    elif word in _COPIES:
        what = "a statement cannot write or read files"
        hint = "Use execute(…).write_parquet(path) or write_csv(path), or `shardwise query --output FILE`"
    elif word in _PREPARED:
        what, hint = "there are no prepared statements in SQL", "Give parameters to execute(sql, params)"
    else:
        return
    raise NotSupportedError(
        f"{word.upper()} is not supported: {what}", hint=hint, position=position_of(sql, first)
    )

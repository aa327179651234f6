"""PEP 249 over a session: this package is the DB-API module, and `shardwise` re-exports it.

In reading order: `statements` says what kind a text is, `answers` has it answered (`show` from the catalog),
`cursor` hands out the rows (`results`), `connection` holds what cursors share. `types` and `nullability`
describe columns; `html` and `explanation` are for notebooks.
"""

from shardwise.dbapi.connection import Connection
from shardwise.dbapi.cursor import Cursor
from shardwise.dbapi.explanation import Explanation
from shardwise.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "Date",
    "DateFromTicks",
    "Explanation",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
]

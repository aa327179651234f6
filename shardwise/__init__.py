"""Ordinary SQL over a database that is split into many, with the answer that one database would give.

    import shardwise

    with shardwise.connect("cluster.sql") as con:
        con.execute("SELECT city, count(*) FROM customers GROUP BY city").fetchall()

This module is a DB-API 2.0 module (PEP 249). Names are loaded when first used, so that the planner can be
imported where no driver and no engine is installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shardwise._version import __version__
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    CatalogError,
    DatabaseError,
    DataError,
    DeadlineExceeded,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    Position,
    ProgrammingError,
    Reason,
    ShardUnavailable,
    SQLSyntaxError,
    UnknownName,
    Unplannable,
    Warning,  # noqa: A004  PEP 249 names it so
)
from shardwise.options import Options

if TYPE_CHECKING:
    from shardwise.catalog import Catalog
    from shardwise.dbapi import (
        BINARY,
        DATETIME,
        NUMBER,
        ROWID,
        STRING,
        Binary,
        Cluster,
        Connection,
        Cursor,
        Date,
        DateFromTicks,
        Explanation,
        Time,
        TimeFromTicks,
        Timestamp,
        TimestampFromTicks,
        connect,
        open,  # noqa: A004
    )

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module, clusters and connections, not cursors."""
paramstyle = "qmark"
"""`:name` with a mapping is understood too."""

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "BudgetExceeded",
    "Cancelled",
    "Catalog",
    "CatalogError",
    "Cluster",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "DeadlineExceeded",
    "Error",
    "Explanation",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "Options",
    "Position",
    "ProgrammingError",
    "Reason",
    "SQLSyntaxError",
    "ShardUnavailable",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "UnknownName",
    "Unplannable",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "open",
    "paramstyle",
    "threadsafety",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("shardwise.catalog" if name == "Catalog" else "shardwise.dbapi"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

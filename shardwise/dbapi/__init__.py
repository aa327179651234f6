"""PEP 249 over a session: this package is the DB-API module, and `shardwise` re-exports it.

In reading order: `statements` says what kind a text is and has it answered (`show` from the catalog),
`cursor` hands out the rows (`results`), `connection` holds what cursors share. `types` and `nullability`
describe columns; `html` and `explanation` are for notebooks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from shardwise.catalog import Catalog
from shardwise.dbapi.connection import Connection
from shardwise.dbapi.cursor import Cursor
from shardwise.dbapi.explanation import Explanation
from shardwise.dbapi.paramstyle import checked
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
from shardwise.session import Cluster, Secrets, open  # noqa: A004  the public name


def connect(
    catalog: str | os.PathLike[str] | Catalog,
    *,
    secrets: Secrets | None = None,
    scope: Mapping[str, Any] | None = None,
    pinned: bool = False,
    also_read: Iterable[str] = (),
    paramstyle: str = "qmark",
    **options: Any,
) -> Connection:
    """A connection to a cluster of its own: `open` and `Cluster.connect` in one; closing it closes both.

    With `paramstyle="format"` statements have `%s` and `%(name)s` for parameters, as PyMySQL's and psycopg's.

    A program that connects often should `open` once: pools and caches are the cluster's.
    """
    style = checked(paramstyle)
    cluster = open(catalog, secrets=secrets, **options)
    try:
        found = cluster.scope_of(scope or {}, pinned=pinned, also_read=also_read)
    except BaseException:
        cluster.close()
        raise
    return Connection(cluster, cluster.options, owns_cluster=True, scope=found, paramstyle=style)


__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Cluster",
    "Connection",
    "Cursor",
    "Date",
    "DateFromTicks",
    "Explanation",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "connect",
    "open",
]

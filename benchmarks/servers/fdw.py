"""postgres_fdw over the same four databases: partitioned foreign tables, read with asynchronous append."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from psycopg import Error, sql

from benchmarks.servers.places import COLUMNS, SHARDS, Placed
from benchmarks.servers.spider import Missing
from tests.oracle.cluster import By
from tests.oracle.tpch import PLACES

_SETTINGS = ("enable_partitionwise_join", "enable_partitionwise_aggregate", "enable_async_append")


@contextmanager
def postgres_fdw(place: Placed) -> Iterator[Any]:
    """A connection to a database of foreign tables over `place`'s shards."""
    server = place.server()
    name = place.whole.replace("whole", "fdw")
    server.database(name=name)
    con = server.connect(name)
    try:
        _build(con, place)
    except Error as error:
        con.close()
        server.run(f"DROP DATABASE {name}")
        raise Missing(f"it could not be set up: {error}") from error
    try:
        yield con
    finally:
        con.close()
        server.run(f"DROP DATABASE {name}")


def _build(con: Any, place: Placed) -> None:
    con.execute("CREATE EXTENSION postgres_fdw")
    for i, database in enumerate(place.shards):
        server = place.server(i)
        con.execute(
            f"CREATE SERVER s{i} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{server.host}',"
            f" port '{server.port}', dbname '{database}', async_capable 'true', fetch_size '10000')"
        )
        con.execute(
            sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS (user {}, password {})").format(
                sql.Identifier(f"s{i}"), sql.Literal(server.user), sql.Literal(server.password)
            )
        )
    for table, columns in COLUMNS.items():
        where = PLACES[table]
        if not isinstance(where, By):
            con.execute(f"CREATE FOREIGN TABLE {table} ({columns}) SERVER s0")
            continue
        key = where.keys[0]
        con.execute(f"CREATE TABLE {table} ({columns}) PARTITION BY LIST (({key} % {SHARDS}))")
        for i in range(SHARDS):
            con.execute(
                f"CREATE FOREIGN TABLE {table}_{i} PARTITION OF {table} FOR VALUES IN ({i})"
                f" SERVER s{i} OPTIONS (table_name '{table}')"
            )
    con.execute("ANALYZE")
    for setting in _SETTINGS:
        con.execute(f"SET {setting} = on")

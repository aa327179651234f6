"""One table on one server, and split over several databases behind a catalog of the server's own dialect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from shardwise.catalog import parse
from shardwise.session.cluster import Cluster
from tests.servers import mariadb, postgres

Rows = Sequence[tuple[Any, ...]]
Servers = Callable[[int], Any]
PASSWORD = "SHARDWISE_TEST_SERVED_PASSWORD"

SERVERS: dict[str, Servers] = {"mysql": lambda i: mariadb(i % 2), "postgres": lambda _: postgres()}


class Served:
    """`whole` runs a statement on the one database, `cluster` on the split one."""

    def __init__(self, cluster: Cluster, whole: Any) -> None:
        self.cluster = cluster
        self.whole = whole

    def expected(self, sql: str, params: Sequence[Any] = ()) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self.whole.cursor() as cursor:
            cursor.execute(sql.replace("?", "%s") if params else sql, tuple(params) or None)
            names = [column[0] for column in cursor.description]
            return names, [tuple(row) for row in cursor.fetchall()]

    def found(
        self, sql: str, params: Sequence[Any] = (), **options: Any
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        with self.cluster.connect(**options) as connection, connection.cursor() as cursor:
            cursor.execute(sql, params)
            rows = cursor.fetchall()
            return [column[0] for column in cursor.description or ()], [tuple(row) for row in rows]


@contextmanager
def served(
    dialect: str,
    tables: dict[str, tuple[str, Rows]],
    *,
    shards: int = 3,
    header: str = "",
    before: Sequence[str] = (),
    declared: str | None = None,
    odd: dict[int, dict[str, str]] | None = None,
) -> Iterator[Served]:
    """`tables` are columns' definitions and rows by name; rows are split by their first column, a number.

    `before` are statements that each database has run first; `odd` other definitions on some shards;
    `declared` what the catalog says of all tables' columns.
    """
    server_of = SERVERS[dialect]
    ddl = [*before, *(f"CREATE TABLE {name} ({columns})" for name, (columns, _) in tables.items())]
    sources = []
    for shard in range(shards):
        server = server_of(shard)
        own = {name: columns for name, (columns, _) in tables.items()} | (odd or {}).get(shard, {})
        database = server.database(*before, *(f"CREATE TABLE {name} ({own[name]})" for name in own))
        for name, (_, rows) in tables.items():
            server.insert(database, name, [row for row in rows if row[0] % shards == shard])
        sources.append(f"CREATE SOURCE s{shard} URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}';")
    server = server_of(0)
    os.environ[PASSWORD] = server.password
    whole = server.database(*ddl)
    for name, (_, rows) in tables.items():
        server.insert(whole, name, rows)
    catalog = "\n".join(
        [
            f"CREATE CATALOG c DIALECT {dialect}{header};",
            *sources,
            f"CREATE SHARDING k USING MOD {shards} AS m ON s{{m}};",
            *(
                f"ATTACH TABLE {name} ({declared or columns}) SHARD BY k (id);"
                for name, (columns, _) in tables.items()
            ),
        ]
    )
    with (
        Cluster(parse(catalog), Path.cwd(), None, {}) as cluster,
        closing(server.connect(whole)) as connection,
    ):
        yield Served(cluster, connection)

"""Faults of a shard: its tables are not as the catalog says, or its server stands still."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.servers.places import COLUMNS, PASSWORD, Placed, catalog
from shardwise.catalog import parse
from shardwise.session.cluster import Cluster
from tests.servers.mariadb_server import private_mariadb
from tests.servers.postgres_server import private_postgres

OTHER_COLLATION = {"mysql": "utf8mb4_bin", "postgres": '"und-x-icu"'}
NO_VALUE = {
    "mysql": (
        "SET sql_mode = ''",
        "INSERT INTO orders VALUES (3, 1, 'O', 1, '0000-00-00', '1-URGENT', 'c', 0, '')",
    ),
    "postgres": ("INSERT INTO orders VALUES (3, 1, 'O', 'NaN', '1995-01-01', '1-URGENT', 'c', 0, '')",),
}
"""A date, a number that the server has and DuckDB has not."""


@contextmanager
def odd(
    place: Placed, dialect: str, *statements: str, columns: tuple[str, str] = ("", "")
) -> Iterator[Cluster]:
    """The last shard is another database: its tables empty but for what `statements` do, `columns` what of
    lineitem's is written otherwise there."""
    last = len(place.shards) - 1
    server, name = place.server(last), f"{place.shards[last]}_odd"
    tables = {**COLUMNS, "lineitem": COLUMNS["lineitem"].replace(*columns)}
    server.database(
        *(f"CREATE TABLE {table} ({listed})" for table, listed in tables.items()), *statements, name=name
    )
    urls = [place.server(i).url(shard) for i, shard in enumerate(place.shards[:-1])]
    try:
        with Cluster(parse(catalog(dialect, [*urls, server.url(name)])), Path.cwd(), None, {}) as found:
            yield found
    finally:
        server.run(f"DROP DATABASE {name}")


@contextmanager
def with_a_server_of_its_own(place: Placed, options: str) -> Iterator[tuple[Cluster, Any]]:
    """The first shard on a server that may be stopped."""
    server = private_mariadb("stopped") if place.product == "mysql" else private_postgres("stopped")
    name = server.database(*(f"CREATE TABLE {table} ({listed})" for table, listed in COLUMNS.items()))
    urls = [place.server(i).url(shard) for i, shard in enumerate(place.shards)]
    text = catalog(place.product, [server.url(name), *urls[1:]])
    text = text.replace(f"PASSWORD ENV '{PASSWORD}';", f"PASSWORD ENV '{PASSWORD}' WITH ({options});")
    try:
        with Cluster(parse(text), Path.cwd(), None, {}) as found:
            yield found, server
    finally:
        server.run(f"DROP DATABASE {name}")


@contextmanager
def stopped(server: Any) -> Iterator[None]:
    """SIGSTOP of all its processes: connections stay open, and nobody answers."""
    pids = [server.pid, *_children(server.pid)]
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _children(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

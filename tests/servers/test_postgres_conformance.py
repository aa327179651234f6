"""The PostgreSQL backend through the suite that ships for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from shardwise.executor.backends.base import Location
from shardwise.executor.backends.postgres import PostgresBackend
from shardwise.testing.conformance import BackendConformance
from tests.servers import postgres


class TestPostgres(BackendConformance):
    backend = PostgresBackend()
    named = "%({})s"
    time_zone = "SELECT CAST(TIMESTAMPTZ '2024-05-01 10:00:00+00' AS text)"
    fails_late = "SELECT CAST(CASE WHEN id = 99999 THEN word ELSE '1' END AS bigint) FROM numbers"

    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        server = postgres()
        database = server.database()
        for name, table in tables.items():
            server.run(f"CREATE TABLE {name} (id bigint, word text)", database=database)
            server.insert(database, name, zip(*table.to_pydict().values(), strict=True))
        return Location(source="shop", url=server.url(database), password=server.password)

    def missing(self, folder: Path) -> Location:
        server = postgres()
        return Location(source="shop", url=server.url("no_such_database"), password=server.password)

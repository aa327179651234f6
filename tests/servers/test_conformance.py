"""The servers' backends, through the suite that ships for all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

from shardwise.executor.backends.base import Location, SourceConnection
from shardwise.executor.backends.mysql import MySQLBackend
from shardwise.testing.conformance import ID, BackendConformance
from tests.servers import mariadb


class TestMariaDB(BackendConformance):
    backend = MySQLBackend()
    slow = "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE concat(a.word, b.word, c.word) = 'x'"
    fails_late = "SELECT exp(CASE WHEN id = 99999 THEN 10000 ELSE 1 END) FROM numbers"
    time_zone = "SELECT TIMESTAMP '2024-05-01 10:00:00'"
    time_zone_type = "TIMESTAMP WITH TIME ZONE"
    writes = ("CREATE TABLE more (a INTEGER)", "INSERT INTO numbers VALUES (1, 'x')", "DROP TABLE numbers")

    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        server = mariadb(0)
        database = server.database(*(f"CREATE TABLE {name} (id BIGINT, word VARCHAR(20))" for name in tables))
        for name, table in tables.items():
            server.insert(database, name, zip(*table.to_pydict().values(), strict=True))
        return Location(source="db", url=server.url(database), password=server.password)

    def missing(self, folder: Path) -> Location:
        server = mariadb(0)
        return Location(source="db", url=server.url("no_such_database"), password=server.password)

    def test_parameters_are_bound_by_name(self, connection: SourceConnection) -> None:
        sql = "SELECT id FROM numbers WHERE id >= :low AND id < :p1 AND word <> ':p2' ORDER BY id"
        params = {"p1": 7, "low": 5, "p2": "not used"}
        connection.execute(sql, params)
        assert connection.fetchmany(9) == [(5,), (6,)]
        assert connection.arrow(sql, params, 10, ID).read_all().column(0).to_pylist() == [5, 6]

    @pytest.mark.parametrize("value", ["a' OR '1' = '1", "a\\' OR 1 = 1 -- ", 'a" OR 1 -- ', "a\0'"])
    def test_a_parameter_is_a_value_never_text(self, connection: SourceConnection, value: str) -> None:
        connection.execute("SELECT count(*), :p FROM nulls WHERE word = :p", {"p": value})
        assert connection.fetchmany(2) == [(0, value)]

"""A server ends a statement that takes longer than `statement_timeout_s`, in the merge as on a shard."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from shardwise.catalog import parse
from shardwise.errors import DeadlineExceeded
from shardwise.session.cluster import Cluster
from tests.servers import mariadb, postgres
from tests.servers.served import PASSWORD

ROWS = {
    "mysql": "INSERT INTO t SELECT seq, seq FROM seq_1_to_3000",
    "postgres": "INSERT INTO t SELECT i, i FROM generate_series(1, 3000) AS g(i)",
}


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_a_merge_that_takes_too_long(dialect: str) -> None:
    server = mariadb() if dialect == "mysql" else postgres()
    names = [server.database("CREATE TABLE t (id INT PRIMARY KEY, a INT)", ROWS[dialect]) for _ in range(2)]
    os.environ[PASSWORD] = server.password
    options = f"PASSWORD ENV '{PASSWORD}' WITH (statement_timeout_s = 0.5)"
    text = f"""CREATE CATALOG c DIALECT {dialect};
        CREATE SOURCE s0 URL '{server.url(names[0])}' {options};
        CREATE SOURCE s1 URL '{server.url(names[1])}' {options};
        CREATE SHARDING k USING MOD 2 AS n ON s{{n}};
        ATTACH TABLE t (id INT, a INT, PRIMARY KEY (id)) SHARD BY k (id);"""
    with Cluster(parse(text), Path.cwd(), None, {}) as cluster, cluster.connect() as connection:
        sql = "SELECT count(*) FROM t x, t y, t z WHERE x.a + y.a > z.a + 1"
        with connection.cursor() as cursor, pytest.raises(DeadlineExceeded):
            cursor.execute(sql).fetchall()

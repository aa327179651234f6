"""`character(n)` columns in the duckdb dialect: without the blanks at their end, pushed or not."""

from __future__ import annotations

import duckdb
import pytest

from shardwise.catalog.language import parse
from shardwise.session import open as open_cluster
from tests.servers import postgres

pytestmark = pytest.mark.servers
ROWS = [(1, "a", "a"), (2, "ab", "ab "), (3, "b ", "b"), (4, None, None), (5, "A", "é"), (6, "Z", "z")]
CONDITIONS = (
    *("c = 'a'", "c = 'a '", "c <> 'a'", "c < 'b'", "c > 'Z'", "c IN ('a', 'Z ')", "c BETWEEN 'a' AND 'b'"),
    *("c LIKE 'a'", "c LIKE 'a%'", "c LIKE 'ab_'", "c NOT LIKE 'a'", "c IS NULL", "c = v"),
    *("c || 'x' = 'ax'", "length(c) = 1", "upper(c) = 'A'"),
)
QUERIES = (
    *(f"SELECT id FROM t WHERE {condition} ORDER BY id" for condition in CONDITIONS),
    "SELECT c, count(*) FROM t GROUP BY c ORDER BY c",
    "SELECT DISTINCT c FROM t ORDER BY 1",
    "SELECT min(c), max(c) FROM t",
    "SELECT c FROM t ORDER BY c LIMIT 2",
    "SELECT c FROM t ORDER BY c DESC NULLS LAST LIMIT 2",
    "SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id AND a.c = b.v ORDER BY 1",
)


def test_as_duckdb_answers() -> None:
    server = postgres()
    databases = [server.database("CREATE TABLE t (id bigint, c char(4), v text)") for _ in range(2)]
    for shard, database in enumerate(databases):
        server.insert(database, "t", [row for row in ROWS if row[0] % 2 == shard])
    sources = "".join(f"CREATE SOURCE s{i} URL '{server.url(name)}';" for i, name in enumerate(databases))
    catalog = (
        f"CREATE CATALOG shop DIALECT duckdb; {sources} CREATE SHARDING by_id USING MOD 2 (s0 = 0, s1 = 1);"
        "CREATE TABLE t (id BIGINT, c CHAR(4), v VARCHAR) SHARD BY by_id (id);"
    )
    secrets = {f"s{i}": server.password for i in range(2)}
    with duckdb.connect() as one, open_cluster(parse(catalog), secrets=secrets) as con:
        one.execute("CREATE TABLE t (id BIGINT, c CHAR(4), v VARCHAR)")
        one.executemany("INSERT INTO t VALUES (?, ?, ?)", [(i, c and c.rstrip(), v) for i, c, v in ROWS])
        with con.connect() as connection:
            for sql in QUERIES:
                assert connection.cursor().execute(sql).fetchall() == one.execute(sql).fetchall(), sql

"""What goes wrong on one MariaDB of several: the statement's error names the shard, and comes soon."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.errors import (
    Cancelled,
    DataError,
    DeadlineExceeded,
    Error,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from tests.faults.proxy import Proxy
from tests.servers import mariadb

pytestmark = pytest.mark.servers
ROWS = 4_000
TEXTS = (
    *("it's", "\\", "\\'", "'; DROP TABLE t; -- ", '"', "`", "/*! 1 */", "a\0b", "é😀"),
    *("%s :p1 %(p)s $p1", "#", "--"),
)


@pytest.fixture(scope="module")
def databases() -> tuple[str, str]:
    names = []
    for n in range(2):
        server = mariadb(n)
        names.append(
            server.database(
                "CREATE TABLE t (id BIGINT PRIMARY KEY, w VARCHAR(60) COLLATE utf8mb4_bin, d DATE)",
                f"INSERT INTO t SELECT seq, concat('w', seq % 7), '2024-01-01' FROM seq_1_to_{ROWS}"
                f" WHERE seq % 2 = {n}",
            )
        )
    mariadb(0).insert(names[0], "t", [(-2 * i, text, None) for i, text in enumerate(TEXTS, 1)])
    return names[0], names[1]


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    with Proxy(mariadb(1).host, mariadb(1).port) as found:
        yield found


@pytest.fixture(params=["duckdb", "mysql"])
def cluster(
    request: pytest.FixtureRequest, databases: tuple[str, str], proxy: Proxy
) -> Iterator[shardwise.Cluster]:
    types = {"duckdb": "id BIGINT, w VARCHAR, d DATE", "mysql": "id BIGINT, w VARCHAR(60), d DATE"}
    timeouts = "connect_timeout_s = 1, read_timeout_s = 1"
    catalog = parse(f"""CREATE CATALOG c DIALECT {request.param};
        CREATE SOURCE a URL '{mariadb(0).url(databases[0])}';
        CREATE SOURCE b URL 'mysql://admin@127.0.0.1:{proxy.port}/{databases[1]}' WITH ({timeouts});
        CREATE SHARDING by_id USING MOD 2 (a = 0, b = 1);
        ATTACH TABLE t ({types[request.param]}) SHARD BY by_id (id);""")
    secrets = {"a": mariadb(0).password, "b": mariadb(1).password}
    with shardwise.open(catalog, secrets=secrets) as found:
        yield found


# In the mysql dialect it is slow in the merge, which one of the servers makes.
# By rows: by words alone groups would be joined, which is quick.
SLOW = "SELECT count(*) FROM t AS a, t AS b, t AS c WHERE concat(a.w, a.id, b.w, b.id, c.w, c.id) = 'x'"


def test_texts_that_would_break_out(cluster: shardwise.Cluster) -> None:
    with cluster.connect() as con:
        for i, text in enumerate(TEXTS, 1):
            assert con.execute("SELECT id, w FROM t WHERE w = ?", [text]).fetchall() == [(-2 * i, text)]
            found = con.execute("SELECT id FROM t WHERE id = ? AND w = ?", [-2 * i, text]).fetchall()
            assert found == [(-2 * i,)]
        assert con.execute("SELECT count(*) FROM t").fetchall() == [(ROWS + len(TEXTS),)]


def test_a_server_that_is_down(cluster: shardwise.Cluster, proxy: Proxy) -> None:
    proxy.refuse()
    with cluster.connect() as con:
        with pytest.raises(ShardUnavailable, match='shard "b"') as caught:
            con.execute("SELECT count(*) FROM t").fetchall()
        assert caught.value.shard == "b"
        assert con.execute("SELECT w FROM t WHERE id = 2").fetchall() == [("w2",)]
        proxy.accept()
        assert con.execute("SELECT count(*) FROM t").fetchall() == [(ROWS + len(TEXTS),)]


def test_connections_that_were_lost_between_statements(cluster: shardwise.Cluster, proxy: Proxy) -> None:
    with cluster.connect() as con:
        for _ in range(3):
            assert con.execute("SELECT count(*) FROM t").fetchall() == [(ROWS + len(TEXTS),)]
            assert con.execute("SELECT w FROM t WHERE id = 3").fetchall() == [("w3",)]
            proxy.drop()


def test_a_server_that_falls_silent(cluster: shardwise.Cluster, proxy: Proxy) -> None:
    with cluster.connect() as con:
        assert con.execute("SELECT w FROM t WHERE id = 3").fetchall() == [("w3",)]
        proxy.stall()
        for sql in ("SELECT count(*) FROM t", "SELECT w FROM t WHERE id = 3"):
            began = time.monotonic()
            with pytest.raises(ShardUnavailable, match="does not answer") as caught:
                con.execute(sql).fetchall()
            assert type(caught.value) is ShardUnavailable
            assert time.monotonic() - began < 15
        proxy.flow()
        assert con.execute("SELECT w FROM t WHERE id = 3").fetchall() == [("w3",)]


def test_a_deadline(cluster: shardwise.Cluster) -> None:
    with cluster.connect() as con:
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            con.execute(SLOW, deadline_s=0.5).fetchall()
        assert time.monotonic() - began < 5


def test_a_cancel(cluster: shardwise.Cluster) -> None:
    with cluster.connect() as con:
        cursor = con.cursor()
        timer = threading.Timer(0.5, cursor.cancel)
        timer.start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            cursor.execute(SLOW).fetchall()
        assert time.monotonic() - began < 5
        timer.join()
        assert con.execute("SELECT w FROM t WHERE id = 3").fetchall() == [("w3",)]


@pytest.mark.parametrize("kind", ["type", "value"])
def test_a_shard_that_is_otherwise(cluster: shardwise.Cluster, databases: tuple[str, str], kind: str) -> None:
    name = f"odd_{kind}_{cluster.declared.dialect}"
    types = ("DATE", "VARCHAR(20)") if kind == "type" else ("DATE", "DATE")
    for n, type_ in enumerate(types):
        mariadb(n).run(
            f"CREATE OR REPLACE TABLE {name} (id BIGINT, d {type_})",
            "SET sql_mode = ''",
            f"INSERT INTO {name} VALUES ({n}, '{'0000-00-00' if n and kind == 'value' else '2024-02-03'}')",
            database=databases[n],
        )
    text = cluster.declared.to_sql() + f"ATTACH TABLE {name} (id BIGINT, d DATE) SHARD BY by_id (id);"
    secrets = {"a": mariadb(0).password, "b": mariadb(1).password}
    with shardwise.open(parse(text), secrets=secrets) as other, other.connect() as con:
        if kind == "value" and cluster.declared.dialect == "mysql":
            assert con.execute(f"SELECT d FROM {name} WHERE id = 1").fetchall() == [("0000-00-00",)]
            return
        with pytest.raises(Error) as caught:
            con.execute(f"SELECT id, d FROM {name} ORDER BY d, id").fetchall()
    assert "shard" in caught.value.message
    if kind == "type":
        assert isinstance(caught.value, OperationalError)
        assert caught.value.reason == Reason.SCHEMA_DRIFT
    else:
        assert type(caught.value) is DataError
        assert "0000-00-00" in caught.value.message

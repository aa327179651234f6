"""`execute()` sends the statement and waits until its answer has begun: what a server says is wrong comes
from there, and the rows are those of that moment."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.dbapi import Cursor
from shardwise.errors import (
    Cancelled,
    DatabaseError,
    DataError,
    DeadlineExceeded,
    OperationalError,
    ShardUnavailable,
)
from shardwise.session.cluster import Cluster
from tests.servers import mariadb, postgres
from tests.servers.served import PASSWORD

pytestmark = pytest.mark.servers
TABLE = "CREATE TABLE t (id INT PRIMARY KEY, k INT, n BIGINT, word VARCHAR(20))"
VIEW = "CREATE VIEW v AS SELECT id, k, n + 9223372036854775000 AS x FROM t"
"""Its rows of n > 807 cannot be had."""
ROWS = {
    "mysql": "INSERT INTO t SELECT seq, {k}, seq, 'as it was' FROM seq_1_to_900",
    "postgres": "INSERT INTO t SELECT i, {k}, i, 'as it was' FROM generate_series(1, 900) AS g(i)",
}
KILL = {
    "mysql": "SELECT id FROM information_schema.processlist WHERE db = '{name}' AND command = 'Query'",
    "postgres": "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    " AND state = 'active' AND pid <> pg_backend_pid()",
}
KEYED = " WHERE k = 1"
SLOW = (
    "SELECT count(*) FROM t a JOIN t b ON a.k = b.k JOIN t c ON b.k = c.k JOIN t d ON c.k = d.k WHERE a.k = 1"
)
SLOW += " AND a.n + b.n > c.n * d.n"


class Shop:
    """A table on two databases of a server: `s0` has the rows of the even k (0), `s1` of the odd (1)."""

    def __init__(self, product: str, dialect: str) -> None:
        self.product, self.dialect = product, dialect
        self.server: Any = mariadb() if product == "mysql" else postgres()
        self.names = [self.server.database(TABLE, VIEW, ROWS[product].format(k=k)) for k in (0, 1)]

    def cluster(self) -> Cluster:
        os.environ[PASSWORD] = self.server.password
        option = f"PASSWORD ENV '{PASSWORD}' WITH (statement_timeout_s = 3)"
        sources = [
            f"CREATE SOURCE s{k} URL '{self.server.url(name)}' {option};" for k, name in enumerate(self.names)
        ]
        columns = "id INTEGER, k INTEGER, n BIGINT, word VARCHAR(20)"
        text = (
            f"CREATE CATALOG c DIALECT {self.dialect}; {' '.join(sources)}"
            f"CREATE SHARDING by_k USING MOD 2 AS m ON s{{m}}; ATTACH TABLE t ({columns}) SHARD BY by_k (k);"
            "ATTACH TABLE v (id INTEGER, k INTEGER, x BIGINT) SHARD BY by_k (k);"
        )
        return Cluster(parse(text), Path.cwd(), None, {})

    def run(self, sql: str) -> None:
        for name in self.names:
            self.server.run(sql, database=name)

    def kill(self, until: threading.Event) -> None:
        """Whoever asks the second database anything: once a session that had waited is replaced."""
        while not until.wait(0.05):
            found = self.server.run(KILL[self.product].format(name=self.names[1]))
            for (number,) in found if self.product == "mysql" else ():
                with suppress(Exception):
                    self.server.run(f"KILL {number}")


@pytest.fixture(params=["mysql", "mysql/duckdb", "postgres", "postgres/duckdb"])
def shop(request: pytest.FixtureRequest) -> Iterator[Shop]:
    product, _, dialect = request.param.partition("/")
    found = Shop(product, dialect or product)
    yield found
    for name in found.names:
        force = " WITH (FORCE)" if product == "postgres" else ""
        found.server.run(f"DROP DATABASE {name}{force}")


@pytest.fixture
def cursor(shop: Shop) -> Iterator[Cursor]:
    with (
        shop.cluster() as cluster,
        closing(cluster.connect()) as connection,
        closing(connection.cursor()) as found,
    ):
        yield found


def known(cursor: Cursor, sql: str, times: int = 3) -> None:
    """Has everything know the statement: plan, tables, sessions."""
    for _ in range(times):
        cursor.execute(sql).fetchall()


@pytest.mark.parametrize("where", [KEYED, ""])
def test_a_value_of_some_row_that_is_out_of_range(cursor: Cursor, where: str) -> None:
    """Not of the first."""
    few = f"{where} AND" if where else " WHERE"
    for _ in range(3):
        with pytest.raises((DataError, OperationalError), match="range"):
            cursor.execute(f"SELECT x FROM v{few} id > 700")


@pytest.mark.parametrize("where", [KEYED, ""])
def test_an_error_only_in_later_executions(shop: Shop, cursor: Cursor, where: str) -> None:
    """The plan and the tables are known: nothing but the statement itself is asked."""
    few = f"{where} AND" if where else " WHERE"
    sql = f"SELECT x FROM v{few} id < 10"
    known(cursor, sql)
    shop.run("UPDATE t SET n = 9000 WHERE id = 3")
    with pytest.raises((DataError, OperationalError), match="range"):
        cursor.execute(sql)


@pytest.mark.parametrize("where", [KEYED, ""])
@pytest.mark.parametrize("change", ["ALTER TABLE t DROP COLUMN word", "DROP TABLE t CASCADE"])
def test_a_table_that_is_another_by_now(shop: Shop, cursor: Cursor, where: str, change: str) -> None:
    sql = f"SELECT id, word FROM t{where}"
    known(cursor, sql)
    shop.run(change)
    with pytest.raises(DatabaseError):
        cursor.execute(sql)


def test_a_session_that_is_killed(shop: Shop, cursor: Cursor) -> None:
    known(cursor, "SELECT word FROM t WHERE k = 1 AND id = 7")
    failed = threading.Event()
    thread = threading.Thread(target=shop.kill, args=(failed,))
    thread.start()
    with pytest.raises(ShardUnavailable):
        cursor.execute(SLOW)
    failed.set()
    thread.join()


def test_the_servers_timeout(cursor: Cursor) -> None:
    with pytest.raises(DeadlineExceeded):
        cursor.execute(SLOW)


def test_a_deadline(cursor: Cursor) -> None:
    known(cursor, "SELECT word FROM t WHERE k = 1 AND id = 7")
    with pytest.raises(DeadlineExceeded):
        cursor.execute(SLOW, deadline_s=0.3)


def test_a_cancel(cursor: Cursor) -> None:
    known(cursor, "SELECT word FROM t WHERE k = 1 AND id = 7")
    timer = threading.Timer(0.5, cursor.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        cursor.execute(SLOW)
    timer.join()


def rows_of(cursor: Cursor, how: str) -> list[Any]:
    if how == "fetchone":
        return list(iter(cursor.fetchone, None))
    if how == "iteration":
        return list(cursor)
    if how == "arrow":
        table = cursor.to_arrow_table()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    return cursor.fetchall()


@pytest.mark.parametrize("where", [" WHERE k = 1 AND id < 4", " WHERE id < 4", " WHERE k = 1"])
def test_the_rows_are_those_of_execute(shop: Shop, cursor: Cursor, where: str) -> None:
    """The first time, when the statement is known, and when it is sent ahead."""
    sql = f"SELECT id, word FROM t{where}"
    expected = [(i, "as it was") for i in range(1, 4 if "id" in where else 901)]
    expected += expected if "k" not in where else []
    for how in ("fetchall", "arrow", "fetchone", "iteration", "fetchall", "arrow"):
        cursor.execute(sql)
        shop.run("UPDATE t SET word = 'another' WHERE id <= 3")
        assert sorted(rows_of(cursor, how)) == sorted(expected)
        shop.run("UPDATE t SET word = 'as it was' WHERE id <= 3")
        cursor.execute(sql).fetchall()
        assert sorted(rows_of(cursor.execute(sql), how)) == sorted(expected)


def test_a_merge_on_a_server(shop: Shop, cursor: Cursor) -> None:
    """What a home says is wrong."""
    if shop.dialect == "duckdb":
        pytest.skip("it is merged in this process")
    sql = "SELECT sum(n) + 9223372036854775000 - sum(n) * 9223372036854775 FROM t WHERE id < {}"
    sql = sql if shop.dialect == "mysql" else sql.replace("sum(n)", "CAST(sum(n) AS BIGINT)")
    sql = sql.replace("sum(n)", "CAST(sum(n) AS SIGNED)") if shop.dialect == "mysql" else sql
    with pytest.raises((DataError, OperationalError), match="range"):
        cursor.execute(sql.format(800))

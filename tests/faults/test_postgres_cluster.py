"""PostgreSQL shards behind a cluster: retries, deadlines, drift, injection, and no secret anywhere."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shardwise.catalog.language import parse
from shardwise.errors import (
    DataError,
    DeadlineExceeded,
    Error,
    OperationalError,
    Reason,
    ShardUnavailable,
)
from shardwise.executor.backends.postgres.session import Session
from shardwise.executor.backends.postgres.settings import Settings
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.faults.asking import until
from tests.faults.proxy import Proxy
from tests.servers import postgres

pytestmark = pytest.mark.servers
CANARY = "c4n4ry'\" %s"
TABLE = "CREATE TABLE t (id bigint, word text, x numeric(9,2))"
SHARDS = 2
EACH = 20_000


@pytest.fixture(scope="module")
def databases() -> list[str]:
    server = postgres()
    made = []
    for shard in range(SHARDS):
        rows = f"SELECT {SHARDS} * i + {shard}, 'w' || i % 7, i / 4.0 FROM generate_series(0, {EACH} - 1) i"
        made.append(server.database(TABLE, f"INSERT INTO t {rows}"))
    return made


def cluster(
    databases: list[str],
    dialect: str = "duckdb",
    *,
    port: int | None = None,
    password: str | None = None,
    columns: str = "id BIGINT, word VARCHAR, x DECIMAL(9, 2)",
    with_: str = "",
    **options: Any,
) -> Cluster:
    server = postgres()
    sources = "".join(
        f"CREATE SOURCE s{i} URL '{server.url(name).replace(str(server.port), str(port or server.port))}'"
        f" {with_};"
        for i, name in enumerate(databases)
    )
    slots = ", ".join(f"s{i} = {i}" for i in range(len(databases)))
    return open_cluster(
        parse(
            f"CREATE CATALOG shop DIALECT {dialect}; {sources}"
            f"CREATE SHARDING by_id USING MOD {len(databases)} ({slots});"
            f"CREATE TABLE t ({columns}) SHARD BY by_id (id);"
        ),
        secrets={f"s{i}": password or server.password for i in range(len(databases))},
        **options,
    )


def answer(con: Cluster, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
    with con.connect() as connection:
        return connection.cursor().execute(sql, params).fetchall()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    server = postgres()
    with Proxy(server.host, server.port) as made:
        yield made


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_connections_that_died_while_they_waited(databases: list[str], proxy: Proxy, dialect: str) -> None:
    with cluster(databases, dialect, port=proxy.port) as con:
        for _ in range(3):
            assert answer(con, "SELECT count(*) FROM t") == [(SHARDS * EACH,)]
            proxy.drop()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_a_server_that_falls_silent(databases: list[str], proxy: Proxy, dialect: str) -> None:
    """Two waits, whatever waits in the pool: for a connection that is there, then for a new one."""
    options = "WITH (connect_timeout_s = 1, read_timeout_s = 1)"
    with cluster(databases, dialect, port=proxy.port, with_=options) as con:
        connections = [con.connect() for _ in range(6)]
        cursors = [each.cursor().execute("SELECT word FROM t") for each in connections]
        for cursor in cursors:
            cursor.close()
        for sql in ("SELECT word FROM t WHERE id = 2", "SELECT count(*) FROM t"):
            for _ in range(3):  # by then it goes out with what begins its transaction
                assert answer(con, sql)
            proxy.stall()
            began = time.monotonic()
            with pytest.raises(
                ShardUnavailable, match=r"does not answer|did not answer|timeout expired"
            ) as caught:
                answer(con, sql)
            assert time.monotonic() - began < 3.5
            assert not caught.value.is_passing
            proxy.flow()


def test_a_read_is_tried_again_before_its_first_rows(
    databases: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection is ended after it was taken, before there is any row."""
    server = postgres()
    real = Session.start_copy
    killed: list[int] = []

    def start_copy(session: Session, sql: str) -> None:
        if not killed:
            killed.append(session.pgconn.backend_pid)
            server.run(f"SELECT pg_terminate_backend({killed[0]})")
        real(session, sql)

    monkeypatch.setattr(Session, "start_copy", start_copy)
    with cluster(databases) as con:
        assert answer(con, "SELECT count(word), max(id) FROM t") == [(SHARDS * EACH, SHARDS * EACH - 1)]
    assert killed


def test_a_connection_lost_amid_rows_is_an_error(
    databases: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Session.next_copied

    def next_copied(session: Session, rows: int, size: int) -> bytearray:
        found = real(session, 500, size)
        if found:
            session._shut()
        return found

    monkeypatch.setattr(Session, "next_copied", next_copied)
    with cluster(databases, requests_max=1) as con, pytest.raises(ShardUnavailable) as caught:
        answer(con, "SELECT id, repeat(word, 2000) FROM t")
    assert caught.value.shard in ("s0", "s1")
    assert "the connection was lost" in caught.value.message
    assert type(caught.value) is ShardUnavailable
    assert caught.value.is_passing


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_a_deadline_ends_what_runs_on_the_shards(databases: list[str], dialect: str) -> None:
    server = postgres()
    sql = "SELECT count(*) FROM t a, t b, t c WHERE a.word || b.word || c.word = 'x'"
    began = time.monotonic()
    with cluster(databases[:1], dialect, deadline_s=1.0) as con, pytest.raises(DeadlineExceeded):
        answer(con, sql)
    assert time.monotonic() - began < 6
    running = f"SELECT 1 FROM pg_stat_activity WHERE datname = '{databases[0]}' AND state = 'active'"
    until(lambda: not server.run(running))


def test_a_cancel_from_another_thread(databases: list[str]) -> None:
    sql = "SELECT count(*) FROM t a, t b, t c WHERE a.word || b.word || c.word = 'x'"
    with cluster(databases[:1], "postgres") as con, con.connect() as connection:
        cursor = connection.cursor()
        timer = threading.Timer(0.5, connection.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(OperationalError) as caught:
            cursor.execute(sql).fetchall()
        assert caught.value.reason == Reason.CANCELLED
        assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id BIGINT, word INTEGER, x DECIMAL(9, 2)", 'column "word" of table "t" is text on shard'),
        ("id INTEGER, word VARCHAR, x DECIMAL(9, 2)", 'column "id" of table "t" is bigint on shard'),
        ("id BIGINT, word VARCHAR, x DECIMAL(9, 3)", 'column "x" of table "t" is numeric(9,2) on shard'),
        ("id BIGINT, word VARCHAR, y INTEGER", 'column "y" of table "t" is missing on shard'),
    ],
)
def test_a_shard_that_is_not_as_declared(databases: list[str], columns: str, message: str) -> None:
    with cluster(databases, columns=columns) as con, pytest.raises(OperationalError) as caught:
        answer(con, "SELECT * FROM t")
    assert caught.value.reason == Reason.SCHEMA_DRIFT
    assert message in caught.value.message


def test_a_table_that_changes_while_it_is_open(databases: list[str]) -> None:
    server = postgres()
    database = server.database(TABLE, "INSERT INTO t VALUES (1, 'a', 1)")
    with cluster([database]) as con:
        assert answer(con, "SELECT word FROM t WHERE x > 0") == [("a",)]
        server.run("ALTER TABLE t ALTER x TYPE text", database=database)
        with pytest.raises(OperationalError) as caught:
            answer(con, "SELECT word FROM t WHERE x > 0")
        assert caught.value.reason == Reason.SCHEMA_DRIFT


def test_a_value_that_does_not_fit_names_shard_table_and_column() -> None:
    database = postgres().database(
        "CREATE TABLE t (id bigint, word text, x numeric)", "INSERT INTO t VALUES (1, 'a', 'NaN')"
    )
    with cluster([database]) as con, pytest.raises(DataError) as caught:
        answer(con, "SELECT id, x FROM t")
    assert 'column "x" of table "t" holds' in caught.value.message
    assert caught.value.shard == "s0"


INJECTIONS = (
    "' OR '1' = '1",
    "\\' OR 1 = 1 --",
    "'; DROP TABLE t; --",
    "$$; SELECT 1; $$",
    "E'\\''",
    "%(p1)s",
    "%s %% $1",
    '" OR ""="',
    "/* */ -- \n",
    "é漢🙂\r\n\t",
)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("text", INJECTIONS)
def test_a_value_is_never_text(databases: list[str], dialect: str, text: str) -> None:
    with cluster(databases, dialect) as con:
        if dialect == "postgres":
            with con.connect(paramstyle="format") as connection:
                sql = "SELECT count(*), max(%s::text) FROM t WHERE word = %s"
                found = connection.cursor().execute(sql, (text, text)).fetchall()
        else:
            found = answer(con, "SELECT count(*), max($p) FROM t WHERE word = $p", {"p": text})
        assert found in ([(0, text)], [(0, None)])
        quoted = text.replace("'", "''")
        assert answer(con, f"SELECT count(*) FROM t WHERE word = '{quoted}'") == [(0,)]
        assert answer(con, "SELECT count(*) FROM t") == [(SHARDS * EACH,)]


def test_no_secret_is_ever_shown(databases: list[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server = postgres()
    seen: list[str] = []
    with cluster(databases, password=CANARY) as con:
        seen += [repr(con), repr(con.catalog)]
        seen += [str(row) for row in answer(con, "EXPLAIN SELECT word FROM t WHERE id = 1")]
        for sql in ("SELECT word FROM t WHERE id = 1", "SELECT count(*) FROM t", "EXPLAIN ANALYZE FROM t"):
            with pytest.raises(Error) as caught:
                answer(con, sql)
            error: BaseException | None = caught.value
            for _ in range(9):
                seen += [str(error), repr(error), repr(getattr(error, "__dict__", ""))]
                error = error and (error.__cause__ or error.__context__)
    with cluster(databases) as con:
        location = con.pool.location("s0")
        settings = Settings.of(location)
        seen += [repr(location), repr(settings), str(answer(con, "EXPLAIN ANALYZE SELECT * FROM t LIMIT 1"))]
        session = Session(settings)
        seen += [repr(session), repr(session.con), repr(vars(session))]
        session.close()
    text = "\n".join([*seen, caplog.text])
    for secret in (CANARY, server.password):
        for shown in (secret, repr(secret)[1:-1]):
            assert not [line for line in text.splitlines() if shown in line]

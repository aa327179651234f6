"""A statement that goes out with what begins its transaction: one round trip, and every promise kept."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from shardwise.catalog.language import parse
from shardwise.errors import Cancelled, DeadlineExceeded, OperationalError, Reason, ShardUnavailable
from shardwise.executor.backends.base import Location, Outdated, SourceOptions
from shardwise.executor.backends.postgres import PostgresBackend, PostgresSource
from shardwise.executor.backends.postgres.session import Session
from shardwise.session import Cluster
from shardwise.session import open as open_cluster
from tests.faults.asking import SOON_S
from tests.faults.proxy import Proxy
from tests.faults.test_postgres_cluster import answer
from tests.servers.postgres_server import Postgres, private_postgres

pytestmark = pytest.mark.servers
TABLE = "CREATE TABLE t (id bigint PRIMARY KEY, word text, x numeric(9,2), at timestamptz)"
ROWS = "INSERT INTO t SELECT i, 'w' || i, i, timestamptz '2024-07-01 12:00Z' FROM generate_series(0, 99) i"
POINT = "SELECT word FROM t WHERE id = %(p1)s"


def postgres() -> Postgres:
    """One on which nobody else writes: that would change the version."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return private_postgres(f"at-once{worker}")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine may be busy."""
    monkeypatch.setattr("shardwise.executor.backends.postgres.connection._QUICK_S", 0.5)


@pytest.fixture
def database() -> Iterator[str]:
    server = postgres()
    name = server.database(TABLE, ROWS)
    yield name
    server.run(f"DROP DATABASE {name} WITH (FORCE)")


def opened(database: str, *, port: int | None = None, **options: str) -> PostgresSource:
    server = postgres()
    url = server.url(database).replace(str(server.port), str(port or server.port))
    where = Location(source="db", url=url, password=server.password, options=options)
    return PostgresBackend().open(where, SourceOptions())


def cluster(database: str, dialect: str, *, port: int | None = None) -> Cluster:
    server = postgres()
    url = server.url(database).replace(str(server.port), str(port or server.port))
    return open_cluster(
        parse(
            f"CREATE CATALOG shop DIALECT {dialect}; CREATE SOURCE s0 URL '{url}';"
            "CREATE SHARDING by_id USING MOD 1 (s0 = 0);"
            "CREATE TABLE t (id BIGINT, word VARCHAR, x DECIMAL(9, 2)) SHARD BY by_id (id);"
        ),
        secrets={"s0": server.password},
    )


@pytest.fixture
def source(database: str) -> Iterator[PostgresSource]:
    found = opened(database)
    yield found
    found.close()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How statements were started: at once, or by themselves."""
    found: list[str] = []
    together, alone = Session.begin_with, Session.start

    def begin_with(session: Session, *given: Any, ends: bool) -> str:
        found.append("at once")
        return together(session, *given, ends=ends)

    def start(session: Session, *given: Any) -> None:
        found.append("alone")
        alone(session, *given)

    monkeypatch.setattr(Session, "begin_with", begin_with)
    monkeypatch.setattr(Session, "start", start)
    return found


def learn(source: PostgresSource, sql: str = POINT, zone: str = "UTC", *, wanted: Any = None) -> object:
    """Has the session know the statement; gives the version."""
    connection = source.connect(zone)
    connection.execute(sql, {"p1": 1}, wanted)
    connection.fetchmany(5000)
    version = connection.version()
    connection.close()
    return version


def point(source: PostgresSource, version: object, zone: str = "UTC", sql: str = POINT, key: Any = 7) -> Any:
    connection = source.connect(zone)
    try:
        assert connection.assumes(version)
        connection.execute(sql, {"p1": key})
        return connection.fetchmany(9000)
    finally:
        connection.close()


# -- one round trip -----------------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_one_round_trip(database: str, dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What begins and ends the transaction goes with the statement."""
    waits: list[str] = []
    ready = Session._ready
    with cluster(database, dialect) as con, con.connect(paramstyle="format") as connection:
        cursor = connection.cursor()
        sql = "SELECT word FROM t WHERE id = %s"
        for key in range(5):
            assert cursor.execute(sql, [key]).fetchall() == [(f"w{key}",)]
        monkeypatch.setattr(Session, "_ready", lambda *given: waits.append("") or ready(*given))
        assert cursor.execute(sql, [7]).fetchall() == [("w7",)]
        assert 1 <= len(waits) <= 2  # the answer may come in two parts


def test_only_what_is_known_and_quick(source: PostgresSource, started: list[str]) -> None:
    version = learn(source)
    assert point(source, version) == [("w7",)]
    slow = "SELECT word FROM t, pg_sleep(0.6) WHERE id = %(p1)s"
    many = "SELECT i FROM generate_series(%(p1)s, 3000) i"
    for sql, count in ((slow, 1), (many, 2994)):
        version = learn(source, sql)
        assert len(point(source, version, sql=sql)) == count
    assert started == ["alone", "at once", *["alone"] * 4]


def test_rows_that_have_become_many(source: PostgresSource, started: list[str]) -> None:
    sql = "SELECT i FROM generate_series(1, 3000 * (%(p1)s - 1)) i"
    version = learn(source, sql)
    assert len(point(source, version, sql=sql, key=3)) == 6000
    assert started == ["alone", "at once"]


@pytest.mark.parametrize("wanted", [None, (("at", "TIMESTAMP WITH TIME ZONE"),)])
def test_moments_are_in_the_requests_zone(source: PostgresSource, wanted: Any) -> None:
    sql = "SELECT at FROM t WHERE id = %(p1)s"
    shown: dict[str, set[str]] = {"UTC": set(), "Asia/Tokyo": set(), "": set()}
    for _ in range(4):
        for zone, found in shown.items():
            connection = source.connect(zone)
            connection.assumes(learn(source, sql, zone, wanted=wanted))
            connection.execute(sql, {"p1": 7}, wanted)
            ((moment,),) = connection.fetchmany(2)
            found.add(moment.isoformat())
            connection.close()
    assert shown == {
        "UTC": {"2024-07-01T12:00:00+00:00"},
        "Asia/Tokyo": {"2024-07-01T21:00:00+09:00"},
        "": {"2024-07-01T12:00:00+00:00"},
    }


def test_the_servers_own_zone_after_another(source: PostgresSource) -> None:
    """What ended the request before, in its zone, may not have been answered yet."""
    sql = "SELECT at FROM t WHERE id = %(p1)s"
    for zone in ("", "Asia/Tokyo"):
        version = learn(source, sql, zone)
    for _ in range(3):
        learn(source, sql, "Asia/Tokyo")
        ((moment,),) = point(source, version, "", sql=sql)
        assert moment.isoformat() == "2024-07-01T12:00:00+00:00"
        ((moment,),) = point(source, version, "Asia/Tokyo", sql=sql)
        assert moment.isoformat() == "2024-07-01T21:00:00+09:00"


# -- tables that may be others ------------------------------------------------------------------


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize(
    ("change", "message"),
    [("ALTER x TYPE text", "x"), ("DROP x", "x"), ("ALTER x TYPE numeric(9, 3)", "x")],
)
def test_a_table_that_was_changed(database: str, dialect: str, change: str, message: str) -> None:
    """What the statement is answered, or that it fails, is not what the user is told."""
    with cluster(database, dialect) as con:
        sql = "SELECT word FROM t WHERE id = 7 AND x > 1"
        for _ in range(3):
            assert answer(con, sql) == [("w7",)]
        postgres().run(f"ALTER TABLE t {change}", database=database)
        with pytest.raises(OperationalError) as caught:
            answer(con, sql)
        assert caught.value.reason == Reason.SCHEMA_DRIFT
        assert f'"{message}"' in caught.value.message


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_after_writes_tables_are_looked_at_and_nothing_run_again(
    database: str, dialect: str, started: list[str]
) -> None:
    with cluster(database, dialect) as con:
        for _ in range(3):
            assert answer(con, "SELECT word FROM t WHERE id = 7") == [("w7",)]
        for word in ("a", "b", "c"):
            postgres().run(f"UPDATE t SET word = '{word}' WHERE id = 7", database=database)
            started.clear()
            assert answer(con, "SELECT word FROM t WHERE id = 7") == [(word,)]
            looked = ["at once", "alone"]  # the statement; what is asked of the table
            assert started == (looked if word != "a" else [*looked, "alone"])


def test_many_rows_after_a_write_are_asked_for_again(source: PostgresSource, database: str) -> None:
    sql = "SELECT i FROM generate_series(1, 3000 * (%(p1)s - 1)) i"
    version = learn(source, sql)
    postgres().run("UPDATE t SET word = 'x' WHERE id = 7", database=database)
    connection = source.connect("UTC")
    connection.assumes(version)
    with pytest.raises(Outdated):
        connection.execute(sql, {"p1": 3})
    assert ("word", "text") in connection.columns("t")
    connection.execute(sql, {"p1": 3})
    assert len(connection.fetchmany(9000)) == 6000
    connection.close()


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_arrow_of_what_was_started_for_tuples(database: str, dialect: str) -> None:
    """It is what the statement was answered when it was executed: nothing is asked again."""
    with cluster(database, dialect) as con, con.connect() as connection:
        cursor, sql = connection.cursor(), "SELECT word FROM t WHERE id = 7 AND x > 1"
        for _ in range(3):
            assert cursor.execute(sql).fetchall() == [("w7",)]
        assert cursor.execute(sql).to_arrow_table().to_pylist() == [{"word": "w7"}]
        assert cursor.execute(sql).fetchall() == [("w7",)]
        cursor.execute(sql)
        postgres().run("ALTER TABLE t ALTER x TYPE text", "UPDATE t SET word = 'x'", database=database)
        assert cursor.to_arrow_table().to_pylist() == [{"word": "w7"}]
        with pytest.raises(OperationalError) as caught:
            cursor.execute(sql)
        assert caught.value.reason == Reason.SCHEMA_DRIFT


def test_a_plan_of_the_table_as_it_was(source: PostgresSource, database: str) -> None:
    """Another session has seen the change; this one has parsed the statement before it."""
    sql = "SELECT * FROM t WHERE id = %(p1)s"
    learn(source, sql)
    postgres().run("ALTER TABLE t ADD y int", database=database)
    probe = source.connect("UTC")
    version = probe.version()
    probe.close()
    ((*_, added),) = point(source, version, sql=sql)
    assert added is None


def test_an_error_of_the_statement(source: PostgresSource, database: str) -> None:
    sql = "SELECT 1 / (id - %(p1)s) FROM t WHERE id = 7"
    version = learn(source, sql)
    with pytest.raises(psycopg.errors.DivisionByZero):
        point(source, version, sql=sql)
    assert point(source, version, sql=sql, key=6) == [(1,)]
    postgres().run("UPDATE t SET word = 'x' WHERE id = 8", database=database)
    connection = source.connect("UTC")
    connection.assumes(version)
    with pytest.raises(Outdated):
        connection.execute(sql, {"p1": 7})
    with pytest.raises(psycopg.errors.DivisionByZero):
        connection.execute(sql, {"p1": 7})
    connection.close()


# -- sessions -----------------------------------------------------------------------------------


def test_what_a_statement_sets_is_gone(source: PostgresSource, started: list[str]) -> None:
    sql = (
        "SELECT set_config('search_path', 'x' || %(p1)s, false), set_config('DateStyle', 'German', false),"
        " set_config('default_transaction_read_only', 'off', false)"
    )
    shown = (
        "SELECT current_setting('search_path'), current_setting('DateStyle'),"
        " current_setting('transaction_read_only'), current_setting('transaction_isolation')"
        " WHERE 1 <= %(p1)s"
    )
    learn(source, sql)
    version = learn(source, shown)
    for _ in range(2):
        assert point(source, version, sql=sql) == [("x7", "German, DMY", "off")]
        assert point(source, version, sql=shown) == [('"$user", public', "ISO, MDY", "on", "repeatable read")]
    assert started.count("at once") == 4


def test_nothing_is_written(source: PostgresSource, database: str) -> None:
    server = postgres()
    server.run(
        "CREATE FUNCTION writes(i int) RETURNS int LANGUAGE plpgsql AS "
        "$$BEGIN IF i > 1 THEN UPDATE t SET word = 'written'; END IF; RETURN i; END$$",
        database=database,
    )
    sql = "SELECT writes(%(p1)s::int)"
    version = learn(source, sql)
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        point(source, version, sql=sql)


def test_a_session_that_died_while_it_waited(database: str) -> None:
    with Proxy(postgres().host, postgres().port) as proxy:
        source = opened(database, port=proxy.port)
        version = learn(source)
        for _ in range(3):
            proxy.drop()
            assert point(source, version) == [("w7",)]
            learn(source)
            assert point(source, version) == [("w7",)]
        source.close()


def test_a_session_killed_amid_the_statement(source: PostgresSource, database: str) -> None:
    sql = "SELECT pg_sleep((%(p1)s - 1) * 5)"
    version = learn(source, sql)
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        f" WHERE datname = '{database}' AND state = 'active' AND pid <> pg_backend_pid()"
    )
    timer = threading.Timer(0.5, lambda: postgres().run(kill))
    timer.start()
    with pytest.raises(psycopg.errors.AdminShutdown):
        point(source, version, sql=sql, key=3)
    timer.join()
    assert point(source, learn(source)) == [("w7",)]


def test_a_cancel_amid_the_statement(source: PostgresSource) -> None:
    sql = "SELECT pg_sleep((%(p1)s - 1) * 10)"
    version = learn(source, sql)
    connection = source.connect("UTC")
    connection.assumes(version)
    timer = threading.Timer(0.3, connection.interrupt)
    timer.start()
    began = time.monotonic()
    with pytest.raises(psycopg.errors.QueryCanceled):
        connection.execute(sql, {"p1": 2})
    assert time.monotonic() - began < SOON_S
    timer.join()
    connection.close()
    assert point(source, learn(source)) == [("w7",)]


def test_a_cancel_that_comes_first(source: PostgresSource) -> None:
    version = learn(source)
    connection = source.connect("UTC")
    connection.assumes(version)
    connection.interrupt()
    with pytest.raises(Cancelled):
        connection.execute(POINT, {"p1": 7})
    connection.close()
    assert point(source, version) == [("w7",)]


def test_a_deadline_amid_the_statement(database: str) -> None:
    with (
        cluster(database, "postgres") as con,
        con.connect(paramstyle="format") as connection,
    ):
        cursor, sql = connection.cursor(), "SELECT count(*) FROM t, generate_series(1, %s) AS i WHERE id = 7"
        for _ in range(3):
            assert cursor.execute(sql, [5]).fetchall() == [(5,)]
        began = time.monotonic()
        with pytest.raises(DeadlineExceeded):
            cursor.execute(sql, [300_000_000], deadline_s=0.3).fetchall()
        assert time.monotonic() - began < SOON_S
        assert cursor.execute(sql, [5]).fetchall() == [(5,)]


def test_the_servers_own_timeout(database: str) -> None:
    source = opened(database, statement_timeout_s="0.3")
    sql = "SELECT pg_sleep((%(p1)s - 1) * 10)"
    version = learn(source, sql)
    with pytest.raises(psycopg.errors.QueryCanceled):
        point(source, version, sql=sql)
    source.close()


def test_a_server_that_is_gone(database: str) -> None:
    proxy = Proxy(postgres().host, postgres().port)
    with proxy:
        con = cluster(database, "postgres", port=proxy.port)
        for _ in range(3):
            assert answer(con, "SELECT word FROM t WHERE id = 7") == [("w7",)]
    with pytest.raises(ShardUnavailable):
        answer(con, "SELECT word FROM t WHERE id = 7")
    con.close()

"""What goes wrong with a MySQL or MariaDB source: a clean error, soon, that says what to do; no secret."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymysql
import pytest

from shardwise.errors import (
    Cancelled,
    CatalogError,
    DataError,
    DeadlineExceeded,
    InterfaceError,
    OperationalError,
    ShardUnavailable,
)
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.mysql import MySQLBackend, MySQLSource
from tests.faults.asking import SOON_S, cancelled_behind, error_of, read, rows, until
from tests.faults.certificates import certificates
from tests.faults.proxy import Proxy
from tests.servers import private_mariadb
from tests.servers.mariadb_server import MariaDB
from tests.servers.running import free_port

pytestmark = pytest.mark.servers
MANY = 30_000
READER, SAFE = f"reader{os.getpid()}", f"safe{os.getpid()}"  # of this process: others use the server too
SLOW = "SELECT count(*) FROM many a, many b, many c WHERE concat(a.word, b.word, c.word) = 'x'"


@pytest.fixture(scope="module")
def server() -> MariaDB:
    """One of this worker alone: a test stops it."""
    return private_mariadb(
        f"faults{os.environ.get('PYTEST_XDIST_WORKER', '')}",
        "--ssl-ca={files}/ca.pem",
        "--ssl-cert={files}/server.pem",
        "--ssl-key={files}/server.key",
        files=certificates(),
    )


@pytest.fixture(scope="module")
def database(server: MariaDB) -> str:
    name = server.database(
        "CREATE TABLE many (id BIGINT PRIMARY KEY, word VARCHAR(200)) CHARACTER SET utf8mb4",
        f"INSERT INTO many SELECT seq, repeat('w', 100) FROM seq_1_to_{MANY}",
    )
    server.run(
        f"CREATE OR REPLACE USER {READER}@'%' IDENTIFIED BY 'r''\\\\é'",
        f"GRANT SELECT ON `{name}`.* TO {READER}@'%'",
        f"CREATE OR REPLACE USER {SAFE}@'%' IDENTIFIED BY 'x' REQUIRE X509",
        f"GRANT SELECT ON `{name}`.* TO {SAFE}@'%'",
    )
    return name


@pytest.fixture
def backend() -> MySQLBackend:
    return MySQLBackend()


def location(server: MariaDB, database: str, port: int | None = None, **options: str) -> Location:
    return Location(
        source="db",
        url=f"mysql://{READER}@127.0.0.1:{port or server.port}/{database}",
        password="r'\\é",
        options=options,
    )


@pytest.fixture
def source(backend: MySQLBackend, server: MariaDB, database: str) -> Iterator[MySQLSource]:
    found = backend.open(location(server, database), SourceOptions())
    yield found
    found.close()


def threads(server: MariaDB, database: str) -> list[tuple[Any, ...]]:
    """What runs there for the reader."""
    return server.run(
        "SELECT id, info FROM information_schema.processlist"
        f" WHERE user IN ('{READER}', '{SAFE}') AND db = '{database}' AND command = 'Query'"
    )


# -- at connect ---------------------------------------------------------------------------------


def test_a_wrong_password(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    where = location(server, database)
    wrong = Location(source="db", url=where.url, password="hunter2")
    error = error_of(backend, wrong)
    assert isinstance(error, ShardUnavailable)
    assert "does not let this user in" in error.message
    assert "(1045)" in error.message
    assert error.sqlstate == "28000"
    assert "hunter2" not in f"{error!r} {error} {error.__cause__!r}"


def test_no_password(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    where = location(server, database)
    error = error_of(backend, Location(source="db", url=where.url))
    assert "No password was found" in (error.hint or "")


def test_an_unknown_database(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    server.run(f"GRANT SELECT ON no_such_db.* TO {READER}@'%'")
    error = error_of(backend, location(server, "no_such_db"))
    assert isinstance(error, ShardUnavailable)
    assert "has no such database" in error.message


@pytest.mark.usefixtures("database")  # it makes the user
def test_a_database_without_rights(backend: MySQLBackend, server: MariaDB) -> None:
    other = server.database("CREATE TABLE t (a INT)")
    error = error_of(backend, location(server, other))
    assert isinstance(error, ShardUnavailable)
    assert "GRANT SELECT" in (error.hint or "")


def test_a_table_without_rights(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    error = error_of(backend, location(server, database), "SELECT * FROM mysql.global_priv")
    assert isinstance(error, OperationalError)
    assert "SELECT rights" in (error.hint or "")


def test_no_server(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    began = time.monotonic()
    error = error_of(backend, location(server, database, free_port()))
    assert isinstance(error, ShardUnavailable)
    assert "cannot be reached" in error.message
    assert time.monotonic() - began < SOON_S


def test_a_server_that_says_nothing_at_connect(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    with Proxy(server.host, server.port) as proxy:
        proxy.stall()
        began = time.monotonic()
        error = error_of(backend, location(server, database, proxy.port, connect_timeout_s="0.5"))
        assert isinstance(error, ShardUnavailable)
        assert time.monotonic() - began < SOON_S


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"ssl": "maybe"}, "ssl cannot be"),
        ({"sll": "off"}, 'no option "sll"'),
        ({"read_timeout_s": "soon"}, "read_timeout_s"),
        ({"sql_mode": "ANSI_QUOTES"}, "sql_mode cannot have ANSI_QUOTES"),
        ({"ssl_ca": "/nowhere/ca.pem"}, "certificates cannot be read"),
    ],
)
def test_options_that_cannot_be(
    backend: MySQLBackend, server: MariaDB, database: str, options: dict[str, str], what: str
) -> None:
    error = error_of(backend, location(server, database, **options))
    assert isinstance(error, CatalogError)
    assert what in error.message


# -- TLS ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pem(server: MariaDB) -> Path:
    """The folder of the certificates, made by whichever process started the server."""
    assert server.folder is not None
    return Path(server.folder) / "files"


CIPHER = "SHOW STATUS LIKE 'Ssl_cipher'"


def test_tls_is_verified(backend: MySQLBackend, server: MariaDB, database: str, pem: Path) -> None:
    source = backend.open(location(server, database, ssl_ca=str(pem / "ca.pem")), SourceOptions())
    ((_, cipher),) = rows(source.connect("UTC"), CIPHER)
    assert cipher
    source.close()


@pytest.mark.slow
def test_tls_that_waits_and_falls_silent(
    backend: MySQLBackend, server: MariaDB, database: str, pem: Path
) -> None:
    options = {"ssl_ca": str(pem / "ca.pem"), "read_timeout_s": "0.5", "connect_timeout_s": "0.5"}
    with Proxy(server.host, server.port) as proxy:
        source = backend.open(location(server, database, proxy.port, **options), SourceOptions())
        ids = [rows(source.connect("UTC"), "SELECT connection_id()") for _ in range(3)]
        assert ids[0] == ids[1] == ids[2]
        connection = source.connect("UTC")
        assert rows(source.connect("UTC"), "SELECT sleep(1.5)") == [(0,)]
        connection.execute("SELECT id, repeat(word, 100) FROM many", {})
        connection.fetchmany(1)
        proxy.stall()
        began = time.monotonic()
        with pytest.raises(ShardUnavailable, match="does not answer"):
            read(connection, None, "execute")
        assert time.monotonic() - began < 6
        proxy.flow()
        connection.close()
        source.close()


def test_tls_of_another_authority(backend: MySQLBackend, server: MariaDB, database: str, pem: Path) -> None:
    error = error_of(backend, location(server, database, ssl_ca=str(pem / "other-ca.pem")))
    assert isinstance(error, ShardUnavailable)
    assert "certificate" in error.message
    assert "ssl_ca" in (error.hint or "")


def test_tls_of_an_unknown_authority(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    error = error_of(backend, location(server, database, ssl="verify"))
    assert isinstance(error, ShardUnavailable)
    assert "certificate" in error.message


@pytest.mark.parametrize(("name", "is_good"), [("db.test", True), ("other.test", False)])
def test_tls_for_another_name(
    backend: MySQLBackend, server: MariaDB, database: str, pem: Path, name: str, is_good: bool
) -> None:
    where = location(server, database, ssl_ca=str(pem / "ca.pem"), ssl_server_name=name)
    if is_good:
        backend.open(where, SourceOptions()).close()
    else:
        assert "certificate" in error_of(backend, where).message


def test_tls_with_a_clients_certificate(
    backend: MySQLBackend, server: MariaDB, database: str, pem: Path
) -> None:
    options = {"ssl_ca": str(pem / "ca.pem")}
    where = Location(source="db", url=f"mysql://{SAFE}@127.0.0.1:{server.port}/{database}", password="x")
    without = Location(source="db", url=where.url, password="x", options=options)
    assert "does not let this user in" in error_of(backend, without).message
    options |= {"ssl_cert": str(pem / "client.pem"), "ssl_key": str(pem / "client.key")}
    backend.open(Location(source="db", url=where.url, password="x", options=options), SourceOptions()).close()


def test_tls_is_the_default_for_other_hosts() -> None:
    from shardwise.executor.backends.mysql.settings import settings_of

    def tls(host: str, **options: str) -> str:
        return settings_of(Location(source="db", url=f"mysql://u@{host}/d", options=options)).tls

    assert tls("10.0.0.9") == tls("db.example:3307") == "verify"
    assert tls("127.0.0.1") == tls("localhost") == tls("[::1]") == "off"
    assert tls("10.0.0.9", ssl="off") == "off"


@pytest.fixture(scope="module")
def plain() -> MariaDB:
    return private_mariadb("plain", "--skip-ssl", "--max-connections=10")


def test_tls_that_the_server_has_not(backend: MySQLBackend, plain: MariaDB) -> None:
    where = Location(
        source="db", url=plain.url("mysql"), password=plain.password, options={"ssl": "unverified"}
    )
    error = error_of(backend, where)
    assert isinstance(error, ShardUnavailable)
    assert "ssl=off" in (error.hint or "")


# -- in mid-stream ------------------------------------------------------------------------------


def test_a_connection_that_was_killed_while_it_waited(
    backend: MySQLBackend, server: MariaDB, database: str, source: MySQLSource
) -> None:
    first = source.connect("UTC")
    ((id_,),) = rows(first, "SELECT connection_id()")
    server.run(f"KILL {id_}")
    ((other,),) = rows(source.connect("UTC"), "SELECT connection_id()")
    assert other != id_


def test_a_connection_that_dies_as_the_statement_is_sent(
    backend: MySQLBackend, server: MariaDB, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(server.host, server.port) as proxy:
        source = backend.open(location(server, database, proxy.port), SourceOptions())
        proxy.drop()
        from shardwise.executor.backends.mysql.driver import Wire

        monkeypatch.setattr(Wire, "is_quiet", property(lambda wire: wire._sock is not None))
        assert rows(source.connect("UTC"), "SELECT 1") == [(1,)]
        source.close()


@pytest.mark.parametrize("start", ["execute", "arrow"])
def test_a_connection_lost_amid_rows(
    backend: MySQLBackend, server: MariaDB, database: str, start: str
) -> None:
    with Proxy(server.host, server.port) as proxy:
        where = location(server, database, proxy.port)
        source = backend.open(where, SourceOptions())
        connection = source.connect("UTC")
        proxy.cut_after(500_000)
        with pytest.raises(pymysql.OperationalError) as caught:
            read(connection, "SELECT * FROM many", start)
        error = backend.translate_error(caught.value, where)
        assert isinstance(error, ShardUnavailable)
        assert "was lost" in error.message
        assert backend.is_transient(error)
        connection.close()


@pytest.mark.slow
def test_a_server_that_stops(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    where = location(server, database, read_timeout_s="1", connect_timeout_s="1")
    source = backend.open(where, SourceOptions())
    connection = source.connect("UTC")
    connection.execute("SELECT id, repeat(word, 100) FROM many", {})  # more than is on the way
    connection.fetchmany(1)
    server.stop()
    began = time.monotonic()
    try:
        with pytest.raises(ShardUnavailable, match="does not answer"):
            read(connection, None, "execute")  # what was on the way still comes
        assert time.monotonic() - began < 6
        assert "does not answer" in error_of(backend, where).message
        assert time.monotonic() - began < 12
    finally:
        server.go_on()
        connection.close()
    assert rows(source.connect("UTC"), "SELECT 1") == [(1,)]
    source.close()


@pytest.mark.slow
def test_a_statement_that_takes_long_is_waited_for(
    backend: MySQLBackend, server: MariaDB, database: str
) -> None:
    source = backend.open(location(server, database, read_timeout_s="0.5"), SourceOptions())
    assert rows(source.connect("UTC"), "SELECT sleep(3)") == [(0,)]
    source.close()


def test_the_servers_own_timeout(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    where = location(server, database, statement_timeout_s="0.3")
    began = time.monotonic()
    error = error_of(backend, where, SLOW)
    assert isinstance(error, DeadlineExceeded)
    assert "(1969)" in error.message
    assert time.monotonic() - began < SOON_S


# -- stopped by us ------------------------------------------------------------------------------


def test_a_cancel_ends_the_statement_on_the_server(
    server: MariaDB, database: str, source: MySQLSource
) -> None:
    connection = source.connect("UTC")
    asked: list[float] = []

    def interrupt() -> None:
        asked.append(time.monotonic())
        connection.interrupt()

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(Cancelled):
        rows(connection, SLOW)
    assert time.monotonic() - asked[0] < SOON_S
    timer.join()
    until(lambda: not [info for _, info in threads(server, database) if info and "concat" in info])


def test_a_cancel_does_not_wait_for_the_server(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    with Proxy(server.host, server.port) as proxy:
        source = backend.open(location(server, database, proxy.port), SourceOptions())
        assert cancelled_behind(proxy, source.connect("UTC"), SLOW, Cancelled) < SOON_S / 2
        source.close()


def test_cancel_before_anything_has_begun(source: MySQLSource) -> None:
    connection = source.connect("UTC")
    connection.interrupt()
    with pytest.raises(Cancelled):
        connection.execute(SLOW, {})
    connection.execute("SELECT 1", {})
    assert connection.fetchmany(2) == [(1,)]
    connection.close()


def test_cancel_while_it_connects(backend: MySQLBackend, server: MariaDB, database: str) -> None:
    with Proxy(server.host, server.port) as proxy:
        source = backend.open(location(server, database, proxy.port), SourceOptions())
        source.close()
        proxy.stall()
        connection = source.connect("UTC")
        timer = threading.Timer(0.3, connection.interrupt)
        timer.start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            connection.execute("SELECT 1", {})
        assert time.monotonic() - began < SOON_S
        timer.join()
        connection.close()


def test_a_lost_session_is_not_replaced_where_it_held_something(server: MariaDB, source: MySQLSource) -> None:
    connection = source.connect("UTC")
    connection.execute("SET @x = 7", {})
    connection.execute("SELECT @x, seq FROM seq_1_to_100000", {})
    connection.fetchmany(1)
    with pytest.raises(InterfaceError, match="was lost"):
        connection.execute("SELECT @x", {})
    connection.close()


def test_cancel_when_no_connection_is_free(backend: MySQLBackend, plain: MariaDB) -> None:
    database = plain.database(
        "CREATE TABLE many (word VARCHAR(9))", "INSERT INTO many SELECT 'w' FROM seq_1_to_20000"
    )
    plain.run(
        f"CREATE OR REPLACE USER {READER}@'%' IDENTIFIED BY 'x'",
        f"GRANT SELECT ON `{database}`.* TO {READER}@'%'",
    )
    where = Location(source="db", url=plain.url(database, user=READER), password="x")
    source = backend.open(where, SourceOptions())
    connection = source.connect("UTC")
    asked: list[float] = []
    others: list[pymysql.Connection] = []

    def interrupt() -> None:
        arguments = {"host": plain.host, "port": plain.port, "user": READER, "password": "x"}
        try:
            others.extend(pymysql.connect(**arguments) for _ in range(20))
        except pymysql.OperationalError:
            asked.append(time.monotonic())
        assert asked
        connection.interrupt()

    timer = threading.Timer(2.5, interrupt)
    timer.start()
    with pytest.raises(Cancelled):
        rows(connection, SLOW)
    assert time.monotonic() - asked[0] < SOON_S
    timer.join()
    for each in others:
        each.close()
    source.close()


@pytest.mark.parametrize("fetched", [0, 1])
def test_closing_early_stops_the_server(
    server: MariaDB, database: str, source: MySQLSource, fetched: int
) -> None:
    connection = source.connect("UTC")
    connection.execute("SELECT a.*, b.* FROM many a, many b", {})
    if fetched:
        connection.fetchmany(fetched)
    began = time.monotonic()
    connection.close()
    assert time.monotonic() - began < SOON_S
    until(lambda: not threads(server, database))  # nor the session that ended it, as it begins


def test_few_rows_left_do_not_cost_the_session(source: MySQLSource) -> None:
    ids = []
    for _ in range(3):
        connection = source.connect("UTC")
        connection.execute("SELECT connection_id() FROM many LIMIT 20", {})
        ids += connection.fetchmany(1)
        connection.close()
    assert len(set(ids)) == 1


# -- sessions -----------------------------------------------------------------------------------


def test_a_session_is_as_new_after_what_leaves_something_in_it(source: MySQLSource) -> None:
    connection = source.connect("Asia/Tokyo")
    connection.execute("SET @x = 7, SESSION sql_mode = '', SESSION sql_select_limit = 1", {})
    connection.execute("SELECT @x, connection_id()", {})
    ((x, id_),) = connection.fetchmany(9)
    assert x == 7
    connection.close()
    after = source.connect("UTC")
    after.execute(
        "SELECT @x, connection_id(), @@sql_mode, @@sql_select_limit > 1, @@time_zone,"
        " @@character_set_results, @@tx_read_only",
        {},
    )
    ((x, again, mode, is_all, zone, charset, read_only),) = after.fetchmany(9)
    assert (x, again, is_all, zone, charset, read_only) == (None, id_, 1, "+00:00", "utf8mb4", 1)
    assert "STRICT_TRANS_TABLES" in mode
    after.close()


def test_the_servers_own_time_zone_and_others(server: MariaDB, source: MySQLSource) -> None:
    def clock(zone: str) -> str:
        return str(rows(source.connect(zone), "SELECT @@time_zone")[0][0])

    assert clock("SYSTEM") == "SYSTEM"
    assert clock("UTC") == "+00:00"
    assert clock("Asia/Tokyo") == "+09:00"
    with pytest.raises(OperationalError, match='knows no time zone "Europe/Paris"'):
        clock("Europe/Paris")


def test_a_proxy_that_does_not_set_what_it_is_told(
    backend: MySQLBackend, server: MariaDB, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shardwise.executor.backends.mysql.driver import Wire

    query = Wire.query

    def deaf(wire: Any, sql: str, unbuffered: bool = False) -> Any:
        return query(wire, "DO 0" if "sql_mode =" in sql else sql, unbuffered)

    monkeypatch.setattr(Wire, "query", deaf)
    error = error_of(backend, location(server, database))
    assert "could not be set" in error.message


@pytest.mark.parametrize("ends_by", ["close", "itself"])
def test_idle_sessions_are_few_and_end(
    backend: MySQLBackend, server: MariaDB, database: str, ends_by: str
) -> None:
    options = {"idle_max": "2", "idle_s": "1.5" if ends_by == "itself" else "60"}
    source = backend.open(location(server, database, **options), SourceOptions())
    connections = [source.connect("UTC") for _ in range(5)]
    for each in connections:
        each.execute("SELECT 1", {})
        each.fetchmany(2)
    for each in connections:
        each.close()

    def count() -> int:
        sql = f"SELECT count(*) FROM information_schema.processlist WHERE user = '{READER}' AND db = "
        return int(server.run(f"{sql}'{database}'")[0][0])

    until(lambda: count() == 2)
    if ends_by == "close":
        source.close()
    until(lambda: count() == 0)
    source.close()


# -- values -------------------------------------------------------------------------------------


def test_a_value_that_does_not_fit(server: MariaDB, backend: MySQLBackend, database: str) -> None:
    server.run("CREATE TABLE bad (d DATE, t TIME, n INT, x DECIMAL(20,3))", database=database)
    server.run(
        "SET sql_mode = ''",
        "INSERT INTO bad VALUES ('0000-00-00', '30:00:00', 70000, 1.005)",
        database=database,
    )
    source = backend.open(location(server, database), SourceOptions())
    for column, type_, shown in (
        ("d", "DATE", "0000-00-00"),
        ("t", "TIME", "30:00:00"),
        ("n", "SMALLINT", "70000"),
        ("x", "DECIMAL(20,2)", "1.005"),
    ):
        connection = source.connect("UTC")
        with pytest.raises(DataError, match=f'column "{column}" holds .?{shown}'):
            connection.arrow(f"SELECT {column} FROM bad", {}, 10, ((column, type_),)).read_all()
        connection.close()
    source.close()

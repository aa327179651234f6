"""What goes wrong with a PostgreSQL source: a clean error, soon, that says what to do; no secret."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shardwise.errors import (
    Cancelled,
    CatalogError,
    DataError,
    DeadlineExceeded,
    OperationalError,
    ShardUnavailable,
)
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.postgres import PostgresBackend, PostgresSource
from shardwise.executor.backends.postgres.settings import Settings
from tests.faults.asking import BOTH, SOON_S, cancelled_behind, error_of, read, rows, rows_of, until
from tests.faults.certificates import certificates
from tests.faults.proxy import Proxy
from tests.servers.postgres_server import Postgres, private_postgres
from tests.servers.running import free_port

pytestmark = pytest.mark.servers
MANY = 30_000
PASSWORD = "r'\\é \" %"
SLOW = "SELECT count(*) FROM many a, many b, many c WHERE a.word || b.word || c.word = 'x'"


@pytest.fixture(scope="module")
def server() -> Postgres:
    """One of this worker alone: a test stops it."""
    return private_postgres(
        f"faults{os.environ.get('PYTEST_XDIST_WORKER', '')}",
        "ssl=on",
        "ssl_ca_file={files}/ca.pem",
        "ssl_cert_file={files}/server.pem",
        "ssl_key_file={files}/server.key",
        files=certificates(),
        access="hostssl all safe all scram-sha-256 clientcert=verify-ca\nhost all safe all reject",
    )


@pytest.fixture(scope="module")
def database(server: Postgres) -> str:
    name = server.database(
        "CREATE TABLE many (id bigint PRIMARY KEY, word text)",
        f"INSERT INTO many SELECT i, repeat('w', 100) FROM generate_series(1, {MANY}) i",
        "CREATE SCHEMA private; CREATE TABLE private.t (a int)",
        "CREATE TABLE hidden (a int)",
    )
    with server.connect(name) as con:
        for user, password in (("reader", PASSWORD), ("safe", "x")):
            quoted = psycopg.sql.Literal(password).as_string(con)
            con.execute(  # the workers share the server, and another may just have made it
                f"DO $do$ BEGIN CREATE ROLE {user} LOGIN PASSWORD {quoted}; "
                "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $do$"
            )
        con.execute("GRANT SELECT ON many TO reader")
    return name


@pytest.fixture
def backend() -> PostgresBackend:
    return PostgresBackend()


def location(server: Postgres, database: str, port: int | None = None, **options: str) -> Location:
    return Location(
        source="db",
        url=f"postgresql://reader@127.0.0.1:{port or server.port}/{database}",
        password=PASSWORD,
        options=options,
    )


@pytest.fixture
def source(backend: PostgresBackend, server: Postgres, database: str) -> Iterator[PostgresSource]:
    found = backend.open(location(server, database), SourceOptions())
    yield found
    found.close()


def running(server: Postgres, database: str) -> list[tuple[Any, ...]]:
    """What runs there for the reader."""
    return server.run(
        "SELECT pid, query FROM pg_stat_activity"
        f" WHERE usename = 'reader' AND datname = '{database}' AND state = 'active'"
    )


# -- at connect ---------------------------------------------------------------------------------


def test_a_wrong_password(backend: PostgresBackend, server: Postgres, database: str) -> None:
    where = Location(source="db", url=location(server, database).url, password="hunter2")
    error = error_of(backend, where)
    assert isinstance(error, ShardUnavailable)
    assert 'refused user "reader"' in error.message
    assert error.sqlstate == "28P01"
    assert "hunter2" not in f"{error!r} {error} {error.__cause__!r}"


def test_no_password(backend: PostgresBackend, server: Postgres, database: str) -> None:
    error = error_of(backend, Location(source="db", url=location(server, database).url))
    assert isinstance(error, ShardUnavailable)
    assert "PASSWORD" in (error.hint or "")


@pytest.mark.usefixtures("database")  # which makes the user
def test_an_unknown_database(backend: PostgresBackend, server: Postgres) -> None:
    error = error_of(backend, location(server, "no_such_db"))
    assert isinstance(error, ShardUnavailable)
    assert error.is_missing
    assert 'database "no_such_db" does not exist' in error.message


def test_what_may_not_be_read(backend: PostgresBackend, server: Postgres, database: str) -> None:
    for table in ("hidden", "private.t"):
        error = error_of(backend, location(server, database), f"SELECT * FROM {table}")
        assert isinstance(error, OperationalError)
        assert "permission denied" in error.message
        assert "SELECT" in (error.hint or "")
        assert error.sqlstate == "42501"


def test_no_server(backend: PostgresBackend, server: Postgres, database: str) -> None:
    began = time.monotonic()
    port = free_port()
    error = error_of(backend, location(server, database, port))
    assert isinstance(error, ShardUnavailable)
    assert f"the server at {server.host}:{port} cannot be reached" in error.message
    assert time.monotonic() - began < SOON_S


def test_a_host_that_there_is_not(backend: PostgresBackend, server: Postgres, database: str) -> None:
    """It is no lost connection, and to try again does not help."""
    said = psycopg.OperationalError("failed to resolve host 'nobody': [Errno -2] Name or service not known")
    error = backend.translate_error(said, location(server, database))
    assert isinstance(error, ShardUnavailable)
    assert "cannot be reached: failed to resolve host 'nobody'" in error.message
    assert error.hint == "Check the host in the source's URL"


def test_a_server_that_says_nothing_at_connect(
    backend: PostgresBackend, server: Postgres, database: str
) -> None:
    with Proxy(server.host, server.port) as proxy:
        proxy.stall()
        began = time.monotonic()
        error = error_of(backend, location(server, database, proxy.port, connect_timeout_s="1"))
        assert isinstance(error, ShardUnavailable)
        assert f"the server at {server.host}:{proxy.port} cannot be reached" in error.message
        assert "does not answer" in (error.hint or "")
        assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"ssl": "maybe"}, "ssl is not"),
        ({"sslmode": "maybe"}, "sslmode is not"),
        ({"sll": "off"}, 'no option "sll"'),
        ({"read_timeout_s": "soon"}, "read_timeout_s is not"),
        ({"idle_max": "x"}, "idle_max is not"),
    ],
)
def test_options_that_cannot_be(
    backend: PostgresBackend, server: Postgres, database: str, options: dict[str, str], what: str
) -> None:
    error = error_of(backend, location(server, database, **options))
    assert isinstance(error, CatalogError)
    assert what in error.message


# -- TLS ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pem(server: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the certificates, made by whichever process started the server; keys are their owner's."""
    assert server.folder is not None
    folder = tmp_path_factory.mktemp("certificates")
    for found in (Path(server.folder) / "files").iterdir():
        (folder / found.name).write_bytes(found.read_bytes())
        (folder / found.name).chmod(0o600)
    return folder


IS_ENCRYPTED = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"


def test_tls_is_verified(backend: PostgresBackend, server: Postgres, database: str, pem: Path) -> None:
    source = backend.open(location(server, database, ssl_ca=str(pem / "ca.pem")), SourceOptions())
    assert rows(source.connect("UTC"), IS_ENCRYPTED) == [(True,)]
    connection = source.connect("UTC")
    timer = threading.Timer(0.3, connection.interrupt)  # the request to cancel is encrypted too
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        rows(connection, SLOW)
    source.close()


@pytest.mark.parametrize(
    "options",
    [
        {"ssl_ca": "other-ca.pem"},
        {"sslmode": "verify-ca", "sslrootcert": "other-ca.pem"},
        {"ssl": "verify"},
        {"ssl_ca": "nowhere.pem"},
    ],
)
def test_tls_of_another_authority(
    backend: PostgresBackend, server: Postgres, database: str, pem: Path, options: dict[str, str]
) -> None:
    found = {k: str(pem / v) if v.endswith(".pem") else v for k, v in options.items()}
    error = error_of(backend, location(server, database, **found))
    assert isinstance(error, ShardUnavailable)
    assert "certificate" in error.message
    assert "ssl_ca" in (error.hint or "")


def test_tls_for_another_name(backend: PostgresBackend, server: Postgres, database: str, pem: Path) -> None:
    """The certificate is for 127.0.0.1 and db.test: `localhost` is neither."""
    where = location(server, database, ssl_ca=str(pem / "ca.pem"))
    other = Location(
        source="db", url=where.url.replace("127.0.0.1", "localhost"), password=PASSWORD, options=where.options
    )
    error = error_of(backend, other)
    assert isinstance(error, ShardUnavailable)
    assert "localhost" in error.message
    weaker = Location(
        source="db", url=other.url, password=PASSWORD, options={**where.options, "sslmode": "verify-ca"}
    )
    backend.open(weaker, SourceOptions()).close()


def test_tls_with_a_clients_certificate(
    backend: PostgresBackend, server: Postgres, database: str, pem: Path
) -> None:
    url = f"postgresql://safe@127.0.0.1:{server.port}/{database}"
    options = {"ssl_ca": str(pem / "ca.pem")}
    error = error_of(backend, Location(source="db", url=url, password="x", options=options))
    assert isinstance(error, ShardUnavailable)
    options |= {"ssl_cert": str(pem / "client.pem"), "ssl_key": str(pem / "client.key")}
    backend.open(Location(source="db", url=url, password="x", options=options), SourceOptions()).close()


def test_tls_is_the_default_for_other_hosts() -> None:
    def mode(host: str, **options: str) -> str:
        return Settings.of(Location(source="db", url=f"postgresql://u@{host}/d", options=options)).driver[
            "sslmode"
        ]

    assert mode("10.0.0.9") == mode("db.example:3307") == mode("db.example", ssl="verify") == "verify-full"
    assert mode("127.0.0.1") == mode("localhost") == mode("[::1]") == "prefer"
    assert mode("127.0.0.1", ssl_ca="/ca.pem") == "verify-full"
    assert mode("10.0.0.9", ssl="off") == "disable"
    assert mode("10.0.0.9", ssl="unverified") == "require"


# -- in mid-stream ------------------------------------------------------------------------------


def test_a_connection_that_was_killed_while_it_waited(server: Postgres, source: PostgresSource) -> None:
    ((pid,),) = rows(source.connect("UTC"), "SELECT pg_backend_pid()")
    server.run(f"SELECT pg_terminate_backend({pid})")
    ((other,),) = rows(source.connect("UTC"), "SELECT pg_backend_pid()")
    assert other != pid


@pytest.mark.parametrize("start", ["execute", "arrow"])
def test_a_connection_killed_amid_a_statement(
    backend: PostgresBackend, server: Postgres, database: str, source: PostgresSource, start: str
) -> None:
    connection = source.connect("UTC")

    def kill() -> None:
        for pid, query in running(server, database):
            if "a.word" in query:
                server.run(f"SELECT pg_terminate_backend({pid})")

    timer = threading.Timer(0.5, kill)
    timer.start()
    with pytest.raises(psycopg.OperationalError) as caught:
        read(connection, SLOW.replace("count(*)", "count(*), ''"), start)
    timer.join()
    error = backend.translate_error(caught.value, location(server, database))
    assert isinstance(error, ShardUnavailable)
    assert backend.is_transient(error)
    connection.close()


@pytest.mark.parametrize("start", ["execute", "arrow"])
def test_a_connection_lost_amid_rows(
    backend: PostgresBackend, server: Postgres, database: str, start: str
) -> None:
    with Proxy(server.host, server.port) as proxy:
        where = location(server, database, proxy.port)
        source = backend.open(where, SourceOptions())
        connection = source.connect("UTC")
        proxy.cut_after(500_000)
        with pytest.raises(psycopg.OperationalError) as caught:
            read(connection, "SELECT * FROM many", start)
        error = backend.translate_error(caught.value, where)
        assert isinstance(error, ShardUnavailable)
        assert "the connection was lost" in error.message
        assert backend.is_transient(error)
        connection.close()
        source.close()


@pytest.mark.slow
def test_a_server_that_stops_amid_rows(backend: PostgresBackend, server: Postgres, database: str) -> None:
    """Nothing comes any more, and nobody answers: the watchdog's case."""
    with Proxy(server.host, server.port) as proxy:
        where = location(server, database, proxy.port, read_timeout_s="1", connect_timeout_s="1")
        source = backend.open(where, SourceOptions())
        connection = source.connect("UTC")
        connection.execute("SELECT id, repeat(word, 100) FROM many", {})
        proxy.stall()
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError, match="does not answer any more") as caught:
            connection.fetchmany(MANY)  # what was on the way still comes
        error = backend.translate_error(caught.value, where)
        assert isinstance(error, ShardUnavailable)
        assert "does not answer any more" in error.message
        assert not backend.is_transient(error)
        assert time.monotonic() - began < 6
        connection.close()
        proxy.flow()
        assert rows(source.connect("UTC"), "SELECT 1") == [(1,)]
        source.close()


@pytest.mark.slow
def test_a_stopped_server(backend: PostgresBackend, server: Postgres, database: str) -> None:
    """SIGSTOP of the process that accepts connections: a new one gets no word."""
    where = location(server, database, connect_timeout_s="1")
    server.stop()
    try:
        began = time.monotonic()
        error = error_of(backend, where)
        assert isinstance(error, ShardUnavailable)
        assert "does not answer" in (error.hint or "")
        assert time.monotonic() - began < 5
    finally:
        server.go_on()
    backend.open(where, SourceOptions()).close()


@pytest.mark.slow
def test_a_statement_whose_process_is_stopped(
    server: Postgres, database: str, source: PostgresSource
) -> None:
    """The server answers others, so that it is waited for; a cancel ends that all the same."""
    connection = source.connect("UTC")
    ((pid,),) = rows_of(connection, "SELECT pg_backend_pid()")

    def stop() -> None:
        os.kill(pid, signal.SIGSTOP)
        connection.interrupt()

    timer = threading.Timer(0.3, stop)
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(psycopg.OperationalError):
            rows_of(connection, SLOW)
        assert time.monotonic() - began < 8
    finally:
        os.kill(pid, signal.SIGCONT)
    connection.close()
    until(lambda: not running(server, database))


@pytest.mark.slow
def test_a_statement_that_takes_long_is_waited_for(
    backend: PostgresBackend, server: Postgres, database: str
) -> None:
    source = backend.open(location(server, database, read_timeout_s="0.5"), SourceOptions())
    assert rows(source.connect("UTC"), "SELECT pg_sleep(3)::text") == [("",)]
    source.close()


def test_the_servers_own_timeout(backend: PostgresBackend, server: Postgres, database: str) -> None:
    began = time.monotonic()
    error = error_of(backend, location(server, database, statement_timeout_s="0.3"), SLOW)
    assert isinstance(error, DeadlineExceeded)
    assert "statement_timeout_s" in (error.hint or "")
    assert time.monotonic() - began < SOON_S


# -- stopped by us ------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["execute", "arrow"])
def test_a_cancel_ends_the_statement_on_the_server(
    backend: PostgresBackend, server: Postgres, database: str, source: PostgresSource, start: str
) -> None:
    connection = source.connect("UTC")
    asked: list[float] = []

    def interrupt() -> None:
        asked.append(time.monotonic())
        connection.interrupt()

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(psycopg.errors.QueryCanceled) as caught:
        read(connection, SLOW.replace("count(*)", "count(*), ''"), start)
    assert time.monotonic() - asked[0] < SOON_S
    assert isinstance(backend.translate_error(caught.value, location(server, database)), Cancelled)
    timer.join()
    until(lambda: not running(server, database))
    connection.close()


def test_a_cancel_does_not_wait_for_the_server(
    backend: PostgresBackend, server: Postgres, database: str
) -> None:
    with Proxy(server.host, server.port) as proxy:
        source = backend.open(location(server, database, proxy.port), SourceOptions())
        assert cancelled_behind(proxy, source.connect("UTC"), SLOW, psycopg.errors.QueryCanceled) < SOON_S / 2
        source.close()


def test_a_cancel_that_comes_first(source: PostgresSource) -> None:
    connection = source.connect("UTC")
    connection.interrupt()
    with pytest.raises(Cancelled):
        connection.execute(SLOW, {})
    connection.close()


def test_a_cancel_of_one_request_is_not_the_next_ones(source: PostgresSource) -> None:
    for _ in range(20):
        connection = source.connect("UTC")
        connection.execute("SELECT * FROM many", {})
        connection.interrupt()
        connection.close()
        assert rows(source.connect("UTC"), "SELECT count(*) FROM many") == [(MANY,)]


@pytest.mark.parametrize("fetched", [0, 1])
@pytest.mark.parametrize("start", ["execute", "arrow"])
def test_closing_early_stops_the_server(
    server: Postgres, database: str, source: PostgresSource, start: str, fetched: int
) -> None:
    connection = source.connect("UTC")
    sql = "SELECT a.id, b.word FROM many a, many b"
    if start == "arrow":
        reader = connection.arrow(sql, {}, 1000, BOTH)
        for _ in range(fetched):
            reader.read_next_batch()
    else:
        connection.execute(sql, {})
        connection.fetchmany(fetched)
    began = time.monotonic()
    connection.close()
    assert time.monotonic() - began < SOON_S  # to read 900 million rows takes minutes
    until(lambda: not running(server, database))


def test_early_ends_do_not_cost_the_session(source: PostgresSource) -> None:
    pids = []
    for _ in range(3):
        connection = source.connect("UTC")
        connection.execute("SELECT pg_backend_pid() FROM many", {})
        pids += connection.fetchmany(1)
        connection.close()
    assert len(set(pids)) == 1


# -- sessions -----------------------------------------------------------------------------------


def test_a_session_is_as_new_after_what_leaves_something_in_it(source: PostgresSource) -> None:
    connection = source.connect("Asia/Tokyo")
    sql = (
        "SELECT set_config('search_path', 'x', false), set_config('DateStyle', 'German', false),"
        " set_config('TimeZone', 'Europe/Paris', false), pg_backend_pid()"
    )
    *_, pid = rows(connection, sql)[0]
    shown = (
        "SELECT pg_backend_pid(), current_setting('search_path'), current_setting('DateStyle'),"
        " current_setting('TimeZone'), current_setting('transaction_read_only'),"
        " current_setting('transaction_isolation'), current_setting('extra_float_digits')"
    )
    assert rows(source.connect("UTC"), shown) == [
        (pid, '"$user", public', "ISO, MDY", "UTC", "on", "repeatable read", "1")
    ]


def test_a_request_has_one_snapshot(server: Postgres, database: str, source: PostgresSource) -> None:
    server.run("CREATE TABLE counted AS SELECT 1 AS a; GRANT SELECT ON counted TO reader", database=database)
    try:
        connection = source.connect("UTC")
        found = rows_of(connection, "SELECT count(*) FROM counted")
        server.run("INSERT INTO counted VALUES (2)", database=database)
        assert found == rows_of(connection, "SELECT count(*) FROM counted") == [(1,)]
        connection.close()
        assert rows(source.connect("UTC"), "SELECT count(*) FROM counted") == [(2,)]
    finally:
        server.run("DROP TABLE counted", database=database)


def test_another_result_of_a_prepared_statement(
    server: Postgres, database: str, source: PostgresSource
) -> None:
    server.run("CREATE TABLE changing (a int); INSERT INTO changing VALUES (1)", database=database)
    server.run("GRANT SELECT ON changing TO reader", database=database)
    try:
        sql = "SELECT a FROM changing"
        assert rows(source.connect("UTC"), sql) == [(1,)]
        before = source.connect("UTC")
        version = before.version()
        before.close()
        server.run("ALTER TABLE changing ALTER a TYPE text", database=database)
        connection = source.connect("UTC")
        assert connection.version() != version
        assert connection.execute(sql, {}) == (("a", "text"),)
        assert connection.fetchmany(2) == [("1",)]
        connection.close()
    finally:
        server.run("DROP TABLE changing", database=database)


def test_a_change_by_a_transaction_that_had_begun_before(
    server: Postgres, database: str, source: PostgresSource
) -> None:
    """It has its number already: the next one to be given out stays the same."""
    with server.connect(database) as other:
        other.execute("BEGIN; CREATE TABLE begun (a int)")
        before = source.connect("UTC")
        version = before.version()
        before.close()
        other.execute("ALTER TABLE begun ADD b int; COMMIT")
        after = source.connect("UTC")
        assert after.version() != version
        after.close()
        other.execute("DROP TABLE begun")


def test_idle_sessions_are_few_and_end(backend: PostgresBackend, server: Postgres, database: str) -> None:
    source = backend.open(location(server, database, idle_max="2", application_name="idle"), SourceOptions())
    connections = [source.connect("UTC") for _ in range(5)]
    for each in connections:
        rows_of(each, "SELECT 1")
    for each in connections:
        each.close()

    def count() -> int:
        return len(server.run("SELECT pid FROM pg_stat_activity WHERE application_name = 'idle'"))

    until(lambda: count() == 2)
    source.close()
    until(lambda: count() == 0)


def test_the_sessions_time_zone(server: Postgres, database: str, source: PostgresSource) -> None:
    def clock(zone: str) -> str:
        return str(rows(source.connect(zone), "SELECT current_setting('TimeZone')")[0][0])

    assert clock("") == source.own_time_zone() == "UTC"
    assert clock("Asia/Tokyo") == "Asia/Tokyo"
    assert clock("UTC") == "UTC"


def test_a_proxy_that_does_not_pass_on_what_is_pinned(
    backend: PostgresBackend, server: Postgres, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = psycopg.Connection.connect

    def deaf(conninfo: str, **kwargs: Any) -> Any:
        return real(psycopg.conninfo.make_conninfo(conninfo, options=""), **kwargs)

    monkeypatch.setattr(psycopg.Connection, "connect", deaf)
    error = error_of(backend, location(server, database))
    assert isinstance(error, OperationalError)
    assert "as was asked for" in error.message
    assert "proxy" in (error.hint or "")


def test_where_a_value_is_no_value(backend: PostgresBackend, server: Postgres, database: str) -> None:
    error = error_of(backend, location(server, database), "SELECT 1 / (id - id) FROM many")
    assert isinstance(error, DataError)
    assert error.sqlstate == "22012"

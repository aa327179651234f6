"""A canary: no password is in any error, log line, EXPLAIN or repr, whatever goes wrong."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

import shardwise
from shardwise.catalog.language import parse
from shardwise.errors import Error
from tests.faults.proxy import Proxy
from tests.servers import Server, mariadb, postgres

pytestmark = pytest.mark.servers
ENCODED = "canary-"
CANARY = f"{ENCODED}Ö'\\%41 7f3a"
T = "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))"


@pytest.fixture(params=["mysql", "postgres"])
def server(request: pytest.FixtureRequest) -> Server:
    return mariadb(0) if request.param == "mysql" else postgres()


@pytest.fixture
def database(server: Server) -> str:
    return server.database(T, "INSERT INTO t VALUES (1, 'a'), (2, 'b')")  # type: ignore[attr-defined,no-any-return]


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG):
        yield caplog


def cluster(
    server: Server, database: str, user: str, secret: str, port: int | None = None
) -> shardwise.Cluster:
    scheme = "mysql" if server.product == "mariadb" else "postgresql"
    text = f"""CREATE CATALOG c WITH (connections_per_server = 2);
        CREATE SOURCE s URL '{scheme}://{user}@127.0.0.1:{port or server.port}/{database}';
        ATTACH TABLE t (id INTEGER, name VARCHAR) ON s;"""
    return shardwise.open(parse(text), secrets={"s": secret})


def told(error: BaseException) -> str:
    """All that an error says, those that it came from included."""
    texts = "".join(traceback.format_exception(error))
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        texts += f"{each!r} {each} {each.args} {vars(each) if isinstance(each, Error) else ''}"
        waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
    return texts


def check(*texts: object) -> None:
    for text in texts:
        assert ENCODED not in str(text)


def test_a_wrong_password(server: Server, database: str, log: pytest.LogCaptureFixture) -> None:
    with cluster(server, database, "admin", CANARY) as found, found.connect() as con:
        for sql in ("SELECT * FROM t", "SELECT count(*) FROM t", "EXPLAIN ANALYZE SELECT * FROM t"):
            with pytest.raises(Error) as caught:
                con.execute(sql).fetchall()
            check(told(caught.value))
        check(found, repr(found), con, repr(con), vars(found))
        check(con.execute("EXPLAIN SELECT * FROM t").fetchall(), con.execute("SHOW SOURCES").fetchall())
    check(log.text)


@pytest.mark.parametrize("where", ["connect", "amid rows", "statement", "database"])
def test_the_right_one(server: Server, database: str, log: pytest.LogCaptureFixture, where: str) -> None:
    user = "canary_user"
    _make_user(server, database, user)
    with Proxy(server.host, server.port) as proxy:
        name = "none_such" if where == "database" else database
        with cluster(server, name, user, CANARY, proxy.port) as found, found.connect() as con:
            if where == "connect":
                proxy.refuse()
            elif where in ("amid rows", "statement"):
                assert con.execute("SELECT count(*) FROM t").fetchall() == [(2,)]
                proxy.drop()
                if where == "amid rows":
                    proxy.refuse()
            sql = "SELECT error(name) FROM t" if where == "statement" else "SELECT * FROM t ORDER BY name"
            with pytest.raises(Error) as caught:
                con.execute(sql).fetchall()
            check(told(caught.value), repr(found), vars(found), vars(con))
            lease_free = found.pool._locate("s")
            check(repr(lease_free))
            with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
                pickle.dumps(found)
    check(log.text)


def test_from_a_file(server: Server, database: str, tmp_path: Path, log: pytest.LogCaptureFixture) -> None:
    (tmp_path / "secret").write_text(CANARY)
    scheme = "mysql" if server.product == "mariadb" else "postgresql"
    (tmp_path / "cluster.sql").write_text(f"""CREATE CATALOG c;
        CREATE SOURCE s URL '{scheme}://admin@127.0.0.1:{server.port}/{database}' PASSWORD FILE 'secret';
        ATTACH TABLE t (id INTEGER, name VARCHAR) ON s;""")
    with shardwise.connect(tmp_path / "cluster.sql") as con:
        with pytest.raises(Error) as caught:
            con.execute("SELECT * FROM t").fetchall()
        check(told(caught.value))
        check(con.execute("SHOW CREATE TABLE t").fetchall(), con.cluster.catalog.to_sql())
    check(log.text)


def test_one_in_the_url_is_refused_unseen(server: Server) -> None:
    scheme = "mysql" if server.product == "mariadb" else "postgresql"
    text = f"CREATE CATALOG c; CREATE SOURCE s URL '{scheme}://u:{ENCODED}x@h/d';"
    with pytest.raises(Error) as caught:
        parse(text)
    check(told(caught.value))


def _make_user(server: Server, database: str, user: str) -> None:
    if server.product == "mariadb":
        mariadb(0).run(
            "CREATE OR REPLACE USER canary_user@'%' IDENTIFIED BY 'canary-Ö''\\\\%41 7f3a'",
            f"GRANT SELECT ON `{database}`.* TO canary_user@'%'",
        )
    else:
        postgres().run(
            "DO $$ BEGIN CREATE USER canary_user; "
            "EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$",
            "ALTER USER canary_user PASSWORD 'canary-Ö''\\%41 7f3a'",
        )
        postgres().run("GRANT SELECT ON t TO canary_user", database=database)

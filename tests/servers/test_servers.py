"""The test servers themselves."""

from __future__ import annotations

from tests.servers import mariadb, postgres


def test_two_mariadb_servers_and_a_postgresql() -> None:
    first, second = mariadb(0), mariadb(1)
    assert first.port != second.port
    for server in (first, second):
        database = server.database("CREATE TABLE t (a INT, b TEXT)")
        server.insert(database, "t", [(1, "é"), (None, "it's")])
        assert server.run("SELECT a, b FROM t ORDER BY a", database=database) == [(None, "it's"), (1, "é")]
    server = postgres()
    database = server.database("CREATE TABLE t (a INT, b TEXT)")
    server.insert(database, "t", [(1, "é"), (None, "it's")])
    assert server.run("SELECT a, b FROM t ORDER BY a", database=database) == [(1, "é"), (None, "it's")]

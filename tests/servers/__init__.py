"""Database servers for the tests: two MariaDB servers and a PostgreSQL one, started when a test first asks.

    mariadb(0)          the first MariaDB server, `mariadb(1)` the second
    postgres()          the PostgreSQL server
    private_mariadb(…)  one that may be stopped, whatever runs already
    server.database()   a new empty database on it, dropped with the server

They run from the machine's binaries in a temporary folder, on free loopback ports, and are stopped by their
own pids when the test session ends (`tests/conftest.py`); the workers of one session share them. A server
that runs already is used instead where its URL, password and all, is in `SHARDWISE_MARIADB_0`,
`SHARDWISE_MARIADB_1` or `SHARDWISE_POSTGRES`; tests that stop a server are then skipped.

Where the binaries are missing the test is skipped, saying what to install; with `SHARDWISE_NEED_SERVERS=1`
(as CI has it) that is a failure.
"""

from __future__ import annotations

import pytest

from tests.servers.mariadb_server import mariadb, private_mariadb
from tests.servers.postgres_server import postgres, private_postgres
from tests.servers.running import Server, stop_all

__all__ = ["Server", "are_there", "mariadb", "postgres", "private_mariadb", "private_postgres", "stop_all"]


def are_there() -> bool:
    """Whether this machine has all three servers; those that do not run are started."""
    try:
        for server in (lambda: mariadb(0), lambda: mariadb(1), postgres):
            server()
    except pytest.skip.Exception:
        return False
    return True

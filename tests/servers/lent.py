"""PostgreSQL databases that go from one test to the next: to empty one is a sixth of making and dropping it.

Only what is in schemas goes, so borrow none for what else a database has: its settings, its encoding.
"""

from __future__ import annotations

import atexit
from collections import defaultdict

from psycopg import sql

from tests.servers.postgres_server import Postgres

_FREE: defaultdict[Postgres, list[str]] = defaultdict(list)
"""The databases of each server that nobody has at present."""
_SEND_AWAY = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_SCHEMAS = """
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'
"""


def borrow(server: Postgres, *statements: str) -> str:
    """The name of a database in which these statements were run, and nothing else."""
    if not _FREE[server]:
        return server.database(*statements)
    name = _FREE[server].pop()
    with server.connect(name) as con:
        con.execute(_SEND_AWAY)
        for schema in con.execute(_SCHEMAS).fetchall():
            con.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(*schema)))
        for statement in ("CREATE SCHEMA public", *statements):
            con.execute(statement)
    return name


def give_back(server: Postgres, name: str) -> None:
    """Leaves a database to the next, who sends away those that are still connected."""
    _FREE[server].append(name)


@atexit.register
def _drop() -> None:
    """A server that was running already keeps nothing of ours; one that we started has gone."""
    for server, names in _FREE.items():
        for name in names:
            if server.pid is None:
                server.run(f'DROP DATABASE "{name}" WITH (FORCE)')

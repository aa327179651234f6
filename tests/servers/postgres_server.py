"""A PostgreSQL server for the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg import sql

from tests.servers.running import (
    Server,
    as_user,
    given,
    launch,
    missing,
    new_name,
    owned,
    running,
    wait_until,
)

PASSWORD = "pa'ss\"wörd %1"
_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",  # which would go round hundreds of databases, several a second
    "max_connections": "200",
    "max_prepared_transactions": "50",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "timezone": "UTC",
}


class Postgres(Server):
    """One that tests may do anything with."""

    def database(self, *statements: str, name: str | None = None, options: str = "") -> str:
        """A new database in which these statements were run; gives its name."""
        name = name or new_name("db")
        self.run(f'CREATE DATABASE "{name}" {options}')
        self.run(*statements, database=name)
        return name

    def run(self, *statements: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Runs statements; gives the rows of the last."""
        with self.connect(database) as con:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor = con.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            return rows

    def insert(self, database: str, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts rows of the table's columns, in order; `table` may be `schema.table`."""
        self.fill(database, {table: rows})

    def fill(self, database: str, tables: Mapping[str, Iterable[tuple[Any, ...]]]) -> None:
        """Inserts rows into several tables, over one connection."""
        with self.connect(database) as con, con.cursor() as cursor:
            for table, rows in tables.items():
                name = sql.Identifier(*table.split("."))
                with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(name)) as copy:
                    for row in rows:
                        copy.write_row(row)

    def connect(self, database: str = "postgres", **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        """A bare connection, in autocommit, of the server's administrator."""
        return psycopg.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=database,
            autocommit=True,
            **options,
        )


def postgres() -> Postgres:
    """The PostgreSQL server of this test session."""
    found = given("SHARDWISE_POSTGRES", "postgres")
    if found is None:
        if _binary("initdb") is None:
            missing("PostgreSQL", "postgresql")
        found = running("postgres", _start)
    return Postgres(**found.__dict__)


def private_postgres(
    name: str, *options: str, files: Mapping[str, bytes] | None = None, access: str = ""
) -> Postgres:
    """A server of the tests' own, whatever runs already: one to stop, or with `options` (`ssl=on`).

    `files` are put into a folder that it may read; `{files}` in an option is that folder. `access` are the
    first lines of its pg_hba.conf.
    """
    if _binary("initdb") is None:
        missing("PostgreSQL", "postgresql")
    found = running(
        f"postgres-{name}", lambda folder, port: _start(folder, port, options, files or {}, access)
    )
    return Postgres(**found.__dict__)


def _binary(name: str) -> str | None:
    """Debian keeps a server's programs in a folder of its version."""
    found = shutil.which(name)
    if found is not None and "pgsql" not in found:
        return found
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda p: int(p.parts[-3]))
    return str(versions[-1]) if versions else found


def _start(
    folder: Path,
    port: int,
    options: Sequence[str] = (),
    files: Mapping[str, bytes] = MappingProxyType({}),
    access: str = "",
) -> Server:
    owned(folder, "postgres")
    given_files = owned(folder / "files", "postgres")
    for name, content in files.items():
        path = given_files / name
        path.write_bytes(content)
        path.chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(path, "postgres")
    data, log = folder / "data", folder / "server.log"
    secret = folder / "password"
    secret.write_text(PASSWORD)
    initdb, server = _binary("initdb"), _binary("postgres")
    assert initdb is not None
    assert server is not None
    subprocess.run(
        [initdb, "-D", str(data), "-U", "admin", "-A", "scram-sha-256", f"--pwfile={secret}", "-E", "UTF8",
         "--locale=C.UTF-8", "--no-sync"],
        check=True,
        capture_output=True,
        cwd=folder,
        **as_user("postgres"),  # type: ignore[call-overload]
    )  # fmt: skip
    rules = data / "pg_hba.conf"
    rules.write_text(f"{access}\n{rules.read_text()}")
    settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
    settings += [f"-c{option.format(files=given_files)}" for option in options]
    pid = launch([server, "-D", str(data), "-p", str(port), *settings], user="postgres", log=log)
    found = Postgres("postgres", "127.0.0.1", port, "admin", PASSWORD, pid, str(folder))
    wait_until(lambda: _answers(found), log)
    return Server("postgres", "127.0.0.1", port, "admin", PASSWORD, pid, str(folder))


def _answers(server: Postgres) -> bool:
    try:
        server.run("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True

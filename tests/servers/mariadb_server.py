"""MariaDB servers for the tests."""

from __future__ import annotations

import pwd
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pymysql

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

PASSWORD = "pa'ss\"wörd %1"  # one that must be quoted everywhere
_OPTIONS = (
    "--no-defaults",
    "--skip-log-bin",
    "--skip-name-resolve",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=128M",
    "--innodb-log-file-size=64M",
    "--max-allowed-packet=64M",
    "--max-connections=300",
    "--performance-schema=OFF",
)


class MariaDB(Server):
    """One that tests may do anything with."""

    def database(self, *statements: str, name: str | None = None) -> str:
        """A new database in which these statements were run; gives its name."""
        name = name or new_name("db")
        self.run(f"CREATE DATABASE `{name}`")
        self.run(*statements, database=name)
        return name

    def run(self, *statements: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """Runs statements; gives the rows of the last."""
        with closing(self.connect(database)) as con, con.cursor() as cursor:
            rows: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor.execute(statement)
                rows = list(cursor.fetchall())
            return rows

    def insert(self, database: str, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Inserts rows of the table's columns, in order."""
        self.fill(database, {table: rows})

    def fill(self, database: str, tables: Mapping[str, Iterable[tuple[Any, ...]]]) -> None:
        """Inserts rows into several tables, over one connection."""
        with closing(self.connect(database)) as con, con.cursor() as cursor:
            for table, rows in tables.items():
                held = list(rows)
                if held:
                    marks = ", ".join(["%s"] * len(held[0]))
                    cursor.executemany(f"INSERT INTO `{table}` VALUES ({marks})", held)

    def connect(self, database: str | None = None, **options: Any) -> pymysql.Connection:
        """A bare connection, in autocommit, of the server's administrator.

        Without TLS unless asked for: PyMySQL reads the machine's certificates for each, which takes 20 ms.
        """
        if not any(name.startswith("ssl") for name in options):
            options["ssl_disabled"] = True
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password.encode(),  # PyMySQL would encode it as Latin-1
            database=database,
            charset="utf8mb4",
            autocommit=True,
            **options,
        )


def mariadb(number: int = 0) -> MariaDB:
    """The first or the second MariaDB server of this test session."""
    found = given(f"SHARDWISE_MARIADB_{number}", "mariadb")
    if found is None:
        if shutil.which("mariadbd") is None:
            missing("MariaDB", "mariadb-server-core mariadb-client-core")
        found = running(f"mariadb-{number}", _start)
    return MariaDB(**found.__dict__)


def private_mariadb(
    name: str,
    *options: str,
    files: Mapping[str, bytes] | None = None,
    environment: Mapping[str, str] | None = None,
) -> MariaDB:
    """A server of the tests' own, whatever runs already: one that may be stopped, or has `options`.

    `files` are put into a folder that it may read; `{files}` in an option is that folder.
    """
    if shutil.which("mariadbd") is None:
        missing("MariaDB", "mariadb-server-core mariadb-client-core")
    found = running(
        f"mariadb-{name}", lambda folder, port: _start(folder, port, options, files or {}, environment)
    )
    return MariaDB(**found.__dict__)


def _start(
    folder: Path,
    port: int,
    options: Sequence[str] = (),
    files: Mapping[str, bytes] = MappingProxyType({}),
    environment: Mapping[str, str] | None = None,
) -> Server:
    user = _user()
    owned(folder, user)
    data, temporary = folder / "data", owned(folder / "tmp", user)
    subprocess.run(
        [
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            "--skip-name-resolve",
        ],
        check=True,
        capture_output=True,
        cwd=folder,
        **as_user(user),  # type: ignore[call-overload]
    )
    given_files = owned(folder / "files", user)
    for name, content in files.items():
        (given_files / name).write_bytes(content)
    log = folder / "server.log"
    command = [
        shutil.which("mariadbd") or "mariadbd",
        *_OPTIONS,
        f"--datadir={data}",
        f"--tmpdir={temporary}",
        f"--socket={folder / 's'}",
        f"--pid-file={folder / 'pid'}",
        "--bind-address=127.0.0.1",
        f"--port={port}",
        *(option.format(files=given_files) for option in options),
    ]
    pid = launch(command, user=user, log=log, environment=environment)
    server = MariaDB("mariadb", "127.0.0.1", port, "root", "", pid, str(folder))
    wait_until(lambda: _answers(server), log)
    with closing(server.connect()) as con, con.cursor() as cursor:
        cursor.execute("CREATE USER admin@'%%' IDENTIFIED BY %s", (PASSWORD,))
        cursor.execute("GRANT ALL ON *.* TO admin@'%' WITH GRANT OPTION")
    return Server("mariadb", "127.0.0.1", port, "admin", PASSWORD, pid, str(folder))


def _answers(server: MariaDB) -> bool:
    try:
        server.run("SELECT 1")
    except pymysql.OperationalError:
        return False
    return True


def _user() -> str:
    """The user that a server is run as where we are root."""
    try:
        return pwd.getpwnam("mysql").pw_name
    except KeyError:
        return "nobody"

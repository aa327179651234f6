"""MariaDB's Spider engine over the same four databases, on a server of its own.

The engine is a plugin whose package wants all of Debian's server: its file alone is taken out of the package,
and loaded by a server that is started here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.servers.places import COLUMNS, INDEXES, KEYS, SHARDS, Placed
from tests.oracle.cluster import By
from tests.oracle.tpch import CACHE, PLACES
from tests.servers.mariadb_server import private_mariadb

PACKAGE = "mariadb-plugin-spider"


class Missing(Exception):
    """A peer that cannot be had, and why."""


def _plugin() -> Path:
    """The engine's file."""
    folder = CACHE.parent / "spider"
    found = next(folder.glob("usr/lib/mysql/plugin/ha_spider.so"), None)
    if found is None:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=True, capture_output=True)
            package = next(folder.glob("*.deb"))
            subprocess.run(["dpkg", "-x", package, folder], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError, StopIteration) as error:
            raise Missing(f"{PACKAGE} could not be fetched by apt-get") from error
        found = folder / "usr/lib/mysql/plugin/ha_spider.so"
    return found


@contextmanager
def spider(place: Placed) -> Iterator[Any]:
    """A connection to tables of the engine over `place`'s shards."""
    plugin = _plugin()
    server = private_mariadb(
        "spider",
        "--plugin-dir={files}",
        f"--plugin-load-add={plugin.name}",
        files={plugin.name: plugin.read_bytes()},
    )
    name = place.whole.replace("whole", "spider")
    try:
        if not server.run("SELECT 1 FROM information_schema.ENGINES WHERE ENGINE = 'SPIDER'"):
            raise Missing("the engine was not loaded")
        servers = [
            f"CREATE OR REPLACE SERVER {name}_{i} FOREIGN DATA WRAPPER mysql OPTIONS ("
            f"HOST '127.0.0.1', PORT {place.server(i).port}, USER '{place.server(i).user}', "
            f"PASSWORD {_quoted(place.server(i).password)}, DATABASE '{database}')"
            for i, database in enumerate(place.shards)
        ]
        server.run(*servers)
        server.database(*(_table(name, table) for table in COLUMNS), name=name)
    except Exception as error:
        raise Missing(f"it could not be set up: {error}") from error
    con = server.connect(name)
    try:
        yield con
    finally:
        con.close()
        server.run(f"DROP DATABASE {name}")


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _table(server: str, table: str) -> str:
    place = PLACES[table]
    keys = "".join(f", KEY ({column})" for column in INDEXES.get(table, ()))
    head = f"CREATE TABLE {table} ({COLUMNS[table]}, PRIMARY KEY ({KEYS[table]}){keys}) ENGINE = SPIDER"
    if not isinstance(place, By):
        return f'{head} COMMENT = \'wrapper "mysql", srv "{server}_0", table "{table}"\''
    parts = ", ".join(
        f"PARTITION p{i} VALUES IN ({i}) COMMENT = 'srv \"{server}_{i}\"'" for i in range(SHARDS)
    )
    comment = f'COMMENT = \'wrapper "mysql", table "{table}"\''
    return f"{head} {comment} PARTITION BY LIST ({place.keys[0]} % {SHARDS}) ({parts})"

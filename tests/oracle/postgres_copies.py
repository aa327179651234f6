"""A cluster of DuckDB files once more as PostgreSQL databases, with a catalog of the postgres dialect.

Rows are where they were; what ignores letter case does so in PostgreSQL as well. Tables of types that it has
nothing like are left out, and views that it does not read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import duckdb
import psycopg

import shardwise
from shardwise.catalog import parse
from tests.oracle.cluster import Cluster, Grain, catalog_text
from tests.oracle.worlds import World
from tests.servers import postgres
from tests.servers.postgres_server import Postgres

_FOREIGN = re.compile(
    r"\b(STRUCT|MAP|UNION|ENUM|U?HUGEINT|VARIANT|BIT|TIMESTAMP_\w+)\b|COLLATE (?!NOCASE)", re.IGNORECASE
)
_TYPES = {
    "TINYINT": "SMALLINT",
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINTEGER": "BIGINT",
    "UBIGINT": "NUMERIC(20,0)",
    "DOUBLE": "DOUBLE PRECISION",
    "FLOAT": "REAL",
    "BLOB": "BYTEA",
    "COLLATE NOCASE": 'COLLATE "nocase"',
}
_TYPE = re.compile("|".join(rf"\b{name}\b(?! PRECISION)" for name in _TYPES), re.IGNORECASE)
_SETUP = "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"


class PostgresCopy:
    """`one` is the unsharded PostgreSQL, `cluster` the sharded one."""

    def __init__(self, world: World, duck: Cluster, shards: int, grain: Grain) -> None:
        tables = [
            replace(t, columns=translated(t.columns)) for t in world.tables if not _FOREIGN.search(t.columns)
        ]
        kept = {table.name for table in tables}
        self.server = postgres()
        self.names = [self.server.database(_SETUP) for _ in range(shards + 1)]
        _copy(duck.folder / "whole.duckdb", self.server, self.names[-1], kept)
        self.one = self.server.connect(self.names[-1])
        views = [view for view in world.views if _reads(self.one, view)]
        for shard, name in enumerate(self.names[:-1]):
            _copy(duck.folder / f"shard{shard}.duckdb", self.server, name, kept)
        sources = [f"URL '{self.server.url(name)}'" for name in self.names[:-1]]
        text = catalog_text(tables, world.shardings, shards, grain, views, "postgres", sources)
        catalog = parse(text.replace("DIALECT duckdb", "DIALECT postgres"))
        self.cluster = shardwise.open(catalog, secrets=lambda _: self.server.password)

    def close(self) -> None:
        self.cluster.close()
        self.one.close()
        for name in self.names:
            self.server.run(f'DROP DATABASE "{name}" WITH (FORCE)')


def translated(columns: str) -> str:
    """DuckDB's column definitions as PostgreSQL's."""
    return _TYPE.sub(lambda found: _TYPES[found[0].upper()], columns)


def _reads(con: psycopg.Connection[tuple[object, ...]], view: str) -> bool:
    try:
        con.execute(f"CREATE VIEW {view}")  # type: ignore[call-overload]
    except psycopg.Error:
        return False
    return True


def _copy(path: Path, server: Postgres, database: str, kept: set[str]) -> None:
    """All tables of a DuckDB file that belong to the logical tables `kept`; of a copy of the file, for other
    tests of this process may have it open."""
    with TemporaryDirectory() as folder:
        for file in path.parent.glob(f"{path.name}*"):
            copyfile(file, Path(folder) / file.name)
        with duckdb.connect(str(Path(folder) / path.name), read_only=True) as duck:
            all_ = duck.execute("SELECT table_name, sql FROM duckdb_tables()").fetchall()
            mine = {
                name: ddl
                for name, ddl in all_
                if any(name == table or name.startswith(f"{table}_") for table in kept)
                and not _FOREIGN.search(ddl)
            }
            server.run(*(_definition(duck, name, ddl) for name, ddl in mine.items()), database=database)
            server.fill(database, {name: duck.execute(f'SELECT * FROM "{name}"').fetchall() for name in mine})


def _definition(duck: duckdb.DuckDBPyConnection, name: str, ddl: str) -> str:
    """A table's definition in PostgreSQL."""
    columns = ", ".join(
        f'"{column[0]}" {translated(column[1] + _collation(ddl, column[0]))}'
        for column in duck.execute(f'DESCRIBE "{name}"').fetchall()
    )
    return f'CREATE TABLE "{name}" ({columns})'


def _collation(ddl: str, column: str) -> str:
    found = re.search(rf'\b{re.escape(column)}"? \w+ COLLATE (\w+)', ddl)
    return f" COLLATE {found[1]}" if found else ""

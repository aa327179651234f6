"""A cluster of DuckDB files once more as SQLite files, with a catalog of the sqlite dialect.

Rows are where they were. DECIMALs become REALs, dates and times texts; tables of types that SQLite has
nothing like are left out, and views that it does not read.
"""

from __future__ import annotations

import re
import sqlite3
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

import shardwise
from tests.oracle.cluster import Cluster, Grain, catalog_text
from tests.oracle.worlds import World

_FOREIGN = re.compile(r"\[|STRUCT|MAP|ENUM|INTERVAL|UUID|TIMESTAMPTZ|BIT|JSON|COLLATE (?!NOCASE)|BLOB", re.I)


class SQLiteCopy:
    """`one` is the unsharded SQLite, `cluster` the sharded one."""

    def __init__(self, folder: Path, world: World, duck: Cluster, shards: int, grain: Grain) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tables = [table for table in world.tables if not _FOREIGN.search(table.columns)]
        kept = {table.name for table in tables}
        self.one = sqlite3.connect(folder / "whole.db", isolation_level=None)
        _copy(duck.folder / "whole.duckdb", self.one, kept)
        views = [view for view in world.views if _reads(self.one, view)]
        for shard in range(shards):
            con = sqlite3.connect(folder / f"shard{shard}.db", isolation_level=None)
            _copy(duck.folder / f"shard{shard}.duckdb", con, kept)
            con.close()
        text = catalog_text(tables, world.shardings, shards, grain, views)
        text = text.replace("DIALECT duckdb", "DIALECT sqlite")
        text = text.replace("duckdb:///shard{n}.duckdb", "sqlite:///shard{n}.db")
        (folder / "cluster.sql").write_text(text)
        self.cluster = shardwise.open(folder / "cluster.sql")

    def close(self) -> None:
        self.cluster.close()
        self.one.close()


def _reads(con: sqlite3.Connection, view: str) -> bool:
    try:
        con.execute(f"CREATE VIEW {view}")
        con.execute(f"SELECT * FROM {view.split(maxsplit=1)[0].partition('(')[0]}").fetchone()
    except sqlite3.Error:
        return False
    return True


def _copy(path: Path, con: sqlite3.Connection, kept: set[str]) -> None:
    """All tables of a DuckDB file that belong to the logical tables `kept`.

    Of a copy of the file: other tests of this process may have it open, with settings of their own.
    """
    with TemporaryDirectory() as folder:
        for file in path.parent.glob(f"{path.name}*"):
            copyfile(file, Path(folder) / file.name)
        _copy_tables(Path(folder) / path.name, con, kept)


def _copy_tables(path: Path, con: sqlite3.Connection, kept: set[str]) -> None:
    with duckdb.connect(str(path), read_only=True) as duck:
        names = [row[0] for row in duck.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        con.execute("BEGIN")
        for name in names:
            if not any(name == table or name.startswith(f"{table}_") for table in kept):
                continue
            described = duck.execute(f'DESCRIBE "{name}"').fetchall()
            ddl = duck.execute("SELECT sql FROM duckdb_tables() WHERE table_name = ?", [name]).fetchall()[0][
                0
            ]
            if _FOREIGN.search(ddl):
                continue
            columns = ", ".join(
                f'"{column[0]}" {column[1]}{_collation(ddl, column[0])}' for column in described
            )
            con.execute(f'CREATE TABLE "{name}" ({columns})')
            rows = duck.execute(f'SELECT * FROM "{name}"').fetchall()
            marks = ", ".join("?" * len(described))
            con.executemany(f'INSERT INTO "{name}" VALUES ({marks})', (tuple(map(_value, r)) for r in rows))
        con.execute("COMMIT")


def _collation(ddl: str, column: str) -> str:
    found = re.search(rf'\b{re.escape(column)}"? \w+ COLLATE (\w+)', ddl)
    return f" COLLATE {found[1]}" if found else ""


def _value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and value != value:
        return 1e308  # SQLite has no NaN; as NULL it would not be where NULLs are
    if isinstance(value, date | time):
        return value.isoformat()
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else float(value)

"""One SQLite database, and the same rows over 1, 2, 3 or 7 files, for the sqlite dialect.

The rows are what SQLite allows: texts in INTEGER columns, '05' and '5', blobs, NULLs, 2.5 where whole
numbers are declared. Whole numbers and reals that are equal (1 and 1.0) never stand in one column without a
type: which of them stands for a group is for the order of rows to say.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import shardwise
from shardwise.catalog import parse

DDL = {
    "t": "CREATE TABLE t (id INTEGER PRIMARY KEY, k INTEGER, name TEXT, email TEXT COLLATE NOCASE, "
    "price REAL, qty NUMERIC, any_, b BLOB, d DATE)",
    "u": "CREATE TABLE u (id INTEGER, t_id INTEGER, note TEXT, v INTEGER)",
    "r": "CREATE TABLE r (code TEXT, label TEXT COLLATE NOCASE, n INTEGER)",
    "w": "CREATE TABLE w (name TEXT, x, y REAL)",
    "p": "CREATE TABLE p (name TEXT, z INTEGER)",
}
PLACES = {
    "t": "SHARD BY by_id (id)",
    "u": "SHARD BY by_id (t_id)",
    "r": "REFERENCE ON by_id",
    "w": "SCATTERED ON by_id",
    "p": "SHARD BY by_name (name)",
}
Rows = list[tuple[Any, ...]]


def rows(seed: int = 5) -> dict[str, Rows]:
    pick = random.Random(seed).choice
    names = [None, "a", "A", "b", "5", "05", "ab", b"a", ""]
    return {
        "t": [
            (
                i,
                pick([None, 1, 2, 3, 3, 5, "x", 2.5, -7]),
                pick(names),
                pick([None, "a@x", "A@X", "b@x", "B@x "]),
                pick([None, 1, 1.5, 2.25, -0.5, "zz", 1e300]),
                pick([None, 1, "1", "01", 1.5, "q", 10**18]),
                pick([None, 1, "1", "a", b"1", 2.5]),
                pick([None, b"1", b"", "x", 5]),
                pick([None, "2024-01-01", "2024-02-01", "2023-12-31", "20240101"]),
            )
            for i in range(1, 61)
        ],
        "u": [
            (
                pick([1, 2, 3, None]),
                pick([None, *range(1, 80)]),
                pick([None, "n1", "N1", "n2", "5", 5]),
                pick([None, 1, 2, 3, "3", "y", 10**15]),
            )
            for _ in range(90)
        ],
        "r": [
            ("a", "Alpha", 1),
            ("A", "ALPHA", 2),
            ("b", "beta", None),
            ("5", "five", 5),
            (None, "none", 0),
        ],
        "w": [
            (
                pick(["a", "A", "b", "5", "05", None, "ab"]),
                pick([1, "1", None, 2, b"1"]),
                pick([1, 2.5, None]),
            )
            for _ in range(25)
        ],
        "p": [(pick(["a", "A", "b", "5", 5, "05", None, "7"]), pick([1, 2, None, "z"])) for _ in range(30)],
    }


class SQLiteWorld:
    """`one` has all rows; `cluster` has them over `shards` files."""

    def __init__(self, folder: Path, shards: int, tables: dict[str, Rows] | None = None) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.tables = tables or rows()
        self.one = sqlite3.connect(":memory:", isolation_level=None)
        fill(self.one, self.tables)
        catalog = parse(catalog_text(folder, shards))
        for shard in range(shards):
            con = sqlite3.connect(folder / f"s{shard}.db")
            fill(con, {name: part(name, all_, catalog, shard, shards) for name, all_ in self.tables.items()})
            con.commit()
            con.close()
        self.cluster = shardwise.open(catalog)

    def close(self) -> None:
        self.cluster.close()
        self.one.close()


def fill(con: sqlite3.Connection, tables: dict[str, Rows]) -> None:
    for name, found in tables.items():
        con.execute(DDL[name])
        marks = ", ".join("?" * (DDL[name].count(",") + 1))
        con.executemany(f"INSERT INTO {name} VALUES ({marks})", found)


def catalog_text(folder: Path, shards: int) -> str:
    columns = {name: ddl[ddl.index("(") :] for name, ddl in DDL.items()}
    tables = (f"ATTACH TABLE {name} {columns[name]} {PLACES[name]};\n" for name in DDL)
    slots = ", ".join(f"s{n} = {n}" for n in range(shards))
    return (
        "CREATE CATALOG world DIALECT sqlite;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL 'sqlite:///{folder}/s{{n}}.db';\n"
        f"CREATE SHARDING by_id USING MOD {shards} AS n ON s{{n}};\n"
        f"CREATE SHARDING by_name USING HASH(crc32) SLOTS {shards} ({slots});\n"
        + "".join(tables)
        + "CREATE VIEW big AS SELECT id, k FROM t WHERE id > 30;\n"
    )


def part(name: str, all_: Rows, catalog: Any, shard: int, shards: int) -> Rows:
    """The rows of a table on one shard."""
    if name == "r":
        return all_
    if name == "w":
        return all_[shard::shards]
    sharding = catalog.sharding("by_name" if name == "p" else "by_id").function
    key: Callable[[tuple[Any, ...]], Any] = {
        "t": lambda row: row[0],
        "u": lambda row: row[1],
        "p": lambda row: None if row[0] is None else str(row[0]),
    }[name]
    return [row for row in all_ if sharding.slot((key(row),)) == shard]

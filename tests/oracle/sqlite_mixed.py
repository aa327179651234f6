"""Tables whose columns of each affinity hold values of every type, in one SQLite and over files.

1 and 1.0 stand in one column without a type, '1', '1.0' and ' 1' in one of TEXT, 2^53 beside 2^53 + 1 in
numeric ones. Of `c` the values are such as travel. `a` and `s`, `b` and `c` are split alike.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random
from typing import Any

import shardwise

COLUMNS = (
    "i INTEGER, n NUMERIC, r REAL, t TEXT, x, z BLOB, f TEXT COLLATE NOCASE, g TEXT COLLATE RTRIM, v INTEGER"
)
STRICT = (
    "i INTEGER, n INT, r REAL, t TEXT, x ANY, z BLOB, f TEXT COLLATE NOCASE, g TEXT COLLATE RTRIM, v INTEGER"
)
TABLES = {
    "a": (f"id INTEGER PRIMARY KEY, {COLUMNS}", "", "id"),
    "b": (f"id INTEGER NOT NULL, k INTEGER NOT NULL, {COLUMNS}, PRIMARY KEY (id)", "WITHOUT ROWID", "k"),
    "c": (f"id INTEGER, k INTEGER, {COLUMNS}", "", "k"),
    "s": (f"id INTEGER, {STRICT}", "STRICT", "id"),
}
BIG = 2**53
NUMBERS = (None, 0, 1, 1.0, 2, 2.5, -1, BIG, BIG + 1, float(BIG), 0.1, 1e300, -0.0, 2**63 - 1, -(2**63))
TEXTS = ("", "a", "A", "a ", "1", "1.0", " 1", "01", "0x1", "1e0", "9007199254740993", "é", 'q"')
BLOBS = (b"", b"1", b"a", b"\xff")
VALUES = (*NUMBERS, *TEXTS, *BLOBS)
POOLS = {
    "i": (*NUMBERS, 1, 1, 2, 2, 3, "1", "x", b"1"),
    "n": (*NUMBERS, 1, 2, "1.0", "x", b"1"),
    "r": (*NUMBERS, 1, 2.5, "0.1", "x"),
    "t": (*TEXTS, None, 1, 1.0, b"1", "a", "b"),
    "x": VALUES,
    "z": VALUES,
    "f": (*TEXTS, "B", "b", None),
    "g": (*TEXTS, "b", "b ", None),
    "v": (1, 2, 3, 4, 5, None),
}
WHOLE = (0, 1, 2, 3, -7, BIG, BIG + 1, None)
TAME = ("1", "01", "1.0", "a", "A", "a ", "", "é", 'q"', "\\", None)
TAME_POOLS = POOLS | {
    "i": WHOLE,
    "n": WHOLE,
    "r": (0.0, 1.0, 2.5, 0.1, 1 / 3, float(BIG), None),
    "t": TAME,
    "x": (*TAME, 0, 1, 2, BIG + 1),
    "z": (*TAME, 0, 1, 2),
}
STRICT_POOLS = POOLS | {
    "i": (0, 1, 1, 2, 3, BIG, BIG + 1, -(2**63), None),
    "n": (0, 1, 1, 2, 3, BIG, BIG + 1, None),
    "r": (0, 1, 2.5, 0.1, float(BIG), 1e300, None),
    "t": (*TEXTS, None),
    "z": (*BLOBS, None),
}


class MixedWorld:
    """`one` has all rows; `cluster` has them over `shards` files."""

    def __init__(
        self,
        folder: Path,
        shards: int,
        seed: int = 1,
        is_measured: bool = True,
        counts: tuple[int, ...] = (24, 30, 18, 20),
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.one = sqlite3.connect(":memory:", isolation_level=None)
        files = [sqlite3.connect(folder / f"s{n}.db") for n in range(shards)]
        for (name, (columns, options, key)), count in zip(TABLES.items(), counts, strict=True):
            rows = _rows(name, count, seed)
            at = 0 if key == "id" else 1
            _fill(self.one, name, columns, options, rows)
            for n, file in enumerate(files):
                _fill(file, name, columns, options, [row for row in rows if row[at] % shards == n])
        for file in files:
            file.commit()
            file.close()
        path = folder / "mixed.sql"
        path.write_text(_catalog(folder, shards), encoding="utf-8")
        self.cluster = shardwise.open(path)
        if is_measured:
            self.cluster.analyze()

    def close(self) -> None:
        self.cluster.close()
        self.one.close()


def _rows(name: str, count: int, seed: int) -> list[tuple[Any, ...]]:
    random = Random(f"{name} {seed}")
    pools = {"s": STRICT_POOLS, "c": TAME_POOLS}.get(name, POOLS)
    keys = ("id", "k") if TABLES[name][2] == "k" else ("id",)
    return [
        (i, *(random.randrange(6) for _ in keys[1:]), *(random.choice(pool) for pool in pools.values()))
        for i in range(1, count + 1)
    ]


def _fill(
    con: sqlite3.Connection, name: str, columns: str, options: str, rows: list[tuple[Any, ...]]
) -> None:
    con.execute(f"CREATE TABLE {name} ({columns}) {options}")
    if rows:
        con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _catalog(folder: Path, shards: int) -> str:
    places = {"a": "one", "s": "one", "b": "other", "c": "other"}
    tables = (
        f"ATTACH TABLE {name} ({columns.replace(' ANY', '')}) SHARD BY {places[name]} ({key});\n"
        for name, (columns, _, key) in TABLES.items()
    )
    return (
        "CREATE CATALOG mixed DIALECT sqlite;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL 'sqlite:///{folder}/s{{n}}.db';\n"
        f"CREATE SHARDING one USING MOD {shards} AS n ON s{{n}};\n"
        f"CREATE SHARDING other USING MOD {shards} AS n ON s{{n}};\n" + "".join(tables)
    )

"""EXACT keys of NOCASE and RTRIM columns against one SQLite: constants in any spelling."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import shardwise
from shardwise.catalog import Catalog, parse
from tests.oracle.compare import matching

KEYS = {
    "a": ("k TEXT COLLATE NOCASE, n INTEGER", "EXACT LOWER (k)", ("acme", "globex", "5", "", "a-1")),
    "b": ("k TEXT COLLATE NOCASE, n INTEGER", "EXACT LOWER (k)", ("acme", "globex", "zoe")),
    "e": ("k TEXT COLLATE NOCASE, n INTEGER", "EXACT UPPER (k)", ("ACME", "GLOBEX", "5")),
    "m": ("k TEXT COLLATE NOCASE, n INTEGER", "EXACT (k)", ("Acme", "GLOBEX", "Zoë", "5")),
    "t": ("k TEXT COLLATE RTRIM, n INTEGER", "EXACT (k)", ("Acme", "acme", "Zoë", "5")),
    "p": ("k TEXT COLLATE NOCASE, n INTEGER", "", ("acme", "ACME", "globex", "Globex")),
}
ASKED = ("acme", "ACME", "aCmE ", "ácme", "globex", "GLOBEX", "", " ", "5", "zoe", "Zoë", "nobody", "a_1")
STATEMENTS = [
    "SELECT k, n FROM a WHERE k = 5",
    "SELECT k, n FROM a WHERE k IN (5, 'ACME', NULL)",
    "SELECT k, n FROM a WHERE k IS 'ACME'",
    "SELECT k, n FROM a WHERE k IS NULL",
    "SELECT k, n FROM a WHERE k = 'ACME' COLLATE BINARY",
    "SELECT k, n FROM a WHERE k COLLATE BINARY = 'ACME'",
    "SELECT k, n FROM a WHERE 'ACME' = k",
    "SELECT k, n FROM a WHERE k LIKE 'ACME'",
    "SELECT k, n FROM a WHERE k > 'ACME'",
    "SELECT k, n FROM a WHERE k <> 'ACME'",
    "SELECT k, n FROM a WHERE upper(k) = 'ACME'",
    "SELECT a.n, b.n FROM a JOIN b ON a.k = b.k",
    "SELECT a.n, b.n FROM a LEFT JOIN b ON a.k = b.k AND b.k = 'Acme'",
    "SELECT a.n, b.n FROM a FULL JOIN b ON a.k = b.k",
    "SELECT coalesce(a.k, b.k) x, count(*) FROM a FULL JOIN b ON a.k = b.k GROUP BY 1",
    "SELECT a.n, e.n FROM a JOIN e ON a.k = e.k",
    "SELECT a.n, m.n FROM a JOIN m ON a.k = m.k",
    "SELECT a.n, p.n FROM a JOIN p ON a.k = p.k WHERE p.k = 'ACME'",
    "SELECT a.n, t.n FROM a JOIN t ON a.k = t.k",
    "SELECT t.n, a.n FROM t JOIN a ON t.k = a.k",
    "SELECT k, count(*) FROM a GROUP BY k",
    "SELECT k, count(*) FROM m GROUP BY k",
    "SELECT DISTINCT k FROM t",
    "SELECT count(DISTINCT k) FROM a",
    "SELECT lower(k), count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM e) GROUP BY k",
    "SELECT k, count(*) FROM (SELECT k FROM a UNION ALL SELECT k FROM b) GROUP BY k",
    "SELECT k FROM a INTERSECT SELECT k FROM b",
    "SELECT k FROM a EXCEPT SELECT k FROM b",
    "SELECT k, n FROM a WHERE k IN (SELECT k FROM b WHERE n = 1)",
]


class World:
    """`one` has all rows; `cluster` has them over files."""

    def __init__(self, folder: Path, shards: int) -> None:
        pick = random.Random(3).choice
        self.one = sqlite3.connect(":memory:")
        catalog = parse(_catalog(folder, shards))
        sharding = catalog.sharding("by_k").function
        files = [sqlite3.connect(folder / f"s{n}.db") for n in range(shards)]
        for name, (columns, _, keys) in KEYS.items():
            rows = [(pick((*keys, None)), pick([1, 2, 3])) for _ in range(25)]
            for shard, con in enumerate((self.one, *files), start=-1):
                con.execute(f"CREATE TABLE {name} ({columns})")
                mine = [row for row in rows if shard in (-1, sharding.slot((row[0],)))]
                con.executemany(f"INSERT INTO {name} VALUES (?, ?)", mine)
        for con in files:
            con.commit()
            con.close()
        self.catalog: Catalog = catalog
        self.cluster = shardwise.open(catalog)

    def compare(self, sql: str, params: Any = ()) -> None:
        with self.cluster.connect() as con, con.execute(sql, params) as cursor:
            found = [tuple(row) for row in cursor.fetchall()]
        assert matching(found, self.one.execute(sql, params).fetchall()) == ([], [])


def _catalog(folder: Path, shards: int) -> str:
    slots = ", ".join(f"s{n} = {n}" for n in range(shards))
    tables = (f"ATTACH TABLE {name} ({c}) SHARD BY by_k (k) {exact};" for name, (c, exact, _) in KEYS.items())
    return (
        "CREATE CATALOG world DIALECT sqlite;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL 'sqlite:///{folder}/s{{n}}.db';\n"
        f"CREATE SHARDING by_k USING HASH(crc32) SLOTS {shards} ({slots});\n" + "\n".join(tables)
    )


def _by_shards(number: int) -> str:
    return f"{number} shards"


@pytest.fixture(scope="module", params=(1, 2, 3, 7), ids=_by_shards)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("exact"), request.param)
    yield world
    world.cluster.close()
    world.one.close()


@pytest.mark.parametrize("table", ["a", "e", "t", "p"])
@pytest.mark.parametrize("asked", ASKED, ids=ascii)
def test_however_a_constant_is_spelled(world: World, table: str, asked: str) -> None:
    world.compare(f"SELECT k, n FROM {table} WHERE k = ?", (asked,))
    world.compare(f"SELECT k, n FROM {table} WHERE k = '{asked}' AND n > 1")
    world.compare(f"SELECT n, count(*) FROM {table} WHERE k IN ('{asked}', 'Acme') GROUP BY n")
    world.compare(f"SELECT count(*) FROM {table} WHERE k NOT IN ('{asked}') OR k IS NULL")


@pytest.mark.parametrize("sql", STATEMENTS)
def test_answers_of_exact_columns_are_one_files(world: World, sql: str) -> None:
    world.compare(sql)


def test_one_file_is_asked(world: World) -> None:
    with world.cluster.connect() as con:
        for table in ("a", "e", "m", "t"):
            plan = str(con.explain(f"SELECT n FROM {table} WHERE k = 'Acme'"))
            assert "f1 on 1 of" in plan, plan

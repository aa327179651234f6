"""Key lists in the sqlite dialect: beside values of any type a list finds what the join's own `=` does."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from itertools import product

import pytest

from shardwise.plan.run import Bound
from shardwise.planner.early_values import SQLITE_VALUES
from tests.oracle.sqlite_world import SQLiteWorld
from tests.oracle.test_sqlite_dialect import compare

KINDS = {
    "numeric": ("INTEGER", "BIGINT", "NUMERIC", "REAL", "DATE", "DECIMAL(9,2)"),
    "text": ("TEXT", "VARCHAR(20)"),
    "none": ("", "BLOB"),
}
VALUES = (
    *(None, 0, 1, -1, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 1.0, 1.5, float(2**53), float(2**62)),
    *(-0.0, 0.1, 1e300, 9007199254740993.0, "", " ", "a", "A", "a ", "1", "01", "1.0", " 1", "1 ", "1e1"),
    *(
        "0x10",
        "é",
        "e\u0301",
        "日本",
        "😀",
        "x\ty",
        "\\",
        "'",
        '"',
        "\x01",
        "2024-01-01",
        "inf",
        "nan",
        "1_0",
    ),
    *("-", "+", ".", "९", "１", "123456789012345678901234567890", "1" * 400, b"", b"a", b"1", b"\xff"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_finds_what_equal_columns_of_one_kind_do(kind: str) -> None:
    """For each value that travels, as the column keeps it, and each row of the other column."""
    checked = 0
    for mine, theirs in product(KINDS[kind], repeat=2):
        con = sqlite3.connect(":memory:")
        con.executescript(f"CREATE TABLE a (id, x {mine}); CREATE TABLE b (id, x {theirs});")
        for name in "ab":
            con.executemany(f"INSERT INTO {name} VALUES (?, ?)", list(enumerate(VALUES)))
        for has_index in (False, True):
            if has_index:
                con.execute("CREATE INDEX b_x ON b (x)")
            meets: dict[int, set[int]] = {}
            for one, other in con.execute("SELECT a.id, b.id FROM a JOIN b ON a.x = b.x"):
                meets.setdefault(one, set()).add(other)
            for id, value in con.execute("SELECT id, x FROM a WHERE x IS NOT NULL").fetchall():
                if not SQLITE_VALUES.keys_travel(Bound(("",), [(value,)]), 0):
                    continue
                keys = json.dumps([value, "none such"])
                found = con.execute("SELECT id FROM b WHERE x IN (SELECT value FROM json_each(?))", (keys,))
                assert {row[0] for row in found} == meets.get(id, set()), (mine, theirs, value)
                checked += 1
        con.close()
    assert checked > 100


@pytest.mark.parametrize("value", [1.5, b"a", "12", " 1e5 ", "inf", "a\x00b", "x" * 1_000_001])
def test_values_that_do_not_travel(value: object) -> None:
    assert not SQLITE_VALUES.keys_travel(Bound(("",), [(1,), (value,)]), 0)


# ------------------------------------------------------------------ over shards


@pytest.fixture(
    scope="module",
    params=[3, *(pytest.param(shards, marks=pytest.mark.slow) for shards in (1, 2, 7))],
    ids="{} shards".format,
)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteWorld]:
    world = SQLiteWorld(tmp_path_factory.mktemp("keys"), request.param)
    yield world
    world.close()


PAIRS = (
    """
t.k = u.v, t.k = u.t_id, t.id = u.v, t.qty = u.v, t.price = u.v, t.d = u.v, t.name = u.note, t.k = u.note,
t.any_ = u.note, t.b = u.note, t.any_ = u.v, t.b = u.v, t.qty = u.note, t.email = u.note, t.name = u.v
""".replace("\n", " ")
    .strip()
    .split(", ")
)
STATEMENTS = """
SELECT t.id, u.id, u.v FROM t JOIN u ON {} WHERE t.id < 9
SELECT t.id, u.id FROM t JOIN u ON {} WHERE u.id = 2
SELECT t.id, u.id FROM u LEFT JOIN t ON {} WHERE u.id = 1
SELECT t.id, u.v FROM t LEFT JOIN u ON {} AND u.id < 3 WHERE t.k = 3
SELECT t.k, count(*), count(u.note) FROM t JOIN u ON {} WHERE t.id BETWEEN 5 AND 20 GROUP BY t.k
SELECT t.id FROM t, u WHERE {} AND t.id IN (3, 4, 5)
SELECT t.id, r.n FROM t JOIN u ON {} JOIN r ON r.n = t.k WHERE t.id < 20
SELECT t.id, u.id FROM t JOIN (SELECT * FROM u WHERE id = 3) u ON {}
SELECT t.id FROM t JOIN u ON {} WHERE t.id < 0
SELECT t.id, (SELECT count(*) FROM u WHERE {} AND u.id < 3) FROM t WHERE t.id < 20
SELECT t.id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE {}) AND t.id < 9
""".strip().splitlines()
MEET = {
    "t.k = u.v",
    "t.k = u.t_id",
    "t.id = u.v",
    "t.qty = u.v",
    "t.price = u.v",
    "t.d = u.v",
    "t.name = u.note",
}


@pytest.mark.parametrize("pair", PAIRS)
def test_joins_answer_as_one_sqlite(world: SQLiteWorld, pair: str) -> None:
    """On three shards each statement in each way, on others in one of them, by turns."""
    forces: tuple[tuple[str, ...], ...] = ((), ("keys",), ("keys", "range", "broadcast"))
    is_three = len(list(world.cluster.catalog.shards())) == 3
    for number, line in enumerate(STATEMENTS, PAIRS.index(pair)):
        sql = line.format(pair)
        for force in forces if is_three else (forces[number % 3],):
            compare(world, sql, force=force)


@pytest.mark.parametrize("pair", PAIRS)
def test_keys_of_one_kind_of_affinity_go(world: SQLiteWorld, pair: str) -> None:
    if len(list(world.cluster.catalog.shards())) == 1:
        pytest.skip("all is on one shard")
    with world.cluster.connect(force=("keys",)) as connection:
        told = connection.execute(f"EXPLAIN {STATEMENTS[0].format(pair)}").fetchall()
    assert any("Runs first" in line for (line,) in told) is (pair in MEET), told


def test_groups_are_narrowed(world: SQLiteWorld) -> None:
    groups = "(SELECT v, count(*) AS n FROM u GROUP BY v) g"
    compare(world, f"SELECT t.id, g.n FROM t JOIN {groups} ON g.v = t.k WHERE t.id < 4", force=("keys",))
    compare(world, "SELECT id FROM t WHERE (SELECT count(*) FROM u WHERE u.v = t.k) = 3", force=("keys",))

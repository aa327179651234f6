"""Rows and keys that are joined by a shard key go each to its own shard, and find what all would.

Each type of key, spread over files and servers, against one DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.oracle.cluster import By, Cluster, Files, Table, hashed, mod
from tests.oracle.compare import matching
from tests.oracle.measured import statistics

KEYS: dict[str, tuple[str, list[Any]]] = {
    "i": ("INTEGER", [*range(-3, 9), 2**31 - 1]),
    "big": ("BIGINT", [0, -1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), 5, 6, 7]),
    "d": ("DECIMAL(9,2)", [Decimal(n) / 4 for n in range(-4, 9)]),
    "s": ("VARCHAR", ["", " ", "a", "A", "a ", "á", "a\u0301", "1", "01", "1.0", "ß", "ss", "x" * 40]),
    "day": ("DATE", [date(1969, 12, 31), date(1970, 1, 1), *(date(2024, 2, n) for n in range(20, 30))]),
    "at": (
        "TIMESTAMP",
        [datetime(1969, 12, 31, 23, 59, 59, 5), *(datetime(2024, 2, n) for n in range(1, 9))],
    ),
    "b": ("BOOLEAN", [True, False]),
}
STATEMENTS = (
    "SELECT m.n, f.id, f.k FROM {many} m JOIN {few} f ON m.k = f.k",
    "SELECT m.n, f.id FROM {many} m LEFT JOIN {few} f ON m.k = f.k AND f.id < 9",
    "SELECT m.n, f.id FROM {few} f RIGHT JOIN {many} m ON m.k = f.k WHERE m.n < 20",
    "SELECT m.n FROM {many} m SEMI JOIN {few} f ON m.k = f.k AND f.w = m.w",
    "SELECT m.n FROM {many} m ANTI JOIN {few} f ON m.k = f.k AND f.w = m.w",
    "SELECT m.n FROM {many} m WHERE EXISTS (SELECT 1 FROM {few} f WHERE f.k = m.k AND f.id > 3)",
    "SELECT m.n FROM {many} m WHERE NOT EXISTS (SELECT 1 FROM {few} f WHERE f.k = m.k AND f.id > 3)",
    "SELECT f.w, count(*), sum(m.n) FROM {many} m JOIN {few} f ON f.k = m.k GROUP BY f.w",
    "SELECT m.n, f.id, o.id FROM {many} m JOIN {few} f ON m.k = f.k JOIN {few} o ON o.w = f.w AND o.k = m.k",
    "SELECT m.n, p.n FROM {many} m JOIN {many} p ON m.k = p.k JOIN {few} f ON p.k = f.k AND p.w = f.w",
    "SELECT q.c, f.id FROM (SELECT k, count(*) c FROM {many} GROUP BY k) q JOIN {few} f ON q.k = f.k",
    "SELECT m.n, f.id FROM {many} m LEFT JOIN (SELECT * FROM {few} WHERE id < 0) f ON m.k = f.k",
    "SELECT m.n, f.id FROM {many} m JOIN {few} f ON m.k IS NOT DISTINCT FROM f.k AND m.w = f.w",
    "SELECT m.n, f.id FROM {many} m JOIN {few} f ON (m.k, m.w) = (f.k, f.w)",
    "SELECT n, id FROM (SELECT * FROM {many} WHERE n < 9 UNION ALL FROM {many}) m JOIN {few} f ON m.k = f.k",
)
FORCES = (("broadcast",), ("keys",), ("broadcast", "group_before_joins"))
WORLDS: tuple[tuple[Files, int], ...] = (
    ("duckdb", 3),
    ("sqlite", 2),
    ("servers", 4),
    ("duckdb", 7),
    ("duckdb", 1),
)


@pytest.fixture(
    scope="module",
    params=[*WORLDS[:3], *(pytest.param(world, marks=pytest.mark.slow) for world in WORLDS[3:])],
    ids=lambda world: f"{world[0]}-{world[1]}",
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    files, shards = request.param
    tables = []
    for name, (type_, values) in KEYS.items():
        columns = f"k {type_}, n INTEGER, w INTEGER"
        many = [(value, n, n % 3) for n, value in enumerate([*values, None] * 4)]
        few = [(value, n, n % 2) for n, value in enumerate([*values[::2], None, *values[::3], None])]
        tables += [
            Table(f"many_{name}", columns, By("by_key", "k"), many),
            Table(f"few_{name}", columns.replace("n INTEGER", "id INTEGER"), By("by_id", "id"), few),
        ]
    shardings = [hashed("by_key", "xxhash64", 21), mod("by_id")]
    made = Cluster.build(tmp_path_factory.mktemp("keys"), tables, shardings, shards=shards, files=files)
    told = (statistics(table.name, table.columns, table.rows) + "\n" for table in tables)
    made.catalog_path.with_name("cluster.lock.sql").write_text("".join(told), encoding="utf-8")
    yield made
    made.close()


@pytest.mark.parametrize(("turn", "column"), [*enumerate(KEYS)])
@pytest.mark.parametrize("force", FORCES, ids="-".join)
def test_answers_as_one_database(cluster: Cluster, turn: int, column: str, force: tuple[str, ...]) -> None:
    """By turns, of the types, every third statement."""
    for statement in STATEMENTS[turn % 3 :: 3]:
        sql = statement.format(many=f"many_{column}", few=f"few_{column}")
        expected = cluster.whole().execute(sql).fetchall()
        with cluster.session() as con, con.cursor() as cursor:
            cursor.execute(sql, force=force)
            assert matching(cursor.fetchall(), expected) == ([], []), sql


@pytest.mark.parametrize("column", KEYS)
def test_no_row_goes_to_two_shards(cluster: Cluster, column: str) -> None:
    """But one for each shard that has none of its own, for a list has a member at least."""
    if cluster.shards == 1:
        pytest.skip("one shard has all rows")
    with cluster.session() as con, con.cursor() as cursor:
        cursor.execute(STATEMENTS[0].format(many=f"many_{column}", few=f"few_{column}"), force=("broadcast",))
        came = cluster.whole().execute(f"SELECT count(*) FROM few_{column} WHERE k IS NOT NULL").fetchall()
        assert 0 < cursor.stats.rows_sent <= came[0][0] + cluster.shards - 1

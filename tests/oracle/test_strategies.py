"""Strategies taken wherever they can be, whatever they cost: the answer is one database's.

Each statement is asked by every second of them, by turns.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.oracle.cases import read
from tests.oracle.cluster import By, Cluster, Files, Table, mod, sizes
from tests.oracle.compare import answer_of, difference
from tests.oracle.generator import statement
from tests.oracle.harness import Stage, report, run
from tests.oracle.tpch import world as tpch
from tests.oracle.worlds import LETTERS, SHOP

FORCES = (
    ("keys",),
    ("keys", "range"),
    ("broadcast",),
    ("keys", "push_distinct", "group_before_joins"),
    ("broadcast", "group_before_joins"),
    ("keys", "group_on_shards"),
    ("broadcast", "group_on_shards"),
)
SIZES = [(shards, grain) for shards, grain in sizes() if shards > 1]
JOINING = ("JOIN", "EXISTS", " IN (")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "force"),
    [
        pytest.param(case, force, id=f"{case.title}-{'-'.join(force)}")
        for number, case in enumerate(read("tpch"))
        for force in FORCES[number % 2 :: 2]
    ],
)
def test_tpch_answers_alike_by_every_strategy(stage: Stage, case: Any, force: tuple[str, ...]) -> None:
    world = tpch(0.01)
    _compared(stage, world, case.sql, case.ordered, case.order_keys, 3, "shard", force)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "force", "files", "shards"),
    [
        pytest.param(case, (force,), files, shards, id=f"{case.title}-{force}-{files}")
        for number, case in enumerate(read("tpch"))
        for turn, (files, shards) in enumerate((("sqlite", 3), ("servers", 4)))
        for force in (("broadcast", "keys")[(number + turn) % 2],)
    ],
)
def test_tpch_answers_alike_where_rows_and_keys_go_to_other_products(
    stage: Stage, case: Any, force: tuple[str, ...], files: Files, shards: int
) -> None:
    world = tpch(0.01)
    _compared(stage, world, case.sql, case.ordered, case.order_keys, shards, "shard", force, files)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(41_000, 41_120))
def test_random_joins_answer_alike_by_every_strategy(stage: Stage, seed: int) -> None:
    world = (LETTERS, SHOP)[seed % 2]
    sql = statement(seed, world.name)
    if not any(word in sql for word in JOINING):
        pytest.skip("joins nothing")
    shards, grain = SIZES[seed % len(SIZES)]
    ordered = " ORDER BY " in sql and sql.rpartition(") z ORDER BY ")[1] != ""
    for force in FORCES[seed // 2 % 2 :: 2]:
        _compared(stage, world, sql, ordered, None, shards, grain, force)


def test_keys_of_rows_that_have_not_come_yet_wait(tmp_path: Path) -> None:
    """Keys of `a SEMI JOIN rows_1` ran beside rows_1, which no shard knew: now they run after it."""
    tables = [
        Table(name, "k INTEGER, x INTEGER, i INTEGER", By("by_k", "k"), [(n, n % 5, n % 3) for n in range(9)])
        for name in "abc"
    ]
    cluster = Cluster.build(tmp_path, tables, [mod("by_k")], shards=2)
    told = (
        "AT '2026-01-01T00:00:00Z' (x (DISTINCT {0}, NULLS 0, WIDTH 8), i (DISTINCT {0}, NULLS 0, WIDTH 8))"
    )
    lines = [
        f"STATISTICS {name} ROWS {rows} FROM SCAN {told.format(min(rows, 1000))};\n"
        for name, rows in (("a", 0), ("b", 100_000), ("c", 10))
    ]
    cluster.catalog_path.with_name("cluster.lock.sql").write_text("".join(lines))
    sql = (
        "SELECT a.k, (SELECT count(*) FROM b WHERE b.x = a.x) AS n FROM a "
        "WHERE EXISTS (SELECT 1 FROM c WHERE c.i = a.i AND c.k < 2)"
    )
    expected = answer_of(cluster.whole().execute(sql))
    for force in FORCES:
        with cluster.connect(force=force) as connection:
            assert difference(run(connection, sql), expected) is None


def _compared(  # type: ignore[no-untyped-def]
    stage, world, sql, ordered, order_keys, shards, grain, force, files="duckdb"
) -> None:
    expected = stage.right(world, sql)
    if isinstance(expected, Exception):
        pytest.skip("one database raises")
    with stage.connection(world, shards, grain, files=files).cursor() as cursor:
        cursor.execute(sql, force=force)
        actual = answer_of(cursor)
    problem = difference(actual, expected, ordered=ordered, order_keys=order_keys)
    report(problem, sql, shards, grain, actual, expected, f", force={force}, {files}")

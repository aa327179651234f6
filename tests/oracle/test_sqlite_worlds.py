"""The statements of the duckdb dialect that SQLite reads too, and TPC-H, against one SQLite."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from tests.oracle.cases import Case, read
from tests.oracle.cluster import Grain, turns
from tests.oracle.compare import Answer, difference
from tests.oracle.harness import Stage
from tests.oracle.sqlite_copies import SQLiteCopy
from tests.oracle.tpch import world as tpch_world
from tests.oracle.worlds import LETTERS, MEMBERS, SHOP, World

WORLDS = {world.name: world for world in (LETTERS, MEMBERS, SHOP)}
NARROW = [c for f in ("members", "forty") for c in read(f)]
BROAD = [c for f in ("joins", "subqueries", "queries", "aggregates") for c in read(f)]
SIZES: tuple[tuple[int, Grain], ...] = ((1, "shard"), (2, "slot"), (3, "shard"), (7, "shard"))
Copies = dict[tuple[str, int, Grain], SQLiteCopy]


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    made: Copies = {}
    yield made
    for copy in made.values():
        copy.close()


def copy_of(copies: Copies, stage: Stage, world: World, shards: int, grain: Grain) -> SQLiteCopy:
    key = (world.name, shards, grain)
    if key not in copies:
        duck = stage.cluster(world, shards, grain)
        folder = stage.folder / f"sqlite {world.name} {shards} {grain}"
        copies[key] = SQLiteCopy(folder, world, duck, shards, grain)
    return copies[key]


def compare(copy: SQLiteCopy, case: Case, sql: str, **options: Any) -> None:
    try:
        cursor = copy.one.execute(sql, case.params or ())
        expected = _answer(cursor)
    except sqlite3.Error as error:
        pytest.skip(f"SQLite does not read it: {error}")
    with copy.cluster.connect(**options).execute(sql, case.params or ()) as ours:
        actual = _answer(ours)
    if case.any or case.raises:  # a subquery of several rows: SQLite takes one of them
        assert len(actual.rows) == len(expected.rows)
        return
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys)
    assert problem is None, problem


def _answer(cursor: Any) -> Answer:
    names = tuple(column[0] for column in cursor.description)
    return Answer(names, ("",) * len(names), [tuple(row) for row in cursor.fetchall()])


RUNS = [
    pytest.param(case, shards, grain, id=f"{case.id}-{shards}-{grain}")
    for number, case in enumerate(NARROW + BROAD)
    for shards, grain in (SIZES if number < len(NARROW) else turns(number, SIZES, 1))
]


@pytest.mark.parametrize(("case", "shards", "grain"), RUNS)
def test_answers_as_one_sqlite_does(
    copies: Copies, stage: Stage, case: Case, shards: int, grain: Grain
) -> None:
    compare(copy_of(copies, stage, WORLDS[case.world], shards, grain), case, case.sql)


PASSES = ("push_filters", "prune_slots", "split_aggregates", "push_distinct", "push_limit")


@pytest.mark.parametrize("without", PASSES)
@pytest.mark.parametrize("case", read("members"), ids=lambda case: case.id)
def test_no_pass_is_needed_to_be_right(copies: Copies, stage: Stage, case: Case, without: str) -> None:
    copy = copy_of(copies, stage, WORLDS[case.world], 3, "shard")
    compare(copy, case, case.sql, disable_passes=(without,))


# -- TPC-H ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tpch() -> World:
    return tpch_world(0.001)


@pytest.mark.parametrize("shards", [1, 3, 7])
@pytest.mark.parametrize("case", read("tpch"), ids=lambda case: case.title)
def test_tpch(copies: Copies, stage: Stage, tpch: World, case: Case, shards: int) -> None:
    compare(copy_of(copies, stage, tpch, shards, "shard"), case, in_sqlite(case.sql))


def in_sqlite(sql: str) -> str:
    """TPC-H's dates as texts, and what SQL calls otherwise."""
    sql = re.sub(r"DATE '([\d-]+)'(?: ([+-]) INTERVAL '(\d+)' (\w+))?", _moved, sql)
    sql = re.sub(r"extract\(year FROM (\w+)\)", r"CAST(strftime('%Y', \1) AS INTEGER)", sql)
    sql = re.sub(r"substring\((\w+) FROM (\d) FOR (\d)\)", r"substr(\1, \2, \3)", sql)
    sql = sql.replace("c_custkey, count(o_orderkey)\n", "c_custkey, count(o_orderkey) AS c_count\n")
    return sql.replace("AS c_orders (c_custkey, c_count)", "AS c_orders")


def _moved(found: re.Match[str]) -> str:
    day = date.fromisoformat(found[1])
    if found[2]:
        count = int(found[3]) * (1 if found[2] == "+" else -1)
        if found[4] == "DAY":
            day = date.fromordinal(day.toordinal() + count)
        else:
            months = day.year * 12 + day.month - 1 + count * (12 if found[4] == "YEAR" else 1)
            day = day.replace(year=months // 12, month=months % 12 + 1)
    return f"'{day}'"

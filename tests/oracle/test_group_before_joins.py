"""Groups below joins, forced wherever they are right, against one database: random aggregates over trees of
joins, in each dialect, on 3 shards, and every third by turns on 1, 2 and 7."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from random import Random

import pytest

from shardwise.planner.group_before_joins import _Grouping, _Place
from tests.oracle.cluster import by_turns
from tests.oracle.compare import difference
from tests.oracle.grouped_joins import WORLD, statements
from tests.oracle.harness import Stage, report, run
from tests.oracle.mysql_world import MySQLWorld, copied
from tests.oracle.postgres_copies import PostgresCopy
from tests.oracle.sqlite_copies import SQLiteCopy
from tests.oracle.test_join_aggregates import compare

FORCED = ("group_before_joins",)
SHARDS = (1, 2, 3, 7)
COUNT = 90


@pytest.fixture(params=["all sides", "a side"])
def sides(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Forced, all sides of a join are grouped that may be; so is one alone here, and its rows met by rows."""
    if request.param == "a side":
        places = _Grouping._places
        monkeypatch.setattr(_Grouping, "_places", lambda self: _one_of(places(self)))
    return str(request.param)


def _one_of(places: list[_Place]) -> list[_Place]:
    return [Random(len(repr(places))).choice(places)] if places else []


@pytest.mark.parametrize("shards", SHARDS)
def test_in_duckdb(stage: Stage, shards: int, sides: str) -> None:
    more = ("FULL JOIN", "SEMI JOIN", "ANTI JOIN")
    cluster = stage.cluster(WORLD, shards, "shard")
    asked = by_turns(statements(3 + len(sides), COUNT, kinds=more, filters=True), shards)
    count = 0
    with closing(cluster.connect(force=FORCED, verify_passes=True, plan_cache=False)) as connection:
        for sql in asked:
            expected = stage.right(WORLD, sql)
            if isinstance(expected, Exception):
                continue  # a sum of texts, say
            count += 1
            actual = run(connection, sql)
            report(difference(actual, expected), sql, shards, "shard", actual, expected, f", {sides} grouped")
    assert count > len(asked) * 3 // 4


@pytest.mark.parametrize("shards", SHARDS)
def test_in_sqlite(stage: Stage, shards: int, sides: str) -> None:
    folder = stage.folder / f"sqlite joins grouped {shards} {sides}"
    with closing(SQLiteCopy(folder, WORLD, stage.cluster(WORLD, shards, "shard"), shards, "shard")) as copy:
        for sql in by_turns(statements(3 + len(sides), COUNT, filters=True), shards):
            compare(copy.cluster, copy.one.cursor(), sql, force=FORCED)


@pytest.fixture(scope="module", params=[3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7))])
def shards(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(scope="module")
def postgres_copy(stage: Stage, shards: int) -> Iterator[PostgresCopy]:
    with closing(PostgresCopy(WORLD, stage.cluster(WORLD, shards, "shard"), shards, "shard")) as copy:
        copy.one.autocommit = True
        yield copy


@pytest.fixture(scope="module")
def mysql_world(shards: int) -> Iterator[MySQLWorld]:
    with closing(MySQLWorld(shards, copied(WORLD))) as world:
        yield world


def test_in_postgres(postgres_copy: PostgresCopy, shards: int, sides: str) -> None:
    for sql in by_turns(statements(40 + len(sides), COUNT, kinds=("FULL JOIN",), filters=True), shards):
        compare(postgres_copy.cluster, postgres_copy.one.cursor(), sql, force=FORCED)


def test_in_mysql(mysql_world: MySQLWorld, shards: int, sides: str) -> None:
    with closing(mysql_world.one.cursor()) as one:
        for sql in by_turns(statements(50 + len(sides), COUNT), shards):
            compare(mysql_world.cluster, one, sql, force=FORCED)

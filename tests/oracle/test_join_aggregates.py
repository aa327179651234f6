"""Correlated aggregates of every form, in every place, against one database: in each dialect, with the pass
that makes joins of them and without; on 3 shards, and every third by turns on 1, 2 and 7.

Keys are NULL, repeated, of one side alone; groups are empty, or of NULLs only.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date
from decimal import Decimal
from itertools import product
from random import Random
from typing import Any

import psycopg
import pymysql
import pytest

import shardwise
from tests.oracle.cluster import By, Table, by_turns, mod
from tests.oracle.compare import Answer, difference
from tests.oracle.harness import Stage, report, run
from tests.oracle.mysql_world import MySQLWorld, copied
from tests.oracle.postgres_copies import PostgresCopy
from tests.oracle.sqlite_copies import SQLiteCopy
from tests.oracle.worlds import World

SHARDS = (1, 2, 3, 7)
COLUMNS = (
    "id BIGINT, g INTEGER, h BIGINT, d DECIMAL(9,2), day DATE, t VARCHAR, f DOUBLE, v INTEGER, w DECIMAL(9,2)"
)


def _rows(count: int, seed: int) -> list[tuple[Any, ...]]:
    pick = Random(seed).choice
    numbers = [None, 1, 2, 2, 3, 5, 8]
    prices = [None, *map(Decimal, ("1.00", "1.10", "2.25", "-0.50"))]
    days = [None, date(2024, 1, 1), date(2024, 2, 29), date(1999, 12, 31)]
    return [
        (
            i,
            pick([*numbers, seed + 10]),
            pick(numbers),
            pick([*prices, Decimal(seed)]),
            pick(days),
            pick([None, "1", "01", "x"]),
            pick([None, 0.5, 1.5, 2.0]),
            None if i % 5 == 0 else pick([0, 1, 2, 7, -3, 30000]),
            None if i % 7 == 0 else pick(prices),
        )
        for i in range(1, count + 1)
    ]


WORLD = World(
    "aggregates joined",
    [
        Table("a", COLUMNS, By("by_id", "id"), _rows(40, 1)),
        Table("b", COLUMNS, By("by_id", "id"), _rows(60, 2)),
        Table("n", COLUMNS, By("by_id", "id")),
    ],
    [mod("by_id")],
)
VALUES = [
    *(f"{f}(x.{c})" for f in ("sum", "avg", "min", "max", "count") for c in ("v", "w")),
    *("count(*)", "max(x.day)", "min(x.h)", "sum(x.h)"),
    *("0.5 * sum(x.w)", "avg(x.v) / 2", "count(*) + 1", "2 * avg(x.w)", "sum(x.v) - 1.5", "sum(x.v) / 4"),
]
"""What the subquery gives."""
REFUSED = [
    *("sum(x.v + 1)", "sum(DISTINCT x.v)", "avg(x.f)", "max(x.t)", "max(x.v) + 1", "max(x.v) - min(x.v)"),
    *("count(DISTINCT x.v)", "sum(x.v) + 7 * count(x.w)", "sum(CASE WHEN x.v > 1 THEN 1 ELSE 0 END)"),
]
LINKS = [
    *("x.g = a.g", "x.h = a.g", "x.d = a.d", "x.day = a.day", "x.g = a.g AND x.h = a.h"),
    *("x.g = a.g AND x.v > 1", "x.g = a.g AND x.g = a.h", "x.g = a.h AND x.h = a.h AND x.w IS NOT NULL"),
    *("a.g = x.g AND x.day >= DATE '2000-01-01'", "x.id = a.g AND x.t LIKE '%1'"),
]
"""What links it to the row."""
LOOSE = ["x.t = a.t", "x.f = a.f", "x.g = a.g + 1", "x.g > a.g", "x.g = a.g OR x.h = a.h", "x.d = a.v"]
SOURCES = ["b x", "b x", "n x", "b x JOIN b y ON y.id = x.h", "(SELECT * FROM b WHERE v IS NOT NULL) x"]
PLACES = [
    "SELECT a.id, ({q}) AS s FROM a",
    "SELECT a.id FROM a WHERE a.v < ({q})",
    "SELECT a.id, a.g FROM a WHERE a.w >= ({q}) AND a.id > 3",
    "SELECT a.id FROM a WHERE a.v = ({q}) OR a.id = 3",
    "SELECT a.id FROM a WHERE NOT a.v < ({q})",
    "SELECT a.id FROM a WHERE ({q}) IS NULL",
    "SELECT a.id FROM a WHERE coalesce(({q}), 0) = 0",
    "SELECT a.id FROM a WHERE a.v BETWEEN 0 AND ({q})",
    "SELECT DISTINCT a.g AS g FROM a WHERE a.v <> ({q})",
    "SELECT sum(a.v) AS s FROM a WHERE a.v <= ({q})",
    "SELECT a.id FROM a WHERE a.v < ({q}) UNION ALL SELECT a.id FROM a WHERE a.v > ({q})",
    "SELECT q.id FROM (SELECT a.id, ({q}) AS s FROM a) q WHERE q.s > 1",
    "SELECT a.id, o.id AS o FROM b o LEFT JOIN a ON a.id = o.h WHERE a.v < ({q}) OR a.id IS NULL",
    "SELECT a.id FROM a WHERE a.v < ({q}) AND a.w < ({q})",
    "SELECT a.id FROM a WHERE a.id IN (SELECT a.h FROM a WHERE a.v < ({q}))",
    "SELECT a.id FROM a WHERE CASE WHEN a.v > 1 THEN ({q}) ELSE 0 END > 1",
    "SELECT a.id FROM a WHERE ({q}) IN (1, 2, 7)",
    "SELECT a.id, ({q}) AS s FROM a ORDER BY s, a.id LIMIT 9",
    "SELECT a.id FROM a WHERE a.g = 2 AND a.v < ({q})",
    "SELECT a.id, ({q}) AS s FROM a WHERE a.h IN (1, 5)",
    "SELECT a.id FROM a JOIN b o ON o.id = a.h WHERE o.g = 3 AND a.v < ({q})",
    "SELECT a.id, ({q}) AS s FROM a WHERE a.id IN (SELECT n.id FROM n WHERE n.g = 2)",
]


def statements(every: int) -> list[str]:
    """Every so many of all, always the same."""
    found = [
        place.format(q=f"SELECT {value} FROM {source} WHERE {link}")
        for place, value, link, source in product(PLACES, VALUES + REFUSED, LINKS + LOOSE, SOURCES)
    ]
    return Random(7).sample(found, len(found) // every)


@pytest.mark.parametrize("shards", SHARDS)
def test_in_duckdb(stage: Stage, shards: int) -> None:
    for number, sql in enumerate(by_turns(statements(300), shards)):
        expected = stage.right(WORLD, sql)
        if isinstance(expected, Exception):
            continue  # no number, or one out of range
        off = (("join_aggregates",), ("narrow_groups",))[number % 2]
        for without in ((), off) if shards == 3 else ((),):
            actual = run(stage.connection(WORLD, shards, "shard", without), sql)
            report(difference(actual, expected), sql, shards, "shard", actual, expected, str(without))


@pytest.mark.parametrize("shards", SHARDS)
def test_in_sqlite(stage: Stage, shards: int) -> None:
    folder = stage.folder / f"sqlite aggregates joined {shards}"
    with closing(SQLiteCopy(folder, WORLD, stage.cluster(WORLD, shards, "shard"), shards, "shard")) as copy:
        for sql in by_turns(statements(600), shards):
            compare(copy.cluster, copy.one.cursor(), sql.replace("DATE '", "'"))


@pytest.fixture(scope="module", params=[3, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 7))])
def shards(request: pytest.FixtureRequest) -> int:
    return int(request.param)


def test_in_postgres(stage: Stage, shards: int) -> None:
    duck = stage.cluster(WORLD, shards, "shard")
    with closing(PostgresCopy(WORLD, duck, shards, "shard")) as copy:
        copy.one.autocommit = True
        for sql in by_turns(statements(400), shards):
            compare(copy.cluster, copy.one.cursor(), sql)


def test_in_mysql(shards: int) -> None:
    with closing(MySQLWorld(shards, copied(WORLD))) as world, closing(world.one.cursor()) as one:
        for sql in by_turns(statements(400), shards):
            compare(world.cluster, one, sql)


def compare(cluster: shardwise.Cluster, one: Any, sql: str, **options: Any) -> None:
    """What one database refuses, by type or by value, is no case."""
    try:
        one.execute(sql)
    except (sqlite3.Error, psycopg.Error, pymysql.Error):
        return
    expected = _answer(one)
    with cluster.connect(**options) as con, con.execute(sql) as cursor:
        problem = difference(_answer(cursor), expected)
    assert problem is None, f"{sql}\n{problem}"


def _answer(cursor: Any) -> Answer:
    names = tuple(column[0] for column in cursor.description)
    return Answer(names, ("",) * len(names), [tuple(row) for row in cursor.fetchall()])

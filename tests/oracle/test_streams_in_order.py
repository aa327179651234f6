"""Streams of shards merged in order in the mysql, postgres and sqlite dialects: the order one server gives.

Each value that is written, or compared, in a way of its own is there: blanks at the end under `_bin`, days
that no calendar has, infinite ones and those before Christ, NaN, zones, cells of any class.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import shardwise
from shardwise.catalog import parse
from tests.oracle.mysql_world import MySQLWorld, Table
from tests.servers import postgres
from tests.servers.running import new_name

SHARDS = [1, 3, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 7))]
Row = tuple[Any, ...]
Rows = list[Row]
Ask = Callable[[str], Rows]


def compare(con: shardwise.Connection, one: Ask, columns: list[str], seed: int, *, nulls: bool) -> int:
    """How many statements' streams were merged without a merge."""
    rng = random.Random(seed)
    merged = 0
    for _ in range(40):
        keys = [*rng.sample(columns, rng.choice((1, 1, 2, 3))), "id"]
        ends = ("", "", " NULLS FIRST", " NULLS LAST") if nulls else ("",)
        order = ", ".join(f"{key}{rng.choice(('', ' DESC'))}{rng.choice(ends)}" for key in keys)
        shown = rng.choice(("id", "*", ", ".join(rng.sample(columns, 2)), f"{columns[0]} AS id2, id AS k"))
        where = rng.choice(("", "", " WHERE id > 40", " WHERE id < 0"))
        page = rng.choice(("", " LIMIT 7", " LIMIT 20 OFFSET 9", " LIMIT 0", " LIMIT 500 OFFSET 55"))
        sql = f"SELECT {shown} FROM {rng.choice(('v', 'v', 'few'))}{where} ORDER BY {order}{page}"
        wanted = one(sql)
        with con.execute(sql) as cursor:
            found = cursor.fetchmany(3) + cursor.fetchall()
            assert repr(list(map(tuple, found))) == repr(wanted), sql
        told = con.execute(f"EXPLAIN {sql}").fetchall()
        if any("in order of" in line for (line,) in told):
            merged += 1
            assert cursor.stats.merged_on is None
    return merged


def placed(rows: Rows, shards: int) -> list[Rows]:
    return [[row for row in rows if row[0] % shards == n] for n in range(shards)]


# -- mysql ----------------------------------------------------------------------------------------

MYSQL_COLUMNS = {
    "n": "INT",
    "big": "BIGINT UNSIGNED",
    "price": "DECIMAL(30,6)",
    "f": "DOUBLE",
    "d": "DATE",
    "at": "DATETIME(6)",
    "ts": "TIMESTAMP NULL",
    "bin": "VARCHAR(12) COLLATE utf8mb4_bin",
    "nopad": "VARCHAR(12) COLLATE utf8mb4_nopad_bin",
    "fixed": "CHAR(6) COLLATE ascii_bin",
    "flag": "BOOLEAN",
}
MYSQL_DDL = f"id INT PRIMARY KEY, {', '.join(f'{n} {t}' for n, t in MYSQL_COLUMNS.items())}"
TEXTS = [None, "a", "a ", "a\t", "a\x01", "A", "b", "", " ", "ab", "é", "\uffff", "\U0001f600", "z" * 12]


def mysql_rows(seed: int, ids: range) -> Rows:
    pick = random.Random(seed).choice
    return [
        (
            i,
            pick([None, 0, 1, 1, -5, 2**31 - 1, -(2**31)]),
            pick([None, 0, 9, 10, 2**63, 2**64 - 1]),
            pick([None, Decimal("1.1"), Decimal("-0.5"), Decimal(10) ** 20, Decimal("-1") * 10**20, 9, 10]),
            pick([None, 0.0, -0.0, 1.5, 0.1, 0.30000000000000004, 1e300, -1e300, 5e-324]),
            pick([None, "2024-02-29", "1000-01-01", "9999-12-31", "0000-00-00", "2024-00-00"]),
            pick([None, "2024-02-29 23:59:59.123456", "2024-02-29 23:59:59", "0000-00-00 00:00:00"]),
            pick([None, "2024-10-27 00:30:00", "2024-10-27 01:30:00", "2038-01-01 00:00:00"]),
            pick([*TEXTS, "a\0", "a\0b"]),
            pick([*TEXTS, "a\0", "a\0b"]),
            pick([None, "a", "a\t", "B", "", "abcdef"]),
            pick([None, 0, 1, 7]),
        )
        for i in ids
    ]


@pytest.fixture(scope="module", params=SHARDS)
def mysql(request: pytest.FixtureRequest) -> Iterator[MySQLWorld]:
    place = "SHARD BY by_id (id)"
    world = MySQLWorld(
        request.param,
        {
            "v": Table(MYSQL_DDL, place, mysql_rows(1, range(90)), 0),
            "few": Table(MYSQL_DDL, place, mysql_rows(2, range(0, 1890, 21)), 0),
        },
    )
    yield world
    world.close()


@pytest.mark.parametrize("requests", [{}, {"requests_max": 1, "requests_per_source_max": 1}])
def test_mysql(mysql: MySQLWorld, requests: dict[str, Any]) -> None:
    with mysql.cluster.connect(verify_passes=True, **requests) as con:
        merged = compare(con, lambda sql: mysql.expected(sql)[1], list(MYSQL_COLUMNS), 3, nulls=False)
    assert merged > 30 or len(mysql.databases) == 2


def test_orders_of_mysql_that_are_not_trusted(mysql: MySQLWorld) -> None:
    """TIMESTAMP where clocks are put back, and what is computed."""
    for order, options in (("ts, id", {"time_zone": "Europe/Berlin"}), ("n + 1, id", {})):
        with mysql.cluster.connect(**options) as con:
            told = con.execute(f"EXPLAIN SELECT id FROM v ORDER BY {order}").fetchall()
            assert not any("in order of" in line for (line,) in told)


PAGE_ORDERS = ["nopad, id", "nopad DESC, id DESC", "bin, nopad, id", "CONCAT(nopad), id"]


@pytest.mark.parametrize("order", PAGE_ORDERS)
def test_no_page_is_sought_by_texts_that_sort_otherwise_than_they_compare(
    mysql: MySQLWorld, order: str
) -> None:
    """The rows after ('a\\0', 1) are none of ('a', 2)'s, which comes next in the order."""
    sql = f"SELECT id FROM v ORDER BY {order} LIMIT 5"
    with mysql.cluster.connect(force=("seek_pages",)) as con:
        with con.cursor() as cursor, pytest.raises(shardwise.NotSupportedError, match="sort as equal"):
            cursor.execute(sql, pages=True)
        for offset in range(0, 90, 5):
            paged = f"{sql} OFFSET {offset}"
            assert list(map(tuple, con.execute(paged).fetchall())) == mysql.expected(paged)[1], paged


# -- postgres -------------------------------------------------------------------------------------

POSTGRES_COLUMNS = {
    "n": "integer",
    "big": "bigint",
    "price": "numeric(30,6)",
    "f": "double precision",
    "b": "boolean",
    "d": "date",
    "at": "timestamp",
    "tz": "timestamptz",
    "c": 'text COLLATE "C"',
    "vc": 'varchar(12) COLLATE "POSIX"',
    "u": "uuid",
}
POSTGRES_DDL = f"id integer PRIMARY KEY, {', '.join(f'{n} {t}' for n, t in POSTGRES_COLUMNS.items())}"


def postgres_rows(seed: int, ids: range) -> Rows:
    pick = random.Random(seed).choice
    moments = ["2024-02-29 23:59:59.123456", "2024-02-29 23:59:59", "infinity", "-infinity"]
    far = [
        "0044-03-15 12:00:00 BC",
        "0001-12-31 00:00:00 BC",
        "12000-01-01 00:00:00",
        "294276-12-31 23:59:59",
    ]
    return [
        (
            i,
            pick([None, 0, 1, 1, -5, 2**31 - 1, -(2**31)]),
            pick([None, 0, 9, 10, 2**63 - 1, -(2**63)]),
            pick([None, "1.1", "-0.5", "NaN", "9" * 24, "-" + "9" * 24, "9", "10"]),
            pick(
                [
                    None,
                    "0",
                    "-0",
                    "1.5",
                    "0.1",
                    "0.30000000000000004",
                    "NaN",
                    "Infinity",
                    "-Infinity",
                    "5e-324",
                ]
            ),
            pick([None, True, False]),
            pick(
                [None, "2024-02-29", "0044-03-15 BC", "12000-01-01", "infinity", "-infinity", "5874897-12-31"]
            ),
            pick([None, *moments, *far]),
            pick(
                [
                    None,
                    *(f"{m}+02" if m[-1].isdigit() else m for m in moments),
                    "1900-01-01 00:00:00+00:19:32",
                ]
            ),
            pick(TEXTS),
            pick(TEXTS),
            pick([None, "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "ffffffff-0000-0000-0000-000000000000"]),
        )
        for i in ids
    ]


class PostgresDatabases:
    """Values are shown as texts: Python has no objects for them."""

    def __init__(self, shards: int) -> None:
        self.server = postgres()
        self.names = [new_name("order") for _ in range(shards + 1)]
        self.rows = {"v": postgres_rows(1, range(90)), "few": postgres_rows(2, range(0, 1890, 21))}
        for number, name in enumerate(self.names):
            self.server.database(*(f"CREATE TABLE {t} ({POSTGRES_DDL})" for t in self.rows), name=name)
            for table, rows in self.rows.items():
                mine = rows if number == shards else placed(rows, shards)[number]
                self.server.insert(name, table, mine)
        sources = "".join(
            f"CREATE SOURCE s{n} URL '{self.server.url(name)}';\n" for n, name in enumerate(self.names[:-1])
        )
        tables = "".join(f"ATTACH TABLE {t} ({POSTGRES_DDL}) SHARD BY by_id (id);\n" for t in self.rows)
        text = (
            f"CREATE CATALOG world DIALECT postgres;\n{sources}"
            f"CREATE SHARDING by_id USING MOD {shards} AS n ON s{{n}};\n{tables}"
        )
        self.cluster = shardwise.open(parse(text), secrets=lambda _: self.server.password)
        self.one = self.server.connect(self.names[-1])

    def close(self) -> None:
        self.cluster.close()
        self.one.close()
        for name in self.names:
            self.server.run(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture(scope="module", params=SHARDS)
def databases(request: pytest.FixtureRequest) -> Iterator[PostgresDatabases]:
    made = PostgresDatabases(request.param)
    yield made
    made.close()


@pytest.mark.parametrize("zone", ["UTC", "America/St_Johns"])
def test_postgres(databases: PostgresDatabases, zone: str) -> None:
    def one(sql: str) -> Rows:
        with databases.one.cursor() as cursor:
            cursor.execute(f"SET TIME ZONE '{zone}'")
            return [tuple(row) for row in cursor.execute(sql).fetchall()]

    rng = random.Random(4)
    merged = 0
    with databases.cluster.connect(verify_passes=True, time_zone=zone) as con:
        for _ in range(40):
            keys = [*rng.sample(list(POSTGRES_COLUMNS), rng.choice((1, 1, 2, 3))), "id"]
            order = ", ".join(
                f"{key}{rng.choice(('', ' DESC'))}{rng.choice(('', '', ' NULLS FIRST', ' NULLS LAST'))}"
                for key in keys
            )
            page = rng.choice(("", " LIMIT 7", " LIMIT 20 OFFSET 9", " LIMIT 500 OFFSET 55"))
            table = rng.choice(("v", "v", "few"))
            sql = f"SELECT id, c, {keys[0]}::text AS shown FROM {table} ORDER BY {order}{page}"
            assert list(map(tuple, con.execute(sql).fetchall())) == one(sql), sql
            told = con.execute(f"EXPLAIN {sql}").fetchall()
            merged += any("in order of" in line for (line,) in told)
    assert merged > 30 or len(databases.names) == 2


# -- sqlite ---------------------------------------------------------------------------------------

SQLITE_COLUMNS = ["i", "t", "no", "rt", "anything"]
SQLITE_DDL = "id INTEGER PRIMARY KEY, i INTEGER, t TEXT, no TEXT COLLATE NOCASE, rt COLLATE RTRIM, anything"


def sqlite_rows(seed: int, ids: range) -> Rows:
    pick = random.Random(seed).choice
    cells = [
        None,
        1,
        2**53 + 1,
        float(2**53),
        2.5,
        -(2**63),
        1e300,
        -1e300,
        "x",
        "10",
        "9",
        b"",
        b"\xff",
        b"a",
    ]
    texts = [*TEXTS, "a\0b", "A\0c", "Ab\0", "É", 5, b"a"]
    return [(i, pick(cells), pick(texts), pick(texts), pick(texts), pick(cells)) for i in ids]


@pytest.mark.parametrize("shards", [1, 2, 3, 7])
def test_sqlite(shards: int, tmp_path: Path) -> None:
    rows = {"v": sqlite_rows(1, range(90)), "few": sqlite_rows(2, range(0, 1890, 21))}
    for number in range(shards + 1):
        with closing(sqlite3.connect(tmp_path / f"s{number}.db", isolation_level=None)) as con:
            for table, all_ in rows.items():
                con.execute(f"CREATE TABLE {table} ({SQLITE_DDL})")
                mine = all_ if number == shards else placed(all_, shards)[number]
                con.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", mine)
    catalog = (
        "CREATE CATALOG world DIALECT sqlite;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL 'sqlite:///{tmp_path}/s{{n}}.db';\n"
        f"CREATE SHARDING by_id USING MOD {shards} AS n ON s{{n}};\n"
        + "".join(f"ATTACH TABLE {table} ({SQLITE_DDL}) SHARD BY by_id (id);\n" for table in rows)
    )
    with (
        closing(sqlite3.connect(tmp_path / f"s{shards}.db")) as whole,
        shardwise.open(parse(catalog)) as cluster,
        cluster.connect(force=("merge_sorted",), verify_passes=True) as con,
    ):
        merged = compare(con, lambda sql: whole.execute(sql).fetchall(), SQLITE_COLUMNS, 5, nulls=True)
    assert merged > 30 or shards == 1

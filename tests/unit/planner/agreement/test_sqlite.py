"""What fragments for SQLite look like and cost: indexes are used, Python is not called for what SQLite can
tell."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.plan.run import Request
from shardwise.planner import Planner

CATALOG = parse("""
    CREATE CATALOG x DIALECT duckdb;
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.db';
    CREATE SHARDING by_k USING MOD 2 ON s{slot};
    CREATE TABLE t (k BIGINT, n INTEGER, s VARCHAR, d DECIMAL(9,2), day DATE, seen TIMESTAMP, x DOUBLE, b
    BOOLEAN)
      SHARD BY by_k (k);
    CREATE TABLE u (k BIGINT, n INTEGER, s VARCHAR, made TIMESTAMP EPOCH SECONDS) SHARD BY by_k (k);
""")


class File:
    """A SQLite file of the catalog's tables; `calls` are the values that Python was asked about."""

    def __init__(self) -> None:
        self.con = sqlite3.connect(":memory:")
        self.calls: list[Any] = []
        self.con.create_function("shardwise_value", 4, self._value, deterministic=True)
        self.con.executescript("""
            CREATE TABLE t (k BIGINT, n INTEGER, s TEXT, d NUMERIC, day TEXT, seen TEXT, x REAL, b BOOLEAN);
            CREATE TABLE u (k BIGINT, n INTEGER, s TEXT, made INTEGER);
            CREATE INDEX t_k ON t (k); CREATE INDEX t_n ON t (n); CREATE INDEX t_s ON t (s);
            CREATE INDEX t_day ON t (day); CREATE INDEX t_seen ON t (seen); CREATE INDEX u_k ON u (k);
        """)
        days = [f"2026-01-{k % 28 + 1:02}" for k in range(200)]
        rows = [
            (k, k % 5, f"name {k}", k / 4, day, f"{day} 10:00:00", k / 2, k % 2) for k, day in enumerate(days)
        ]
        self.con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        self.con.executemany(
            "INSERT INTO u VALUES (?, ?, ?, ?)", [(k, k, "x", 86400 * k) for k in range(200)]
        )

    def _value(self, table: str, column: str, type_: str, value: Any) -> Any:
        if value is not None:
            self.calls.append((column, value))
        return value

    def ask(self, sql: str, *params: Any) -> list[tuple[Any, ...]]:
        request = sent(sql, *params)
        return self.con.execute(request.sql, request.params).fetchall()

    def plan(self, sql: str, *params: Any) -> str:
        request = sent(sql, *params)
        rows = self.con.execute(f"EXPLAIN QUERY PLAN {request.sql}", request.params).fetchall()
        return " · ".join(row[3] for row in rows)


def sent(sql: str, *params: Any) -> Request:
    """What the first shard is sent."""
    return next(Planner(CATALOG).prepare(sql).plan(list(params)).start().ready())


@pytest.fixture
def file() -> Iterator[File]:
    made = File()
    yield made
    made.con.close()


@pytest.mark.parametrize(
    ("condition", "params", "index"),
    [
        ("k = 4", [], "t_k (k=?)"),
        ("k = ?", [4], "t_k (k=?)"),
        ("n = ?", [3], "t_n (n=?)"),
        ("n = 3 AND s = 'name 3'", [], "=?)"),
        ("k IN (2, 4, 6)", [], "t_k (k=?)"),
        ("k > 190", [], "t_k (k>?)"),
        ("k BETWEEN 10 AND 20", [], "t_k (k>? AND k<?)"),
        ("s = 'name 8'", [], "t_s (s=?)"),
        ("s = ?", ["name 8"], "t_s (s=?)"),
        ("s LIKE 'name 8%'", [], "t_s (s>? AND s<?)"),
        ("day = DATE '2026-01-05'", [], "t_day (day=?)"),
        ("day >= ?", [date(2026, 1, 20)], "t_day (day>?)"),
        ("seen >= TIMESTAMP '2026-01-05 10:00:00'", [], "t_seen (seen>?)"),
        ("seen < ?", [datetime(2026, 1, 3)], "t_seen (seen<?)"),
        ("k = 4 OR k = 6", [], "t_k (k=?)"),
    ],
)
def test_an_index_is_used(file: File, condition: str, params: list[Any], index: str) -> None:
    assert index in file.plan(f"SELECT k, n FROM t WHERE {condition}", *params)


def test_a_colocated_join_is_by_the_index(file: File) -> None:
    plan = file.plan("SELECT t.s, u.n FROM t JOIN u ON u.k = t.k WHERE t.k = 6")
    assert "t_k (k=?)" in plan
    assert "u_k (k=?)" in plan
    assert "u_k (k=?)" in file.plan("SELECT t.s FROM t LEFT JOIN u ON u.k = t.k")
    looked_up = "SELECT s FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.n > 3)"
    assert "u_k (k=?)" in file.plan(looked_up)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n, count(*), sum(n), min(s), max(day), max(seen), sum(d), min(x) FROM t GROUP BY n",
        "SELECT DISTINCT s, day, b FROM t",
        "SELECT t.s FROM t JOIN u ON t.k = u.k AND t.n = u.n",
        "SELECT s FROM t WHERE d > 1.005 AND seen < TIMESTAMP '2026-01-20' AND b ORDER BY seen LIMIT 3",
        "SELECT made FROM u WHERE made > TIMESTAMP '1970-01-05'",
    ],
)
def test_values_of_their_usual_form_do_not_reach_python(file: File, sql: str) -> None:
    assert file.ask(sql)
    assert file.calls == []


@pytest.mark.parametrize(
    ("column", "value", "sql"),
    [
        ("n", "many", "SELECT sum(n) FROM t"),
        ("n", "many", "SELECT k FROM t WHERE n > 3"),
        ("n", "many", "SELECT k FROM t WHERE NOT n = 3"),
        ("n", 2**40, "SELECT k FROM t WHERE n >= 3 ORDER BY n LIMIT 1"),
        ("n", 1.5, "SELECT n, count(*) FROM t GROUP BY n"),
        ("s", b"\x01", "SELECT max(s) FROM t"),
        ("d", 12.345, "SELECT sum(d) FROM t"),
        ("d", 0.125, "SELECT sum(d) FROM t"),
        ("day", "2026-02-30", "SELECT k FROM t WHERE day > DATE '2026-02-01'"),
        ("seen", "yesterday", "SELECT k FROM t WHERE seen > TIMESTAMP '2026-02-01 00:00:00'"),
        ("x", "fast", "SELECT min(x) FROM t"),
        ("b", 7, "SELECT count(*) FROM t WHERE b"),
    ],
)
def test_what_does_not_fit_reaches_python_which_refuses_it(
    file: File, column: str, value: Any, sql: str
) -> None:
    file.con.execute(f"UPDATE t SET {column} = ? WHERE k = 7", (value,))
    file.ask(sql)
    assert (column, value) in file.calls


def test_a_row_that_is_not_wanted_is_not_looked_at(file: File) -> None:
    file.con.execute("UPDATE t SET n = 'many' WHERE k = 7")
    assert file.ask("SELECT n FROM t WHERE k = 8")
    assert file.ask("SELECT k FROM t WHERE n = 3")
    assert file.calls == []


@pytest.mark.parametrize(
    ("condition", "params", "expected"),
    [
        ("d > 2.005", [], "> 200"),
        ("d >= 2.005", [], ">= 201"),
        ("d < ?", [Decimal("2.005")], 201),
        ("d = ?", [Decimal("2.005")], 0.5),
        ("d = 2", [], "= 200"),
        ("NOT n > 2.5", [], "> 2)"),
        ("NOT n < 2.5", [], "< 3)"),
        ("NOT n = 99999999999999999999", [], "= 9e999"),
    ],
)
def test_constants_in_canonical_form(condition: str, params: list[Any], expected: object) -> None:
    request = sent(f"SELECT k FROM t WHERE {condition}", *params)
    if isinstance(expected, str):
        assert expected in request.sql
    else:
        assert list(request.params.values()) == [expected]


def test_parameters_are_bound_and_not_written() -> None:
    request = sent(
        "SELECT k FROM t WHERE s = ? AND d > ? AND seen >= ?", "it", Decimal("1.50"), datetime(2026, 1, 2, 3)
    )
    assert "it" not in request.sql.replace("' IS", "").split()
    assert sorted(map(str, request.params.values())) == [
        "150",
        "2026-01-02",
        "2026-01-02 03:00:00.000000",
        "it",
    ]


def test_columns_are_named_so_that_text_is_never_taken_for_numbers() -> None:
    """A column that is encoded begins with #, and no other does."""
    request = sent('SELECT sum(d) AS total, min(d) AS "#least", max(s) AS "#name" FROM t WHERE k = 2')
    assert 'AS "#total"' in request.sql
    assert 'AS "##least"' in request.sql
    assert 'AS "_#name"' in request.sql

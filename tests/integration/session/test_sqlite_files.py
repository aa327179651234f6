"""The duckdb dialect over SQLite files, end to end: errors, keys that travel, EXPLAIN of the sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from enum import Enum
from math import inf, isnan
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import numpy as np
import pytest

import shardwise

CATALOG = """
CREATE CATALOG x DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'sqlite:///s{n}.db';
CREATE SHARDING by_k USING MOD 2 ON s{slot};
CREATE SHARDING by_name USING HASH(crc32) SLOTS 2 (s0 = 0, s1 = 1);
CREATE TABLE t (k BIGINT, n INTEGER, s VARCHAR, d DECIMAL(9,2), made TIMESTAMP EPOCH SECONDS)
  SHARD BY by_k (k);
CREATE TABLE names (s VARCHAR, big BIGINT) SHARD BY by_name (s);
"""
TABLES = """
CREATE TABLE t (k BIGINT, n INTEGER, s TEXT COLLATE NOCASE, d TEXT, made INTEGER);
CREATE TABLE names (s TEXT, big BIGINT);
"""


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "cluster.sql").write_text(CATALOG)
    for n in range(2):
        with sqlite3.connect(tmp_path / f"s{n}.db") as made:
            made.executescript(TABLES)
            rows = [(k, k % 3, f"n{k % 4}", f"{k}.50", 3600 * k) for k in range(n, 40, 2)]
            made.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
            names = [(f"n{k}", 2**62 + k) for k in range(4)]
            made.executemany("INSERT INTO names VALUES (?, ?)", [row for row in names if _slot(row[0]) == n])
        made.close()
    with shardwise.connect(str(tmp_path / "cluster.sql"), verify_passes=True) as connection:
        yield connection


def _slot(name: str) -> int:
    return crc32(name.encode()) % 2


def change(tmp_path: Path, sql: str) -> None:
    with sqlite3.connect(tmp_path / "s1.db") as made:
        made.execute(sql)
    made.close()


def rows(connection: Any, sql: str, params: Any = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params) if params is not None else cursor.execute(sql)
        return list(cursor.fetchall())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(n) FROM t",
        "SELECT n, count(*) FROM t GROUP BY n",
        "SELECT k FROM t WHERE n > 1",
        "SELECT k FROM t WHERE n <> 1 AND k = 7",
        "SELECT n FROM t WHERE k = 7",
        "SELECT count(*) FROM t a JOIN t b ON a.k = b.k AND a.n = b.n",
    ],
)
def test_a_value_that_does_not_fit_names_shard_column_and_value(tmp_path: Path, files: Any, sql: str) -> None:
    change(tmp_path, "UPDATE t SET n = 'many' WHERE k = 7")
    with pytest.raises(shardwise.DataError, match=r"""shard "s1": column "n".* 'many'""") as caught:
        rows(files, sql)
    assert caught.value.shard == "s1"


def test_one_that_is_not_wanted_is_not_read(tmp_path: Path, files: Any) -> None:
    change(tmp_path, "UPDATE t SET n = 'many' WHERE k = 7")
    assert rows(files, "SELECT n FROM t WHERE k = 9") == [(0,)]
    assert rows(files, "SELECT count(*) FROM t WHERE n = 1") == [(12,)]


def test_keys_of_one_side_are_sent_to_the_other(files: Any) -> None:
    sql = "SELECT t.k, names.big FROM t JOIN names ON names.s = t.s WHERE t.n = 1 ORDER BY 1"
    assert rows(files, sql) == [(k, 2**62 + k % 4) for k in range(40) if k % 3 == 1]
    assert "Runs first: $rows_1" in "\n".join(row[0] for row in rows(files, f"EXPLAIN {sql}"))


def test_sums_leave_64_bits(files: Any) -> None:
    assert rows(files, "SELECT sum(big), avg(big) FROM names") == [(4 * 2**62 + 6, float(2**62))]
    assert rows(files, "SELECT sum(big) FROM names WHERE s = 'n1'") == [(2**62 + 1,)]


def test_letter_case_counts_whatever_the_file_says(files: Any) -> None:
    assert rows(files, "SELECT count(*) FROM t WHERE s = 'N1'") == [(0,)]
    assert rows(files, "SELECT count(*) FROM t WHERE s = ?", ["n1"]) == [(10,)]


def test_explain_shows_what_the_files_say(files: Any) -> None:
    asked = [
        ("SELECT k FROM t WHERE d > ? AND made >= TIMESTAMP '1970-01-01 05:00:00'", ["7.25"]),
        ("SELECT s, sum(d) FROM t GROUP BY s", None),
    ]
    for sql, params in asked:
        text = "\n".join(row[0] for row in rows(files, f"EXPLAIN (SHARDS) {sql}", params))
        assert "SCAN t" in text
    routed = rows(files, "EXPLAIN (ROUTE) SELECT k FROM t WHERE n = 1")
    assert [row[0] for row in routed] == ["s0", "s1"]
    assert all("(t.n = 1)" in row[2] for row in routed)


STATEMENTS = [
    ("SELECT k FROM t WHERE k = {}", [3, 4, 3, 39, 40]),
    ("SELECT k FROM t WHERE n = {}", [1, 2, 99999999999, 1]),
    ("SELECT count(*) FROM t WHERE n IN ({}, 2)", [0, 1, 99999999999]),
    ("SELECT k FROM t WHERE k IN ({}, 5)", [2, 3, 4, 5]),
    ("SELECT k FROM t WHERE s = {}", ["'n1'", "'n2'", "'N1'", "'it''s'"]),
    ("SELECT k FROM t WHERE s LIKE {}", ["'n1%'", "'%2'", "'n_'", "'n'"]),
    ("SELECT k FROM t WHERE d > {}", ["7.25", "30.50", "8", "38.505", "'38.5'"]),
    ("SELECT k FROM t WHERE made = {}", ["'1970-01-01 05:00:00'", "'1970-01-01 06:00:00'", "'1970-01-02'"]),
    ("SELECT k FROM t WHERE made < {} AND n > 0", ["TIMESTAMP '1970-01-01 05:00:00'", "DATE '1970-01-02'"]),
    ("SELECT n, sum(d) FROM t WHERE k < {} GROUP BY n", [5, 6, 30]),
]


@pytest.mark.parametrize(
    ("sql", "values"), STATEMENTS, ids=lambda item: item if isinstance(item, str) else ""
)
def test_a_plan_that_is_kept_is_right_for_other_literals(files: Any, sql: str, values: list[Any]) -> None:
    """The same connection, one after the other; then as it is without the cache."""
    kept = [sorted(rows(files, sql.format(value))) for value in values]
    with files.cluster.connect(plan_cache=False) as fresh:
        assert kept == [sorted(rows(fresh, sql.format(value))) for value in values]
    assert any(kept)


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT k FROM t WHERE k IN (?, ?)", [(2, 3), (3, 2), (4, 6), (7, 9), (40, 1)]),
        (
            "SELECT k, d FROM t WHERE k = ? AND d > ?",
            [(k, Decimal(d)) for d in ("7.25", "7.505", "3.50") for k in (7, 8, 9, 2, 3)],
        ),
        ("SELECT k FROM t WHERE n = ? AND k > ?", [(1, 3), (2, 30), (99999999999, 1)]),
        ("SELECT k FROM t WHERE d > ? AND d < ?", [(Decimal("7.25"), 30), (1, Decimal("2.505")), (0.5, 9)]),
        (
            "SELECT k FROM t WHERE made > ? AND made < ?",
            [(datetime(1970, 1, 1, 3), datetime(1970, 1, 1, 9))] * 2,
        ),
        (
            "SELECT k FROM t WHERE s = ? AND s LIKE ?",
            [("n1", "n%"), ("n2", "%2"), ("n3", "n_"), ("n1", None)],
        ),
    ],
)
def test_a_plan_that_is_kept_is_right_for_other_parameters(files: Any, sql: str, values: list[Any]) -> None:
    kept = [sorted(rows(files, sql, list(value))) for value in values]
    with files.cluster.connect(plan_cache=False) as fresh:
        assert kept == [sorted(rows(fresh, sql, list(value))) for value in values]
    assert any(kept)


class Name(str, Enum):  # noqa: UP042  as programs have them
    """What `str()` makes of a member is another text."""

    N1 = "n1"


class Whole(int):
    def __str__(self) -> str:
        return "another"


@pytest.mark.parametrize(
    ("source", "base", "value"),
    [
        ("t WHERE s = ?", "n1", Name.N1),
        ("t WHERE s IN ?", ["n1"], [Name.N1]),
        ("t WHERE s LIKE ?", "n1", Name.N1),
        ("t WHERE k = ?", 4, Whole(4)),
        ("t WHERE k IN (?)", (4,), (Whole(4),)),
        ("t WHERE d < ?", 4.5, np.float64(4.5)),
        ("t WHERE s = ?", "n1", np.str_("n1")),
        ("names WHERE s = ?", "n1", Name.N1),
    ],
)
@pytest.mark.parametrize("plan_cache", [True, False])
def test_a_parameter_of_a_subclass_is_the_text_or_number_that_it_is(
    files: Any, source: str, base: Any, value: Any, *, plan_cache: bool
) -> None:
    with files.cluster.connect(plan_cache=plan_cache) as connection:
        found = sorted(rows(connection, f"SELECT * FROM {source}", [value]))
        assert found == sorted(rows(connection, f"SELECT * FROM {source}", [base]))
    assert found


def test_sums_of_reals_know_infinity_and_its_difference(tmp_path: Path, files: Any) -> None:
    """SQLite has no NaN: inf - inf is NULL there."""
    groups = {0: [1.5, 2.25], 1: [inf, 1.0], 2: [-inf, 1.0], 3: [inf, -inf], 4: [None], 5: [1e308, 1e308]}
    for n in range(2):
        with sqlite3.connect(tmp_path / f"s{n}.db") as made:
            made.execute("CREATE TABLE reals (k BIGINT, g INTEGER, x REAL)")
            cells = [(n, g, x) for g, values in groups.items() for x in values]
            made.executemany("INSERT INTO reals VALUES (?, ?, ?)", cells)
        made.close()
    catalog = tmp_path / "reals.sql"
    catalog.write_text(f"{CATALOG}CREATE TABLE reals (k BIGINT, g INTEGER, x DOUBLE) SHARD BY by_k (k);")
    with shardwise.connect(str(catalog)) as connection:
        sums = dict(rows(connection, "SELECT g, sum(x) FROM reals GROUP BY g"))
        on_one = dict(rows(connection, "SELECT g, sum(x) FROM reals WHERE k = 1 GROUP BY g"))
        pushed = "\n".join(r[0] for r in rows(connection, "EXPLAIN SELECT avg(x) FROM reals"))
    assert isnan(sums.pop(3))
    assert isnan(on_one.pop(3))
    assert sums == {0: 7.5, 1: inf, 2: -inf, 4: None, 5: inf}
    assert on_one == {0: 3.75, 1: inf, 2: -inf, 4: None, 5: inf}
    assert "partial sum" in pushed


def test_a_plan_for_one_product_is_none_for_another(tmp_path: Path) -> None:
    """On the DuckDB shard nobody asked what the value is to a DECIMAL in SQLite."""
    with sqlite3.connect(tmp_path / "s0.db") as made:
        made.execute("CREATE TABLE t (k BIGINT, d TEXT)")
        made.executemany("INSERT INTO t VALUES (?, ?)", [(k, f"{k}.50") for k in range(0, 20, 2)])
    made.close()
    with duckdb.connect(str(tmp_path / "s1.duckdb")) as other:
        other.execute(
            "CREATE TABLE t AS SELECT k, CAST(k + 0.5 AS DECIMAL(9,2)) AS d FROM range(1, 20, 2) r(k)"
        )
    (tmp_path / "cluster.sql").write_text("""
        CREATE CATALOG x DIALECT duckdb;
        CREATE SOURCE s0 URL 'sqlite:///s0.db'; CREATE SOURCE s1 URL 'duckdb:///s1.duckdb';
        CREATE SHARDING by_k USING MOD 2 ON s{slot};
        CREATE TABLE t (k BIGINT, d DECIMAL(9,2)) SHARD BY by_k (k);
    """)
    with shardwise.connect(str(tmp_path / "cluster.sql")) as connection:
        for k, least in [(7, "7.25"), (8, "8.25"), (8, "8.75"), (9, "9.75"), (4, "4.25"), (3, "3.25")]:
            found = rows(connection, "SELECT k FROM t WHERE k = ? AND d > ?", [k, Decimal(least)])
            assert found == ([(k,)] if least.endswith("25") else []), (k, least)
            found = rows(connection, f"SELECT k FROM t WHERE k = {k} AND d > {least}")
            assert found == ([(k,)] if least.endswith("25") else []), (k, least)


@pytest.mark.parametrize(
    "sql",
    ["SELECT k FROM t ORDER BY n, k", "SELECT n AS k FROM t", "SELECT n AS k FROM t WHERE k = 7"],
)
def test_a_value_that_does_not_fit_is_the_table_s_whatever_the_statement_calls_it(
    tmp_path: Path, files: Any, sql: str
) -> None:
    change(tmp_path, "UPDATE t SET n = 'many' WHERE k = 7")
    with pytest.raises(shardwise.DataError, match='shard "s1": column "n" of table "t" holds'):
        rows(files, sql)


@pytest.mark.parametrize("condition", ["n < ?", "NOT n < ?", "coalesce(big, n) < ?", "n IN (5, ?)", "? > n"])
@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**64, 10**30])
def test_numbers_beyond_64_bits_as_parameters(files: Any, condition: str, value: int) -> None:
    """SQLite takes none; beside whole numbers they are as good as infinite."""
    sql = f"SELECT count(*) FROM t LEFT JOIN names ON false WHERE {condition}"
    assert rows(files, sql, [value]) == rows(files, sql.replace("?", str(value)))
    # A plan kept for one is not the other's.
    assert rows(files, sql, [5]) == rows(files, sql.replace("?", "5"))

"""SQLite's SQL through a tree and back: SQLite makes the same byte code of what comes out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from shardwise.errors import NotSupportedError, SQLSyntaxError
from shardwise.plan.sql import text_of
from shardwise.planner.dialects import query_dialect
from shardwise.planner.dialects.sqlite_reading import trees
from shardwise.planner.parse import parse
from tests.oracle.sqlite_world import DDL

CASES = Path(__file__).parents[2] / "oracle" / "cases" / "sqlite_dialect.sql"
# The same rows by other code: a comma is written CROSS JOIN, `IS NOT NULL` as NOT … IS NULL.
OTHER_CODE = (
    "IS NOT NULL",
    "FROM t a, u b",
    "FROM c, m",
    "NOTNULL",
    "NOT FALSE",
    "IS DISTINCT FROM (FALSE)",
    ", (SELECT 1",
    "(VALUES (1) UNION",
    ", json_each(",
)
MORE = """
SELECT +k + +name FROM t WHERE +k = '3'
SELECT CAST(k AS "weird type"), CAST(k AS DECIMAL(10, 2)) + CAST((SELECT 1) AS INT) FROM t
SELECT name -> '$.a' ->> 'b.c' FROM t
SELECT max(k, 1), max(k), min(k, (SELECT max(1, 2))), count() FROM t
SELECT k NOT LIKE 'a', like('a', k), k LIKE (SELECT 'a') FROM t
SELECT strftime('%Y'), char(65), trim(name), position FROM (SELECT 1 AS position, name FROM t)
SELECT replace(name, 'a', 'b'), date, text FROM (SELECT name, 1 AS date, 2 AS text FROM t)
SELECT (k) + 1, - -k, -k - -1, NOT NOT k, ~-k FROM t
SELECT count(*) FILTER (WHERE k > 1) OVER (PARTITION BY name ORDER BY k) FROM t
WITH r1 AS (SELECT code FROM r) SELECT name IN r1, k NOT IN 'r1' AND k, CASE WHEN k IN "r1" THEN 1 END FROM t
SELECT k COLLATE NOCASE || 'a' COLLATE RTRIM FROM t ORDER BY +k, name COLLATE NOCASE
""".strip().splitlines()


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    con = sqlite3.connect(":memory:")
    con.executescript(";".join(DDL.values()))
    return con


def code(con: sqlite3.Connection, sql: str) -> list[tuple[object, ...]]:
    con.text_factory = bytes
    return [row[:7] for row in con.execute(f"EXPLAIN {sql}")]


@pytest.mark.parametrize("sql", [*CASES.read_text().splitlines(), *MORE])
def test_comes_out_meaning_the_same(database: sqlite3.Connection, sql: str) -> None:
    (tree,) = trees(sql)
    written = text_of(tree, "sqlite")
    if any(part in sql for part in OTHER_CODE):
        database.execute(f"EXPLAIN {written}")
    else:
        assert code(database, written) == code(database, sql), written


def test_a_question_mark_is_one_more_than_the_greatest_so_far() -> None:
    (tree,) = trees("SELECT ?3, ?, ?1, ?, :a, @b, $c")
    names = [str(e.this.name) for e in tree.expressions]
    assert names == ["3", "4", "1", "5", "a", "b", "c"]


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT changes()", NotSupportedError, "connection's writes"),
        ("SELECT load_extension('x')", NotSupportedError, "not available"),
        ("SELECT * FROM pragma_table_info('t')", NotSupportedError, "table function"),
        ("SELECT name MATCH 'a' FROM t", NotSupportedError, "MATCH is not supported"),
        ("SELECT name REGEXP 'a' FROM t", NotSupportedError, "REGEXP is not supported"),
        ("SELECT FROM", SQLSyntaxError, "syntax error"),
        ("INSERT INTO t VALUES (1)", NotSupportedError, "only queries"),
    ],
)
def test_what_is_refused(sql: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        parse(sql, query_dialect("sqlite"))

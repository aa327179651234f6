"""Texts that sqlglot alone takes otherwise than DuckDB does, and what is made of them."""

from __future__ import annotations

import pytest

from shardwise.planner.parse import parse


@pytest.mark.parametrize(
    ("sql", "read"),
    [
        ("SELECT ?, a FROM t WHERE b = ?", "SELECT $1, a FROM t WHERE b = $2"),
        ("SELECT a FROM t WHERE b = ?::BIGINT", "SELECT a FROM t WHERE b = CAST($1 AS BIGINT)"),
        ("SELECT :x FROM t", "SELECT $x FROM t"),
        ("SELECT 1 + :x, f(:y) FROM t LIMIT :n", "SELECT 1 + $x, F($y) FROM t LIMIT $n"),
        ("SELECT l[1:n] FROM t", "SELECT l[1:n] FROM t"),
        ("SELECT l[a:b], {'k': x} FROM t", "SELECT l[a:b], {'k': x} FROM t"),
        ("SELECT y: x FROM t", "SELECT x AS y FROM t"),
        ("SELECT DATE '2025-01-31'::VARCHAR", "SELECT CAST(CAST('2025-01-31' AS DATE) AS TEXT)"),
        (
            "SELECT TIMESTAMP '2025-01-31 10:00'::DATE::VARCHAR",
            "SELECT CAST(CAST(CAST('2025-01-31 10:00' AS TIMESTAMP) AS DATE) AS TEXT)",
        ),
        ("SELECT DECIMAL(4,1) '1.25'::VARCHAR", "SELECT CAST(CAST('1.25' AS DECIMAL(4, 1)) AS TEXT)"),
        ("SELECT a FROM t WHERE b = '1'::INT", "SELECT a FROM t WHERE b = CAST('1' AS INT)"),
        ("SELECT '?' FROM t WHERE a = '::'", "SELECT '?' FROM t WHERE a = '::'"),
    ],
)
def test_what_is_read(sql: str, read: str) -> None:
    assert parse(sql).sql("duckdb") == read

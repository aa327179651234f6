"""Key expressions give what DuckDB gives, or are refused."""

from __future__ import annotations

from datetime import date, datetime

import duckdb
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwise.catalog.keys import check, evaluate, family_of
from shardwise.catalog.shardings import Value
from shardwise.catalog.types import Family
from shardwise.errors import CatalogError, DataError

NUMBERS = (
    "k % 3|k // 3|k >> 2|k << 2|k & 5|k + 3|k - 3|k * 3|-k|(k + 1) % 4|CAST(k AS VARCHAR)|k % -3|k // -3"
)
TEXTS = (
    "left(k, 2)|right(k, 2)|substr(k, 2)|substr(k, 2, 2)|substring(k, 1, 1)|lower(k)|upper(k)|md5(k)"
    "|CAST(k AS VARCHAR)|CAST(right(k, 2) AS INT)|left(k, 9)|substr(k, 1, 0)|right(k, 0)"
    "|CAST(k AS DATE)|CAST(k AS TIMESTAMP)"
)
MOMENTS = "year(k)|month(k)|CAST(k AS DATE)|CAST(k AS TIMESTAMP)"
VALUES: dict[str, tuple[str, list[Value]]] = {
    "BIGINT": (NUMBERS, [0, 7, -7, 1, -1, 2**40, -(2**40), 2**62, -(2**63), None]),
    "TINYINT": (NUMBERS, [0, 7, -7, 100, -100]),
    "VARCHAR": (
        TEXTS,
        ["", "a", "Abc12", "é😀xy", "ÀB", " 42", "4.2", "-07", "2026-01-31", "2026-01-31 10:00:00", None],
    ),
    "DATE": (MOMENTS + "|CAST(k AS VARCHAR)", [date(2026, 1, 31), date(1, 1, 1), None]),
    "TIMESTAMP": (MOMENTS, [datetime(2026, 1, 31, 23, 59, 59, 5), None]),
    "BOOLEAN": ("CAST(k AS INT)", [True, False, None]),
}


@pytest.mark.parametrize("type_text", list(VALUES))
def test_expressions_give_what_duckdb_gives(type_text: str) -> None:
    """Where we evaluate, DuckDB gives the same, or an error; where we refuse, that is all right."""
    connection = duckdb.connect(config={"threads": 1})
    texts, values = VALUES[type_text]
    answered = 0
    for text in texts.split("|"):
        expression = sqlglot.parse_one(
            text.replace("% -3", "% (-3)").replace("// -3", "// (-3)"), read="duckdb"
        )
        check(expression)
        for value in values:
            try:
                found = evaluate(expression, {"k": value})
                sql = f"SELECT {expression.sql('duckdb')} FROM (SELECT CAST($1 AS {type_text}) AS k)"
                wanted = connection.execute(sql, [value]).fetchall()[0][0]
            except (DataError, duckdb.Error):
                continue
            answered += 1
            assert (found, type(found)) == (wanted, type(wanted)), (text, value)
    assert answered >= len(values)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(st.integers(-(2**63), 2**63 - 1), st.integers(-20, 20).filter(bool))
def test_division_is_toward_zero(number: int, divisor: int) -> None:
    quotient = evaluate(sqlglot.parse_one("a // b", read="duckdb"), {"a": number, "b": divisor})
    rest = evaluate(sqlglot.parse_one("a % b", read="duckdb"), {"a": number, "b": divisor})
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert quotient * divisor + rest == number
    assert abs(rest) < abs(divisor)
    assert rest == 0 or (rest < 0) == (number < 0)


@pytest.mark.parametrize(
    ("text", "value", "wanted"),
    [
        ("CAST(RIGHT(k, 2) AS UNSIGNED)", "A-0042", 42),
        ("k DIV 3", -7, -2),
        ("-1 >> k", 1, 2**63 - 1),
        ("k & -1", -1, 2**64 - 1),
        ("CRC32(k) % 10", "123456789", 2),
        ("CRC32(k)", 42, 841265288),
        ("MD5(k)", "abc", "900150983cd24fb0d6963f7d28e17f72"),
        ("YEAR(k) * 100 + MONTH(k)", date(2026, 3, 1), 202603),
        ("DATE(k)", datetime(2026, 3, 1, 5), date(2026, 3, 1)),
        ("FROM_UNIXTIME(k)", 86400, datetime(1970, 1, 2)),
        ("k + 1", None, None),
    ],
)
def test_mysql(text: str, value: Value, wanted: Value) -> None:
    assert evaluate(sqlglot.parse_one(text, read="mysql"), {"k": value}, "mysql") == wanted


@pytest.mark.parametrize(
    "text",
    ["k || 'x'", "random()", "k / 2", "concat(k, k)", "k = 1", "1.5 + k", "TRY_CAST(k AS INT)", "(SELECT k)"],
)
def test_what_is_not_in_the_table_is_refused(text: str) -> None:
    expression = sqlglot.parse_one(text, read="duckdb")
    with pytest.raises(CatalogError):
        check(expression)
    with pytest.raises(CatalogError):
        evaluate(expression, {"k": 1})


def test_unknown_columns_are_refused() -> None:
    with pytest.raises(CatalogError, match='"other"'):
        evaluate(sqlglot.parse_one("other % 2"), {"k": 1})


def test_families() -> None:
    columns = {"k": Family.INT, "s": Family.TEXT}
    wanted = {
        "k": Family.INT,
        "(k >> 46)": Family.INT,
        "left(s, 2)": Family.TEXT,
        "CAST(left(s, 2) AS INT)": Family.INT,
        "crc32(s)": Family.INT,
        "other": Family.OTHER,
        "s || s": Family.OTHER,
    }
    for text, family in wanted.items():
        assert family_of(sqlglot.parse_one(text, read="duckdb"), columns) is family, text

"""Arithmetic made wide enough: DuckDB computes it of the largest values there are, and gives the same."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from shardwise.planner.dialects.duckdb import DUCKDB
from shardwise.planner.wide_numbers import widened

COLUMNS = {
    "i": ("INTEGER", "2147483647"),
    "b": ("BIGINT", "9223372036854775807"),
    "d": ("DECIMAL(15,2)", "9999999999999.99"),
    "e": ("DECIMAL(9,4)", "-99999.9999"),
    "n": ("DECIMAL(18,0)", "999999999999999999"),
    "f": ("DOUBLE", "1e308"),
}
EXPRESSIONS = [
    *("i * i", "i + i", "i - i * 2", "b * b", "b + 1", "b * i", "d * (1 - e)", "d * d", "d + e", "e * e * e"),
    *("d * i", "n * n", "n + n", "(d - e) * i", "n * d", "100 * d", "b * e", "1.5 * d", "b + b * i", "n + 1"),
]


def _widened(text: str) -> str | None:
    found = widened(
        sqlglot.parse_one(text, dialect="duckdb"), lambda column: COLUMNS[column.name][0], DUCKDB.wide
    )
    return None if found is None else found.expr.sql("duckdb")


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_it_fails_for_no_values(text: str) -> None:
    wide = _widened(text)
    assert wide is not None
    values = ", ".join(f"CAST({value} AS {type_}) AS {name}" for name, (type_, value) in COLUMNS.items())
    with duckdb.connect() as con:
        con.execute(f"SELECT {wide} FROM (SELECT {values})").fetchall()
        con.execute(f"SELECT {wide} FROM (SELECT {values.replace('-', '')})").fetchall()


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_it_is_the_same_number(text: str) -> None:
    values = ", ".join(f"CAST({17 + len(name)} AS {type_}) AS {name}" for name, (type_, _) in COLUMNS.items())
    with duckdb.connect() as con:
        query = (
            f"SELECT sum({text}), typeof(sum({text})), sum({_widened(text)}), typeof(sum({_widened(text)}))"
        )
        ((value, type_, other, other_type),) = con.execute(f"{query} FROM (SELECT {values})").fetchall()
    assert (value, type_) == (other, other_type)


@pytest.mark.parametrize(
    "text", ["d / i", "i // 2", "-i", "d * d * d * d", "abs(i)", "n * n * n", "f", "f * 2"]
)
def test_what_is_more_is_left(text: str) -> None:
    assert _widened(text) is None


def test_what_fits_is_left_as_it_is() -> None:
    assert _widened("e + 1") == "e + 1"
    assert _widened("d") == "d"

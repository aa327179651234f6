"""Constants convert to a key's type only where DuckDB compares in it; DuckDB checks every known answer."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Unknown, canonical
from shardwise.catalog.types import Family, type_family
from shardwise.planner.literals import EMPTY, Constant, bound, constant, constants

U = UUID("6f9619ff-8b86-d011-b42d-00cf4fc964ff")
CASES: list[tuple[str, Family, Constant]] = [
    ("3", Family.INT, 3),
    ("-3", Family.INT, -3),
    ("(3)", Family.INT, 3),
    ("'3'", Family.INT, 3),
    ("' 3'", Family.INT, UNKNOWN),
    ("'3.0'", Family.INT, UNKNOWN),
    ("'x'", Family.INT, UNKNOWN),
    ("2.0", Family.INT, 2),
    ("2.5", Family.INT, EMPTY),
    ("2e0", Family.INT, 2),
    ("2.5e0", Family.INT, EMPTY),
    ("9007199254740993e0", Family.INT, UNKNOWN),
    ("1.0000000000000000000000001", Family.INT, UNKNOWN),
    ("TRUE", Family.INT, UNKNOWN),
    ("1 + 2 * 3", Family.INT, 7),
    ("2147483647 + 1", Family.INT, UNKNOWN),
    ("1 / 2", Family.INT, UNKNOWN),
    ("NULL", Family.INT, None),
    ("CAST(NULL AS INT)", Family.INT, UNKNOWN),
    ("CAST('5' AS BIGINT)", Family.INT, 5),
    ("CAST('5' AS VARCHAR)", Family.INT, UNKNOWN),
    ("CAST(2.5 AS INT)", Family.INT, UNKNOWN),
    ("CAST(2.5 AS DECIMAL(3, 1))", Family.INT, EMPTY),
    ("TRY_CAST('5' AS INT)", Family.INT, UNKNOWN),
    ("abs(3)", Family.INT, UNKNOWN),
    ("other.k", Family.INT, UNKNOWN),
    ("170141183460469231731687303715884105728", Family.INT, UNKNOWN),
    ("1", Family.DECIMAL, Decimal(1)),
    ("1.50", Family.DECIMAL, Decimal("1.5")),
    ("1.5e0", Family.DECIMAL, UNKNOWN),
    ("'1'", Family.DECIMAL, Decimal(1)),
    ("'1.005'", Family.DECIMAL, UNKNOWN),
    ("CAST(1.005 AS DECIMAL(10, 2))", Family.DECIMAL, UNKNOWN),
    ("CAST('1.25' AS DECIMAL(10, 2))", Family.DECIMAL, Decimal("1.25")),
    ("2.5", Family.FLOAT, 2.5),
    ("-0.0", Family.FLOAT, 0.0),
    ("0.1", Family.FLOAT, UNKNOWN),  # as REAL it is another number than as DOUBLE
    ("16777217", Family.FLOAT, UNKNOWN),
    ("'2.5'", Family.FLOAT, 2.5),
    ("'nan'", Family.FLOAT, UNKNOWN),
    ("1e400", Family.FLOAT, UNKNOWN),
    ("'a'", Family.TEXT, "a"),
    ("'A '", Family.TEXT, "A "),
    ("1", Family.TEXT, UNKNOWN),
    ("CAST(1 AS VARCHAR)", Family.TEXT, "1"),
    ("CAST('abc' AS VARCHAR(2))", Family.TEXT, "abc"),  # DuckDB does not cut
    ("DATE '2026-01-01'", Family.TEXT, UNKNOWN),
    ("'a'", Family.ENUM, "a"),
    ("TRUE", Family.BOOL, True),
    ("'false'", Family.BOOL, False),
    ("1", Family.BOOL, UNKNOWN),
    ("'2026-01-31'", Family.DATE, date(2026, 1, 31)),
    ("'2026-1-31'", Family.DATE, UNKNOWN),
    ("'2026-01-31 12:00:00'", Family.DATE, UNKNOWN),  # DuckDB drops the time
    ("DATE '2026-01-31'", Family.DATE, date(2026, 1, 31)),
    ("DATE '2026-02-31'", Family.DATE, UNKNOWN),
    ("TIMESTAMP '2026-01-31 00:00:00'", Family.DATE, date(2026, 1, 31)),
    ("TIMESTAMP '2026-01-31 12:00:00'", Family.DATE, EMPTY),
    ("'infinity'", Family.DATE, UNKNOWN),
    ("'2026-01-31'", Family.TIMESTAMP, datetime(2026, 1, 31)),
    ("'2026-01-31 12:00:00'", Family.TIMESTAMP, datetime(2026, 1, 31, 12)),
    ("'2026-01-31 12:00:00.5'", Family.TIMESTAMP, UNKNOWN),  # TIMESTAMP_S rounds it
    ("TIMESTAMP '2026-01-31 12:00:00.5'", Family.TIMESTAMP, datetime(2026, 1, 31, 12, 0, 0, 500000)),
    ("DATE '2026-01-31'", Family.TIMESTAMP, datetime(2026, 1, 31)),
    ("'2026-01-31 12:00:00+01'", Family.TIMESTAMP, UNKNOWN),
    ("'2026-01-31 12:00:00'", Family.TIMESTAMPTZ, UNKNOWN),  # the session's zone decides
    ("TIMESTAMP '2026-01-31 12:00:00'", Family.TIMESTAMPTZ, UNKNOWN),
    (f"'{U}'", Family.UUID, U),
    (f"'{str(U).upper()}'", Family.UUID, U),
    (f"'{U.hex}'", Family.UUID, UNKNOWN),
    (f"CAST('{U}' AS UUID)", Family.UUID, U),
    ("'abc'", Family.BLOB, b"abc"),
    (r"'\x61'", Family.BLOB, UNKNOWN),
    ("'é'", Family.BLOB, UNKNOWN),
]


def parse(text: str) -> exp.Expression:
    return sqlglot.parse_one(f"SELECT {text}", read="duckdb").selects[0]


@pytest.mark.parametrize(("text", "family", "wanted"), CASES)
def test_constant(text: str, family: Family, wanted: Constant) -> None:
    found = constant(parse(text), family)
    assert found is wanted or (found == wanted and type(found) is type(wanted))


def test_timestamptz_with_an_offset_is_known() -> None:
    found = constant(parse("'2026-01-31 12:00:00+01'"), Family.TIMESTAMPTZ)
    assert isinstance(found, datetime)
    assert found.isoformat() == "2026-01-31T11:00:00+00:00"


def test_bounds_need_not_be_of_the_key_type() -> None:
    assert bound(parse("2.5"), Family.INT) == Decimal("2.5")
    assert bound(parse("TIMESTAMP '2026-01-31 12:00:00'"), Family.DATE) == datetime(2026, 1, 31, 12)
    assert bound(parse("NULL"), Family.DATE) is None
    assert bound(parse("1"), Family.TEXT) is UNKNOWN


@pytest.mark.parametrize(
    ("texts", "family", "wanted"),
    [
        ("1, 2, 3", Family.INT, [1, 2, 3]),
        ("1, NULL, -3", Family.INT, [1, None, -3]),
        ("1, 2.5, 2.0", Family.INT, [1, EMPTY, 2]),
        ("1, 9007199254740993, 2.5", Family.INT, [UNKNOWN] * 3),
        ("9007199254740993, 1e0", Family.INT, [UNKNOWN] * 2),  # all compare as DOUBLE
        ("1, '2'", Family.INT, [UNKNOWN] * 2),
        ("1, k", Family.INT, [1, UNKNOWN]),
        ("'a', 1", Family.TEXT, [UNKNOWN] * 2),
        ("'a', CAST(1 AS VARCHAR)", Family.TEXT, ["a", "1"]),
        ("'2026-01-01', TIMESTAMP '2026-01-01 12:00:00'", Family.DATE, [UNKNOWN] * 2),
    ],
)
def test_members_of_a_list_compare_in_one_type(texts: str, family: Family, wanted: list[Constant]) -> None:
    parsed = parse(f"k IN ({texts})")
    assert constants(parsed.expressions, family) == wanted


# ------------------------------------------------------------------ against DuckDB

COLUMNS = {
    "TINYINT": "3 -3 2 7 5 NULL",
    "BIGINT": "3 -3 2 7 5 9007199254740992 9007199254740993 NULL",
    "UBIGINT": "3 2 7 5 18446744073709551615",
    "HUGEINT": "3 -3 2 7 5 9007199254740993 170141183460469231731687303715884105727",
    "DECIMAL(5,1)": "1 1.5 1.3 0.1 2.5 -7",
    "DECIMAL(30,20)": "1 1.00000000000000000001 1.5 1.25 0.1 1.005",
    "DECIMAL(38,0)": "1 2 9007199254740993 3",
    "REAL": "2.5 0.1 0 16777216 3 1",
    "DOUBLE": "2.5 0.1 0 -0.0 16777217 16777216 3 nan",
    "VARCHAR": "a A| 1 01 1.0 2026-01-01 abc ab true",
    "ENUM('a','b')": "a b",
    "BOOLEAN": "true false",
    "DATE": "2026-01-31 2026-01-01 2026-02-01",
    "TIMESTAMP": "2026-01-31 2026-01-31T12:00:00 2026-01-31T12:00:00.5 2026-01-31T12:00:01",
    "TIMESTAMP_S": "2026-01-31 2026-01-31T12:00:00 2026-01-31T12:00:01",
    "TIMESTAMP_NS": "2026-01-31 2026-01-31T12:00:00 2026-01-31T12:00:00.5",
    "UUID": f"{U} 00000000-0000-0000-0000-000000000001",
    "BLOB": "abc a",
}


@pytest.mark.parametrize("type_text", list(COLUMNS))
def test_what_is_known_is_what_duckdb_says(type_text: str) -> None:
    """`k = constant` finds the rows of the known value; `<` and `>` those on that side of it."""
    connection = duckdb.connect(config={"threads": 1})
    family = type_family(type_text, "duckdb")
    connection.execute(f"CREATE TABLE t (k {type_text})")
    for text in COLUMNS[type_text].split():
        value = "NULL" if text == "NULL" else f"'{text.replace('|', ' ')}'"
        connection.execute(f"INSERT INTO t VALUES ({value})")
    rows = [canonical(row[0], family) for row in connection.execute("SELECT k FROM t").fetchall()]
    checked = 0
    for text in {text for text, *_ in CASES}:
        wanted, limit = constant(parse(text), family), bound(parse(text), family)
        if isinstance(limit, Unknown):
            continue
        try:
            answers = connection.execute(f"SELECT k = {text}, k < {text}, k > {text} FROM t").fetchall()
        except duckdb.Error:
            continue
        checked += 1
        for value, (equal, below, above) in zip(rows, answers, strict=True):
            if value is None or limit is None:
                assert equal is None
                continue
            assert equal == (wanted is not EMPTY and value == wanted), (text, value)
            if not isinstance(value, float) and family not in (Family.ENUM, Family.DATE):
                assert (below, above) == (value < limit, value > limit), (text, value)  # type: ignore[operator]
    assert checked >= 2

"""Volatility, failure and NULLs of functions, against what the installed DuckDB says and does."""

from __future__ import annotations

from collections import defaultdict

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from shardwise.executor.duck import IS_V1
from shardwise.planner.functions import (
    STABLE,
    VOLATILE,
    ZONED,
    can_fail,
    is_stable_context,
    is_volatile,
    null_in_null_out,
    rejects_null,
)

TYPES = {
    "b.i": "INTEGER",
    "b.l": "BIGINT",
    "b.u": "UBIGINT",
    "b.h": "HUGEINT",
    "b.m": "DECIMAL(9,2)",
    "b.w": "DECIMAL(38,10)",
    "b.d": "DOUBLE",
    "b.f": "FLOAT",
    "b.s": "VARCHAR",
    "b.t": "VARCHAR",
    "b.o": "BOOLEAN",
    "b.dt": "DATE",
    "b.ts": "TIMESTAMP",
    "b.x": "UUID",
}
EXTREMES = {
    "b.i": "-2147483648",
    "b.l": "-9223372036854775808",
    "b.u": "18446744073709551615",
    "b.h": "170141183460469231731687303715884105727",
    "b.m": "9999999.99",
    "b.w": "9999999999999999999999999999.9999999999",
    "b.d": "'-inf'",
    "b.f": "'nan'",
    "b.s": "'no number \\'",
    "b.t": "'%_'",
    "b.o": "true",
    "b.dt": "'5881580-07-10'",
    "b.ts": "'294247-01-10 04:00:54.775806'",
    "b.x": "'00000000-0000-0000-0000-000000000000'",
}
COLUMNS = {("b", name.partition(".")[2]) for name in TYPES}


def parse(text: str) -> exp.Expression:
    return sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]


def type_of(column: exp.Column) -> str | None:
    return TYPES.get(f"{column.table}.{column.name}")


def test_lists_are_what_the_engine_says() -> None:
    rows = duckdb.sql(
        "SELECT DISTINCT function_name, stability FROM duckdb_functions() WHERE stability IS NOT NULL"
    )
    names: dict[str, set[str]] = defaultdict(set)
    for name, stability in rows.fetchall():
        names[stability].add(name)
    macros = duckdb.sql(
        "SELECT function_name FROM duckdb_functions() WHERE function_type = 'macro'"
    ).fetchall()
    known = {*VOLATILE} - {name for (name,) in macros} | {"current_query"}
    if IS_V1:  # it has neither of the first two, and takes the third for consistent
        known -= {"assert_true", "setval", "vector_type"}
    assert names["VOLATILE"] == known
    assert names["CONSISTENT_WITHIN_QUERY"] <= STABLE | ZONED
    assert not VOLATILE & STABLE


def test_volatile_macros_are_listed() -> None:
    macros = duckdb.sql(
        "SELECT function_name, macro_definition FROM duckdb_functions() WHERE function_type = 'macro'"
    ).fetchall()
    found = {
        n
        for n, text in macros
        if "SELECT" not in text and is_volatile(sqlglot.parse_one(text, dialect="duckdb"))
    }
    assert found - {"json_group_object"} <= VOLATILE  # whose error() is the aggregate's own


CONTEXT = """
now(); current_date; today(); current_timestamp; current_time; localtime; localtimestamp
get_current_timestamp(); transaction_timestamp(); current_user; session_user; user; current_schema
current_schema(); current_schemas(true); current_database(); current_catalog; current_setting('x')
getvariable('x'); age(ts); ago(INTERVAL 1 DAY); current_localtime(); current_localtimestamp()
get_current_time(); txid_current(); current_role; version()
"""


def texts(block: str) -> list[str]:
    return [text.strip() for text in block.replace("\n", ";").split(";") if text.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "random()",
        "uuid()",
        "gen_random_uuid()",
        "uuidv7()",
        "nextval('s')",
        "1 + setseed(0.5)",
        "a + (SELECT random())",
    ],
)
def test_volatile(text: str) -> None:
    assert is_volatile(parse(text))
    assert can_fail(parse(text), type_of)


@pytest.mark.parametrize("text", ["a + 1", "now()", "lower(s)", "random", "date_trunc('day', ts)"])
def test_not_volatile(text: str) -> None:
    assert not is_volatile(parse(text))


@pytest.mark.parametrize("text", texts(CONTEXT))
def test_stable_context(text: str) -> None:
    assert is_stable_context(parse(text))
    assert not is_volatile(parse(text))


@pytest.mark.parametrize(
    "text", ["a", "t.user", '"user"', "age(a, b)", "lower(now())", "date_trunc('day', ts)"]
)
def test_no_stable_context(text: str) -> None:
    assert not is_stable_context(parse(text))


SAFE = """
b.dt < TIMESTAMP '2024-01-01 12:00:00'
b.i; b.i = 1; b.i < 2.5; b.i = b.l; b.l > b.m; b.l <> b.u; b.h = b.i; b.d >= b.m; b.f < b.h; b.s = 'a'
b.s > b.t; b.i = '5'; b.dt >= '2024-01-01'; b.dt >= DATE '2024-01-01' - INTERVAL 90 DAY
b.ts < DATE '2024-01-01'; b.x = b.x; b.i IS NULL; b.s IS NOT NULL; (b.o) IS TRUE; b.o = true; NOT b.i > 1
b.i = 1 AND (b.s = 'a' OR b.m < 1); b.i BETWEEN 1 AND 10
b.ts BETWEEN TIMESTAMP '2024-01-01' AND '2024-02-01'; b.i IN (1, 2, NULL); b.s NOT IN ('a'); b.s LIKE 'a%'
b.s ILIKE b.t; b.s NOT LIKE '%x'; COALESCE(b.i, b.l) = 3; CASE WHEN b.i > 1 THEN b.s ELSE 'x' END = 'y'
CASE b.i WHEN 1 THEN true END; b.i IS DISTINCT FROM b.l; lower(b.s) = 'x'; length(b.s) > 3; b.dt = b.dt
1 = 1; b.i = NULL; b.l = b.w; (b.l = b.w) IS NULL; COALESCE(b.s, 'x') LIKE 'y'; b.m = 1.5; b.o OR b.i = 1
substring(b.s, 1, 2) = 'ab'; substring(b.s, 3) IN ('a', 'b'); substr(b.s, 2, 1) < b.t
extract(year FROM b.dt) IS NULL; CASE WHEN extract(month FROM b.ts) IS NULL THEN b.i END = 1
"""
UNSAFE = """
b.s = 1; CAST(b.s AS INT) = 1; b.s::DATE = DATE '2024-01-01'; b.i + 1 > 2; 1 // b.i = 1; b.h > 1.5
b.h = b.w; b.dt = b.ts; b.dt IN (TIMESTAMP '2024-01-01'); b.dt + INTERVAL 1 DAY < DATE '2024-01-01'; -b.i = 1
abs(b.l) > 1; b.s LIKE b.t ESCAPE '\\'; b.unknown = 1; b.i = (SELECT max(z) FROM t)
b.i IN (SELECT z FROM t); regexp_matches(b.s, b.t); b.s SIMILAR TO b.t; COALESCE(b.h, 1.5) > 0
CASE WHEN b.i > 1 THEN b.i + 1 END = 1; error(b.s) = 'x'; sqrt(b.d) > 1; b.s = b.i; b.u = b.x
CASE WHEN CAST(b.s AS BOOLEAN) THEN 1 END = 1; b.i IN (1, CAST(b.s AS INT)); b.s BETWEEN 1 AND 2
substring(b.s, b.i) = 'x'; substring(b.s, -1, 2) = 'x'; substring(b.s, 99999999999) = 'x'
extract(epoch FROM b.dt) IS NULL; extract(year FROM b.s) IS NULL; extract(year FROM CAST(b.s AS DATE)) IS NULL
"""


@pytest.fixture(scope="module")
def extremes() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    columns = ", ".join(f"{name.partition('.')[2]} {type_}" for name, type_ in TYPES.items())
    connection.execute(f"CREATE TABLE b ({columns})")
    connection.execute(
        f"INSERT INTO b VALUES ({', '.join(EXTREMES.values())}), ({', '.join('NULL' for _ in TYPES)})"
    )
    return connection


@pytest.mark.parametrize("text", texts(SAFE))
def test_cannot_fail(extremes: duckdb.DuckDBPyConnection, text: str) -> None:
    assert not can_fail(parse(text), type_of)
    extremes.sql(f"SELECT {text} FROM b").fetchall()


def test_any_two_columns_that_may_be_compared_can_be(extremes: duckdb.DuckDBPyConnection) -> None:
    literals = (
        "1",
        "1.5",
        "-1",
        "'1'",
        "12345678901234567890.5",
        "1e300",
        "99999999999999999999999999999999999999",
    )
    for left in TYPES:
        for right in (*TYPES, *literals):
            text = f"{left} < {right}"
            if not can_fail(parse(text), type_of) and not right.startswith("'"):
                extremes.sql(f"SELECT {text} FROM b").fetchall()


@pytest.mark.parametrize("text", texts(UNSAFE))
def test_can_fail(text: str) -> None:
    assert can_fail(parse(text), type_of)


REJECTING = """
b.i = 1; 1 < b.i; b.i = a.i; b.i IS NOT NULL; NOT b.i IS NULL; b.s LIKE 'x%'; b.s NOT LIKE 'x'
b.i IN (1, 2); b.i NOT IN (1, 2); b.i BETWEEN 1 AND 2; b.i = 1 AND a.i IS NULL; b.i = 1 OR b.s = 'x'
NOT (b.i = 1); b.i + a.i > 3; lower(b.s) = 'x'; CAST(b.s AS INT) = 1; (b.i = 1) IS TRUE; b.o; NOT b.o
b.i IN (SELECT z FROM t); false; NULL; (b.i > 1 OR a.i = 1) AND b.s > 'a'; NOT (b.i IS NULL OR a.i = 2)
a.i BETWEEN b.i AND 5; b.dt - INTERVAL 1 DAY < a.dt; (b.i IS NOT NULL) IS TRUE; a.i = 1 AND NULL
"""
KEEPING = """
b.i IS NULL; COALESCE(b.i, 0) = 0; CASE WHEN b.i IS NULL THEN true END; b.i IS NOT DISTINCT FROM a.i
a.i = 1; b.i IS DISTINCT FROM 1; b.i = 1 OR a.i = 1; NOT (b.i IS NOT NULL); (b.i = 1) IS NOT TRUE
b.i NOT IN (SELECT z FROM t); b.i = ANY (SELECT z FROM t); concat(b.s, 'x') = 'x'
NOT (b.i = 1 AND a.i = 1); a.i NOT BETWEEN b.i AND 5; true; b.i IS NULL AND a.i = 1
COALESCE(b.s, 'y') LIKE 'y'; (b.i = 1) IS NULL; greatest(b.i, 1) = 1; a.o IS NOT TRUE
EXISTS (SELECT 1 FROM t WHERE t.z = b.i); NOT EXISTS (SELECT 1 FROM t WHERE t.z = b.i)
"""


@pytest.fixture(scope="module")
def extended() -> duckdb.DuckDBPyConnection:
    """Rows of a beside a row of b that is NULL in all columns."""
    connection = duckdb.connect()
    nulls = ", ".join(f"NULL::{type_} AS {name.partition('.')[2]}" for name, type_ in TYPES.items())
    connection.execute(f"CREATE VIEW b AS SELECT {nulls}")
    connection.execute("CREATE TABLE t (z INTEGER)")
    connection.execute("CREATE TABLE a (i INTEGER, o BOOLEAN, dt DATE)")
    connection.execute(
        "INSERT INTO a VALUES (1, true, '2024-01-01'), (2, false, NULL), (9, NULL, '1960-01-01')"
    )
    connection.execute("INSERT INTO a VALUES (NULL, true, '2024-01-01')")
    return connection


@pytest.mark.parametrize("text", texts(REJECTING))
def test_rejects_null(extended: duckdb.DuckDBPyConnection, text: str) -> None:
    assert rejects_null(parse(text), COLUMNS)
    assert extended.sql(f"SELECT 1 FROM a, b WHERE {text}").fetchall() == []


@pytest.mark.parametrize("text", texts(KEEPING))
def test_does_not_reject_null(text: str) -> None:
    assert not rejects_null(parse(text), COLUMNS)


@pytest.mark.parametrize(
    "text", texts("b.i; b.i + 1; -b.m; upper(b.s); CAST(b.i AS TEXT); b.i = a.i; (b.i); b.s LIKE 'x'")
)
def test_null_in_null_out(extended: duckdb.DuckDBPyConnection, text: str) -> None:
    assert null_in_null_out(parse(text), COLUMNS)
    assert {row[0] for row in extended.sql(f"SELECT {text} FROM a, b").fetchall()} == {None}


@pytest.mark.parametrize(
    "text", texts("a.i; COALESCE(b.i, 0); 1; b.i IS NULL; CASE WHEN b.o THEN 1 ELSE 2 END; concat(b.s)")
)
def test_null_in_something_out(text: str) -> None:
    assert not null_in_null_out(parse(text), COLUMNS)

"""PostgreSQL's SQL comes out of the tree as the same SQL."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.errors import ParseError

from shardwise.planner.dialects.postgres_names import column_name
from shardwise.planner.dialects.postgres_reading import trees
from shardwise.planner.dialects.postgres_types import type_of_expr


@pytest.mark.parametrize(
    ("written", "comes_out"),
    [
        ("date_part('day', d)", "DATE_PART('day', d)"),
        ("INTERVAL '2 days 03:00' * 2", "CAST('2 days 03:00' AS INTERVAL) * 2"),
        ("interval '1' day", "CAST('1' AS INTERVAL DAY)"),
        ("interval '1-2' year to month", "CAST('1-2' AS INTERVAL YEAR TO MONTH)"),
        ("real '1.5'", "CAST('1.5' AS REAL)"),
        ("numeric(5,2) '1.5'", "CAST('1.5' AS DECIMAL(5, 2))"),
        ("x::int[3]", "CAST(x AS INT[])"),
        ("x::int array", "CAST(x AS INT[])"),
        ("x::bit varying(3)", "CAST(x AS varbit(3))"),
        ("x::timestamp(3) with time zone", "CAST(x AS TIMESTAMPTZ(3))"),
        ("E'a\\tb\\'c\\\\'", "'a\tb''c\\'"),
        ("E'\\x41\\u00e9\\101'", "'AéA'"),
        ("'a\\b'", "'a\\b'"),
        ("'a'\n'b'", "'ab'"),
        ("$$it's$$", "'it''s'"),
        ("current_timestamp(0)", "CAST(CURRENT_TIMESTAMP AS TIMESTAMPTZ(0))"),
        ("substring(a, 2)", "SUBSTRING(a, 2)"),
        ("substring(a from 2)", "SUBSTRING(a FROM 2)"),
        ("a IS NOT NULL", "NOT a IS NULL"),
        ("(a, b) IS NOT NULL", "(a, b) IS NOT NULL"),
        ("t IS NOT NULL", "t IS NOT NULL"),
        ("a IS NOT NULL = b", "(NOT a IS NULL) = b"),
        ("a <> ALL (b)", "a <> ALL (b)"),
        ("j ? 'a' AND b = ?", "j ? 'a' AND b = $1"),
        ("a[1:n]", "a[1:n]"),
        ("string_agg(DISTINCT a, ',' ORDER BY a)", "STRING_AGG(DISTINCT a, ',' ORDER BY a)"),
        ('"Foo"', '"Foo"'),
        ("Foo", "foo"),
    ],
)
def test_text_means_the_same(written: str, comes_out: str) -> None:
    (tree,) = trees(f"SELECT {written} FROM t")
    assert tree.expressions[0].sql("postgres") == comes_out


@pytest.mark.parametrize(
    "text",
    ["|/ 25", "||/ 27", "@ a", "!! q", "0x1F", 'U&"d\\0061t"', "interval(3) '1 day'", "E'\\xe9'", "'a' 'b'"],
)
def test_what_would_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        trees(f"SELECT {text}")


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("count(*)", "count"),
        ("a.b", "b"),
        ("a + 1", "?column?"),
        ("'x'", "?column?"),
        ("x::int", "x"),
        ("1::bigint", "int8"),
        ("'a'::varchar(3)", "varchar"),
        ("now()::date", "now"),
        ("(a + b)::numeric(5,2)", "numeric"),
        ("CASE WHEN a THEN b ELSE c END", "c"),
        ("CASE WHEN a THEN b END", "case"),
        ("coalesce(a, b)", "coalesce"),
        ("sum(x) OVER ()", "sum"),
        ("(SELECT max(v) FROM u)", "max"),
        ("EXISTS (SELECT 1)", "exists"),
        ("ARRAY[1, 2]", "array"),
        ("a[1]", "a"),
        ("trim(both 'x' from y)", "btrim"),
        ("extract(day FROM d)", "extract"),
        ("x AT TIME ZONE 'UTC'", "timezone"),
        ("nullif(a, b)", "nullif"),
    ],
)
def test_names_are_postgres_s(item: str, name: str) -> None:
    (tree,) = trees(f"SELECT {item} FROM t")
    assert column_name(tree.expressions[0]) == name


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("k + 1", "int4"),
        ("k + 3000000000", "int8"),
        ("k * 1.5", "numeric"),
        ("k / f", "float8"),
        ("k + s", "int4"),
        ("coalesce(k, 0.5)", "numeric"),
        ("CASE WHEN k > 1 THEN k ELSE NULL END", "int4"),
        ("k + '1'", "int4"),
        ("length(name)", "int4"),
        ("d - d", "int4"),
        ("name", "text"),
        ("my(name)", None),
        ("r + k", "float8"),
    ],
)
def test_types_are_postgres_s(text: str, kind: str | None) -> None:
    types = {
        "k": "integer",
        "s": "smallint",
        "f": "double precision",
        "name": "text",
        "d": "date",
        "r": "real",
    }

    def type_of(column: exp.Column) -> str | None:
        return types.get(column.name)

    (tree,) = trees(f"SELECT {text}")
    assert type_of_expr(tree.expressions[0], type_of) == kind

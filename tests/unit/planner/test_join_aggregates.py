"""join_aggregates: what is joined, and every condition that keeps a subquery as it is."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.plan.run import Plan
from shardwise.planner import Planner

COLUMNS = """id BIGINT, g INTEGER, h BIGINT, d DECIMAL(9,2), e DECIMAL(12,3), day DATE, t VARCHAR(9),
    f {real}, v INTEGER, w {wide}"""
URLS = {
    "duckdb": "duckdb:///s{n}.duckdb",
    "sqlite": "sqlite:///s{n}.db",
    "mysql": "mysql://u@h/s{n}",
    "postgres": "postgresql://u@h/s{n}",
}


def planned(sql: str, dialect: str = "duckdb") -> Plan:
    columns = COLUMNS.format(
        real="DOUBLE PRECISION", wide="DECIMAL(38,0)" if dialect != "sqlite" else "NUMERIC"
    )
    if dialect == "duckdb":
        columns = columns.replace("DOUBLE PRECISION", "DOUBLE")
    catalog = parse(f"""
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-2 URL '{URLS[dialect]}';
CREATE SHARDING by_id USING MOD 3 AS n ON s{{n}};
ATTACH TABLE a ({columns}) SHARD BY by_id (id);
ATTACH TABLE b ({columns}) SHARD BY by_id (id);
ATTACH TABLE r ({columns}) REFERENCE ON by_id;
""")
    return Planner(catalog).prepare(sql).plan()


def is_joined(sql: str, dialect: str = "duckdb") -> bool:
    return "join_aggregates" in (name for name, _ in planned(sql, dialect).steps)


WHERE = "SELECT a.id FROM a WHERE a.v < (SELECT {} FROM b WHERE b.g = a.g)"
LINKED = "SELECT a.id, (SELECT count(*) FROM b WHERE {}) AS n FROM a"


@pytest.mark.parametrize(
    "value",
    [
        "sum(b.v)",
        "avg(b.d)",
        "min(b.h)",
        "max(b.e)",
        "count(*)",
        "count(b.t)",
        "0.5 * sum(b.v)",
        "avg(b.v) / 2",
        "1 + count(*)",
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "mysql", "postgres"])
def test_an_aggregate_of_a_column_is_joined(value: str, dialect: str) -> None:
    assert is_joined(WHERE.format(value), dialect)


@pytest.mark.parametrize(
    "link",
    [
        "b.g = a.g",
        "a.h = b.g",
        "b.d = a.d",
        "b.day = a.day",
        "b.t = a.t",
        "b.g = a.g AND b.h = a.h AND b.v > 3",
        "b.g = a.g AND b.g = a.h",
    ],
)
def test_equal_columns_of_one_kind_link(link: str) -> None:
    assert is_joined(LINKED.format(link))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a.id FROM a WHERE (SELECT max(b.v) FROM b WHERE b.g = a.g) IS NULL OR a.id = 3",
        "SELECT a.id FROM a WHERE coalesce((SELECT sum(b.v) FROM b WHERE b.g = a.g), 0) = 0",
        "SELECT a.id FROM a WHERE a.v BETWEEN 1 AND (SELECT max(b.v) FROM b WHERE b.g = a.g)",
        "SELECT g FROM a GROUP BY g HAVING count(*) > (SELECT count(*) FROM b WHERE b.h = a.g)",
        "SELECT r.id, (SELECT count(*) FROM b WHERE b.g = r.g) AS n FROM r",
        WHERE.format("sum(b.v)").replace("FROM b WHERE", "FROM b JOIN r ON r.id = b.h AND r.h = a.h WHERE"),
        WHERE.format("sum(b.v)").replace("FROM b WHERE", "FROM (SELECT h AS g, v FROM b) b WHERE"),
    ],
)
def test_where_it_may_stand(sql: str) -> None:
    assert is_joined(sql)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        (LINKED.format("b.id = a.id"), "its rows are on the shard of the row"),
        ("SELECT a.id, (SELECT count(*) FROM r WHERE r.g = a.g) AS n FROM a", "every shard has its rows"),
        (f"{LINKED.format('b.g = a.g AND b.id = 1')} WHERE a.id = 1", "one shard has all rows"),
        (LINKED.format("b.f = a.f"), "NaN, and -0.0"),
        (LINKED.format("b.g = a.t"), "a number and a text"),
        (LINKED.format("b.g = a.d"), "numbers of two kinds"),
        (LINKED.format("b.d = a.e"), "numbers of two scales"),
        (LINKED.format("b.g = a.g + 1"), "no column"),
        (LINKED.format("b.g > a.g"), "no equality"),
        (LINKED.format("b.g IS NOT DISTINCT FROM a.g"), "NULL meets NULL"),
        (LINKED.format("b.g = a.g AND b.v > a.v"), "more is asked of the row"),
        (LINKED.format("b.g = a.g OR b.h = a.h"), "one of two"),
        (LINKED.format("b.g = a.g AND CAST(b.t AS INTEGER) = 1"), "another group's text may be no number"),
        (LINKED.format("b.g = a.g AND b.v > 10 * random()"), "drawn again for each row"),
        (LINKED.format("b.g = a.g AND b.v IN (SELECT r.v FROM r)"), "a subquery in it"),
        (WHERE.format("sum(b.v + 1)"), "the sum of another group may overflow"),
        (WHERE.format("sum(b.w)"), "so may that of 38 digits"),
        (WHERE.format("sum(b.f)"), "an order of its own"),
        (WHERE.format("max(b.t)"), "texts have collations"),
        (WHERE.format("sum(DISTINCT b.v)"), "not thought of"),
        (WHERE.format("max(b.v) + 1"), "2147483647 of another group"),
        (WHERE.format("1 / sum(b.v)"), "0 of another group"),
        (WHERE.format("sum(b.v) / 0"), "0"),
        (WHERE.format("sum(b.v) * 12345678"), "too many digits"),
        (WHERE.format("max(b.v) - min(b.v)"), "two of them"),
        (WHERE.format("CAST(avg(b.v) AS TINYINT)"), "out of range for another group"),
        (WHERE.format("sum(b.v) + a.v"), "a column of the row's"),
        (WHERE.format("string_agg(b.t, ',')"), "an order of its own"),
        (f"{WHERE.format('max(b.v)')[:-1]} GROUP BY b.h)", "several rows"),
        (f"{WHERE.format('max(b.v)')[:-1]} HAVING count(*) > 1)", "perhaps no row"),
        (f"{WHERE.format('b.v')[:-1]} LIMIT 1)", "no aggregate"),
        ("SELECT a.id FROM a WHERE 1 / a.v < (SELECT max(b.v) FROM b WHERE b.g = a.g)", "it may raise"),
        (
            "SELECT a.id FROM a WHERE CAST(a.t AS INT) < (SELECT max(b.v) FROM b WHERE b.g = a.g)",
            "it may raise",
        ),
        (
            "SELECT a.id FROM a WHERE a.t < (SELECT CAST(max(b.v) AS VARCHAR) FROM b WHERE b.g = a.g)",
            "a cast",
        ),
        ("SELECT a.id FROM a WHERE a.v IN (SELECT max(b.v) FROM b WHERE b.g = a.g)", "a list"),
        ("SELECT a.id FROM a WHERE EXISTS (SELECT max(b.v) FROM b WHERE b.g = a.g)", "a row, always"),
        ("SELECT a.id FROM a WHERE a.v > ANY (SELECT max(b.v) FROM b WHERE b.g = a.g)", "a list"),
        ("SELECT a.id, a.v + (SELECT max(b.v) FROM b WHERE b.g = a.g) AS n FROM a", "computed on with"),
        (
            LINKED.format("b.h = a.h AND b.v < (SELECT max(c.v) FROM b c WHERE c.g = a.g)"),
            "two levels up",
        ),
        (
            "SELECT a.id, (SELECT sum(x.v) FROM (SELECT * FROM b LIMIT 5) x WHERE x.g = a.g) AS n FROM a",
            "other rows each time",
        ),
    ],
)
def test_what_stays_as_it_is(sql: str, why: str) -> None:
    assert not is_joined(sql), why


def test_sqlite_sums_overflow() -> None:
    assert not is_joined(WHERE.format("sum(b.v)"), "sqlite")
    assert is_joined(WHERE.format("max(b.v)"), "sqlite")
    assert is_joined(WHERE.format("avg(b.v)"), "sqlite")


def test_postgres_sums_of_integers_are_bigints() -> None:
    assert not is_joined(WHERE.format("1000 * sum(b.v)"), "postgres")
    assert is_joined(WHERE.format("1000 * avg(b.v)"), "postgres")


def test_mysql_divides_over_the_join() -> None:
    """A derived table's average is cut to four digits more than its numbers have."""
    merge = planned(WHERE.format("avg(b.v)"), "mysql").merge
    assert merge is not None
    assert "(`agg`.`a` / `agg`.`a_count`)" in merge.sql


def test_a_row_that_nothing_meets_counts_none() -> None:
    plan = planned("SELECT a.id FROM a WHERE 0 = (SELECT count(*) FROM b WHERE b.g = a.g)")
    assert plan.merge is not None
    assert "LEFT JOIN" in plan.merge.sql


def test_columns_of_the_join_do_not_show() -> None:
    plan = planned(
        "SELECT DISTINCT * FROM (SELECT DISTINCT id, 1 AS one, v FROM a) q "
        "WHERE q.v < (SELECT max(b.v) FROM b WHERE b.g = q.id)"
    )
    assert [name for name, _ in plan.columns] == ["id", "one", "v"]

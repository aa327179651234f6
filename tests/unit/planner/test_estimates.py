"""Estimates: what ANALYZE found decides, defaults where nothing did; an answer never rests on one."""

from __future__ import annotations

from decimal import Decimal

import pytest

from shardwise.catalog import Catalog, language
from shardwise.catalog.statistics import ColumnStatistics, TableStatistics
from shardwise.catalog.types import Family
from shardwise.plan.nodes import ColumnId, Node
from shardwise.plan.tree import walk
from shardwise.planner import Context
from shardwise.planner.bind import Binder
from shardwise.planner.bind.names import Names
from shardwise.planner.dialects import query_dialect
from shardwise.planner.estimates import Estimates
from shardwise.planner.estimates.scalars import scalar_of_value
from shardwise.planner.parameters import Parameters, names_written
from shardwise.planner.parse import parse
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.push_filters import push_filters

CATALOG = language.parse("""
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 2 ON s{slot};
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, placed DATE, total DOUBLE, state VARCHAR)
  SHARD BY by_id (id);
CREATE TABLE customers (id BIGINT PRIMARY KEY, name VARCHAR, city VARCHAR) SHARD BY by_id (id);
CREATE TABLE states (state VARCHAR, label VARCHAR) REFERENCE ON by_id;
""")
STATISTICS = (
    TableStatistics(
        name="orders",
        rows=1_000_000,
        source="scan",
        read_at="2026-12-01T00:00:00Z",
        columns={
            "id": ColumnStatistics(distinct=1_000_000, bounds=("1", "500000", "1000000"), width=8),
            "customer": ColumnStatistics(distinct=50_000, nulls=0.1, width=8),
            "placed": ColumnStatistics(
                distinct=1000, bounds=("2024-01-01", "2025-01-01", "2026-01-01"), width=4
            ),
            "state": ColumnStatistics(distinct=4, common=(("paid", 0.7), ("open", 0.2)), width=6),
        },
    ),
    TableStatistics(
        name="customers",
        rows=100_000,
        source="scan",
        read_at="2026-12-01T00:00:00Z",
        columns={"id": ColumnStatistics(distinct=100_000, width=8), "city": ColumnStatistics(distinct=200)},
    ),
)
MEASURED = Catalog(name=CATALOG.name, dialect=CATALOG.dialect, items=(*CATALOG.items, *STATISTICS))


def rows(sql: str, params: tuple[object, ...] = (), catalog: Catalog = MEASURED) -> float:
    return estimated(sql, params, catalog)[0]


def estimated(
    sql: str, params: tuple[object, ...] = (), catalog: Catalog = MEASURED
) -> tuple[float, Estimates, Node]:
    dialect = query_dialect("duckdb")
    ast = parse(sql, dialect)
    parameters = Parameters(params, names_written(ast))
    binder = Binder(catalog, Context(), parameters, {}, Names(), dialect=dialect)
    ctx = PlanContext(catalog=catalog, parameters=parameters, names=binder.names)
    tree = binder.query(ast, None).node
    ctx.learn(tree)
    tree = push_filters(tree, ctx)
    return ctx.estimates.rows(tree), ctx.estimates, tree


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("id = 7", 1),
        ("customer = 7", 18),  # 90 % of the rows have one of 50,000
        ("state = 'paid'", 700_000),
        ("state = 'odd'", 50_000),  # two values share a tenth
        ("state <> 'paid'", 300_000),
        ("state IN ('paid', 'open')", 900_000),
        ("customer IS NULL", 100_000),
        ("customer IS NOT NULL", 900_000),
        ("placed < DATE '2025-01-01'", 500_000),
        ("placed >= DATE '2025-07-02'", 250_000),
        ("placed >= DATE '2025-01-01' AND placed < DATE '2025-01-01' + INTERVAL 6 MONTH", 251_000),
        ("id BETWEEN 1 AND 250000", 250_000),
        ("id > 1000000", 1),
        ("NOT (id > 250000)", 250_000),
        ("id = 7 OR id = 9", 2),
    ],
)
def test_a_predicates_rows_are_as_the_statistics_say(condition: str, expected: float) -> None:
    assert rows(f"SELECT * FROM orders WHERE {condition}") == pytest.approx(expected, rel=0.02, abs=1)


def test_parameters_values_are_looked_at() -> None:
    assert rows("SELECT * FROM orders WHERE state = ?", ("paid",)) == pytest.approx(700_000)
    assert rows("SELECT * FROM orders WHERE id < ?", (250_000,)) == pytest.approx(250_000, rel=0.01)


@pytest.mark.parametrize(
    "value", [10**400, Decimal("NaN"), Decimal("sNaN"), float("inf")], ids=["huge", "NaN", "sNaN", "inf"]
)
def test_a_number_that_has_no_place_on_the_line_is_none(value: object) -> None:
    assert scalar_of_value(value, Family.INT) is None


def test_a_join_on_a_key_gives_the_other_sides_rows() -> None:
    joined = rows("SELECT * FROM orders o JOIN customers c ON c.id = o.customer")
    assert joined == pytest.approx(1_000_000)
    narrowed = rows("SELECT * FROM orders o JOIN customers c ON c.id = o.customer WHERE c.city = 'Rome'")
    assert narrowed == pytest.approx(10_000)  # as if all 500 customers had orders (containment)


def test_a_left_join_keeps_at_least_its_rows() -> None:
    assert rows("SELECT * FROM orders o LEFT JOIN customers c ON c.id = o.id AND c.city = 'x'") == 1_000_000


def test_groups_are_at_most_the_values_of_their_keys() -> None:
    assert rows("SELECT state, count(*) FROM orders GROUP BY state") == 4
    assert rows("SELECT count(*) FROM orders") == 1
    assert rows("SELECT customer, count(*) FROM orders GROUP BY 1") == pytest.approx(50_001)
    assert rows("SELECT customer, placed, count(*) FROM orders GROUP BY 1, 2") <= 1_000_000


def test_without_statistics_there_are_defaults() -> None:
    assert rows("SELECT * FROM orders", catalog=CATALOG) == 100_000
    assert rows("SELECT * FROM states", catalog=CATALOG) == 1_000
    assert rows("SELECT * FROM orders WHERE id = 1", catalog=CATALOG) == 1
    assert rows("SELECT * FROM orders WHERE total < 1", catalog=CATALOG) == pytest.approx(33_333, rel=0.01)


def test_a_columns_width_is_what_was_measured() -> None:
    _, estimates, tree = estimated("SELECT id, state FROM orders")
    (scan,) = (node for node in walk(tree) if not node.inputs)
    assert estimates.width(scan, [ColumnId("orders", "id")]) == 16
    assert estimates.width(scan, [ColumnId("orders", "state")]) == 14


def test_nothing_is_expected_of_false() -> None:
    assert rows("SELECT * FROM orders WHERE FALSE") == 0


@pytest.mark.parametrize(
    ("constant", "expected"), [("1.50", 400_000), ("1.5", 400_000), ("2", 100_000), ("3.25", 500)]
)
def test_a_common_value_is_known_however_it_is_written(constant: str, expected: float) -> None:
    statistics = TableStatistics(
        name="orders",
        rows=1_000_000,
        source="scan",
        read_at="2026-12-01T00:00:00Z",
        columns={"total": ColumnStatistics(distinct=1002, common=(("1.5", 0.4), ("2.0", 0.1)))},
    )
    catalog = Catalog(name=CATALOG.name, dialect=CATALOG.dialect, items=(*CATALOG.items, statistics))
    assert rows(f"SELECT * FROM orders WHERE total = {constant}", catalog=catalog) == pytest.approx(expected)

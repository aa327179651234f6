"""probe_groups_early: only where groups are known to be as many as the rows that are looked up in them."""

from __future__ import annotations

from typing import Any

import pytest

from shardwise.catalog import parse
from shardwise.plan.run import Plan
from shardwise.planner import Planner

TABLES = """
CREATE CATALOG shop DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-1 URL '{product}://db{{n}}/shop';
CREATE SHARDING by_order USING MOD 2 AS n ON s{{n}};
ATTACH TABLE orders (id BIGINT NOT NULL, customer BIGINT NOT NULL, PRIMARY KEY (id)) SHARD BY by_order (id);
ATTACH TABLE items (order_id BIGINT NOT NULL, line INTEGER NOT NULL, quantity INTEGER NOT NULL,
  PRIMARY KEY (order_id, line)) SHARD BY by_order (order_id);
STATISTICS orders ROWS {orders} FROM SCAN AT '2026-12-01T00:00:00Z' (id (DISTINCT {orders}));
"""
ITEMS = """
STATISTICS items ROWS 400000 FROM SCAN AT '2026-12-01T00:00:00Z' (order_id (DISTINCT 100000));
"""
SQL = """SELECT orders.customer, items.quantity FROM orders JOIN items ON items.order_id = orders.id
WHERE orders.id IN (SELECT order_id FROM items{} GROUP BY order_id HAVING sum(quantity) > 300)"""


def planned(
    *,
    dialect: str = "mysql",
    product: str = "mysql",
    orders: int = 100_000,
    more: str = ITEMS,
    where: str = "",
) -> Plan:
    catalog = parse(TABLES.format(dialect=dialect, product=product, orders=orders) + more)
    return Planner(catalog).prepare(SQL.format(where)).plan()


def texts(**told: Any) -> str:
    fragments = planned(**told).fragments
    assert {shard for fragment in fragments for shard in fragment.route.shards} == {"s0", "s1"}
    return " ".join(fragment.text("s0") for fragment in fragments)


@pytest.mark.parametrize("dialect", ["mysql", "duckdb"])
def test_mariadb_is_not_asked_for_a_semi_join(dialect: str) -> None:
    assert "IS TRUE" in texts(dialect=dialect)


@pytest.mark.parametrize(
    "told",
    [
        {"orders": 100_001},
        {"where": " WHERE line = 1"},
        {"more": ""},
        {"dialect": "postgres", "product": "postgresql"},
        {"dialect": "duckdb", "product": "postgresql"},
    ],
    ids=["fewer groups than rows", "a part of the groups", "not measured", "postgres", "duckdb on postgres"],
)
def test_elsewhere_it_may_be_one(told: dict[str, Any]) -> None:
    assert "IS TRUE" not in texts(**told)

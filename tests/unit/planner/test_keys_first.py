"""keys_first, once the keys are known; which joins it narrows the golden plans show."""

from __future__ import annotations

from typing import Any

from shardwise.catalog import parse
from shardwise.plan.run import Bound, Plan
from shardwise.planner import Planner

CATALOG = parse("""
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_item USING MOD 4 ON s{slot};
CREATE SHARDING by_product USING MOD 4 ON s{slot};
CREATE TABLE items (id BIGINT PRIMARY KEY, product_id BIGINT, quantity INTEGER) SHARD BY by_item (id);
CREATE TABLE products (id BIGINT PRIMARY KEY, name VARCHAR, price DECIMAL(9,2)) SHARD BY by_product (id);
""")
SQL = "SELECT i.quantity, p.price FROM items i JOIN products p ON p.id = i.product_id WHERE p.name = 'x'"


def planned(sql: str = SQL) -> Plan:
    return Planner(CATALOG).prepare(sql).plan()


def known(rows: Any, plan: Plan) -> Plan:
    (keys,) = plan.first
    assert plan.then is not None
    return plan.then({keys.name: Bound(("BIGINT",), rows)})


def narrowed(plan: Plan) -> str:
    return next(f.sql for f in plan.fragments if "FROM items" in f.sql)


def test_the_keys_are_bound_as_one_list() -> None:
    plan = known([(1,), (None,), (7,)], planned())
    assert narrowed(plan).endswith("WHERE i.product_id IN (SELECT UNNEST(CAST($keys_1 AS BIGINT[])))")
    fragment = next(f for f in plan.fragments if "FROM items" in f.sql)
    assert fragment.params == {"keys_1": [1, 7]}
    assert not plan.first


def test_no_key_means_no_row() -> None:
    assert narrowed(known([(None,)], planned())).endswith("WHERE FALSE")


def test_too_many_keys_leave_the_other_side_whole() -> None:
    plan = known(None, planned())
    assert narrowed(plan) == "SELECT i.product_id, i.quantity FROM items AS i"
    assert not plan.first


def test_a_side_that_waits_for_a_subquery_is_asked_after_it() -> None:
    plan = planned(f"{SQL} AND p.price > (SELECT avg(price) FROM products)")
    assert [first.name for first in plan.first] == ["subquery_1"]
    assert plan.then is not None
    plan = plan.then({"subquery_1": Bound(("DOUBLE",), [(2.5,)])})
    assert [first.name for first in plan.first] == ["keys_2"]
    assert plan.first[0].plan.fragments[0].params == {"subquery_1": 2.5}
    assert plan.then is not None
    plan = plan.then({"keys_2": Bound(("BIGINT",), [(1,)])})
    assert not plan.first
    assert "$keys_2" in narrowed(plan)

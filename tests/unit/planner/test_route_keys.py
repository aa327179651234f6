"""route_keys: keys that ran first go each to its own shard, and nothing that may be elsewhere is left out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.run import Bound, Plan
from shardwise.planner import Planner

CATALOG = parse("""
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 4 ON s{slot};
CREATE TABLE items (id BIGINT PRIMARY KEY, product_id BIGINT, other_id BIGINT) SHARD BY by_id (id);
CREATE TABLE products (id BIGINT PRIMARY KEY, name VARCHAR) SHARD BY by_id (id);
CREATE TABLE parts (product_id BIGINT, part BIGINT) SHARD BY by_id (product_id);
""")
KEYS = Options(force=("keys",))


def planned(sql: str, rows: list[tuple[Any, ...]], *types: str) -> Plan:
    plan = Planner(CATALOG).prepare(sql).plan(options=KEYS)
    (first,) = plan.first
    assert plan.then is not None
    return plan.then({first.name: Bound(types, rows)})


def sent(plan: Plan, table: str) -> dict[str, Any]:
    """The keys that each shard is sent."""
    return {
        r.shard: r.params["rows_1"] for r in plan.start().ready() if f" {table} " in f"{r.sql} " and r.params
    }


def test_each_shard_is_sent_its_own_keys_and_one_without_keys_is_not_asked() -> None:
    sql = "SELECT p.name FROM items i JOIN products p ON p.id = i.product_id WHERE i.other_id = 3"
    plan = planned(sql, [(4,), (8,), (5,), (None,), (4,)], "BIGINT")
    assert sent(plan, "products") == {"s0": [4, 8], "s1": [5]}


def test_what_is_colocated_is_sent_the_same() -> None:
    sql = (
        "SELECT p.name, q.part FROM items i JOIN products p ON p.id = i.product_id "
        "JOIN parts q ON q.product_id = p.id WHERE i.other_id = 3"
    )
    assert sent(planned(sql, [(4,), (5,)], "BIGINT"), "products") == {"s0": [4], "s1": [5]}


def test_keys_of_a_column_that_is_no_shard_key_go_everywhere() -> None:
    sql = "SELECT i.id FROM products p JOIN items i ON p.id = i.product_id WHERE p.name = 'x'"
    found = sent(planned(sql, [(4,), (5,)], "BIGINT"), "items")
    assert found == {shard: [4, 5] for shard in ("s0", "s1", "s2", "s3")}


def test_a_key_that_has_no_place_goes_everywhere() -> None:
    catalog = parse("""
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
    CREATE SHARDING by_list USING LIST (s0 = IN (1, 2), s1 = IN (3, 4));
    CREATE TABLE a (id BIGINT PRIMARY KEY, b_id BIGINT, x BIGINT) SHARD BY by_list (id);
    CREATE TABLE b (id BIGINT PRIMARY KEY, name VARCHAR) SHARD BY by_list (id);
    """)
    plan = (
        Planner(catalog)
        .prepare("SELECT b.name FROM a JOIN b ON b.id = a.b_id WHERE a.x = 3")
        .plan(options=KEYS)
    )
    assert plan.then is not None
    plan = plan.then({plan.first[0].name: Bound(("BIGINT",), [(1,), (9,)])})
    assert sent(plan, "b") == {"s0": [1, 9], "s1": [9]}


def test_decimals_are_placed_by_their_value() -> None:
    catalog = parse("""
    CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
    CREATE SHARDING h USING HASH(crc32) SLOTS 4 ON s{slot % 2};
    CREATE TABLE a (id BIGINT PRIMARY KEY, b_id DECIMAL(9,2), x BIGINT) SHARD BY h (id);
    CREATE TABLE b (id DECIMAL(9,2) PRIMARY KEY, name VARCHAR) SHARD BY h (id);
    """)
    statement = Planner(catalog).prepare("SELECT b.name FROM a JOIN b ON b.id = a.b_id WHERE a.x = 3")
    plan = statement.plan(options=KEYS)
    assert plan.then is not None
    after = plan.then({plan.first[0].name: Bound(("DECIMAL(9,2)",), [(Decimal("1.00"),)])})
    one = Planner(catalog).prepare("SELECT name FROM b WHERE id = 1.0").plan()
    assert list(sent(after, "b")) == list(one.shards)

"""What `=` links: never two columns of which one is compared as something coarser."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.plan.nodes import ColumnId, Output
from shardwise.planner import Planner
from shardwise.planner.equivalence import are_declared_alike, linkable

CATALOG = """
CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'duckdb:///s{{n}}.duckdb';
CREATE SHARDING h USING HASH(crc32) SLOTS 4 ON s{{slot % 2}};
CREATE TABLE a (d DECIMAL(38,0), k INTEGER) SHARD BY h (d);
CREATE TABLE b (d DECIMAL(10,2), k INTEGER) SHARD BY h (k);
CREATE TABLE c (d {}, k INTEGER) SHARD BY h (d);
"""
ONE, OTHER = ColumnId("a", "x"), ColumnId("b", "x")


@pytest.mark.parametrize(
    ("one", "other", "links", "alike"),
    [
        ("BIGINT", "INTEGER", True, True),
        ("BIGINT", "DECIMAL(9,2)", False, False),
        ("DECIMAL(38,0)", "DECIMAL(10,2)", True, False),
        ("HUGEINT", "UHUGEINT", False, False),
        ("TIMESTAMP", "DATETIME", False, False),  # in MySQL one is of the session's zone
        ("TIMESTAMP(6)", "DATETIME(6)", False, False),
        ("DATETIME", "DATETIME(6)", True, False),
        ("TIMESTAMP", "TIMESTAMP", True, True),
    ],
)
def test_types(one: str, other: str, links: bool, alike: bool) -> None:
    types = {ONE: Output(ONE, one), OTHER: Output(OTHER, other)}
    assert linkable(ONE, OTHER, types) == links
    assert are_declared_alike(ONE, OTHER, types) == alike


@pytest.mark.parametrize(("type_", "follows"), [("DECIMAL(38,0)", True), ("DECIMAL(38,38)", False)])
def test_a_comparison_that_may_fail_does_not_follow(type_: str, follows: bool) -> None:
    """a.d = b.d AND b.d = c.d have types that hold both sides; a.d = c.d need not."""
    sql = "SELECT a.k FROM a JOIN b ON a.d = b.d JOIN c ON b.d = c.d"
    plan = Planner(parse(CATALOG.format(type_))).prepare(sql).plan()
    assert any("JOIN c" in f.sql and "FROM a" in f.sql for f in plan.fragments) == follows

"""Hypothesis looks for a predicate and a row that it holds for, on a slot that was pruned.

The worlds of `test_prune_random` are many and fixed; here the predicates and the rows shrink to the
smallest that show a fault.
"""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import parse_one

from shardwise.catalog import parse
from shardwise.catalog.model import Catalog, Table
from shardwise.plan.tree import conjuncts
from shardwise.planner.prune import slots_of

SHARDINGS = {
    "mod": "USING MOD 5 ON s{slot % 2}",
    "hash": "USING HASH(murmur3) SLOTS 6 ON s{slot % 2}",
    "range": "USING RANGE (s0 = LESS THAN -1, s1 = LESS THAN 2, s0 = LESS THAN MAXVALUE)",
    "list": "USING LIST (s0 = IN (0, 1), s1 = IN (2), s0 = DEFAULT)",
    "ring": "USING RING(crc32) POINTS 8 (s0, s1)",
}

numbers = st.one_of(
    st.integers(-3, 4).map(str), st.sampled_from(["NULL", "'2'", "1.0", "1.5", "3000000000", "-0.0"])
)
leaves = st.one_of(
    st.builds(
        "k {} {}".format, st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "IS NOT DISTINCT FROM"]), numbers
    ),
    st.builds(
        "k {} ({})".format,
        st.sampled_from(["IN", "NOT IN"]),
        st.lists(numbers, min_size=1, max_size=3).map(", ".join),
    ),
    st.builds("k BETWEEN {} AND {}".format, numbers, numbers),
    st.sampled_from(
        ["k IS NULL", "k IS NOT NULL", "x = 1", "coalesce(k, 2) = 2", "(k = 2) IS TRUE", "k + 1 = 2"]
    ),
)
predicates = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        inner.map("(NOT {})".format),
    ),
    max_leaves=6,
)
rows = st.lists(
    st.tuples(st.none() | st.integers(-4, 5), st.none() | st.integers(0, 1)), min_size=1, max_size=8
)


def catalog(sharding: str) -> Catalog:
    return parse(
        "CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';"
        f"CREATE SHARDING by_k {SHARDINGS[sharding]};"
        "CREATE TABLE t (k BIGINT, x INTEGER) SHARD BY by_k (k);"
    )


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.mark.parametrize("sharding", SHARDINGS)
@settings(max_examples=60, deadline=None, derandomize=True)
@given(predicate=predicates, table_rows=rows)
@example(predicate="k = 2", table_rows=[(2, 1), (None, 0), (7, 1)])
def test_no_row_that_matches_is_on_a_pruned_slot(
    con: duckdb.DuckDBPyConnection,
    sharding: str,
    predicate: str,
    table_rows: list[tuple[int | None, int | None]],
) -> None:
    known = catalog(sharding)
    table = known.table("t")
    assert isinstance(table, Table)
    by_k = known.sharding("by_k")
    bound = parse_one(predicate, dialect="duckdb").transform(
        lambda e: e if e.key != "column" else type(e)(this=e.this.copy(), table=parse_one("t").this.copy())
    )
    slots = slots_of(conjuncts(bound), rel="t", table=table, sharding=by_k).slots
    if predicate == "k = 2":
        assert slots.bit_count() == 1, "nothing is pruned at all: then this test could not fail"
    values = ", ".join(
        f"({'NULL' if k is None else k}::BIGINT, {'NULL' if x is None else x}::INTEGER)"
        for k, x in table_rows
    )
    try:
        matching = con.execute(f"SELECT t.k FROM (VALUES {values}) t(k, x) WHERE {predicate}").fetchall()
    except duckdb.Error:
        return  # one database raises: nothing is promised
    for (key,) in matching:
        assert slots >> by_k.function.slot((key,)) & 1, f"{key} matches {predicate}, and its slot was pruned"

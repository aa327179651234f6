"""Trees made of SQL, for the tests of what the planner does with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from shardwise.catalog import parse
from shardwise.catalog.index_tables import fingerprint
from shardwise.catalog.model import Built, Catalog, IndexState, JoinIndex
from shardwise.plan.nodes import Node, Output
from shardwise.plan.tree import walk
from shardwise.planner.bind import Binder
from shardwise.planner.bind.names import Names
from shardwise.planner.context import Context
from shardwise.planner.parameters import Given, Parameters
from shardwise.planner.parse import parse as parse_sql
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passes import Pass

N = TypeVar("N", bound=Node)

# a, b and c are split by k (even and NULL on s0, odd on s1), d by x, which is another sharding.
LETTERS = parse("""
CREATE CATALOG letters DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-2 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_k USING MOD 2 ON s{slot};
CREATE SHARDING by_x USING MOD 2 ON s{slot};
CREATE SHARDING by_pair USING MOD 2, MOD 2 AS m ON s{m};
CREATE TABLE a (k BIGINT, v BIGINT, x BIGINT, s VARCHAR) SHARD BY by_k (k);
CREATE TABLE b (k BIGINT, v BIGINT, x BIGINT, s VARCHAR) SHARD BY by_k (k);
CREATE TABLE c (k BIGINT, v BIGINT, x BIGINT, s VARCHAR) SHARD BY by_k (k);
CREATE TABLE d (k BIGINT, v BIGINT, x BIGINT) SHARD BY by_x (x);
CREATE TABLE texts (k VARCHAR, v BIGINT) SHARD BY by_text (k);
CREATE SHARDING by_text USING HASH(crc32) SLOTS 2 ON s{slot};
CREATE TABLE words (word VARCHAR COLLATE NOCASE, v BIGINT) SHARD BY by_text (word);
CREATE TABLE moods (k BIGINT, mood ENUM('low', 'high'), name VARCHAR COLLATE NOCASE) SHARD BY by_k (k);
CREATE TABLE halves (h BIGINT, v BIGINT) SHARD BY by_k ((h >> 1));
CREATE TABLE halves2 (h BIGINT, v BIGINT) SHARD BY by_k ((h >> 1));
CREATE TABLE pairs (p BIGINT, q BIGINT, v BIGINT) SHARD BY by_pair (p, q);
CREATE TABLE pairs2 (p BIGINT, q BIGINT, v BIGINT) SHARD BY by_pair (p, q);
CREATE TABLE bills (id BIGINT, k BIGINT, v BIGINT) SHARD BY by_k (k) UNIQUE ACROSS SHARDS (id);
CREATE TABLE lines (bill_id BIGINT, v BIGINT) SHARD WITH bills ON bill_id = bills.id;
CREATE TABLE stamps (bill_id BIGINT, v BIGINT) SHARD WITH bills ON bill_id = bills.id;
CREATE TABLE notes (id BIGINT NOT NULL, k BIGINT) SHARD BY by_k (k) UNIQUE ACROSS SHARDS (id);
CREATE TABLE slips (id BIGINT, k BIGINT) SHARD BY by_k (k);
CREATE TABLE slip_lines (slip_id BIGINT, v BIGINT) SHARD WITH slips ON slip_id = slips.id;
CREATE TABLE audit (k BIGINT, v BIGINT) SCATTERED ON by_k;
CREATE TABLE r (k BIGINT, c BIGINT, s VARCHAR) REFERENCE ON s0, s1;
CREATE TABLE r2 (k BIGINT, c BIGINT, s VARCHAR) REFERENCE ON s0, s1;
CREATE TABLE r0 (k BIGINT, c BIGINT, s VARCHAR) REFERENCE ON s0;
CREATE TABLE only0 (k BIGINT, v BIGINT) ON s0;
CREATE TABLE only1 (k BIGINT, v BIGINT) ON s1;
CREATE VIEW positive AS SELECT k, v FROM a WHERE v > 0;
""")


def with_valid_indexes(catalog: Catalog) -> Catalog:
    """The catalog as it is once all of its indexes are built."""
    own = (index for index in catalog.indexes() if isinstance(index, JoinIndex) or not index.index_table)
    states = [
        IndexState(
            name=index.name,
            state=Built.VALID,
            built_at="2026-12-01T00:00:00Z",
            rows=10,
            fingerprint=fingerprint(catalog, index),
        )
        for index in own
    ]
    return catalog.with_(*states)


def context(
    params: Given = None, *, catalog: Catalog = LETTERS, local: dict[str, tuple[Output, ...]] | None = None
) -> tuple[Binder, PlanContext]:
    """A binder, and a pass's context over the same parameters and names."""
    parameters, names = Parameters(params), Names()
    binder = Binder(catalog, Context(), parameters, local or {}, names)
    return binder, PlanContext(catalog=catalog, parameters=parameters, names=names)


def bound(sql: str, passes: Iterable[Pass] = (), *, params: Given = None) -> tuple[Node, PlanContext]:
    """The tree of a statement as it is bound, and after `passes`."""
    binder, ctx = context(params)
    plan = binder.query(parse_sql(sql), None).node
    ctx.learn(plan)
    for one in passes:
        plan = one(plan, ctx)
        ctx.learn(plan)
    return plan, ctx


def nodes(plan: Node, kind: type[N]) -> Iterator[N]:
    """The tree's nodes of one class, subqueries' too, from the top."""
    return (node for node in walk(plan) if isinstance(node, kind))


def first(plan: Node, kind: type[N]) -> N:
    """The topmost node of a class."""
    found = next(nodes(plan, kind), None)
    assert found is not None, f"no {kind.__name__} in the tree"
    return found

"""Trees for the tests of plan/sql: short makers, and random trees over three small tables."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import count

import duckdb
from sqlglot import exp, parse_one

from shardwise.catalog.model import Column, Single, Table
from shardwise.executor import duck
from shardwise.plan import nodes as n
from shardwise.plan.route import Route
from shardwise.plan.sql import to_query
from shardwise.plan.sql.block import Block, Scope
from shardwise.plan.sql.render import Renderer
from shardwise.plan.tree import column, subplan

ROUTE = Route(shards=("s0",), total=1)

DATA = """
CREATE TABLE customers (id BIGINT, city VARCHAR, level BIGINT);
INSERT INTO customers VALUES (1, 'Oslo', 1), (2, 'Rome', 2), (3, 'Oslo', NULL), (4, NULL, 2);
CREATE TABLE orders (id BIGINT, customer_id BIGINT, total BIGINT);
INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5), (4, 9, 7), (5, NULL, 3), (6, 3, NULL), (7, 2, 5);
CREATE TABLE t (k BIGINT, x BIGINT);
INSERT INTO t VALUES (0, 1), (1, 1), (2, NULL), (2, 3), (NULL, 2), (3, 3), (3, 3), (1, 0);
CREATE TABLE u (k BIGINT, y BIGINT);
INSERT INTO u VALUES (1, 1), (2, 0), (2, 2), (NULL, 3), (5, NULL);
CREATE TABLE v (id BIGINT, k BIGINT, x BIGINT);
INSERT INTO v VALUES (1, 1, 2), (2, 1, NULL), (3, NULL, 0), (4, 4, 4);
"""


def connection() -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    if duck.IS_V1:
        con.execute(f"SET disabled_optimizers = '{duck.WRONG_ON_V1}'")
    con.execute(DATA)
    return con


def e(text: str) -> exp.Expression:
    found = parse_one(text, dialect="duckdb")
    assert isinstance(found, exp.Expression)
    return found


def no_leaf(node: n.Node) -> None:
    return None


def sql(node: n.Node, names: Sequence[str] | None = None) -> str:
    return to_query(node, no_leaf, names).sql(dialect="duckdb")


def scan(table: str, rel: str, columns: str, schema: str | None = None) -> n.Scan:
    names = columns.split()
    described = Table(
        name=table,
        schema=schema,
        columns=tuple(Column(name=name, type="BIGINT") for name in names),
        placement=Single(on="s0"),
    )
    outputs = tuple(n.Output(n.ColumnId(rel, name), "BIGINT") for name in names)
    return n.Scan(table=described, rel=rel, columns=outputs, route=ROUTE)


def project(below: n.Node, rel: str, **items: str) -> n.Project:
    return n.Project(input=below, rel=rel, items=_items(items))


def where(below: n.Node, *conjuncts: str) -> n.Filter:
    return n.Filter(input=below, conjuncts=tuple(e(c) for c in conjuncts))


def join(kind: n.JoinKind, left: n.Node, right: n.Node, *on: str, lateral: bool = False) -> n.Join:
    return n.Join(kind=kind, left=left, right=right, on=tuple(e(c) for c in on), lateral=lateral)


def group(
    below: n.Node,
    rel: str,
    keys: dict[str, str],
    calls: dict[str, str],
    sets: tuple[tuple[int, ...], ...] | None = None,
) -> n.Aggregate:
    return n.Aggregate(input=below, rel=rel, keys=_items(keys), calls=_items(calls), sets=sets)


def window(below: n.Node, rel: str, **items: str) -> n.Window:
    return n.Window(input=below, rel=rel, items=_items(items))


def sort(below: n.Node, *keys: str) -> n.Sort:
    return n.Sort(input=below, keys=order(*keys))


def order(*keys: str) -> tuple[n.SortKey, ...]:
    """`-x` sorts downwards."""
    return tuple(n.SortKey(e(key.removeprefix("-")), key.startswith("-")) for key in keys)


def limit(below: n.Node, rows: int, offset: int | None = None) -> n.Limit:
    skipped = None if offset is None else exp.Literal.number(offset)
    return n.Limit(input=below, count=exp.Literal.number(rows), offset=skipped)


def _items(items: dict[str, str]) -> tuple[n.Item, ...]:
    return tuple(n.Item(name, e(text)) for name, text in items.items())


class Wrapped(Renderer):
    """The plainest rendering: a derived table per node."""

    def block(self, node: n.Node, outer: Scope) -> Block:
        return self.wrap(super().block(node, outer))

    def _add(self, node: n.Node, block: Block, outer: Scope) -> Block:
        block = super()._add(node, block, outer)
        return block if isinstance(node, n.Sort) else self.wrap(block)


def wrapped_sql(node: n.Node) -> str:
    return Wrapped(node, no_leaf).statement(node, {}).sql(dialect="duckdb")


class Trees:
    """Random trees. Every LIMIT and DISTINCT ON is over a total order, so that the rows are certain."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._numbers = count(1)
        self._makers: tuple[Callable[[n.Node, int], n.Node], ...] = (
            self._filter,
            self._filter,
            self._subquery_filter,
            self._project,
            self._project,
            self._keep,
            self._join,
            self._join,
            self._lateral,
            self._aggregate,
            self._aggregate,
            self._window,
            self._distinct,
            self._distinct_on,
            self._sort,
            self._limit,
            self._set_operation,
            self._cte,
        )

    def tree(self, depth: int) -> n.Node:
        if depth == 0:
            return self._leaf()
        return self.random.choice(self._makers)(self.tree(depth - 1), depth)

    def _rel(self) -> str:
        return f"r{next(self._numbers)}"

    def _leaf(self) -> n.Node:
        rel = self._rel()
        columns = tuple(n.Output(n.ColumnId(rel, name), "BIGINT") for name in ("k", "x"))
        cells = [[exp.Literal.number(self.random.randrange(3)) for _ in range(2)] for _ in range(2)]
        leaves: list[n.Node] = [
            *(scan(*table) for table in (("t", rel, "k x"), ("u", rel, "k y"), ("v", rel, "id k x")) * 4),
            n.Empty(rel=rel, columns=columns),
            n.Values(rel=rel, names=("k", "x"), rows=tuple(tuple(row) for row in cells)),
            n.TableFunction(rel=rel, call=e("range(3)"), names=("k",)),
            n.Project(input=n.OneRow(), rel=rel, items=(n.Item("k", e("1")), n.Item("x", e("1 + 1")))),
        ]
        return self.random.choice(leaves)

    def _small(self) -> n.Node:
        return self.tree(self.random.choice((0, 0, 1, 2)))

    def _column(self, node: n.Node) -> exp.Expression:
        return column(self.random.choice(node.outputs).id)

    def _expr(self, node: n.Node) -> exp.Expression:
        a, b = self._column(node), self._column(node)
        return self.random.choice(
            (
                lambda: a,
                lambda: a,
                lambda: a,
                lambda: e("1"),
                lambda: exp.Mod(this=exp.Paren(this=exp.Add(this=a, expression=b)), expression=e("3")),
                lambda: exp.Sub(this=a, expression=exp.Sub(this=b, expression=e("1"))),
                lambda: exp.Coalesce(this=a, expressions=[e("0")]),
                lambda: exp.Mod(this=a, expression=e("2")),
                lambda: self._scalar(node),
            )
        )()

    def _scalar(self, node: n.Node) -> exp.Expression:
        """A scalar subquery, correlated or not: one row, always."""
        below = self._small()
        if self.random.random() < 0.7:
            equal = exp.EQ(this=self._column(below), expression=self._column(node))
            below = n.Filter(input=below, conjuncts=(equal,))
        call = exp.Max(this=self._column(below))
        return subplan(n.Aggregate(input=below, rel=self._rel(), keys=(), calls=(n.Item("m", call),)))

    def _predicate(self, node: n.Node) -> exp.Expression:
        a, b = self._column(node), self._column(node)
        return self.random.choice(
            (
                lambda: exp.GT(this=a, expression=e("1")),
                lambda: exp.Is(this=a, expression=exp.Null()),
                lambda: exp.Not(this=exp.Is(this=a, expression=exp.Null())),
                lambda: exp.Or(
                    this=exp.EQ(this=a, expression=b), expression=exp.LT(this=a, expression=e("2"))
                ),
                lambda: exp.LTE(this=self._expr(node), expression=b),
            )
        )()

    def _filter(self, below: n.Node, depth: int) -> n.Node:
        return n.Filter(input=below, conjuncts=(self._predicate(below),))

    def _subquery_filter(self, below: n.Node, depth: int) -> n.Node:
        inner = self._small()
        if self.random.random() < 0.5:
            equal = exp.EQ(this=self._column(inner), expression=self._column(below))
            inner = n.Filter(input=inner, conjuncts=(equal,))
            return n.Filter(input=below, conjuncts=(exp.Exists(this=subplan(inner)),))
        inner = n.Project(input=inner, rel=self._rel(), items=(n.Item("k", self._expr(inner)),))
        return n.Filter(input=below, conjuncts=(exp.In(this=self._column(below), query=subplan(inner)),))

    def _project(self, below: n.Node, depth: int) -> n.Node:
        names = ["k", "x", "id"][: self.random.randint(1, 3)]
        return n.Project(
            input=below, rel=self._rel(), items=tuple(n.Item(name, self._expr(below)) for name in names)
        )

    def _keep(self, below: n.Node, depth: int) -> n.Node:
        kept = self.random.sample(below.outputs, self.random.randint(1, len(below.outputs)))
        return n.Keep(input=below, columns=tuple(kept))

    def _join(self, below: n.Node, depth: int) -> n.Node:
        kinds: tuple[n.JoinKind, ...] = ("inner", "cross", "left", "left", "right", "full", "semi", "anti")
        kind, right = self.random.choice(kinds), self._small()
        if self.random.random() < 0.3 and kind not in ("semi", "anti"):
            below, right = right, below
        on = () if kind == "cross" else (exp.EQ(this=self._column(below), expression=self._column(right)),)
        return n.Join(kind=kind, left=below, right=right, on=on)

    def _lateral(self, below: n.Node, depth: int) -> n.Node:
        right = self._small()
        equal = exp.EQ(this=self._column(right), expression=self._column(below))
        filtered = n.Filter(input=right, conjuncts=(equal,))
        kind: n.JoinKind = self.random.choice(("left", "cross"))
        return n.Join(kind=kind, left=below, right=filtered, lateral=True)

    def _aggregate(self, below: n.Node, depth: int) -> n.Node:
        keys = tuple(n.Item(name, self._expr(below)) for name in ("k", "x")[: self.random.randint(0, 2)])
        calls = [
            n.Item("c", exp.Count(this=exp.Star())),
            n.Item("s", exp.Max(this=self._column(below))),
            n.Item("m", exp.Count(this=self._expr(below))),
        ]
        sets = None
        if len(keys) == 2 and self.random.random() < 0.4:
            sets = self.random.choice((((0, 1), (0,), ()), ((0,), (1,)), ((), ())))
        picked = calls[: self.random.randint(0 if keys else 1, 3)]
        return n.Aggregate(input=below, rel=self._rel(), keys=keys, calls=tuple(picked), sets=sets)

    def _window(self, below: n.Node, depth: int) -> n.Node:
        total = exp.Order(
            expressions=[exp.Ordered(this=key.expr, nulls_first=False) for key in self._total(below)]
        )
        number = exp.Window(this=exp.RowNumber(), order=total)
        over = exp.Window(this=exp.Count(this=exp.Star()), partition_by=[self._expr(below)])
        picked = [n.Item("n", number), n.Item("p", over)][: self.random.randint(1, 2)]
        return n.Window(input=below, rel=self._rel(), items=tuple(picked))

    def _distinct(self, below: n.Node, depth: int) -> n.Node:
        return n.Distinct(input=below)

    def _distinct_on(self, below: n.Node, depth: int) -> n.Node:
        return n.Distinct(input=below, on=(self._column(below),), order=self._total(below))

    def _total(self, below: n.Node) -> tuple[n.SortKey, ...]:
        keys = [n.SortKey(column(o.id), self.random.random() < 0.5) for o in below.outputs]
        self.random.shuffle(keys)
        return tuple(keys)

    def _sort(self, below: n.Node, depth: int) -> n.Node:
        first = n.SortKey(self._expr(below), nulls_first=self.random.random() < 0.5)
        return n.Sort(input=below, keys=(first, *self._total(below)))

    def _limit(self, below: n.Node, depth: int) -> n.Node:
        offset = e("1") if self.random.random() < 0.5 else None
        return n.Limit(input=self._sort(below, depth), count=e("3"), offset=offset)

    def _set_operation(self, below: n.Node, depth: int) -> n.Node:
        arms = [below, self._small(), self._small()][: self.random.randint(2, 3)]
        width = min(len(arm.outputs) for arm in arms)
        # A set operation's columns are named as the first arm's, which therefore must be unique.
        named = tuple(n.Item(f"c{i}", column(o.id)) for i, o in enumerate(arms[0].outputs[:width]))
        first: n.Node = n.Project(input=arms[0], rel=self._rel(), items=named)
        kept = (first, *(n.Keep(input=arm, columns=arm.outputs[:width]) for arm in arms[1:]))
        kind: n.SetKind = self.random.choice(("union", "union", "intersect", "except"))
        return n.SetOp(kind=kind, all=self.random.random() < 0.5, arms=kept, rel=self._rel())

    def _cte(self, below: n.Node, depth: int) -> n.Node:
        name = self._rel()
        first, second = (
            n.CteRef(
                name=name,
                rel=rel,
                columns=tuple(n.Output(n.ColumnId(rel, f"c{i}")) for i in range(len(below.outputs))),
            )
            for rel in (self._rel(), self._rel())
        )
        on = exp.EQ(this=self._column(first), expression=self._column(second))
        return n.Cte(
            name=name, definition=below, body=n.Join(kind="left", left=first, right=second, on=(on,))
        )

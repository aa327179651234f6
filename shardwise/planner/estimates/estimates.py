"""How many rows a node will give, how many different values, and how wide they are.

Estimates choose between plans that are all right; nothing is right by them. So they may look at parameters'
values, which the plan does not depend on. Each node is estimated once, from its inputs: a scan by what
ANALYZE found or by default (`defaults`), a filter by its selectivity, a join by the larger number of
different values (Selinger et al. 1979), groups by the number of different keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.model import Catalog, Scattered, Sharded, ShardedWith, Table
from shardwise.catalog.types import type_family
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Cte,
    CteRef,
    Distinct,
    Empty,
    Filter,
    Gather,
    Join,
    Limit,
    Local,
    Node,
    OneRow,
    Output,
    Project,
    Raw,
    Rows,
    Scan,
    SetOp,
    Values,
    Window,
)
from shardwise.plan.tree import bare, column_id, columns_in, parted, plan_of
from shardwise.planner.estimates import defaults
from shardwise.planner.estimates.columns import ColumnEstimate, guessed, measured
from shardwise.planner.estimates.estimate import Estimate, damped
from shardwise.planner.estimates.groups import of_call
from shardwise.planner.estimates.selectivity import Selectivity
from shardwise.planner.parameters import Parameters

ListSizes = Callable[[str], float | None]
"""How many rows a subquery is expected to give that runs first, by its name; None: there is none of it."""


@dataclass
class Estimates:
    """Of the nodes of one statement. `types` knows every column's declared type."""

    catalog: Catalog
    types: dict[ColumnId, Output]
    parameters: Parameters
    lists: ListSizes

    def rows(self, node: Node) -> float:
        """Rows over all shards; of a copied table, those of one copy."""
        return self.of(node).rows

    def distinct(self, node: Node, columns: Iterable[ColumnId]) -> float:
        """Different combinations of the columns' values."""
        return self.of(node).distinct(columns)

    def width(self, node: Node, columns: Iterable[ColumnId] | None = None) -> float:
        """Bytes of a row, of all columns or of some, as Arrow holds them, and a little for the row itself."""
        estimate = self.of(node)
        wanted = (o.id for o in node.outputs) if columns is None else columns
        return defaults.ROW_BYTES + sum(estimate.column(id).width for id in wanted)

    def of(self, node: Node) -> Estimate:
        known: tuple[Estimates, Estimate] | None = node.__dict__.get("_estimate")
        if known is None or known[0] is not self:
            known = node.__dict__["_estimate"] = self, self._made(node)
        return known[1]

    # -- by kind of node --------------------------------------------------------------------------

    def _made(self, node: Node) -> Estimate:
        make = _MAKERS.get(type(node))
        if make is not None:
            return make(self, node)
        if len(node.inputs) == 1:
            return self._like(node.inputs[0])
        return self._default(max((self.rows(n) for n in node.inputs), default=defaults.ROWS_WHOLE))

    def _like(self, node: Node) -> Estimate:
        below = self.of(node)
        return Estimate(below.rows, below.column)

    def _default(self, rows: float) -> Estimate:
        return Estimate(rows, lambda id: self._guess(id, rows, is_unique=False))

    def _guess(self, id: ColumnId, rows: float, *, is_unique: bool) -> ColumnEstimate:
        output = self.types.get(id)
        family = type_family((output.type if output else None) or "", self.catalog.dialect)
        return guessed(rows, family, is_unique=is_unique)

    def _scan(self, node: Scan) -> Estimate:
        table = node.table
        known = self.catalog.statistics_of(table)
        rows = float(known.rows) if known is not None else _default_rows(table)
        columns = known.columns if known is not None else {}

        def find(id: ColumnId) -> ColumnEstimate:
            default = self._guess(id, rows, is_unique=_is_unique(table, id.name))
            statistics = columns.get(id.name)
            return default if statistics is None else measured(statistics, rows, default.family, default)

        return Estimate(rows, find)

    def _filter(self, node: Filter) -> Estimate:
        below = self.of(node.input)
        if isinstance(node.input, Aggregate):
            unknown = {
                id
                for c in node.input.calls
                if below.column(id := ColumnId(node.input.rel, c.name)).below is None
            }
            on_unknown, rest = parted(node.conjuncts, lambda c: bool(columns_in(c) & unknown))
            share = self._selectivity(node.input, rest) * (defaults.OF_GROUPS if on_unknown else 1.0)
        else:
            share = self._selectivity(node.input, node.conjuncts)
        rows = max(below.rows * share, min(below.rows, 1.0)) if share > 0 else 0.0
        fixed = self._fixed(node.conjuncts)

        def find(id: ColumnId) -> ColumnEstimate:
            found = below.column(id).among(below.rows, rows)
            if id in fixed and fixed[id] < found.distinct:
                return ColumnEstimate(
                    distinct=fixed[id], width=found.width, family=found.family, is_guess=found.is_guess
                )
            return found

        return Estimate(rows, find)

    def _selectivity(self, node: Node, conjuncts: Iterable[exp.Expr]) -> float:
        tests = Selectivity(self.of(node), node.output_ids, self.parameters.peek, self._members, self.of)
        return tests.of_all(conjuncts)

    def _fixed(self, conjuncts: Iterable[exp.Expr]) -> dict[ColumnId, float]:
        """Columns that may have only so many values: x = 1, x IN (1, 2)."""
        found: dict[ColumnId, float] = {}
        for conjunct in map(bare, conjuncts):
            if isinstance(conjunct, exp.EQ):
                for one, other in (
                    (conjunct.this, conjunct.expression),
                    (conjunct.expression, conjunct.this),
                ):
                    id = column_id(bare(one))
                    if id is not None and not columns_in(other):
                        found[id] = self._members(other) or 1.0
            elif isinstance(conjunct, exp.In):
                id = column_id(bare(conjunct.this))
                query = conjunct.args.get("query")
                plan = plan_of(query) if query is not None else None
                listed = self._members(
                    query if query is not None else exp.Tuple(expressions=conjunct.expressions)
                )
                if plan is not None:
                    listed = self.distinct(plan, [o.id for o in plan.outputs])
                if id is not None and (listed is not None or query is None):
                    found[id] = float(len(conjunct.expressions)) if listed is None else listed
        return found

    def _members(self, expr: exp.Expr) -> float | None:
        """How many values a list has that is bound, or will be when what gives it has run."""
        for placeholder in expr.find_all(exp.Placeholder):
            expected = self.lists(placeholder.name)
            if expected is not None:
                return expected
            value = self.parameters.peek(placeholder.name)
            if isinstance(value, list | tuple):
                return float(len(value))
        return None

    def _join(self, node: Join) -> Estimate:
        left, right = self.of(node.left), self.of(node.right)
        share = self._matching(node, left, right)
        matched = left.rows * right.rows * share
        if node.kind in ("semi", "anti"):
            kept = min(1.0, right.rows * share)
            rows = left.rows * (kept if node.kind == "semi" else max(1.0 - kept, 0.1))
        elif node.kind == "full":
            rows = max(matched, left.rows, right.rows)
        elif node.kind in ("left", "asof_left"):
            rows = max(matched, left.rows)
        elif node.kind == "right":
            rows = max(matched, right.rows)
        else:
            rows = left.rows if node.kind == "asof" else matched
        mine = node.left.output_ids

        def find(id: ColumnId) -> ColumnEstimate:
            side = left if id in mine else right
            return side.column(id).among(side.rows, rows)

        return Estimate(rows, find)

    def _matching(self, node: Join, left: Estimate, right: Estimate) -> float:
        """The share of pairs that meet."""
        mine, theirs = node.left.output_ids, node.right.output_ids
        shares, others = [], []
        for conjunct in node.on:
            test = bare(conjunct)
            one, other = (
                (column_id(bare(s)) for s in (test.this, test.expression))
                if isinstance(test, exp.EQ)
                else (None, None)
            )
            if one in theirs and other in mine:
                one, other = other, one
            if one is not None and other is not None and one in mine and other in theirs:
                shares.append(1.0 / max(left.column(one).distinct, right.column(other).distinct, 1.0))
            else:
                others.append(conjunct)
        pairs = Estimate(left.rows * right.rows, lambda id: (left if id in mine else right).column(id))
        tests = Selectivity(pairs, mine | theirs, self.parameters.peek, self._members, self.of)
        return damped(sorted(shares)) * tests.of_all(others)

    def _computed(self, items: Iterable[Any], source: Node) -> Callable[[ColumnId], ColumnEstimate]:
        below = self.of(source)
        by_name = {item.name: item.expr for item in items}

        def find(id: ColumnId) -> ColumnEstimate:
            expr = by_name.get(id.name)
            copied = column_id(bare(expr)) if expr is not None else None
            if copied is not None and copied in source.output_ids:
                return below.column(copied)
            read = columns_in(expr) & source.output_ids if expr is not None else frozenset()
            guess = self._guess(id, below.rows, is_unique=False)
            distinct = below.distinct(read) if read else 1.0
            return ColumnEstimate(distinct=distinct, width=guess.width, family=guess.family)

        return find

    def _came(self, node: Rows) -> float:
        expected = float(node.count) if node.count is not None else self.lists(node.name)
        return defaults.ROWS_WHOLE if expected is None else expected

    def _beside(self, node: Window) -> Estimate:
        below = self.of(node.input)
        computed = self._computed(node.items, node.input)
        own = node.input.output_ids
        return Estimate(below.rows, lambda id: below.column(id) if id in own else computed(id))

    def _aggregate(self, node: Aggregate) -> Estimate:
        below = self.of(node.input)
        sets = node.sets if node.sets is not None else (tuple(range(len(node.keys))),)
        rows = 0.0
        for positions in sets:
            rows += self._combinations([node.keys[p].expr for p in positions], node.input)
        keys = {key.name for key in node.keys}
        calls = {call.name: call.expr for call in node.calls}
        computed = self._computed(node.keys, node.input)
        own = node.input.output_ids

        def is_measured() -> bool:
            """Whether it is known how many groups there are."""
            ids = [column_id(bare(key.expr)) for key in node.keys]
            return all(id in own and not below.column(id).is_guess for id in ids if id) and None not in ids

        def find(id: ColumnId) -> ColumnEstimate:
            if id.name in keys:
                return computed(id).among(below.rows, rows)
            guess, call = self._guess(id, rows, is_unique=False), calls.get(id.name)
            if call is None or not is_measured():
                return guess
            read = column_id(call.this)
            column = below.column(read) if read in own else None
            return of_call(call, column, below.rows, rows, guess) or guess

        return Estimate(rows, find)

    def _combinations(self, exprs: Iterable[exp.Expr], source: Node) -> float:
        """Different combinations of their values."""
        below, own = self.of(source), source.output_ids
        columns = {id: None for e in exprs if (id := column_id(e)) in own}
        counts = below.counts(columns)
        counts += [self._values(e, source) for e in exprs if column_id(e) not in columns]
        return min(below.rows, damped(sorted(counts, reverse=True)))

    def _values(self, expr: exp.Expr, source: Node) -> float:
        """Different values of an expression: at most as many as of the columns it is made of."""
        read = columns_in(expr) & source.output_ids
        return self.of(source).distinct(read) if read else 1.0

    def _distinct(self, node: Distinct) -> Estimate:
        below = self.of(node.input)
        if node.on is None:
            rows = below.distinct(o.id for o in node.input.outputs)
        else:
            rows = self._combinations(node.on, node.input)
        return Estimate(rows, lambda id: below.column(id).among(below.rows, rows))

    def _limit(self, node: Limit) -> Estimate:
        below = self.of(node.input)
        count = self.count(node.count)
        rows = below.rows if count is None or node.percent else min(below.rows, count)
        return Estimate(rows, lambda id: below.column(id).among(below.rows, rows))

    def count(self, expr: exp.Expr | None) -> float | None:
        """What LIMIT or OFFSET says; None if it is not told."""
        if isinstance(expr, exp.Placeholder):
            value = self.parameters.peek(expr.name)
            return float(value) if type(value) is int else None
        return float(expr.name) if isinstance(expr, exp.Literal) and expr.name.isdigit() else None

    def _set_operation(self, node: SetOp) -> Estimate:
        arms = [self.of(arm) for arm in node.arms]
        total = sum(arm.rows for arm in arms)
        rows = total if node.kind == "union" else arms[0].rows
        names = {o.id: position for position, o in enumerate(node.outputs)}

        def find(id: ColumnId) -> ColumnEstimate:
            position = names[id]
            found = [e.column(n.outputs[position].id) for e, n in zip(arms, node.arms, strict=True)]
            widest = max(found, key=lambda c: c.distinct)
            return ColumnEstimate(
                distinct=min(rows, sum(c.distinct for c in found))
                if node.kind == "union"
                else widest.distinct,
                width=max(c.width for c in found),
                family=widest.family,
            )

        return Estimate(rows, find)


def _default_rows(table: Table) -> float:
    split = isinstance(table.placement, Sharded | ShardedWith | Scattered)
    return defaults.ROWS_SHARDED if split else defaults.ROWS_WHOLE


def _is_unique(table: Table, name: str) -> bool:
    wanted = name.casefold()
    keys = (*table.unique, *table.unique_across)
    return any(len(key) == 1 and key[0].casefold() == wanted for key in keys)


_MAKERS: Final[dict[type[Node], Callable[[Estimates, Any], Estimate]]] = {
    Scan: Estimates._scan,
    Filter: Estimates._filter,
    Join: Estimates._join,
    Project: lambda of, node: Estimate(of.rows(node.input), of._computed(node.items, node.input)),
    Window: Estimates._beside,
    Aggregate: Estimates._aggregate,
    Distinct: Estimates._distinct,
    Limit: Estimates._limit,
    SetOp: Estimates._set_operation,
    Cte: lambda of, node: of._like(node.body),
    Gather: lambda of, node: of._like(node.input),
    Values: lambda of, node: of._default(float(len(node.rows))),
    Rows: lambda of, node: of._default(of._came(node)),
    OneRow: lambda of, node: of._default(1.0),
    Empty: lambda of, node: of._default(0.0),
    Local: lambda of, node: of._default(defaults.ROWS_WHOLE),
    CteRef: lambda of, node: of._default(defaults.ROWS_WHOLE),
    Raw: lambda of, node: of._default(max((of.rows(t) for t in node.tables), default=1.0)),
}

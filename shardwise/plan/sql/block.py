"""One SELECT under construction, or a query that is closed (a set operation, a raw statement)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from sqlglot import exp

from shardwise.errors import InternalError
from shardwise.plan.nodes import ColumnId
from shardwise.plan.sql.expressions import conjunction
from shardwise.plan.sql.names import NO_COLUMNS, identifier, unique
from shardwise.plan.tree import free_columns

ALL_ROWS = (1 << 63) - 1
"""A LIMIT that limits nothing: engines move nothing past it, nor merge the query into the one around it."""


class Col(NamedTuple):
    """A column of the FROM clause."""

    table: str
    name: str


Ref = Col | exp.Expr
"""How a column is written in a block: a column of its FROM clause, or an expression over these."""

Scope = Mapping[ColumnId, Ref]

CALL = "shardwise.call"
"""Marks (in `meta`) an aggregate call, so that a block without GROUP BY knows whether it has one."""


class Kind(Enum):
    """What a column of a block is that is not simply a column of its FROM clause."""

    CONSTANT = "constant"
    COMPUTED = "computed"
    KEY = "key"
    CALL = "call"
    WINDOW = "window"


class Order(NamedTuple):
    """A sort key as written in a block; `id` is the column it is, if it is just one."""

    id: ColumnId | None
    expr: exp.Expr
    descending: bool
    nulls_first: bool


@dataclass(kw_only=True)
class Block:
    """Clauses in the order in which SQL evaluates them; `columns` say how each output is written.

    A closed block has `arms` and their `operator`, or `raw`, instead of clauses; its outputs are the query's
    columns by position. To a set operation ORDER BY and LIMIT can still be added, to a raw statement nothing.
    `is_selected`: it has had its select list, and what comes reads it as a table.
    """

    outputs: list[ColumnId]
    columns: dict[ColumnId, Ref] = field(default_factory=dict)
    rel: str | None = None
    source: exp.Expr | None = None
    joins: list[exp.Join] = field(default_factory=list)
    where: list[exp.Expr] = field(default_factory=list)
    is_grouped: bool = False
    group: list[exp.Expr] = field(default_factory=list)
    having: list[exp.Expr] = field(default_factory=list)
    has_windows: bool = False
    is_selected: bool = False
    qualify: list[exp.Expr] = field(default_factory=list)
    kinds: dict[ColumnId, Kind] = field(default_factory=dict)
    volatile: set[ColumnId] = field(default_factory=set)
    is_distinct: bool = False
    distinct_on: list[exp.Expr] = field(default_factory=list)
    order: list[Order] = field(default_factory=list)
    is_limited: bool = False
    count: exp.Expr | None = None
    offset: exp.Expr | None = None
    percent: bool = False
    arms: list[Block] = field(default_factory=list)
    operator: tuple[type[exp.SetOperation], bool] | None = None
    raw: exp.Query | None = None
    has_volatile_filter: bool = False

    @property
    def is_closed(self) -> bool:
        """Not a SELECT of our own."""
        return self.operator is not None or self.raw is not None

    @property
    def is_from(self) -> bool:
        """Nothing yet but FROM and WHERE."""
        return not (
            self.is_closed
            or self.is_grouped
            or self.has_windows
            or self.is_distinct
            or self.order
            or self.is_limited
        )

    @property
    def has_limit(self) -> bool:
        """In itself, or in an arm."""
        return self.is_limited or any(arm.has_limit for arm in self.arms)

    @property
    def is_one_row(self) -> bool:
        """A SELECT without FROM, and nothing else."""
        return self.is_from and self.source is None and not self.where and not self.outputs

    def read(self, id: ColumnId) -> exp.Expr:
        """The column as written here, as a new expression."""
        return written(self.columns[id])

    def uses(self, exprs: Iterable[exp.Expr]) -> tuple[dict[ColumnId, int], set[ColumnId]]:
        """Which of this block's columns the expressions mention, how often; and which inside subqueries."""
        own = self.columns.keys()
        counts: dict[ColumnId, int] = {}
        inside: set[ColumnId] = set()
        for expr in exprs:
            for part in expr.find_all(exp.Column, exp.Subquery):
                if type(part) is exp.Column:
                    id = ColumnId(part.table, part.name)
                    if id in own:
                        counts[id] = counts.get(id, 0) + 1
                elif (plan := part.args.get("plan")) is not None:
                    inside |= free_columns(plan) & own
        return counts, inside

    def is_plain(self, id: ColumnId) -> bool:
        """A column of FROM, or a constant."""
        return self.kinds.get(id, Kind.CONSTANT) is Kind.CONSTANT

    # ------------------------------------------------------------------ the text

    def build(self, names: Sequence[str]) -> exp.Query:
        """The finished query, its columns named `names`. The block is used up."""
        if len(names) != len(self.outputs) and not (self.raw is not None or not self.outputs):
            raise InternalError(f"{len(names)} names for {len(self.outputs)} columns")
        query = self._build_closed(names) if self.is_closed else self._build_select(names)
        if self.order:
            query.set("order", exp.Order(expressions=[self._ordered(key, names) for key in self.order]))
        if self.count is not None:
            options = exp.LimitOptions(percent=True, rows=False, with_ties=False) if self.percent else None
            query.set("limit", exp.Limit(expression=self.count, limit_options=options))
        if self.offset is not None:
            query.set("offset", exp.Offset(expression=self.offset))
        return query

    def _build_closed(self, names: Sequence[str]) -> exp.Query:
        if self.raw is not None:
            return self.raw
        assert self.operator is not None
        operator, distinct = self.operator
        first, *rest = self.arms
        result = in_arm(first.build(names))
        for arm in rest:
            query = in_arm(arm.build(unique(id.name for id in arm.outputs)))
            result = operator(this=result, expression=query, distinct=distinct)
        return result

    def _build_select(self, names: Sequence[str]) -> exp.Select:
        items = [self._item(id, name) for id, name in zip(self.outputs, names, strict=False)]
        select = exp.Select(
            expressions=items or [exp.alias_(exp.Literal.number(1), identifier(NO_COLUMNS))],
        )
        if self.source is not None:
            select.set("from_", exp.From(this=self.source))
            select.set("joins", self.joins)
        if self.where:
            select.set("where", exp.Where(this=conjunction(self.where)))
        if self.is_grouped:
            if not self._has_keys() and not self._has_calls(items):
                self._say_how_many_groups()
            if self.group:
                select.set("group", exp.Group(expressions=self.group))
        if self.having:
            select.set("having", exp.Having(this=conjunction(self.having)))
        if self.qualify:
            select.set("qualify", exp.Qualify(this=conjunction(self.qualify)))
        if self.is_distinct:
            on = exp.Tuple(expressions=self.distinct_on) if self.distinct_on else None
            select.set("distinct", exp.Distinct(on=on))
        return select

    def _has_keys(self) -> bool:
        return any(
            not isinstance(e, exp.GroupingSets) or any(one.expressions for one in e.expressions)
            for e in self.group
        )

    def _has_calls(self, items: list[exp.Expr]) -> bool:
        others = [*self.having, *self.qualify, *(key.expr for key in self.order)]
        return any(_has_call(expr) for expr in [*items, *others])

    def _say_how_many_groups(self) -> None:
        """Without keys and calls nothing says that there is one group, or one per grouping set."""
        if not self.group:
            self.group = [exp.Tuple()]
        elif len(self.group[0].expressions) > 1:
            # DuckDB 2.0.1 gives one row for GROUPING SETS ((), ()), unless it has something to count.
            count = exp.Count(this=exp.Star())
            self.having.append(exp.GTE(this=count, expression=exp.Literal.number(0)))

    def _item(self, id: ColumnId, name: str) -> exp.Expr:
        ref = self.columns[id]
        expr = written(ref)
        if type(ref) is Col and ref.name == name:
            return expr
        return exp.Alias(this=expr, alias=identifier(name))

    def _ordered(self, key: Order, names: Sequence[str]) -> exp.Ordered:
        return exp.Ordered(
            this=self._sort_expr(key, names), desc=key.descending or None, nulls_first=key.nulls_first
        )

    def _sort_expr(self, key: Order, names: Sequence[str]) -> exp.Expr:
        """A computed output is named, not computed again; a column of FROM is qualified: it is no alias."""
        if self.is_closed:
            assert key.id is not None
            return self._by_name(self.outputs.index(key.id), names)
        if type(key.expr) is exp.Column:
            return key.expr
        if key.id in self.columns and key.id in self.outputs:
            return self._by_name(self.outputs.index(key.id), names)
        for position, id in enumerate(self.outputs):
            if id not in self.volatile and self.columns[id] == key.expr:
                return self._by_name(position, names)
        return key.expr

    @staticmethod
    def _by_name(position: int, names: Sequence[str]) -> exp.Expr:
        name = names[position]
        if sum(other.casefold() == name.casefold() for other in names) > 1:
            return exp.Literal.number(position + 1)
        return exp.Column(this=identifier(name))


def written(ref: Ref) -> exp.Expr:
    """A new expression that reads it."""
    if type(ref) is Col:
        return exp.Column(this=identifier(ref.name), table=identifier(ref.table))
    assert isinstance(ref, exp.Expr)
    return ref.copy()


def _has_call(expr: exp.Expr) -> bool:
    """Whether one of our aggregate calls is in it, outside subqueries."""
    return any(CALL in part.meta for part in expr.walk(prune=lambda e: isinstance(e, exp.Query)))


def in_arm(query: exp.Query) -> exp.Query:
    """An arm of a set operation, in parentheses where they are needed.

    A set operation in an arm is: without parentheses DuckDB finds one type for all arms of a chain at once.
    """
    plain = isinstance(query, exp.Select)
    plain = plain and not any(query.args.get(key) for key in ("order", "limit", "offset", "with_"))
    return query if plain else exp.Subquery(this=query)

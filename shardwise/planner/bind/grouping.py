"""Binding GROUP BY and HAVING: which keys and grouping sets there are, and what moves into the Aggregate.

Until here an expression is over the columns of FROM; from here on it is over the Aggregate's outputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

from sqlglot import exp

from shardwise.errors import NotSupportedError, ProgrammingError
from shardwise.plan.nodes import Aggregate, ColumnId, Item
from shardwise.plan.tree import (
    column,
    columns_in,
    free_columns,
    operand,
    plan_of,
    replace_free,
    same,
    subplan,
)
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.bind.block import Block
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.order import place
from shardwise.planner.bind.repeated import means_the_same
from shardwise.planner.bind.scope import unique_names
from shardwise.planner.bind.unmodelled import Unmodelled
from shardwise.planner.positions import position_of

KeyPlace = Callable[[exp.Expr], int]
"""From a grouping expression the user wrote to its place among the keys; a new one is added."""


def grouped(block: Block, exprs: list[exp.Expr]) -> tuple[list[exp.Expr], exp.Expr | None]:
    """Puts an Aggregate on the block if it groups; returns the expressions over its outputs, and HAVING."""
    group = block.ast.args.get("group")
    having = block.ast.args.get("having")
    raw_having = having.this if having is not None else None
    keys, sets = _group_keys(block, group) if group is not None else ([], None)
    bound_having = _bind_having(block, raw_having, keys) if raw_having is not None else None
    everything = [*exprs, *([bound_having] if bound_having is not None else [])]
    is_grouping = bound_having is not None or any(_has_aggregate(e) for e in everything)
    if not is_grouping and (group is None or (group.args.get("all") and not keys)):
        return exprs, None  # GROUP BY ALL of nothing but constants groups nothing
    lift = _Lift(block, keys, has_sets=sets is not None)
    hints = {id(e): i.name for e, i in zip(exprs, block.items, strict=False)}
    lifted = [lift.lift(e, hints.get(id(e)), is_whole=e is not bound_having) for e in everything]
    block.node = Aggregate(
        input=block.node, rel=lift.rel, keys=tuple(lift.keys), calls=tuple(lift.calls), sets=sets
    )
    return lifted[: len(exprs)], lifted[-1] if bound_having is not None else None


def _has_aggregate(expr: exp.Expr) -> bool:
    """Whether an aggregate of this block is computed in it: one that is no window function itself."""
    if isinstance(expr, exp.Window):
        inner = _window_call(expr)
        parts = [*inner.args.values(), expr.args.get("partition_by"), expr.args.get("order")]
        return any(_has_aggregate(e) for e in _expressions_in(parts))
    if is_aggregate(expr):
        return True
    return any(_has_aggregate(e) for e in _expressions_in(list(expr.args.values())))


def _expressions_in(values: list[object]) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for value in values:
        if isinstance(value, exp.Expr):
            found.append(value)
        elif isinstance(value, list):
            found += _expressions_in(value)
    return found


def _window_call(window: exp.Expr) -> exp.Expr:
    """The function of a window call, inside its FILTER and IGNORE NULLS."""
    inner: exp.Expr = window.this
    while isinstance(inner, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        inner = inner.this
    return inner


def _group_keys(block: Block, group: exp.Group) -> tuple[list[exp.Expr], tuple[tuple[int, ...], ...] | None]:
    keys: list[exp.Expr] = []
    if group.args.get("all"):
        for expr in (item.expr for item in block.items):
            if columns_in(expr) and not _has_aggregate(expr) and not _is_among(expr, keys):
                keys.append(expr)
        return keys, None
    alternatives: list[list[tuple[int, ...]]] = []

    def place(raw: exp.Expr) -> int:
        bound = _group_key(block, raw)
        for n, key in enumerate(keys):
            if same(key, bound):
                return n
        keys.append(bound)
        return len(keys) - 1

    plain = True
    for raw in group.expressions:
        if isinstance(raw, exp.GroupingSets | exp.Rollup | exp.Cube):
            plain = False
            alternatives.append(_grouping_sets(raw, place))
        else:
            members = raw.expressions if isinstance(raw, exp.Tuple) else [raw]
            alternatives.append([tuple(place(m) for m in members)])
    if group.args.get("totals") or any(group.args.get(k) for k in ("cube", "rollup", "grouping_sets")):
        raise Unmodelled("this form of grouping sets")
    if plain:
        return keys, None
    sets = tuple(
        tuple(dict.fromkeys(p for part in choice for p in part)) for choice in product(*alternatives)
    )
    return keys, sets


def _is_among(expr: exp.Expr, others: list[exp.Expr]) -> bool:
    return any(same(expr, other) for other in others)


def _grouping_sets(raw: exp.Expr, place: KeyPlace) -> list[tuple[int, ...]]:
    if isinstance(raw, exp.GroupingSets):
        sets: list[tuple[int, ...]] = []
        for part in raw.expressions:
            nested = isinstance(part, exp.Rollup | exp.Cube)
            sets += _grouping_sets(part, place) if nested else [_set(part, place)]
        return sets
    members = [_set(part, place) for part in raw.expressions]
    if isinstance(raw, exp.Rollup):
        return [sum(members[:n], ()) for n in range(len(members), -1, -1)]
    choices = product((True, False), repeat=len(members))
    return [sum((m for m, use in zip(members, choice, strict=True) if use), ()) for choice in choices]


def _set(part: exp.Expr, place: KeyPlace) -> tuple[int, ...]:
    if isinstance(part, exp.Tuple):
        return tuple(place(e) for e in part.expressions)
    return (place(part.this if isinstance(part, exp.Paren) else part),)


def _group_key(block: Block, raw: exp.Expr) -> exp.Expr:
    """GROUP BY 1 means the first select item; a bare name is a column before it is an alias."""
    position = place(raw, len(block.items), "GROUP BY")
    if position is not None:
        bound = block.items[position - 1].expr
    elif isinstance(raw, exp.Column) and not block.scope.has(raw) and block.scope.alias(raw) is not None:
        bound = block.scope.aliases[raw.name.lower()]
    else:
        bound = Expressions(block.binder, block.scope).bind(raw)
    while isinstance(bound, exp.Paren):
        bound = bound.this
    return bound


def _bind_having(block: Block, raw: exp.Expr, keys: list[exp.Expr]) -> exp.Expr:
    """In HAVING a bare name is a grouped column, else an alias, else (in an aggregate) a column."""

    def lookup(written: exp.Column) -> exp.Expr:
        alias = block.scope.alias(written)
        if block.scope.has(written):
            found = block.scope.resolve(written)
            if alias is None or _is_among(found, keys) or _inside_aggregate(written, raw):
                return found
        return operand(alias) if alias is not None else block.scope.resolve(written)

    return Expressions(block.binder, block.scope, lookup).bind(raw)


def _inside_aggregate(written: exp.Expr, root: exp.Expr) -> bool:
    above = written.parent
    while above is not None and above is not root.parent:
        if is_aggregate(above):
            return True
        above = above.parent
    return False


class _Lift:
    """Moves a block's aggregate calls into its Aggregate, and reads group keys from there."""

    def __init__(self, block: Block, keys: list[exp.Expr], *, has_sets: bool) -> None:
        self.block = block
        self.has_sets = has_sets
        self.rel = block.binder.names.fresh("agg")
        self.raw_keys = keys
        self._names: list[str] = []
        self.keys = [Item(self._name(e.name if type(e) is exp.Column else "g"), e) for e in keys]
        self.calls: list[Item] = []
        self._by_column = {
            ColumnId(e.table, e.name): column(ColumnId(self.rel, item.name))
            for e, item in zip(keys, self.keys, strict=True)
            if type(e) is exp.Column
        }
        with_subqueries = [n for n, key in enumerate(keys) if key.find(exp.Subquery) is not None]
        self._repeatable = with_subqueries if block.binder.dialect.finds_subqueries else []
        selected = [item.expr for item in block.items] if self._repeatable and has_sets else []
        self._selected = {n for n in self._repeatable if _is_among(keys[n], selected)}

    def lift(self, expr: exp.Expr, hint: str | None = None, *, is_whole: bool = False) -> exp.Expr:
        """`expr` over the Aggregate's outputs. `is_whole`: no part, but all that is selected or sorted by."""
        place = self._key(expr, is_whole)
        if place is not None:
            return column(ColumnId(self.rel, self.keys[place].name))
        if isinstance(expr, exp.Window):
            return self._window(expr)
        if is_aggregate(expr) or _is_grouping(expr):
            return self._call(expr, hint)
        plan = plan_of(expr)
        if plan is not None:
            after = replace_free(plan, self._by_column)
            if free_columns(after) & self.block.own:
                raise Unmodelled("a subquery in a grouped block that reads an ungrouped column")
            return subplan(after)
        if type(expr) is exp.Column:
            return self._ungrouped(expr)
        return type(expr)(**{key: self._value(value) for key, value in expr.args.items()})

    def _key(self, expr: exp.Expr, is_whole: bool) -> int | None:
        """The place of the key that it is, as it stands or written again."""
        for n, key in enumerate(self.raw_keys):
            if same(key, expr):
                return n
        for n in self._repeatable:
            if means_the_same(self.raw_keys[n], expr) and self._is_found_again(n, expr, is_whole):
                self._selected |= {n} if is_whole else set()
                return n
        return None

    def _is_found_again(self, n: int, expr: exp.Expr, is_whole: bool) -> bool:
        """Whether one database takes `expr`, which means the same as the key, for the key.

        Without grouping sets it is of no matter: both are of one value. With them PostgreSQL takes the first
        select item for the key that is written so, and computes all others: of the key's columns, if it can.
        """
        is_alike = self.block.binder.written.are_written_alike(self.raw_keys[n], expr)
        if not self.has_sets:
            return is_alike
        if not is_alike:
            raise NotSupportedError(
                "a subquery among the keys of GROUP BY is written in two ways, beside grouping sets: whether "
                "the other is NULL where the key is left out depends on how it is written",
                hint="Write it alike in both places, or group over a subquery in FROM that computes it",
            )
        return self.block.binder.dialect.finds_keys_within or (is_whole and n not in self._selected)

    def _value(self, value: object) -> object:
        if isinstance(value, exp.Expr):
            return self.lift(value)
        if type(value) is list:
            return [self._value(item) for item in value]
        return value

    def _window(self, window: exp.Expr) -> exp.Expr:
        """The window's function stays; aggregates among its arguments are lifted."""
        inner = _window_call(window)

        def swap(value: object) -> object:
            if value is inner:
                return type(inner)(**{k: self._value(v) for k, v in inner.args.items()})
            if isinstance(value, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
                return type(value)(
                    **{k: swap(v) if k == "this" else self._value(v) for k, v in value.args.items()}
                )
            return self._value(value)

        return exp.Window(**{k: swap(v) if k == "this" else self._value(v) for k, v in window.args.items()})

    def _call(self, call: exp.Expr, hint: str | None) -> exp.Expr:
        for item in self.calls:
            if same(item.expr, call):
                return column(ColumnId(self.rel, item.name))
        read = {ColumnId(c.table, c.name) for c in call.find_all(exp.Column)}
        if read and not read & self.block.own and self.block.scope.outer is not None:
            raise Unmodelled("an aggregate of an outer query's columns")
        if any(_has_aggregate(e) for e in _expressions_in(list(_innermost(call).args.values()))):
            raise ProgrammingError("an aggregate cannot contain another aggregate")
        if _is_grouping(call) and call.find(exp.Subquery) is not None:
            raise NotSupportedError(
                "GROUPING of a subquery: the engine of the merge would not find the key that it repeats",
                hint="Compute it in a subquery in FROM, and group by its name",
            )
        name = self._name(_plain_name(hint) or "a")
        self.calls.append(Item(name, call.copy()))
        return column(ColumnId(self.rel, name))

    def _ungrouped(self, expr: exp.Column) -> exp.Expr:
        id = ColumnId(expr.table, expr.name)
        if id in self.block.own:
            raise ProgrammingError(
                f'column "{expr.name}" must be in GROUP BY or inside an aggregate',
                hint=f"Add it to GROUP BY, or take any_value({expr.name})",
                position=position_of(expr),
                sqlstate="42803",
            )
        return expr.copy()

    def _name(self, wanted: str) -> str:
        names = unique_names([*self._names, wanted])
        self._names = list(names)
        return names[-1]


def _is_grouping(expr: exp.Expr) -> bool:
    """GROUPING(…), which tells grouping sets apart: computed where the groups are."""
    return isinstance(expr, exp.Grouping | exp.GroupingId)


def _innermost(call: exp.Expr) -> exp.Expr:
    while isinstance(call, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        call = call.this
    return call


def _plain_name(name: str | None) -> str | None:
    return name if name and re.fullmatch(r"[A-Za-z_]\w*", name) else None

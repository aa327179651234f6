"""Binding one SELECT block.

FROM → Filter (WHERE) → Aggregate → Filter (HAVING) → Window → Filter (QUALIFY) → Project → Distinct
→ Sort → Limit. The Project computes what ORDER BY needs and is not selected as hidden items, which a
last Project drops.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.errors import ProgrammingError, Reason, UnknownName
from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Filter,
    Item,
    Node,
    Project,
    Sort,
    SortKey,
    Window,
)
from shardwise.plan.tree import (
    column,
    columns_in,
    conjuncts,
    free_columns,
    operand,
    plan_of,
    replace_free,
    same,
    subplan,
)
from shardwise.planner.aggregates import is_aggregate
from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.names import name_of
from shardwise.planner.bind.order import is_order_by_all, ordinal, sort_key
from shardwise.planner.bind.scope import Scope, did_you_mean, position_of, unique_names
from shardwise.planner.bind.sources import bind_from
from shardwise.planner.bind.unmodelled import Unmodelled

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder

_UNMODELLED_CLAUSES = (
    "sample",
    "into",
    "match",
    "cluster",
    "distribute",
    "sort",
    "connect",
    "prewhere",
    "kind",
    "hint",
)


KeyPlace = Callable[[exp.Expr], int]
"""From a grouping expression the user wrote to its place among the keys; a new one is added."""


@dataclass
class SelectItem:
    """One output: the user's name for it, and the bound expression before aggregates are lifted out."""

    name: str
    expr: exp.Expr
    is_alias: bool = False


@dataclass
class Block:
    """A SELECT block while it is bound."""

    binder: Binder
    ast: exp.Select
    scope: Scope
    node: Node
    items: list[SelectItem] = field(default_factory=list)
    own: frozenset[ColumnId] = frozenset()


def bind_select(binder: Binder, ast: exp.Select, outer: Scope | None) -> BoundQuery:
    """The block's plan and the names of its columns."""
    for clause in _UNMODELLED_CLAUSES:
        if ast.args.get(clause):
            raise Unmodelled(clause.upper())
    saved = binder.windows
    binder.windows = {w.name.lower(): w for w in ast.args.get("windows") or ()}
    try:
        return _bind(binder, ast, outer)
    finally:
        binder.windows = saved


def _bind(binder: Binder, ast: exp.Select, outer: Scope | None) -> BoundQuery:
    item = bind_from(binder, ast, outer)
    scope = Scope(item, outer)
    block = Block(binder, ast, scope, item.node, own=item.node.output_ids)
    block.items = _select_items(block)
    if ast.args.get("where") is not None:
        where = conjuncts(Expressions(binder, scope).bind(ast.args["where"].this))
        block.node = Filter(input=block.node, conjuncts=where)
    order = _order_items(block)
    exprs = [i.expr for i in block.items] + [key.expr for key, _ in order]
    distinct_on = _distinct_on(block)
    exprs += distinct_on or []
    qualify = ast.args.get("qualify")
    if qualify is not None:
        exprs.append(Expressions(binder, scope).bind(qualify.this))
    exprs, having = _aggregate(block, exprs)
    if having is not None:
        block.node = Filter(input=block.node, conjuncts=conjuncts(having))
    exprs = _windows(block, exprs)
    if qualify is not None:
        block.node = Filter(input=block.node, conjuncts=conjuncts(exprs.pop()))
    width = len(block.items)
    selected, sort_exprs = exprs[:width], exprs[width : width + len(order)]
    on_exprs = exprs[width + len(order) :] if distinct_on is not None else None
    node = _project(
        block, selected, [(k, e, i) for (k, i), e in zip(order, sort_exprs, strict=True)], on_exprs
    )
    return BoundQuery(node, tuple(i.name for i in block.items))


# The select list


def _select_items(block: Block) -> list[SelectItem]:
    items: list[SelectItem] = []
    binder = Expressions(block.binder, block.scope)
    for raw in block.ast.expressions:
        star = _star(raw)
        if star is not None:
            items += _expanded(block, star, raw.table if isinstance(raw, exp.Column) else None)
            continue
        aliased = isinstance(raw, exp.Alias)
        if isinstance(raw, exp.Aliases):
            raise Unmodelled("several aliases of one item")
        inner = raw.this if aliased else raw
        bound = binder.bind(inner)
        name = raw.alias if aliased else _column_name(bound, inner)
        items.append(SelectItem(name, bound, aliased))
        if aliased:
            block.scope.aliases[name.lower()] = bound  # of two of a name DuckDB takes the last
    return items


def _column_name(bound: exp.Expr, raw: exp.Expr) -> str:
    """A column keeps the name it was made with, whatever letter case the user wrote."""
    if isinstance(raw, exp.Column) and type(bound) is exp.Column and bound.name.lower() == raw.name.lower():
        return bound.name
    return name_of(raw)


def _star(raw: exp.Expr) -> exp.Star | None:
    if isinstance(raw, exp.Star):
        return raw
    if isinstance(raw, exp.Column) and isinstance(raw.this, exp.Star):
        return raw.this
    return None


def _expanded(block: Block, star: exp.Star, table: str | None) -> list[SelectItem]:
    item = block.scope.item
    if table:
        relations = [r for r in item.relations if r.alias.lower() == table.lower()]
        if not relations:
            raise Unmodelled("a * of something that is no table")
        columns = list(relations[0].columns)
    else:
        columns = list(item.star)
    for name in _listed_names(star, "except_"):
        if all(c.name.lower() != name.lower() for c in columns):
            known = [c.name for c in columns]
            raise UnknownName(
                f'EXCLUDE names "{name}", which * does not have', hint=did_you_mean(name, known)
            )
        columns = [c for c in columns if c.name.lower() != name.lower()]
    binder = Expressions(block.binder, block.scope)
    replaced = {a.alias.lower(): binder.bind(a.this) for a in star.args.get("replace") or ()}
    renamed = {a.this.name.lower(): a.alias for a in star.args.get("rename") or ()}
    unknown = (replaced.keys() | renamed.keys()) - {c.name.lower() for c in columns}
    if unknown:
        raise Unmodelled("REPLACE or RENAME of an unknown column")
    if not columns:
        raise Unmodelled("a * of no columns")
    if not isinstance(star.parent, exp.Select | exp.Column):
        raise Unmodelled("* with an alias")
    return [
        SelectItem(renamed.get(c.name.lower(), c.name), replaced.get(c.name.lower(), c.expr.copy()))
        for c in columns
    ]


def _listed_names(star: exp.Star, key: str) -> list[str]:
    names = []
    for e in star.args.get(key) or ():
        if not isinstance(e, exp.Column | exp.Identifier) or (isinstance(e, exp.Column) and e.table):
            raise Unmodelled("EXCLUDE of something that is no column name")
        names.append(e.name)
    return names


# ORDER BY


def _order_items(block: Block) -> list[tuple[SortKey, int | None]]:
    """Each sort key, with the position of the select item it names (None: it is computed for the sort)."""
    order = block.ast.args.get("order")
    keys: list[tuple[SortKey, int | None]] = []
    for ordered in order.expressions if order is not None else ():
        if ordered.args.get("with_fill"):
            raise Unmodelled("WITH FILL")
        if is_order_by_all(ordered):
            keys += [(sort_key(ordered, i.expr), n) for n, i in enumerate(block.items)]
            continue
        raw = ordered.this
        position = ordinal(raw)
        if position is not None:
            if not 1 <= position <= len(block.items):
                raise ProgrammingError(
                    f"ORDER BY {position}: there are {len(block.items)} columns", reason=Reason.UNKNOWN_COLUMN
                )
        elif isinstance(raw, exp.Column) and len(raw.parts) == 1:
            position = _item_named(block, raw.name)
        if position is None:
            bound = Expressions(block.binder, block.scope).bind(raw)
            selected = next((n for n, i in enumerate(block.items) if same(i.expr, bound)), None)
            keys.append((sort_key(ordered, bound), selected))
        else:
            keys.append((sort_key(ordered, block.items[position - 1].expr), position - 1))
    return keys


def _item_named(block: Block, name: str) -> int | None:
    """The (1-based) select item that ORDER BY's bare name means: the last alias, else the first column."""
    named = [n for n, item in enumerate(block.items, 1) if item.name.lower() == name.lower()]
    aliases = [n for n in named if block.items[n - 1].is_alias]
    return aliases[-1] if aliases else next(iter(named), None)


def _distinct_on(block: Block) -> list[exp.Expr] | None:
    distinct = block.ast.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None:
        return None
    on = distinct.args["on"]
    binder = Expressions(block.binder, block.scope)
    bound = []
    for raw in on.expressions if isinstance(on, exp.Tuple) else [on]:
        position = ordinal(raw)
        bound.append(block.items[position - 1].expr if position else binder.bind(raw))
    return bound


# GROUP BY and HAVING


def _aggregate(block: Block, exprs: list[exp.Expr]) -> tuple[list[exp.Expr], exp.Expr | None]:
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
    lift = _Lift(block, keys)
    hints = {id(e): i.name for e, i in zip(exprs, block.items, strict=False)}
    lifted = [lift.lift(e, hints.get(id(e))) for e in everything]
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
    position = ordinal(raw)
    if position is not None:
        if not 1 <= position <= len(block.items):
            raise ProgrammingError(f"GROUP BY {position}: there are {len(block.items)} columns")
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

    def __init__(self, block: Block, keys: list[exp.Expr]) -> None:
        self.block = block
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

    def lift(self, expr: exp.Expr, hint: str | None = None) -> exp.Expr:
        """`expr` over the Aggregate's outputs."""
        for raw, item in zip(self.raw_keys, self.keys, strict=True):
            if same(raw, expr):
                return column(ColumnId(self.rel, item.name))
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


# Windows and QUALIFY


def _windows(block: Block, everything: list[exp.Expr]) -> list[exp.Expr]:
    """Moves window calls into a Window; returns the expressions over its outputs."""
    if all(e.find(exp.Window) is None for e in everything):
        return everything
    rel = block.binder.names.fresh("win")
    items: list[Item] = []

    def lift(part: exp.Expr) -> exp.Expr:
        if not isinstance(part, exp.Window):
            return part
        if any(e is not part for e in part.find_all(exp.Window)):
            raise Unmodelled("a window inside a window")
        for item in items:
            if same(item.expr, part):
                return column(ColumnId(rel, item.name))
        items.append(Item(f"w{len(items)}", part.copy()))
        return column(ColumnId(rel, items[-1].name))

    lifted = [e.transform(lift) if e.find(exp.Window) else e for e in everything]
    block.node = Window(input=block.node, rel=rel, items=tuple(items))
    return lifted


# The output


def _project(
    block: Block,
    selected: list[exp.Expr],
    order: list[tuple[SortKey, exp.Expr, int | None]],
    on: list[exp.Expr] | None,
) -> Node:
    binder = block.binder
    rel = binder.names.fresh("q")
    names = unique_names(i.name for i in block.items)
    items = [Item(n, e) for n, e in zip(names, selected, strict=True)]
    hidden: list[Item] = []

    def hide(expr: exp.Expr) -> exp.Expr:
        if isinstance(
            expr, exp.Collate
        ):  # a collation belongs to the comparison, it does not travel with a value
            return exp.Collate(this=hide(expr.this), expression=expr.expression.copy())
        for item in (*items, *hidden):
            if same(item.expr, expr):
                return column(ColumnId(rel, item.name))
        taken = [item.name for item in (*items, *hidden)]
        hidden.append(Item(unique_names([*taken, f"_o{len(hidden)}"])[-1], expr))
        return column(ColumnId(rel, hidden[-1].name))

    keys = tuple(
        key._replace(expr=column(ColumnId(rel, names[n])) if n is not None else hide(expr))
        for key, expr, n in order
    )
    on_keys = tuple(hide(e) for e in on) if on is not None else None
    distinct = block.ast.args.get("distinct")
    if distinct is not None and on is None and hidden:
        raise Unmodelled("ORDER BY of what SELECT DISTINCT does not select")
    node: Node = Project(input=block.node, rel=rel, items=tuple(items + hidden))
    if on_keys is not None:
        node = Distinct(input=node, on=on_keys, order=keys)
    elif distinct is not None:
        node = Distinct(input=node)
    if keys:
        node = Sort(input=node, keys=keys)
    node = binder.limited(node, block.ast, block.scope.outer)
    if hidden:
        out = binder.names.fresh("q")
        node = Project(
            input=node, rel=out, items=tuple(Item(name, column(ColumnId(rel, name))) for name in names)
        )
    return node

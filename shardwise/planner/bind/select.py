"""Binding one SELECT block.

FROM → Filter (WHERE) → Aggregate → Filter (HAVING) → Window → Filter (QUALIFY) → Project → Distinct
→ Sort → Limit. The Project computes what ORDER BY needs and is not selected as hidden items, which a
last Project drops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.errors import UnknownName
from shardwise.plan.nodes import (
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
    bare,
    column,
    same,
)
from shardwise.planner.bind.block import Block, SelectItem
from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.conditions import conditions
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.grouping import grouped
from shardwise.planner.bind.order import is_order_by_all, place, sort_key
from shardwise.planner.bind.scope import Scope, did_you_mean, unique_names
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
    scope = binder.scope(item, outer)
    block = Block(binder, ast, scope, item.node, own=item.node.output_ids)
    block.items = _select_items(block)
    if ast.args.get("where") is not None:
        where = conditions(Expressions(binder, scope).bind(ast.args["where"].this), binder.dialect)
        block.node = Filter(input=block.node, conjuncts=where)
    order = _order_items(block)
    exprs = [i.expr for i in block.items] + [key.expr for key, _ in order]
    distinct_on = _distinct_on(block, [key.expr for key, _ in order])
    exprs += distinct_on or []
    qualify = ast.args.get("qualify")
    if qualify is not None:
        exprs.append(Expressions(binder, scope).bind(qualify.this))
    exprs, having = grouped(block, exprs)
    if having is not None:
        block.node = Filter(input=block.node, conjuncts=conditions(having, binder.dialect))
    exprs = _windows(block, exprs)
    if qualify is not None:
        block.node = Filter(input=block.node, conjuncts=conditions(exprs.pop(), binder.dialect))
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
        name = raw.alias if aliased else _column_name(bound, inner, block.binder.dialect.name_of)
        items.append(SelectItem(name, bound, aliased))
        if aliased:
            block.scope.aliases[name.lower()] = bound  # of two of a name DuckDB takes the last
    return items


def _column_name(bound: exp.Expr, raw: exp.Expr, name_of: Callable[[exp.Expr], str]) -> str:
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
        position = place(raw, len(block.items), "ORDER BY")
        if position is None and isinstance(raw, exp.Column) and len(raw.parts) == 1:
            position = _item_named(block, raw.name)
        if position is None:
            bound = Expressions(block.binder, block.scope).bind(raw)
            is_again = block.binder.written.is_again
            selected = next((n for n, i in enumerate(block.items) if is_again(i.expr, bound)), None)
            found = bound if selected is None else block.items[selected].expr
            keys.append((sort_key(ordered, found), selected))
        else:
            keys.append((sort_key(ordered, block.items[position - 1].expr), position - 1))
    return keys


def _item_named(block: Block, name: str) -> int | None:
    """The (1-based) select item that ORDER BY's bare name means: the last alias, else the first column."""
    named = [n for n, item in enumerate(block.items, 1) if item.name.lower() == name.lower()]
    aliases = [n for n in named if block.items[n - 1].is_alias]
    return aliases[-1] if aliases else next(iter(named), None)


def _distinct_on(block: Block, order: Sequence[exp.Expr]) -> list[exp.Expr] | None:
    """What stands in ORDER BY too is the very same, be it a subquery: PostgreSQL takes nothing else."""
    distinct = block.ast.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None:
        return None
    on = distinct.args["on"]
    binder = Expressions(block.binder, block.scope)
    known = _sorted_by(block, order)
    bound = []
    for raw in on.expressions if isinstance(on, exp.Tuple) else [on]:
        position = place(raw, len(block.items), "DISTINCT ON")
        again = next((found for before, found in known if same(bare(before), bare(raw))), None)
        if position:
            bound.append(block.items[position - 1].expr)
        else:
            bound.append(again.copy() if again is not None else _as_selected(block, binder.bind(raw)))
    return bound


def _as_selected(block: Block, bound: exp.Expr) -> exp.Expr:
    """The select item that it is, if one holds the same subquery."""
    is_again = block.binder.written.is_again
    return next((item.expr for item in block.items if is_again(item.expr, bound)), bound)


def _sorted_by(block: Block, order: Sequence[exp.Expr]) -> list[tuple[exp.Expr, exp.Expr]]:
    """The keys of ORDER BY that hold a subquery, as they are written and as they are bound."""
    written = block.ast.args["order"].expressions if order else []
    if len(written) != len(order) or any(map(is_order_by_all, written)):
        return []
    items = [raw for raw in block.ast.expressions if _star(raw) is None]
    has_star = len(items) < len(block.ast.expressions)
    pairs = []
    for ordered, bound in zip(written, order, strict=True):
        raw = ordered.this
        position = None if has_star else place(raw, len(block.items), "ORDER BY")
        if position is not None:
            raw = items[position - 1].unalias()
        if raw.find(exp.Query) is not None:
            pairs.append((raw, bound))
    return pairs


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

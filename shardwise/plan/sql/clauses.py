"""Nodes with one input: added to its block where SQL's order of clauses allows it, else on top of it.

In the second case the block becomes a derived table of a new one (`Renderer.wrap`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from shardwise.plan.nodes import (
    Aggregate,
    ColumnId,
    Distinct,
    Fence,
    Filter,
    Item,
    Keep,
    Limit,
    Node,
    Project,
    Sort,
    SortKey,
    Window,
)
from shardwise.plan.sql.block import ALL_ROWS, CALL, Block, Col, Kind, Order, Ref, Scope
from shardwise.plan.sql.expressions import has_lambda, has_subquery, is_constant, is_ordinal_like, is_volatile
from shardwise.plan.tree import bare, column, column_id, columns_in, free_columns

if TYPE_CHECKING:
    from shardwise.plan.sql.render import Renderer

MANY = 1_000_000
_IN_FILTER = {Kind.KEY: MANY, Kind.CALL: MANY, Kind.WINDOW: MANY}
_IN_PROJECTION = {Kind.KEY: MANY, Kind.CALL: MANY, Kind.COMPUTED: 1, Kind.WINDOW: 1}


def _reads_simply(
    block: Block, exprs: Sequence[exp.Expr], allowed: dict[Kind, int], *, volatile: int = 0
) -> bool:
    """Whether the expressions may be written in this block.

    `allowed` says how often a column of each kind that is computed here may be mentioned, and so written
    again; `volatile` says it for one that may differ each time. What a subquery mentions must be a column
    of FROM, for an aggregate or a window has no meaning in it.
    """
    if not block.kinds:
        return True  # all are columns of FROM
    counts, inside = block.uses(exprs)
    if not all(block.is_plain(id) for id in inside):
        return False
    for id, count in counts.items():
        kind = block.kinds.get(id)
        if kind is None:
            continue
        if kind is Kind.CONSTANT:
            # Alone it keeps its type; in an expression a literal takes that of what stands beside it.
            if any(column_id(expr) != id and _mentions(block, expr, {id}) for expr in exprs):
                return False
            continue
        if count > (volatile if id in block.volatile else allowed.get(kind, 0)):
            return False
    return True


def _filter(render: Renderer, node: Filter, block: Block, outer: Scope) -> Block:
    """WHERE; HAVING after an aggregate; QUALIFY if it reads a window."""
    exprs = node.conjuncts
    open_here = not (
        block.is_closed or block.is_distinct or block.order or block.is_limited or block.volatile
    )
    is_closed_here = not render.reader.qualify and block.has_windows
    is_closed_here |= not render.reader.having_alone and block.is_grouped and not block.group
    is_closed_here |= _cuts(render, block, exprs) or _hides(render, node, block, exprs)
    is_closed_here |= _misses(render, node, block, exprs)
    if not open_here or is_closed_here or not _reads_simply(block, exprs, _IN_FILTER):
        block = render.wrap(block)
    elif block.has_windows:
        counts, _ = block.uses(exprs)
        if not any(block.kinds.get(id) is Kind.WINDOW for id in counts):
            block = render.wrap(block)
    target = block.qualify if block.has_windows else block.having if block.is_grouped else block.where
    if target is block.having and not render.reader.having_computes:
        target.extend(_of_groups(render, node, block, outer))
    else:
        target.extend(render.write(expr, block, outer) for expr in exprs)
    if target is block.where and any(is_volatile(expr) for expr in exprs):
        block.has_volatile_filter = True
    return block


def _of_groups(render: Renderer, node: Filter, block: Block, outer: Scope) -> list[exp.Expr]:
    """HAVING where it may not repeat a key that is computed, and finds neither of two of one name: the least
    of a group's is the group's.

    SELECT count(*) FROM a JOIN b ON … GROUP BY b.k, a.k HAVING b.k + 1 > a.k is MariaDB's error 1054.
    """
    before = block.columns
    computed = {
        id for id, ref in before.items() if block.kinds.get(id) is Kind.KEY and isinstance(ref, exp.Expr)
    }
    least = {id: _marked(exp.Min(this=block.read(id))) for id in computed | _namesakes(block, node.input)}
    block.columns = {**before, **least}
    written = [render.write(expr, block, outer) for expr in node.conjuncts]
    block.columns = before
    return written


def _namesakes(block: Block, grouped: Node) -> set[ColumnId]:
    """The keys that are columns of the same name, of different tables. Not those of which the least is of
    another type: of an ENUM it is a text."""
    named = {id: ref for id, ref in block.columns.items() if isinstance(ref, Col)}
    tables: dict[str, set[str]] = {}
    for ref in named.values():
        tables.setdefault(ref.name.casefold(), set()).add(ref.table)
    retyped = {o.id for o in grouped.outputs if (o.type or "").upper().startswith(_RETYPED)}
    return {id for id, ref in named.items() if len(tables[ref.name.casefold()]) > 1} - retyped


_RETYPED = ("ENUM", "SET", "BIT")


def _project(render: Renderer, node: Project, block: Block, outer: Scope) -> Block:
    exprs = [item.expr for item in node.items]
    computing = [expr for expr in exprs if type(expr) is not exp.Column]
    is_closed_here = _cuts(render, block, computing) or _misses(render, node, block, computing)
    if is_closed_here or not _can_project(block, node, exprs):
        block = render.wrap(block)
    if block.is_closed:
        block.outputs = [ColumnId(node.rel, item.name) for item in node.items]
        block.order = [_moved(key, node) for key in block.order]
        block.rel = node.rel
        return block
    columns: dict[ColumnId, Ref] = {}
    kinds: dict[ColumnId, Kind] = {}
    volatile: set[ColumnId] = set()
    for item in node.items:
        new, old = ColumnId(node.rel, item.name), column_id(item.expr)
        if old is not None and old in block.columns:
            columns[new] = block.columns[old]
            if old in block.kinds:
                kinds[new] = block.kinds[old]
            if old in block.volatile:
                volatile.add(new)
            continue
        columns[new] = render.write(item.expr, block, outer)
        kinds[new] = Kind.CONSTANT if is_constant(item.expr) else Kind.COMPUTED
        if kinds[new] is Kind.COMPUTED and (
            is_volatile(item.expr) or _mentions(block, item.expr, block.volatile)
        ):
            volatile.add(new)
    block.order = [_moved(key, node) for key in block.order]
    block.outputs, block.columns, block.kinds, block.volatile = list(columns), columns, kinds, volatile
    block.rel, block.is_selected = node.rel, True
    return block


def _misses(render: Renderer, node: Node, block: Block, exprs: Sequence[exp.Expr]) -> bool:
    """Whether these look for an aggregate of the block's in a list, where MariaDB does not find it.

    HAVING max(v) IN (SELECT x FROM r), SELECT count(*) IN (SELECT x FROM r). Which engine reads a fragment is
    not known here, and the others read a derived table as well. A block that reads outer rows, or whose
    quotients would be cut, has to stay as it is.
    """
    if not block.is_grouped:
        return False
    sought = block.uses([expr for expr in exprs if _has_list(expr)])[0]
    calls = [block.read(id) for id in sought if block.kinds.get(id) is Kind.CALL]
    if not calls or (render.reader.cuts_quotients and any(call.find(exp.Div, exp.Avg) for call in calls)):
        return False
    return not any(free_columns(below) for below in node.inputs)


def _has_list(expr: exp.Expr) -> bool:
    parts = expr.find_all(exp.In, exp.Any, exp.All)
    return any(not isinstance(part, exp.In) or part.args.get("query") is not None for part in parts)


def _cuts(render: Renderer, block: Block, exprs: Sequence[exp.Expr]) -> bool:
    """Whether these compute on a quotient that a derived table stores, and cuts, as the engine has it.

    (SELECT k, avg(g) AS a FROM t GROUP BY k) t, of which a * 3 is not avg(g) * 3.
    """
    is_stored = block.is_selected and (block.is_grouped or block.has_windows)
    if not render.reader.cuts_quotients or not is_stored:
        return False
    return any(block.read(id).find(exp.Div, exp.Avg) is not None for id in block.uses(exprs)[0])


def _hides(render: Renderer, node: Filter, block: Block, exprs: Sequence[exp.Expr]) -> bool:
    """Whether these read an outer row, which they could not if the block became a derived table.

    HAVING may read one, but groups of groups are made of a derived table. Where the block reads outer rows
    itself, or has quotients that a derived table would cut, it stays as it is.
    """
    if render.reader.sees_outer_rows or all(columns_in(expr) <= block.columns.keys() for expr in exprs):
        return False
    if block.is_selected or not block.is_grouped:
        return block.is_selected
    calls = [block.read(id) for id in block.uses(exprs)[0]]
    return not free_columns(node.input) and not any(call.find(exp.Div, exp.Avg) for call in calls)


def _keep(render: Renderer, node: Keep, block: Block, outer: Scope) -> Block:
    """A shorter select list, unless the rows depend on it (DISTINCT, set operations)."""
    ids = [output.id for output in node.columns]
    if ids == block.outputs:
        return block
    is_fixed = block.is_closed or (block.is_distinct and not block.distinct_on)
    loses_key = any(key.id in block.volatile and key.id not in ids for key in block.order)
    if (is_fixed and sorted(ids) != sorted(block.outputs)) or block.is_closed or loses_key:
        block = render.wrap(block)
    block.outputs = ids
    block.columns = {id: block.columns[id] for id in ids}
    block.kinds = {id: kind for id, kind in block.kinds.items() if id in block.columns}
    block.volatile &= block.columns.keys()
    return block


def _fence(render: Renderer, node: Fence, block: Block, outer: Scope) -> Block:
    """A derived table with a LIMIT that limits nothing: past neither do engines move what can fail."""
    if block.is_limited or block.is_closed:
        block = render.wrap(block)
    block.is_limited, block.count = True, exp.Literal.number(ALL_ROWS)
    return render.wrap(block)


def _mentions(block: Block, expr: exp.Expr, ids: set[ColumnId]) -> bool:
    return bool(ids) and not ids.isdisjoint(block.uses([expr])[0])


def _moved(key: Order, node: Project) -> Order:
    """A sort key under its new name, if the projection keeps it."""
    for item in node.items:
        if key.id is not None and column_id(item.expr) == key.id:
            return key._replace(id=ColumnId(node.rel, item.name))
    return key._replace(id=None)


def _can_project(block: Block, node: Project, exprs: Sequence[exp.Expr]) -> bool:
    ids = [column_id(expr) for expr in exprs]
    if block.is_closed:
        return block.raw is None and ids == block.outputs
    if block.is_distinct and not block.distinct_on:
        return sorted(id or ("", "") for id in ids) == sorted(block.outputs)
    own = [id for id in ids if id in block.columns]
    if block.is_limited and any(
        id not in block.columns and not is_constant(expr) for id, expr in zip(ids, exprs, strict=True)
    ):
        return False
    if any(key.id in block.volatile and key.id not in own for key in block.order):
        return False
    return _reads_simply(block, exprs, _IN_PROJECTION, volatile=1)


def _aggregate(render: Renderer, node: Aggregate, block: Block, outer: Scope) -> Block:
    exprs = [item.expr for item in node.keys + node.calls]
    if not block.is_from or block.volatile or not _reads_simply(block, exprs, {Kind.COMPUTED: 1}):
        block = render.wrap(block)
    keys, calls = node.keys, node.calls
    if _needs_key_columns(block, node):
        block, keys, calls = _with_key_columns(render, node, block, outer)
    columns: dict[ColumnId, Ref] = {}
    kinds: dict[ColumnId, Kind] = {}
    group = [render.write(item.expr, block, outer) for item in keys]
    grouped_by = (
        range(len(keys)) if node.sets is None else {position for one in node.sets for position in one}
    )
    for position, item in enumerate(keys):
        id, ref = ColumnId(node.rel, item.name), _reference(render, item, block, outer)
        if position not in grouped_by:
            ref = _null_like(group[position])
        columns[id] = ref
        if isinstance(ref, exp.Expr):
            kinds[id] = Kind.CONSTANT if is_constant(ref) else Kind.KEY
    for item in calls:
        id = ColumnId(node.rel, item.name)
        columns[id] = _marked(render.write(item.expr, block, outer))
        kinds[id] = Kind.COMPUTED if has_lambda(item.expr) else Kind.CALL
    volatile = {ColumnId(node.rel, item.name) for item in node.calls if is_volatile(item.expr)}
    block.is_grouped, block.is_selected = True, False
    if node.sets is not None:
        sets = [exp.Tuple(expressions=[group[i].copy() for i in one]) for one in node.sets]
        block.group = [exp.GroupingSets(expressions=sets)]
    else:
        block.group = [key for key in group if not is_constant(key)]
        if group and not block.group and render.reader.groups_by_null:
            block.group = [exp.Null()]
        elif group and not block.group:
            # All keys are constants: one group, unless there is no row.
            count = _marked(exp.Count(this=exp.Star()))
            block.having = [exp.GT(this=count, expression=exp.Literal.number(0))]
    block.outputs, block.columns, block.kinds, block.volatile = list(columns), columns, kinds, volatile
    block.rel = node.rel
    return block


def _marked(call: exp.Expr) -> exp.Expr:
    call.meta[CALL] = True
    return call


def _null_like(key: exp.Expr) -> exp.Expr:
    """A key that is in no grouping set: NULL in every row, of the key's type."""
    never = exp.Where(this=exp.false())
    return _marked(exp.Filter(this=exp.AnyValue(this=key.copy()), expression=never))


def _reference(render: Renderer, item: Item, block: Block, outer: Scope) -> Ref:
    id = column_id(item.expr)
    if id is not None and id in block.columns:
        return block.columns[id]
    return render.write(item.expr, block, outer)


def _needs_key_columns(block: Block, node: Aggregate) -> bool:
    """Whether keys must be columns of FROM: because one cannot be written twice, or because of grouping sets,
    where `k + 1` may be the key `k + 1`, or computed from the key `k`."""
    if node.sets is not None:
        ids = [column_id(item.expr) for item in node.keys]
        plain = {block.columns[id] for id in ids if id in block.columns and id not in block.kinds}
        return len(plain) != len(node.keys)
    exprs = [item.expr for item in node.keys]
    counts, _ = block.uses(exprs)
    return any(is_volatile(expr) or has_subquery(expr) for expr in exprs) or any(
        block.kinds.get(id) is Kind.COMPUTED and has_subquery(block.read(id)) for id in counts
    )


def _with_key_columns(
    render: Renderer, node: Aggregate, block: Block, outer: Scope
) -> tuple[Block, tuple[Item, ...], tuple[Item, ...]]:
    """The keys computed in a derived table. GROUPING(key) in a call then means the column."""
    keys: list[Item] = []
    for item in node.keys:
        id = ColumnId(node.rel, item.name)
        block.columns[id] = render.write(item.expr, block, outer)
        block.outputs.append(id)
        keys.append(Item(item.name, column(id)))
    block = render.wrap(block)
    calls = []
    for item in node.calls:
        expr = item.expr.copy()
        for call in expr.find_all(exp.Grouping, exp.GroupingId) if node.sets is not None else ():
            call.set("expressions", [_key_for(arg, node, keys) for arg in call.expressions])
        calls.append(Item(item.name, expr))
    return block, tuple(keys), tuple(calls)


def _key_for(arg: exp.Expr, node: Aggregate, keys: Sequence[Item]) -> exp.Expr:
    for before, after in zip(node.keys, keys, strict=True):
        if bare(before.expr) == bare(arg):
            return after.expr.copy()
    return arg


def _window(render: Renderer, node: Window, block: Block, outer: Scope) -> Block:
    exprs = [item.expr for item in node.items]
    fits = not (block.is_closed or block.qualify or block.is_distinct or block.order or block.is_limited)
    if not fits or not _reads_simply(block, exprs, {Kind.KEY: MANY, Kind.CALL: MANY}):
        block = render.wrap(block)
    written = [render.write(expr, block, outer) for expr in exprs]
    for item, expr in zip(node.items, written, strict=True):
        id = ColumnId(node.rel, item.name)
        block.columns[id] = expr
        block.kinds[id] = Kind.WINDOW
        block.outputs.append(id)
        if is_volatile(item.expr):
            block.volatile.add(id)
    block.has_windows = True
    return block


def _distinct(render: Renderer, node: Distinct, block: Block, outer: Scope) -> Block:
    if block.is_closed or block.is_distinct or block.order or block.is_limited:
        block = render.wrap(block)
    if node.on is None:
        block.is_distinct = True
        return block
    exprs = [*node.on, *(key.expr for key in node.order)]
    if not _reads_simply(block, exprs, {}) or any(is_volatile(expr) for expr in exprs):
        block = render.wrap(block)
    block.is_distinct = True
    on = [render.write(expr, block, outer) for expr in node.on]
    kept = [expr for expr in on if not is_ordinal_like(expr)]
    block.order = _order(render, node.order, block, outer)
    if kept:
        block.distinct_on = kept
    else:
        # DISTINCT ON a constant: the first row of all.
        block.is_distinct, block.is_limited, block.count = False, True, exp.Literal.number(1)
    return block


def _order(render: Renderer, keys: Sequence[SortKey], block: Block, outer: Scope) -> list[Order]:
    """The keys as written here, without those that are constants (which SQL would take for positions)."""
    orders = []
    for key in keys:
        id = column_id(key.expr)
        expr = render.write(key.expr, block, outer) if not block.is_closed else key.expr
        if not is_ordinal_like(expr):
            own = id if id in block.columns or block.is_closed else None
            orders.append(Order(own, expr, key.descending, key.nulls_first))
    return orders


def _sort(render: Renderer, node: Sort, block: Block, outer: Scope) -> Block:
    if not _can_sort(block, node) or _misses(render, node, block, [key.expr for key in node.keys]):
        block = render.wrap(block)
    order = _order(render, node.keys, block, outer)
    if block.distinct_on and block.order and block.order != order:
        block = render.wrap(block)
        order = _order(render, node.keys, block, outer)
    block.order = order
    return block


def _can_sort(block: Block, node: Sort) -> bool:
    if block.is_limited:
        return False
    bare = [column_id(key.expr) for key in node.keys]
    if block.is_closed:
        return block.raw is None and all(id in block.outputs for id in bare)
    rest = [key.expr for key, id in zip(node.keys, bare, strict=True) if id not in block.columns]
    if block.is_distinct and rest:
        return False
    counts, _ = block.uses(rest)
    if any(block.kinds.get(id) is Kind.COMPUTED and has_subquery(block.read(id)) for id in counts):
        return False
    return _reads_simply(block, rest, dict.fromkeys(Kind, MANY))


def _limit(render: Renderer, node: Limit, block: Block, outer: Scope) -> Block:
    if block.is_limited or block.raw is not None:
        block = render.wrap(block)
    block.is_limited = True
    block.count = None if node.count is None else render.write(node.count, None, outer)
    block.offset = None if node.offset is None else render.write(node.offset, None, outer)
    block.percent = node.percent
    return block


ADD: dict[type[Node], Callable[[Renderer, Any, Block, Scope], Block]] = {
    Filter: _filter,
    Keep: _keep,
    Fence: _fence,
    Project: _project,
    Aggregate: _aggregate,
    Window: _window,
    Distinct: _distinct,
    Sort: _sort,
    Limit: _limit,
}

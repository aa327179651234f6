"""Joins: which sides may stand in FROM as they are, and which must be derived tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.plan.nodes import Filter, Join, TableFunction
from shardwise.plan.sql.block import Block, Col, Kind, Scope
from shardwise.plan.sql.clauses import ADD
from shardwise.plan.sql.expressions import conjunction, has_subquery
from shardwise.plan.sql.full_joins import equation, needs_equation, with_a_column
from shardwise.plan.tree import subplan

if TYPE_CHECKING:
    from shardwise.plan.sql.render import Renderer

_WORDS: dict[str, dict[str, str]] = {
    "inner": {},
    "cross": {"kind": "CROSS"},
    "left": {"side": "LEFT"},
    "right": {"side": "RIGHT"},
    "full": {"side": "FULL"},
    "semi": {"kind": "SEMI"},
    "anti": {"kind": "ANTI"},
    "asof": {"method": "ASOF"},
    "asof_left": {"method": "ASOF", "side": "LEFT"},
    "positional": {"method": "POSITIONAL"},
}

# The sides whose filter may wait until after the join, and whose constants may too: those of which a row
# is left as it was or not at all. LEFT JOIN (SELECT id, 1 AS one FROM b) would else say 1 for NULL.
_KEEPS_LEFT = frozenset(("inner", "cross", "left", "semi", "anti", "asof", "asof_left"))
_KEEPS_RIGHT = frozenset(("inner", "cross", "right"))


def add_join(render: Renderer, node: Join, left: Block, outer: Scope) -> Block:
    """`left`'s block with the right side joined to it."""
    if left.is_one_row and node.kind in ("inner", "cross"):
        block = render.block(node.right, outer)
        return _filtered(render, node, block, outer) if node.on else block
    if node.kind in ("semi", "anti") and not render.reader.has_semi_join:
        return ADD[Filter](render, Filter(input=node.left, conjuncts=(_exists(node),)), left, outer)
    left = _side(render, left, keeps=node.kind in _KEEPS_LEFT)
    if node.lateral:
        right = _lateral(render, node, left, outer)
    else:
        right = _side(render, render.block(node.right, outer), keeps=node.kind in _KEEPS_RIGHT)
    more: list[exp.Expr] = []
    if not render.reader.joins_full_on_anything and needs_equation(node):
        (left, mine), (right, other) = with_a_column(render, left), with_a_column(render, right)
        more = [equation(mine, other)]
    if right.joins and not isinstance(right.source, (exp.Table, exp.Subquery)):
        # sqlglot writes the joins of (VALUES …) before its alias.
        right = render.wrap(right)
    item = right.source
    if right.joins:
        assert item is not None
        item.set("joins", right.joins)
        item = exp.Subquery(this=item)
    block = left
    block.where.extend(right.where)
    block.has_volatile_filter = False
    block.columns.update(right.columns)
    block.kinds.update(right.kinds)
    join = exp.Join(this=item, **_WORDS[node.kind])
    _set_on(render, node, join, block, outer, more)
    block.joins.append(join)
    if node.kind not in ("semi", "anti"):
        block.outputs.extend(right.outputs)
    else:
        block.columns = {id: block.columns[id] for id in block.outputs}
        block.kinds = {id: kind for id, kind in block.kinds.items() if id in block.columns}
    block.rel = None
    return block


def _exists(node: Join) -> exp.Expr:
    """A semi- or anti-join as a condition on the left side's rows."""
    inner = Filter(input=node.right, conjuncts=node.on) if node.on else node.right
    found = exp.Exists(this=subplan(inner))
    return found if node.kind == "semi" else exp.Not(this=found)


def _filtered(render: Renderer, node: Join, block: Block, outer: Scope) -> Block:
    return ADD[Filter](render, Filter(input=node.right, conjuncts=node.on), block, outer)


def _side(render: Renderer, block: Block, *, keeps: bool) -> Block:
    """The side as part of FROM. `keeps`: its filter and its constants may be moved above the join."""
    plain = block.is_from and block.source is not None and not block.has_volatile_filter
    if keeps:
        plain = plain and all(kind is Kind.CONSTANT for kind in block.kinds.values())
    else:
        plain = plain and not block.where and all(type(block.columns[id]) is Col for id in block.outputs)
    return block if plain else render.wrap(block)


def _lateral(render: Renderer, node: Join, left: Block, outer: Scope) -> Block:
    """A function as it is (it always sees the items before it), anything else as LATERAL (SELECT …)."""
    scope = {**outer, **left.columns}
    if isinstance(node.right, TableFunction):
        return render.block(node.right, scope)
    return render.lateral(node.right, scope)


def _set_on(
    render: Renderer, node: Join, join: exp.Join, block: Block, outer: Scope, more: list[exp.Expr]
) -> None:
    """ON, and `more`; in an inner join what has a subquery goes to WHERE, where every engine takes it."""
    on = []
    for expr in node.on:
        written = render.write(expr, block, outer)
        if node.kind in ("inner", "cross") and has_subquery(written):
            block.where.append(written)
        else:
            on.append(written)
    on += more
    if on:
        join.set("on", conjunction(on))
        if node.kind == "cross":
            join.set("kind", None)
    elif node.kind == "inner":
        join.set("kind", "CROSS")
    elif node.kind not in ("cross", "positional"):
        join.set("on", exp.true())


def lateral_item(query: exp.Query, alias: exp.TableAlias) -> exp.Lateral:
    """LATERAL (query) AS alias."""
    return exp.Lateral(this=exp.Subquery(this=query), view=False, outer=False, alias=alias)

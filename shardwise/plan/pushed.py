"""What of a statement runs on the shards, in a few words, read off a fragment's tree."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from shardwise.catalog.model import Sharded, ShardedWith
from shardwise.plan.nodes import (
    Aggregate,
    Distinct,
    Fence,
    Filter,
    Gather,
    Join,
    Keep,
    Limit,
    Node,
    Project,
    Raw,
    Recursive,
    Scan,
    SetOp,
    Sort,
    Window,
)
from shardwise.plan.phrases import name_text
from shardwise.plan.tree import column_id, subplans, walk

_JOINS = {"inner": "join", "semi": "semi-join", "anti": "anti-join"}


def pushed(gather: Gather, above: tuple[Node, ...]) -> tuple[str, ...]:
    """The work of `gather`'s shards, in the order in which they do it, each phrase once.

    `above` are the nodes over the Gather, from the root down: they tell a partial aggregate from a whole one.
    """
    partial = _partial(gather.input, above)
    return tuple(dict.fromkeys(_phrases(gather.input, partial)))


def _phrases(node: Node, partial: Aggregate | None) -> Iterator[str]:
    """Bottom-up: inputs first. A Limit speaks for its Sort."""
    inputs = node.inputs
    if isinstance(node, Limit) and isinstance(node.input, Sort):
        inputs = node.input.inputs
    for below in inputs:
        yield from _phrases(below, partial)
    yield from ("subquery" for _ in subplans(node))
    yield from _phrase(node, partial)


def _phrase(node: Node, partial: Aggregate | None) -> Iterator[str]:
    if isinstance(node, Filter):
        yield "filter"
    elif isinstance(node, Join):
        yield _join(node)
    elif isinstance(node, Aggregate):
        yield _aggregate(node, node is partial)
    elif isinstance(node, Distinct):
        yield "distinct" if node.on is None else "distinct on"
    elif isinstance(node, Window):
        yield "window"
    elif isinstance(node, Sort):
        yield "sort"
    elif isinstance(node, Limit):
        yield _limit(node)
    elif isinstance(node, SetOp):
        yield node.kind + " all" * node.all
    elif isinstance(node, Recursive):
        yield "recursion"
    elif isinstance(node, Raw):
        yield "the statement as written"


def _limit(node: Limit) -> str:
    kind = "top" if isinstance(node.input, Sort) else "limit"
    plain = isinstance(node.count, exp.Literal) and node.offset is None and not node.percent
    return f"{kind} {node.count}" if plain else f"{kind} n"


def _join(node: Join) -> str:
    """A join of two sharded sides is colocated; else it is named after the side that is everywhere."""
    kind = _JOINS.get(node.kind, f"{node.kind} join".replace("_", " "))
    left, right = _shardings(node.left), _shardings(node.right)
    if left and right:
        both = [name for name in left if name in right] or left
        return f"colocated {kind} ({both[0]})"
    whole = node.left if right else node.right
    tables = [name_text(n.table.name) for n in walk(whole) if isinstance(n, Scan)]
    return f"{kind} with {tables[0]}" if len(tables) == 1 else kind


def _shardings(node: Node) -> list[str]:
    """The shardings of the tables in a tree; a table sharded with its parent gives the parent's name."""
    names = []
    for scan in walk(node):
        if isinstance(scan, Scan):
            placement = scan.table.placement
            if isinstance(placement, Sharded):
                names.append(placement.sharding)
            elif isinstance(placement, ShardedWith):
                names.append(f"with {placement.parent}")
    return list(dict.fromkeys(names))


def _aggregate(node: Aggregate, is_partial: bool) -> str:
    if is_partial and node.calls:
        functions = dict.fromkeys(name for item in node.calls for name in _functions(item.expr))
        return f"partial {', '.join(functions)}"
    by = ", ".join(name_text(key.name) for key in node.keys)
    if is_partial:
        return f"groups by {by}" if by else "partial aggregate"
    return f"aggregate by {by}" if by else "aggregate"


def _functions(expr: exp.Expr) -> Iterator[str]:
    """The names of the aggregate functions in an expression, as DuckDB writes them."""
    for call in expr.find_all(exp.AggFunc, exp.AnonymousAggFunc):
        yield call.sql(dialect="duckdb").split("(")[0].lower()


def _partial(node: Node, above: tuple[Node, ...]) -> Aggregate | None:
    """The fragment's topmost aggregate, if the aggregate next above the Gather finishes its groups.

    It does if it groups by columns that the fragment groups by: by all of them, or, where the shards
    group more finely for a DISTINCT or for (value, count) pairs, by some.
    """
    while isinstance(node, (Project, Keep, Fence, Sort, Limit)):
        node = node.input
    over = next(
        (n for n in reversed(above) if not isinstance(n, (Project, Keep, Fence, Sort, Limit, SetOp))), None
    )
    if not isinstance(node, Aggregate) or not isinstance(over, Aggregate):
        return None
    finished = {column_id(key.expr) for key in over.keys}
    made = {key.name for key in node.keys}
    if any(id is None or id.name not in made for id in finished):
        return None
    is_regrouped = len(finished) < len(made)
    return None if is_regrouped and node.calls else node

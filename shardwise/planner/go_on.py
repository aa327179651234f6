"""go_on: a page that begins after a given row, and gives the sort keys of its rows as well.

    Limit 10                        Project …, v, id                  the last two are not shown
    └─ Sort v DESC          =>      └─ Limit 10
       └─ T                            └─ Sort v DESC, id DESC
                                          └─ Filter (v, id) come after the last page's last row
                                             └─ T

It is done to the tree as the binder made it, so that the passes treat the condition like any other: it goes
to the shards, where an index serves it, and about as many rows move as the page has, of each shard.

Sound: the order is made one in which no two rows are equal, by the primary keys of all tables (where one may
repeat, with `_shard` and `_table`), by the columns of groups, or by all columns of DISTINCT. Without any of
them a row beyond the end of a page could be equal to its last one, and would be skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlglot import exp

from shardwise.errors import Reason, Unplannable
from shardwise.plan.nodes import ColumnId, Filter, Item, Keep, Limit, Node, Project, Sort, SortKey
from shardwise.plan.tree import column, column_id, plans_in
from shardwise.planner.context import Seen
from shardwise.planner.functions import is_volatile
from shardwise.planner.keyset import Place, after
from shardwise.planner.origins import all_origins, origin, origin_of_extreme
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.sort_keys import why_not
from shardwise.planner.total_order import NoOrder, never_null, resolved, total_order

KEY = "_key_"
"""How the columns are named that are not shown."""


class Pages(NamedTuple):
    """The tree of a page, and the names of its columns: the last ones are its rows' keys."""

    tree: Node
    names: tuple[str, ...]


def go_on(root: Node, names: tuple[str, ...], seen: Seen | None, ctx: PlanContext) -> Pages:
    """The statement's page after the row whose keys are `seen`; the first one if it is None."""
    limit, sort = _parts(root)
    try:
        source, keys, _ = total_order(sort, None, ctx)
    except NoOrder as no:
        raise _refused(str(no)) from None
    ctx.learn(source)
    computed = [resolved(key.expr, source) for key in keys]
    if any(is_volatile(expr) or any(True for _ in plans_in(expr)) for expr in computed):
        raise _refused("the ORDER BY is not the same each time it is computed")
    for number, key in enumerate(keys, start=1):
        _check_order(number, key, source, ctx)
    offset = limit.offset
    if seen is not None:
        if len(seen.values) != len(keys):
            raise _refused("the statement is another one")
        source = Filter(input=source, conjuncts=(_after(keys, source, seen, ctx),))
        offset = None
    page = limit.but(input=Sort(input=source, keys=keys), offset=offset)
    tree, ids = _shown(root, limit, page, [key.expr for key in keys], ctx)
    return Pages(tree, names + tuple(f"{KEY}{i + 1}" for i in range(len(ids))))


def _check_order(number: int, key: SortKey, source: Node, ctx: PlanContext) -> None:
    """Raises for a key that is sorted otherwise than its values compare, as MySQL does."""
    id = column_id(key.expr)
    found = None if id is None else origin(source, id) or origin_of_extreme(source, id)
    sort_keys = ctx.dialect.sort_keys
    if sort_keys.has_places and found is not None and found.is_of_members:  # computed, it is a text
        raise _refused(
            f"its sort key {number} is an ENUM or SET, which sorts by its members' places but is read as "
            "their text",
            "Order by its text, CONCAT(column), or by FIELD(column, …)",
        )
    columns = (each.column for each in all_origins(source, key.expr))
    if not sort_keys.are_sorted_as_compared(columns):
        raise _refused(
            f"its sort key {number} is of a collation without padding, by which 'a' and 'a\\0' compare as "
            "different, but sort as equal",
            "Order by numbers, dates or texts of another collation",
        )


def _parts(root: Node) -> tuple[Limit, Sort]:
    node = root
    while isinstance(node, Project | Keep):
        node = node.input
    if (
        isinstance(node, Limit)
        and not node.percent
        and node.count is not None
        and isinstance(node.input, Sort)
    ):
        return node, node.input
    raise _refused(
        "it has no ORDER BY … LIMIT n at its end", "Write ORDER BY … LIMIT n, n being the page's size"
    )


def _after(keys: Sequence[SortKey], source: Node, seen: Seen, ctx: PlanContext) -> exp.Expr:
    filled = never_null(source, ctx)
    sort_keys = ctx.dialect.sort_keys
    places = []
    for i, (key, value, type_) in enumerate(zip(keys, seen.values, seen.types, strict=True)):
        if not sort_keys.travels(type_, [value]):
            why, hint = why_not(value)
            raise _refused(f"the last row's value of its sort key {i + 1} ({type_}) {why}", hint)
        bound = None
        if value is not None:
            bound = sort_keys.written(ctx.parameters.bind_value(f"after_{i + 1}", value), type_)
        id = column_id(key.expr)
        places.append(Place(key.expr, bound, key.descending, key.nulls_first, id is None or id not in filled))
    return after(places)


def _shown(
    root: Node, limit: Limit, page: Node, keys: list[exp.Expr], ctx: PlanContext
) -> tuple[Node, list[ColumnId]]:
    """The nodes above the page, which give its keys too."""
    if root is limit:
        rel = ctx.names.fresh("page")
        shown = [Item(f"c{i}", column(o.id)) for i, o in enumerate(limit.outputs)]
        more = [Item(f"{KEY}{i + 1}", key) for i, key in enumerate(keys)]
        return (
            Project(input=page, rel=rel, items=(*shown, *more)),
            [ColumnId(rel, item.name) for item in more],
        )
    if isinstance(root, Keep):
        return _shown(
            Project(
                input=root.input,
                rel=ctx.names.fresh("page"),
                items=tuple(Item(f"c{i}", column(o.id)) for i, o in enumerate(root.columns)),
            ),
            limit,
            page,
            keys,
            ctx,
        )
    assert isinstance(root, Project)
    if root.input is limit:
        more = [Item(f"{KEY}{i + 1}", key) for i, key in enumerate(keys)]
        below: Node = page
    else:
        below, ids = _shown(root.input, limit, page, keys, ctx)
        more = [Item(f"{KEY}{i + 1}", column(id)) for i, id in enumerate(ids)]
    made = root.but(input=below, items=(*root.items, *more))
    return made, [ColumnId(root.rel, item.name) for item in more]


def _refused(why: str, hint: str = "") -> Unplannable:
    return Unplannable(
        f"the statement cannot be read page by page: {why}",
        reason=Reason.NOT_SUPPORTED,
        hint=hint or "Order by columns that no two rows have alike, or declare a PRIMARY KEY in the catalog",
    )

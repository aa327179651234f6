"""From the finished tree to a Plan: each Gather's tree becomes a fragment, the rest the merge's statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column, Table
from shardwise.catalog.templates import Template
from shardwise.errors import InternalError
from shardwise.plan.gaps import NO_GAPS, Gaps
from shardwise.plan.holes import Written
from shardwise.plan.nodes import (
    ColumnId,
    Cte,
    Gather,
    Join,
    Local,
    Node,
    Own,
    Raw,
    Recursive,
    Scan,
    TableFunction,
)
from shardwise.plan.partitions import OWN, SYNTAXES, ShardTexts
from shardwise.plan.route import Route
from shardwise.plan.run import Expected, ExpectedColumn, Fragment, Merge, OrderKey, Plan, TableColumn, Text
from shardwise.plan.sql import stream_names, text_of, to_query
from shardwise.plan.tree import column_id, walk
from shardwise.planner.caching.observed import Values
from shardwise.planner.dialects import query_dialect
from shardwise.planner.estimates.moved import moved
from shardwise.planner.foreign import Foreign
from shardwise.planner.narrow_keys import has_lists, narrowed
from shardwise.planner.origins import origin, origin_of_extreme
from shardwise.planner.pass_context import PlanContext
from shardwise.planner.passing import passing
from shardwise.planner.route_keys import routed
from shardwise.planner.trusted_orders import compared


def render(
    root: Node,
    names: Sequence[str],
    ctx: PlanContext,
    *,
    sql: str,
    steps: tuple[tuple[str, Node], ...],
) -> Plan:
    """The Plan of a tree whose Gathers are placed. `names` are the result's column names."""
    gathers = [n for n in walk(root) if isinstance(n, Gather)]
    whole = root if isinstance(root, Gather) and len(root.shards) == 1 else None
    fragments = tuple(_fragment(g, ctx, names if g is whole else None) for g in gathers)
    columns = tuple((n, o.type) for n, o in zip(names, root.outputs, strict=False))
    return Plan(
        sql=sql,
        root=root,
        fragments=fragments,
        merge=None if whole is not None else merge_of(root, names, ctx),
        columns=columns,
        catalog_version=ctx.catalog.version,
        dialect=ctx.catalog.dialect,
        indexes=frozenset(ctx.indexes),
        notes=tuple(ctx.notes),
        choices=tuple(ctx.choices),
        steps=steps,
    )


def _fragment(gather: Gather, ctx: PlanContext, names: Sequence[str] | None) -> Fragment:
    if gather.own is not None:
        return _fragment_of_own(gather, gather.own, ctx)
    inner = gather.input
    is_raw = isinstance(inner, Raw)
    query = _query(inner, names if not is_raw else None, ctx.catalog)
    scans = tuple(n for n in walk(inner) if isinstance(n, Scan))
    slots = {scan.rel: scan.slots for scan in scans}
    shown = stream_names(inner) if names is None else tuple(names)
    catalog: Catalog = ctx.catalog

    own = names if not is_raw else None
    values = ctx.parameters.used_in(query)
    has_own_keys = len(gather.shards) > 1 and has_lists(inner)
    foreign = Foreign(inner, ctx, shown, slots) if catalog.dialects != {catalog.dialect} else None
    syntax = OWN[catalog.dialect]

    def text_for(values: Values) -> Text:
        for_shard = narrowed(inner, catalog, values) if has_own_keys else None
        if for_shard is None:
            text = ShardTexts(query, catalog, slots, syntax).text
        else:

            def text(shard: str, gaps: Gaps = NO_GAPS) -> str:
                written = _query(for_shard(shard), own, catalog)
                return ShardTexts(written, catalog, slots, syntax).text(shard, gaps)

        return text if foreign is None else foreign.texts(text)

    lists = routed(inner, values, catalog, ctx.parameters)

    def params_for(shard: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        own = {} if lists is None else lists(shard)
        return {**given, **own} if foreign is None else foreign.params(shard, given, own)

    return Fragment(
        name=gather.fragment,
        columns=tuple((n, o.type) for n, o in zip(shown, inner.outputs, strict=False)),
        route=_route(gather.shards, scans),
        params=_bound(values),
        source_of=catalog.source_of,
        make_sql=lambda: text_of(query, catalog.dialect),
        make_text=lambda: text_for(values),
        expects=_expects(scans, catalog),
        plain=lambda: _plain(inner, shown),
        shapes=query_dialect(catalog.dialect).shapes(inner),
        params_for=None if foreign is None and lists is None else params_for,
        may_be_missing=_may_be_missing(scans, catalog),
        order=_order(gather, ctx),
        text_for=text_for if has_own_keys else None,
        expected=lambda: moved(gather, ctx.estimates, ctx.analysis()),
        sent_as={name: of for name, of in ctx.parameters.sent_as.items() if name in values},
    )


def _fragment_of_own(gather: Gather, own: Own, ctx: PlanContext) -> Fragment:
    """A fragment that is another on each shard: each has a text of its own, and values."""
    trees = {id(tree): tree for tree in (gather.input, *own.trees.values())}
    of_tree = {key: _fragment(gather.but(input=tree, own=None), ctx, None) for key, tree in trees.items()}
    made = {shard: of_tree[id(tree)] for shard, tree in own.trees.items()}
    first = of_tree[id(gather.input)]

    def text(shard: str, gaps: Gaps = NO_GAPS) -> str:
        return made[shard].text(shard, gaps)

    def params(shard: str, _: Mapping[str, Any]) -> Mapping[str, Any]:
        of = made[shard]
        return of.params if of.params_for is None else of.params_for(shard, of.params)

    return replace(first, make_text=lambda: text, params_for=params, text_for=None)


def _order(gather: Gather, ctx: PlanContext) -> tuple[OrderKey, ...]:
    places = {output.id: place for place, output in enumerate(gather.outputs)}
    found = []
    for key in gather.order:
        id = column_id(key.expr)
        how = None if id is None else compared(gather, id, ctx)
        if id is None or how is None:
            raise InternalError("streams in an order that the merge does not know")
        found.append(OrderKey(places[id], key.descending, key.nulls_first, how))
    return tuple(found)


def _types(inner: Node, catalog: Catalog) -> dict[str, str]:
    """The declared types of a fragment's columns that are a table's as they are, and of the least and the
    largest of an ENUM or SET, which are of that type again."""
    found = {}
    names = stream_names(inner)
    for name, of in _plain(inner, names).items():
        schema, _, table = of.table.rpartition(".")
        declared = catalog.stored(table, schema or None)
        column = declared.column(of.column) if isinstance(declared, Table) else None
        if column is not None:
            found[name] = column.type
    for name, output in zip(names, inner.outputs, strict=False):
        extreme = origin_of_extreme(inner, output.id)
        if extreme is not None and extreme.column is not None and extreme.is_of_members:
            found[name] = extreme.column.type
    return found


def _plain(inner: Node, names: Sequence[str]) -> dict[str, TableColumn]:
    """Which of a fragment's columns, by their names in the stream, are a table's as they are."""
    found = zip(names, (_read_as(inner, output.id) for output in inner.outputs), strict=False)
    return {name: column for name, column in found if column is not None}


def _read_as(node: Node, id: ColumnId) -> TableColumn | None:
    found = origin(node, id)
    return None if found is None else TableColumn(found.scan.table.full_name, found.name)


def _may_be_missing(scans: Sequence[Scan], catalog: Catalog) -> bool:
    """Whether all that is read is split over an open family: then a member that is not there has no rows.

    A reference table's rows, or a single one's, are elsewhere too, or lost: of them a missing member is an
    error.
    """
    shardings = [catalog.sharding_of(scan.table) for scan in scans]
    return bool(scans) and all(each is not None and each.shards_are_sources for each in shardings)


def _bound(values: Values) -> dict[str, Any]:
    """The values that are sent as such: literals are in the texts."""
    return {name: value for name, value in values.items() if not isinstance(value, Written)}


def _expects(scans: Sequence[Scan], catalog: Catalog) -> Callable[[str], tuple[Expected, ...]]:
    """What a fragment's scans take for granted: the types of the columns they read, where declared."""
    checked = []
    for scan in scans:
        declared = {c.name: c for c in scan.table.columns or () if not c.virtual}
        read = tuple(
            ExpectedColumn(c.name, _expected(c, catalog), c.stored)
            for o in scan.columns
            if (c := declared.get(o.id.name)) is not None
        )
        absence = _absence(scan, catalog)
        if read or absence is not None:
            checked.append((scan, read, frozenset(catalog.fills(scan.table)), absence))

    def expects(shard: str) -> tuple[Expected, ...]:
        dialect = catalog.dialect_of_shard(shard)
        return tuple(
            Expected(
                table=SYNTAXES[dialect].table(name),
                columns=read,
                fills=fills,
                widens=scan.table.drift == "FILL" and dialect == "duckdb",
                absence=name.rpartition(".")[0] if absence else absence,
                of=scan.table.full_name,
            )
            for scan, read, fills, absence in checked
            for name in catalog.partitions(scan.table, shard, scan.slots)
        )

    return expects


def _expected(column: Column, catalog: Catalog) -> str:
    """Where the sources compute, their columns compare by their collations."""
    if catalog.dialect != "duckdb" and column.collation:
        return f"{column.type} COLLATE {column.collation}"
    return column.type


def _absence(scan: Scan, catalog: Catalog) -> str | None:
    """Whether a member is a schema (its name, in part) or a table (""); None where it is a source, or none at
    all."""
    sharding = catalog.sharding_of(scan.table)
    if sharding is None or not sharding.is_open or sharding.shards_are_sources:
        return None
    schema = (scan.table.named or "").rpartition(".")[0]
    return schema if sharding.levels[0] in Template.parse(schema).variables else ""


def _route(shards: tuple[str, ...], scans: Sequence[Scan]) -> Route:
    """Where it goes, and why to no fewer: what the scans' own routes say, each thing once."""
    total = max((s.route.total for s in scans), default=len(shards))
    why = tuple(dict.fromkeys(note for s in scans for note in s.route.why)) if len(shards) > 1 else ()
    return Route(shards=shards, total=max(total, len(shards)), why=why)


def merge_of(root: Node, names: Sequence[str], ctx: PlanContext) -> Merge:
    """What finishes the work of a tree, whose fragments may have been made of another one."""
    query = _query(root, None if isinstance(root, Raw) else names, ctx.catalog)
    nodes = list(walk(root))

    def streams() -> dict[str, dict[str, str]]:
        return {n.fragment: _types(n.input, ctx.catalog) for n in nodes if isinstance(n, Gather)}

    query = query_dialect(ctx.catalog.dialect).merged(query, streams)
    passes = passing(root, ctx)
    is_in_order = any(isinstance(n, Gather) and n.order for n in nodes)
    if is_in_order and passes is None and ctx.catalog.dialect != "duckdb":
        raise InternalError("streams in order are merged on a server, which puts them out of it")
    return Merge(
        sql=text_of(query, ctx.catalog.dialect),
        params=_bound(ctx.parameters.used_in(query)),
        inputs=tuple(n.fragment for n in nodes if isinstance(n, Gather)),
        locals=tuple(dict.fromkeys(n.name for n in nodes if isinstance(n, Local))),
        stored=tuple(_stored(root, is_joined=False)),
        passes=passes,
    )


def _stored(node: Node, *, is_joined: bool) -> Iterator[str]:
    """The streams that meet others: in joins and recursions, beside subqueries, in statements kept whole."""
    if isinstance(node, Gather):
        if is_joined:
            yield node.fragment
        return
    meets = is_joined or bool(node.subplans) or isinstance(node, Recursive | Raw | Cte)
    if isinstance(node, Join):
        meets = meets or not (node.lateral and isinstance(node.right, TableFunction))
    for below in (*node.inputs, *node.subplans):
        yield from _stored(below, is_joined=meets)


def _query(node: Node, names: Sequence[str] | None, catalog: Catalog) -> exp.Query:
    dialect = query_dialect(catalog.dialect)
    return dialect.readable(to_query(node, _no_leaf, names, dialect.reader))


def _no_leaf(node: Node) -> exp.Expr | None:
    """Scans by their logical names, streams by their fragments', as `to_query` does of itself."""
    return None

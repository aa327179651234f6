"""Binding FROM: tables, joins, derived tables, LATERAL, table functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.catalog.model import Table, View
from shardwise.errors import NotSupportedError, Position, Reason, UnknownName, Unplannable
from shardwise.plan.nodes import ColumnId, Join, JoinKind, Local, Node, Output, Scan, TableFunction
from shardwise.plan.tree import column, free_columns
from shardwise.planner.allowed import TABLE_FUNCTIONS, forbidden
from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.conditions import conditions
from shardwise.planner.bind.expressions import Expressions
from shardwise.planner.bind.information import INFORMATION, PREFIX, VIEWS
from shardwise.planner.bind.scope import (
    NO_FROM,
    FromItem,
    Named,
    Relation,
    Scope,
    did_you_mean,
    join_items,
    unique_names,
)
from shardwise.planner.bind.scoping import scoped
from shardwise.planner.bind.unmodelled import Unmodelled
from shardwise.planner.positions import position_of
from shardwise.planner.scans import scan_of

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder

HIDDEN = ("_shard", "_source", "_table")
LOCAL_SCHEMA = "temp"
"""The schema of a connection's own relations, as DuckDB calls it."""


def bind_from(binder: Binder, select: exp.Select, outer: Scope | None) -> FromItem:
    """The whole FROM clause. The comma binds looser than JOIN: `a, b JOIN c` is `a, (b JOIN c)`."""
    clause = select.args.get("from_")
    if clause is None:
        return NO_FROM
    if select.args.get("laterals"):
        raise Unmodelled("LATERAL VIEW")
    groups: list[list[exp.Join]] = [[]]
    firsts: list[exp.Expr] = [clause.this]
    for join in select.args.get("joins") or ():
        if _is_comma(join):
            firsts.append(join.this)
            groups.append([])
        else:
            groups[-1].append(join)
    item: FromItem | None = None
    for first, joins in zip(firsts, groups, strict=True):
        item = _chain(binder, first, joins, outer, before=item)
    assert item is not None
    return item


def _is_comma(join: exp.Join) -> bool:
    return not any(join.args.get(k) for k in ("kind", "side", "method", "on", "using"))


def _chain(
    binder: Binder, first: exp.Expr, joins: list[exp.Join], outer: Scope | None, before: FromItem | None
) -> FromItem:
    """`first JOIN … JOIN …`; what stood before the comma is in scope of LATERAL only."""
    item = _item(binder, first, outer, before)
    lateral = before is not None and _reads(item.node, before)
    if before is not None and lateral:
        if any(_kind(join) in ("right", "full") for join in joins):
            raise Unmodelled("a LATERAL item before a RIGHT or FULL join")
        item = _cross(before, item, lateral=True)
    for join in joins:
        visible = item if before is None or lateral else _side_by_side(before, item)
        right = _item(binder, join.this, outer, visible)
        item = _join(binder, join, item, right, binder.scope(before, outer) if before is not None else outer)
        if before is not None and not lateral and free_columns(item.node) & before.node.output_ids:
            raise Unmodelled("a LATERAL join that reads a table before a comma")
    if before is not None and not lateral:
        item = _cross(before, item, lateral=False)
    return item


def _cross(left: FromItem, right: FromItem, *, lateral: bool) -> FromItem:
    node = Join(kind="cross", left=left.node, right=right.node, lateral=lateral)
    return join_items("cross", left, right, node, {})


def _side_by_side(left: FromItem, right: FromItem) -> FromItem:
    """What ON sees, of which a name's type may be asked."""
    node = Join(kind="cross", left=left.node, right=right.node)
    return FromItem(node, left.relations + right.relations, left.star + right.star)


def _reads(node: Node, item: FromItem) -> bool:
    return bool(free_columns(node) & item.node.output_ids)


def _join(binder: Binder, join: exp.Join, left: FromItem, right: FromItem, outer: Scope | None) -> FromItem:
    kind = _kind(join)
    lateral = _reads(right.node, left)
    if lateral and kind not in ("inner", "cross", "left"):
        raise Unmodelled(f"a LATERAL {kind} join")
    using = _using(join, left, right)
    if using:
        return _join_using(binder, kind, left, right, using, lateral)
    on: tuple[exp.Expr, ...] = ()
    if join.args.get("on") is not None:
        both = binder.scope(_side_by_side(left, right), outer)
        on = conditions(Expressions(binder, both).bind(join.args["on"]), binder.dialect)
    if kind == "positional":
        raise Unplannable(
            "POSITIONAL JOIN pairs rows by their position, which rows of shards do not have",
            hint="Join on a key, or on row_number() OVER (ORDER BY …)",
            reason=Reason.NOT_SUPPORTED,
        )
    node = Join(kind=kind, left=left.node, right=right.node, on=on, lateral=lateral)
    return join_items(kind, left, right, node, {})


def _kind(join: exp.Join) -> JoinKind:
    side, kind, method = ((join.args.get(k) or "").upper() for k in ("side", "kind", "method"))
    if method == "ASOF":
        if side not in ("", "LEFT"):
            raise Unmodelled(f"an ASOF {side} join")
        return "asof_left" if side else "asof"
    if method == "POSITIONAL" or kind == "POSITIONAL":
        return "positional"
    if method not in ("", "NATURAL"):
        raise Unmodelled(f"a {method} join")
    if kind in ("SEMI", "ANTI"):
        return "semi" if kind == "SEMI" else "anti"
    if side in ("LEFT", "RIGHT", "FULL"):
        return side.lower()  # type: ignore[return-value]
    if kind in ("", "INNER"):
        conditions = join.args.get("on") is not None or join.args.get("using") or method == "NATURAL"
        return "inner" if conditions else "cross"
    if kind == "CROSS":
        return "cross"
    raise Unmodelled(f"a {kind} join")


def _using(join: exp.Join, left: FromItem, right: FromItem) -> list[exp.Column]:
    """The columns that USING names, or that NATURAL finds on both sides."""
    if (join.args.get("method") or "").upper() == "NATURAL":
        theirs = {c.name.lower() for c in right.star}
        names = [c.name for c in left.star if c.name.lower() in theirs]
        if not names:
            raise Unmodelled("a NATURAL join without a common column")
        return [exp.column(name) for name in names]
    return [exp.Column(this=exp.to_identifier(i).copy()) for i in join.args.get("using") or ()]


def _join_using(
    binder: Binder, kind: JoinKind, left: FromItem, right: FromItem, columns: list[exp.Column], lateral: bool
) -> FromItem:
    on, merged = [], {}
    for wanted in columns:
        mine = Scope(left).resolve(wanted)
        theirs = Scope(right).resolve(wanted)
        on.append(exp.EQ(this=mine.copy(), expression=theirs.copy()))
        both = exp.Coalesce(this=mine.copy(), expressions=[theirs.copy()])
        reads = binder.dialect.using_reads(_type(mine, left.node), _type(theirs, right.node))
        if reads is None or (kind == "left" and reads == "right"):
            raise Unmodelled("USING of columns that are not known to be of one type")
        is_theirs = kind == "right" or (kind == "inner" and reads == "right")
        merged[wanted.name.lower()] = both if kind == "full" else theirs if is_theirs else mine
    if kind in ("asof", "asof_left"):
        raise Unmodelled("ASOF JOIN … USING")
    node = Join(kind=kind, left=left.node, right=right.node, on=tuple(on), lateral=lateral)
    return join_items(kind, left, right, node, merged)


def _type(read: exp.Expr, node: Node) -> str | None:
    """The type of a column of the node's, as declared."""
    return next((o.type for o in node.outputs if read == column(o.id)), None)


def _item(binder: Binder, ast: exp.Expr, outer: Scope | None, before: FromItem | None) -> FromItem:
    """One thing in FROM. A subquery sees what stands before it (DuckDB: LATERAL is implied)."""
    if ast.args.get("sample") is not None:
        raise Unmodelled("SAMPLE")
    if ast.args.get("pivots"):
        raise Unmodelled("PIVOT")
    seen = binder.scope(before, outer) if before is not None else outer
    if isinstance(ast, exp.Table):
        item = _table(binder, ast, seen)
    elif isinstance(ast, exp.Lateral):
        item = (
            _derived(binder, ast.this, ast, seen)
            if isinstance(ast.this, exp.Query)
            else _function(binder, ast, seen)
        )
    elif (
        isinstance(ast, exp.Subquery)
        and isinstance(ast.this, exp.Table | exp.Subquery)
        and not ast.args.get("with_")
    ):
        item = _nested(binder, ast, outer, before)
    elif isinstance(ast, exp.Query):
        item = _derived(binder, ast.this if isinstance(ast, exp.Subquery) and _plain(ast) else ast, ast, seen)
    elif isinstance(ast, exp.Values):
        item = _from_bound(binder.values(ast, seen), ast)
    elif isinstance(ast, exp.Unnest):
        item = _function(binder, ast, seen)
    else:
        raise Unmodelled(f"a {ast.key} in FROM")
    for join in ast.args.get("joins") or ():
        item = _join(binder, join, item, _item(binder, join.this, outer, item), outer)
    return item


def _plain(ast: exp.Subquery) -> bool:
    return not any(ast.args.get(k) for k in ("order", "limit", "offset", "with_"))


def _nested(binder: Binder, ast: exp.Subquery, outer: Scope | None, before: FromItem | None) -> FromItem:
    """`(b JOIN c ON …)`, perhaps with an alias of its own."""
    item = _item(binder, ast.this, outer, before)
    if not ast.alias:
        return item
    names = _alias_columns(ast)
    star = tuple(Named(names[i] if i < len(names) else c.name, c.expr) for i, c in enumerate(item.star))
    return FromItem(item.node, (Relation(ast.alias, star),), star)


def _derived(binder: Binder, query: exp.Expr, ast: exp.Expr, seen: Scope | None) -> FromItem:
    return _from_bound(binder.query(query, seen), ast)


def _from_bound(bound: BoundQuery, ast: exp.Expr, default_alias: str = "") -> FromItem:
    """A query's columns under the alias: its own names made unique, then those the alias gives."""
    given = _alias_columns(ast)
    if len(given) > len(bound.names):
        raise Unmodelled("more column aliases than columns")
    names = unique_names((*given, *bound.names[len(given) :]))
    columns = tuple(Named(name, column(id)) for name, id in zip(names, bound.ids, strict=True))
    return FromItem(bound.node, (Relation(ast.alias or default_alias, columns),), columns)


def _alias_columns(ast: exp.Expr) -> list[str]:
    alias = ast.args.get("alias")
    return [c.name for c in alias.args.get("columns") or ()] if isinstance(alias, exp.TableAlias) else []


def _table(binder: Binder, ast: exp.Table, seen: Scope | None) -> FromItem:
    if not isinstance(ast.this, exp.Identifier):
        return _function(binder, ast, seen)
    if ast.args.get("version") or ast.args.get("when") or ast.args.get("ordinality"):
        raise Unmodelled("a versioned table")
    name, schema = ast.name, ast.db or None
    if schema is None:
        bound = binder.reference(name)
        if bound is not None:
            return _from_bound(bound, ast, name)
    if schema is not None and schema.lower() == INFORMATION:
        return _information(binder, ast)
    found = binder.local(name) if schema is None or schema.lower() == LOCAL_SCHEMA else None
    if found is not None and not ast.catalog:
        return _local(binder, *found, ast)
    table = binder.table(name, schema) if not ast.catalog else None
    if table is None:
        raise unknown_table(binder, ast)
    if isinstance(table, View):
        item = _from_bound(binder.view(table), ast, table.name)
        return replace(item, relations=(replace(item.relations[0], schema=table.schema),))
    return _scan(binder, table, ast)


def _information(binder: Binder, ast: exp.Table) -> FromItem:
    found = binder.local(f"{PREFIX}{ast.name}") if not ast.catalog else None
    if found is None or isinstance(found[1], View):
        raise UnknownName(
            f'there is no table "{ast.name}" in information_schema',
            reason=Reason.UNKNOWN_TABLE,
            hint=_instead(ast.name),
            position=position_of(ast),
            sqlstate="42P01",
        )
    rel = binder.names.fresh(ast.alias or ast.name)
    columns = tuple(o.named(ColumnId(rel, o.id.name)) for o in found[1])
    item = _renamed(
        Local(name=found[0], rel=rel, columns=columns), tuple(o.id for o in columns), ast, ast.name
    )
    return replace(item, relations=(replace(item.relations[0], schema=INFORMATION),))


def _instead(name: str) -> str:
    if name.lower() in VIEWS:  # a dialect without
        return "SHOW TABLES lists the tables, DESCRIBE a table's columns"
    return did_you_mean(name, VIEWS) or f"There are {', '.join(VIEWS)}"


def unknown_table(binder: Binder, ast: exp.Table) -> UnknownName:
    name = ".".join(p.name for p in ast.parts)
    relations = list(binder.catalog.tables())
    elsewhere = [t.full_name for t in relations if t.schema and t.name.lower() == ast.name.lower()]
    known = [t.full_name for t in relations] + list(binder.locals) + list(binder.ctes)
    known += [t.name for t in relations if (t.schema or "").lower() == (binder.schema or "").lower()]
    hint = did_you_mean(name, known) or "SHOW TABLES lists what there is"
    if not ast.db and elsewhere:
        hint = f"Write {' or '.join(elsewhere)}, or USE its schema first"
    elif ast.db and not ast.catalog and ast.db.lower() not in map(str.lower, binder.catalog.schemas()):
        schemas = ", ".join(binder.catalog.schemas())
        hint = did_you_mean(name, known) or f"SHOW TABLES lists what there is; schemas are {schemas}"
    return UnknownName(
        f'there is no table "{name}" in the catalog',
        reason=Reason.UNKNOWN_TABLE,
        hint=hint,
        position=position_of(ast),
        sqlstate="42P01",
    )


def _local(binder: Binder, name: str, relation: tuple[Output, ...] | View, ast: exp.Table) -> FromItem:
    if isinstance(relation, View):
        item = _from_bound(binder.view(relation, is_local=True), ast, name)
    else:
        rel = binder.names.fresh(ast.alias or name)
        columns = tuple(o.named(ColumnId(rel, o.id.name)) for o in relation)
        node = Local(name=name, rel=rel, columns=columns)
        item = _renamed(node, tuple(o.id for o in columns), ast, name)
    return replace(item, relations=(replace(item.relations[0], schema=LOCAL_SCHEMA),))


def _scan(binder: Binder, table: Table, ast: exp.Table) -> FromItem:
    position = position_of(ast)
    scan = _scan_of(binder, table, ast.alias or table.name, position)
    own = len(table.columns or ())
    shown, hidden = scan.columns[:own], scan.columns[own:]
    node = scoped(binder, scan, position, lambda t: _scan_of(binder, t, t.name, position))
    item = _renamed(node, tuple(o.id for o in shown), ast, table.name)
    extra = tuple(Named(o.id.name, column(o.id)) for o in hidden)
    relation = replace(item.relations[0], hidden=extra, schema=table.schema)
    return FromItem(node, (relation,), item.star)


def _scan_of(binder: Binder, table: Table, name: str, position: Position | None) -> Scan:
    """The scan of a whole table, its hidden columns after its own."""
    if table.columns is None:
        raise NotSupportedError(
            f'the columns of table "{table.name}" are not known',
            reason=Reason.CATALOG,
            hint="List them in the catalog, or read them off the sources: shardwise catalog import",
            position=position,
        )
    scan = scan_of(table, name, binder.names, binder.catalog, binder.dialect)
    own = {c.name.lower() for c in table.columns}
    hidden = tuple(Output(ColumnId(scan.rel, name), "VARCHAR") for name in HIDDEN if name not in own)
    return scan.but(columns=scan.columns + hidden)


def _renamed(node: Node, ids: tuple[ColumnId, ...], ast: exp.Expr, name: str) -> FromItem:
    given = _alias_columns(ast)
    if len(given) > len(ids):
        raise Unmodelled("more column aliases than columns")
    columns = tuple(Named(given[i] if i < len(given) else id.name, column(id)) for i, id in enumerate(ids))
    return FromItem(node, (Relation(ast.alias or name, columns),), columns)


def _function(binder: Binder, ast: exp.Expr, seen: Scope | None) -> FromItem:
    """range(…), generate_series(…), unnest(…): one column, named by the alias or the function."""
    call = ast if isinstance(ast, exp.Unnest) else ast.this
    if isinstance(call, exp.GenerateSeries):
        name = "range" if call.args.get("is_end_exclusive") else "generate_series"
    elif isinstance(call, exp.Unnest | exp.Explode):
        name = "unnest"
    else:
        function = call.name.lower() if isinstance(call, exp.Anonymous) else call.key
        if function not in TABLE_FUNCTIONS:
            raise forbidden(function, table=True)
        raise Unmodelled(f"the table function {function}")
    arguments = call.expressions if isinstance(call, exp.Unnest) else [call]
    if isinstance(call, exp.Unnest) and (len(arguments) != 1 or ast.args.get("offset")):
        raise Unmodelled("unnest of several lists")
    scope = seen or binder.scope(NO_FROM)
    binder_ = Expressions(binder, scope)
    if isinstance(call, exp.Unnest):
        bound: exp.Expr = exp.Unnest(expressions=[binder_.bind(arguments[0])])
    elif isinstance(call, exp.Explode):
        bound = exp.Unnest(expressions=[binder_.bind(call.this)])
    else:
        bound = binder_.bind(call)
    given = _alias_columns(ast)
    shown = given[0] if given else (ast.alias or name)
    rel = binder.names.fresh(ast.alias or name)
    node = TableFunction(rel=rel, call=bound, names=(shown,))
    columns = (Named(shown, column(ColumnId(rel, shown))),)
    # `range(3) r` names its column r too, but r.range reads it as well.
    return FromItem(node, (Relation(ast.alias or name, columns, (Named(name, columns[0].expr),)),), columns)

"""Nodes that begin a block: tables, streams, VALUES, set operations, statements kept whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.errors import InternalError
from shardwise.plan.nodes import (
    ColumnId,
    CteRef,
    Empty,
    Gather,
    Local,
    Node,
    OneRow,
    Raw,
    Recursive,
    Rows,
    Scan,
    SetOp,
    TableFunction,
    Values,
)
from shardwise.plan.sql.block import ALL_ROWS, Block, Col, Kind, Scope, written
from shardwise.plan.sql.names import NO_COLUMNS, identifier, stream_names, unique

if TYPE_CHECKING:
    from shardwise.plan.sql.render import Renderer

RAW = "shardwise.raw"
"""Marks (in `meta`) a table of a statement kept whole with its position in `Raw.tables`."""

MARK = "shardwise.scan"
"""Marks (in `meta`) a table that is still logical with its scan's rel."""

RAW = "shardwise.raw"
"""Marks, besides, one in a statement kept whole, of which no one knows what columns it reads."""

_OPERATORS: dict[str, type[exp.SetOperation]] = {
    "union": exp.Union,
    "intersect": exp.Intersect,
    "except": exp.Except,
}


def scan_item(node: Scan) -> exp.Table:
    """The table under its logical name, marked for `partitions`."""
    table = exp.Table(this=identifier(node.table.name))
    if node.table.schema:
        table.set("db", identifier(node.table.schema))
    table.meta[MARK] = node.rel
    return table


def source(render: Renderer, node: Node, outer: Scope) -> Block:
    """The block that a node begins."""
    match node:
        case OneRow():
            return Block(outputs=[])
        case Empty():
            return _empty(node)
        case Scan() | Local():
            names = [output.id.name for output in node.columns]
            return _leaf(render, node, node.rel, names)
        case Gather():
            stream = _leaf(render, node, node.fragment, stream_names(node))
            # The streams of others keep their collations.
            return _restored(node, stream) if render.reader.qualify else stream
        case CteRef():
            return _cte_ref(render, node)
        case Recursive():
            shared = render.add_recursive(node, outer)
            return _from(render, node, node.rel, exp.Table(this=identifier(shared.name)), shared.columns)
        case Values():
            return _values(render, node, outer)
        case Rows():
            return _rows(render, node)
        case TableFunction():
            return _function(render, node, outer)
        case SetOp():
            return _set_operation(render, node, outer)
        case Raw():
            return _raw(render, node, outer)
    raise InternalError(f"no SQL is known for a {type(node).__name__}")


def _from(render: Renderer, node: Node, rel: str, item: exp.Expr, names: Sequence[str]) -> Block:
    """A block that reads one item. It gets an alias, unless it is called that anyway."""
    own_name = item.name if type(item) is exp.Table else ""
    alias = render.alias_of_stream(rel) if isinstance(node, Gather) else render.alias(rel)
    if alias != own_name:
        item.set("alias", exp.TableAlias(this=identifier(alias)))
    ids = [output.id for output in node.outputs]
    return Block(
        outputs=ids,
        columns={id: Col(alias, name) for id, name in zip(ids, names, strict=False)},
        rel=alias if isinstance(node, Gather) else rel,
        source=item,
    )


def _leaf(render: Renderer, node: Node, rel: str, names: Sequence[str]) -> Block:
    return _from(render, node, rel, render.item(node), names)


def _restored(node: Gather, block: Block) -> Block:
    """What a stream loses on its way is put back where a column is read: an ENUM's order, a collation."""
    for output in node.outputs:
        col = block.columns[output.id]
        if not isinstance(col, Col):
            continue
        if output.type is not None and "ENUM" in output.type.upper():
            block.columns[output.id] = exp.Cast(this=written(col), to=_declared(output.type))
            block.kinds[output.id] = Kind.COMPUTED
        elif output.collation is not None:
            block.columns[output.id] = exp.Collate(
                this=written(col), expression=exp.to_identifier(output.collation)
            )
            block.kinds[output.id] = Kind.COMPUTED
    return block


def _declared(type_text: str) -> exp.DataType:
    """A type exactly as it was declared."""
    return exp.DataType(this=exp.DType.USERDEFINED, kind=type_text)


def _cte_ref(render: Renderer, node: CteRef) -> Block:
    """Columns are the definition's by position, or by name where only some are read."""
    shared = render.shared(node.name)
    if len(node.columns) == len(shared.columns):
        names: list[str] = list(shared.columns)
    else:
        by_id = dict(zip(shared.ids, shared.columns, strict=True))
        names = [by_id[output.id.name] for output in node.columns]
    return _from(render, node, node.rel, exp.Table(this=identifier(shared.name)), names)


def _empty(node: Empty) -> Block:
    columns: dict[ColumnId, Col | exp.Expr] = {}
    for output in node.columns:
        columns[output.id] = null_of(output.type) if output.type else exp.Null()
    return Block(
        outputs=list(columns),
        columns=columns,
        rel=node.rel,
        where=[exp.false()],
        kinds=dict.fromkeys(columns, Kind.CONSTANT),
    )


def null_of(type_text: str) -> exp.Cast:
    """A NULL of a declared type, written as it was declared."""
    return exp.Cast(this=exp.Null(), to=_declared(type_text))


def _values(render: Renderer, node: Values, outer: Scope) -> Block:
    names = unique(node.names) or (NO_COLUMNS,)
    alias = render.alias(node.rel)
    ids = [output.id for output in node.outputs]
    block = Block(
        outputs=ids,
        columns={id: Col(alias, name) for id, name in zip(ids, names, strict=False)},
        rel=node.rel,
    )
    if not node.rows:
        block.columns = {id: exp.Null() for id in ids}
        block.kinds = dict.fromkeys(ids, Kind.CONSTANT)
        block.where = [exp.false()]
        return block
    rows = [
        exp.Tuple(expressions=[render.write(cell, None, outer) for cell in row] or [exp.Literal.number(1)])
        for row in node.rows
    ]
    block.source = exp.Values(expressions=rows, alias=_table_alias(alias, names))
    return block


def _rows(render: Renderer, node: Rows) -> Block:
    """The query of the rows, its items under the columns' names."""
    names = unique(output.id.name for output in node.columns)
    if node.query is None:
        return _from(render, node, node.name, exp.Table(this=identifier(node.name)), names)
    query = node.query.copy()
    items = zip(query.expressions, names, strict=True)
    query.set("expressions", [exp.alias_(item, name, quoted=True) for item, name in items])
    return _from(render, node, node.name, exp.Subquery(this=query), names)


def _function(render: Renderer, node: TableFunction, outer: Scope) -> Block:
    names = unique(node.names)
    alias = render.alias(node.rel)
    call = render.write(node.call, None, outer)
    if type(call) is exp.Explode:
        call = exp.Unnest(expressions=[call.this])
    if isinstance(call, exp.Unnest):
        item: exp.Expr = call
        ordinality = call.args.get("offset")
        if isinstance(ordinality, exp.Identifier):
            # The generator appends this name to the alias's columns; we name them all ourselves.
            call.set("offset", True)
    else:
        item = call if type(call) is exp.Table else exp.Table(this=call)
    item.set("alias", _table_alias(alias, names))
    ids = [output.id for output in node.outputs]
    return Block(
        outputs=ids,
        columns={id: Col(alias, name) for id, name in zip(ids, names, strict=True)},
        rel=node.rel,
        source=item,
    )


def _table_alias(alias: str, names: Sequence[str]) -> exp.TableAlias:
    return exp.TableAlias(this=identifier(alias), columns=[identifier(name) for name in names])


def _set_operation(render: Renderer, node: SetOp, outer: Scope) -> Block:
    arms = [render.block(part, outer) for part in node.arms]
    return Block(
        outputs=[output.id for output in node.outputs],
        rel=node.rel,
        arms=[part if part.raw is None else render.wrap(part) for part in arms],
        operator=(_OPERATORS[node.kind], not node.all),
    )


def _raw(render: Renderer, node: Raw, outer: Scope) -> Block:
    """The statement as the user wrote it, its tables replaced, each under the name that it had there."""
    sql = node.sql.copy()
    has_windows = not render.reader.merges_below_windows and sql.find(exp.Window) is not None
    retyped = (
        render.reader.retyped_by_grouping if sql.find(exp.Group, exp.Distinct) is not None else frozenset()
    )
    for table in list(sql.find_all(exp.Table)):
        position = table.meta.get(RAW)
        if position is None:  # a WITH item, perhaps of a table's name
            continue
        read = node.tables[position]
        item = _raw_item(render, read, outer)
        is_fenced = has_windows or not retyped.isdisjoint(_type_names(read))
        if is_fenced and isinstance(item, exp.Subquery) and item.this.args.get("limit") is None:
            item.this.set("limit", exp.Limit(expression=exp.Literal.number(ALL_ROWS)))
        alias = table.args.get("alias") or exp.TableAlias(this=identifier(table.name))
        for key in ("joins", "pivots", "sample", "laterals"):
            if table.args.get(key):
                item.set(key, table.args[key])
        item.set("alias", alias)
        if type(item) is exp.Table and alias.name == item.name and not alias.args.get("columns"):
            item.set("alias", None)
        table.replace(item)
    query = sql if isinstance(sql, exp.Query) else exp.Subquery(this=sql)
    return Block(outputs=[output.id for output in node.columns], rel=node.rel, raw=query)


def _type_names(node: Node) -> set[str]:
    """The names of its columns' types, without their arguments."""
    return {(output.type or "").partition("(")[0].upper() for output in node.outputs}


def _raw_item(render: Renderer, node: Node, outer: Scope) -> exp.Expr:
    if isinstance(node, (Scan, Gather, Local)):
        item = render.item(node)
        item.meta[RAW] = True
        return item
    return exp.Subquery(this=render.statement(node, outer))


def rel_of(node: Node) -> str:
    """The rel that a table of a Raw is known by: its own, or that of what it reads."""
    while not isinstance(getattr(node, "rel", None), str):
        node = node.inputs[0]
    return str(node.rel)  # type: ignore[attr-defined]

"""Plan nodes as SQLite is to compute them."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from sqlglot import exp

from shardwise.catalog.types import Family as CatalogFamily
from shardwise.catalog.types import type_family
from shardwise.plan.nodes import (
    ColumnId,
    Filter,
    Item,
    Join,
    Limit,
    Node,
    Output,
    Project,
    Scan,
    SetOp,
    Sort,
    SortKey,
)
from shardwise.plan.partitions import HIDDEN
from shardwise.plan.tree import column, columns_in, replace_columns, subplan
from shardwise.planner.agreement.forms import Done, Form, Forms, NotAgreed, Raw
from shardwise.planner.agreement.known import Agreed
from shardwise.planner.agreement.sqlite.aggregates import aggregate
from shardwise.planner.agreement.sqlite.conditions import condition
from shardwise.planner.agreement.sqlite.expressions import SQLiteWriter
from shardwise.planner.agreement.sqlite.values import as_text, encoded
from shardwise.planner.agreement.tree import Tree, only
from shardwise.planner.agreement.types import TEXT, Family, Type, type_of
from shardwise.planner.agreement.writer import Writer
from shardwise.planner.equivalence import is_binary


class SQLiteTree(Tree):
    """Values are canonical once they are computed with; DECIMALs leave as text."""

    product: ClassVar = "_on_sqlite"

    def writer(self, forms: Forms) -> Writer:
        return SQLiteWriter(self, forms)

    def column_of(self, scan: Scan, output: Output) -> Form:
        name = output.id.name
        if name in HIDDEN:
            return Form(output.id, TEXT)
        type_ = type_of(output.type) if is_binary(output.collation) else None
        declared = next((c for c in scan.table.columns or () if c.name == name), None)
        stored: str | None = None
        if declared is not None and declared.stored is not None:
            is_day = type_family(output.type or "", "duckdb") is CatalogFamily.DATE
            stored = f"{'DATE' if is_day else 'TIMESTAMP'} {declared.stored}"
        return Form(output.id, type_, Raw(scan.table.full_name, name, stored))

    def condition(self, writer: Writer, expr: exp.Expr, kept: Collection[ColumnId] = ()) -> exp.Expr:
        return condition(writer, expr, kept)

    def join(self, node: Join, left: Done, right: Done, writer: Writer) -> Done:
        """RIGHT as LEFT of the exchanged sides, SEMI and ANTI as EXISTS: SQLite before 3.39 has no other
        way."""
        forms = {**left.forms, **right.forms}
        if node.kind in ("semi", "anti"):
            on = tuple(condition(writer, c, left.forms) for c in node.on)
            inner = Filter(input=right.node, conjuncts=on) if on else right.node
            exists: exp.Expr = exp.Exists(this=subplan(self.any_row(Done(inner, right.forms))))
            if node.kind == "anti":
                exists = exp.Not(this=exists)
            return Done(Filter(input=left.node, conjuncts=(exists,)), left.forms)
        if node.kind in ("inner", "cross"):
            on = tuple(condition(writer, c) for c in node.on)
            return Done(node.but(left=left.node, right=right.node, on=on), forms)
        kept, other = (right, left) if node.kind == "right" else (left, right)
        on = tuple(condition(writer, c, kept.forms) for c in node.on)
        joined = Join(kind="left", left=kept.node, right=other.node, on=on)
        return Done(only(joined, forms.values()) if node.kind == "right" else joined, forms)

    def aggregate(self, writer: Writer, expr: exp.Expr) -> tuple[exp.Expr, Type | None]:
        return aggregate(writer, expr)

    def has_set_operation(self, node: SetOp) -> bool:
        return not node.all or node.kind == "union"

    def finished(self, done: Done) -> Agreed:
        """The tree with its columns as the reader takes them: DECIMALs that were computed as `#…`, dates as
        text."""
        return _finished(done)


def _finished(done: Done) -> Agreed:
    """The tree with its columns as the reader takes them: DECIMALs that were computed as `#…`, dates as
    text."""
    forms = list(done.forms.values())
    made = [_leaving(form) for form in forms]
    flags = tuple(form.is_encoded or _is_decimal(form) for form in forms)
    if not any(m is not None for m in made):
        return Agreed(only(done.node, forms), flags)
    above: list[Sort | Limit] = []
    base = done.node
    while isinstance(base, Sort | Limit):  # an order stays the outermost: nothing else keeps it
        above.append(base)
        base = base.input
    rel = f"{forms[0].id.rel}:out"
    items = [
        Item(f"c{i}", column(f.id) if m is None else m)
        for i, (f, m) in enumerate(zip(forms, made, strict=True))
    ]
    moved: dict[ColumnId, exp.Expr] = {}
    for id in dict.fromkeys(id for node in above if isinstance(node, Sort) for id in _read(node.keys, base)):
        items.append(Item(f"k{len(moved)}", column(id)))
        moved[id] = column(ColumnId(rel, items[-1].name))
    node: Node = Project(input=base, rel=rel, items=tuple(items))
    for each in reversed(above):
        if isinstance(each, Sort):
            keys = tuple(k._replace(expr=replace_columns(k.expr, moved)) for k in each.keys)
            node = each.but(input=node, keys=keys)
        else:
            node = each.but(input=node)
    return Agreed(only(node, [Form(ColumnId(rel, f"c{i}"), None) for i in range(len(forms))]), flags)


def _leaving(form: Form) -> exp.Expr | None:
    """How a column leaves the fragment, if not as it is."""
    if form.raw is not None and form.raw.stored is not None:
        return as_text(column(form.id), form.raw)
    return encoded(column(form.id), form.type) if form.type is not None and _is_decimal(form) else None


def _is_decimal(form: Form) -> bool:
    return form.raw is None and form.type is not None and form.type.family is Family.DECIMAL


def _read(keys: tuple[SortKey, ...], base: Node) -> list[ColumnId]:
    ids = base.output_ids
    return [id for key in keys for id in sorted(columns_in(key.expr)) if id in ids]

"""Plan nodes as SQLite is to compute them."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from sqlglot import exp

from shardwise.catalog.types import Family as CatalogFamily
from shardwise.catalog.types import type_family
from shardwise.plan.nodes import (
    ColumnId,
    Output,
    Scan,
    SetOp,
)
from shardwise.plan.partitions import HIDDEN
from shardwise.plan.tree import column
from shardwise.planner.agreement.forms import Form, Forms, Raw
from shardwise.planner.agreement.sent import SentColumn
from shardwise.planner.agreement.sqlite.aggregates import aggregate
from shardwise.planner.agreement.sqlite.conditions import condition
from shardwise.planner.agreement.sqlite.expressions import SQLiteWriter
from shardwise.planner.agreement.sqlite.rows import rows_of_json
from shardwise.planner.agreement.sqlite.values import as_text, encoded
from shardwise.planner.agreement.tree import Tree
from shardwise.planner.agreement.types import DIGITS_MAX, TEXT, Family, Type, type_of
from shardwise.planner.agreement.writer import Writer
from shardwise.planner.early_values.base import is_negative_zero
from shardwise.planner.equivalence import is_binary


class SQLiteTree(Tree):
    """Values are canonical once they are computed with; DECIMALs leave as text."""

    product: ClassVar = "_on_sqlite"
    digits_max: ClassVar = DIGITS_MAX

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

    def aggregate(self, writer: Writer, expr: exp.Expr) -> tuple[exp.Expr, Type | None]:
        return aggregate(writer, expr)

    def has_set_operation(self, node: SetOp) -> bool:
        return not node.all or node.kind == "union"

    def rows(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        return rows_of_json(columns, self.known)

    def holds(self, number: float) -> bool:
        """It keeps -0.0 as 0."""
        return not is_negative_zero(number)

    def leaving(self, form: Form) -> exp.Expr | None:
        """DECIMALs that were computed as `#…`, dates as text."""
        if form.raw is not None and form.raw.stored is not None:
            return as_text(column(form.id), form.raw)
        return encoded(column(form.id), form.type) if form.type is not None and _is_decimal(form) else None

    def is_encoded(self, form: Form) -> bool:
        return form.is_encoded or _is_decimal(form)


def _is_decimal(form: Form) -> bool:
    return form.raw is None and form.type is not None and form.type.family is Family.DECIMAL

"""Plan nodes as a server is to compute them."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from sqlglot import exp

from shardwise.plan.nodes import ColumnId, Output, Scan
from shardwise.plan.partitions import HIDDEN
from shardwise.planner.agreement.forms import Form, Raw
from shardwise.planner.agreement.servers.aggregates import aggregate
from shardwise.planner.agreement.servers.conditions import condition
from shardwise.planner.agreement.servers.exact_types import DIGITS_MAX
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.tree import Tree
from shardwise.planner.agreement.types import TEXT, Type, type_of
from shardwise.planner.agreement.writer import Writer
from shardwise.planner.equivalence import is_binary


class ServerTree(Tree):
    """Values leave as they are: the reader knows the server's types."""

    digits_max: ClassVar = DIGITS_MAX

    def column_of(self, scan: Scan, output: Output) -> Form:
        name = output.id.name
        declared = next((c for c in scan.table.columns or () if c.name == name), None)
        nullable = declared is None or (declared.nullable and name not in scan.table.primary_key)
        raw = Raw(scan.table.full_name, name, nullable=nullable)
        if name in HIDDEN:
            return Form(output.id, TEXT, raw)
        type_ = type_of(output.type, DIGITS_MAX) if is_binary(output.collation) else None
        return Form(output.id, type_, raw)

    def condition(self, writer: Writer, expr: exp.Expr, kept: Collection[ColumnId] = ()) -> exp.Expr:
        assert isinstance(writer, ServerWriter)
        return condition(writer, expr)

    def aggregate(self, writer: Writer, expr: exp.Expr) -> tuple[exp.Expr, Type | None]:
        assert isinstance(writer, ServerWriter)
        return aggregate(writer, expr)

    def leaving(self, form: Form) -> exp.Expr | None:
        return None

"""Plan nodes as PostgreSQL is to compute them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Final

from sqlglot import exp

from shardwise.catalog.types import read_type
from shardwise.plan.nodes import Output, Scan
from shardwise.plan.tree import column
from shardwise.planner.agreement.forms import Form, Forms
from shardwise.planner.agreement.postgres.rows import rows_of_lists
from shardwise.planner.agreement.postgres.writer import (
    TYPES,
    PostgresWriter,
    by_code_point,
    is_padded,
    unpadded,
)
from shardwise.planner.agreement.sent import SentColumn
from shardwise.planner.agreement.servers.tree import ServerTree
from shardwise.planner.agreement.writer import Writer

_PADDED: Final = frozenset(("CHAR", "CHARACTER", "BPCHAR", "NCHAR"))


class PostgresTree(ServerTree):
    product: ClassVar = "_on_postgres"

    def writer(self, forms: Forms) -> Writer:
        return PostgresWriter(self, forms)

    def column_of(self, scan: Scan, output: Output) -> Form:
        found = super().column_of(scan, output)
        declared = read_type(output.type, "duckdb") if output.type else None
        if declared is None or declared.name not in _PADDED:
            return found
        assert found.raw is not None
        return replace(found, raw=replace(found.raw, stored="CHAR"))

    def rows(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        return rows_of_lists(columns, TYPES, by_code_point)

    def leaving(self, form: Form) -> exp.Expr | None:
        return unpadded(column(form.id)) if is_padded(form) else None

"""Plan nodes as MariaDB is to compute them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar, Final

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, ColumnId, Filter, Item, Join, Keep, Node, Rows, Sort, SortKey
from shardwise.plan.sql.render import Renderer
from shardwise.plan.tree import bare, column, columns_in, free_columns, walk
from shardwise.planner.agreement.forms import Done, Forms, NotAgreed
from shardwise.planner.agreement.known import Agreed, Disagreement
from shardwise.planner.agreement.make import call, case, integer
from shardwise.planner.agreement.mysql.rows import rows_of_json
from shardwise.planner.agreement.mysql.writer import BY_CODE_POINT, MySQLWriter
from shardwise.planner.agreement.sent import SentColumn
from shardwise.planner.agreement.servers.tree import ServerTree
from shardwise.planner.agreement.types import TEXT, Type
from shardwise.planner.agreement.writer import Writer
from shardwise.planner.early_values.base import is_negative_zero

_SHORT_BYTES: Final = 250
"""Four bytes are sorted by for a character, and 1,024 in all."""


class MySQLTree(ServerTree):
    product: ClassVar = "_on_mysql"

    def writer(self, forms: Forms) -> Writer:
        return MySQLWriter(self, forms)

    def agree(self, node: Node) -> Agreed | Disagreement:
        found = super().agree(node)
        if isinstance(found, Agreed) and _is_correlated(node) and _reads_from_outside(found.node):
            return Disagreement(node, "reads no column from outside in FROM")
        return found

    def rows(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        rows = rows_of_json(columns, BY_CODE_POINT, self.known)
        if rows is None:
            raise NotAgreed(exp.Null(), "has no room in a statement for these rows")
        return rows

    def keys(self, columns: tuple[SentColumn, ...]) -> exp.Select:
        """IN reads no subquery with a LIMIT, and keeps its rows anyhow."""
        rows = self.rows(columns)
        rows.set("limit", None)
        return rows

    def holds(self, number: float) -> bool:
        """It has no infinite numbers, and JSON_TABLE reads -0.0 as 0."""
        return isfinite(number) and not is_negative_zero(number)

    def sort_key(self, node: Sort, writer: Writer, key: SortKey) -> SortKey:
        """Of a column that holds no NULL an index gives the order, if none is asked for where NULLs go."""
        value, type_ = writer.value(key.expr)
        if type_ is TEXT:
            raise NotAgreed(key.expr, "sorts by no more than the beginning of a text")
        form = writer.form_of(key.expr) if isinstance(key.expr, exp.Column) else None
        is_filled = form is not None and form.raw is not None and not form.raw.nullable
        is_filled = is_filled and all(
            each.kind in ("inner", "cross", "semi", "anti") for each in walk(node) if isinstance(each, Join)
        )
        return key._replace(expr=value, nulls_first=not key.descending if is_filled else key.nulls_first)

    def more_keys(self, keys: Sequence[tuple[Item, Type]]) -> list[Item]:
        """A hash of a long text: where MariaDB groups by sorting, it tells texts apart by their beginning
        alone."""
        made = []
        for key, type_ in keys:
            if type_ is TEXT:
                is_long = exp.GT(this=call("LENGTH", key.expr.copy()), expression=integer(_SHORT_BYTES))
                hashed = case((is_long, call("SHA2", key.expr.copy(), integer(256))))
                made.append(Item(f"{key.name}:hash", hashed))
        return made

    def check_filter(self, node: Filter, below: Done) -> None:
        """HAVING knows keys that are columns."""
        super().check_filter(node, below)
        grouped = below.node
        while isinstance(grouped, Keep | Filter):
            grouped = grouped.input
        if isinstance(grouped, Aggregate):
            computed = {
                ColumnId(grouped.rel, key.name)
                for key in grouped.keys
                if not isinstance(key.expr, exp.Column)
            }
            if any(computed & columns_in(conjunct) for conjunct in node.conjuncts):
                raise NotAgreed(node, "has no HAVING of a key that is computed")

    def joins(self, node: Join, writer: Writer) -> bool:
        """Text that is equal by its code points is found by no index but that of rows that were sent."""
        if isinstance(node.left, Rows) or isinstance(node.right, Rows):
            return True
        equalities = [c for c in map(bare, node.on) if isinstance(c, exp.EQ) and _is_of_columns(c)]
        return not equalities or any(writer.value(each.this)[1] is not TEXT for each in equalities)


def _is_of_columns(equality: exp.Expr) -> bool:
    return all(columns_in(side) for side in (equality.this, equality.args["expression"]))


def _is_correlated(node: Node) -> bool:
    """Whether a plan in it, or all of it, reads columns from outside."""
    return bool(free_columns(node)) or any(
        free_columns(plan) for each in walk(node) for plan in each.subplans
    )


def _reads_from_outside(node: Node) -> bool:
    """Whether a derived table of its query mentions a table that is not in it."""
    outside = {id: column(id) for id in free_columns(node)}
    query = Renderer(node, lambda _: None).statement(node, outside)
    for derived in query.find_all(exp.Subquery):
        if not isinstance(derived.parent, exp.From | exp.Join) or not isinstance(derived.this, exp.Query):
            continue
        own = {each.alias_or_name for each in derived.this.find_all(exp.Table, exp.Subquery)}
        if any(each.table and each.table not in own for each in derived.this.find_all(exp.Column)):
            return True
    return False

"""The mysql dialect's: keys as members of a list, rows as JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.plan.nodes import Output
from shardwise.plan.run import Bound
from shardwise.planner.early_values.base import Bind, Collations
from shardwise.planner.early_values.mysql_rows import (
    fit,
    has_character_set,
    json_table,
    may_be_texts,
    rows_text,
    text_type,
)
from shardwise.planner.early_values.servers import KINDS, ServerValues
from shardwise.planner.shown_decimals import counts_decimals

_ROWS: Final = {**KINDS, Family.TIME: (timedelta,)}
_TEXTS: Final = {
    **dict.fromkeys(("CHAR", "CHARACTER"), "CHAR"),
    **dict.fromkeys(("VARCHAR", "CHARACTER VARYING", "CHAR VARYING"), "VARCHAR"),
}
_CHARSETS: Final = frozenset({"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii"})
_SORTED_CHARACTERS: Final = 255
"""MariaDB and MySQL compare the first 1,024 bytes where they sort for DISTINCT or GROUP BY."""


class MySQLValues(ServerValues):
    """MySQL has no lists: one is written as its members, and rows are a text that JSON_TABLE reads.

    Texts travel in rows if they are a table's column of a declared collation, which the rows' one then has.
    """

    def travels(self, bound: Bound) -> bool:
        return not counts_decimals(bound.types[0]) and super().travels(bound)

    def may_travel(self, column: Output, collation: str | None) -> bool:
        if column.type is not None and _is_text(column.type):
            return has_character_set(collation)
        return super().may_travel(column, collation)

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        rows = bound.rows or ()
        of_texts = {
            at
            for at, type_ in enumerate(bound.types)
            if has_character_set(collations[at]) and _is_text(type_)
        }
        texts = {at: [row[at] for row in rows] for at in of_texts}
        return all(
            may_be_texts(texts[at]) if at in of_texts else self._column_travels(bound, at)
            for at in range(len(bound.types))
        ) and fit(bound.types, len(rows), texts)

    def _column_travels(self, bound: Bound, column: int) -> bool:
        # JSON_TABLE reads -0.0 as 0.
        below = (math.copysign(1, row[column]) for row in bound.rows or () if row[column] == 0.0)
        return super()._column_travels(bound, column) and all(sign > 0 for sign in below)

    def _row_kinds(self, type_: ColumnType) -> tuple[type, ...] | None:
        # A DOUBLE with a count of decimals is shown rounded.
        is_rounded = type_.family is Family.FLOAT and type_.arguments
        return None if is_rounded else super()._row_kinds(type_)

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        rows = bound.rows or ()
        types = [
            text_type([row[at] for row in rows], collation) if collation and _is_text(type_) else type_
            for at, (type_, collation) in enumerate(zip(bound.types, collations, strict=True))
        ]
        return json_table(types, bind("json", rows_text(rows)))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        members = bind("together", keys)
        return exp.In(this=exp.Tuple(expressions=list(columns)), expressions=[members])

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        return exp.In(this=column, expressions=[keys])


def _is_text(type_text: str) -> bool:
    found = read_type(type_text, "mysql")
    return found is not None and found.family is Family.TEXT


MYSQL_VALUES: Final = MySQLValues(
    "mysql",
    frozenset({"YEAR", "FLOAT"}),
    _ROWS,
    _TEXTS,
    _CHARSETS,
    _SORTED_CHARACTERS,
)

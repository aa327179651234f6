"""Rows and keys that ran first, as a source of another dialect is sent them.

    SELECT unnest(CAST($rows_1_1 AS BIGINT[])), unnest(CAST($rows_1_2 AS DECIMAL(9,2)[]))
    =>  SELECT CAST(json_extract(r.value, '$[0]') AS INTEGER), CAST(json_extract(r.value, '$[1]') AS INTEGER)
        FROM json_each(:rows_1_1_json) AS r …                               on SQLite, prices times 100

Each value is canonical there, so that what is computed with a column of them is what is computed with any
other. A type that has no such form, and a value that would be another one after it was read, is not sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final, Protocol

from sqlglot import exp

from shardwise.plan.nodes import Rows
from shardwise.plan.sent import RowsText
from shardwise.planner.agreement.forms import Done, Form, Forms, NotAgreed
from shardwise.planner.agreement.known import SENT, Known
from shardwise.planner.agreement.types import Family, Type, type_of

NO_TYPE: Final = "is sent no rows with a column of this type"
_NO_VALUE: Final = "is sent no rows with such a value"


@dataclass(frozen=True, slots=True)
class SentColumn:
    """A column of rows: the parameter that is bound to the list of its values, and their type."""

    name: str
    type: Type


class TakesRows(Protocol):
    """What writes the rows: the product's `Tree`."""

    @property
    def known(self) -> Known: ...

    @property
    def digits_max(self) -> int: ...

    def rows(self, columns: tuple[SentColumn, ...]) -> exp.Select: ...

    def keys(self, columns: tuple[SentColumn, ...]) -> exp.Select: ...

    def holds(self, number: float) -> bool: ...


def of_rows(tree: TakesRows, node: Rows, outer: Forms) -> Done:
    """The rows as the source has them. While they are not known, only whether their types are sent."""
    if not node.is_sent:
        raise NotAgreed(node, "is not sent these rows")
    if node.query is None:
        types = [type_of(output.type, tree.digits_max) for output in node.columns]
        query = None
    else:
        columns = sent_columns(node.query, tree, node)
        types = [column.type for column in columns]
        query = tree.rows(columns)
    if None in types:
        raise NotAgreed(node, NO_TYPE)
    forms = {o.id: Form(o.id, type_) for o, type_ in zip(node.columns, types, strict=True)}
    return Done(node.but(query=query), forms)


def sent_columns(query: exp.Select, tree: TakesRows, where: exp.Expr | Rows) -> tuple[SentColumn, ...]:
    """`SELECT unnest(CAST($a AS T[])), …`, as `early_values` writes it; raises for what is not sent."""
    found = []
    for item in query.expressions:
        cast = item.find(exp.Cast)
        if cast is None or not isinstance(cast.this, exp.Placeholder):
            raise NotAgreed(where)
        type_ = type_of(cast.args["to"].sql("duckdb").removesuffix("[]"), tree.digits_max)
        if type_ is None:
            raise NotAgreed(where, NO_TYPE)
        values = tree.known.exact(cast.this.name)
        if not isinstance(values, list) or not all(is_sent(value, type_, tree) for value in values):
            raise NotAgreed(where, _NO_VALUE)
        found.append(SentColumn(cast.this.name, type_))
    return tuple(found)


def is_sent(value: Any, type_: Type, tree: TakesRows) -> bool:
    """Whether a value of the type is the same after the source has read it."""
    if value is None:
        return True
    if type(value) is not _PYTHON[type_.family]:
        return False
    if isinstance(value, float):
        return not math.isnan(value) and tree.holds(value)
    if isinstance(value, datetime):
        return value.tzinfo is None
    return not (isinstance(value, str) and "\0" in value)


_PYTHON: Final[dict[Family, type]] = {
    Family.BOOL: bool,
    Family.INT: int,
    Family.DECIMAL: Decimal,
    Family.DOUBLE: float,
    Family.TEXT: str,
    Family.DATE: date,
    Family.TIMESTAMP: datetime,
}

# ------------------------------------------------------------------ as one text of JSON


@dataclass(frozen=True, slots=True)
class SentRows:
    """What a parameter marked `SENT` is bound to. `are_decimals_whole`: they are times 10 to their scale."""

    columns: tuple[SentColumn, ...]
    are_decimals_whole: bool = False

    def placeholder(self, known: Known) -> exp.Placeholder:
        """The parameter."""
        placeholder = exp.Placeholder(this=known.name_for(f"{self.columns[0].name}_json", self))
        placeholder.meta[SENT] = self
        return placeholder

    def path(self, at: int) -> str:
        """Where a row has the value of a column, by its position."""
        return "$" if len(self.columns) == 1 else f"$[{at}]"

    def is_of(self, values: Mapping[str, Any]) -> bool:
        """Whether the values are all the rows'."""
        return all(column.name in values for column in self.columns)

    def text(self, values: Mapping[str, Any]) -> RowsText:
        """`[[7,"2024-01-31"],[8,null]]`, of one column `[7,8]`: whole numbers as they are, truths as 0 and 1,
        all else as texts."""
        lists = []
        for column in self.columns:
            cell = _cell(column.type, are_decimals_whole=self.are_decimals_whole)
            lists.append([None if value is None else cell(value) for value in values[column.name]])
        rows = lists[0] if len(lists) == 1 else zip(*lists, strict=True)
        return RowsText.of(rows)


def _cell(type_: Type, *, are_decimals_whole: bool) -> Callable[[Any], int | str]:
    if type_.family is Family.DECIMAL and are_decimals_whole:
        return lambda value: int(value.scaleb(type_.scale))  # of few digits, so that none is rounded away
    return _CELLS[type_.family]


_CELLS: Final[dict[Family, Callable[[Any], int | str]]] = {
    Family.BOOL: int,
    Family.INT: int,
    Family.DECIMAL: lambda value: format(value, "f"),
    Family.DOUBLE: repr,
    Family.TEXT: str,
    Family.DATE: lambda value: value.isoformat(),
    Family.TIMESTAMP: lambda value: value.isoformat(" ", "microseconds"),
}

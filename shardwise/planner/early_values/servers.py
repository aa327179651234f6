"""What the servers' dialects have in common: which values travel, by their types."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.early_values.base import TEXTS_MAX, Bind, Collations
from shardwise.planner.early_values.lists import among_unnested, unnested
from shardwise.planner.equivalence import Types, are_declared_alike, linkable

KINDS: Final[dict[Family, tuple[type, ...]]] = {
    Family.INT: (int,),
    Family.DECIMAL: (Decimal, int),
    Family.FLOAT: (float,),
    Family.DATE: (date,),
    Family.TIMESTAMP: (datetime,),
}
_KINDS_OF_KEYS: Final[dict[Family, tuple[type, ...]]] = {
    **KINDS,
    Family.BOOL: (bool,),
    Family.UUID: (UUID, str),
    Family.BLOB: (bytes,),
}


class ServerValues:
    """Numbers, dates and times of a server's dialect. Texts have a collation: as rows see `MySQLValues`; as
    keys they go to a column of the very collation: a constant beside a column is compared by the column's.

    A date that the driver has no object for, such as 0000-00-00 or infinity, does not travel.
    """

    are_lazy = True
    lists_compare_alike = True
    list_type: type[list[Any]] = list

    def __init__(
        self,
        dialect: str,
        excluded: frozenset[str],
        kinds: Mapping[Family, tuple[type, ...]],
        texts: Mapping[str, str],
        charsets: frozenset[str] | None = None,
        characters_max: int | None = None,
    ) -> None:
        """`kinds` are the Python types of values that travel in rows. `texts` are the types of text that give
        keys, and the type that lists of them are of; `charsets`, if columns have such, those whose characters
        are the same after they were Python's; `characters_max` is the length up to which DISTINCT tells texts
        apart."""
        self._dialect = dialect
        self._excluded = excluded
        self._kinds = kinds
        self._texts = texts
        self._charsets = charsets
        self._characters_max = characters_max

    def value_may_travel(self, type_text: str | None) -> bool:
        if type_text is None:
            return True
        found = read_type(type_text, self._dialect)
        return found is not None and found.name not in self._excluded and found.family in KINDS

    def travels(self, bound: Bound) -> bool:
        found = read_type(bound.types[0], self._dialect)
        if found is None or found.name in self._excluded:
            return False
        kinds = KINDS.get(found.family)
        return kinds is not None and all(is_one_of(row[0], kinds) for row in bound.rows or ())

    def may_travel(self, column: Output, collation: str | None) -> bool:
        if column.type is None:
            return True
        if "ZEROFILL" in column.type.upper():  # it is shown otherwise than any number
            return False
        found = read_type(column.type, self._dialect)
        return found is not None and self._row_kinds(found) is not None

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return all(self._column_travels(bound, column) for column in range(len(bound.types)))

    def _column_travels(self, bound: Bound, column: int) -> bool:
        found = read_type(bound.types[column], self._dialect)
        kinds = None if found is None else self._row_kinds(found)
        return kinds is not None and all(is_one_of(row[column], kinds) for row in bound.rows or ())

    def _row_kinds(self, type_: ColumnType) -> tuple[type, ...] | None:
        """The Python types of values that are the same again in a row of this type."""
        return None if type_.name in self._excluded else self._kinds.get(type_.family)

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        return unnested(self, bound.types, bound.rows or (), bind)

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        mine, theirs = types.get(one), types.get(other)
        if mine is None or theirs is None:
            return False
        kinds = [read_type(o.type, self._dialect) if o.type is not None else None for o in (mine, theirs)]
        if None in kinds or len({kind.family for kind in kinds if kind is not None}) != 1:
            return False
        lists = {self._list_of(kind) for kind in kinds if kind is not None}
        if None not in lists:
            return len(lists) == 1 and self._are_compared_alike(mine, theirs)
        is_kind = all(k and k.family in _KINDS_OF_KEYS and k.name not in self._excluded for k in kinds)
        return is_kind and linkable(one, other, types) and are_declared_alike(one, other, types)

    def _list_of(self, text: ColumnType) -> str | None:
        """The type that a list of the type's texts is of; None if they give no keys."""
        length = next((int(each) for each in text.arguments if each.isdigit()), 1)
        if self._characters_max is not None and length > self._characters_max:
            return None
        return self._texts.get(text.name)

    def _are_compared_alike(self, one: Output, other: Output) -> bool:
        """Whether `=` between two columns of text is by the collation that both have."""
        mine, theirs = ((o.declared or "").lower() for o in (one, other))
        if self._charsets is not None:
            return mine == theirs and mine.partition("_")[0] in self._charsets
        return one.collation == other.collation and (mine == theirs or not mine or not theirs)

    def keys_travel(self, bound: Bound, position: int) -> bool:
        found = read_type(bound.types[position], self._dialect)
        if found is None or found.name in self._excluded:
            return False
        kinds = (str,) if found.name in self._texts else _KINDS_OF_KEYS.get(found.family)
        values = [row[position] for row in bound.rows or ()]
        if kinds is None or not all(is_one_of(value, kinds) for value in values):
            return False
        lengths = [len(value) for value in values if isinstance(value, str | bytes)]
        is_short = self._characters_max is None or max(lengths, default=0) <= self._characters_max
        return is_short and sum(lengths) <= TEXTS_MAX

    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(
            this=parameter, to=exp.DataType.build(f"{type_text}[]", dialect=self._dialect, udt=True)
        )

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect=self._dialect, udt=True))

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        members = exp.Paren(this=self.listed(keys, type_text))
        return exp.EQ(this=column, expression=exp.Any(this=members))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        return among_unnested(self, columns, keys, type_texts, bind)


def is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    """Whether it is a value of these types, and no NaN or infinite number; NULL is one."""
    if isinstance(value, float):
        return float in kinds and math.isfinite(value)
    if isinstance(value, Decimal):
        return Decimal in kinds and value.is_finite()
    return value is None or type(value) in kinds

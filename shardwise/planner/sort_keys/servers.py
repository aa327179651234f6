"""What the sort keys of MySQL and PostgreSQL have in common: typed values, which the merge has as texts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from sqlglot import exp

from shardwise.catalog.model import Column
from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.plan.nodes import Output
from shardwise.plan.run import Compared
from shardwise.planner.early_values.servers import KINDS, is_one_of
from shardwise.planner.sort_keys.base import cast

_KINDS: Final = {**KINDS, Family.TEXT: (str,)}
_OTHERS: Final = frozenset({"YEAR", "FLOAT", "REAL", "FLOAT4", "MONEY", "ENUM", "SET"})
DIGITS_MAX: Final = 37
"""With one more, a NaN is the number that no other is."""


class ServersSortKeys(ABC):
    dialect: ClassVar[str]
    nulls_are_least: bool
    has_places: bool

    def travels(self, type_text: str | None, values: Sequence[Any] = ()) -> bool:
        found = None if type_text is None else read_type(type_text, self.dialect)
        if found is None or found.name.upper() in _OTHERS:
            return False
        kinds = _KINDS.get(found.family)
        return kinds is not None and self._may_travel(found) and all(is_one_of(v, kinds) for v in values)

    def _may_travel(self, type_: ColumnType) -> bool:
        return True

    def written(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        found = read_type(type_text, self.dialect)
        is_text = found is None or found.family is Family.TEXT
        return parameter if is_text else cast(parameter, type_text, self.dialect)

    def are_sorted_as_compared(self, columns: Iterable[Column | None]) -> bool:
        return True

    def compared(self, output: Output, column: Column | None, time_zone: str) -> Compared | None:
        type_ = None if output.type is None else read_type(output.type, self.dialect)
        if type_ is None:
            return None
        if type_.family is not Family.TEXT:
            return self._number(type_) or self._moment(type_, time_zone)
        if column is None or column.collation is None:
            return None
        return self._text(type_, column.collation)

    @abstractmethod
    def _number(self, type_: ColumnType) -> Compared | None: ...

    @abstractmethod
    def _moment(self, type_: ColumnType, time_zone: str) -> Compared | None: ...

    @abstractmethod
    def _text(self, type_: ColumnType, collation: str) -> Compared | None: ...


def decimal(arguments: Sequence[str]) -> Compared | None:
    """Of so many digits, and so many after the point."""
    digits, scale = (int(n) for n in arguments)
    return Compared("decimal", scale) if digits <= DIGITS_MAX and scale <= digits else None

"""What ran first as values in the rest of the statement: which travel, and how they stand there.

A value was a Python object between the subquery that gave it and the statement that gets it. It travels where
it is the same afterwards, and compares as before: its type is written beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.sqlite_types import affinity
from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.errors import InternalError
from shardwise.plan.kinds import KeyList
from shardwise.plan.nodes import ColumnId, Output
from shardwise.plan.run import Bound
from shardwise.planner.equivalence import Types, are_declared_alike, is_binary, linkable
from shardwise.planner.rows_as_json import (
    fit,
    has_character_set,
    json_table,
    may_be_texts,
    rows_text,
    text_type,
)

Bind = Callable[[str, Sequence[Any]], exp.Expr]
"""Binds values as a parameter, under a name that ends as is said."""
Collations = Sequence[str | None]


class EarlyValues(Protocol):
    """Of one query dialect. `type_text` is a type as `Bound.types` has it.

    `are_lazy`: a subquery's error is the statement's only where a row asks for its value. One that fails when
    it runs first is then left to the engine.
    """

    are_lazy: bool
    list_type: type[list[Any]]
    """What a list of keys is bound as."""

    def value_may_travel(self, type_text: str | None) -> bool:
        """Whether values of a declared type may travel, so that it is worth while to ask for them; None: a
        type that is not known."""

    def travels(self, bound: Bound) -> bool:
        """Whether the first column's values are the same after they were Python objects."""

    def may_travel(self, column: Output, collation: str | None) -> bool:
        """Whether a column of rows is declared such that its values may be.

        `collation` is here and below what the catalog says of a table's column that it is as it is.
        """

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        """Whether all columns' values are the same after they were Python objects."""

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        """Rows that came and travel, as a query of them: an item for each column, of the column's type."""

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        """Whether `=` between the columns finds what `is_among` does, of the values of one and the other."""

    def keys_travel(self, bound: Bound, position: int) -> bool:
        """Whether a column's values are the same for `is_among`, beside a column that they meet."""

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        """A parameter that is bound to one value, as a value of its type."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        """Whether a column's value is in a parameter that is bound to a list; no NULL is."""

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        """The same of several columns together: whether their values are one of `keys`, none of which has a
        NULL."""


_V = TypeVar("_V")


def different(values: Iterable[_V]) -> list[_V]:
    """Each value once. To Python two moments of the hour that a zone's clocks repeat are equal, and so are
    12:00+00 and 13:00+01; a text tells them apart."""
    return list({_told_apart(value): value for value in values}.values())


def _told_apart(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_told_apart, value))
    return value.isoformat() if isinstance(value, datetime | time) else value


class DuckDBValues:
    """A month is no thirty days, nanoseconds are cut, and an infinite date is 9999-12-31."""

    are_lazy = False
    list_type: type[list[Any]] = list

    def value_may_travel(self, type_text: str | None) -> bool:
        return type_text is None or not _KEPT.search(type_text)

    def travels(self, bound: Bound) -> bool:
        return self._travels(bound, 0)

    def may_travel(self, column: Output, collation: str | None) -> bool:
        # An ENUM sorts by its place in the type.
        return is_binary(column.collation) and "ENUM" not in (column.type or "").upper()

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return all(
            "ENUM" not in type_.upper() and self._travels(bound, column)
            for column, type_ in enumerate(bound.types)
        )

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        return _unnested(self, bound.types, bound.rows or (), bind)

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        return linkable(one, other, types) and are_declared_alike(one, other, types)

    def keys_travel(self, bound: Bound, position: int) -> bool:
        return self._travels(bound, position)

    def _travels(self, bound: Bound, column: int) -> bool:
        if _KEPT.search(bound.types[column]):
            return False
        days = (row[column] for row in bound.rows or () if isinstance(row[column], date))
        return not any((day.year, day.month, day.day) in _EXTREME_DAYS for day in days)

    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(f"{type_text}[]", dialect="duckdb", udt=True))

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return exp.Cast(this=parameter, to=exp.DataType.build(type_text, dialect="duckdb", udt=True))

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        unnested = exp.Anonymous(this="unnest", expressions=[self.listed(keys, type_text)])
        return exp.In(this=column, query=exp.Subquery(this=exp.Select(expressions=[unnested])))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        return _among_unnested(self, columns, keys, type_texts, bind)


_KEPT: Final = re.compile(
    r"INTERVAL|STRUCT|MAP|UNION|VARIANT|_NS|\[|UHUGEINT|TIMETZ|TIME WITH TIME ZONE", re.IGNORECASE
)
"""Types of which values do not travel. Of a UHUGEINT the driver does not take the largest; and 12:00+00 is
13:00+01 to Python, but not to DuckDB."""
_EXTREME_DAYS: Final = {(9999, 12, 31), (1, 1, 1)}


class ServerValues:
    """Numbers, dates and times of a server's dialect. Texts have a collation: as rows see `MySQLValues`; as
    keys they go to a column of the very collation: a constant beside a column is compared by the column's.

    A date that the driver has no object for, such as 0000-00-00 or infinity, does not travel.
    """

    are_lazy = True
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
        return found is not None and found.name not in self._excluded and found.family in _KINDS

    def travels(self, bound: Bound) -> bool:
        found = read_type(bound.types[0], self._dialect)
        if found is None or found.name in self._excluded:
            return False
        kinds = _KINDS.get(found.family)
        return kinds is not None and all(_is_one_of(row[0], kinds) for row in bound.rows or ())

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
        return kinds is not None and all(_is_one_of(row[column], kinds) for row in bound.rows or ())

    def _row_kinds(self, type_: ColumnType) -> tuple[type, ...] | None:
        """The Python types of values that are the same again in a row of this type."""
        return None if type_.name in self._excluded else self._kinds.get(type_.family)

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        return _unnested(self, bound.types, bound.rows or (), bind)

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
        if kinds is None or not all(_is_one_of(value, kinds) for value in values):
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
        return _among_unnested(self, columns, keys, type_texts, bind)


class MySQLValues(ServerValues):
    """MySQL has no lists: one is written as its members, and rows are a text that JSON_TABLE reads.

    Texts travel in rows if they are a table's column of a declared collation, which the rows' one then has.
    """

    def may_travel(self, column: Output, collation: str | None) -> bool:
        if column.type is not None and _is_mysql_text(column.type):
            return has_character_set(collation)
        return super().may_travel(column, collation)

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        rows = bound.rows or ()
        of_texts = {
            at
            for at, type_ in enumerate(bound.types)
            if has_character_set(collations[at]) and _is_mysql_text(type_)
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
            text_type([row[at] for row in rows], collation) if collation and _is_mysql_text(type_) else type_
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


class PostgresValues(ServerValues):
    """A list of texts is of no length, which would cut them."""

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        found = read_type(type_text, self._dialect)
        of_list = self._texts.get(found.name) if found is not None else None
        return super().is_among(column, keys, of_list or type_text)


class SQLiteValues:
    """Keys alone: whole numbers and texts, as JSON.

    A value has a type of its own there, whatever its column's is, and `=` converts by the affinities of both
    sides. Between columns of one kind of affinity it converts nothing, nor does IN beside values that the
    column's affinity leaves as they are: a text that looks like no number, and any whole number.
    """

    are_lazy = True
    list_type: type[list[Any]] = KeyList

    def value_may_travel(self, type_text: str | None) -> bool:
        return False

    def travels(self, bound: Bound) -> bool:
        return False

    def may_travel(self, column: Output, collation: str | None) -> bool:
        return False

    def rows_travel(self, bound: Bound, collations: Collations) -> bool:
        return False

    def as_rows(self, bound: Bound, collations: Collations, bind: Bind) -> exp.Select:
        raise InternalError("no rows travel in the sqlite dialect")

    def keys_meet(self, one: ColumnId, other: ColumnId, types: Types) -> bool:
        outputs = types.get(one), types.get(other)
        if any(o is None or o.type is None or not is_binary(o.collation) for o in outputs):
            return False
        kinds = {_kind_of_affinity(o.type) for o in outputs if o is not None and o.type is not None}
        return len(kinds) == 1 and None not in kinds

    def keys_travel(self, bound: Bound, position: int) -> bool:
        values = [row[position] for row in bound.rows or ()]
        texts = [value for value in values if type(value) is str]
        are_kept = all(value is None or type(value) in (int, str) for value in values)
        are_texts = not any("\0" in text or _is_number(text) for text in texts)
        return are_kept and are_texts and sum(map(len, texts)) <= TEXTS_MAX

    def value(self, parameter: exp.Expr, type_text: str) -> exp.Expr:
        return parameter

    def is_among(self, column: exp.Expr, keys: exp.Expr, type_text: str) -> exp.Expr:
        each = exp.From(this=exp.Anonymous(this="json_each", expressions=[keys]))
        values = exp.Select(expressions=[exp.to_identifier("value")], from_=each)
        return exp.In(this=column, query=exp.Subquery(this=values))

    def are_among(
        self,
        columns: Sequence[exp.Expr],
        keys: Sequence[tuple[Any, ...]],
        type_texts: Sequence[str],
        bind: Bind,
    ) -> exp.Expr:
        raise InternalError("no rows travel in the sqlite dialect")


def _kind_of_affinity(type_text: str) -> str | None:
    """Columns of one kind are compared as their values are. None: ANY, which means two things."""
    if type_text.strip().upper() == "ANY":
        return None
    found = affinity(type_text)
    return found if found in ("TEXT", "BLOB") else "NUMERIC"


def _is_number(text: str) -> bool:
    """Whether an affinity might convert it: Python takes for a number whatever SQLite does, and more."""
    try:
        float(text)
    except ValueError:
        return False
    return True


TEXTS_MAX: Final = 1_000_000
"""Keys of texts have no more characters together: no server takes a statement of any length."""

_KINDS: Final[dict[Family, tuple[type, ...]]] = {
    Family.INT: (int,),
    Family.DECIMAL: (Decimal, int),
    Family.FLOAT: (float,),
    Family.DATE: (date,),
    Family.TIMESTAMP: (datetime,),
}
_KINDS_OF_KEYS: Final[dict[Family, tuple[type, ...]]] = {
    **_KINDS,
    Family.BOOL: (bool,),
    Family.UUID: (UUID, str),
    Family.BLOB: (bytes,),
}


_MYSQL_ROWS: Final = {**_KINDS, Family.TIME: (timedelta,)}
_POSTGRES_ROWS: Final = {**_KINDS, Family.TIME: (time,), Family.BOOL: (bool,), Family.UUID: (UUID,)}


class _Lists(Protocol):
    def listed(self, parameter: exp.Expr, type_text: str) -> exp.Expr: ...


def _unnested(of: _Lists, types: Sequence[str], rows: Sequence[tuple[Any, ...]], bind: Bind) -> exp.Select:
    """SELECT unnest(values of a), unnest(values of b): lists of one length are taken side by side."""
    items = []
    for position, type_text in enumerate(types):
        values = bind(f"{position + 1}", [row[position] for row in rows])
        items.append(exp.Anonymous(this="unnest", expressions=[of.listed(values, type_text)]))
    return exp.Select(expressions=items)


def _among_unnested(
    of: _Lists,
    columns: Sequence[exp.Expr],
    keys: Sequence[tuple[Any, ...]],
    types: Sequence[str],
    bind: Bind,
) -> exp.Expr:
    rows = exp.Subquery(this=_unnested(of, types, keys, bind))
    return exp.In(this=exp.Tuple(expressions=list(columns)), query=rows)


def _is_mysql_text(type_text: str) -> bool:
    found = read_type(type_text, "mysql")
    return found is not None and found.family is Family.TEXT


def _is_one_of(value: object, kinds: tuple[type, ...]) -> bool:
    if isinstance(value, float):
        return float in kinds and math.isfinite(value)
    if isinstance(value, Decimal):
        return Decimal in kinds and value.is_finite()
    return value is None or type(value) in kinds


DUCKDB_VALUES: Final = DuckDBValues()
SQLITE_VALUES: Final = SQLiteValues()
_MYSQL_TEXTS: Final = {
    **dict.fromkeys(("CHAR", "CHARACTER"), "CHAR"),
    **dict.fromkeys(("VARCHAR", "CHARACTER VARYING", "CHAR VARYING"), "VARCHAR"),
}
_POSTGRES_TEXTS: Final = {
    **dict.fromkeys(("CHAR", "CHARACTER", "BPCHAR"), "bpchar"),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHARACTER VARYING", "CHAR VARYING"), "text"),
}
_CHARSETS: Final = frozenset({"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii"})
_SORTED_CHARACTERS: Final = 255
"""MariaDB and MySQL compare the first 1,024 bytes where they sort for DISTINCT or GROUP BY."""
MYSQL_VALUES: Final = MySQLValues(
    "mysql",
    frozenset({"YEAR", "FLOAT"}),
    _MYSQL_ROWS,
    _MYSQL_TEXTS,
    _CHARSETS,
    _SORTED_CHARACTERS,
)
POSTGRES_VALUES: Final = PostgresValues(
    "postgres", frozenset({"REAL", "FLOAT4", "MONEY", "OID"}), _POSTGRES_ROWS, _POSTGRES_TEXTS
)

"""Whether a shard's tables and rows are of the catalog's types, and how narrower ones are widened."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import pyarrow as pa
import pyarrow.types as pt

from shardwise.errors import OperationalError, Reason
from shardwise.executor.backends.base import ReadColumn
from shardwise.plan.gaps import Gap

_INTEGERS: dict[pa.DataType, tuple[int, int]] = {
    **{pa.type_for_alias(f"int{bits}"): (-(1 << bits - 1), (1 << bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{pa.type_for_alias(f"uint{bits}"): (0, (1 << bits) - 1) for bits in (8, 16, 32, 64)},
}


def widens(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether every value of `given` is one of `wanted` and means the same there."""
    if given == wanted or pt.is_null(given):
        return True
    if given in _INTEGERS:
        low, high = _INTEGERS[given]
        if wanted in _INTEGERS:
            return _INTEGERS[wanted][0] <= low and high <= _INTEGERS[wanted][1]
        if pt.is_decimal(wanted):
            return bool(10 ** (wanted.precision - wanted.scale) > high)
        return bool(pt.is_float64(wanted) and high <= 1 << 53)
    if pt.is_decimal(given) and pt.is_decimal(wanted):
        whole = wanted.precision - wanted.scale >= given.precision - given.scale
        return bool(whole and wanted.scale >= given.scale)
    if pt.is_float32(given):
        return bool(pt.is_float64(wanted))
    if pt.is_nested(given):
        return bool(plain(given) == wanted)
    return _is_text(given) and _is_text(wanted)


def plain(type_: pa.DataType) -> pa.DataType:
    """Dictionaries (ENUM) as their values: each shard has a dictionary of its own."""
    if pt.is_dictionary(type_):
        return plain(type_.value_type)
    if pt.is_struct(type_):
        return pa.struct([f.with_type(plain(f.type)) for f in type_.fields])
    if pt.is_list(type_):
        return pa.list_(type_.value_field.with_type(plain(type_.value_type)))
    if pt.is_fixed_size_list(type_):
        return pa.list_(type_.value_field.with_type(plain(type_.value_type)), type_.list_size)
    if pt.is_map(type_):
        return pa.map_(plain(type_.key_type), plain(type_.item_type))
    return type_


def _is_text(type_: pa.DataType) -> bool:
    if pt.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pt.is_string(type_) or pt.is_large_string(type_) or pt.is_string_view(type_))


_WHOLE: Mapping[str, tuple[int, int]] = {
    name: (low, high)
    for bits, name in ((8, "TINYINT"), (16, "SMALLINT"), (32, "INTEGER"), (64, "BIGINT"), (128, "HUGEINT"))
    for name, low, high in ((name, -(1 << bits - 1), (1 << bits - 1) - 1), (f"U{name}", 0, (1 << bits) - 1))
}


class Reads(NamedTuple):
    """As `plan.run.Expected`, which a worker process does without."""

    table: str
    columns: tuple[ReadColumn, ...]
    fills: frozenset[str] = frozenset()
    widens: bool = False
    absence: str | None = None


class Expects(Protocol):
    """What is asked of `Reads` and `Expected`."""

    @property
    def table(self) -> str: ...
    @property
    def columns(self) -> Sequence[ReadColumn]: ...
    @property
    def fills(self) -> frozenset[str]: ...
    @property
    def widens(self) -> bool: ...
    @property
    def absence(self) -> str | None: ...


class _Request(Protocol):
    """What is asked of a request."""

    @property
    def shard(self) -> str: ...
    @property
    def expects(self) -> Sequence[Expects]: ...


class _HasTables(Protocol):
    """What is asked of a source's connection."""

    def version(self) -> object: ...
    def columns(self, table: str) -> tuple[tuple[str, str], ...]: ...
    def has_schema(self, name: str) -> bool: ...


class _Assuming(Protocol):
    """A source's connection, asked whether it need be asked."""

    def assumes(self, version: object) -> bool: ...


Suits = Callable[[str, ReadColumn, Callable[[str], str | None]], str | None]
"""A backend's `suits`."""


class KnownTables:
    """What an open source has said of its tables, and what of it was found to be as the catalog says.

    Each table is asked about once, before it is first read; again once the source's schema has changed, which
    some products allow while it is open. Types that hold every value are not enough here: a column must also
    compare, sort and group as its declared type does. So whole numbers may be narrower, and decimals of one
    scale, but `'10' < '9'` (VARCHAR), `0.1::FLOAT <> 0.1` and an ENUM of another order are drift. Threads may
    share it: at worst a table is asked about twice.
    """

    def __init__(self, suits: Suits) -> None:
        self._suits = suits
        self._known = _Known(None)

    def forget(self) -> None:
        """Has all be asked again: tables were made or dropped."""
        self._known = _Known(None)

    def is_known_good(self, connection: _Assuming, request: _Request) -> bool:
        """Whether nothing need be asked: all that the request reads was looked at, and lacks nothing."""
        known = self._known
        for expected in request.expects:
            good = known.good.get(expected.table)
            if good is None or expected.absence is not None or not good.issuperset(expected.columns):
                return False
        return not request.expects or connection.assumes(known.version)

    def check(
        self, connection: _HasTables, request: _Request, normal: Callable[[str], str | None]
    ) -> dict[str, Gap]:
        """What the request's tables lack and may, by table; raises for what must be as declared.

        `normal` gives a type as DuckDB writes it, or None. A table that is missing is left to the request
        itself; not so a column, for SQLite takes the quoted name of one that it has not for a text.
        """
        if not request.expects:
            return {}
        known, version = self._known, connection.version()
        if known.version != version:
            known = self._known = _Known(version)
        gaps: dict[str, Gap] = {}
        for expected in request.expects:
            good = known.good.setdefault(expected.table, set())
            if good.issuperset(expected.columns) and expected.absence is None:
                continue
            gap = self._gap(known, connection, request.shard, expected, normal)
            if expected.table in known.types:  # else nothing was compared yet
                good.update(c for c in expected.columns if c[0].casefold() not in gap.missing | gap.narrower)
            if gap != Gap():
                gaps[expected.table] = gap.with_(gaps.get(expected.table, gap))
        return gaps

    def _gap(
        self,
        known: _Known,
        connection: _HasTables,
        shard: str,
        expected: Expects,
        normal: Callable[[str], str | None],
    ) -> Gap:
        types = self._types(known, connection, expected.table)
        if types:
            return self._compare(types, shard, expected, normal)
        if expected.absence is None:
            return Gap()
        if expected.absence and connection.has_schema(expected.absence):
            raise OperationalError(
                f'table "{expected.table.replace(chr(34), "")}" is missing on shard "{shard}"',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint="A member has no rows only if its schema is not there either",
            )
        return Gap(is_whole=True)

    @staticmethod
    def _types(known: _Known, connection: _HasTables, table: str) -> Mapping[str, str]:
        """The types of a table's columns; none if there is no such table.

        Raises what the source says. A lock in the way, or a cancel, is not to pass for a table that is as it
        should be: the request may succeed where this did not, and later ones would not ask again.
        """
        if table not in known.types:
            columns = connection.columns(table)
            if not columns:
                return {}
            known.types[table] = {name.casefold(): type_ for name, type_ in columns}
        return known.types[table]

    def _compare(
        self, types: Mapping[str, str], shard: str, expected: Expects, normal: Callable[[str], str | None]
    ) -> Gap:
        lacking, narrower = set(), set()
        for column in expected.columns:
            name, declared, _ = column
            folded = name.casefold()
            found = types.get(folded)
            if found is None and folded in expected.fills:
                lacking.add(folded)
                continue
            if found is None:
                raise missing(shard, name, expected.table)
            why = self._suits(found, column, normal)
            if why is None:
                continue
            ours = normal(declared) or declared
            if not expected.widens or not is_wider(ours, why):
                raise drift(shard, name, why, ours, table=expected.table)
            narrower.add(folded)
        return Gap(frozenset(lacking), frozenset(narrower))


class _Known:
    """What holds for one version of a source's schema: columns' types by table, and those found good."""

    def __init__(self, version: object) -> None:
        self.version = version
        self.types: dict[str, Mapping[str, str]] = {}
        self.good: dict[str, set[ReadColumn]] = {}


def is_wider(wanted: str, given: str) -> bool:
    """Whether every value of the type `given` is one of `wanted`, and compares there as it should (DRIFT
    FILL)."""
    theirs, ours = _DECIMAL.fullmatch(given), _DECIMAL.fullmatch(wanted)
    if given in _WHOLE:
        _, high = _WHOLE[given]
        if ours:
            return bool(10 ** (int(ours[1]) - int(ours[2])) > high)
        return wanted == "DOUBLE" and high <= 1 << 53
    if theirs and ours:
        whole = int(ours[1]) - int(ours[2]) >= int(theirs[1]) - int(theirs[2])
        return whole and int(ours[2]) >= int(theirs[2])
    return (given, wanted) == ("FLOAT", "DOUBLE")


def suits(found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
    """`Backend.suits` for sources whose types are DuckDB's."""
    _, declared, _ = column
    if found == declared:
        return None
    theirs, ours = normal(found), normal(declared)
    if theirs is None or ours is None or _compares_alike(theirs, ours):
        return None
    return theirs


def _compares_alike(given: str, wanted: str) -> bool:
    if given in _WHOLE and wanted in _WHOLE:
        (low, high), (wanted_low, wanted_high) = _WHOLE[given], _WHOLE[wanted]
        return wanted_low <= low and high <= wanted_high
    theirs, ours = _DECIMAL.fullmatch(given), _DECIMAL.fullmatch(wanted)
    if theirs and ours and theirs[2] == ours[2]:
        return int(theirs[1]) <= int(ours[1])
    return given == wanted


_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")


class Conform:
    """Makes batches of one shard those of the fragment's schema, by position; names are the fragment's."""

    def __init__(self, given: pa.Schema, wanted: pa.Schema, *, shard: str, fragment: str) -> None:
        if len(given) != len(wanted):
            raise OperationalError(
                f'shard "{shard}" answered fragment {fragment} with {len(given)} columns, not {len(wanted)}',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint=CHECK,
            )
        for theirs, ours in zip(given, wanted, strict=True):
            if not widens(theirs.type, ours.type):
                raise drift(shard, ours.name, str(theirs.type), str(ours.type))
        self._wanted = wanted
        self._same = given.types == wanted.types
        self._is_equal = self._same and given.names == wanted.names

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if self._is_equal:
            return batch
        columns = batch.columns
        if not self._same:
            columns = [_cast(c, f.type) for c, f in zip(columns, self._wanted, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self._wanted)


def drift(shard: str, column: str, given: str, wanted: str, *, table: str | None = None) -> OperationalError:
    """A shard's column is of another type than the catalog says; `table` is the physical one, as SQL text."""
    of_table = f' of table "{_shown(table)}"' if table else ""
    return OperationalError(
        f'column "{column}"{of_table} is {given} on shard "{shard}", not {wanted} as the catalog says',
        reason=Reason.SCHEMA_DRIFT,
        shard=shard,
        hint=CHECK,
    )


def _shown(table: str) -> str:
    """A name for a message: quoted as its product quotes it, or not."""
    return re.sub('["`]', "", table)


def missing(shard: str, column: str, table: str) -> OperationalError:
    """A shard's table has no such column; `table` is the physical one, as SQL text."""
    return OperationalError(
        f'column "{column}" of table "{_shown(table)}" is missing on shard "{shard}"',
        reason=Reason.SCHEMA_DRIFT,
        shard=shard,
        hint=f"{CHECK}. DRIFT FILL reads a column that is missing as its default",
    )


CHECK = "Run `shardwise catalog check` to see all differences, then `shardwise catalog import`"


def _cast(column: pa.Array, wanted: pa.DataType) -> pa.Array:
    return column if column.type == wanted else column.cast(wanted)

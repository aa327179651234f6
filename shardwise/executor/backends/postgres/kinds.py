"""A column that the server answers with → the wanted DuckDB type: each value exactly, or an error shows it.

The server's text of a value is read by the kinds of `executor/cells`; the usual ones at once, as Arrow reads
text. Which types may become which is said here: whole numbers and decimals any that hold the value, the
others their own kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shardwise.errors import NotSupportedError, OperationalError, Reason
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.postgres.errors import CHECK
from shardwise.executor.backends.postgres.session import Field
from shardwise.executor.cells import Kind, Misfit, MisfitError, kind_of

BOOL, BYTEA, CHAR1, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 18, 19, 20, 21, 23, 25, 26
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIME = 114, 700, 701, 705, 1042, 1043, 1082, 1083
TIMESTAMP, TIMESTAMPTZ, INTERVAL, TIMETZ, NUMERIC, UUID, JSONB = 1114, 1184, 1186, 1266, 1700, 2950, 3802

_WHOLE = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
)
_INTS = frozenset((INT2, INT4, INT8, OID))
_TEXTS = frozenset((TEXT, VARCHAR, BPCHAR, NAME, CHAR1, UNKNOWN))
_HINT = "Correct the value on the server, or the column's type in the catalog"


class Reading(NamedTuple):
    """How a column is read: `csv` is what Arrow reads its text as, `finish` makes that the wanted type.

    `cell` makes of the server's text what `kind` takes.
    """

    name: str
    kind: Kind
    csv: pa.DataType
    finish: Callable[[pa.Array], pa.Array]
    cell: Callable[[str], Any]
    in_utc: bool = False

    def rows(self, cells: Sequence[str | None]) -> Sequence[Any]:
        """DuckDB's Python values of a column's text; raises MisfitError."""
        found: Sequence[Any] = self._made(self.kind.python, cells)
        return found

    def array(self, cells: Sequence[str | None]) -> pa.Array:
        """The same, as Arrow."""
        return self._made(self.kind.array, cells)

    def _made(self, make: Callable[[Sequence[Any]], Any], cells: Sequence[str | None]) -> Any:
        cell = self.cell
        try:
            return make([None if text is None else cell(text) for text in cells])
        except Misfit as misfit:
            misfit.hint = _HINT
            raise MisfitError(misfit, self.name) from None


def readings(fields: Sequence[Field], wanted: Columns, zone: str) -> list[Reading]:
    """How each column is read; raises where the server's types are not what is wanted."""
    if len(fields) != len(wanted):
        raise OperationalError(
            f"the source answered with {len(fields)} columns, not {len(wanted)}", reason=Reason.SCHEMA_DRIFT
        )
    return [_reading(field, name, type_, zone) for field, (name, type_) in zip(fields, wanted, strict=True)]


def _reading(field: Field, name: str, wanted: str, zone: str) -> Reading:
    try:
        kind = kind_of(wanted, zone)
    except NotSupportedError:
        raise NotSupportedError(
            f'a PostgreSQL source cannot give column "{name}" as {wanted}', hint="Cast it in the query"
        ) from None
    oid, base = field.oid, wanted.partition("(")[0]
    arrow = kind.arrow
    if base in _WHOLE and oid in _INTS | {NUMERIC}:
        is_plain = not isinstance(arrow, pa.BaseExtensionType) and oid != NUMERIC
        cell: Callable[[str], Any] = int if oid != NUMERIC else _whole
        return Reading(name, kind, arrow if is_plain else pa.string(), _array(kind, cell, is_plain), cell)
    if base == "DECIMAL" and oid in _INTS | {NUMERIC}:
        return Reading(name, kind, arrow, _as_it_is, str)
    if base == "DOUBLE" and oid in (FLOAT8, FLOAT4):
        csv = pa.float64() if oid == FLOAT8 else pa.float32()
        return Reading(name, kind, csv, _cast(arrow), float if oid == FLOAT8 else _single)
    if base == "FLOAT" and oid == FLOAT4:
        return Reading(name, kind, arrow, _as_it_is, _single)
    if base == "BOOLEAN" and oid == BOOL:
        return Reading(name, kind, pa.bool_(), _flags(kind), _flag)
    if base in ("VARCHAR", "ENUM"):
        text = _stripped if oid == BPCHAR else str
        is_plain = base == "VARCHAR" and oid != BPCHAR
        return Reading(name, kind, pa.string(), _array(kind, text, is_plain), text)
    if base == "JSON" and oid in _TEXTS | {JSON, JSONB}:
        return Reading(name, kind, pa.string(), _extension(kind), str)
    if base == "BLOB" and oid == BYTEA:
        return Reading(name, kind, pa.string(), _array(kind, _bytes, False), _bytes)
    if base == "UUID" and oid == UUID:
        return Reading(name, kind, pa.string(), _array(kind, str, False), str)
    if base == "TIMESTAMP WITH TIME ZONE" and oid == TIMESTAMPTZ:
        return Reading(name, kind, pa.timestamp("us"), _zoned(arrow), str, in_utc=True)
    if (base, oid) in ((("DATE"), DATE), ("TIME", TIME)) or (
        base.startswith("TIMESTAMP") and oid == TIMESTAMP
    ):
        return Reading(name, kind, arrow, _as_it_is, str)
    raise OperationalError(
        f'column "{name}" is of a type on the source that cannot be {wanted} (type number {oid})',
        reason=Reason.SCHEMA_DRIFT,
        hint=CHECK,
    )


# ------------------------------------------------------------------ the server's text as a cell


def _whole(text: str) -> Any:
    whole, _, rest = text.partition(".")
    return int(whole) if not rest.strip("0") and whole.lstrip("-").isdecimal() else text


def _single(text: str) -> float:
    return float(np.float32(text))


def _flag(text: str) -> int:
    return int(text == "t")


def _stripped(text: str) -> str:
    return text.rstrip(" ")


def _bytes(text: str) -> bytes:
    return bytes.fromhex(text[2:])


# ------------------------------------------------------------------ what Arrow read as the wanted type


def _as_it_is(array: pa.Array) -> pa.Array:
    return array


def _cast(arrow: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda array: array.cast(arrow)


def _flags(kind: Kind) -> Callable[[pa.Array], pa.Array]:
    return lambda array: pa.ExtensionArray.from_storage(kind.arrow, array.cast(pa.int8()))


def _extension(kind: Kind) -> Callable[[pa.Array], pa.Array]:
    return lambda array: pa.ExtensionArray.from_storage(kind.arrow, array)


def _zoned(arrow: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """A moment in UTC without a zone is the same number with one."""
    return lambda array: array.cast(pa.int64()).cast(arrow)


def _array(kind: Kind, cell: Callable[[str], Any], is_plain: bool) -> Callable[[pa.Array], pa.Array]:
    if is_plain:
        return _as_it_is
    return lambda array: kind.array([None if t is None else cell(t) for t in array.to_pylist()])

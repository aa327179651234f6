"""A column that the server answers with → the wanted DuckDB type: each value exactly, or an error shows it.

The server's text of a value is read by the kinds of `executor/cells`; the usual ones at once, as Arrow reads
text. Which types may become which is said here: whole numbers and decimals any that hold the value, the
others their own kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc

from shardwise.errors import NotSupportedError, OperationalError, Reason
from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.postgres import texts
from shardwise.executor.backends.postgres.errors import CHECK
from shardwise.executor.backends.postgres.session import Field
from shardwise.executor.cells import Kind, Misfit, MisfitError, kind_of

BOOL, BYTEA, CHAR1, NAME, INT8, INT2, INT4, TEXT, OID = 16, 17, 18, 19, 20, 21, 23, 25, 26
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, DATE, TIME = 114, 700, 701, 705, 1042, 1043, 1082, 1083
TIMESTAMP, TIMESTAMPTZ, INTERVAL, TIMETZ, NUMERIC, UUID, JSONB = 1114, 1184, 1186, 1266, 1700, 2950, 3802
BIT, VARBIT = 1560, 1562
_WHOLE = frozenset(
    f"{sign}{name}" for sign in ("", "U") for name in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
)
_NUMBERS = frozenset((INT2, INT4, INT8, OID, NUMERIC))
_TEXTS = frozenset((TEXT, VARCHAR, BPCHAR, NAME, CHAR1, UNKNOWN))
_GIVING: Mapping[str, frozenset[int]] = {
    **dict.fromkeys(_WHOLE, _NUMBERS),
    "DECIMAL": _NUMBERS,
    "DOUBLE": frozenset((FLOAT4, FLOAT8)),
    "FLOAT": frozenset((FLOAT4,)),
    "BOOLEAN": frozenset((BOOL,)),
    "JSON": _TEXTS | {JSON, JSONB},
    "BLOB": frozenset((BYTEA,)),
    "UUID": frozenset((UUID,)),
    "DATE": frozenset((DATE,)),
    "TIME": frozenset((TIME,)),
    "TIME WITH TIME ZONE": frozenset((TIMETZ,)),
    "TIMESTAMP WITH TIME ZONE": frozenset((TIMESTAMPTZ,)),
    **{f"TIMESTAMP{unit}": frozenset((TIMESTAMP,)) for unit in ("", "_S", "_MS", "_NS")},
    "INTERVAL": frozenset((INTERVAL,)),
    "BIT": frozenset((BIT, VARBIT)),
}
"""By the wanted type, the server's types that it is read of. VARCHAR and ENUM are read of all others, as the
server writes them."""
_KNOWN = frozenset().union(*_GIVING.values()) - _TEXTS
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
    oid, base = field.oid, wanted.partition("(")[0]
    if wanted.endswith("[]"):
        return _lists(field, name, wanted, zone)
    try:
        kind = texts.kind_of(wanted, zone) or kind_of(wanted, zone)
    except NotSupportedError:
        raise NotSupportedError(
            f'a PostgreSQL source cannot give column "{name}" as {wanted}', hint="Cast it in the query"
        ) from None
    is_given = oid in _GIVING[base] if base in _GIVING else oid not in _KNOWN
    if not is_given:
        raise OperationalError(
            f'column "{name}" is of a type on the source that cannot be {wanted} (type number {oid})',
            reason=Reason.SCHEMA_DRIFT,
            hint=CHECK,
        )
    return _MAKERS[base](name, kind, oid)


def _lists(field: Field, name: str, wanted: str, zone: str) -> Reading:
    """Of an array that has as many dimensions; a row may have fewer or more, which is an error then."""
    element = wanted.rstrip("[]")
    depth = (len(wanted) - len(element)) // 2
    info = psycopg.adapters.types.get(field.oid)
    is_array = info is not None and info.array_oid == field.oid
    if not is_array and not (element == "VARCHAR" and field.oid not in _KNOWN):
        raise OperationalError(
            f'column "{name}" is no array on the source, and cannot be {wanted} (type number {field.oid})',
            reason=Reason.SCHEMA_DRIFT,
            hint=CHECK,
        )
    of = _reading(Field(field.name, info.oid if info is not None else TEXT, -1), name, element, zone)
    kind = texts.Arrays(of.kind, of.cell, depth)
    return Reading(name, kind, pa.string(), _array(kind, str), str)


# ------------------------------------------------------------------ the server's text as a cell


def _integral(text: str) -> Any:
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


def _within(array: pa.Array) -> pa.Array:
    """Arrow reads more digits than the precision has, and says nothing."""
    array.validate(full=True)
    return array


def _cast(arrow: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    return lambda array: array.cast(arrow)


def _flags(kind: Kind) -> Callable[[pa.Array], pa.Array]:
    return lambda array: pa.ExtensionArray.from_storage(kind.arrow, array.cast(pa.int8()))


def _extension(kind: Kind) -> Callable[[pa.Array], pa.Array]:
    return lambda array: pa.ExtensionArray.from_storage(kind.arrow, array)


def _array(kind: Kind, cell: Callable[[str], Any]) -> Callable[[pa.Array], pa.Array]:
    return lambda array: kind.array([None if t is None else cell(t) for t in array.to_pylist()])


def _uuids(kind: Kind) -> Callable[[pa.Array], pa.Array]:
    """All digits at once, which is ten times as fast as one value after the other."""

    def made(array: pa.Array) -> pa.Array:
        digits = "".join(pc.fill_null(array, "0" * 32).to_pylist()).replace("-", "")
        stored = pa.Array.from_buffers(pa.binary(16), len(array), [None, pa.py_buffer(bytes.fromhex(digits))])
        if array.null_count:
            stored = pc.if_else(array.is_valid(), stored, pa.scalar(None, pa.binary(16)))
        return pa.ExtensionArray.from_storage(kind.arrow, stored)

    return made


# ------------------------------------------------------------------ by the wanted type


def _whole(name: str, kind: Kind, oid: int) -> Reading:
    if oid != NUMERIC and not isinstance(kind.arrow, pa.BaseExtensionType):
        return Reading(name, kind, kind.arrow, _as_it_is, int)
    cell: Callable[[str], Any] = _integral if oid == NUMERIC else int
    return Reading(name, kind, pa.string(), _array(kind, cell), cell)


def _double(name: str, kind: Kind, oid: int) -> Reading:
    if oid == FLOAT8:
        return Reading(name, kind, kind.arrow, _as_it_is, float)
    return Reading(name, kind, pa.float32(), _cast(kind.arrow), _single)


def _text(name: str, kind: Kind, oid: int) -> Reading:
    if kind.arrow != pa.string():
        return Reading(name, kind, pa.string(), _array(kind, str), str)
    if oid == BPCHAR:
        return Reading(name, kind, pa.string(), lambda array: pc.utf8_rtrim(array, " "), _stripped)
    return Reading(name, kind, pa.string(), _as_it_is, str)


def _by_arrow(cell: Callable[[str], Any]) -> Maker:
    return lambda name, kind, _: Reading(name, kind, kind.arrow, _as_it_is, cell)


def _by_kind(cell: Callable[[str], Any]) -> Maker:
    return lambda name, kind, _: Reading(name, kind, pa.string(), _array(kind, cell), cell)


Maker = Callable[[str, Kind, int], Reading]
_TEMPORAL = ("DATE", "TIME", *(f"TIMESTAMP{kind}" for kind in ("", "_S", "_MS", "_NS", " WITH TIME ZONE")))
_MAKERS: Mapping[str, Maker] = {
    **dict.fromkeys(_WHOLE, _whole),
    "DECIMAL": lambda name, kind, _: Reading(name, kind, kind.arrow, _within, str),
    "DOUBLE": _double,
    "FLOAT": _by_arrow(_single),
    "BOOLEAN": lambda name, kind, _: Reading(name, kind, pa.bool_(), _flags(kind), _flag),
    "VARCHAR": _text,
    "ENUM": _text,
    "JSON": lambda name, kind, _: Reading(name, kind, pa.string(), _extension(kind), str),
    "BLOB": _by_kind(_bytes),
    "UUID": lambda name, kind, _: Reading(name, kind, pa.string(), _uuids(kind), str),
    **dict.fromkeys(_TEMPORAL, _by_arrow(str)),
    **dict.fromkeys(("INTERVAL", "BIT", "TIME WITH TIME ZONE"), _by_kind(str)),
}

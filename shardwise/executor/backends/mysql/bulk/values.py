"""A column's values as Arrow: as text, as the server writes it, or as a DuckDB type, each value exactly.

The usual pairs of what a server sends and what is wanted are cast in one go. What such a cast does not take
goes value by value through `executor.cells`, which knows what a value of each type is, or names the one that
is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shardwise.executor.backends.mysql.bulk.fields import Family, Field
from shardwise.executor.backends.mysql.kinds import ServerUuid, kind_of
from shardwise.executor.cells import Kind, Misfit, MisfitError
from shardwise.executor.cells.numbers import Boolean, Exact, Huge, Real, Single, Whole
from shardwise.executor.cells.texts import Bytes, Json, Member, Text
from shardwise.executor.cells.times import Date, Time, Timestamp

Convert = Callable[[pa.Array], pa.Array]
"""From the bytes that the server sent. Raises MisfitError for a value that does not fit."""

_DIGITS_OF_DOUBLE = 15


def as_text(field: Field) -> Convert:
    """The server's own text; what is no text stays bytes."""
    if field.family.is_binary:
        return lambda found: found
    return _named(field.name, _text)


def text_type(field: Field) -> pa.DataType:
    """The type that `as_text` makes."""
    return pa.binary() if field.family.is_binary else pa.string()


def as_wanted(field: Field, name: str, type_: str, zone: str) -> tuple[pa.DataType, Convert]:
    """The column `name` as a DuckDB type. Moments come in UTC, and are shown in `zone`."""
    kind = kind_of(type_, zone)
    fast = _FAST.get((field.family, type(kind)))

    def convert(found: pa.Array) -> pa.Array:
        if fast is not None:
            try:
                return fast(kind, found)
            except (pa.ArrowInvalid, OverflowError):
                pass  # the slow way names the value
        return _slow(field.family, kind, found)

    return kind.arrow, _named(name, convert)


def _named(name: str, convert: Convert) -> Convert:
    def named(found: pa.Array) -> pa.Array:
        try:
            return convert(found)
        except Misfit as misfit:
            misfit.hint = hint_of(misfit.hint)
            raise MisfitError(misfit, name) from None

    return named


_HINT = "Correct the value in the table, or the column's type in the catalog"
_ZERO = "No other database has zero and partial dates: make them NULL in a view, or ask in the mysql dialect"
_LONG = "Declare the column INTERVAL in the catalog, for a TIME may have 838 hours and a sign"
_HINTS: Mapping[str | None, str] = {  # a server's, for a file's
    None: _HINT,
    "Correct the value in the file, or the column's type in the catalog": _HINT,
    "A DATE is written 2026-01-05, or its column says EPOCH or JULIAN": _ZERO,
    "A TIMESTAMP is ISO text, or its column says EPOCH or JULIAN": _ZERO,
    "A TIME is written 10:30, 10:30:00 or 10:30:00.25": _LONG,
    "A BOOLEAN is 0 or 1 in SQLite": "A BOOLEAN is 0 or 1",
    "Declare the column TEXT in the file and store decimals as text": _HINT,
    "Declare the column TEXT in the file, or more decimals in the catalog": _HINT,
}


def hint_of(hint: str | None) -> str | None:
    """What a server's user is told of a value that does not fit."""
    return _HINTS.get(hint, hint)


# -- in one go --------------------------------------------------------------------------------


def _text(found: pa.Array) -> pa.Array:
    try:
        return found.cast(pa.string())
    except pa.ArrowInvalid:
        raise _not_utf_8(found) from None


def _not_utf_8(found: pa.Array) -> Misfit:
    for cell in found.to_pylist():
        try:
            (cell or b"").decode()
        except UnicodeDecodeError:
            return Misfit(cell, "is no UTF-8")
    raise AssertionError("each value alone is UTF-8")


def _ascii(found: pa.Array) -> pa.Array:
    """Numbers, dates and times: nothing to be checked."""
    return found.view(pa.string())


def _whole(kind: Kind, found: pa.Array) -> pa.Array:
    return _ascii(found).cast(kind.arrow)


def _huge(kind: Kind, found: pa.Array) -> pa.Array:
    """A decimal is stored as HUGEINT is: 16 bytes, the lowest first."""
    decimals = _ascii(found).cast(pa.decimal128(38, 0))
    if type(kind) is Huge and kind.low == 0 and pc.any(pc.less(decimals, 0)).as_py():
        raise pa.ArrowInvalid("negative")
    storage = pa.Array.from_buffers(pa.binary(16), len(decimals), decimals.buffers())
    return pa.ExtensionArray.from_storage(kind.arrow, storage)


def _decimal(kind: Kind, found: pa.Array) -> pa.Array:
    return _ascii(found).cast(kind.arrow)


def _exact(kind: Kind, found: pa.Array) -> pa.Array:
    """DECIMAL of up to 15 digits: the nearest double times 10 to the scale is nearest to its whole number."""
    assert isinstance(kind, Exact)
    if kind.precision > _DIGITS_OF_DOUBLE or _longest(found) > _DIGITS_OF_DOUBLE + 1:
        return _decimal(kind, found)
    doubles = _ascii(found).cast(pa.float64())
    given = np.frombuffer(doubles.buffers()[1], np.float64, len(found))
    if found.null_count:
        given = np.where(pc.is_null(found).to_numpy(zero_copy_only=False), 0, given)
    moved = given * 10.0**kind.scale
    scaled = np.rint(moved)
    if not (np.abs(scaled) < 10**kind.precision).all() or (scaled / 10.0**kind.scale != given).any():
        return _decimal(kind, found)
    wide = np.empty((len(scaled), 2), np.int64)
    wide[:, 0] = scaled
    wide[:, 1] = wide[:, 0] >> 63
    return pa.Array.from_buffers(kind.arrow, len(found), [found.buffers()[0], pa.py_buffer(wide)])


def _longest(found: pa.Array) -> int:
    offsets = np.frombuffer(found.buffers()[1], np.int32, len(found) + 1)
    return int(np.diff(offsets).max())


def _single(kind: Kind, found: pa.Array) -> pa.Array:
    """A FLOAT as the server converts it to DOUBLE."""
    doubles = _ascii(found).cast(pa.float64())
    singles = doubles.cast(kind.arrow, safe=False)
    if not singles.cast(pa.float64()).equals(doubles):
        raise pa.ArrowInvalid("no FLOAT")
    return singles


def _boolean(kind: Kind, found: pa.Array) -> pa.Array:
    numbers = _ascii(found).cast(pa.int8())
    if not pc.all(pc.is_in(numbers, pa.array([0, 1, None], pa.int8()))).as_py():
        raise pa.ArrowInvalid("no BOOLEAN")
    return pa.ExtensionArray.from_storage(kind.arrow, numbers)


def _date(kind: Kind, found: pa.Array) -> pa.Array:
    return _after_christ(_ascii(found).cast(kind.arrow), pa.date32(), _DAY_1)


def _moment(kind: Kind, found: pa.Array) -> pa.Array:
    unit = kind.arrow.unit
    made = _ascii(found).cast(pa.timestamp(unit))
    if unit == "us":
        _after_christ(made, made.type, _DAY_1 * 86_400_000_000)
    else:
        _after_christ(made.cast(pa.date32(), safe=False), pa.date32(), _DAY_1)
    return made.cast(kind.arrow)


_DAY_1 = -719_162  # 0001-01-01: neither Python nor the standard has a year 0


def _after_christ(made: pa.Array, type_: pa.DataType, first: int) -> pa.Array:
    least = pc.min(made.view(pa.int32() if type_ == pa.date32() else pa.int64())).as_py()
    if least is not None and least < first:
        raise pa.ArrowInvalid("year 0")
    return made


def _clock(kind: Kind, found: pa.Array) -> pa.Array:
    """A time of day, as that of 1970-01-01, for Arrow reads no times alone."""
    moments = pc.binary_join_element_wise("1970-01-01", _ascii(found), " ").cast(pa.timestamp("us"))
    return moments.cast(kind.arrow)


def _member(kind: Kind, found: pa.Array) -> pa.Array:
    assert isinstance(kind, Member)
    codes = pc.index_in(_text(found), kind.members)
    if codes.null_count != found.null_count:
        raise pa.ArrowInvalid("no member")
    return pa.DictionaryArray.from_arrays(codes.cast(kind.arrow.index_type), kind.members)


def _uuid(kind: Kind, found: pa.Array) -> pa.Array:
    """UUIDs of 16 bytes."""
    return pa.ExtensionArray.from_storage(kind.arrow, found.cast(pa.binary(16)))


_FAST: Mapping[tuple[Family, type[Kind]], Callable[[Kind, pa.Array], pa.Array]] = {
    (Family.WHOLE, Whole): _whole,
    (Family.WHOLE, Huge): _huge,
    (Family.WHOLE, Exact): _decimal,
    (Family.WHOLE, Boolean): _boolean,
    (Family.DECIMAL, Exact): _exact,
    (Family.DECIMAL, Huge): _huge,
    (Family.REAL, Real): lambda kind, found: _ascii(found).cast(kind.arrow),
    (Family.REAL, Single): _single,
    (Family.DATE, Date): _date,
    (Family.DATE, Timestamp): _moment,
    (Family.MOMENT, Timestamp): _moment,
    (Family.TIME, Time): _clock,
    (Family.TEXT, Member): _member,
    (Family.BYTES, Bytes): lambda kind, found: found,
    (Family.BITS, Bytes): lambda kind, found: found,
    (Family.BYTES, ServerUuid): _uuid,
    **{(family, Text): lambda kind, found: _text(found) for family in Family if family is not Family.BITS},
}


# -- value by value ---------------------------------------------------------------------------


def _slow(family: Family, kind: Kind, found: pa.Array) -> pa.Array:
    make = _cell_maker(family, kind)
    cells = [None if each is None else make(each) for each in found.to_pylist()]
    if isinstance(kind, Whole):  # which takes it that no file has numbers of more than 64 bits
        cells = [None if each is None else kind.one(each) for each in cells]
    return kind.array(cells)


def _cell_maker(family: Family, kind: Kind) -> Callable[[bytes], Any]:
    """What makes a whole number, a float, text or bytes, as `kind` knows them, of the server's bytes."""
    if family is Family.BITS:
        return lambda given: int.from_bytes(given, "big")
    if isinstance(kind, Text | Json):
        return _text_cell
    if family is Family.BYTES:
        return bytes
    if family is Family.DECIMAL and isinstance(kind, Whole | Real):
        return _number_cell
    return {Family.WHOLE: int, Family.REAL: float}.get(family, _text_cell)


def _text_cell(given: bytes) -> str:
    try:
        return given.decode()
    except UnicodeDecodeError:
        raise Misfit(given, "is no UTF-8") from None


def _number_cell(given: bytes) -> Any:
    """A DECIMAL as a whole number, or as the float that says as much; else as text, which is neither."""
    value = Decimal(given.decode())
    if value == value.to_integral_value():
        return int(value)
    return float(value) if len(value.as_tuple().digits) <= _DIGITS_OF_DOUBLE else given.decode()

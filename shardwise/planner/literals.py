"""Constants of a predicate as values of a key column's type, where that loses nothing.

A constant prunes only if it converts to the key's type without loss and DuckDB compares in that
type. INT = '3' is the number 3, for DuckDB casts the literal to INT; INT = 2.5 matches nothing; but
VARCHAR = 1 compares as numbers and matches '1', '01' and ' 1', which hash differently: UNKNOWN.
Where the answer depends on a column's width or precision, which the family does not say (REAL or
DOUBLE? TIMESTAMP_S?), only what is exact for all of them is known. Unknown widens; it is never wrong.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Context, Decimal
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Unknown, Value, canonical
from shardwise.catalog.types import Family, type_family
from shardwise.errors import Error


class Empty:
    """A constant that no value of the key's type equals: the comparison matches nothing."""

    def __repr__(self) -> str:
        return "EMPTY"


EMPTY: Final = Empty()
Constant = Value | Unknown | Empty


class Kind(Enum):
    """How DuckDB types a constant."""

    NULL = "NULL"
    STRING = "a string literal, which takes the other side's type"
    TEXT = "a text value"
    INT = "a whole number"
    DECIMAL = "a decimal number"
    DOUBLE = "a floating-point number"
    BOOL = "a boolean"
    DATE = "a date"
    TIMESTAMP = "a timestamp"
    UUID = "a UUID"


class Typed(NamedTuple):
    """A constant before it meets a column."""

    kind: Kind
    value: Value


_NUMBERS: Final = (Kind.INT, Kind.DECIMAL, Kind.DOUBLE)
_DIGITS = re.compile(r"-?\d{1,38}", re.ASCII)
_POINT = re.compile(r"\d*\.\d*", re.ASCII)
_FLOAT = re.compile(r"\d+\.?\d*[eE][+-]?\d+|\.\d+[eE][+-]?\d+", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SECOND = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", re.ASCII)
_MICROSECOND = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
_ZONED = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[+-]\d\d(:\d\d)?", re.ASCII)
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)
_HUGE = 1 << 127
_EXACT_DOUBLE = 1 << 53  # whole numbers below are one double each, and no other whole number rounds to them
_DECIMAL_DIGITS = 15  # decimals of so many digits stay apart even if DuckDB compares as DOUBLE
_WIDE = Context(prec=80)


def constant(expr: exp.Expr, family: Family) -> Constant:
    """What a key of `family` must equal to match `key = expr`: a canonical value, EMPTY, or UNKNOWN.

    NULL is None: `= NULL` matches nothing, `IS NOT DISTINCT FROM NULL` the NULL keys; the caller knows which.

    >>> import sqlglot
    >>> constant(sqlglot.parse_one("2.0"), Family.INT), constant(sqlglot.parse_one("2.5"), Family.INT)
    (2, EMPTY)
    >>> constant(sqlglot.parse_one("1"), Family.TEXT)
    UNKNOWN
    """
    return _exact(bound(expr, family), family)


def constants(exprs: Sequence[exp.Expr], family: Family) -> list[Constant]:
    """The members of an IN list, which DuckDB compares in one common type.

    Members of different types are all UNKNOWN, but for whole and decimal numbers that are exact in any.
    """
    return [_exact(found, family) for found in bounds(exprs, family)]


def _exact(found: Value | Unknown, family: Family) -> Constant:
    if found is None or isinstance(found, Unknown):
        return found
    try:
        return canonical(found, family)
    except Error:
        return EMPTY  # exact, but not of the key's type: INT = 2.5, DATE = TIMESTAMP '… 12:00'


def bound(expr: exp.Expr, family: Family) -> Value | Unknown:
    """Like `constant` for <, <=, > and >=, where a value between two keys is a bound too: INT < 2.5."""
    typed = read(expr)
    return UNKNOWN if typed is None else _convert(typed, family)


def bounds(exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
    """Like `bound` for constants that are compared together (IN lists, BETWEEN)."""
    if family is Family.INT:  # the long lists: keys sent to the other side of a join
        plain: list[str] = [
            expr.name if type(expr) is exp.Literal and not expr.is_string else "" for expr in exprs
        ]
        if all(text.isdecimal() and len(text) < 38 for text in plain):
            return [int(text) for text in plain]
    typed = [read(expr) for expr in exprs]
    kinds = {one.kind for one in typed if one and one.kind is not Kind.NULL}
    found = [UNKNOWN if one is None else _convert(one, family) for one in typed]
    if len(kinds) <= 1 or kinds == {Kind.STRING, Kind.TEXT}:
        return found
    if kinds == {Kind.INT, Kind.DECIMAL} and all(_small(one) for one in typed if one):
        return found
    return [UNKNOWN] * len(found)


def _small(typed: Typed) -> bool:
    value = typed.value
    return not isinstance(value, (int, Decimal)) or -_EXACT_DOUBLE < value < _EXACT_DOUBLE


# ------------------------------------------------------------------ SQL to typed constants


def read(expr: exp.Expr) -> Typed | None:
    """A constant expression as DuckDB types it; None for anything else, and where that is uncertain."""
    if isinstance(expr, exp.Literal):
        return Typed(Kind.STRING, expr.this) if expr.is_string else _number(expr.this)
    if isinstance(expr, exp.Paren):
        return read(expr.this)
    if isinstance(expr, exp.Null):
        return Typed(Kind.NULL, None)
    if isinstance(expr, exp.Boolean):
        return Typed(Kind.BOOL, bool(expr.this))
    if isinstance(expr, exp.Neg):
        return _negated(expr)
    if isinstance(expr, (exp.Add, exp.Sub, exp.Mul)):
        return _folded(expr)
    if type(expr) is exp.Cast and not expr.args.get("format"):
        return _cast(expr)
    return None


def _number(text: str) -> Typed | None:
    if text.isdecimal() and text.isascii():
        number = int(text)
        return Typed(Kind.INT, number) if number < _HUGE else None
    if _POINT.fullmatch(text) and text != ".":
        digits = text.replace(".", "")
        return Typed(Kind.DECIMAL, Decimal(text)) if len(digits) <= 38 else None
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return Typed(Kind.DOUBLE, float(text))
    return None


def _negated(expr: exp.Neg) -> Typed | None:
    inner = read(expr.this)
    if inner is None or inner.kind not in _NUMBERS:
        return None
    assert isinstance(inner.value, (int, float, Decimal))
    return Typed(inner.kind, inner.value.copy_negate() if isinstance(inner.value, Decimal) else -inner.value)


def _folded(expr: exp.Add | exp.Sub | exp.Mul) -> Typed | None:
    """Arithmetic over INTEGERs that stays within INTEGER: elsewhere DuckDB widens, rounds or fails."""
    left, right = read(expr.this), read(expr.expression)
    if not left or not right or left.kind is not Kind.INT or right.kind is not Kind.INT:
        return None
    a, b = left.value, right.value
    assert isinstance(a, int) and isinstance(b, int)  # noqa: PT018
    result = a + b if isinstance(expr, exp.Add) else a - b if isinstance(expr, exp.Sub) else a * b
    if all(-(1 << 31) <= number < 1 << 31 for number in (a, b, result)):
        return Typed(Kind.INT, result)
    return None


@lru_cache(maxsize=256)
def _cast_family(type_text: str) -> Family:
    return type_family(type_text, "duckdb")


def _cast(expr: exp.Cast) -> Typed | None:
    """CAST of a constant, and DATE '…', TIMESTAMP '…', where the value is certain."""
    inner = read(expr.this)
    if inner is None:
        return None
    target = expr.to
    family = _cast_family(target.sql("duckdb"))
    if inner.kind is Kind.NULL:
        return None  # a NULL with a type decides what an IN list compares in
    value = inner.value
    if family is Family.TEXT and not target.expressions and inner.kind in (Kind.STRING, Kind.INT, Kind.TEXT):
        return Typed(Kind.TEXT, str(value))
    if family is Family.DECIMAL:
        return _cast_decimal(inner, target)
    if inner.kind in (Kind.STRING, Kind.TEXT):
        assert isinstance(value, str)
        return _from_text(value, family, target)
    if family is Family.INT and inner.kind is Kind.INT:
        return inner  # or DuckDB fails: out of range
    if family is Family.DATE and inner.kind is Kind.DATE:
        return inner
    if family is Family.TIMESTAMP and inner.kind in (Kind.DATE, Kind.TIMESTAMP) and _is_micro(target):
        return Typed(Kind.TIMESTAMP, _midnight(value))
    return None


def _from_text(text: str, family: Family, target: exp.DataType) -> Typed | None:
    """CAST('…' AS family)."""
    match family:
        case Family.INT if _DIGITS.fullmatch(text) and text.isascii():
            return Typed(Kind.INT, int(text))
        case Family.DATE if _DAY.fullmatch(text):
            day = _parsed(text)
            return None if day is None else Typed(Kind.DATE, day.date())
        case Family.TIMESTAMP if _MICROSECOND.fullmatch(text) and _is_micro(target):
            moment = _parsed(text)
            return None if moment is None else Typed(Kind.TIMESTAMP, moment)
        case Family.UUID if _UUID.fullmatch(text):
            return Typed(Kind.UUID, UUID(text))
    return None


def _cast_decimal(inner: Typed, target: exp.DataType) -> Typed | None:
    """CAST(… AS DECIMAL(p, s)) where nothing is rounded."""
    sizes = [size.this.name for size in target.expressions]
    if not all(size.isdigit() for size in sizes):
        return None
    scale = 3 if not sizes else int(sizes[1]) if len(sizes) > 1 else 0
    value = inner.value
    if (
        inner.kind is Kind.STRING
        and isinstance(value, str)
        and re.fullmatch(r"-?\d{1,20}(\.\d{1,18})?", value)
    ):
        value = Decimal(value)
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        number = Decimal(value)
        if number == number.quantize(Decimal(1).scaleb(-scale), context=_WIDE):
            return Typed(Kind.DECIMAL, number)
    return None


def _is_micro(target: exp.DataType) -> bool:
    """Whether a timestamp type keeps microseconds: not TIMESTAMP_S or TIMESTAMP(0)."""
    return target.sql("duckdb").upper() in (
        "TIMESTAMP",
        "DATETIME",
        "TIMESTAMP_US",
        "TIMESTAMP WITHOUT TIME ZONE",
    )


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _midnight(value: Value) -> datetime:
    assert isinstance(value, date)
    return value if isinstance(value, datetime) else datetime.fromisoformat(value.isoformat())


# ------------------------------------------------------------------ typed constants to key values


def _convert(typed: Typed, family: Family) -> Value | Unknown:
    """A constant as a value that keys of `family` compare with as DuckDB compares them, or UNKNOWN."""
    kind, value = typed
    if kind is Kind.NULL:
        return None
    if kind is Kind.STRING:
        assert isinstance(value, str)
        return _string(value, family)
    match family:
        case Family.TEXT if kind is Kind.TEXT:
            return value
        case Family.INT if kind is Kind.INT:
            return value
        case Family.INT if kind in (Kind.DECIMAL, Kind.DOUBLE):
            return _near(value)
        case Family.DECIMAL if kind is Kind.INT and isinstance(value, int):
            return value if abs(value) < 1 << 63 else UNKNOWN
        case Family.DECIMAL if kind is Kind.DECIMAL:
            return _near(value)
        case Family.FLOAT if kind in _NUMBERS:
            return _single(value)
        case Family.BOOL if kind is Kind.BOOL:
            return value
        case Family.DATE | Family.TIMESTAMP if kind in (Kind.DATE, Kind.TIMESTAMP):
            return _midnight(value)
        case Family.UUID if kind is Kind.UUID:
            return value
    return UNKNOWN


def _near(value: Value) -> Value | Unknown:
    """Decimals and doubles that compare exactly with whole numbers, whatever type DuckDB picks for it."""
    assert isinstance(value, (float, Decimal))
    if isinstance(value, float):
        return value if abs(value) < _EXACT_DOUBLE else UNKNOWN  # also infinities and NaN
    digits = len(value.as_tuple().digits) if abs(value) >= 1 else -int(value.as_tuple().exponent)
    return value if digits <= _DECIMAL_DIGITS else UNKNOWN


def _single(value: Value) -> Value | Unknown:
    """Numbers that are exact as REAL: the column may be one, and DuckDB may compare in it."""
    assert isinstance(value, (int, float, Decimal))
    try:
        number = float(value)
        same = struct.unpack("f", struct.pack("f", number))[0] == number == value
    except OverflowError:
        return UNKNOWN
    return number if same else UNKNOWN


def _string(text: str, family: Family) -> Value | Unknown:
    """A string literal, which DuckDB casts to the column's type; only spellings that read one way."""
    match family:
        case Family.TEXT | Family.ENUM:
            return text
        case Family.INT if _DIGITS.fullmatch(text) and text.isascii():
            return int(text)
        case Family.DECIMAL if _DIGITS.fullmatch(text) and text.isascii():
            return int(text)
        case Family.FLOAT if re.fullmatch(r"-?\d{1,15}(\.\d{1,15})?", text):
            return _single(Decimal(text))
        case Family.BOOL if text in ("true", "false"):
            return text == "true"
        case Family.DATE if _DAY.fullmatch(text):
            return _moment(text)
        case Family.TIMESTAMP if _DAY.fullmatch(text) or _SECOND.fullmatch(text):
            return _moment(text)
        case Family.TIMESTAMPTZ if _ZONED.fullmatch(text):
            return _moment(text)
        case Family.UUID if _UUID.fullmatch(text):
            return UUID(text)
        case Family.BLOB if text.isascii() and text.isprintable() and "\\" not in text:
            return text.encode()
    return UNKNOWN


def _moment(text: str) -> Value | Unknown:
    found = _parsed(text)
    return UNKNOWN if found is None else found

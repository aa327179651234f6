"""Key expressions: the closed table of functions that a shard key may be made of, evaluated here.

`SHARD BY by_user ((photo_id >> 46))` hashes an expression of a row. The planner evaluates it over the
constants of a predicate, the writer over a row's values; both must give what the dialect's engine
gives. Where that depends on what is not known here (an integer's width, a session's time zone, a
collation's case rules) the value is refused with DataError: pruning then widens.

    column, literal, NULL, ( )       as they are; whole numbers and text
    + - *                            whole numbers, within 64 bits
    %  DIV, //                       toward zero, as all our engines have it: −7 % 3 is −1
    & << >>                          two's complement; in MySQL unsigned 64 bits
    CAST(x AS integer | text | DATE | TIMESTAMP)   only what cannot round, cut or fail
    LEFT, RIGHT, SUBSTR              characters from 1; negative arguments are refused
    LOWER, UPPER                     ASCII only
    CRC32, MD5                       of the text's UTF-8 bytes; MD5 in lower-case hexadecimal
    YEAR, MONTH                      of a DATE or TIMESTAMP
    FROM_UNIXTIME                    whole seconds since 1970, in UTC

NULL in gives NULL out everywhere.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from sqlglot import exp

from shardwise.catalog.shardings import Value, key_bytes, key_text
from shardwise.catalog.spoken import spoken
from shardwise.catalog.types import Family, type_family
from shardwise.errors import CatalogError, DataError

_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?")
_EPOCH = datetime.fromisoformat("1970-01-01")


def evaluate(expr: exp.Expr, values: Mapping[str, Value], dialect: str = "duckdb") -> Value:
    """The value of a key expression over a row's `values`, by column name in lower case.

    CatalogError if the expression is outside the table above or names a column that is not in
    `values`; DataError if it cannot be computed for these values.

    >>> import sqlglot
    >>> evaluate(sqlglot.parse_one("CAST(RIGHT(order_no, 2) AS INT) % 8"), {"order_no": "A-0042"})
    2
    """
    if isinstance(expr, exp.Column):
        try:
            return values[expr.name.lower()]
        except KeyError:
            raise CatalogError(
                f'a key expression names column "{expr.name}", which has no value here'
            ) from None
    if isinstance(expr, exp.Literal):
        return expr.name if expr.is_string else _number(expr.name)
    if isinstance(expr, exp.Null):
        return None
    function, operands = _call(expr)
    arguments = [evaluate(operand, values, dialect) for operand in operands]
    if any(argument is None for argument in arguments):
        return None
    if isinstance(expr, exp.Cast):
        found = _cast(arguments[0], _target(expr, dialect))
        if isinstance(found, int) and found < 0 and expr.to.this in exp.DataType.UNSIGNED_INTEGER_TYPES:
            raise _refuse("CAST of a negative number to an unsigned type")
        return found
    return function(arguments, dialect)


def check(expr: exp.Expr) -> None:
    """CatalogError if the expression is outside the closed table, whatever the values."""
    if isinstance(expr, (exp.Column, exp.Null)):
        return
    if isinstance(expr, exp.Literal):
        if not expr.is_string:
            _number(expr.name)
        return
    for operand in _call(expr)[1]:
        check(operand)


def family_of(expr: exp.Expr, columns: Mapping[str, Family], dialect: str = "duckdb") -> Family:
    """The type family of a key expression, given its columns' by name in lower case."""
    if isinstance(expr, exp.Column):
        return columns.get(expr.name.lower(), Family.OTHER)
    if isinstance(expr, exp.Paren):
        return family_of(expr.this, columns, dialect)
    if isinstance(expr, exp.Literal):
        return Family.TEXT if expr.is_string else Family.INT
    if isinstance(expr, exp.Cast):
        return _target(expr, dialect)
    for family, kinds in _RESULTS.items():
        if isinstance(expr, kinds):
            return family
    return {"crc32": Family.INT, "from_unixtime": Family.TIMESTAMP}.get(expr.name.lower(), Family.OTHER)


def _target(expr: exp.Cast, dialect: str) -> Family:
    """The family that a CAST is to; OTHER where the type's length would cut text."""
    family = type_family(expr.to.sql(dialect), dialect)
    return Family.OTHER if family is Family.TEXT and expr.to.expressions else family


def _number(text: str) -> int:
    if not text.isdigit():
        raise CatalogError("a key expression may hold whole numbers only", hint="Cast the column instead")
    return int(text)


def _call(expr: exp.Expr) -> tuple[_Function, Sequence[exp.Expr]]:
    """The function of a node, and its operands."""
    if isinstance(expr, exp.Anonymous) and expr.name.lower() in _BY_NAME and len(expr.expressions) == 1:
        return _BY_NAME[expr.name.lower()], expr.expressions
    for kind, function, parts in _TABLE:
        if isinstance(expr, kind) and not isinstance(expr, exp.TryCast):
            used = {name for name, value in expr.args.items() if isinstance(value, exp.Expr)}
            if used <= {*parts, "to"}:
                return function, [expr.args[part] for part in parts if expr.args.get(part) is not None]
    raise CatalogError(
        f"{expr.sql()} cannot be part of a shard key's expression",
        hint="Use CAST, LEFT, RIGHT, SUBSTR, %, DIV, >>, <<, &, +, -, *, LOWER, UPPER, CRC32, MD5, YEAR, "
        "MONTH or FROM_UNIXTIME",
    )


# ------------------------------------------------------------------ the functions

_Function = Callable[[Sequence[Value], str], Value]


def _refuse(what: str) -> DataError:
    return DataError(f"{what} in a key expression is not evaluated for this value")


def _ints(arguments: Sequence[Value], what: str) -> list[int]:
    if any(isinstance(value, bool) or not isinstance(value, int) for value in arguments):
        raise _refuse(what)
    return [value for value in arguments if isinstance(value, int)]


def _within(number: int, what: str) -> int:
    if not -(1 << 63) <= number < 1 << 64:
        raise _refuse(what)
    return number


def _add(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "+")
    return _within(left + right, "+")


def _subtract(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "-")
    return _within(left - right, "-")


def _multiply(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "*")
    return _within(left * right, "*")


def _negate(arguments: Sequence[Value], dialect: str) -> Value:
    return -_ints(arguments, "-")[0]


def _divide(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "integer division")
    if right == 0:
        raise _refuse("division by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _modulo(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "%")
    if right == 0:
        raise _refuse("division by zero")
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _and(arguments: Sequence[Value], dialect: str) -> Value:
    left, right = _ints(arguments, "&")
    return (left & right) & (1 << 64) - 1 if spoken(dialect).has_unsigned_bits else left & right


def _shift_left(arguments: Sequence[Value], dialect: str) -> Value:
    number, count = _ints(arguments, "<<")
    if spoken(dialect).has_unsigned_bits:
        return number << count & (1 << 64) - 1 if 0 <= count < 64 else 0
    if number < 0 or not 0 <= count < 63 or number << count >= 1 << 63:
        raise _refuse("<<")
    return number << count


def _shift_right(arguments: Sequence[Value], dialect: str) -> Value:
    number, count = _ints(arguments, ">>")
    if count < 0:
        raise _refuse(">>")
    if spoken(dialect).has_unsigned_bits:
        return (number & (1 << 64) - 1) >> count
    # A shift as wide as the integer's type gives 0, and the type is not known: −5 >> 31 is −1 or 0.
    if number < 0 and count >= next((width for width in (8, 16, 32) if number >= -1 << width - 1), 64):
        raise _refuse(">>")
    return number >> count


def _characters(arguments: Sequence[Value], what: str) -> tuple[str, list[int]]:
    text, *numbers = arguments
    counts = _ints(numbers, what)
    if not isinstance(text, str) or any(count < 0 for count in counts):
        raise _refuse(what)
    return text, counts


def _left(arguments: Sequence[Value], dialect: str) -> Value:
    text, (count,) = _characters(arguments, "LEFT")
    return text[:count]


def _right(arguments: Sequence[Value], dialect: str) -> Value:
    text, (count,) = _characters(arguments, "RIGHT")
    return text[-count:] if count else ""


def _substring(arguments: Sequence[Value], dialect: str) -> Value:
    text, counts = _characters(arguments, "SUBSTR")
    if counts[0] < 1:
        raise _refuse("SUBSTR")
    start = counts[0] - 1
    return text[start:] if len(counts) == 1 else text[start : start + counts[1]]


def _ascii(arguments: Sequence[Value], what: str) -> str:
    text = arguments[0]
    if not isinstance(text, str) or not text.isascii():
        raise _refuse(f"{what} of text beyond ASCII")
    return text


def _lower(arguments: Sequence[Value], dialect: str) -> Value:
    return _ascii(arguments, "LOWER").lower()


def _upper(arguments: Sequence[Value], dialect: str) -> Value:
    return _ascii(arguments, "UPPER").upper()


def _crc32(arguments: Sequence[Value], dialect: str) -> Value:
    return zlib.crc32(_hashed(arguments[0], "CRC32"))


def _md5(arguments: Sequence[Value], dialect: str) -> Value:
    return hashlib.md5(_hashed(arguments[0], "MD5"), usedforsecurity=False).hexdigest()


def _hashed(value: Value, what: str) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (str, bytes, int)):
        raise _refuse(what)
    return key_bytes(value)


def _moment(value: Value, what: str) -> date:
    if not isinstance(value, date) or (isinstance(value, datetime) and value.tzinfo is not None):
        raise _refuse(what)
    return value


def _year(arguments: Sequence[Value], dialect: str) -> Value:
    return _moment(arguments[0], "YEAR").year


def _month(arguments: Sequence[Value], dialect: str) -> Value:
    return _moment(arguments[0], "MONTH").month


def _from_unixtime(arguments: Sequence[Value], dialect: str) -> Value:
    seconds = _ints(arguments, "FROM_UNIXTIME")[0]
    if not 0 <= seconds < 1 << 37:
        raise _refuse("FROM_UNIXTIME")
    return _EPOCH + timedelta(seconds=seconds)


def _same(arguments: Sequence[Value], dialect: str) -> Value:
    return arguments[0]


def _date(arguments: Sequence[Value], dialect: str) -> Value:
    return _cast(arguments[0], Family.DATE)


def _cast(value: Value, family: Family) -> Value:
    """CAST, where no engine rounds, cuts or fails."""
    match family, value:
        case Family.INT, bool() | int():
            return int(value)
        case Family.INT, str() if _WHOLE.fullmatch(value):
            return int(value)
        case Family.TEXT, str():
            return value
        case Family.TEXT, int() if not isinstance(value, bool):
            return key_text(value)
        case Family.TEXT, date() if not isinstance(value, datetime):
            return key_text(value)
        case Family.DATE, datetime() if value.tzinfo is None:
            return value.date()
        case Family.DATE, date() if not isinstance(value, datetime):
            return value
        case Family.DATE, str() if _DAY.fullmatch(value):
            return _parsed(value).date()
        case Family.TIMESTAMP, datetime() if value.tzinfo is None:
            return value
        case Family.TIMESTAMP, date() if not isinstance(value, datetime):
            return _parsed(value.isoformat())
        case Family.TIMESTAMP, str() if _MOMENT.fullmatch(value):
            return _parsed(value)
    raise _refuse(f"CAST to {family.value}")


def _parsed(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise _refuse("CAST to a date") from None


_TABLE: Final[tuple[tuple[type[exp.Expr], _Function, tuple[str, ...]], ...]] = (
    (exp.Paren, _same, ("this",)),
    (exp.Cast, _same, ("this",)),
    (exp.Neg, _negate, ("this",)),
    (exp.Add, _add, ("this", "expression")),
    (exp.Sub, _subtract, ("this", "expression")),
    (exp.Mul, _multiply, ("this", "expression")),
    (exp.Mod, _modulo, ("this", "expression")),
    (exp.IntDiv, _divide, ("this", "expression")),
    (exp.BitwiseAnd, _and, ("this", "expression")),
    (exp.BitwiseLeftShift, _shift_left, ("this", "expression")),
    (exp.BitwiseRightShift, _shift_right, ("this", "expression")),
    (exp.Left, _left, ("this", "expression")),
    (exp.Right, _right, ("this", "expression")),
    (exp.Substring, _substring, ("this", "start", "length")),
    (exp.Lower, _lower, ("this",)),
    (exp.Upper, _upper, ("this",)),
    (exp.MD5, _md5, ("this",)),
    (exp.Year, _year, ("this",)),
    (exp.Month, _month, ("this",)),
    (exp.UnixToTime, _from_unixtime, ("this",)),
    (exp.TsOrDsToDate, _date, ("this",)),  # MySQL's DATE(x), also inside its YEAR(x) and MONTH(x)
)
_BY_NAME: Final[dict[str, _Function]] = {"crc32": _crc32, "from_unixtime": _from_unixtime}
_RESULTS: Final[dict[Family, tuple[type[exp.Expr], ...]]] = {
    Family.INT: (
        exp.Neg,
        exp.Add,
        exp.Sub,
        exp.Mul,
        exp.Mod,
        exp.IntDiv,
        exp.BitwiseAnd,
        exp.BitwiseLeftShift,
        exp.BitwiseRightShift,
        exp.Year,
        exp.Month,
    ),
    Family.TEXT: (exp.Left, exp.Right, exp.Substring, exp.Lower, exp.Upper, exp.MD5),
    Family.TIMESTAMP: (exp.UnixToTime,),
    Family.DATE: (exp.TsOrDsToDate,),
}

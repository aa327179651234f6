"""Constants compared with a shard key as MySQL compares them, where the key equals a value of its own type.

MySQL converts almost anything to compare it: INT = '5x' is 5, VARCHAR = 5 compares as floating-point numbers
and matches '05' and '5x'. Known is only what is exact: whole numbers, and texts that are one, beside INT;
texts and literals in their full form beside DATE and DATETIME; text beside a key whose collation is binary
and does not pad, for then it is bytes that are compared. All else widens.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Unknown, Value, canonical
from shardwise.catalog.types import Family
from shardwise.errors import Error
from shardwise.plan.sql.own_mysql import HOLE, MARK
from shardwise.planner.literals import Constant, Kind, Typed

_WHOLE: Final = re.compile(r"-?(0|[1-9]\d{0,14})", re.ASCII)
"""A text that is a whole number to any reader, and one DOUBLE."""
_INTEGER: Final = re.compile(r"\d{1,20}", re.ASCII)
_POINT: Final = re.compile(r"\d{1,15}\.\d{1,9}", re.ASCII)
_DAY: Final = re.compile(r"(?!0000)\d{4}-\d\d-\d\d", re.ASCII)
_MOMENT: Final = re.compile(r"(?!0000)\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?", re.ASCII)
_DATED: Final = {"date": Kind.DATE, "timestamp": Kind.TIMESTAMP}
_LARGEST: Final = 1 << 64


def literal_of(value: Any) -> exp.Expr | None:
    """A parameter's value as a constant, for reasoning only; None where nothing is concluded from it."""
    if value is None:
        return exp.Null()
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int):  # True is 1 to MySQL
        value = int(value)
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    if isinstance(value, datetime):
        return _dated("TIMESTAMP", value.isoformat(" ")) if value.tzinfo is None else None
    if isinstance(value, date):
        return _dated("DATE", value.isoformat())
    return None


def _dated(word: str, text: str) -> exp.Expr:
    return exp.Anonymous(this=f"{word}{MARK}{word} {HOLE}", expressions=[exp.Literal.string(text)])


class MySQLConstants:
    """See the module."""

    keys_fit = True

    def read(self, expr: exp.Expr) -> Typed | None:
        """A number, a text, a date, a moment or NULL."""
        if isinstance(expr, exp.Paren):
            return self.read(expr.this)
        if isinstance(expr, exp.Null):
            return Typed(Kind.NULL, None)
        if isinstance(expr, exp.Boolean):
            return Typed(Kind.INT, int(bool(expr.this)))
        if isinstance(expr, exp.Literal):
            return Typed(Kind.STRING, expr.this) if expr.is_string else _number(expr.this, 1)
        if isinstance(expr, exp.Neg) and isinstance(expr.this, exp.Literal) and not expr.this.is_string:
            return _number(expr.this.this, -1)
        if isinstance(expr, exp.Anonymous):
            return _dated_literal(expr)
        return None

    def constant(self, expr: exp.Expr, family: Family) -> Constant:
        found = self.bound(expr, family)
        if found is None or isinstance(found, Unknown):
            return found
        try:
            return canonical(found, family)
        except Error:
            return UNKNOWN

    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[Constant]:
        """The members of an IN list: those of different kinds are compared in a type of their own."""
        return [UNKNOWN] * len(exprs) if self._mixed(exprs) else [self.constant(e, family) for e in exprs]

    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown:
        typed = self.read(expr)
        return UNKNOWN if typed is None else _converted(typed, family)

    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
        return [UNKNOWN] * len(exprs) if self._mixed(exprs) else [self.bound(e, family) for e in exprs]

    def _mixed(self, exprs: Sequence[exp.Expr]) -> bool:
        typed = [self.read(expr) for expr in exprs]
        return len({one.kind for one in typed if one is not None and one.kind is not Kind.NULL}) > 1


def _number(text: str, sign: int) -> Typed | None:
    if _INTEGER.fullmatch(text) and int(text) < _LARGEST:
        return Typed(Kind.INT, sign * int(text))
    if _POINT.fullmatch(text):
        return Typed(Kind.DECIMAL, sign * Decimal(text))
    return None


def _dated_literal(call: exp.Anonymous) -> Typed | None:
    """DATE '2024-01-31', TIMESTAMP '2024-01-31 12:00:00'."""
    word = str(call.this).split(MARK, 1)[0].lower()
    kind = _DATED.get(word)
    if kind is None or MARK not in str(call.this) or len(call.expressions) != 1:
        return None
    inside = call.expressions[0]
    return _moment(inside.this, kind) if isinstance(inside, exp.Literal) and inside.is_string else None


def _moment(text: str, kind: Kind | None = None) -> Typed | None:
    try:
        if _DAY.fullmatch(text) and kind is not Kind.TIMESTAMP:
            return Typed(Kind.DATE, date.fromisoformat(text))
        if _MOMENT.fullmatch(text) and kind is not Kind.DATE:
            return Typed(Kind.TIMESTAMP, datetime.fromisoformat(text))
    except ValueError:
        return None
    return None


def _converted(typed: Typed, family: Family) -> Value | Unknown:
    kind, value = typed
    if kind is Kind.NULL:
        return None
    if family is Family.INT:
        if kind is Kind.STRING:
            return int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else UNKNOWN
        if kind is Kind.DECIMAL and isinstance(value, Decimal):
            return int(value) if value == int(value) else UNKNOWN
        return value if kind is Kind.INT else UNKNOWN
    if family is Family.DECIMAL:
        return value if kind in (Kind.INT, Kind.DECIMAL) else UNKNOWN
    if family is Family.TEXT:
        return value if kind is Kind.STRING else UNKNOWN
    if family in (Family.DATE, Family.TIMESTAMP):
        return _as_moment(typed, family)
    return UNKNOWN


def _as_moment(typed: Typed, family: Family) -> Value | Unknown:
    if typed.kind is Kind.STRING:
        found = _moment(str(typed.value))
        if found is None:
            return UNKNOWN
        typed = found
    if typed.kind is Kind.DATE:
        assert isinstance(typed.value, date)
        return typed.value if family is Family.DATE else datetime.fromisoformat(typed.value.isoformat())
    return typed.value if typed.kind is Kind.TIMESTAMP and family is Family.TIMESTAMP else UNKNOWN

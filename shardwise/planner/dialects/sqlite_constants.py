"""Constants compared with a shard key as SQLite compares them, where the key equals a value of its own type.

SQLite's columns hold any value: a key declared INTEGER may be 2.5 or 'five'. Such a row is on no slot that is
known, so that only an equality with a whole number says where a row is: no range, no `<>`, no LIKE does.
A constant takes the column's affinity first: INTEGER = '5' is 5, TEXT = 5 is '5'.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Unknown, Value
from shardwise.catalog.sqlite_types import affinity
from shardwise.catalog.types import Family
from shardwise.planner.literals import Constant, Kind, Typed

_WHOLE = re.compile(r"-?(0|[1-9]\d{0,18})", re.ASCII)
_LARGEST = (1 << 63) - 1


def literal_of(value: Any) -> exp.Expr | None:
    """A parameter's value as a constant, for reasoning only; None where nothing is concluded from it."""
    if value is None:
        return exp.Null()
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int):  # True is 1 to SQLite
        value = int(value)
        return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))
    return None


class SQLiteConstants:
    """See the module. Affinities follow from the families: INT keys are INTEGER, TEXT keys TEXT."""

    keys_fit = False

    def read(self, expr: exp.Expr) -> Typed | None:
        """A whole number, a text or NULL."""
        if isinstance(expr, exp.Paren):
            return self.read(expr.this)
        if isinstance(expr, exp.Null):
            return Typed(Kind.NULL, None)
        if isinstance(expr, exp.Literal) and expr.is_string:
            return Typed(Kind.STRING, expr.this)
        sign = 1
        if isinstance(expr, exp.Neg):
            sign, expr = -1, expr.this
        if isinstance(expr, exp.Literal) and not expr.is_string and _WHOLE.fullmatch(expr.this):
            number = sign * int(expr.this)
            return Typed(Kind.INT, number) if -_LARGEST <= number <= _LARGEST else None
        return None

    def constant(self, expr: exp.Expr, family: Family) -> Constant:
        typed = self.read(expr)
        if typed is None:
            typed = self._of_its_type(expr, family)
        if typed is None:
            return UNKNOWN
        kind, value = typed
        if kind is Kind.NULL:
            return None
        if family is Family.TEXT:
            return str(value)
        if family is Family.INT and kind is Kind.INT:
            return value
        if family is Family.INT and isinstance(value, str) and _WHOLE.fullmatch(value) and value != "-0":
            number = int(value)
            return number if abs(number) <= _LARGEST else UNKNOWN
        return UNKNOWN

    def _of_its_type(self, expr: exp.Expr, family: Family) -> Typed | None:
        """What a cast leaves as it is: a text, and for a numeric key a whole number. A TEXT key it would be
        compared with as a number: CAST(5 AS NUMERIC) is '05', too."""
        if not isinstance(expr, exp.Cast):
            return None
        typed = self.read(expr.this)
        if typed is None or typed[0] is Kind.NULL:
            return typed
        to = affinity(expr.to.sql("sqlite"))
        is_whole = family is Family.INT and typed[0] is Kind.INT and to in ("INTEGER", "NUMERIC")
        return typed if is_whole or (typed[0] is Kind.STRING and to == "TEXT") else None

    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[Constant]:
        return [self.constant(expr, family) for expr in exprs]

    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown:
        return UNKNOWN

    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
        return [UNKNOWN] * len(exprs)

"""Constants compared with a shard key as PostgreSQL compares them.

A text in quotes takes the key's type; whole numbers and decimals compare exactly; a text key compared with a
number is an error. Texts are equal where their bytes are, under every collation that is deterministic, but
they are ordered by it: of a text key only what it equals says where a row is.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from shardwise.catalog.shardings import UNKNOWN, Unknown, Value
from shardwise.catalog.types import Family
from shardwise.planner import literals
from shardwise.planner.literals import Constant, Typed

_PLAIN_TYPES = frozenset(
    {
        *(exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DATE, exp.DType.TIMESTAMP),
        *(exp.DType.UUID, exp.DType.TEXT, exp.DType.VARCHAR),
    }
)
_ORDERED = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ})


def literal_of(value: Any) -> exp.Expr | None:
    """A parameter's value as a constant, for reasoning only; None where nothing is concluded from it."""
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.true() if value else exp.false()
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, int | Decimal) and (isinstance(value, int) or value.is_finite()):
        number = exp.Literal.number(format(abs(value), "f") if isinstance(value, Decimal) else abs(value))
        return exp.Neg(this=number) if value < 0 else number
    return None


class PostgresConstants:
    """See the module."""

    keys_fit = True

    def read(self, expr: exp.Expr) -> Typed | None:
        return literals.read(expr) if _is_read_alike(expr) else None

    def constant(self, expr: exp.Expr, family: Family) -> Constant:
        return literals.constant(expr, family) if _is_read_alike(expr) else UNKNOWN

    def constants(self, exprs: Sequence[exp.Expr], family: Family) -> list[Constant]:
        if not all(map(_is_read_alike, exprs)):
            return [UNKNOWN] * len(exprs)
        return literals.constants(exprs, family)

    def bound(self, expr: exp.Expr, family: Family) -> Value | Unknown:
        return literals.bound(expr, family) if family in _ORDERED and _is_read_alike(expr) else UNKNOWN

    def bounds(self, exprs: Sequence[exp.Expr], family: Family) -> list[Value | Unknown]:
        if family not in _ORDERED or not all(map(_is_read_alike, exprs)):
            return [UNKNOWN] * len(exprs)
        return literals.bounds(exprs, family)


def _is_read_alike(expr: exp.Expr) -> bool:
    """Whether PostgreSQL takes the constant as `planner.literals` does: no 1e3, which is a decimal number
    here, no type whose name means another, such as CHAR."""
    for part in expr.walk():
        if isinstance(part, exp.Literal):
            if not part.is_string and "e" in part.this.lower():
                return False
        elif isinstance(part, exp.DataType):
            if part.this not in _PLAIN_TYPES or part.expressions or part.args.get("nested"):
                return False
        elif not isinstance(part, exp.Cast | exp.Paren | exp.Neg | exp.Null | exp.Boolean):
            return False
    return True

"""Small trees of SQL that every product has: sqlglot's nodes, of those that `plan.sql`'s printers know."""

from __future__ import annotations

from sqlglot import exp

NULL = exp.Null


def integer(value: int) -> exp.Expr:
    """A whole number. -9223372036854775808 has no literal: SQLite reads 9223372036854775808 as a REAL."""
    if value == -(1 << 63):
        return exp.Sub(this=integer(value + 1), expression=integer(1))
    return exp.Literal.number(value) if value >= 0 else exp.Neg(this=exp.Literal.number(-value))


def whole_of(expr: exp.Expr) -> int | None:
    """The whole number that `integer` wrote so; None of anything else."""
    if isinstance(expr, exp.Sub):
        return -(1 << 63)
    number = expr.this if isinstance(expr, exp.Neg) else expr
    if not isinstance(number, exp.Literal) or number.is_string or not number.name.isdigit():
        return None
    return -int(number.name) if isinstance(expr, exp.Neg) else int(number.name)


def string(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def call(function: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=function, expressions=list(arguments))


def collated(value: exp.Expr, collation: str) -> exp.Expr:
    """Text that is compared so, whatever its column was declared to be."""
    return exp.Collate(this=value, expression=exp.Var(this=collation))


def case(*arms: tuple[exp.Expr, exp.Expr], default: exp.Expr | None = None) -> exp.Expr:
    ifs = [exp.If(this=condition, true=value) for condition, value in arms]
    return exp.Case(ifs=ifs, default=default) if default is not None else exp.Case(ifs=ifs)


def both(*conditions: exp.Expr) -> exp.Expr:
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = exp.And(this=joined, expression=condition)
    return joined


def either(*conditions: exp.Expr) -> exp.Expr:
    joined = conditions[0]
    for condition in conditions[1:]:
        joined = exp.Or(this=joined, expression=condition)
    return joined


def is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())


def is_not_null(value: exp.Expr) -> exp.Expr:
    return exp.Not(this=is_null(value))


def between(value: exp.Expr, low: exp.Expr, high: exp.Expr) -> exp.Expr:
    return exp.Between(this=value, low=low, high=high)

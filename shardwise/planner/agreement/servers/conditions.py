"""Conditions that only have to be TRUE for the same rows: WHERE, ON, FILTER. They can use an index.

    name = 'ann'   =>   name = 'ann' AND (name, by its code points) = 'ann'

The first comparison, by the column's own collation, may be TRUE of 'Ann' too, but misses no 'ann'; so an
index finds what the second then looks at.
"""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.tree import bare
from shardwise.planner.agreement.entries import is_of_rows, row_among
from shardwise.planner.agreement.make import both, either
from shardwise.planner.agreement.servers.writer import ServerWriter
from shardwise.planner.agreement.types import Family
from shardwise.planner.agreement.writer import is_understood
from shardwise.planner.literals import Kind


def condition(writer: ServerWriter, expr: exp.Expr) -> exp.Expr:
    """TRUE for the rows for which `expr` is."""
    expr = bare(expr)
    if isinstance(expr, exp.And):
        return both(condition(writer, expr.this), condition(writer, expr.args["expression"]))
    if isinstance(expr, exp.Or):
        return either(condition(writer, expr.this), condition(writer, expr.args["expression"]))
    if isinstance(expr, exp.Boolean):
        return exp.Boolean(this=bool(expr.this))
    if is_of_rows(expr):
        return row_among(writer, expr)
    exact = writer.truth(expr)
    loose = _loose(writer, expr) if is_understood(expr) else None
    return exact if loose is None else both(loose, exact)


def _loose(writer: ServerWriter, expr: exp.Expr) -> exp.Expr | None:
    """What is TRUE at least where the expression is, and may be found by an index on a text column."""
    if isinstance(expr, exp.EQ):
        sides = expr.this, expr.args["expression"]
        fixed = [writer.constant(side) is not None for side in sides]
        if any(_matched(writer, side) is not None for side in sides):
            return _as_they_are(writer, *sides)
        if fixed[0] == fixed[1]:
            return None
        column = _text_column(writer, sides[fixed[0]])
        return None if column is None else writer.may_equal(column, [sides[not fixed[0]]])
    if isinstance(expr, exp.In) and expr.expressions and expr.args.get("query") is None:
        column = _text_column(writer, expr.this)
        is_fixed = all(writer.constant(each) is not None for each in expr.expressions)
        number = _matched(writer, expr.this) if is_fixed else None
        if number is not None:
            constants = [writer.beside(each, writer.value(expr.this)[1], "=") for each in expr.expressions]
            return exp.In(this=number, expressions=constants)
        return writer.may_equal(column, expr.expressions) if column is not None and is_fixed else None
    if isinstance(expr, exp.Like) and not expr.args.get("negate"):
        column = _text_column(writer, expr.this)
        pattern = writer.fixed(expr.args["expression"]) if column is not None else None
        if column is None or pattern is None or pattern.kind is Kind.NULL:
            return None
        return writer.may_be_like(column, str(pattern.value), expr)
    return None


def _matched(writer: ServerWriter, expr: exp.Expr) -> exp.Column | None:
    """The column that `expr` is, if it is to be compared as it is, too."""
    expr = bare(expr)
    form = writer.form_of(expr) if isinstance(expr, exp.Column) else None
    is_matched = form is not None and writer.may_match(form)
    return writer.column(expr) if is_matched and isinstance(expr, exp.Column) else None


def _as_they_are(writer: ServerWriter, left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """Two sides that are equal, columns as they are."""
    one, other, _ = writer.pair(left, right, "=")
    return exp.EQ(this=_matched(writer, left) or one, expression=_matched(writer, right) or other)


def _text_column(writer: ServerWriter, expr: exp.Expr) -> exp.Column | None:
    """The column that `expr` is, if the source has it as text."""
    expr = bare(expr)
    if not isinstance(expr, exp.Column):
        return None
    form = writer.form_of(expr)
    if form is None or form.raw is None or form.type is None or form.type.family is not Family.TEXT:
        return None
    return writer.column(expr)

"""The table: which expressions every source computes as DuckDB does, and how they are written there.

An expression that is in neither `ENTRIES` nor a product's own is not in agreement, and neither is what an
entry is not certain of: it raises `NotAgreed`. An entry gives the expression over canonical values and its
type, exact in all three of TRUE, FALSE and NULL; conditions that only have to be TRUE for the same rows are
the products' `conditions.py`'s, which can use an index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.plan.nodes import Aggregate, Keep, Node, Project
from shardwise.plan.tree import bare, plan_of
from shardwise.planner.agreement.constants import Use
from shardwise.planner.agreement.forms import NotAgreed
from shardwise.planner.agreement.make import NULL, both, call, case, is_null
from shardwise.planner.agreement.sent import sent_columns
from shardwise.planner.agreement.types import BOOL, DOUBLE, TEXT, Family, Type
from shardwise.planner.agreement.types import type_of as declared_type
from shardwise.planner.agreement.writer import Value, Writer, target_of
from shardwise.planner.literals import Kind, Typed

USES: Final[dict[type, Use]] = {
    exp.EQ: "=",
    exp.NEQ: "=",
    exp.NullSafeEQ: "=",
    exp.NullSafeNEQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


def _comparison(writer: Writer, expr: exp.Expr) -> Value:
    """Text by its bytes, numbers exactly, dates and times as their text sorts."""
    left, right, _ = writer.pair(expr.this, expr.args["expression"], USES[type(expr)])
    return type(expr)(this=left, expression=right), BOOL


def _between(writer: Writer, expr: exp.Expr) -> Value:
    low, high = expr.args["low"], expr.args["high"]
    same_kinds(writer, [low, high], expr)
    above = writer.pair(expr.this, low, ">=")
    below = writer.pair(expr.this, high, "<=")
    return both(
        exp.GTE(this=above[0], expression=above[1]), exp.LTE(this=below[0], expression=below[1])
    ), BOOL


def _in(writer: Writer, expr: exp.Expr) -> Value:
    query = expr.args.get("query")
    if query is not None:
        return _in_query(writer, expr, query), BOOL
    if not expr.expressions:
        raise NotAgreed(expr)
    one, type_ = writer.value(expr.this)
    same_kinds(writer, expr.expressions, expr)
    return exp.In(this=one, expressions=[member(writer, e, type_, expr) for e in expr.expressions]), BOOL


def member(writer: Writer, expr: exp.Expr, type_: Type, where: exp.Expr) -> exp.Expr:
    """One of an IN list."""
    if writer.constant(expr) is not None:
        return writer.beside(expr, type_, "=")
    found, of_member = writer.value(expr)
    if (of_member.family, of_member.scale) != (type_.family, type_.scale):
        raise NotAgreed(where)
    return found


def same_kinds(writer: Writer, exprs: Iterable[exp.Expr], where: exp.Expr) -> None:
    """DuckDB compares with all of a list in one common type: of one kind that is the type of each."""
    kinds = {c.kind for e in exprs if isinstance(c := writer.constant(e), Typed)} - {Kind.NULL}
    if len(kinds) > 1 and kinds not in ({Kind.INT, Kind.DECIMAL}, {Kind.STRING, Kind.TEXT}):
        raise NotAgreed(where, "finds another common type for these values")


def _in_query(writer: Writer, expr: exp.Expr, query: exp.Expr) -> exp.Expr:
    one, type_ = writer.value(expr.this)
    keys = keys_that_came(writer, query, [type_], expr)
    if keys is not None:
        return exp.In(this=one, query=keys)
    return exp.In(this=one, query=in_plan(writer, query, type_, expr))


def in_plan(writer: Writer, query: exp.Expr, type_: Type, where: exp.Expr) -> exp.Expr:
    """A subquery's plan of one column, as what IN reads."""
    plan = plan_of(query)
    if plan is None or not writer.reads_in_plan(plan, type_):
        raise NotAgreed(where)
    done = writer.tree.of(plan, writer.forms)
    node, of_plan = writer.tree.one_value(done, where)
    if (of_plan.family, of_plan.scale) != (type_.family, type_.scale):
        raise NotAgreed(where, f"compares a {type_.name} with a {of_plan.name} otherwise")
    return exp.Subquery(plan=node)


def keys_that_came(
    writer: Writer, query: exp.Expr, types: Sequence[Type], where: exp.Expr
) -> exp.Expr | None:
    """Keys that ran first, for columns of these types, as what IN reads; None of another subquery."""
    select = query.this
    if not isinstance(select, exp.Select) or plan_of(query) is not None:
        return None
    columns = sent_columns(select, writer.tree, where)
    for column, type_ in zip(columns, types, strict=True):
        if (column.type.family, column.type.scale) != (type_.family, type_.scale):
            raise NotAgreed(where, f"compares a {type_.name} with a {column.type.name} otherwise")
    return exp.Subquery(this=writer.tree.keys(columns))


def row_among(writer: Writer, expr: exp.Expr) -> exp.In:
    """`(a, b) IN` keys that ran first. Of a row with NULLs it is not said whether it is FALSE or NULL: this
    is no entry."""
    found = [writer.value(each) for each in expr.this.expressions]
    keys = keys_that_came(writer, expr.args["query"], [type_ for _, type_ in found], expr)
    if keys is None:
        raise NotAgreed(expr)
    return exp.In(this=exp.Tuple(expressions=[value for value, _ in found]), query=keys)


def is_of_rows(expr: exp.Expr) -> bool:
    """Whether it asks for a row of several columns among those of a subquery."""
    return (
        isinstance(expr, exp.In) and isinstance(expr.this, exp.Tuple) and expr.args.get("query") is not None
    )


def _is(writer: Writer, expr: exp.Expr) -> Value:
    """IS NULL asks nothing of the value but whether there is one."""
    right = expr.args["expression"]
    if isinstance(right, exp.Null):
        inner = bare(expr.this)
        if isinstance(inner, exp.Column):
            return is_null(writer.column(inner)), BOOL
        return is_null(writer.value(inner)[0]), BOOL
    if isinstance(right, exp.Boolean):
        return writer.is_truth(writer.truth(expr.this), bool(right.this)), BOOL
    raise NotAgreed(expr)


def _connector(writer: Writer, expr: exp.Expr) -> Value:
    return type(expr)(this=writer.truth(expr.this), expression=writer.truth(expr.args["expression"])), BOOL


def _not(writer: Writer, expr: exp.Expr) -> Value:
    return exp.Not(this=writer.truth(expr.this)), BOOL


def _paren(writer: Writer, expr: exp.Expr) -> Value:
    return writer.value(expr.this)


def _case(writer: Writer, expr: exp.Expr) -> Value:
    subject = expr.args.get("this")
    tests = []
    for arm in expr.args["ifs"]:
        test = arm.this if subject is None else exp.EQ(this=subject.copy(), expression=arm.this.copy())
        tests.append(writer.truth(test))
    values = [arm.args["true"] for arm in expr.args["ifs"]]
    default = expr.args.get("default")
    if default is not None:
        values.append(default)
    found, type_ = writer.alike(values)
    last = found.pop() if default is not None else None
    return case(*zip(tests, found, strict=True), default=last), type_


def _coalesce(writer: Writer, expr: exp.Expr) -> Value:
    found, type_ = writer.alike([expr.this, *expr.expressions])
    return (call("coalesce", *found) if len(found) > 1 else found[0]), type_


def _nullif(writer: Writer, expr: exp.Expr) -> Value:
    one, other, type_ = writer.pair(expr.this, expr.args["expression"], "=")
    if writer.constant(expr.this) is not None or writer.value(expr.this)[1] != type_:
        raise NotAgreed(expr)
    value_of = writer.value(expr.this)[0]
    return case((exp.EQ(this=one, expression=other), NULL()), default=value_of), type_


def _like(writer: Writer, expr: exp.Expr) -> Value:
    """By bytes, of a pattern that is known."""
    text, type_ = writer.value(expr.this)
    pattern = writer.fixed(expr.args["expression"])
    if type_ is not TEXT or not isinstance(pattern, Typed) or not isinstance(pattern.value, str):
        raise NotAgreed(expr)
    found = writer.like(text, pattern.value, expr)
    return (exp.Not(this=found) if expr.args.get("negate") else found), BOOL


def _cast(writer: Writer, expr: exp.Expr) -> Value:
    """Casts that lose nothing and cannot fail."""
    one, type_ = writer.value(expr.this)
    target = declared_type(target_of(expr))
    if target is None:
        raise NotAgreed(expr)
    if target.family is type_.family and target.family not in (Family.INT, Family.DECIMAL):
        return one, target
    is_exact = target.low <= type_.low and type_.high <= target.high
    if target.family is Family.INT and type_.family in (Family.INT, Family.BOOL) and is_exact:
        return (writer.as_whole(one) if type_ is BOOL else one), target
    if target == type_:
        return one, target
    if target.family is Family.TIMESTAMP and type_.family is Family.DATE:
        return writer.at_midnight(one), target
    if target is DOUBLE and type_.family is Family.INT and type_.low >= -(1 << 53) and type_.high <= 1 << 53:
        return writer.as_double(one), target
    raise NotAgreed(expr)


def _mod(writer: Writer, expr: exp.Expr) -> Value:
    """By a whole number of 2 or more; of a negative number it is negative in both."""
    one, type_ = writer.value(expr.this)
    by = writer.constant(expr.args["expression"])
    is_safe = isinstance(by, Typed) and by.kind is Kind.INT and isinstance(by.value, int)
    if type_.family is not Family.INT or not is_safe or not 2 <= by.value <= type_.high:  # type: ignore[union-attr,operator]
        raise NotAgreed(expr)
    return exp.Mod(this=one, expression=writer.written(by.value, type_)), type_  # type: ignore[union-attr,arg-type]


def _exists(writer: Writer, expr: exp.Expr) -> Value:
    plan = plan_of(expr.this)
    if plan is None:
        raise NotAgreed(expr)
    return exp.Exists(this=exp.Subquery(plan=writer.tree.any_row(writer.tree.of(plan, writer.forms)))), BOOL


def is_one_row(plan: Node) -> bool:
    """Whether it has one row, whatever the tables hold."""
    while isinstance(plan, Project | Keep):
        plan = plan.input
    return isinstance(plan, Aggregate) and not plan.keys and plan.sets is None


def _scalar(writer: Writer, expr: exp.Expr) -> Value:
    """A subquery of one row: of more, DuckDB fails and SQLite takes the first."""
    plan = plan_of(expr)
    if plan is None or not is_one_row(plan):
        raise NotAgreed(expr, "takes the first of several rows, which are an error")
    node, type_ = writer.tree.one_value(writer.tree.of(plan, writer.forms), expr)
    return exp.Subquery(plan=node), type_


ENTRIES: Final[Mapping[type, Callable[[Writer, Any], Value]]] = {
    **dict.fromkeys(USES, _comparison),
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.And: _connector,
    exp.Or: _connector,
    exp.Not: _not,
    exp.Paren: _paren,
    exp.Case: _case,
    exp.Coalesce: _coalesce,
    exp.Nullif: _nullif,
    exp.Like: _like,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Mod: _mod,
    exp.Exists: _exists,
    exp.Subquery: _scalar,
}

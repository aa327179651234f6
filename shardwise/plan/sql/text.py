"""A finished query as text, in the dialect that it is in."""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.sql.null_safe_mysql import with_null_safe
from shardwise.plan.sql.own_mysql import mysql_text
from shardwise.plan.sql.own_postgres import postgres_text
from shardwise.plan.sql.sqlite import KEYWORDS
from shardwise.plan.tree import bare


def text_of(query: exp.Expr, dialect: str) -> str:
    """The query's SQL."""
    if dialect == "mysql":
        return mysql_text(with_null_safe(query))
    if dialect == "postgres":
        return postgres_text(query)
    return (_as_sqlite_writes_it(query) if dialect == "sqlite" else query).sql(dialect=dialect)


def _as_sqlite_writes_it(query: exp.Expr) -> exp.Expr:
    """A tree of SQLite's own SQL, with names that are words of it quoted.

    Of `x IS (EXISTS (…))` a truth value may be known by now; `x IS TRUE` would ask whether x is not zero.
    """
    query = query.copy()
    for node in query.find_all(exp.Identifier, exp.NullSafeEQ, exp.NullSafeNEQ):
        if isinstance(node, exp.Identifier):
            if node.name.lower() in KEYWORDS:
                node.set("quoted", True)
        elif isinstance(truth := bare(node.expression), exp.Boolean):
            node.set("expression", exp.Literal.number(int(truth.this)))
    return query


def as_sqlite_reads_it(query: exp.Query) -> exp.Query:
    """The same query: set operations ordered by position, and one group of all rows that nothing is asked of.

    A name in ORDER BY is looked for in the arms' own tables by SQLite, and may be two of them.
    """
    for select in query.find_all(exp.Select):
        group = select.args.get("group")
        if group is not None and all(
            isinstance(k, exp.Tuple) and not k.expressions for k in group.expressions
        ):
            select.set("group", None)
            _made_aggregate(select.expressions[0])
    for operation in query.find_all(exp.SetOperation):
        order, first = operation.args.get("order"), operation.this
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        names = [item.alias_or_name.lower() for item in first.expressions]
        for key in order.expressions if order is not None else ():
            if isinstance(key.this, exp.Column) and names.count(key.this.name.lower()) == 1:
                key.set("this", exp.Literal.number(names.index(key.this.name.lower()) + 1))
    return query


def with_bare_arms(query: exp.Query) -> exp.Query:
    """The same query, edited in place: an arm of a set operation that stands in parentheses, which SQLite
    does not take, is selected from."""
    for operation in list(query.find_all(exp.SetOperation)):
        for side in ("this", "expression"):
            arm = operation.args[side]
            if isinstance(arm, exp.Subquery):
                operation.set(side, exp.Select(expressions=[exp.Star()], from_=exp.From(this=arm)))
    return query


def _made_aggregate(item: exp.Expr) -> None:
    """`1 AS one` with a count in it, so that there is one row of it, whatever there is to count."""
    inner = item.this if isinstance(item, exp.Alias) else item
    some = exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    case = exp.Case(ifs=[exp.If(this=some, true=inner.copy())])
    inner.replace(case)

"""A finished query as text, in the dialect that it is in."""

from __future__ import annotations

from sqlglot import exp

from shardwise.plan.sql.sqlite import KEYWORDS


def text_of(query: exp.Expr, dialect: str) -> str:
    """The query's SQL. Of a tree of SQLite's own SQL a name that is a word of it is quoted."""
    if dialect == "sqlite":
        query = query.copy()
        for name in query.find_all(exp.Identifier):
            if name.name.lower() in KEYWORDS:
                name.set("quoted", True)
    return query.sql(dialect=dialect)


def ordered_by_position(query: exp.Query) -> exp.Query:
    """The same query, its set operations ordered by their columns' positions.

    A name there is looked for in the arms' own tables by SQLite, and may be two of them.
    """
    for operation in query.find_all(exp.SetOperation):
        order, first = operation.args.get("order"), operation.this
        while isinstance(first, exp.SetOperation | exp.Subquery):
            first = first.this
        names = [item.alias_or_name.lower() for item in first.expressions]
        for key in order.expressions if order is not None else ():
            if isinstance(key.this, exp.Column) and names.count(key.this.name.lower()) == 1:
                key.set("this", exp.Literal.number(names.index(key.this.name.lower()) + 1))
    return query

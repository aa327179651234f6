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

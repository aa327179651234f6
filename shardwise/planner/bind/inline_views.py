"""Views of a statement that is kept whole: each becomes a subquery of its text.

    SELECT count(*) FROM sample_of_t            view: SELECT * FROM t USING SAMPLE 10%
    => SELECT count(*) FROM (SELECT * FROM main.t USING SAMPLE 10%) AS sample_of_t

A view's names are its own. So its tables are written with their schema, and no WITH item of the statement
around it is taken for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp

from shardwise.catalog.model import MAIN, View
from shardwise.errors import ProgrammingError
from shardwise.planner.bind.sources import LOCAL_SCHEMA, bind_from
from shardwise.planner.bind.unmodelled import Unmodelled

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder

_KEPT = ("sample", "pivots", "joins", "laterals")
References = Callable[[exp.Expr], list[exp.Table]]


def inline_views(
    binder: Binder, sql: exp.Expr, references: References, open_views: tuple[View, ...] = ()
) -> exp.Expr:
    """The statement without views that the nodes do not model, changed in place.

    `references` finds the tables that are no WITH item. Other views become plans, as tables do.
    """
    holder = exp.Tuple(expressions=[sql])  # a statement may itself be the table that is replaced
    for table in references(sql):
        view = _view_of(binder, table)
        if view is None or _is_modelled(binder, table):
            if open_views:
                _qualify(binder, table)
            continue
        if view in open_views:
            raise ProgrammingError(
                f'the view "{view.name}" reads itself', hint="Its definition names it, or a view that does"
            )
        with binder.inside(view):
            query = sqlglot.parse_one(view.sql, read="duckdb")
            query = inline_views(binder, query, references, (*open_views, view))
        table.replace(_subquery(table, view, query))
    found: exp.Expr = holder.expressions[0]
    return found


def _view_of(binder: Binder, table: exp.Table) -> View | None:
    if table.catalog:
        return None
    found = _local(binder, table) or binder.table(table.name, table.db or None)
    return found if isinstance(found, View) else None


def _local(binder: Binder, table: exp.Table) -> object | None:
    found = binder.local(table.name) if not table.db or table.db.lower() == LOCAL_SCHEMA else None
    return found[1] if found is not None else None


def _is_modelled(binder: Binder, table: exp.Table) -> bool:
    alone = exp.Table(this=table.this.copy(), db=table.args.get("db"))
    try:
        bind_from(binder, exp.select("*").from_(alone), None)
    except Unmodelled:
        return False
    return True


def _qualify(binder: Binder, table: exp.Table) -> None:
    if table.db or table.catalog:
        return
    schema = LOCAL_SCHEMA
    if _local(binder, table) is None:
        relation = binder.table(table.name, None)
        schema = (relation.schema if relation is not None else None) or MAIN
    table.set("db", exp.to_identifier(schema, quoted=True))


def _subquery(table: exp.Table, view: View, query: exp.Expr) -> exp.Subquery:
    alias = table.args.get("alias")
    given = list(alias.args.get("columns") or ()) if isinstance(alias, exp.TableAlias) else []
    names = [exp.to_identifier(name, quoted=True) for name in view.columns[len(given) :]]
    found = exp.Subquery(
        this=query,
        alias=exp.TableAlias(
            this=exp.to_identifier(table.alias or view.name, quoted=True), columns=given + names
        ),
    )
    for key in _KEPT:
        if table.args.get(key):
            found.set(key, table.args[key])
    return found

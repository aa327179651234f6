"""A statement that the nodes do not model is kept whole; only its tables become plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from shardwise.errors import NotSupportedError, Reason, Unplannable
from shardwise.plan.nodes import Filter, Keep, Local, Node, Raw
from shardwise.plan.sql.in_sight import items_in_sight
from shardwise.plan.sql.sources import RAW, rel_of
from shardwise.plan.tree import walk
from shardwise.planner.bind.bound import BoundQuery
from shardwise.planner.bind.inline_views import inline_views
from shardwise.planner.bind.raw_filters import Reading, add_filters, mentioned
from shardwise.planner.bind.repeated import written_again
from shardwise.planner.bind.scope import FromItem
from shardwise.planner.bind.sources import HIDDEN, bind_from

if TYPE_CHECKING:
    from shardwise.planner.bind.query import Binder


def bind_whole(binder: Binder, ast: exp.Expr, what: str) -> BoundQuery:
    """A Raw over the tables that `ast` reads, each reference a table of its own, but for those of a key of
    GROUP BY or DISTINCT that is written again.

    The tables' own columns are all there; what the statement does with them is the engine's to say.
    """
    sql = inline_views(binder, ast.copy(), _references)
    _refuse(sql, what)
    if binder.dialect.finds_subqueries:
        _refuse_repeated(sql, what)
    found = _read_alone(binder, sql)
    _refuse_captured(sql, [item.node for _, item, _ in found], what)
    names = mentioned(sql) if binder.dialect.filters_whole else None
    again = written_again(sql) if binder.dialect.finds_subqueries else {}
    tables: list[Node] = []
    for table, item, filters in found:
        if id(table) in again:
            continue
        shown = tuple(o for o in item.node.outputs if o.id.name not in HIDDEN)
        if names is not None:
            shown = tuple(o for o in shown if o.id.name.lower() in names) or shown[:1]
        node = Filter(input=item.node, conjuncts=filters) if filters else item.node
        tables.append(Keep(input=node, columns=shown))
        _stands_for(table, rel_of(item.node), len(tables) - 1)
    for table, _, _ in found:
        if id(table) in again:
            first = again[id(table)]
            _stands_for(table, first.name, first.meta[RAW])
    sql = _with_values(binder, sql)
    rel = binder.names.fresh("raw")
    return BoundQuery(Raw(rel=rel, sql=sql, tables=tuple(tables), columns=(), reason=what), ())


def _stands_for(table: exp.Table, rel: str, number: int) -> None:
    """Has a reference be one to the Raw's table of that number."""
    if not table.alias:
        table.set("alias", exp.TableAlias(this=table.this.copy()))
    table.set("this", exp.to_identifier(rel))
    table.set("db", None)
    table.meta[RAW] = number


def _read_alone(binder: Binder, sql: exp.Expr) -> list[tuple[exp.Table, FromItem, tuple[exp.Expr, ...]]]:
    """Each table that the statement reads, alone, and what the statement says of its rows."""
    readings: dict[int, Reading] = {}
    for table in _references(sql):
        alone = exp.Table(this=table.this.copy(), db=table.args.get("db"))
        item = bind_from(binder, exp.select("*").from_(alone), None)
        readings[id(table)] = Reading(table, item)
    if binder.dialect.filters_whole:
        add_filters(binder, sql, readings)
    return [(r.table, r.item, tuple(r.found)) for r in readings.values()]


def _refuse(ast: exp.Expr, what: str) -> None:
    for column in ast.find_all(exp.Column):
        if column.name.lower() in HIDDEN:
            raise Unplannable(f'"{column.name}" cannot be read in a statement with {what}')
    for select in ast.find_all(exp.Select):
        joins = select.args.get("joins") or ()
        unnested = next((i for i, join in enumerate(joins) if isinstance(join.this, exp.Unnest)), len(joins))
        if any(join.args.get("side") in ("RIGHT", "FULL") for join in joins[unnested + 1 :]):
            # Written out, the comma before unnest would become a JOIN, which binds tighter.
            raise Unplannable(
                "unnest(…) after a comma cannot stand before a RIGHT or FULL join here",
                hint="Put the unnest and what it reads into a subquery of their own",
            )


def _refuse_repeated(sql: exp.Expr, what: str) -> None:
    """Of one subquery that is written twice the text has two, whose tables are not the same ones there.

    SELECT (SELECT max(k) FROM t), count(*) FROM t GROUP BY ROLLUP ((SELECT max(k) FROM t))

    The first would not be the key, and not be NULL in the row of the total.
    """
    for group in sql.find_all(exp.Group):
        block = group.parent
        sets = [part for part in group.walk() if isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets)]
        if block is None or all(part.find(exp.Query) is None for part in sets):
            continue
        others = [
            *block.expressions,
            *(block.args.get(key) for key in ("having", "qualify", "order", "distinct")),
        ]
        if any(part is not None and part.find(exp.Query) is not None for part in others):
            raise NotSupportedError(
                f"a subquery among the keys of grouping sets, and another one, in a statement with {what}",
                hint="Compute it in a subquery in FROM, and group by its name",
            )


def _refuse_captured(sql: exp.Expr, tables: list[Node], what: str) -> None:
    """A local table stands in the text under its own name, which a WITH item there would take."""
    with_items = {cte.alias.lower() for cte in sql.find_all(exp.CTE)}
    for node in (n for table in tables for n in walk(table)):
        if isinstance(node, Local) and node.name.lower() in with_items:
            raise Unplannable(
                f'a WITH item has the name of the local table "{node.name}", in a statement with {what}',
                hint="Give the WITH item another name",
                reason=Reason.NOT_SUPPORTED,
            )


def _references(sql: exp.Expr) -> list[exp.Table]:
    """The tables that are no WITH item in sight (a WITH item hides a table of its name everywhere below)."""
    found = []
    for table in sql.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            continue
        if not table.db and table.name.lower() in items_in_sight(table):
            continue
        found.append(table)
    return found


def _with_values(binder: Binder, sql: exp.Expr) -> exp.Expr:
    def swap(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Placeholder | exp.Parameter):
            return binder.parameters.use(part)
        return binder.value_of(part) or part

    sql = sql.transform(swap)
    for condition in list(sql.find_all(exp.In)):
        expanded = binder.parameters.expand_in(condition)
        if expanded is not condition:
            condition.replace(expanded)
    return sql

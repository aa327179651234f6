"""Views written out where they are read, for dialects whose statements may be kept whole."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from shardwise.catalog.model import Catalog, Table, View
from shardwise.errors import Unplannable

Trees = Callable[[str], list[exp.Expr]]
RelationOf = Callable[[exp.Table, Catalog], Table | View | None]


def expanded(
    tree: exp.Expr, catalog: Catalog, trees: Trees, relation_of: RelationOf, within: tuple[str, ...] = ()
) -> exp.Expr:
    """The tree, edited in place, with each view's query in the place of its name."""
    for table in list(tree.find_all(exp.Table)):
        if not isinstance(table.this, exp.Identifier):
            continue
        view = relation_of(table, catalog)
        if not isinstance(view, View) or is_with_item(table):
            continue
        name = view.full_name.lower()
        if name in within:
            raise Unplannable(f'the view "{view.name}" reads itself')
        (query,) = trees(view.sql)
        query = expanded(query, catalog, trees, relation_of, (*within, name))
        _check_capture(table, query, view.name)
        if view.columns:
            columns = [exp.to_identifier(column, quoted=True) for column in view.columns]
            alias = exp.TableAlias(this=exp.to_identifier(view.name, quoted=True), columns=columns)
            item = exp.CTE(this=query, alias=alias)
            query = exp.select("*").from_(exp.Table(this=exp.to_identifier(view.name, quoted=True)))
            query.set("with_", exp.With(expressions=[item]))
        derived = exp.Subquery(
            this=query, alias=table.args.get("alias") or exp.TableAlias(this=table.this.copy())
        )
        for key in ("joins", "laterals"):
            if table.args.get(key):
                derived.set(key, table.args[key])
        table.replace(derived)
    return tree


def with_items(node: exp.Expr) -> set[str]:
    """The names of all WITH items around a node."""
    names: set[str] = set()
    at: exp.Expr | None = node
    while at is not None:
        with_ = at if isinstance(at, exp.With) else at.args.get("with_")
        if with_ is not None:
            names |= {cte.alias.lower() for cte in with_.expressions}
        at = at.parent
    return names


def is_with_item(table: exp.Table) -> bool:
    """Whether a name in FROM is a WITH item's."""
    return not table.db and table.name.lower() in with_items(table)


def _check_capture(table: exp.Table, query: exp.Expr, name: str) -> None:
    around = with_items(table)
    for inner in query.find_all(exp.Table):
        if inner.name.lower() in around:
            raise Unplannable(
                f'the view "{name}" reads "{inner.name}", which is a WITH item here',
                hint="Give the WITH item another name",
            )

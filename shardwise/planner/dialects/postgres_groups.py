"""Groups by a table's primary key: its other columns are of one value in each, and may be read.

    SELECT id, name FROM t GROUP BY id   =>   SELECT id, name FROM t GROUP BY id, name

PostgreSQL knows that of a table; rows that were shipped to a merge have no key any more.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from shardwise.catalog.model import Catalog, Sharded, ShardedWith, Table
from shardwise.planner.dialects.postgres_model import relation_of

_SETS = ("grouping_sets", "cube", "rollup", "totals", "all")


def with_determined(tree: exp.Expr, catalog: Catalog) -> None:
    """Adds to each GROUP BY, in place, what its keys determine and the SELECT reads."""
    for select in tree.find_all(exp.Select):
        group = select.args.get("group")
        if group is None or any(group.args.get(key) for key in _SETS):
            continue
        tables = list(_tables(select, catalog))
        keys = {_named(key, select, tables) for key in group.expressions}
        for alias, table in tables:
            grouped = {name for of, name in filter(None, keys) if of == alias}
            if not table.primary_key or not {k.lower() for k in table.primary_key} <= grouped:
                continue
            if not _is_key_of_all(table, catalog):
                continue
            for column in _read(select):
                found = _owner(column, tables)
                if found is not None and found[0] == alias and found[1] not in grouped:
                    grouped.add(found[1])
                    group.append("expressions", column.copy())


def _tables(select: exp.Select, catalog: Catalog) -> Iterator[tuple[str, Table]]:
    """Those in FROM, by alias in lower case. Where a join makes a row NULL, all its columns are."""
    from_ = select.args.get("from_")
    items = [from_.this] if from_ is not None else []
    items += [join.this for join in select.args.get("joins") or ()]
    for item in items:
        found = relation_of(item, catalog) if isinstance(item, exp.Table) else None
        if isinstance(found, Table):
            yield item.alias_or_name.lower(), found


def _named(key: exp.Expr, select: exp.Select, tables: list[tuple[str, Table]]) -> tuple[str, str] | None:
    """The table's column that a key of GROUP BY is, also by the position or the name of an item."""
    while isinstance(key, exp.Paren):
        key = key.this
    if isinstance(key, exp.Literal) and not key.is_string and key.this.isdigit():
        at = int(key.this) - 1
        item = select.expressions[at] if 0 <= at < len(select.expressions) else key
        key = item.this if isinstance(item, exp.Alias) else item
    found = _owner(key, tables) if isinstance(key, exp.Column) else None
    if found is None and isinstance(key, exp.Column) and not key.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                return _owner(item.this, tables) if isinstance(item.this, exp.Column) else None
    return found


def _owner(column: exp.Column, tables: list[tuple[str, Table]]) -> tuple[str, str] | None:
    name, of = column.name.lower(), column.table.lower()
    found = [alias for alias, table in tables if (not of or of == alias) and table.column(column.name)]
    return (found[0], name) if len(found) == 1 and not isinstance(column.this, exp.Star) else None


def _read(select: exp.Select) -> Iterator[exp.Column]:
    """The columns of its own that it reads after grouping."""
    after = [*select.expressions, select.args.get("having"), select.args.get("order")]
    for part in after:
        for column in part.find_all(exp.Column) if part is not None else ():
            if column.find_ancestor(exp.Select) is select and column.find_ancestor(exp.AggFunc) is None:
                yield column


def _is_key_of_all(table: Table, catalog: Catalog) -> bool:
    """Whether no two shards may have a row of the same key: one server could not, either."""
    placement = table.placement
    if isinstance(placement, ShardedWith):
        return table.primary_key in table.unique_across
    if not isinstance(placement, Sharded):
        return True
    key = {k.lower() for k in table.primary_key}
    columns = {c.name.lower() for k in placement.keys for part in k.parts for c in part.find_all(exp.Column)}
    return columns <= key or table.primary_key in table.unique_across

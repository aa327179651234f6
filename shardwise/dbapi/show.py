"""SHOW: what the catalog says, as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from sqlglot import exp

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.items import Item
from shardwise.catalog.model import (
    MAIN,
    Catalog,
    Reference,
    Scattered,
    Sharded,
    ShardedWith,
    Single,
    Table,
    View,
)
from shardwise.catalog.printing import print_catalog, print_expression, print_item
from shardwise.catalog.shardings import members
from shardwise.catalog.sources import SourceFamily
from shardwise.dbapi.results import Row
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, UnknownName
from shardwise.executor import duck
from shardwise.executor.locals import StoredTable
from shardwise.options import Options
from shardwise.plan.nodes import Node, Scan
from shardwise.plan.run import Plan
from shardwise.planner.scopes.slots import visible_shards
from shardwise.session.indexes import listed

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

Columns = Sequence[tuple[str, str]]
Parameters = Sequence[Any] | Mapping[str, Any]
TableName = tuple[str | None, str]
"""Schema, if one was written, and name."""

_TEXT: Final = "VARCHAR"
DESCRIBED: Final = tuple(
    (name, _TEXT) for name in ("column_name", "column_type", "null", "key", "default", "extra")
)
"""The columns of DuckDB's DESCRIBE."""
_PASSWORD = re.compile(r"(://[^/:@]*):[^/@]*@")


def placement_text(table: Table, dialect: str) -> str:
    """How a table's rows are placed, in the words of the catalog's language."""
    match table.placement:
        case Sharded(sharding=name, keys=keys):
            parts = [", ".join(print_expression(part, dialect) for part in key.parts) for key in keys]
            return f"SHARD BY {name} ({parts[0]})" + "".join(f" ALSO BY ({more})" for more in parts[1:])
        case ShardedWith(parent=parent, column=column, parent_column=parent_column):
            return f"SHARD WITH {parent} ON {column} = {parent}.{parent_column}"
        case Scattered(sharding=name):
            return f"SCATTERED ON {name}"
        case Reference(on=on):
            return f"REFERENCE ON {', '.join(on)}"
        case Single(on=shard):
            return f"ON {shard}"


def _kind(table: Table) -> str:
    match table.placement:
        case Reference():
            return "reference"
        case Single():
            return "single"
        case Scattered():
            return "scattered"
    return "sharded"


def _seen(connection: Connection) -> Container[str] | None:
    """The shards that a pinned connection may know of, for the others tell of tenants; None for all."""
    scope = connection.scope
    return frozenset(visible_shards(scope, connection.cluster.catalog) or ()) if scope.is_pinned else None


def _tables(connection: Connection) -> Iterator[Row]:
    catalog, seen = connection.cluster.catalog, _seen(connection)
    for table in catalog.tables():
        if isinstance(table, View):
            yield table.full_name, "view", None, None, None
        elif seen is not None:
            names_shards = isinstance(table.placement, Reference | Single)
            placement = None if names_shards else placement_text(table, catalog.dialect)
            homes = _homes(catalog, table)
            shards = None if homes is None else sum(shard in seen for shard in homes)
            yield table.full_name, _kind(table), placement, shards, None
        else:
            known = catalog.statistics_of(table)
            count = None if known is None else known.rows
            homes = _homes(catalog, table)
            shards = None if homes is None else len(homes)
            yield table.full_name, _kind(table), placement_text(table, catalog.dialect), shards, count
    for name, relation in connection.locals.items():
        if isinstance(relation, View):
            yield name, "local view", None, None, None
        else:
            yield name, "local", "in this connection", None, _row_count(relation)


def _row_count(relation: Any) -> int:
    return int(relation.rows if isinstance(relation, StoredTable) else len(relation))


def _views(connection: Connection) -> Iterator[Row]:
    for view in connection.cluster.catalog.tables():
        if isinstance(view, View):
            sql = None if connection.scope.is_pinned else view.sql  # it may name values of others' keys
            yield view.full_name, "view", ", ".join(view.columns) or None, sql
    for name, view in connection.locals.items():
        if isinstance(view, View):
            yield name, "local view", ", ".join(view.columns) or None, view.sql


def _schemas(connection: Connection) -> Iterator[Row]:
    catalog = connection.cluster.catalog
    current = (connection.options.schema or MAIN).casefold()
    relations = list(catalog.tables())
    for name in catalog.schemas():
        here = [r for r in relations if (r.schema or MAIN).casefold() == name.casefold()]
        views = sum(isinstance(r, View) for r in here)
        yield name, name.casefold() == current, len(here) - views, views


def _homes(catalog: Catalog, table: Table) -> tuple[str, ...] | None:
    """The shards of a table; None where only a listing would tell."""
    return None if catalog.open_sharding(table) else catalog.homes(table)


def _sources(connection: Connection) -> Iterator[Row]:
    catalog, seen = connection.cluster.catalog, _seen(connection)
    for source in catalog.sources():
        used_by = catalog.shard_on(source.name)
        if seen is None or (used_by.name if used_by else source.name) in seen:
            url = _PASSWORD.sub(r"\1:…@", source.url) if source.url else None
            yield source.name, url, source.sql_dialect, source.read_only, source.zone
    if seen is None:  # of an open family, what its members have in common
        for family in catalog.items:
            if isinstance(family, SourceFamily) and family.members is None:
                each = family.pattern
                url = _PASSWORD.sub(r"\1:…@", each.url) if each.url else None
                yield each.name, url, each.sql_dialect, each.read_only, each.zone


def _shards(connection: Connection) -> Iterator[Row]:
    catalog, seen = connection.cluster.catalog, _seen(connection)
    shardings = catalog.shardings()
    for shard in catalog.shards():
        if seen is None or shard.name in seen:
            owns = [s.name for s in shardings if not s.is_open and s.slots_of(shard.name)]
            yield shard.name, shard.source, ", ".join(shard.replicas), ", ".join(owns)
    for row in _members(connection):
        if seen is None or row[0] in seen:
            yield row


def _members(connection: Connection) -> Iterator[Row]:
    """The members of open families, listed now."""
    cluster = connection.cluster
    owns: dict[str, list[str]] = {}
    for sharding in cluster.catalog.shardings():
        if sharding.shards_are_sources:
            for member in cluster.members(sharding.name):
                owns.setdefault(sharding.shard_of_member(member), []).append(sharding.name)
    for shard, names in owns.items():
        yield shard, shard, "", ", ".join(names)


def _shardings(connection: Connection) -> Iterator[Row]:
    catalog, seen = connection.cluster.catalog, _seen(connection)
    tables = [t for t in catalog.tables() if isinstance(t, Table)]
    for sharding in catalog.shardings():
        users = ", ".join(
            t.full_name for t in tables if getattr(t.placement, "sharding", None) == sharding.name
        )
        if seen is not None:  # LIST's values are tenants
            yield sharding.name, None, None, None, users
            continue
        shards = None if sharding.is_open else len(sharding.shards())
        size = None if sharding.is_open else sharding.function.size
        yield sharding.name, _definition(catalog, sharding), size, shards, users


def _definition(catalog: Catalog, item: Item) -> str:
    """What follows USING in the catalog's text."""
    text = " ".join(print_catalog(catalog.name, catalog.dialect, {}, [item]).split())
    return text.partition(" USING ")[2].rstrip(";")


def _cache(connection: Connection) -> Iterator[Row]:
    yield from connection.cluster.plan_cache.figures()._asdict().items()


def _statistics(connection: Connection) -> Iterator[Row]:
    check_may_see_statistics(connection)
    catalog = connection.cluster.catalog
    for table in catalog.tables():
        known = catalog.statistics_of(table) if isinstance(table, Table) else None
        if known is not None:
            yield table.full_name, known.rows, known.source, known.read_at, len(known.columns)


def check_may_see_statistics(connection: Connection) -> None:
    """They tell of all rows, and hold some of their values."""
    if connection.scope.is_pinned:
        raise NotSupportedError(
            "statistics are not shown on a pinned connection: they tell of rows out of its scope",
            hint="Ask on a connection that is not pinned",
            reason=Reason.SCOPE,
        )


STATISTICS: Final = (
    ("column", _TEXT),
    ("distinct", "BIGINT"),
    ("nulls", "DOUBLE"),
    ("width", "DOUBLE"),
    ("bounds", _TEXT),
    ("common", _TEXT),
)


def statistics_of(connection: Connection, full_name: TableName) -> Iterator[Row]:
    """SHOW STATISTICS FOR a table: a row for each column that something is known of."""
    check_may_see_statistics(connection)
    _, relation = found(connection, full_name)
    known = connection.cluster.catalog.statistics_of(relation) if isinstance(relation, Table) else None
    for name, each in known.columns.items() if known is not None else ():
        common = ", ".join(f"{value} {share:.2%}" for value, share in each.common)
        distinct = None if each.distinct is None else round(each.distinct)
        yield name, distinct, each.nulls, each.width, ", ".join(each.bounds) or None, common or None


def _cached_statements(connection: Connection) -> Iterator[Row]:
    if connection.scope.is_pinned:
        return  # they are those of all connections, and their texts name values of others' keys
    yield from connection.cluster.plan_cache.statements()


def _indexes(connection: Connection) -> Iterator[Row]:
    if _seen(connection) is not None:
        return  # rows and states are of all tenants
    for each in listed(connection.cluster):
        yield tuple(each)


LISTS: Final[Mapping[str, tuple[Columns, Callable[[Connection], Iterator[Row]]]]] = {
    "tables": (
        (("name", _TEXT), ("kind", _TEXT), ("placement", _TEXT), ("shards", "BIGINT"), ("rows", "BIGINT")),
        _tables,
    ),
    "views": ((("name", _TEXT), ("kind", _TEXT), ("columns", _TEXT), ("sql", _TEXT)), _views),
    "schemas": (
        (("schema", _TEXT), ("is_current", "BOOLEAN"), ("tables", "BIGINT"), ("views", "BIGINT")),
        _schemas,
    ),
    "sources": (
        (("source", _TEXT), ("url", _TEXT), ("dialect", _TEXT), ("read_only", "BOOLEAN"), ("zone", _TEXT)),
        _sources,
    ),
    "shards": ((("shard", _TEXT), ("source", _TEXT), ("replicas", _TEXT), ("shardings", _TEXT)), _shards),
    "shardings": (
        (("sharding", _TEXT), ("using", _TEXT), ("slots", "BIGINT"), ("shards", "BIGINT"), ("tables", _TEXT)),
        _shardings,
    ),
    "statistics": (
        (
            ("table", _TEXT),
            ("rows", "BIGINT"),
            ("source", _TEXT),
            ("read_at", _TEXT),
            ("columns", "BIGINT"),
        ),
        _statistics,
    ),
    "indexes": (
        (
            *((name, _TEXT) for name in ("index", "kind", "on", "state")),
            ("rows", "BIGINT"),
            *((name, _TEXT) for name in ("built_at", "note")),
        ),
        _indexes,
    ),
    "cache": ((("figure", _TEXT), ("value", "BIGINT")), _cache),
    "cache statements": (
        (
            ("statement", _TEXT),
            *((name, "BIGINT") for name in ("plan_hits", "planned", "plans", "bytes")),
        ),
        _cached_statements,
    ),
}


def columns_of(table: Table) -> tuple[Columns, Iterator[Row]]:
    """SHOW COLUMNS FROM a table."""
    if table.columns is None:
        raise ProgrammingError(
            f'the columns of "{table.full_name}" are not known',
            reason=Reason.CATALOG,
            hint="Run `shardwise catalog import`, or list them in the catalog",
        )
    keys = {name.casefold() for name in table.primary_key}
    rows = [
        (
            c.name,
            c.type,
            "NO" if not c.nullable or c.name.casefold() in keys else "YES",
            _key_of(table, c.name),
            c.default,
            None,
        )
        for c in table.columns
    ]
    return DESCRIBED, iter(rows)


CREATED: Final = (("name", _TEXT), ("sql", _TEXT))


def created(connection: Connection, full_name: TableName) -> Iterator[Row]:
    """SHOW CREATE TABLE: the catalog's text of a table or view."""
    name, relation = found(connection, full_name)
    catalog = connection.cluster.catalog
    if isinstance(relation, Table | View) and name not in connection.locals:
        if connection.scope.is_pinned:
            raise NotSupportedError(
                "the catalog's text is not shown on a pinned connection: it names shards",
                hint=f"DESCRIBE {name} shows its columns",
                reason=Reason.SCOPE,
            )
        yield name, print_item(relation, catalog.dialect)
    elif isinstance(relation, View):
        columns = f" ({', '.join(map(duck.identifier, relation.columns))})" if relation.columns else ""
        yield name, f"CREATE TEMP VIEW {duck.identifier(name)}{columns} AS {relation.sql};"
    else:
        raise ProgrammingError(
            f'"{name}" is a local table: no text says how it was made',
            hint=f"DESCRIBE {name} shows its columns",
        )


def found(connection: Connection, full_name: TableName) -> tuple[str, Any]:
    """What a name stands for on the connection: its full name, and a Table, a View or local data."""
    schema, name = full_name
    local = connection.local_tables.find(name) if schema is None or schema.lower() == "temp" else None
    if local is not None:
        return local
    catalog = connection.cluster.catalog
    if schema is not None:
        relation = catalog.table(name, None if schema.lower() == MAIN else schema)
    else:
        relation = catalog.table(name, connection.options.schema) or catalog.table(name)
    if relation is None:
        known = [t.full_name for t in catalog.tables()] + list(connection.locals)
        written = f"{schema}.{name}" if schema else name
        raise UnknownName(
            f'there is no table "{written}"',
            reason=Reason.UNKNOWN_TABLE,
            sqlstate="42P01",
            hint=did_you_mean(written, known) or "SHOW TABLES lists them",
        )
    return relation.full_name, relation


def _key_of(table: Table, column: str) -> str | None:
    if column.casefold() in (name.casefold() for name in table.primary_key):
        return "PRI"
    if any(column.casefold() in (name.casefold() for name in key) for key in table.unique):
        return "UNI"
    return None


def route_of(
    connection: Connection, full_name: TableName, values: Sequence[str], params: Parameters
) -> tuple[Columns, Iterator[Row]]:
    """SHOW ROUTE FOR: asks the planner where the rows are, so that this is what a query would do."""
    cluster = connection.cluster
    catalog = cluster.catalog
    shown, table = found(connection, full_name)
    if not isinstance(table, Table):
        raise ProgrammingError(
            f'"{shown}" is no table of the catalog', hint="EXPLAIN (ROUTE) shows where a query goes"
        )
    key = table.placement.keys[0] if isinstance(table.placement, Sharded) else None
    if key is None:
        raise ProgrammingError(
            f'"{table.full_name}" has no shard key of its own: {placement_text(table, catalog.dialect)}',
            hint="EXPLAIN (ROUTE) shows where a query goes",
        )
    parts = [_in_dialect(part, table, catalog.dialect) for part in key.parts]
    if not 1 <= len(values) <= len(parts):
        wanted = ", ".join(part.sql(dialect=catalog.dialect) for part in key.parts)
        raise ProgrammingError(
            f'the shard key of "{table.full_name}" is ({wanted}): {len(values)} values were given',
            reason=Reason.PARAMETERS,
        )
    tests = [
        f"{part} IS NULL" if value.upper() == "NULL" else f"{part} = {value}"
        for part, value in zip(parts, values, strict=False)
    ]
    name = exp.table_(table.name, db=table.schema, quoted=True).sql(dialect=catalog.dialect)
    plan = connection.plan(f"SELECT 1 FROM {name} WHERE {' AND '.join(tests)}", params, Options())
    columns = (("slot", "BIGINT"), ("shard", _TEXT), ("source", _TEXT), ("table", _TEXT))
    if catalog.open_sharding(table) is not None:
        return columns, _places_of_members(catalog, table, plan)
    return columns, _places(catalog, table, plan.root)


def _in_dialect(part: exp.Expr, table: Table, dialect: str) -> str:
    """A key's part with its columns' names in quotes, as the table has them."""
    names = {column.name.lower(): column.name for column in table.columns or ()}

    def own(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        return exp.column(exp.to_identifier(names.get(node.name.lower(), node.name), quoted=True))

    return part.transform(own).sql(dialect=dialect)


def _places_of_members(catalog: Catalog, table: Table, plan: Plan) -> Iterator[Row]:
    """Where the rows of a member are; its slots have no numbers."""
    for fragment in plan.fragments:
        for shard in fragment.route.shards:
            expected = [each.table.replace('"', "") for each in fragment.expects(shard)]
            for physical in expected or catalog.partitions(table, shard):
                yield None, shard, catalog.source_of(shard), physical


def _places(catalog: Catalog, table: Table, root: Node) -> Iterator[Row]:
    assert isinstance(table.placement, Sharded)
    sharding = catalog.sharding(table.placement.sharding)
    for scan in _scans(root):
        slots = range(sharding.function.size) if scan.slots is None else members(scan.slots)
        for slot in slots:
            shard = sharding.shard_of(slot)
            if shard not in scan.route.shards:
                continue
            for physical in catalog.partitions(table, shard, 1 << slot):
                yield slot, shard, catalog.source_of(shard), physical


def _scans(node: Node) -> Iterator[Scan]:
    if isinstance(node, Scan):
        yield node
    for below in node.inputs:
        yield from _scans(below)

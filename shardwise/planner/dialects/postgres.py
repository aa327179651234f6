"""The postgres dialect: the meaning is PostgreSQL's own, on the shards and in the merge."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from sqlglot import exp

from shardwise.catalog.model import Catalog, Column, Table, View
from shardwise.catalog.postgres_collations import is_own_collation
from shardwise.catalog.types import Family, read_type
from shardwise.errors import NotSupportedError, ProgrammingError, Reason, Unplannable
from shardwise.plan.sql.reader import Reader
from shardwise.planner.context import Context
from shardwise.planner.dialects.base import Dialect, Moment
from shardwise.planner.dialects.blocks import sources
from shardwise.planner.dialects.postgres_aggregates import combine, wide
from shardwise.planner.dialects.postgres_constants import PostgresConstants, literal_of
from shardwise.planner.dialects.postgres_groups import with_determined
from shardwise.planner.dialects.postgres_model import is_plain, is_unknown, relation_of, unmodelled
from shardwise.planner.dialects.postgres_names import column_name
from shardwise.planner.dialects.postgres_reading import trees
from shardwise.planner.dialects.postgres_types import using_reads
from shardwise.planner.dialects.postgres_words import (
    AGGREGATES,
    CLOCKS,
    SCALARS,
    SESSION,
    SETS,
    SYNTAX,
    VOLATILE,
    WINDOWS,
)
from shardwise.planner.dialects.views import expanded
from shardwise.planner.early_values import POSTGRES_VALUES
from shardwise.planner.positions import position_of
from shardwise.planner.sort_keys import POSTGRES_SORT_KEYS

_CALLABLE: Final = (
    SCALARS | AGGREGATES | WINDOWS | SETS | VOLATILE | CLOCKS | SYNTAX | {"statement_timestamp"}
)
_SYSTEM_COLUMNS: Final = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})
_SESSION_WORDS: Final[dict[type[exp.Expr], str]] = {
    exp.CurrentUser: "current_user",
    exp.SessionUser: "session_user",
    exp.CurrentSchema: "current_schema",
    exp.CurrentCatalog: "current_catalog",
    exp.CurrentDatabase: "current_database",
}
_UNEQUAL: Final = frozenset({"CHAR", "CHARACTER", "BPCHAR", "CITEXT", "MONEY"})
"""Types of which two values are equal that are not the same, or that are ordered by the session."""


def check(statement: exp.Expr) -> None:
    """Refuses functions that reach out of the data or mean nothing over shards."""
    for node in statement.walk():
        if isinstance(node, exp.Anonymous):
            _check_call(node)
        elif type(node) in _SESSION_WORDS:
            raise _of_session(_SESSION_WORDS[type(node)], node)
        elif isinstance(node, exp.Column) and not node.table and not node.this.args.get("quoted"):
            if node.name in ("user", "current_role"):
                raise _of_session(node.name, node)
        elif isinstance(node, exp.ObjectIdentifier) and node.name.lower().startswith("reg"):
            raise NotSupportedError(
                f"the type {node.name.lower()} is not available here: it reads a server's own catalog",
                reason=Reason.FORBIDDEN,
                position=position_of(node),
            )
        elif isinstance(node, exp.Select) and (node.args.get("locks") or node.args.get("into")):
            what = "INTO" if node.args.get("into") else "FOR UPDATE and FOR SHARE"
            raise NotSupportedError(f"{what} is not supported: only reading is", reason=Reason.NOT_SUPPORTED)
        elif isinstance(node, exp.TableSample):
            raise NotSupportedError(
                "TABLESAMPLE is not supported: each shard would draw its own sample",
                hint="Filter by random() in a subquery, or by a hash of the key",
            )


def _check_call(call: exp.Anonymous) -> None:
    name = call.name.lower()
    schema = call.parent.this if isinstance(call.parent, exp.Dot) and call.parent.expression is call else None
    if name in SESSION:
        raise _of_session(name, call)
    if schema is not None and schema.name.lower() != "pg_catalog":
        raise _forbidden(f"{schema.name}.{name}", call)
    if name not in _CALLABLE or (isinstance(call.this, str) and call.this != name):
        raise _forbidden(call.name, call)


def _of_session(name: str, node: exp.Expr) -> NotSupportedError:
    return NotSupportedError(
        f"{name} is not available here: it tells of one server's session, of which there are several",
        reason=Reason.FORBIDDEN,
        hint="Give the value as a parameter",
        position=position_of(node),
    )


def _forbidden(name: str, node: exp.Expr) -> NotSupportedError:
    return NotSupportedError(
        f'the function "{name}" is not available here: only functions of PostgreSQL\'s own are that compute '
        "with the statement's data",
        reason=Reason.FORBIDDEN,
        hint="A function of the database's may read tables, of which each server has a part",
        position=position_of(node),
    )


# ------------------------------------------------------------------ the statement's moment


def fixed(ast: exp.Expr, moment: Moment, catalog: Catalog) -> exp.Expr:
    """A copy with the statement's moment written out, so that all shards and the merge have the same, with
    views in the place of their names, and with the names and types that columns of subqueries have."""
    tree = expanded(ast.copy(), catalog, trees, relation_of)
    _check_system_columns(tree, catalog)
    _check_rows(tree, catalog)
    _check_cases(tree, catalog)
    with_determined(tree, catalog)
    _name_columns(tree)
    for node in list(tree.walk()):
        value = _moment_of(node, moment)
        if value is None:
            continue
        if node is tree:
            return value
        node.replace(value)
    return tree


def _name_columns(tree: exp.Expr) -> None:
    outermost = {id(select) for select in _outermost(tree)}
    for select in tree.find_all(exp.Select):
        if id(select) in outermost:
            continue
        is_arm = _is_arm(select)
        items: list[exp.Expr] = []
        for item in select.expressions:
            if isinstance(item, exp.Star | exp.Column):
                items.append(item)
                continue
            name = column_name(item)
            inner = item.this if isinstance(item, exp.Alias) else item
            if not is_arm and is_unknown(inner) and not isinstance(inner, exp.Parameter | exp.Placeholder):
                inner = exp.cast(inner.copy(), "TEXT", dialect="postgres")
            alias = (
                item.args["alias"].copy()
                if isinstance(item, exp.Alias)
                else exp.to_identifier(name, quoted=True)
            )
            items.append(exp.Alias(this=inner, alias=alias))
        select.set("expressions", items)


def _is_arm(select: exp.Select) -> bool:
    """Of a set operation, in parentheses or not: a text in quotes takes its type from the other arms."""
    around = select.parent
    while isinstance(around, exp.Subquery) and not around.alias:
        around = around.parent
    return isinstance(around, exp.SetOperation)


def _outermost(tree: exp.Expr) -> list[exp.Expr]:
    if isinstance(tree, exp.SetOperation):
        return [*_outermost(tree.this), *_outermost(tree.expression)]
    if isinstance(tree, exp.Subquery):
        return _outermost(tree.this)
    return [tree]


def _moment_of(node: exp.Expr, moment: Moment) -> exp.Expr | None:
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if not (name in CLOCKS or name == "statement_timestamp" or isinstance(node, _CLOCKS)):
        return None
    zone = moment.time_zone if isinstance(moment, Context) else "UTC"
    local: datetime = moment.now.astimezone(ZoneInfo(zone))
    if isinstance(node, exp.CurrentDate):
        return _cast(local.date().isoformat(), "DATE")
    if isinstance(node, exp.Localtimestamp):
        return _cast(local.replace(tzinfo=None).isoformat(sep=" "), "TIMESTAMP")
    if isinstance(node, exp.Localtime):
        return _cast(local.time().isoformat(), "TIME")
    if isinstance(node, exp.CurrentTime):
        return _cast(local.timetz().isoformat(), "TIMETZ")
    return _cast(local.isoformat(sep=" "), "TIMESTAMPTZ")


_CLOCKS: Final = (exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtimestamp, exp.Localtime)


def _cast(text: str, to: str) -> exp.Expr:
    return exp.cast(exp.Literal.string(text), to, dialect="postgres")


def _check_system_columns(tree: exp.Expr, catalog: Catalog) -> None:
    for name in tree.find_all(exp.Column):
        if name.name.lower() in _SYSTEM_COLUMNS and not _is_declared(name, tree, catalog):
            raise Unplannable(
                f"{name.name} has no meaning over shards: each server numbers its own rows",
                hint="Use the table's key",
                position=position_of(name),
            )


def _check_rows(tree: exp.Expr, catalog: Catalog) -> None:
    """`SELECT t FROM t` is of a type that the table's own database has; what is read here has none."""
    for select in _outermost(tree):
        if not isinstance(select, exp.Select):
            continue
        tables = {s.alias_or_name: s for s in sources(select)}
        for item in select.expressions:
            name = item.unalias()
            if not isinstance(name, exp.Column) or name.table or name.name not in tables:
                continue
            if not _is_in_reach(name, select, tree, catalog) and isinstance(tables[name.name], exp.Table):
                raise NotSupportedError(
                    f"a row of {name.name} as a value has a type of that table's database",
                    hint=f"Select its columns, or row_to_json({name.name})",
                    position=position_of(name),
                )


def _check_cases(tree: exp.Expr, catalog: Catalog) -> None:
    """`"Name"` is not the column `name`, though nothing else in sight is called so but an outer query's."""
    for name in tree.find_all(exp.Column):
        if name.table or name.name == name.name.lower():
            continue
        select = name.find_ancestor(exp.Select)
        while select is not None:
            if _is_misspelled(name.name, select, catalog):
                raise Unplannable(
                    f'"{name.name}" differs from a column of that block in letter case alone',
                    hint="Write the table that it is of before it",
                    position=position_of(name),
                )
            select = select.find_ancestor(exp.Select)


def _is_misspelled(name: str, select: exp.Select, catalog: Catalog) -> bool:
    if name in {item.alias for item in select.expressions if isinstance(item, exp.Alias)}:
        return False
    found = [relation_of(s, catalog) for s in sources(select) if isinstance(s, exp.Table)]
    columns = {c.name for table in found if isinstance(table, Table) for c in table.columns or ()}
    return name not in columns and name.lower() in {column.lower() for column in columns}


def _is_in_reach(name: exp.Column, select: exp.Select, tree: exp.Expr, catalog: Catalog) -> bool:
    """Whether it may be a column of what an outermost block reads: of its tables, if that is all."""
    read = list(sources(select))
    if all(isinstance(_table_of(source, catalog), Table) for source in read):
        return any(_has_column(source, name.name.lower(), catalog) for source in read)
    return _is_declared(name, tree, catalog)


def _table_of(source: exp.Expr, catalog: Catalog) -> Table | View | None:
    if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
        return relation_of(source, catalog)
    return None


def _has_column(source: exp.Expr, name: str, catalog: Catalog) -> bool:
    table = _table_of(source, catalog)
    return isinstance(table, Table) and name in {c.name.lower() for c in table.columns or ()}


def _is_declared(name: exp.Column, tree: exp.Expr, catalog: Catalog) -> bool:
    wanted = name.name.lower()
    found = [relation_of(t, catalog) for t in tree.find_all(exp.Table) if isinstance(t.this, exp.Identifier)]
    if any(isinstance(t, Table) and wanted in {c.name.lower() for c in t.columns or ()} for t in found):
        return True
    return any(
        wanted in {i.name.lower() for i in item.find_all(exp.Identifier)}
        for item in (*tree.find_all(exp.Alias), *tree.find_all(exp.TableAlias))
    )


# ------------------------------------------------------------------ columns


def family(type_text: str) -> Family:
    """The family of a type whose equal values are the same to PostgreSQL and to a sharding."""
    found = read_type(type_text, "postgres")
    return Family.OTHER if found is None or found.name in _UNEQUAL else found.family


def collation(column: Column) -> str | None:
    """The column's collation; None where two texts that are equal are the same bytes.

    Under PostgreSQL's own collations they are, whatever the order is; under one that somebody has made they
    need not be. Nor are CHAR's, which ignore blanks at the end.
    """
    if column.collation is not None and not is_own_collation(column.collation):
        return column.collation
    found = read_type(column.type, "postgres")
    return found.name.lower() if found is not None and found.name in _UNEQUAL else None


def readable(query: exp.Query) -> exp.Query:
    """The same query, with constants that PostgreSQL takes as keys in GROUP BY."""
    for group in query.find_all(exp.Group):
        keys = [
            exp.cast(key, "TEXT", dialect="postgres") if _is_no_position(key) else key
            for key in group.expressions
        ]
        group.set("expressions", keys)
    return query


def _is_no_position(key: exp.Expr) -> bool:
    """Whether it is a constant that GROUP BY takes neither for a position nor for a key."""
    return isinstance(key, exp.Null | exp.Boolean) or (isinstance(key, exp.Literal) and key.is_string)


POSTGRES = Dialect(
    name="postgres",
    trees=trees,
    check=check,
    fixed=fixed,
    unmodelled=unmodelled,
    literal_of=literal_of,
    constants=PostgresConstants(),
    combine=combine,
    reader=Reader(qualify=False, has_semi_join=False, joins_full_on_anything=False),
    family=family,
    rows_equal_nulls=False,
    using_reads=using_reads,
    name_of=column_name,
    readable=readable,
    collation=collation,
    carries_collations=True,
    is_alone=True,
    finds_keys_within=False,
    filters_whole=True,
    doubts=(ProgrammingError, Unplannable),
    is_plain=is_plain,
    early=POSTGRES_VALUES,
    sort_keys=POSTGRES_SORT_KEYS,
    wide=wide,
)

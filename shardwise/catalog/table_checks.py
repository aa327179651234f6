"""Checks of tables, views, indexes and sequences."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as Seq

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from shardwise.catalog import keys
from shardwise.catalog.checker import Checker
from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.index_places import own_sharding_name
from shardwise.catalog.key_checks import KeyColumn, check_fit, check_member_key
from shardwise.catalog.places import Sharding
from shardwise.catalog.shardings import KEY_FAMILIES
from shardwise.catalog.tables import (
    Column,
    ColumnName,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Reference,
    Scattered,
    Sequence,
    Sharded,
    ShardedWith,
    ShardKey,
    Single,
    Table,
    View,
)
from shardwise.catalog.templates import Template
from shardwise.catalog.types import DIALECTS, Family, read_type, similar_types, type_family
from shardwise.errors import CatalogError

# ------------------------------------------------------------------ tables


def check_table(checker: Checker, table: Table) -> None:
    """Columns, keys, the place of the rows, and the physical name."""
    if table.is_wildcard and table.created:
        checker.fail('"*" can be attached, not created', at="*")
    if table.created and table.columns is None:
        hint = "List them in ( ), or write ATTACH TABLE if the table exists"
        checker.fail(f'table "{table.full_name}" is to be created without columns', at=table.name, hint=hint)
    if table.is_wildcard and table.columns is not None:
        checker.fail('the tables of "*" have columns of their own: leave the list out', at="*")
    if table.drift not in (None, "FILL", "ERROR"):
        checker.fail(f'DRIFT is FILL or ERROR, not "{table.drift}"', at=table.drift)
    if table.columns is not None:
        _check_columns(checker, table.full_name, table.columns, (*table.unique, *table.unique_across))
    match table.placement:
        case Sharded():
            _check_sharded(checker, table, table.placement)
        case ShardedWith():
            _check_shard_with(checker, table, table.placement)
        case Scattered(sharding=name):
            checker.need_sharding(name)
        case Reference(on=names):
            _check_reference(checker, names)
        case Single(on=name):
            if checker.catalog.find_sharding(name) is not None and checker.catalog.find_shard(name) is None:
                hint = f"Write REFERENCE ON {name} or SCATTERED ON {name}, or name a shard"
                checker.fail(f'"{name}" is a sharding, and ON names one shard', at=name, hint=hint)
            checker.need_shard(name)
    _check_exact(checker, table)
    _check_named(checker, table)


def _check_exact(checker: Checker, table: Table) -> None:
    """Columns of text, each spelled in one way."""
    known = checker.catalog.table(table.name, table.schema)
    columns = known.columns if isinstance(known, Table) else None
    virtual = table.placement.virtual if isinstance(table.placement, Sharded) else ()
    seen: set[str] = set()
    for name, _ in table.exact:
        if name.casefold() in seen:
            checker.fail(f'column "{name}" of table "{table.full_name}" is EXACT twice', at=name)
        seen.add(name.casefold())
        if any(column.name.casefold() == name.casefold() for column in virtual):
            hint = "Leave it out of EXACT: a VIRTUAL column compares by its bytes"
            checker.fail(f'"{name}" is VIRTUAL and EXACT', at=name, hint=hint)
        if columns is None:
            continue
        found = _need_column(checker, table.full_name, name, columns)
        if _family(found, checker.catalog.dialect) not in (Family.TEXT, Family.OTHER):
            hint = "Leave it out: EXACT is for columns of text, whose collation takes several as equal"
            checker.fail(f'"{name}" is EXACT and of type {found.type}', at=name, hint=hint)


def _check_reference(checker: Checker, names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names):
        checker.fail("a shard is named twice after REFERENCE ON", at=names[0])
    if len(names) == 1 and checker.catalog.find_sharding(names[0]) is not None:
        return
    for name in names:
        if checker.catalog.find_sharding(name) is not None:
            checker.fail(f'REFERENCE ON takes one sharding, or shards: "{name}" is a sharding', at=name)
        checker.need_shard(name)


def _check_columns(
    checker: Checker, table: str, columns: Seq[Column], unique: Iterable[tuple[str, ...]]
) -> None:
    if not columns:
        checker.fail(f'table "{table}" has no columns')
    seen: set[str] = set()
    for column in columns:
        if column.name.casefold() in seen:
            checker.fail(f'column "{column.name}" is twice in table "{table}"', at=column.name)
        seen.add(column.name.casefold())
        _check_type(checker, column)
        _check_stored(checker, column)
        if column.default is not None:
            _check_default(checker, column)
    for key in unique:
        if len({name.casefold() for name in key}) < len(key):
            checker.fail(f'a key of table "{table}" names a column twice', at=key[0])
        for name in key:
            _need_column(checker, table, name, columns)


def _need_column(checker: Checker, table: str, name: str, columns: Iterable[Column]) -> Column:
    names = {each.name.casefold(): each for each in columns}
    found = names.get(name.casefold())
    if found is None:
        hint = did_you_mean(name, [each.name for each in names.values()])
        checker.fail(f'table "{table}" has no column "{name}"', at=name, hint=hint)
    return found


def _check_type(checker: Checker, column: Column) -> None:
    """A type of the catalog's dialect, or of a source's: tables may be declared as their source has them."""
    if not column.type and not _is_sqlite_about(checker):
        checker.fail(f'column "{column.name}" has no type', at=column.name)
    dialect = checker.catalog.dialect
    if any(read_type(column.type, each) for each in (dialect, *DIALECTS)):
        return
    word = column.type.split("(")[0].split()[0]
    close = similar_types(column.type, dialect)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Write a type of the {dialect} dialect"
    checker.fail(f'"{column.type}" is not a type', at=word, hint=hint)


def _check_stored(checker: Checker, column: Column) -> None:
    if column.stored is None:
        return
    families = {type_family(column.type, each) for each in (checker.catalog.dialect, *DIALECTS)}
    if families.isdisjoint(_MOMENTS):
        word = column.stored.split()[0]
        hint = (
            f"{word} is for DATE, TIMESTAMP and TIMESTAMPTZ: it says how a file without such types holds them"
        )
        checker.fail(
            f'column "{column.name}" is {column.type}, and {word} is no way to store it', at=word, hint=hint
        )


_MOMENTS = frozenset((Family.DATE, Family.TIMESTAMP, Family.TIMESTAMPTZ))


def _is_sqlite_about(checker: Checker) -> bool:
    catalog = checker.catalog
    speaks = (getattr(getattr(item, "pattern", item), "sql_dialect", None) for item in catalog.items)
    return catalog.dialect == "sqlite" or "sqlite" in speaks


def _check_default(checker: Checker, column: Column) -> None:
    try:
        found = sqlglot.parse_one(column.default or "", dialect=checker.catalog.dialect)
    except SqlglotError:
        checker.fail(f'the DEFAULT of column "{column.name}" is no expression', at=column.name)
    for call in found.find_all(exp.Anonymous):
        argument = call.expressions[0] if call.expressions else None
        if call.name.lower() != "nextval" or not isinstance(argument, exp.Literal):
            continue
        if checker.catalog.sequence(argument.name) is None:
            hint = f"Declare CREATE SEQUENCE {argument.name}"
            checker.fail(f'there is no sequence "{argument.name}"', at=argument.name, hint=hint)


def _check_sharded(checker: Checker, table: Table, placement: Sharded) -> None:
    sharding = checker.need_sharding(placement.sharding)
    arity = sharding.function.arity
    if not placement.keys or placement.keys[0].by_slot:
        checker.fail("the first key of SHARD BY is a key, not a slot", at=table.name)
    known = checker.catalog.table(table.name, table.schema)
    columns = known.columns if isinstance(known, Table) else None
    for key in placement.keys:
        wanted = 1 if key.by_slot else arity
        if len(key.parts) != wanted:
            columns_text = "1 key column" if wanted == 1 else f"{wanted} key columns"
            message = f'sharding "{sharding.name}" takes {columns_text}, not {len(key.parts)}'
            checker.fail(message, at=placement.sharding)
        found = _check_key(checker, table, key, columns, placement.virtual)
        if sharding.is_open:
            check_member_key(checker, found, at=placement.sharding)
        elif not key.by_slot:
            check_fit(checker, sharding, found, at=placement.sharding)
    if placement.virtual and not sharding.is_open:
        hint = "A column that no table has needs DIRECTORY, whose members are its values"
        checker.fail(f'"{sharding.name}" cannot place rows by a VIRTUAL column', at="VIRTUAL", hint=hint)
    for column in placement.virtual:
        _check_type(checker, column)
        _check_stored(checker, column)
        if table.column(column.name):
            checker.fail(f'"{column.name}" is VIRTUAL and a column of "{table.full_name}"', at=column.name)


def _check_key(
    checker: Checker, table: Table, key: ShardKey, columns: Seq[Column] | None, virtual: Seq[Column]
) -> list[KeyColumn]:
    """What is known of the key's parts."""
    known = []
    for part in key.parts:
        names = [part, *part.find_all(exp.Column)] if not isinstance(part, exp.Column) else [part]
        try:
            keys.check(part)
        except CatalogError as error:
            checker.fail(error.message, at=table.name, hint=error.hint)
        if columns is None:
            known.append(KeyColumn(part.sql(), "", Family.OTHER))
            continue
        families, type_ = {}, None
        for column in names:
            if isinstance(column, exp.Column):
                found = _need_column(checker, table.full_name, column.name, (*columns, *virtual))
                families[found.name.lower()] = _family(found, checker.catalog.dialect)
                type_ = found.type if column is part else None
        family = keys.family_of(part, families, checker.catalog.dialect)
        if family not in KEY_FAMILIES and family is not Family.OTHER:
            hint = "Shard by a number, text, date, timestamp or UUID"
            checker.fail(f"a key of type {family.value} cannot be a shard key", at=names[-1].name, hint=hint)
        name = f"{table.full_name}.{part.name}" if isinstance(part, exp.Column) else part.sql()
        known.append(KeyColumn(name, type_ or family.value.upper(), family))
    return known


def _family(column: Column, dialect: str) -> Family:
    kinds = (read_type(column.type, each) for each in (dialect, *DIALECTS))
    return next((kind.family for kind in kinds if kind), Family.OTHER)


def _check_shard_with(checker: Checker, table: Table, placement: ShardedWith) -> None:
    """The parent is sharded, perhaps with a parent of its own, and no table is its own ancestor."""
    seen = [table.full_name.casefold()]
    parent_name: str = placement.parent
    while True:
        parent = checker.catalog.parent(parent_name)
        if not isinstance(parent, Table):
            hint = did_you_mean(parent_name, _table_names(checker))
            checker.fail(
                f'there is no table "{parent_name}"', at=placement.parent.rpartition(".")[2], hint=hint
            )
        if parent.full_name.casefold() in seen:
            checker.fail(f'table "{table.full_name}" is sharded with itself', at=table.name)
        seen.append(parent.full_name.casefold())
        if not isinstance(parent.placement, ShardedWith):
            break
        parent_name = parent.placement.parent
    if not isinstance(parent.placement, Sharded):
        hint = "SHARD WITH is for children of a table with SHARD BY"
        checker.fail(f'table "{parent.full_name}" is not sharded', at=placement.parent, hint=hint)
    if table.columns is not None:
        _need_column(checker, table.full_name, placement.column, table.columns)
    direct = checker.catalog.parent(placement.parent)
    if isinstance(direct, Table) and direct.columns is not None:
        _need_column(checker, direct.full_name, placement.parent_column, direct.columns)


def _table_names(checker: Checker) -> list[str]:
    return [each.full_name if isinstance(each, Table) else each.name for each in checker.catalog.tables()]


# ------------------------------------------------------------------ physical names


def _check_named(checker: Checker, table: Table) -> None:
    sharding = checker.catalog.sharding_of(table)
    levels = sharding.levels if sharding is not None else ()
    if table.named is None:
        if sharding is not None and sharding.is_open and Template.parse(sharding.on or "").is_constant:
            hint = f"Add NAMED 'tenant_{{{levels[0]}}}.{{table}}'"
            checker.fail(
                f'the members of "{sharding.name}" are on one shard, and NAMED is missing', hint=hint
            )
        return
    template = checker.template(table.named, (*levels, "table", "schema", "shard"), at=table.named)
    if table.is_wildcard and "table" not in template.variables:
        checker.fail("NAMED gives all tables of * one name", at=table.named, hint="Use {table} in it")
    if sharding is not None and sharding.is_open:
        _check_directory_name(checker, table, sharding, template)
    elif sharding is not None:
        _check_filled(checker, table, sharding, template)


def _check_directory_name(checker: Checker, table: Table, sharding: Sharding, template: Template) -> None:
    level = sharding.levels[0]
    if Template.parse(sharding.on or "").is_constant and level not in template.plain_variables:
        hint = f"Write {{{level}}} in it by itself"
        checker.fail(f'NAMED does not tell the members of "{sharding.name}" apart', at=table.named, hint=hint)


def _check_filled(checker: Checker, table: Table, sharding: Sharding, template: Template) -> None:
    """The first and the last slot give a name."""
    for slot in (0, sharding.function.size - 1):
        values = sharding.variables(slot) | {"table": "t", "schema": "s", "shard": "x"}
        try:
            template.render(values)
        except ValueError as error:
            checker.fail(str(error), at=table.named)


def check_physical_names(checker: Checker, table: Table) -> None:
    """Two tables must not be the same physical tables."""
    if table.named is None or "table" in Template.parse(table.named).variables:
        return
    for other in checker.catalog.items[: checker.index]:
        if isinstance(other, Table) and other.named == table.named and _place(other) == _place(table):
            hint = "Use {table} in the template, or name them apart"
            message = f'tables "{other.full_name}" and "{table.full_name}" have one physical name'
            checker.fail(message, at=table.named, hint=hint)


def _place(table: Table) -> object:
    placement = table.placement
    return placement.sharding if isinstance(placement, (Sharded, Scattered)) else placement


# ------------------------------------------------------------------ locks, views, indexes, sequences


def check_lock(checker: Checker, lock: LockedTable) -> None:
    """What was read off a source may be of types we do not know, but must hold together."""
    names = [column.name.casefold() for column in lock.columns]
    if len(set(names)) < len(names):
        checker.fail(f'table "{lock.full_name}" has a column twice', at=lock.name)
    for key in lock.unique:
        for name in key:
            _need_column(checker, lock.full_name, name, lock.columns)


def check_view(checker: Checker, view: View) -> None:
    """One query of the catalog's dialect."""
    try:
        found = sqlglot.parse_one(view.sql, dialect=checker.catalog.dialect)
    except ParseError as error:
        detail = str((error.errors or [{}])[0].get("description", "")).partition(" but got")[0].rstrip(".")
        hint = f"The parser says: {detail}" if detail else None
        checker.fail(
            f'view "{view.name}" is no query of the {checker.catalog.dialect} dialect',
            at=view.name,
            hint=hint,
        )
    except SqlglotError:
        checker.fail(f'view "{view.name}" is no query of the {checker.catalog.dialect} dialect', at=view.name)
    if not isinstance(found, exp.Query | exp.Values):
        checker.fail(f'view "{view.name}" is no query', at=view.name, hint="Write SELECT … after AS")
    if len({name.casefold() for name in view.columns}) < len(view.columns):
        checker.fail(f'view "{view.name}" names a column twice', at=view.name)


def check_lookup(checker: Checker, index: LookupIndex) -> None:
    """On a sharded table, over its columns."""
    table = _need_table(checker, index.table)
    if not isinstance(table.placement, Sharded):
        hint = "A lookup index leads to a shard key, which only tables with SHARD BY have"
        checker.fail(f'table "{index.table}" has no shard key', at=table.name, hint=hint)
    for name in index.columns:
        if table.columns is not None:
            _need_column(checker, index.table, name, table.columns)
    if len({name.casefold() for name in index.columns}) < len(index.columns):
        checker.fail(f'index "{index.name}" names a column twice', at=index.name)
    if index.index_table is None:
        own = own_sharding_name(index)
        if any(sharding.name == own for sharding in checker.catalog.shardings()):
            checker.fail(f'a sharding is called "{own}", as is the one that the index has for itself', at=own)
        return
    kept = _need_table(checker, index.index_table)
    wanted = len(index.columns) + len(table.placement.keys[0].parts)
    if len(index.index_columns) != wanted:
        hint = "First the indexed columns, then the shard key"
        checker.fail(
            f"the index table needs {wanted} columns, not {len(index.index_columns)}",
            at=index.name,
            hint=hint,
        )
    for name in index.index_columns:
        if kept.columns is not None:
            _need_column(checker, index.index_table, name, kept.columns)


def _need_table(checker: Checker, name: str) -> Table:
    found = checker.catalog.parent(name)
    if isinstance(found, Table):
        return found
    plain = name.rpartition(".")[2]
    if found is not None:
        raise checker.error(f'"{name}" is a view, and this takes a table', at=plain)
    raise checker.error(
        f'there is no table "{name}"', at=plain, hint=did_you_mean(name, _table_names(checker))
    )


def check_join(checker: Checker, index: JoinIndex) -> None:
    """Between two tables, over their columns, sharded by a column of one of them."""
    sharding = checker.need_sharding(index.sharding)
    if sharding.function.arity != 1:
        checker.fail(
            f'a join index is sharded by one column, and "{sharding.name}" takes more', at=sharding.name
        )
    sides = [index.left.table.casefold(), index.right.table.casefold()]
    for column in (index.left, index.right, *index.include, index.key):
        _check_join_column(checker, index, column, sides)


def _check_join_column(checker: Checker, index: JoinIndex, column: ColumnName, sides: list[str]) -> None:
    table = _need_table(checker, column.table)
    if column.table.casefold() not in sides:
        message = f'"{column}" is of neither table of join index "{index.name}"'
        checker.fail(message, at=column.column)
    if table.columns is not None:
        _need_column(checker, column.table, column.column, table.columns)


def check_sequence(checker: Checker, sequence: Sequence) -> None:
    """On a shard that exists, with a positive cache."""
    if sequence.cache < 1:
        checker.fail(f'the CACHE of sequence "{sequence.name}" must be at least 1', at=sequence.name)
    if sequence.on is not None:
        checker.need_shard(sequence.on)

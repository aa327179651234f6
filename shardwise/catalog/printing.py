"""The catalog as text, which `language.parse` reads back into an equal catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal

from sqlglot import exp

from shardwise.catalog.items import Item, is_locked
from shardwise.catalog.places import Owners, Sharding
from shardwise.catalog.shardings import (
    Directory,
    Exceptions,
    Grid,
    Interval,
    ListOf,
    Maximum,
    Mod,
    Range,
    Ring,
    ShardingFunction,
    SlotSet,
    Value,
    full,
    members,
)
from shardwise.catalog.sources import Members, Shard, ShardFamily, Source, SourceFamily
from shardwise.catalog.statistics import ColumnStatistics, TableStatistics
from shardwise.catalog.tables import (
    Column,
    ColumnName,
    IndexState,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Placement,
    Reference,
    Scattered,
    Sequence,
    Sharded,
    ShardedWith,
    Single,
    Spelling,
    Table,
    View,
)
from shardwise.errors import NotSupportedError


def print_catalog(name: str, dialect: str, options: Mapping[str, str], items: Iterable[Item]) -> str:
    """All declarations but what the lock file holds, one statement each, a blank line between kinds."""
    lines = [f"CREATE CATALOG {_name(name)} DIALECT {_name(dialect)}{_with(options)};"]
    last: type | None = None
    for item in items:
        if is_locked(item):
            continue
        kind = _GROUPS.get(type(item), type(item))
        lines += [""] if kind is not last else []
        lines.append(_statement(item, dialect) + ";")
        last = kind
    return "\n".join(lines) + "\n"


def print_item(item: Item, dialect: str) -> str:
    """One declaration, as it stands in the catalog's text."""
    return _statement(item, dialect) + ";"


_GROUPS: dict[type, type] = {SourceFamily: Source, ShardFamily: Shard}


def print_lock(items: Iterable[Item]) -> str:
    """The LOCK statements, in their order, then the STATISTICS."""
    ordered = sorted(items, key=lambda item: isinstance(item, TableStatistics))
    return "".join(_statement(each, "") + ";\n" for each in ordered)


def _statement(item: Item, dialect: str) -> str:
    match item:
        case Source():
            return f"CREATE SOURCE {_name(item.name)}{_source(item)}"
        case SourceFamily():
            members_text = _members(item.variable, item.members)
            listing = f" FROM ({item.listing})" if item.listing else ""
            return f"CREATE SOURCE {_name(item.name)} {members_text}{listing}{_source(item.pattern)}"
        case Shard():
            return f"CREATE SHARD {_name(item.name)}{_shard(item)}"
        case ShardFamily():
            members_text = _members(item.variable, item.members)
            return f"CREATE SHARD {_name(item.name)} {members_text}{_shard(item.pattern)}"
        case Sharding():
            return _sharding(item)
        case Table():
            return _table(item, dialect)
        case LockedTable():
            return _lock(item)
        case TableStatistics():
            return _statistics(item)
        case IndexState():
            return _index_state(item)
        case View():
            columns = f" ({_names(item.columns)})" if item.columns else ""
            return f"CREATE VIEW {_table_name(item.schema, item.name)}{columns} AS {item.sql}"
        case LookupIndex():
            return _lookup(item)
        case JoinIndex():
            return _join(item)
        case Sequence():
            start = f" START {item.start}" if item.start != 1 else ""
            on = f" ON {_name(item.on)}" if item.on else ""
            return f"CREATE SEQUENCE {_name(item.name)}{start} CACHE {item.cache}{on}"


# ------------------------------------------------------------------ sources, shards, shardings


def _source(source: Source) -> str:
    parts = []
    if source.url is not None:
        parts.append(f"URL {_text(source.url)}")
    if source.dialect is not None:
        parts.append(f"DIALECT {_name(source.dialect)}")
    if source.password is not None:
        kind, where = ("ENV", source.password.env) if source.password.env else ("FILE", source.password.file)
        parts.append(f"PASSWORD {kind} {_text(where or '')}")
    if source.read_only:
        parts.append("READ ONLY")
    if source.zone is not None:
        parts.append(f"ZONE {_text(source.zone)}")
    return "".join(f" {part}" for part in parts) + _with(source.options)


def _members(variable: str, values: Members | None) -> str:
    if values is None:
        return f"FOR EACH {_name(variable)}"
    items = (_text(each) if isinstance(each, str) else _run(each) for each in values.items)
    return f"FOR {_name(variable)} IN {', '.join(items)}"


def _run(numbers: range) -> str:
    return str(numbers.start) if len(numbers) == 1 else f"{numbers.start}-{numbers[-1]}"


def _shard(shard: Shard) -> str:
    replicas = f" REPLICAS ({_names(shard.replicas)})" if shard.replicas else ""
    return f" ON {_name(shard.source)}{replicas}"


def _sharding(sharding: Sharding) -> str:
    function: ShardingFunction = sharding.function
    keys: tuple[Value, ...] = ()
    if isinstance(function, Exceptions):
        keys, function = function.keys, function.function
    text = f"CREATE SHARDING {_name(sharding.name)} USING "
    if isinstance(function, (Range, ListOf, Ring)):
        owned = {slot: shard for shard, slots in sharding.owners for slot in members(slots)}
        text += _self_mapped(function, owned) + _as(sharding.levels, 0)
    else:
        levels = (function.outer, function.inner) if isinstance(function, Grid) else (function,)
        text += ", ".join(_function(each) + _as(sharding.levels, at) for at, each in enumerate(levels))
        if sharding.on is not None:
            text += f" ON {_name(sharding.on)}"
        if sharding.owners:
            text += f" ({', '.join(_owned(sharding.owners))})"
    return text + _except(sharding.moved, function.size, keys)


def _as(levels: tuple[str, ...], at: int) -> str:
    return "" if levels[at] == "slot" else f" AS {_name(levels[at])}"


def _function(function: ShardingFunction) -> str:
    match function:
        case Mod():
            return f"MOD {function.size}"
        case Interval():
            first = f" FROM '{function.first}'" if function.first != date.min else ""
            last = f" TO '{function.last}'" if function.last != date.max else ""
            return f"INTERVAL {function.unit}{first}{last}"
        case Directory():
            return "DIRECTORY"
    algorithm, options = getattr(function, "algorithm", None), getattr(function, "options", ())
    if not isinstance(algorithm, str):
        raise NotSupportedError(
            f"a sharding by {type(function).__name__} has no text",
            hint="Give the class the attributes algorithm, size and options, and make it an entry point",
        )
    pairs = "".join(f", {_name(name)} = {_text(str(value))}" for name, value in options)
    return f"HASH({_name(algorithm)}{pairs}) SLOTS {function.size}"


def _self_mapped(function: Range | ListOf | Ring, owned: Mapping[int, str]) -> str:
    if isinstance(function, Ring):
        return f"RING({_name(function.algorithm)}) POINTS {function.points} ({_names(function.members)})"
    if isinstance(function, Range):
        bounds = ["MAXVALUE" if isinstance(each, Maximum) else _value(each) for each in function.bounds]
        parts = [f"{_name(owned[slot])} = LESS THAN {bound}" for slot, bound in enumerate(bounds)]
        return f"RANGE ({', '.join(parts)})"
    groups = [", ".join(_value(each) for each in group) for group in function.groups]
    parts = [f"{_name(owned[slot])} = IN ({group})" for slot, group in enumerate(groups)]
    parts += [f"{_name(owned[len(groups)])} = DEFAULT"] if function.default else []
    return f"LIST ({', '.join(parts)})"


def _owned(owners: Owners) -> list[str]:
    return [f"{_name(shard)} = {_slots(slots)}" for shard, slots in owners]


def _slots(slots: SlotSet) -> str:
    runs: list[range] = []
    for slot in members(slots):
        if runs and runs[-1].stop == slot:
            runs[-1] = range(runs[-1].start, slot + 1)
        else:
            runs.append(range(slot, slot + 1))
    texts = [_run(each) for each in runs]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _except(moved: Owners, size: int, keys: tuple[Value, ...]) -> str:
    """The moved slots, then the keys with their own places, in the order of the slots behind `size`."""
    parts = _owned(tuple((shard, slots & full(size)) for shard, slots in moved if slots & full(size)))
    owned = {slot: shard for shard, slots in moved for slot in members(slots >> size)}
    runs: list[tuple[str, list[str]]] = []
    for at, key in enumerate(keys):
        if not runs or runs[-1][0] != owned[at]:
            runs.append((owned[at], []))
        runs[-1][1].append(_value(key))
    parts += [f"{_name(shard)} = KEY IN ({', '.join(values)})" for shard, values in runs]
    return f"\n  EXCEPT ({', '.join(parts)})" if parts else ""


# ------------------------------------------------------------------ tables


def _table(table: Table, dialect: str) -> str:
    lines = [f"{'CREATE' if table.created else 'ATTACH'} TABLE {_table_name(table.schema, table.name)}"]
    if table.columns is not None:
        lines[0] += f" ({_columns(table.columns, table.primary_key, table.unique)})"
    lines.append(_placement(table.placement, dialect))
    lines += [f"UNIQUE ACROSS SHARDS ({_names(key)})" for key in table.unique_across]
    for spelling in Spelling:
        names = tuple(name for name, each in table.exact if each is spelling)
        lines += [f"{spelling} ({_names(names)})"] if names else []
    if table.named is not None:
        lines.append(f"NAMED {_text(table.named)}")
    if table.drift is not None:
        lines.append(f"DRIFT {table.drift}")
    text = " ".join(lines)
    return text if len(text) <= 110 else "\n  ".join(lines)


def _table_name(schema: str | None, name: str) -> str:
    own = "*" if name == "*" else _name(name)
    return f"{_name(schema)}.{own}" if schema else own


def _dotted(full_name: str) -> str:
    schema, _, name = full_name.rpartition(".")
    return _table_name(schema or None, name)


def _placement(placement: Placement, dialect: str) -> str:
    match placement:
        case Sharded():
            return _sharded(placement, dialect)
        case ShardedWith():
            parent = _dotted(placement.parent)
            own, theirs = _name(placement.column), _name(placement.parent_column)
            return f"SHARD WITH {parent} ON {own} = {parent}.{theirs}"
        case Scattered():
            return f"SCATTERED ON {_name(placement.sharding)}"
        case Reference():
            return f"REFERENCE ON {_names(placement.on)}"
        case Single():
            return f"ON {_name(placement.on)}"


def _sharded(placement: Sharded, dialect: str) -> str:
    virtual = {each.name.casefold(): each for each in placement.virtual}
    texts = []
    for number, key in enumerate(placement.keys):
        parts = []
        for part in key.parts:
            column = (
                virtual.get(part.name.casefold()) if isinstance(part, exp.Column) and number == 0 else None
            )
            parts.append(f"{_column(column)} VIRTUAL" if column else print_expression(part, dialect))
        slot = "SLOT " if key.by_slot else ""
        start = f"ALSO BY {slot}" if number else f"SHARD BY {_name(placement.sharding)} "
        texts.append(f"{start}({', '.join(parts)})")
    return " ".join(texts)


def print_expression(part: exp.Expr, dialect: str) -> str:
    """A key's part: a column by its name as the catalog writes it, else in the dialect's SQL."""
    if isinstance(part, exp.Column) and not part.table:
        return _name(part.name)
    return part.sql(dialect=dialect)


def _columns(
    columns: Iterable[Column], primary_key: tuple[str, ...], unique: Iterable[tuple[str, ...]]
) -> str:
    keyed = {name.casefold() for name in primary_key}
    parts = [_column(each, is_key=each.name.casefold() in keyed) for each in columns]
    if primary_key:
        parts.append(f"PRIMARY KEY ({_names(primary_key)})")
    parts += [f"UNIQUE ({_names(key)})" for key in unique if key != primary_key]
    return ", ".join(parts)


def _column(column: Column, *, is_key: bool = False) -> str:
    text = f"{_name(column.name)} {column.type}".rstrip()
    if not column.nullable:
        text += " NOT NULL"
    elif is_key:
        text += " NULL"
    if column.default is not None:
        text += f" DEFAULT {column.default}"
    if column.collation is not None:
        text += f" COLLATE {_name(column.collation)}"
    if column.stored is not None:
        text += f" {column.stored}"
    return text


def _lock(lock: LockedTable) -> str:
    rows = f" ROWS {lock.rows}" if lock.rows is not None else ""
    read_at = f" READ AT {_text(lock.read_at)}" if lock.read_at is not None else ""
    columns = _columns(lock.columns, lock.primary_key, lock.unique)
    return f"LOCK TABLE {_table_name(lock.schema, lock.name)} ({columns}){rows}{read_at}"


def _index_state(state: IndexState) -> str:
    built_at = f" BUILT AT {_text(state.built_at)}" if state.built_at is not None else ""
    rows = f" ROWS {state.rows}" if state.rows is not None else ""
    seal = f" FINGERPRINT {_text(state.fingerprint)}" if state.fingerprint is not None else ""
    return f"LOCK INDEX {_name(state.name)} {state.state}{built_at}{rows}{seal}"


# ------------------------------------------------------------------ statistics


def _statistics(statistics: TableStatistics) -> str:
    text = (
        f"STATISTICS {_table_name(statistics.schema, statistics.name)} ROWS {statistics.rows}"
        f" FROM {statistics.source.upper()} AT {_text(statistics.read_at)}"
    )
    columns = [f"{_name(name)} ({_figures(each)})" for name, each in statistics.columns.items()]
    return text + (" (\n  " + ",\n  ".join(columns) + ")" if columns else "")


def _figures(column: ColumnStatistics) -> str:
    parts = [f"DISTINCT {_number(column.distinct)}"] if column.distinct is not None else []
    parts.append(f"NULLS {_number(column.nulls)}")
    parts += [f"WIDTH {_number(column.width)}"] if column.width is not None else []
    if column.bounds:
        parts.append(f"BOUNDS ({', '.join(map(_text, column.bounds))})")
    if column.common:
        values = (f"{_text(value)} {_number(share)}" for value, share in column.common)
        parts.append(f"COMMON ({', '.join(values)})")
    return ", ".join(parts)


def _number(number: float) -> str:
    """Reads back as the very same number."""
    return str(int(number)) if number == int(number) else repr(float(number))


# ------------------------------------------------------------------ indexes


def _lookup(index: LookupIndex) -> str:
    verb = "ATTACH" if index.index_table else "CREATE"
    unique = "UNIQUE " if index.unique else ""
    text = (
        f"{verb} {unique}LOOKUP INDEX {_name(index.name)} ON {_dotted(index.table)} ({_names(index.columns)})"
    )
    if index.index_table:
        text += f" USING TABLE {_dotted(index.index_table)} ({_names(index.index_columns)})"
    return text


def _join(index: JoinIndex) -> str:
    include = f" INCLUDE ({', '.join(map(_column_name, index.include))})" if index.include else ""
    on = f"{_column_name(index.left)} = {_column_name(index.right)}"
    place = f"SHARD BY {_name(index.sharding)} ({_column_name(index.key)})"
    return f"CREATE JOIN INDEX {_name(index.name)} ON {on}{include} {place}"


def _column_name(column: ColumnName) -> str:
    return f"{_dotted(column.table)}.{_name(column.column)}"


# ------------------------------------------------------------------ words

_PLAIN = re.compile(r"(?:[^\W\d]|\{[^{}]*\})(?:[\w$]|\{[^{}]*\})*")


def _name(name: str) -> str:
    """A name as a word where that reads back, else in quotes."""
    if _PLAIN.fullmatch(name) and name.upper() not in _KEYWORDS_THAT_FOLLOW_NAMES:
        return name
    return '"' + name.replace('"', '""') + '"'


# Words that the grammar may take for a keyword where a name can also stand.
_KEYWORDS_THAT_FOLLOW_NAMES = frozenset(
    {
        "NULL",
        "NOT",
        "PRIMARY",
        "UNIQUE",
        "CHECK",
        "CONSTRAINT",
        "FOREIGN",
        "KEY",
        "INDEX",
        "EXCLUDE",
        "DEFAULT",
    }
)


def _names(names: Iterable[str]) -> str:
    return ", ".join(_name(each) for each in names)


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _with(options: Mapping[str, str]) -> str:
    pairs = ", ".join(f"{_name(name)} = {_text(value)}" for name, value in options.items())
    return f" WITH ({pairs})" if pairs else ""


def _value(value: Value) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() | Decimal():
            return f"{value:f}" if isinstance(value, Decimal) else str(value)
        case str():
            return _text(value)
        case datetime():
            return f"TIMESTAMP {_text(value.isoformat(sep=' '))}"
        case date():
            return f"DATE '{value}'"
    raise NotSupportedError(
        f"a constant of type {type(value).__name__} has no text in the catalog's language"
    )

"""What a scope means for one table.

    scope customer_id = 5:      customers (id)           id = 5                           ByKey
                                orders (customer_id)     customer_id = 5                  ByKey
                                items SHARD WITH orders  has a row of the scoped orders   ByParent
                                cities REFERENCE         all rows                         Whole
                                audit SCATTERED          cannot be said                   Refused
    scope tenant = 'acme':      notes SCATTERED ON by_file, a DIRECTORY: all in acme's    ByShard

A pinned scope refuses what it does not cover; another leaves tables of other shardings alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from shardwise.catalog.model import (
    Catalog,
    Column,
    Reference,
    Sharded,
    ShardedWith,
    Sharding,
    Single,
    Table,
)
from shardwise.planner.distribution import global_keys
from shardwise.planner.scopes.members import members_in, shards_of
from shardwise.planner.scopes.scope import Scope, ScopeKey
from shardwise.planner.scopes.values import Value, fitted, key_column


@dataclass(frozen=True, slots=True)
class Whole:
    """The table is read as without a scope, but on the scope's shards only if it is split."""


@dataclass(frozen=True, slots=True)
class ByKey:
    """Each of `columns` is one of the values beside it, which are of the column's type."""

    columns: tuple[tuple[ScopeKey, Column, tuple[Value, ...]], ...]


@dataclass(frozen=True, slots=True)
class ByParent:
    """The rows that have a row of `parent` that the scope covers: `column` = parent.`parent_column`."""

    parent: Table
    column: str
    parent_column: str


@dataclass(frozen=True, slots=True)
class ByShard:
    """All rows on `shards`, each of which has those of one member of a DIRECTORY."""

    shards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The table cannot be read in the scope."""

    why: str
    hint: str


Coverage = Whole | ByKey | ByParent | ByShard | Refused


def coverage(scope: Scope, catalog: Catalog, table: Table) -> Coverage:
    """What the scope means for a table. ProgrammingError for a value that is none of its key's type."""
    found = _coverage(scope, catalog, table)
    if isinstance(found, Refused) and scope.is_pinned and table.full_name.casefold() in scope.also_read:
        return Whole()
    return found


def _coverage(scope: Scope, catalog: Catalog, table: Table) -> Coverage:
    placement = table.placement
    if isinstance(placement, Reference | Single):
        return Whole()
    sharding = catalog.sharding_of(table)
    keys = tuple(scope.keys_of(sharding.name)) if sharding is not None else ()
    if not keys:
        return _other_sharding(scope, table, sharding) if scope.is_pinned and scope.keys else Whole()
    names = _named(key for key, _ in keys)
    if isinstance(placement, Sharded):
        return _by_key(keys, catalog, table, placement)
    if sharding is not None and sharding.shards_are_sources:
        return ByShard(shards_of(sharding, members_in(scope, catalog, sharding) or ()))
    if isinstance(placement, ShardedWith):
        return _by_parent(names, catalog, table, placement)
    return Refused(
        f'the scope {names} cannot be applied to "{table.full_name}": it is SCATTERED, and has no key that '
        "says whose its rows are",
        _out_of(scope),
    )


def _by_key(
    keys: Iterable[tuple[ScopeKey, int]], catalog: Catalog, table: Table, placement: Sharded
) -> ByKey | Refused:
    columns = []
    shard_key = placement.keys[0]
    for key, index in keys:
        part = shard_key.parts[index] if index < len(shard_key.parts) else None
        column = key_column(table, part)
        if column is None or shard_key.by_slot:
            text = part.sql(dialect="duckdb") if part is not None else "another one"
            return Refused(
                f'the scope {_named([key])} cannot be applied to "{table.full_name}": its shard key is '
                f"{text}, which places its rows and does not say whose they are",
                "Read tables whose shard key is a column; RESET SCOPE reads all rows",
            )
        values = tuple(
            fitted(value, column, catalog.dialect, f'scope "{key.name}"', table.full_name)
            for value in key.values
        )
        columns.append((key, column, values))
    return ByKey(tuple(columns))


def _by_parent(names: str, catalog: Catalog, table: Table, placement: ShardedWith) -> ByParent | Refused:
    """Sound only if a value of the parent's column names one row of all: else it may be two tenants'."""
    parent = catalog.parent(placement.parent)
    wanted = placement.parent_column.casefold()
    if isinstance(parent, Table) and wanted in (key.casefold() for key in _identities(parent)):
        return ByParent(parent, placement.column, placement.parent_column)
    column = f"{placement.parent}.{placement.parent_column}"
    return Refused(
        f'the scope {names} cannot be applied to "{table.full_name}": it has no key of its own, and {column} '
        "is not declared unique across the shards, so that a row may have two parents",
        f"If it is unique, declare it: UNIQUE ACROSS SHARDS ({placement.parent_column})",
    )


def _identities(parent: Table) -> Iterator[str]:
    """The columns of which one value names one row in the whole database."""
    placement = parent.placement
    if isinstance(placement, Sharded):
        yield from global_keys(parent, placement)
    else:
        yield from (key[0] for key in parent.unique_across if len(key) == 1)


def _other_sharding(scope: Scope, table: Table, sharding: Sharding | None) -> Refused:
    by = f'"{sharding.name}"' if sharding is not None else "another one"
    return Refused(
        f'the connection is pinned to {_named(scope.keys)}, which does not cover "{table.full_name}": '
        f"its sharding {by} has no such key",
        f'Allow it where the connection is made: connect(…, pinned=True, also_read=["{table.full_name}"])',
    )


def _out_of(scope: Scope) -> str:
    if scope.is_pinned:
        return "Allow it where the connection is made: connect(…, pinned=True, also_read=[…])"
    return "RESET SCOPE reads all rows"


def _named(keys: Iterable[ScopeKey]) -> str:
    return ", ".join(f'"{name}"' for name in dict.fromkeys(key.name for key in keys))

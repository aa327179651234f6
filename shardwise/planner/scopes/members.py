"""A scope and a DIRECTORY: a key's value is a member, and the member is a shard of its own, or a schema."""

from __future__ import annotations

from collections.abc import Iterable

from shardwise.catalog.model import Catalog, Column, Sharded, Sharding, Table
from shardwise.catalog.shardings import key_text
from shardwise.catalog.templates import Template
from shardwise.planner.scopes.scope import Scope, ScopeKey
from shardwise.planner.scopes.values import Value, fitted, key_column


def directory_key(catalog: Catalog, sharding: Sharding) -> tuple[Table, Column] | None:
    """A table of the sharding, and the column that says its member; None if there is none."""
    for table in catalog.tables():
        placement = table.placement if isinstance(table, Table) else None
        if (
            isinstance(table, Table)
            and isinstance(placement, Sharded)
            and placement.sharding == sharding.name
        ):
            column = key_column(table, placement.keys[0].parts[0])
            if column is not None:
                return table, column
    return None


def member_value(catalog: Catalog, sharding: Sharding, value: Value) -> Value:
    """The value as one of the key's type; raises ProgrammingError if it is none."""
    found = directory_key(catalog, sharding)
    if found is None:
        return value
    table, column = found
    return fitted(value, column, catalog.dialect, f'member of "{sharding.name}"', table.full_name)


def members_in(scope: Scope, catalog: Catalog, sharding: Sharding) -> tuple[str, ...] | None:
    """The members of a DIRECTORY that the scope's keys name; None if none speaks of it."""
    found: list[list[str]] = []
    for key, _ in scope.keys_of(sharding.name):
        found.append([key_text(member_value(catalog, sharding, value)) for value in key.values])
    if not found:
        return None
    return tuple(dict.fromkeys(text for text in found[0] if all(text in texts for texts in found)))


def shards_of(sharding: Sharding, members: Iterable[str]) -> tuple[str, ...]:
    """The shards that members of a DIRECTORY are."""
    template = Template.parse(sharding.on or "")
    return tuple(dict.fromkeys(template.render({sharding.levels[0]: member}) for member in members))


def scope_of_member(scope: Scope, sharding: Sharding, value: Value) -> Scope:
    """The scope, with the key of a DIRECTORY set to one of its members."""
    others = tuple(key for key in scope.keys if key.index_in(sharding.name) is None)
    key = ScopeKey(name=sharding.levels[0], values=(value,), places=((sharding.name, 0),))
    return Scope(
        keys=(*others, key), shards=scope.shards, is_pinned=scope.is_pinned, also_read=scope.also_read
    )

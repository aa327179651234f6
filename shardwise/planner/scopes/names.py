"""Making a scope: its names and values checked against the catalog.

scope_of(catalog, {"tenant": "acme"})           rows of that tenant
scope_of(catalog, {"tenant": ["acme", "zeta"]}) … or of these
scope_of(catalog, {"shard": ["s1", "s2"]})      rows on these shards
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, Sharded, Table
from shardwise.errors import ProgrammingError, Reason
from shardwise.planner.scopes.coverage import Refused, coverage
from shardwise.planner.scopes.scope import EVERYTHING, SHARD, Scope, ScopeKey
from shardwise.planner.scopes.slots import visible_shards
from shardwise.planner.scopes.values import plain


def scope_of(
    catalog: Catalog,
    given: Mapping[str, Any],
    *,
    before: Scope = EVERYTHING,
    pinned: bool = False,
    also_read: Iterable[str] = (),
) -> Scope:
    """The scope `before` with the names of `given` set anew, checked against the catalog.

    A value may be a list, of which any will do. Raises ProgrammingError for a name that is no key, a value
    that is none of the key's type, an unknown shard, and tables of `also_read` that need no leave.
    """
    keys = {key.name.casefold(): key for key in before.keys}
    shards = before.shards
    for name, value in given.items():
        values = _values(name, value)
        if name.casefold() == SHARD:
            shards = tuple(dict.fromkeys(_shard(catalog, each) for each in values))
        else:
            places = _places(catalog, name)
            plains = {(type(each), each): each for each in (plain(v, f'scope "{name}"') for v in values)}
            keys[name.casefold()] = ScopeKey(name=name, values=tuple(plains.values()), places=places)
    scope = Scope(keys=tuple(keys.values()), shards=shards, is_pinned=pinned)
    if pinned and not scope:
        raise _wrong("a connection is pinned to a scope, and none was given", "Give one: scope={'tenant': …}")
    _check_values(catalog, scope)
    if pinned and not visible_shards(scope, catalog):
        raise _wrong(
            "no shard can hold rows of the scope, and a connection is pinned to one that can",
            "Check its values: the sharding has no place for them",
        )
    return replace(scope, also_read=_allowed(catalog, scope, also_read))


def _values(name: str, value: Any) -> tuple[Any, ...]:
    """The values given, in order."""
    values = tuple(value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    if not values:
        raise _wrong(f'the scope "{name}" has no values: nothing could be read in it', "Give at least one")
    return values


def _shard(catalog: Catalog, name: Any) -> str:
    found = catalog.find_shard(name) if isinstance(name, str) else None
    if found is None:
        known = [shard.name for shard in catalog.shards()]
        hint = did_you_mean(name, known) if isinstance(name, str) else "Give the names of shards, as texts"
        raise _wrong(f"there is no shard {_shown(name)}", hint or _names_of_members(catalog))
    return found.name


def _names_of_members(catalog: Catalog) -> str:
    """Of an open family one knows the members; its shards are called as its template says."""
    families = [each for each in catalog.shardings() if each.shards_are_sources]
    return "SHOW SHARDS lists them" + "".join(f'; those of "{each.name}" are {each.on}' for each in families)


def _shown(name: Any) -> str:
    return f'"{name}"' if isinstance(name, str) else f"of type {type(name).__name__}"


def _places(catalog: Catalog, name: str) -> tuple[tuple[str, int], ...]:
    """The shardings that a name speaks of, and which column of their keys it is."""
    found: dict[str, int] = {}
    for sharding, known, index in _names(catalog):
        if known.casefold() == name.casefold() and found.setdefault(sharding, index) != index:
            raise _wrong(
                f'"{name}" is another column of the key of sharding "{sharding}" from table to table',
                "Rename one of them in the catalog",
            )
    if not found:
        _fail_unknown(catalog, name)
    return tuple(found.items())


def _names(catalog: Catalog) -> Iterator[tuple[str, str, int]]:
    """Each name that a scope may have: (sharding, name, column of its key)."""
    for sharding in catalog.shardings():
        if sharding.function.arity == 1:
            yield sharding.name, sharding.name, 0
        if sharding.is_open:
            for index, level in enumerate(sharding.levels):
                yield sharding.name, level, index
    for table in catalog.tables():
        placement = table.placement if isinstance(table, Table) else None
        if isinstance(placement, Sharded) and not placement.keys[0].by_slot:
            for index, part in enumerate(placement.keys[0].parts):
                if isinstance(part, exp.Column):
                    yield placement.sharding, part.name, index


def _fail_unknown(catalog: Catalog, name: str) -> None:
    slots = [s for s in catalog.shardings() if name.casefold() in (each.casefold() for each in s.levels)]
    known = dict.fromkeys(known for _, known, _ in _names(catalog))
    if slots:
        raise _wrong(
            f'"{name}" is the number of a slot of sharding "{slots[0].name}", which holds rows of many keys',
            f"A scope gives the key's own value: {', '.join(known)}",
        )
    hint = did_you_mean(name, list(known)) or f"The keys are {', '.join((*known, SHARD))}"
    raise _wrong(f'there is no shard key "{name}" that a scope could give', hint)


def _check_values(catalog: Catalog, scope: Scope) -> None:
    for table in catalog.tables():
        if isinstance(table, Table) and scope.keys:
            coverage(scope, catalog, table)


def _allowed(catalog: Catalog, scope: Scope, names: Iterable[str]) -> frozenset[str]:
    allowed = set()
    for name in names:
        table = catalog.relation(name)
        if not isinstance(table, Table):
            known = [t.full_name for t in catalog.tables() if isinstance(t, Table)]
            raise _wrong(f'also_read: there is no table "{name}"', did_you_mean(name, known))
        if not scope.is_pinned or not isinstance(coverage(scope, catalog, table), Refused):
            raise _wrong(
                f'also_read: "{table.full_name}" needs no leave to be read',
                "List the tables that a pinned scope does not cover, and no others",
            )
        allowed.add(table.full_name.casefold())
    return frozenset(allowed)


def _wrong(message: str, hint: str | None) -> ProgrammingError:
    return ProgrammingError(message, hint=hint, reason=Reason.SCOPE)

"""Vitess's vschema.json: keyspaces, their vindexes, and the tables that have them.

Which shards a keyspace has is not in that file: they are asked for (`-80, 80-` otherwise). Slots are the
first digits of a keyspace id, as many as the shards' names have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from shardwise.catalog.model import Reference, Scattered, Sharded, ShardKey, Single, Table
from shardwise.catalog.shardings import ShardingFunction, hash_function, mod
from shardwise.catalog.sources import Source
from shardwise.errors import CatalogError
from shardwise.inspection.layouts.draft import Draft

Block = Mapping[str, Any]
TWO_SHARDS = ("-80", "80-")
_FUNCTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "hash": ("vitess_hash", {}),
    "xxhash": ("vitess_xxhash", {}),
    "numeric": ("vitess_numeric", {}),
    "reverse_bits": ("vitess_reverse_bits", {}),
    "binary_md5": ("md5", {"to_slot": "scaled"}),
}


def translate(config: Block, name: str, shards: Sequence[str] = TWO_SHARDS) -> Draft:
    """The draft of a catalog for one keyspace (`name`), or for all of {"keyspaces": …}."""
    keyspaces = config.get("keyspaces") or {name: config}
    draft = Draft(_word(name), "mysql")
    draft.remark("", "Put the URL of a tablet's MySQL in each source, in place of DIALECT mysql.")
    for keyspace, given in keyspaces.items():
        _Keyspace(draft, str(keyspace), given, shards if given.get("sharded") else ("-",)).translate()
    return draft


class _Keyspace:
    def __init__(self, draft: Draft, name: str, given: Block, shards: Sequence[str]) -> None:
        self._draft = draft
        self._given = given
        self._sources = [
            f"{_word(name)}_{number}" if len(shards) > 1 else _word(name) for number in range(len(shards))
        ]
        for source in self._sources:
            draft.sources[source] = Source(name=source, dialect="mysql")
        for source, shard in zip(self._sources, shards, strict=True):
            draft.remark("", f"{source} is {name}/{shard}.")
        self._slots, self._owners = slots_of(shards)

    def translate(self) -> None:
        vindexes = self._given.get("vindexes") or {}
        for name, given in (self._given.get("tables") or {}).items():
            table: Block = given or {}
            if table.get("type") == "sequence":
                continue
            if table.get("type") == "reference":
                self._add(Table(name=name, placement=Reference(on=tuple(self._sources))))
            elif not self._given.get("sharded"):
                self._add(Table(name=name, placement=Single(on=self._sources[0])))
            else:
                self._sharded(str(name), table, vindexes)

    def _add(self, table: Table) -> None:
        self._draft.tables.append(table)

    def _sharded(self, name: str, table: Block, vindexes: Block) -> None:
        """The first of a table's vindexes says where a row is."""
        primary: Block = next(iter(table.get("column_vindexes") or ()), {})
        columns = primary.get("columns") or [primary.get("column")]
        vindex = vindexes.get(str(primary.get("name"))) or {}
        type_ = str(vindex.get("type"))
        if len(columns) != 1 or type_ not in _FUNCTIONS:
            sharding = self._by(
                mod(len(self._sources)), "shards", [1 << n for n in range(len(self._sources))]
            )
            self._add(Table(name=name, placement=Scattered(sharding=sharding)))
            self._draft.remark(name, f"Never pruned: the vindex {type_} has no counterpart.")
            return
        algorithm, options = _FUNCTIONS[type_]
        function = hash_function(algorithm, self._slots, options)
        sharding = self._by(function, f"by_{type_}", self._owners)
        placement = Sharded(sharding=sharding, keys=(ShardKey.of(str(columns[0])),))
        self._add(Table(name=name, placement=placement))

    def _by(self, function: ShardingFunction, name: str, owners: Sequence[int]) -> str:
        shards = [""] * function.size
        for source, slots in zip(self._sources, owners, strict=True):
            for slot in range(function.size):
                if slots >> slot & 1:
                    shards[slot] = source
        return self._draft.sharding(name, function, shards, ("slot",))


def slots_of(shards: Sequence[str]) -> tuple[int, list[int]]:
    """How many slots the names of shards need, and the slots of each, as a bit mask.

    >>> slots_of(["-8", "8-"])[0], [bin(slots) for slots in slots_of(["-4", "4-"])[1]]
    (16, ['0b1111', '0b1111111111110000'])
    """
    bounds = []
    for shard in shards:
        low, dash, high = shard.strip().partition("-")
        try:
            bounds.append((low, high, int(low or "0", 16), int(high or "0", 16)))
        except ValueError:
            dash = ""
        if not dash:
            raise CatalogError(f'"{shard}" is no range of keyspace ids', hint="Write -80, 80-c0, c0-")
    digits = max([1, *(max(len(low), len(high)) for low, high, _, _ in bounds)])
    size = 16**digits
    owned = []
    for low, high, first, last in bounds:
        start = first << 4 * (digits - len(low))
        stop = last << 4 * (digits - len(high)) if high else size
        owned.append((1 << stop) - (1 << start))
    if sum(owned) != (1 << size) - 1 or any(a & b for a, b in pairwise(owned)):
        raise CatalogError(f"the shards {', '.join(shards)} do not cover all keyspace ids once")
    return size, owned


def _word(name: str) -> str:
    text = "".join(sign if sign.isalnum() or sign == "_" else "_" for sign in name)
    return text if text[:1].isalpha() else f"k_{text}"

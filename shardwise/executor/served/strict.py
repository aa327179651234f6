"""Whether the shards' tables are as the catalog says, and alike, where queries are in their own dialect.

The merge has one column of what each shard has one of: they must compute, compare and sort alike, by type and
by collation. What the catalog does not say (a collation, a type's members) must be as on the shard that was
looked at first.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import NamedTuple

from shardwise.errors import OperationalError, Reason
from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.conform import CHECK, drift, missing
from shardwise.executor.pools import Lease
from shardwise.executor.served.product import Product
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Expected, Request


class _Seen(NamedTuple):
    """What the first shard said of a column."""

    found: str
    kind: str
    shard: str


class AlikeTables:
    """What was seen of the catalog's tables, on whichever shard. Threads may share it."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._lock = threading.Lock()
        self._first: dict[tuple[str, str], _Seen] = {}
        self._changes = 0
        self._order: tuple[str, str] | None = None
        """The order of texts whose columns say none, and a shard's name that has it."""

    def is_known_good(self, lease: Lease, connection: SourceConnection, request: Request) -> bool:
        """Whether nothing need be asked: all that the request reads was looked at, and lacks nothing."""
        if not request.expects:
            return True
        known: _Known | None = lease.memo.get("alike")
        if known is None or known.changes != self._changes or not known.good.issuperset(request.expects):
            return False
        return connection.assumes(known.version)

    def check(self, lease: Lease, connection: SourceConnection, request: Request) -> dict[str, Gap]:
        """What the request's tables lack and may; raises for a column that is missing, or unlike."""
        if not request.expects:
            return {}
        known = self._known(lease, connection.version())
        gaps: dict[str, Gap] = {}
        for expected in request.expects:
            if expected in known.good:
                continue
            columns = known.tables.get(expected.table)
            if columns is None:
                found = {name.casefold(): type_ for name, type_ in connection.columns(expected.table)}
                if not found:
                    gap = self._absent(connection, request.shard, expected)
                    gaps[expected.table] = gap.with_(gaps.get(expected.table, gap))
                    continue
                columns = known.tables[expected.table] = {
                    name: (type_, self._product.kind(type_)) for name, type_ in found.items()
                }
            gap = self._compare(columns, request.shard, expected)
            kinds = (columns[name][1] for c in expected.columns if (name := c.name.casefold()) in columns)
            if known.order is None and any(map(self._product.is_unordered, kinds)):
                order = self._product.order_of(connection)
                self._check_order(order, request.shard)
                known.order = order
            if gap == Gap():
                known.good.add(expected)
            else:
                gaps[expected.table] = gap.with_(gaps.get(expected.table, gap))
        return gaps

    def _known(self, lease: Lease, version: object) -> _Known:
        before: _Known | None = lease.memo.get("alike")
        if before is not None and before.version == version and before.changes == self._changes:
            return before
        known = lease.memo["alike"] = _Known(version, self._changes, before.order if before else None)
        return known

    def _absent(self, connection: SourceConnection, shard: str, expected: Expected) -> Gap:
        """A table that is missing is left to the request itself, unless it is of a member that is no more."""
        if expected.absence is None:
            return Gap()
        if expected.absence and connection.has_schema(expected.absence):
            raise OperationalError(
                f'table {expected.table} is missing on shard "{shard}"',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint="A member has no rows only if its schema is not there either",
            )
        return Gap(is_whole=True)

    def _compare(self, columns: Mapping[str, tuple[str, str]], shard: str, expected: Expected) -> Gap:
        lacking = set()
        for column in expected.columns:
            name = column.name.casefold()
            if name not in columns:
                if name not in expected.fills:
                    raise missing(shard, column.name, expected.table)
                lacking.add(name)
                continue
            found, kind = columns[name]
            if not self._is_declared(kind, column.type):
                raise drift(shard, column.name, found, column.type, table=expected.table)
            self._check_first(expected, column.name, _Seen(found, kind, shard))
        return Gap(frozenset(lacking))

    def _is_declared(self, kind: str, declared: str) -> bool:
        ours, _, collation = self._product.kind(declared).partition(" COLLATE ")
        theirs, _, found = kind.partition(" COLLATE ")
        return self._product.is_collated_as(found, collation) and self._product.is_declared_as(theirs, ours)

    def _check_order(self, order: str, shard: str) -> None:
        with self._lock:
            first, where = self._order = self._order or (order, shard)
        if order != first:
            raise OperationalError(
                f'the database of shard "{shard}" orders texts by {order}, that of "{where}" by {first}',
                reason=Reason.SCHEMA_DRIFT,
                shard=shard,
                hint="Columns that have a collation of their own are ordered alike everywhere",
            )

    def _check_first(self, expected: Expected, column: str, seen: _Seen) -> None:
        key = (expected.of, column.casefold())
        with self._lock:
            first = self._first.setdefault(key, seen)
            if first.kind != seen.kind:
                del self._first[key]  # it may have been changed on all shards
                self._changes += 1  # what was like it is to be compared again
        if first.kind != seen.kind:
            raise OperationalError(
                f'column "{column}" of table "{expected.of}" is {seen.found} on shard "{seen.shard}", and '
                f'{first.found} on shard "{first.shard}"',
                reason=Reason.SCHEMA_DRIFT,
                shard=seen.shard,
                hint=CHECK,
            )


class _Known:
    """What one open source said of its tables, while its schema stays: types as they were said, and kinds;
    and what of them was found to be as it should. `changes` are those that `AlikeTables` had seen."""

    def __init__(self, version: object, changes: int, order: str | None) -> None:
        self.version = version
        self.changes = changes
        self.tables: dict[str, dict[str, tuple[str, str]]] = {}
        self.good: set[Expected] = set()
        self.order = order

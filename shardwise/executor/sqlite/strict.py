"""Whether a SQLite file's tables are as the catalog says, where the query's dialect is SQLite's too.

A column's values may be anything; how they compare is the column's own: its affinity, which follows from the
written type, and its collation. Both must be the catalog's, for the merge declares its tables by it.
"""

from __future__ import annotations

import re

from shardwise.catalog.sqlite_types import affinity
from shardwise.errors import InternalError
from shardwise.executor import lite
from shardwise.executor.backends.base import SourceConnection
from shardwise.executor.conform import drift, missing
from shardwise.plan.gaps import Gap
from shardwise.plan.run import Expected, ExpectedColumn, Request

_KEYS = re.compile(r"k\(\d+,([^)]*)\)")
_BINARY = {"B": "BINARY"}


class StrictTables:
    """What was found to be alike on one open source, while its schema stays. Threads may share it."""

    def __init__(self) -> None:
        self._known: tuple[object, dict[str, set[ExpectedColumn]]] = None, {}

    def check(self, connection: SourceConnection, request: Request) -> dict[str, Gap]:
        """What the request's tables lack and may; raises for a column that is missing or compares
        otherwise."""
        if not request.expects:
            return {}
        version = connection.version()
        if self._known[0] != version:
            self._known = version, {}
        _, known = self._known
        gaps: dict[str, Gap] = {}
        for expected in request.expects:
            good = known.setdefault(expected.table, set())
            if good.issuperset(expected.columns) and expected.absence is None:
                continue
            gap = _compare(connection, request.shard, expected)
            good.update(c for c in expected.columns if c.name.casefold() not in gap.missing)
            if gap != Gap():
                gaps[expected.table] = gap.with_(gaps.get(expected.table, gap))
        return gaps


def _compare(connection: SourceConnection, shard: str, expected: Expected) -> Gap:
    found = {name.casefold(): type_ for name, type_ in connection.columns(expected.table)}
    if not found:
        return Gap(
            is_whole=expected.absence == ""
        )  # else the request itself says that there is no such table
    lacking = ({c.name.casefold() for c in expected.columns} - found.keys()) & expected.fills
    there = [c for c in expected.columns if c.name.casefold() not in lacking]
    for column in there:
        theirs, (ours, _) = found.get(column.name.casefold()), _declared(column)
        if theirs is None:
            raise missing(shard, column.name, expected.table)
        if affinity(theirs) != affinity(ours):
            raise drift(
                shard, column.name, theirs or "of no type", ours or "of no type", table=expected.table
            )
    names = [column.name for column in there]
    if not names:
        return Gap(frozenset(lacking))
    collations = _collations(connection, expected.table, names)
    for column, theirs in zip(there, collations, strict=True):
        _, ours = _declared(column)
        if theirs != ours:
            raise drift(shard, column.name, f"COLLATE {theirs}", f"COLLATE {ours}", table=expected.table)
    return Gap(frozenset(lacking))


def _declared(column: ExpectedColumn) -> tuple[str, str]:
    """Type and collation."""
    type_, _, collation = column.type.partition(" COLLATE ")
    return type_, collation.upper() or "BINARY"


def _collations(connection: SourceConnection, table: str, names: list[str]) -> list[str]:
    """Read off how SQLite would sort by the columns; the plus keeps it from using an index."""
    keys = ", ".join(f"+t.{lite.identifier(name)}" for name in names)
    connection.execute(f"EXPLAIN SELECT 1 FROM {table} AS t ORDER BY {keys}", {})
    for row in connection.fetchmany(1000):
        found = _KEYS.fullmatch(str(row[5])) if row[1] == "SorterOpen" else None
        if found is not None:
            return [_BINARY.get(word.lstrip("-"), word.lstrip("-").upper()) for word in found[1].split(",")]
    raise InternalError(f"SQLite does not tell the collations of {table}")

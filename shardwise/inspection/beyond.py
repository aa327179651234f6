"""Tables that a table's NAMED fits and no slot of its sharding has: nothing reads their rows.

    ATTACH TABLE events … NAMED 'events_{m:%Y%m}', by month TO '2025-06-01'; and there is events_202507

Next month's table is made, the catalog is not told, and what a query counts is short by a month. The catalog
says that no row is there, so that only a look at the sources can tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shardwise.catalog.model import Catalog, Table, View
from shardwise.catalog.templates import Field, Slice, Template, Variable
from shardwise.errors import Error, ShardUnavailable
from shardwise.inspection.findings import Finding, Kind
from shardwise.inspection.importing import Sources, partitions
from shardwise.inspection.reading import quoted_table

_DIGITS = {"Y": 4, "G": 4, "j": 3, "u": 1}
"""Of a date's directives; all others have two."""


class Beyond:
    """Looks for them, table by table; what belongs to any table of the catalog is nobody's leftover."""

    def __init__(self, catalog: Catalog, sources: Sources) -> None:
        self._catalog = catalog
        self._sources = sources
        self._known: set[tuple[str, str]] | None = None

    def look(self, table: Table, unreachable: set[str]) -> Iterator[Finding]:
        """What is on the table's shards under a name as its own are."""
        catalog = self._catalog
        if table.named is None or catalog.open_sharding(table) or not catalog.is_slot_grain(table):
            return
        for shard in catalog.homes(table):
            if shard in unreachable:
                continue
            pattern = _pattern(Template.parse(table.named), table, shard)
            if pattern is None:
                return
            try:
                there = [each.name for each in self._sources.tables(shard).values()]
            except ShardUnavailable:
                continue  # told of by whoever looked at its tables before
            source = catalog.source_of(shard)
            for name in sorted(there):
                if pattern.fullmatch(name) and (source, name.lower()) not in self._names():
                    yield self._finding(table, shard, name)

    def _names(self) -> set[tuple[str, str]]:
        """Every physical table that the catalog knows of, by source."""
        if self._known is None:
            self._known = {
                (self._catalog.source_of(shard), name.lower())
                for table in self._catalog.tables()
                if not isinstance(table, View) and not self._catalog.open_sharding(table)
                for shard, name in partitions(self._catalog, table)
            }
        return self._known

    def _finding(self, table: Table, shard: str, name: str) -> Finding:
        """An empty one is made ahead of its time: no difference yet."""
        reader = self._sources.reader(shard)
        try:
            has_rows = bool(reader.rows(f"SELECT 1 FROM {quoted_table(name, reader.dialect)} LIMIT 1"))
            what = "its rows are not read" if has_rows else "it is empty now, and would not be read"
        except Error as error:
            has_rows, what = True, f"it is not read, and gave no answer: {error.message}"
        return Finding(
            kind=Kind.EXTRA_TABLE,
            table=table.full_name,
            shard=shard,
            found=f'"{name}", for which the sharding has no slot: {what}',
            is_error=has_rows,
        )


def _pattern(template: Template, table: Table, shard: str) -> re.Pattern[str] | None:
    """What names of the template look like; None where a slice or the like leaves that open."""
    fixed = {"table": table.name, "schema": table.schema or "", "shard": shard}
    pieces = []
    for part in template.parts:
        if isinstance(part, str):
            pieces.append(re.escape(part))
        elif isinstance(part.expression, Variable) and part.expression.name in fixed:
            pieces.append(re.escape(fixed[part.expression.name]))
        elif isinstance(part.expression, Slice):
            return None
        else:
            pieces.append(_digits(part))
    return re.compile("".join(pieces), re.IGNORECASE)


def _digits(part: Field) -> str:
    if "%" not in part.format:
        return "[0-9a-f]+" if part.format.lower().endswith("x") else r"\d+"
    found = re.split(r"%(.)", part.format)
    texts, directives = found[::2], [rf"\d{{{_DIGITS.get(each, 2)}}}" for each in found[1::2]]
    return "".join(re.escape(text) + digits for text, digits in zip(texts, [*directives, ""], strict=True))

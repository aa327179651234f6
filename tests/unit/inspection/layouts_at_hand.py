"""Made-up layouts, as a server would show them: members with rows, and a probe that reads those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shardwise.catalog.model import Column
from shardwise.catalog.shardings import Value
from shardwise.catalog.sources import Source
from shardwise.catalog.types import Family as Kind
from shardwise.inspection.inferring import Member, infer

_TYPES = {Kind.INT: "bigint", Kind.TEXT: "varchar(40)", Kind.DATE: "date", Kind.TIMESTAMP: "datetime"}


@dataclass
class Layout:
    """Rows by database and table; tables by their first column's name are keyed by it."""

    kinds: Mapping[str, Mapping[str, Kind]]
    data: dict[tuple[str, str], list[tuple[Value, ...]]] = field(default_factory=dict)
    dialect: str = "mysql"
    collation: str | None = None

    def add(self, source: str, table: str, *row: Value) -> None:
        self.data.setdefault((source, table), []).append(row)

    def members(self, sample: int = 100) -> list[Member]:
        return [self._member(source, table, rows, sample) for (source, table), rows in self.data.items()]

    def _member(self, source: str, table: str, rows: Sequence[tuple[Value, ...]], sample: int) -> Member:
        kinds = self.kinds[next(name for name in self.kinds if table.startswith(name))]
        names = tuple(kinds)
        return Member(
            source=source,
            name=table,
            columns=tuple(self._column_of(name, kind) for name, kind in kinds.items()),
            kinds=kinds,
            primary_key=names[:1],
            rows=[dict(zip(names, row, strict=True)) for row in rows[:: max(1, len(rows) // sample)]],
        )

    def _column_of(self, name: str, kind: Kind) -> Column:
        collation = self.collation if kind is Kind.TEXT else None
        return Column(name=name, type=_TYPES[kind], collation=collation)

    def infer(self, sample: int = 100) -> str:
        """The catalog's text."""
        names = sorted({source for source, _ in self.data})
        sources = [Source(name=name, url=f"mysql://app@db/{name}") for name in names]
        return infer(self.members(sample), sources, self, name="found", dialect=self.dialect).text()

    # -------------------------------------------------------------- the probe

    def _all(self, member: Member) -> list[tuple[Value, ...]]:
        return self.data[member.source, member.name]

    def count(self, member: Member) -> int:
        return len(self._all(member))

    def _column(self, member: Member, column: str) -> list[Value]:
        at = list(member.kinds).index(column)
        return [row[at] for row in self._all(member)]

    def extremes(self, member: Member, column: str) -> tuple[Value, Value]:
        values = [value for value in self._column(member, column) if value is not None]
        return min(values), max(values)  # type: ignore[type-var]

    def found(self, member: Member, column: str, values: Sequence[Value]) -> frozenset[Value]:
        return frozenset(values) & frozenset(self._column(member, column))

    def rows(self, member: Member, limit: int) -> Sequence[tuple[object, ...]]:
        return self._all(member)[:limit]

"""One table's statistics over all its partitions.

    count(*) of each partition
      at most 30,000 rows in all     all rows are read, and everything is exact
      more, and none is too large    one pass over each partition: counts, extremes, widths, a sketch of
                                     distinct values; quantiles and common values of a sample
      more                           a sample of the rows stands for them

A sample draws from every partition with the same chance, so that it is one of the union of rows: what is
common to several shards need not be guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from shardwise.catalog.model import Catalog, Reference, Sharded, Table
from shardwise.catalog.statistics import ColumnStatistics, Origin, TableStatistics
from shardwise.errors import OperationalError, ProgrammingError, Reason
from shardwise.executor.backends.base import Columns
from shardwise.inspection.analyzing import figures
from shardwise.inspection.analyzing.columns import OFFSET_BYTES, AskedColumn, asked_column, asked_columns
from shardwise.inspection.analyzing.parts import Asking, Part
from shardwise.inspection.analyzing.seen import Scanned, Seen
from shardwise.inspection.analyzing.told import Told, merged, told
from shardwise.inspection.physical import SourceReader
from shardwise.inspection.reading import quoted_table
from shardwise.plan.wrap import count_text

SAMPLE_ROWS = 30_000
SCANNED_MAX = {"duckdb": 20_000_000, "mysql": 500_000, "postgres": 500_000, "sqlite": 250_000}
"""Rows of a partition up to which all are looked at, by the source's dialect."""
MEMBERS_MAX = 256
"""So many members of a DIRECTORY are asked at most."""

_UNIQUE_MIN = 1_000
"""Values of a sample of which none comes twice, so that a column is taken for unique."""

_T = TypeVar("_T")


class Source(SourceReader, Protocol):
    """An open source that also tells a physical table's columns."""

    def physical_columns(self, table: str) -> Columns:
        """Names and types; none if there is no such table. `table` is SQL text."""


class Each(Protocol):
    """Asks the sources of partitions, several at once; the answers are in the order of the partitions.

    None stands for a member of an open family that is not there (any more).
    """

    def __call__(self, parts: Sequence[Part], work: Callable[[Source, Part], _T]) -> list[_T | None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """A table's statistics; what was looked at, in words; columns whose values were not, with their types."""

    statistics: TableStatistics
    looked_at: str
    left_out: Mapping[str, str]


def collect(
    catalog: Catalog,
    table: Table,
    each: Each,
    *,
    read_at: str,
    from_sources: bool = False,
    with_values: bool = True,
) -> Collected:
    """Asks all partitions of a table (of a reference table one copy), or some of a DIRECTORY's many members.

    `catalog` has the DIRECTORY's members. Without `with_values` no value of a row is in the result.
    """
    if table.columns is None:
        raise ProgrammingError(
            f'the columns of "{table.full_name}" are not known',
            reason=Reason.CATALOG,
            hint="Run `shardwise catalog import`, or list them in the catalog",
        )
    collecting = _Collecting(catalog, table, each)
    found, source, looked_at = collecting.told() if from_sources else collecting.read()
    rows, columns = found
    columns = {name: _tidied(each, with_values=with_values) for name, each in columns.items()}
    return Collected(
        statistics=TableStatistics(
            name=table.name, schema=table.schema, rows=rows, source=source, read_at=read_at, columns=columns
        ),
        looked_at=looked_at,
        left_out={column.name: column.type for column in collecting.columns if column.is_unread},
    )


def _tidied(known: ColumnStatistics, *, with_values: bool) -> ColumnStatistics:
    """Figures of few digits, for people read them."""
    return ColumnStatistics(
        distinct=known.distinct,
        nulls=figures.short(known.nulls),
        width=None if known.width is None else round(known.width, 3),
        bounds=known.bounds if with_values else (),
        common=known.common if with_values else (),
    )


Found = tuple[int, dict[str, ColumnStatistics]]


class _Collecting:
    """One table being looked at."""

    def __init__(self, catalog: Catalog, table: Table, each: Each) -> None:
        self.catalog = catalog
        self.table = table
        self.columns = asked_columns(catalog, table)
        self._each = each
        self._fills = catalog.fills(table)
        self._is_directory = bool(getattr(table.placement, "virtual", ())) or _is_directory(catalog, table)
        all_parts = _parts(catalog, table)
        step = -(-len(all_parts) // MEMBERS_MAX) if self._is_directory else 1
        self._parts = all_parts[:: max(step, 1)]
        self._factor = len(all_parts) / len(self._parts) if self._parts else 1.0
        self._all = len(all_parts)

    @property
    def _is_some(self) -> bool:
        return len(self._parts) < self._all

    def _ask(self, work: Callable[[Asking], _T]) -> list[_T | None]:
        """The answers of all partitions; None of those that are not there."""

        def one(source: Source, part: Part) -> _T | None:
            names = {
                name.casefold(): name
                for name, _ in source.physical_columns(quoted_table(part.name, source.dialect))
            }
            if not names:
                if self._is_directory:
                    return None
                raise OperationalError(
                    f'table "{part.name}" is missing on shard "{part.shard}"',
                    reason=Reason.SCHEMA_DRIFT,
                    shard=part.shard,
                    hint="Run `shardwise catalog check` to see all differences",
                )
            return work(Asking(source, part, names, self._fills))

        return self._each(self._parts, one)

    # -- reading rows --------------------------------------------------------------------------

    def read(self) -> tuple[Found, Origin, str]:
        """By a scan, or of a sample."""
        counts = self._ask(lambda asking: (asking.count(), asking.reader.dialect))
        rows = sum(count for count, _ in filter(None, counts))
        largest = max((count / SCANNED_MAX[dialect] for count, dialect in filter(None, counts)), default=0.0)
        by_part = [0 if found is None else found[0] for found in counts]
        if rows <= SAMPLE_ROWS:
            columns = self._columns_of(self._seen(1.0), rows, {}, is_whole=True)
            looked_at, source = "all rows", "scan"
        else:
            seen = self._seen(SAMPLE_ROWS / rows)
            is_scanned = largest <= 1
            by_md5 = {dialect for _, dialect in filter(None, counts)} != {"duckdb"}
            totals = self._totals(by_md5=by_md5) if is_scanned else {}
            columns = self._columns_of(seen, rows, totals, is_whole=False)
            sampled = f"{seen.rows:,} rows"
            looked_at = f"all rows, {sampled} for bounds" if is_scanned else sampled
            source = "scan" if is_scanned else "sample"
        columns |= self._virtual(by_part)
        if self._is_some:
            source, looked_at = "sample", f"{looked_at} of {len(self._parts):,} of {self._all:,} members"
        origin: Origin = "scan" if source == "scan" else "sample"
        return (round(rows * self._factor), columns), origin, looked_at

    def _seen(self, share: float) -> Seen:
        seen = Seen(self.columns)
        for rows in self._ask(lambda asking: asking.sample(self.columns, share)):
            seen.add(rows or ())
        return seen

    def _totals(self, *, by_md5: bool) -> dict[str, Scanned]:
        columns = self.columns
        sketched = [column for column in columns if not column.is_unread and not column.is_apart]
        answers = self._ask(lambda asking: (asking.totals(columns), asking.sketches(sketched, by_md5=by_md5)))
        there = [answer for answer in answers if answer is not None]
        return {
            column.name: Scanned.of(
                column, [t[column.name] for t, _ in there], [s.get(column.name, {}) for _, s in there]
            )
            for column in columns
        }

    def _columns_of(
        self, seen: Seen, rows: int, scanned: Mapping[str, Scanned], *, is_whole: bool
    ) -> dict[str, ColumnStatistics]:
        return {
            column.name: self._column(column, seen, rows, scanned.get(column.name), is_whole=is_whole)
            for column in self.columns
        }

    def _column(
        self, column: AskedColumn, seen: Seen, rows: int, scanned: Scanned | None, *, is_whole: bool
    ) -> ColumnStatistics:
        values, nulls = seen.values[column.name], seen.nulls[column.name]
        share = nulls / seen.rows if seen.rows else 0.0
        width = column.width if column.width is not None else seen.width(column)
        least = most = None
        if scanned is not None:
            share = 1 - scanned.count / rows if rows else 0.0
            least, most = scanned.least, scanned.most
            width = column.width if column.width is not None else (scanned.width or width)
        if column.is_unread:
            return ColumnStatistics(nulls=share, width=width)
        filled = rows * (1 - share) * self._factor
        distinct = self._distinct(column, values, filled, scanned, is_whole=is_whole)
        return ColumnStatistics(
            distinct=distinct,
            nulls=share,
            width=width,
            bounds=figures.bounds(column.order, values, least, most) if column.order else (),
            common=figures.common(values, seen.rows, distinct, is_whole=is_whole),
        )

    def _distinct(
        self,
        column: AskedColumn,
        values: Mapping[str, float],
        filled: float,
        scanned: Scanned | None,
        *,
        is_whole: bool,
    ) -> float:
        """No fewer than were seen, no more than there are rows, or values between the least and the most."""
        if is_unique(self.table, column):
            return float(round(filled))
        if is_whole and column.is_apart:
            return float(round(len(values) * self._factor))
        sampled = sum(values.values())
        if scanned is not None and len(values) == sampled >= _UNIQUE_MIN and not column.is_apart:
            found = filled  # a sample of which no value came twice
        elif scanned is not None:
            found = scanned.distinct * (self._factor if column.is_apart else 1)
        else:
            found = figures.distinct_of_sample(values, sampled, filled)
        if scanned is not None or (is_whole and not self._is_some):
            least, most = (
                (scanned.least, scanned.most)
                if scanned is not None
                else figures.extremes(column.order, values)
            )
            found = figures.capped(column, found, least, most)
        return float(round(min(max(found, len(values)), max(filled, len(values)))))

    def _virtual(self, rows: Sequence[int]) -> dict[str, ColumnStatistics]:
        """Columns that no partition has: each row of a member has the member in it."""
        placement = self.table.placement
        found: dict[str, ColumnStatistics] = {}
        for declared in placement.virtual if isinstance(placement, Sharded) else ():
            column = asked_column(declared, self.catalog.dialect)
            values: Counter[str] = Counter()
            for part, count in zip(self._parts, rows, strict=True):
                if part.member is not None and count:
                    values[figures.normal(column.order, part.member)] += count
            total = sum(values.values())
            lengths = sum(len(text.encode()) * count for text, count in values.items())
            width = lengths / total + OFFSET_BYTES if total else None
            found[column.name] = ColumnStatistics(
                distinct=float(round(len(values) * self._factor)),
                width=column.width if column.width is not None else width,
                bounds=figures.bounds(column.order, values) if column.order else (),
                common=figures.common(values, total * self._factor, len(values), is_whole=not self._is_some),
            )
        return found

    # -- from sources --------------------------------------------------------------------------

    def told(self) -> tuple[Found, Origin, str]:
        """What the sources know without reading rows."""
        answers = self._ask(lambda asking: told(asking, self.columns))
        there = [Told(0, {}) if answer is None else answer for answer in answers]
        rows, columns = merged(self.columns, there, self._factor)
        for column in self.columns:
            if is_unique(self.table, column):
                known = columns.get(column.name, ColumnStatistics(width=column.width))
                filled = float(round(rows * (1 - known.nulls)))
                columns[column.name] = replace(known, distinct=filled)
        columns |= self._virtual([each.rows for each in there])
        some = f" of {len(self._parts):,} of {self._all:,} members" if self._is_some else ""
        return (rows, columns), "sources", f"no rows: {count_text(len(self._parts), 'partition')} asked{some}"


def is_unique(table: Table, column: AskedColumn) -> bool:
    """Whether the catalog says that no two rows have the same value of the column, wherever they are."""
    name = column.name.casefold()
    is_key = any(len(key) == 1 and key[0].casefold() == name for key in table.unique)
    is_across = any(len(key) == 1 and key[0].casefold() == name for key in table.unique_across)
    is_one = not isinstance(table.placement, Sharded) and getattr(table.placement, "on", None) is not None
    return is_across or (is_key and (column.is_apart or is_one))


def _is_directory(catalog: Catalog, table: Table) -> bool:
    sharding = catalog.sharding_of(table)
    return sharding is not None and sharding.is_open


def _parts(catalog: Catalog, table: Table) -> tuple[Part, ...]:
    """All partitions; of a reference table those of one copy."""
    homes = catalog.homes(table)
    if isinstance(table.placement, Reference):
        homes = homes[:1]
    has_member = isinstance(table.placement, Sharded) and bool(table.placement.virtual)
    found = []
    for shard in homes:
        names = catalog.partitions(table, shard)
        members = catalog.members_on(table, shard) if has_member else (None,) * len(names)
        found += [Part(shard, name, member) for name, member in zip(names, members, strict=True)]
    return tuple(found)

"""What a source knows of a physical table without reading its rows, and several of them put together.

| product | rows | of columns |
|---|---|---|
| MariaDB, MySQL | information_schema.TABLES | indexes' cardinalities; mysql.column_stats if it may be read |
| PostgreSQL | its planner's estimate | pg_stats |
| SQLite | sqlite_stat1, else the largest rowid | indexes in sqlite_stat1 |
| DuckDB | duckdb_tables() | |
| Parquet | the files' metadata | nulls, least and most |
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from shardwise.catalog.statistics import ColumnStatistics
from shardwise.errors import OperationalError
from shardwise.inspection.analyzing import figures
from shardwise.inspection.analyzing.columns import AskedColumn
from shardwise.inspection.analyzing.parts import Asking


class Told(NamedTuple):
    """Rows, and what is known of columns, by folded name; bounds may be the least and the most alone."""

    rows: int
    columns: Mapping[str, ColumnStatistics]


def told(asking: Asking, columns: Sequence[AskedColumn]) -> Told:
    """Raises OperationalError where a source does not know how many rows there are."""
    rows, known = _ASKERS[asking.reader.dialect](asking, columns)
    if rows is None:
        raise OperationalError(
            f'the source of shard "{asking.part.shard}" does not know how many rows "{asking.part.name}" has',
            shard=asking.part.shard,
            hint="ANALYZE without FROM SOURCES counts them",
        )
    by_name = {column.name.casefold(): column for column in columns}
    return Told(
        rows,
        {name: _normal(by_name[name], each) for name, each in known.items() if name in by_name},
    )


def _normal(column: AskedColumn, known: ColumnStatistics) -> ColumnStatistics:
    """In the form in which values are kept; none of columns whose values are not looked at."""
    if column.is_unread:
        return ColumnStatistics(nulls=known.nulls, width=known.width)
    order = column.order
    texts = [figures.normal(order, text) for text in known.bounds] if order else []
    ranked = [text for text in texts if figures.rank(order, text) is not None]
    values = ((figures.normal(order, text), share) for text, share in known.common)
    return replace(
        known,
        bounds=tuple(ranked) if len(ranked) > 1 else (),
        common=tuple((text, share) for text, share in values if figures.is_kept(text)),
    )


# ------------------------------------------------------------------ put together


def merged(
    columns: Sequence[AskedColumn], parts: Sequence[Told], factor: float
) -> tuple[int, dict[str, ColumnStatistics]]:
    """Of all partitions: rows add up, shares and widths are weighted by rows; `factor` stands for those not
    asked."""
    rows = sum(part.rows for part in parts)
    found = {}
    for column in columns:
        known = [
            (part.rows, each)
            for part in parts
            if (each := part.columns.get(column.name.casefold())) is not None and part.rows
        ]
        statistics = _merged(column, known, rows, factor) if known else None
        width = column.width if column.width is not None else (statistics.width if statistics else None)
        if statistics is not None or width is not None:
            found[column.name] = replace(statistics or ColumnStatistics(), width=width)
    return round(rows * factor), found


def _merged(
    column: AskedColumn, known: Sequence[tuple[int, ColumnStatistics]], rows: int, factor: float
) -> ColumnStatistics:
    weight = sum(count for count, _ in known)
    nulls = sum(count * each.nulls for count, each in known) / weight
    widths = [(count * (1 - each.nulls), each.width) for count, each in known if each.width is not None]
    wide = sum(count for count, _ in widths)
    return ColumnStatistics(
        distinct=_distinct(column, known, rows * factor * (1 - nulls), rows, factor),
        nulls=nulls,
        width=sum(count * width for count, width in widths) / wide if wide else None,
        bounds=_bounds(column, known),
        common=_common(known, weight),
    )


def _distinct(
    column: AskedColumn,
    known: Sequence[tuple[int, ColumnStatistics]],
    filled: float,
    rows: int,
    factor: float,
) -> float | None:
    parts = [(each.distinct, count * (1 - each.nulls)) for count, each in known if each.distinct is not None]
    if not parts or sum(count for count, each in known if each.distinct is not None) < rows:
        return None  # of some nothing is known
    if column.is_apart:
        found = sum(distinct for distinct, _ in parts) * factor
    else:
        listed = {text for _, each in known for text, _ in each.common}
        found = max(figures.distinct_of_union(parts), float(len(listed)))
    return float(round(min(found, filled)))


def _bounds(column: AskedColumn, known: Sequence[tuple[int, ColumnStatistics]]) -> tuple[str, ...]:
    """Each partition's rows lie evenly between its bounds, that is at the upper ones."""
    there = [(count * (1 - each.nulls), each.bounds) for count, each in known if each.bounds]
    if column.order is None or not there:
        return ()
    seen: dict[str, float] = {}
    for count, bounds in there:
        for text in bounds[1:]:
            seen[text] = seen.get(text, 0.0) + count / (len(bounds) - 1)
    least, most = figures.extremes(column.order, (text for _, bounds in there for text in bounds))
    if all(len(bounds) == 2 for _, bounds in there):
        return (least, most) if least is not None and most is not None else ()
    return figures.bounds(column.order, seen, least, most)


def _common(known: Sequence[tuple[int, ColumnStatistics]], rows: int) -> tuple[tuple[str, float], ...]:
    """What a partition does not count among its common values counts as not there."""
    shares: dict[str, float] = {}
    for count, each in known:
        for text, share in each.common:
            shares[text] = shares.get(text, 0.0) + share * count / rows
    ordered = sorted(shares.items(), key=lambda each: (-each[1], each[0]))
    return tuple((text, figures.short(share)) for text, share in ordered[: figures.COMMON_MAX])


# ------------------------------------------------------------------ MariaDB, MySQL

Known = tuple[int | None, dict[str, ColumnStatistics]]


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def _mysql(asking: Asking, columns: Sequence[AskedColumn]) -> Known:
    schema, _, name = asking.part.name.rpartition(".")
    place = _text(schema) if schema else "DATABASE()"
    of = f"TABLE_SCHEMA = {place} AND TABLE_NAME = {_text(name)}"
    rows = asking.reader.rows(f"SELECT TABLE_ROWS FROM information_schema.TABLES WHERE {of}")
    count = None if not rows or rows[0][0] is None else int(rows[0][0])
    known: dict[str, ColumnStatistics] = {}
    for column, distinct in asking.reader.rows(
        "SELECT COLUMN_NAME, MAX(CARDINALITY) FROM information_schema.STATISTICS"
        f" WHERE {of} AND SEQ_IN_INDEX = 1 AND SUB_PART IS NULL GROUP BY COLUMN_NAME"
    ):
        if distinct is not None:
            known[str(column).casefold()] = ColumnStatistics(distinct=float(distinct))
    ((may_read,),) = asking.reader.rows(
        "SELECT count(*) FROM information_schema.TABLES"
        " WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = 'column_stats'"
    )
    if may_read:
        of = f"db_name = {place} AND table_name = {_text(name)}"
        for column, least, most, nulls, width, each in asking.reader.rows(
            "SELECT column_name, min_value, max_value, nulls_ratio, avg_length, avg_frequency"
            f" FROM mysql.column_stats WHERE {of}"
        ):
            key = str(column).casefold()
            share = 0.0 if nulls is None else float(nulls)
            distinct = None
            if count is not None and each:
                distinct = count * (1 - share) / float(each)
            before = known.get(key)
            known[key] = ColumnStatistics(
                distinct=before.distinct if before is not None else distinct,
                nulls=share,
                width=None if width is None else float(width),
                bounds=() if least is None or most is None else (_plain(least), _plain(most)),
            )
    return count, known


def _plain(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


# ------------------------------------------------------------------ PostgreSQL


def _postgres(asking: Asking, columns: Sequence[AskedColumn]) -> Known:
    from_ = ".".join('"' + part.replace('"', '""') + '"' for part in asking.part.name.split("."))
    plan = asking.reader.rows(f"EXPLAIN (FORMAT JSON) SELECT 1 FROM {from_}")[0][0]
    found = json.loads(plan) if isinstance(plan, str | bytes) else plan
    count = int(found[0]["Plan"]["Plan Rows"])
    schema, _, name = asking.part.name.rpartition(".")
    place = f"'{_single(schema)}'" if schema else "current_schema()"
    known = {}
    for column, nulls, width, distinct, values, shares, bounds in asking.reader.rows(
        "SELECT attname::text, null_frac, avg_width, n_distinct, most_common_vals::text::text[],"
        " most_common_freqs, histogram_bounds::text::text[] FROM pg_stats"
        f" WHERE schemaname = {place} AND tablename = '{_single(name)}' ORDER BY inherited"
    ):
        number = float(distinct)
        common = tuple(zip(map(str, values or ()), map(float, shares or ()), strict=False))
        known[str(column).casefold()] = ColumnStatistics(
            distinct=number if number >= 0 else -number * count,
            nulls=float(nulls),
            width=float(width),
            bounds=_with_common(tuple(map(str, bounds or ())), common, float(nulls)),
            common=common,
        )
    return count, known


_WEIGHT: Final = 1000.0
"""Rows that a whole partition counts as, where only shares are known."""


def _with_common(
    bounds: tuple[str, ...], common: tuple[tuple[str, float], ...], nulls: float
) -> tuple[str, ...]:
    """PostgreSQL's histogram leaves its common values out. Put in where they are numbers or moments."""
    if not common:
        return bounds
    rest = max(0.0, 1 - nulls - sum(share for _, share in common))
    for order in ("number", "moment"):
        texts = [*bounds, *(text for text, _ in common)]
        if all(figures.rank(order, figures.normal(order, text)) is not None for text in texts):
            normal = [figures.normal(order, text) for text in texts]
            seen: dict[str, float] = {}
            shares = [rest / (len(bounds) - 1)] * (len(bounds) - 1) if len(bounds) > 1 else []
            shares = [0.0] * (len(bounds) - len(shares)) + shares + [share for _, share in common]
            for text, share in zip(normal, shares, strict=True):
                seen[text] = seen.get(text, 0.0) + share * _WEIGHT
            return figures.bounds(order, seen, *figures.extremes(order, normal))
    return bounds


def _single(text: str) -> str:
    return text.replace("'", "''")


# ------------------------------------------------------------------ SQLite


def _sqlite(asking: Asking, columns: Sequence[AskedColumn]) -> Known:
    reader, name = asking.reader, _single(asking.part.name)
    ((has_stat,),) = reader.rows("SELECT count(*) FROM sqlite_master WHERE name = 'sqlite_stat1'")
    count: int | None = None
    known: dict[str, ColumnStatistics] = {}
    if has_stat:
        for index, stat in reader.rows(
            f"SELECT idx, stat FROM sqlite_stat1 WHERE tbl = '{name}' COLLATE NOCASE"
        ):
            numbers = [int(word) for word in str(stat).split() if word.isdigit()]
            count = max(count or 0, numbers[0]) if numbers else count
            if index is None or len(numbers) < 2 or not numbers[1]:
                continue
            first = reader.rows(
                f"SELECT name FROM pragma_index_info('{_single(str(index))}') WHERE seqno = 0"
            )
            for (column,) in first:
                if column is not None:
                    known[str(column).casefold()] = ColumnStatistics(distinct=numbers[0] / numbers[1])
    if count is None:
        kinds = reader.rows(f"SELECT type, wr FROM pragma_table_list('{name}') WHERE schema = 'main'")
        if kinds and tuple(kinds[0]) == ("table", 0):
            quoted = '"' + asking.part.name.replace('"', '""') + '"'
            ((largest,),) = reader.rows(f"SELECT max(rowid) FROM {quoted}")
            count = max(0, int(largest or 0))
    return count, known


# ------------------------------------------------------------------ DuckDB, Parquet

_FILES: Final = re.compile(r"read_parquet\(\s*\[?\s*'((?:[^']|'')*)'", re.IGNORECASE)


def _duckdb(asking: Asking, columns: Sequence[AskedColumn]) -> Known:
    schema, _, name = asking.part.name.rpartition(".")
    of = f"database_name = current_database() AND lower(schema_name) = lower('{_single(schema or 'main')}')"
    found = asking.reader.rows(
        f"SELECT estimated_size FROM duckdb_tables() WHERE {of}"
        f" AND lower(table_name) = lower('{_single(name)}')"
    )
    if found:
        return int(found[0][0]), {}
    views = asking.reader.rows(
        f"SELECT sql FROM duckdb_views() WHERE {of} AND lower(view_name) = lower('{_single(name)}')"
    )
    files = _FILES.search(str(views[0][0])) if views else None
    return (None, {}) if files is None else _parquet(asking, columns, files[1])


def _parquet(asking: Asking, columns: Sequence[AskedColumn], files: str) -> Known:
    """The metadata of each row group."""
    ((count,),) = asking.reader.rows(f"SELECT sum(num_rows) FROM parquet_file_metadata('{files}')")
    orders = {column.name.casefold(): column.order for column in columns}
    known: dict[str, ColumnStatistics] = {}
    for path, values, nulls, groups, told_groups, least, most in asking.reader.rows(
        "SELECT path_in_schema, sum(num_values), sum(stats_null_count), count(*), count(stats_null_count),"
        " list(DISTINCT coalesce(stats_min_value, stats_min)),"
        f" list(DISTINCT coalesce(stats_max_value, stats_max)) FROM parquet_metadata('{files}')"
        " GROUP BY path_in_schema"
    ):
        name = str(path).casefold()
        order = orders.get(name)
        if name not in orders:
            continue  # a part of a nested one
        texts = (
            figures.normal(order, str(text)) for text in (*(least or ()), *(most or ())) if text is not None
        )
        first, last = figures.extremes(order, texts)
        known[name] = ColumnStatistics(
            nulls=float(nulls) / float(values) if groups == told_groups and values else 0.0,
            bounds=() if first is None or last is None else (first, last),
        )
    return int(count or 0), known


_ASKERS: Final[Mapping[str, Callable[[Asking, Sequence[AskedColumn]], Known]]] = {
    "duckdb": _duckdb,
    "mysql": _mysql,
    "postgres": _postgres,
    "sqlite": _sqlite,
}

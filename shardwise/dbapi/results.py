"""What a cursor reads from: rows that come off the shards, or rows that are already here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import duckdb
import pyarrow as pa

from shardwise.errors import DataError, NotSupportedError
from shardwise.executor.result import Result
from shardwise.plan.run import Plan
from shardwise.plan.statistics import ShardStats, Statistics
from shardwise.planner.context import Seen

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[Any, ...]
_ROWS_AT_ONCE = 4096
_NO_SUCH_MOMENT = "22008"
"""The SQLSTATE of a day or a moment that Python has no object for."""


class Rows(Protocol):
    """`columns` are (name, DuckDB's type); rows are handed out once, as tuples or as Arrow."""

    @property
    def columns(self) -> Sequence[tuple[str, str]]: ...
    @property
    def plan(self) -> Plan | None: ...
    @property
    def stats(self) -> Statistics | None: ...
    def begin(self) -> None: ...
    def fetchmany(self, count: int) -> list[Row]: ...
    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader: ...
    def close(self) -> None: ...
    def cancel(self) -> None: ...


class FragmentProgress(NamedTuple):
    """A fragment's name, the shards it asks, and what those have sent that have answered."""

    name: str
    asked: tuple[str, ...]
    answered: Mapping[str, ShardStats]


class Progress(NamedTuple):
    """How many requests to shards were answered, of how many so far; rows and bytes that they sent."""

    answered: int = 0
    asked: int = 0
    rows: int = 0
    bytes: int = 0
    fragments: tuple[FragmentProgress, ...] = ()


def progress_of(plan: Plan | None, stats: Statistics | None) -> Progress:
    """What a statement's plan wants asked, and what its run has measured so far."""
    if plan is None or stats is None:
        return Progress()
    return Progress(
        answered=sum(len(shards) for shards in stats.fragments.values()),
        asked=sum(len(fragment.route.shards) for fragment in plan.fragments),
        rows=stats.rows_moved,
        bytes=stats.bytes_moved,
        fragments=tuple(
            FragmentProgress(fragment.name, fragment.route.shards, stats.fragments.get(fragment.name, {}))
            for fragment in plan.fragments
        ),
    )


class LocalRows:
    """Rows made here: an EXPLAIN's, a SHOW's."""

    plan: Plan | None = None
    stats: Statistics | None = None

    def __init__(self, columns: Iterable[tuple[str, str]], rows: Iterable[Row]) -> None:
        self.columns = tuple(columns)
        self._rows = list(rows)
        self._next = 0

    def begin(self) -> None:
        """They are here."""

    def fetchmany(self, count: int) -> list[Row]:
        start = self._next
        self._next = min(start + count, len(self._rows))
        return self._rows[start : self._next]

    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        types = {"BIGINT": pa.int64(), "BOOLEAN": pa.bool_(), "DOUBLE": pa.float64()}
        schema = pa.schema([(name, types.get(code, pa.string())) for name, code in self.columns])
        rows = self.fetchmany(len(self._rows))
        arrays = [pa.array([row[i] for row in rows], field.type) for i, field in enumerate(schema)]
        return pa.Table.from_arrays(arrays, schema=schema).to_reader(max_chunksize=batch_rows)

    def close(self) -> None:
        self._rows = []

    def cancel(self) -> None:
        """Nothing runs."""


class PagedRows:
    """The rows of a page without their sort keys, which the result's last `hidden` columns are.

    Those of the last row that was read are `seen`: where the next page goes on.
    """

    def __init__(self, result: Result, hidden: int) -> None:
        self._result = result
        self._hidden = hidden
        self._columns = tuple(result.columns)
        self._last: Row | None = None
        self._reader: pa.RecordBatchReader | None = None

    @property
    def columns(self) -> Sequence[tuple[str, str]]:
        return self._columns[: -self._hidden]

    @property
    def plan(self) -> Plan | None:
        return self._result.plan

    @property
    def stats(self) -> Statistics | None:
        return self._result.stats

    def seen(self) -> Seen | None:
        """The last row's keys, once all are read; None if there was none."""
        if self._reader is not None:
            for _ in self._reader:
                pass
        else:
            while self.fetchmany(_ROWS_AT_ONCE):
                pass
        types = tuple(type_ for _, type_ in self._columns[-self._hidden :])
        return None if self._last is None else Seen(self._last, types)

    def begin(self) -> None:
        self._result.begin()

    def fetchmany(self, count: int) -> list[Row]:
        try:
            rows = self._result.fetchmany(count)
        except DataError as error:
            if error.sqlstate == _NO_SUCH_MOMENT:
                error.hint = (
                    "Where it is a key of the ORDER BY, which is read with each page, leave such rows out: "
                    "WHERE … BETWEEN '0001-01-01' AND '9999-12-31'. Where it is selected, cast it to text"
                )
            raise
        if rows:
            self._last = tuple(rows[-1][-self._hidden :])
        return [row[: -self._hidden] for row in rows]

    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        reader = self._result.arrow_reader(batch_rows)
        count = len(self._columns) - self._hidden
        schema = pa.schema(list(reader.schema)[:count])

        def batches() -> Iterator[pa.RecordBatch]:
            for batch in reader:
                if batch.num_rows:
                    last = batch.num_rows - 1
                    self._last = tuple(_value(column[last]) for column in batch.columns[count:])
                yield pa.RecordBatch.from_arrays(batch.columns[:count], schema=schema)

        self._reader = pa.RecordBatchReader.from_batches(schema, batches())
        return self._reader

    def close(self) -> None:
        self._result.close()

    def cancel(self) -> None:
        self._result.cancel()


def _value(cell: pa.Scalar) -> Any:
    """A cell's value. Days and moments that Python has none of are its extreme ones, as DuckDB has it of
    infinite ones: no page goes on from them."""
    try:
        return cell.as_py()
    except OverflowError:
        kind = date if pa.types.is_date(cell.type) else datetime
        return kind.max if cell.value > 0 else kind.min


class PeekedRows:
    """Rows of which the first batch was looked at, as Arrow, before anyone fetched (a notebook shows it).

    Nothing is lost: Arrow readers get that batch first, and tuples are made of it by DuckDB, as they
    would have been.
    """

    def __init__(self, source: Rows, batch_rows: int) -> None:
        self._source = source
        self.columns = source.columns
        self._reader = source.arrow_reader(batch_rows)
        self.first: pa.RecordBatch | None = next(iter(self._reader), None)
        self._pending = self.first
        self._tuples: list[Row] = []

    @property
    def plan(self) -> Plan | None:
        return self._source.plan

    @property
    def stats(self) -> Statistics | None:
        return self._source.stats

    def begin(self) -> None:
        """They have begun."""

    def fetchmany(self, count: int) -> list[Row]:
        while len(self._tuples) < count:
            batch = self._next_batch()
            if batch is None:
                break
            self._tuples += tuples(pa.Table.from_batches([batch]))
        rows, self._tuples = self._tuples[:count], self._tuples[count:]
        return rows

    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        return pa.RecordBatchReader.from_batches(self._reader.schema, iter(self._next_batch, None))

    def _next_batch(self) -> pa.RecordBatch | None:
        batch, self._pending = self._pending, None
        return batch if batch is not None else next(iter(self._reader), None)

    def close(self) -> None:
        self._source.close()

    def cancel(self) -> None:
        self._source.cancel()


def tuples(table: pa.Table) -> list[Row]:
    """An Arrow table's rows as DuckDB's Python values."""
    with duckdb.connect() as engine:
        rows: list[Row] = engine.from_arrow(table).fetchall()
    return rows


def need(package: str) -> None:
    """Raises, before any row is used up, if an optional package is not there."""
    try:
        import_module(package)
    except ImportError as error:
        raise NotSupportedError(
            f"{package} is not installed", hint=f"pip install 'shardwise[{package}]', or use to_arrow_table()"
        ) from error


def data_frame(table: pa.Table, types: Sequence[str]) -> pd.DataFrame:
    """A table as pandas has it from DuckDB's own `.df()`; `types` are its columns' in DuckDB's words."""
    zones = (f.type.tz for f in table.schema if pa.types.is_timestamp(f.type) and f.type.tz)
    columns = [
        f"{_from_arrow(f'c{i}', code)} AS {_quoted(name)}"
        for i, (name, code) in enumerate(zip(table.column_names, types, strict=True))
    ]
    try:
        with duckdb.connect() as engine:
            engine.execute("SET TimeZone = " + _quoted(next(zones, "UTC"), "'"))
            plain = engine.from_arrow(table.rename_columns([f"c{i}" for i in range(table.num_columns)]))
            return plain.project(", ".join(columns)).df()
    except duckdb.Error as error:  # a date that pandas cannot hold
        raise DataError(f"the rows do not fit into pandas: {error}", hint="Use to_arrow_table()") from error


def _from_arrow(column: str, code: str) -> str:
    """Types that Arrow has no word for come as text."""
    return f"CAST({column} AS {code})" if code == "UUID" or code.startswith("ENUM(") else column


def _quoted(text: str, quote: str = '"') -> str:
    return quote + text.replace(quote, quote * 2) + quote

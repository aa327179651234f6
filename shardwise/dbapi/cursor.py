"""A statement and its rows: PEP 249's cursor, and Arrow's road out of it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shardwise.dbapi import html, statements, writers
from shardwise.dbapi.files import new_file
from shardwise.dbapi.results import PagedRows, PeekedRows, Progress, Row, Rows, data_frame, need, progress_of
from shardwise.dbapi.statements.query import Query
from shardwise.dbapi.types import ColumnDescription, describe
from shardwise.errors import InterfaceError, ProgrammingError, Reason
from shardwise.executor.guard import Guard
from shardwise.executor.result import Result
from shardwise.plan.statistics import Statistics

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from shardwise.dbapi.connection import Connection

Parameters = Sequence[Any] | Mapping[str, Any]

_ROWS_AHEAD = 1024
_BATCH_ROWS = 65_536
_PEEK_ROWS = 2_048


class Cursor:
    """Runs a statement and hands out its rows, once: as tuples or as Arrow, not both.

    Made by `Connection.cursor()`. A cursor belongs to one thread at a time; `cancel()` may be called
    from any.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.arraysize = 1
        self._result: Rows | None = None
        self._description: tuple[ColumnDescription, ...] | None = None
        self._ahead: deque[Row] = deque()
        self._fetched = 0
        self._is_done = False
        self._is_arrow = False
        self._is_closed = False
        self._last: Rows | None = None
        self._guard: Guard | None = None
        self._page: _Page | None = None
        connection.opened(self)

    # -- running --------------------------------------------------------------------------

    def execute(self, sql: str, params: Parameters | None = None, **options: Any) -> Self:
        """Runs one statement. `params` is a sequence for `?` or a mapping for `:name`; on a connection of
        paramstyle "format" for `%s` and `%(name)s`.

        Returns, or raises, once each shard that is to be asked has begun to answer. An error in a row
        further on comes when that row is fetched.

        `options` are those of `shardwise.Options`, for this statement only:

            cur.execute("SELECT count(*) FROM orders WHERE customer_id = ?", [17], scatter="refuse")
        """
        self._check_open()
        self._discard()
        with self.connection.reading(_text(sql), params) as text:
            return self._run(statements.parse(text), params, options)

    def run(
        self, statement: statements.Statement, params: Parameters | None, options: Mapping[str, Any]
    ) -> Self:
        """Runs a statement that is parsed already."""
        self._check_open()
        self._discard()
        return self._run(statement, params, options)

    def _run(
        self, statement: statements.Statement, params: Parameters | None, options: Mapping[str, Any]
    ) -> Self:
        chosen = self.connection.options_with(options)
        self._page = None
        self._guard = guard = Guard(chosen)
        try:
            answer = statement.answer(self.connection, _parameters(params), chosen, guard)
        except BaseException:
            guard.done()
            raise
        if answer.rows is None or answer.rows.plan is None:
            guard.done()
        if answer.rows is None:
            self._fetched, self._is_done = answer.rowcount, True
            return self
        self._result = answer.rows
        if isinstance(answer.rows, PagedRows) and isinstance(statement, Query):
            self._page = _Page(statement, params, options)
        self._description = _described(answer.rows, answer.nullability)
        try:
            answer.rows.begin()
        except BaseException:
            self._discard()
            raise
        return self

    def next_page(self) -> Self:
        """Runs the statement again for the page after this one: what comes after its last row in the order.

            cur.execute("SELECT id, total FROM orders ORDER BY total DESC LIMIT 100", pages=True)
            while rows := cur.fetchall():
                …
                cur.next_page()

        However deep, it moves about a page's rows of each shard. Rows of this page that were not fetched are
        skipped. A page after an empty one begins where that would have: rows that came since are on it.
        """
        self._check_open()
        rows, page = self._result, self._page
        if page is None or not isinstance(rows, PagedRows):
            raise ProgrammingError(
                "there is no page to go on from",
                reason=Reason.NOT_SUPPORTED,
                hint="Execute SELECT … ORDER BY … LIMIT n with pages=True first",
            )
        seen = rows.seen() or page.statement.after
        self._discard()
        return self._run(Query(page.statement.sql, seen), page.params, page.options)

    def executemany(self, sql: str, param_sets: Sequence[Parameters]) -> Self:
        """For statements that write, of which there are none yet: raises."""
        self._check_open()
        self._discard()
        with self.connection.reading(_text(sql), ()) as text:
            statements.parse(text)
        hint = "Call execute() once per set of parameters, or put a list into one: WHERE id IN (?)"
        raise ProgrammingError(
            "executemany() is for statements that return no rows",
            hint=self.connection.in_its_style(hint),
            reason=Reason.NOT_SUPPORTED,
        )

    def cancel(self) -> None:
        """Stops what runs, from any thread; the fetch that waits for it raises `Cancelled`."""
        guard, result = self._guard, self._result
        if guard is not None:
            guard.cancel()
        if result is not None:
            result.cancel()

    def close(self) -> None:
        """Stops what runs and frees it. A second call does nothing."""
        if not self._is_closed:
            self._discard()
            self._is_closed = True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Does nothing (PEP 249 allows it)."""
        self._check_open()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Does nothing (PEP 249 allows it)."""
        self._check_open()

    # -- what is known of the rows ------------------------------------------------------------

    @property
    def description(self) -> tuple[ColumnDescription, ...] | None:
        """One item per column; None before a statement ran. Type codes are DuckDB's type names."""
        return self._description

    @property
    def rowcount(self) -> int:
        """How many rows there were; -1 until the last one is fetched."""
        return self._fetched if self._is_done else -1

    @property
    def stats(self) -> Statistics | None:
        """What the statement moved off the shards so far; None if it asked none."""
        rows = self._last if self._result is None else self._result
        return rows.stats if rows is not None else None

    @property
    def progress(self) -> Progress:
        """How far the statement is; may be asked from another thread."""
        return progress_of(self._result.plan if self._result is not None else None, self.stats)

    # -- rows as tuples -----------------------------------------------------------------------

    def fetchone(self) -> Row | None:
        """The next row, or None after the last."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """The next `size` rows (default: `arraysize`), fewer at the end."""
        count = self.arraysize if size is None else size
        result = self._rows_for_tuples()
        if len(self._ahead) < count and not self._is_done:
            self._ahead.extend(result.fetchmany(max(count - len(self._ahead), _ROWS_AHEAD)))
        rows = [self._ahead.popleft() for _ in range(min(count, len(self._ahead)))]
        self._fetched += len(rows)
        if len(rows) < count:
            self._finish()
        return rows

    def fetchall(self) -> list[Row]:
        """All rows that are left."""
        result = self._rows_for_tuples()
        rows = list(self._ahead)
        self._ahead.clear()
        while not self._is_done:
            more = result.fetchmany(_BATCH_ROWS)
            rows += more
            if len(more) < _BATCH_ROWS:
                self._finish()
        self._fetched += len(rows)
        return rows

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    # -- rows as Arrow --------------------------------------------------------------------------

    def to_arrow_reader(self, batch_rows: int = _BATCH_ROWS) -> pa.RecordBatchReader:
        """The rows as a stream of Arrow batches of about `batch_rows` rows, in bounded memory."""
        result = self._open_result()
        if self._fetched or self._ahead:
            raise InterfaceError(
                "rows were already fetched as tuples, the rest cannot be had as Arrow",
                hint="Execute the statement again",
            )
        if self._is_arrow:
            raise InterfaceError("the rows were already handed out", hint="Execute the statement again")
        self._is_arrow = True
        return result.arrow_reader(batch_rows)

    def to_arrow_table(self) -> pa.Table:
        """All rows as an Arrow table."""
        table = self.to_arrow_reader().read_all()
        self._fetched = table.num_rows
        self._finish()
        return table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface: polars, pandas and pyarrow read a cursor directly, once."""
        return self.to_arrow_reader().__arrow_c_stream__(requested_schema)

    def df(self) -> pd.DataFrame:
        """All rows as a pandas DataFrame, of the types that DuckDB's own `.df()` gives."""
        need("pandas")
        table = self.to_arrow_table()
        return data_frame(table, [column.type_code for column in self._description or ()])

    def pl(self) -> pl.DataFrame:
        """All rows as a polars DataFrame."""
        need("polars")
        import polars  # noqa: PLC0415  optional

        frame = polars.from_arrow(self.to_arrow_table())
        assert isinstance(frame, polars.DataFrame)
        return frame

    # -- rows to files --------------------------------------------------------------------------

    def write_parquet(
        self,
        path: str | os.PathLike[str],
        *,
        compression: str = "zstd",
        row_group_rows: int = writers.ROW_GROUP_ROWS,
    ) -> int:
        """All rows to a Parquet file, in bounded memory; gives their number.

        The file gets its name only when it is whole; if anything fails, what was there is still there.
        `compression` is "zstd", "snappy", "gzip", "lz4", "brotli" or "none".
        """
        with new_file(Path(path)) as sink:
            count = writers.write_parquet(
                self.to_arrow_reader(),
                self._description or (),
                sink,
                compression=compression,
                row_group_rows=row_group_rows,
            )
        self._fetched = count
        self._finish()
        return count

    def write_csv(
        self, path: str | os.PathLike[str], *, header: bool = True, delimiter: str = ",", null: str = ""
    ) -> int:
        """All rows to a CSV file in UTF-8, in bounded memory; gives their number.

        The file gets its name only when it is whole. NULL is `null`; a text equal to it is in quotes.
        """
        with new_file(Path(path)) as sink:
            count = writers.write_csv(
                self.to_arrow_reader(),
                self._description or (),
                sink,
                header=header,
                delimiter=delimiter,
                null=null,
                time_zone=self.connection.time_zone,
            )
        self._fetched = count
        self._finish()
        return count

    def _repr_html_(self) -> str:
        """The first rows, for a notebook. They are not used up: they can still be fetched."""
        if self._description is None or self._is_closed:
            return html.escape(repr(self))
        if self._result is None or self._is_arrow or self._fetched or self._ahead:
            return html.columns(self._description)
        if isinstance(self._result, Result) and not self._result.is_typed:
            return html.columns(self._description)
        if not isinstance(self._result, PeekedRows):
            self._result = PeekedRows(self._result, _PEEK_ROWS)
        return html.table(self._description, self._result.first)

    # -- closing ------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rows_for_tuples(self) -> Rows:
        result = self._open_result()
        if self._is_arrow:
            raise InterfaceError(
                "the rows were already handed out as Arrow", hint="Execute the statement again"
            )
        return result

    def _open_result(self) -> Rows:
        self._check_open()
        if self._result is None:
            why = "the statement gives none" if self._is_done else "no statement was executed"
            raise InterfaceError(f"there are no rows to fetch: {why}")
        return self._result

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("the cursor is closed")
        self.connection.check_open()

    def _finish(self) -> None:
        self._is_done = True

    def _discard(self) -> None:
        if self._result is not None:
            self._result.close()
            self._last = self._result
        self._result = self._guard = None
        self._description = None
        self._ahead.clear()
        self._fetched = 0
        self._is_done = self._is_arrow = False


@dataclass(frozen=True, slots=True)
class _Page:
    """What was executed, for the next page."""

    statement: Query
    params: Parameters | None
    options: Mapping[str, Any]


def _described(rows: Rows, nullability: Sequence[bool | None]) -> tuple[ColumnDescription, ...]:
    """Made once for a plan and those that differ from it in values."""
    memo = rows.plan.memo if rows.plan is not None else {}
    known: tuple[object, tuple[ColumnDescription, ...]] | None = memo.get("description")
    if known is None or known[0] != rows.columns:
        pairs = zip(rows.columns, nullability, strict=True)
        known = rows.columns, tuple(describe(name, code, null_ok) for (name, code), null_ok in pairs)
        memo["description"] = known
    return known[1]


def _text(sql: object) -> str:
    if not isinstance(sql, str):
        raise ProgrammingError(f"a statement is a str, not {type(sql).__name__}")
    return sql


def _parameters(params: object) -> Parameters:
    if params is None:
        return ()
    if type(params) in (list, tuple, dict):
        return params  # type: ignore[return-value]  # the usual ones; to ask for protocols takes its time
    if isinstance(params, Mapping) or (isinstance(params, Sequence) and not isinstance(params, str | bytes)):
        return params
    raise ProgrammingError(
        f"parameters are a sequence for ? or a mapping for :name, not {type(params).__name__}",
        reason=Reason.PARAMETERS,
        hint="For one value write [value]",
    )

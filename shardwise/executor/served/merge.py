"""The merge of the mysql and postgres dialects: a server of the dialect finishes the work over shipped rows.

    WITH f1 AS (SELECT … FROM JSON_TABLE(…)) SELECT f1.name, avg(f1.x) / 3 FROM f1 GROUP BY f1.name

So functions, collations, result types, division and NULL order are the server's own, by construction. It
runs on one of the catalog's own sources, its *home*, by default one that is asked anyhow, and needs nothing
there but the right to SELECT. Rows are taken off all shards before the home is asked for a connection:
whoever waits for one holds none.

A statement that only puts the shards' rows one after another needs no home: they go through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

import pyarrow as pa

from shardwise.errors import BudgetExceeded, Cancelled, Error, InternalError
from shardwise.executor.backends.base import Columns
from shardwise.executor.served.arrow import Row, rows_of, typed_reader
from shardwise.executor.served.form import TextForm, types_of
from shardwise.executor.served.home import Home, Homes
from shardwise.executor.served.product import Relation
from shardwise.executor.stream import Stream
from shardwise.options import Options
from shardwise.plan.run import Merge, Passes

_T = TypeVar("_T")
_WITH = re.compile(r"\s*WITH\s+(RECURSIVE\s+)?", re.IGNORECASE)


class ServedMerge:
    """On servers of the catalog."""

    def __init__(self, homes: Homes) -> None:
        self._homes = homes

    def start(
        self,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, Any]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: Columns | None,
    ) -> ServedMerging:
        """`streams` are by input name, with their `TextForm`s."""
        used = {name: locals[name] for name in merge.locals}
        return ServedMerging(self._homes, merge, streams, used, options, wanted)

    def close(self) -> None:
        """Nothing outlives a statement."""


class ServedMerging:
    """One statement."""

    is_typed = True
    is_direct = False

    def __init__(
        self,
        homes: Homes,
        merge: Merge,
        streams: Mapping[str, tuple[Stream, TextForm]],
        locals: Mapping[str, Any],  # noqa: A002
        options: Options,
        wanted: Columns | None,
    ) -> None:
        self._homes = homes
        self._product = homes.product
        self._merge = merge
        self._streams = streams
        self._locals = locals
        self._options = options
        self._wanted = wanted
        self._home: Home | None = None
        self._relations: dict[str, Relation] = {}
        self._statement: tuple[str, Mapping[str, Any]] | None = None
        self._passing: Passing | None = None
        self._is_running = self._is_stopped = False
        self.merged_on: str | None = None

    @property
    def columns(self) -> Columns:
        """Names and the server's types of the rows."""
        if self._wanted is None:
            self._run()
        assert self._wanted is not None
        return self._wanted

    def begin(self) -> None:
        """Takes the rows off the shards, ships them and starts the statement; a stream that just passes is
        left as it is."""
        if self._statement is not None or self._passing is not None:
            return
        if self._merge.passes is not None and self._wanted is not None:
            stream, form = self._streams[self._merge.passes.input]
            rows = _passed(stream.batches(), self._merge.passes)
            self._passing = Passing(form, rows, self._wanted, self._options.time_zone)
            return
        self._relations = {name: self._taken(name) for name in self._streams}
        for name, data in self._locals.items():
            self._relations[name] = self._registered(name, data)
        self._statement = self._shipped()
        self._run()

    def fetchmany(self, count: int) -> list[Row]:
        self.begin()
        if self._passing is not None:
            return self._passing.fetchmany(count)
        self._run()
        home = self._home
        if home is None:
            return []
        try:
            return home.connection.fetchmany(count)
        except Exception as error:
            raise self._translated(error) from error

    def reader(self, batch_rows: int) -> pa.RecordBatchReader:
        self.begin()
        if self._passing is not None:
            return self._passing.reader()
        assert self._statement is not None
        sql, params = self._statement
        found = self._again(lambda: self._opened().connection.arrow(sql, params, batch_rows))
        self._is_running = True
        columns = self._wanted or tuple(zip(found.schema.names, types_of(found.schema), strict=True))

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                yield from found
            except Exception as error:
                raise self._translated(error) from error

        return typed_reader(self._product, columns, batches())

    def interrupt(self) -> None:
        self._is_stopped = True
        home = self._home
        if home is not None:
            home.interrupt()

    def close(self) -> None:
        home, self._home, self._passing = self._home, None, None
        if home is not None:
            home.close()

    # -- inside -------------------------------------------------------------------------------

    def _run(self) -> None:
        """Starts the statement."""
        self.begin()
        if self._is_running or self._home is None or self._statement is None:
            return
        sql, params = self._statement
        found = self._again(lambda: self._opened().run(sql, params))
        self._is_running = True
        self._wanted = self._wanted or found

    def _shipped(self) -> tuple[str, Mapping[str, Any]]:
        """Opens the home, if it is not open, and takes the rows there; gives the statement over them."""
        params = dict(self._merge.params)
        for relation in self._relations.values():
            params |= relation.params
        sql = _with(self._merge.sql, self._relations, self._product.identifier)
        self._again(self._take_there)
        return sql, params

    def _take_there(self) -> None:
        home = self._opened()
        for relation in self._relations.values():
            for sql, values in relation.before:
                self._check()
                home.run(sql, values)

    def _opened(self) -> Home:
        if self._home is None:
            self._check()
            first = next((s.source for s, _ in self._streams.values() if s.source is not None), None)
            self._home = self._homes.open(first, self._options.time_zone)
            self.merged_on = self._home.name
            self._check()
        return self._home

    def _again(self, ask: Callable[[], _T]) -> _T:
        """Asks the home; once more on another connection, rows and all, if that may help."""
        try:
            return ask()
        except Exception as error:
            ours = self._translated(error)
            home = self._home
            if self._is_stopped or home is None or not self._homes.may_retry(home, ours):
                raise ours from error
            self._home = None
            home.close()
        try:
            if ask != self._take_there:
                self._take_there()
            return ask()
        except Exception as error:
            raise self._translated(error) from error

    def _translated(self, error: Exception) -> Error:
        if isinstance(error, Error):
            return error
        if self._home is not None:
            return self._home.translate(error)
        if self._is_stopped:
            return Cancelled("the statement was cancelled")
        return InternalError(f"{type(error).__name__}: {error}")

    def _taken(self, name: str) -> Relation:
        """All rows of a stream, to be shipped."""
        stream, form = self._streams[name]
        batches, size = [], 0
        for batch in stream.batches():
            self._check()
            size += batch.nbytes
            if size > self._options.memory_bytes_max:
                raise BudgetExceeded(
                    f"the merge would take more than {self._options.memory_bytes_max:,} bytes of fragment "
                    f"{name} to its server",
                    hint="Raise memory_bytes_max, or see with EXPLAIN what could be filtered or aggregated "
                    "on the shards",
                    sqlstate="53200",
                )
            batches.append(batch)
        columns = form.shipped()
        self._product.check_moments(columns, batches, self._options.time_zone)
        self._product.check_shown(columns, batches, self._merge.sql)
        return self._product.relation(name, columns, batches, stored=name in self._merge.stored)

    def _registered(self, name: str, data: Any) -> Relation:
        """An Arrow table of the connection's own."""
        columns = self._product.columns_of_arrow(data.schema)
        batches = [self._product.texts(batch, columns) for batch in data.to_batches()]
        return self._product.relation(name, columns, batches, stored=True)

    def _check(self) -> None:
        if self._is_stopped:
            raise Cancelled("the statement was cancelled")


class Passing:
    """Shards' rows one after another, as tuples or as Arrow."""

    def __init__(
        self, form: TextForm, batches: Iterator[pa.RecordBatch], columns: Columns, time_zone: str
    ) -> None:
        self._product = form.product
        self._batches = batches
        self._columns = columns
        self._time_zone = time_zone
        self._rows: Iterator[Row] | None = None

    def fetchmany(self, count: int) -> list[Row]:
        if self._rows is None:
            self._rows = chain.from_iterable(map(self._python, self._batches))
        return list(islice(self._rows, count))

    def reader(self) -> pa.RecordBatchReader:
        return typed_reader(self._product, self._columns, self._batches)

    def _python(self, batch: pa.RecordBatch) -> Iterator[Row]:
        return rows_of(self._product, batch, types_of(batch.schema), self._time_zone)


def _passed(batches: Iterator[pa.RecordBatch], passes: Passes) -> Iterator[pa.RecordBatch]:
    """The rows of the answer, with its columns."""
    skipped, left = passes.offset, passes.count
    while left is None or left > 0:
        batch = next(batches, None)
        if batch is None:
            return
        rows = batch.slice(min(skipped, batch.num_rows))
        rows = rows if left is None else rows.slice(0, min(left, rows.num_rows))
        skipped = max(0, skipped - batch.num_rows)
        left = None if left is None else left - rows.num_rows
        if rows.num_rows:
            yield rows if passes.columns is None else rows.select(list(passes.columns))


def _with(sql: str, relations: Mapping[str, Relation], identifier: Any) -> str:
    """The merge's statement, in which each stream's name is that of its rows."""
    if not relations:
        return sql
    items = ", ".join(f"{identifier(name)} AS ({relation.sql})" for name, relation in relations.items())
    found = _WITH.match(sql)
    if found is None:
        return f"WITH {items} {sql}"
    return f"WITH {(found[1] or '').strip()} {items}, {sql[found.end() :]}"

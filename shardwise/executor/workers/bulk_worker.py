"""A worker's side of `bulk.py`: a statement's rows by the ADBC driver, in Arrow's types of what they mean.

The driver takes a column's type from its first row and cannot change it: so a row of the right kinds goes
before the others, and is dropped again; and whether all values are of the usual kind is asked beforehand, in
the same state of the file.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from shardwise.executor.cells import Kind, Misfit, kind_of
from shardwise.executor.workers.bulk_job import BulkJob, BulkReply

BATCH_ROWS = 65_536
_FIRST = {"integer": "0", "real": "0.0", "text": "''", "blob": "x''"}


class Bulk:
    """One statement, from its first batch to `close`."""

    def __init__(self, job: BulkJob) -> None:
        self._job = job
        self._names = [name for name, _ in job.columns]
        self._kinds = [kind_of(type_, job.time_zone) for _, type_ in job.columns]
        self._connection: Any = None
        self._cursor: Any = None
        self._reader: pa.RecordBatchReader | None = None

    def run(self) -> BulkReply:
        """The next batch, which is asked for until there is none."""
        is_first = self._reader is None
        try:
            if self._reader is None:
                self._reader = self._opened()
            return self._next(is_first=is_first)
        except _Misfits as error:
            self.close()
            column, misfit = error.args
            return BulkReply(misfit=(column, misfit.value, misfit.why, misfit.hint))
        except Exception as error:  # noqa: BLE001  whoever asked does it in the ordinary way, if it still can
            self.close()
            return BulkReply(is_refused=is_first, failure=f"{type(error).__name__}: {error}")

    def stop(self) -> None:
        """Nothing stops it but the end of the process."""

    def close(self) -> None:
        """Lets the file go."""
        opened = (self._reader, self._cursor, self._connection)
        self._reader = self._cursor = self._connection = None
        for each in opened:
            if each is not None:
                each.close()

    def _opened(self) -> pa.RecordBatchReader:
        import adbc_driver_sqlite.dbapi  # noqa: PLC0415  only if it is installed, and only in a worker

        job = self._job
        whole = quote(os.fsencode(Path(job.path).absolute()))
        self._connection = adbc_driver_sqlite.dbapi.connect(
            f"file://{whole}?mode=ro{'&immutable=1' if job.immutable else ''}"
        )
        self._cursor = cursor = self._connection.cursor()  # in a transaction, which ends with the connection
        cursor.execute("SELECT schema_version FROM pragma_schema_version")
        ((version,),) = cursor.fetchall()
        found = os.stat(job.path)  # noqa: PTH116  by its directory entry alone
        if (found.st_dev, found.st_ino, version) != job.state:
            raise RuntimeError("the file is another by now")
        names = [f"c{i}" for i in range(len(self._kinds))]
        query = f"WITH q({', '.join(names)}) AS ({job.sql}\n)"
        unusual = " OR ".join(
            f"(typeof({name}) <> '{kind.storage}' AND {name} IS NOT NULL)"
            for name, kind in zip(names, self._kinds, strict=True)
        )
        values = _in_order(job)
        cursor.execute(f"{query} SELECT 1 FROM q WHERE {unusual} LIMIT 1", values)
        if cursor.fetchall():
            raise RuntimeError("not all values are of the usual kind")
        first = ", ".join(_FIRST[kind.storage] for kind in self._kinds)
        cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": str(BATCH_ROWS)})
        cursor.execute(f"{query} SELECT {first} UNION ALL SELECT {', '.join(names)} FROM q", values)
        return cursor.fetch_record_batch()

    def _next(self, *, is_first: bool) -> BulkReply:
        assert self._reader is not None
        try:
            batch = self._reader.read_next_batch()
        except StopIteration:
            self.close()
            return BulkReply()
        columns = [column.slice(1) for column in batch.columns] if is_first else batch.columns
        arrays = [
            _made(kind, column, name)
            for kind, column, name in zip(self._kinds, columns, self._names, strict=True)
        ]
        return BulkReply(pa.RecordBatch.from_arrays(arrays, names=self._names))


class _Misfits(Exception):
    """A value that does not fit: column, Misfit."""


def _made(kind: Kind, column: pa.Array, name: str) -> pa.Array:
    try:
        return kind.of_arrow(column)
    except Misfit as misfit:
        raise _Misfits(name, misfit) from None


def _in_order(job: BulkJob) -> list[Any] | None:
    """The parameters as the statement first names them, which is how SQLite counts them."""
    names = dict.fromkeys(a or b for a, b in _PARAMETER.findall(job.sql) if a or b)
    return [job.params[name] for name in names] or None


_PARAMETER = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|:(\w+)|\$(\w+)""")

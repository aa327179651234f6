"""The rows that an index table should have beside those that it has, and what differs, shard by shard.

They are kept in a DuckDB of our own, which spills to disk what is more than the memory limit. Rows are the
same if all of their values are, texts byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import NamedTuple, Self

import pyarrow as pa

from shardwise.executor import duck
from shardwise.options import Options
from shardwise.session.indexes.shapes import Shape


class Difference(NamedTuple):
    """A shard's entries, by what is wrong with them.

    `missing` are to be there; `superfluous` are to be nowhere; `misplaced` belong on another shard;
    `wrong` have the right key and other values than the base tables.
    """

    shard: int
    missing: int
    superfluous: int
    misplaced: int
    wrong: int


@dataclass(frozen=True)
class Change:
    """What a batch of differing rows comes to: all copies of `gone` are deleted, `new` put in as it is."""

    gone: pa.RecordBatch
    new: pa.RecordBatch


class Staging:
    """For one thread; closed by whoever made it."""

    def __init__(self, shape: Shape, options: Options) -> None:
        self._shape = shape
        self._folder = TemporaryDirectory(prefix="shardwise-index-", dir=options.spill_directory)
        self._con = duck.connect(
            ":memory:",
            duck.Settings(
                threads=options.threads,
                memory_bytes_max=options.memory_bytes_max,
                spill_directory=self._folder.name,
                spill_bytes_max=options.spill_bytes_max,
                lossless=True,
            ),
        )
        self._columns = [f"c{number}" for number in range(len(shape.columns))]

    def read(self, wanted: Iterable[pa.RecordBatch]) -> int:
        """Takes the rows that should be there; gives their number."""
        return self._filled("wanted", wanted)

    def read_there(self, there: Iterable[pa.RecordBatch]) -> int:
        """Takes those that are there, which are of the same columns; may be none at all."""
        self._con.execute("CREATE TABLE there AS FROM wanted LIMIT 0")
        return self._filled("there", there)

    def twice(self) -> int:
        """How many values of the searched columns more than one row has, byte for byte."""
        searched = ", ".join(self._columns[n] for n in self._shape.identity)
        return self._number(
            f"SELECT count(*) FROM (SELECT {searched} FROM wanted GROUP BY ALL HAVING count(*) > 1)"
        )

    def compare(self) -> int:
        """Finds what differs, as the table `work`; gives how many rows are to be written."""
        columns = ", ".join(self._columns)
        wanted = "least(sum(w), 1)" if self._shape.is_distinct else "sum(w)"
        self._con.execute(
            f"CREATE TABLE work AS SELECT shard, {columns}, CAST({wanted} AS BIGINT) AS w,"
            f" CAST(sum(h) AS BIGINT) AS h FROM (SELECT shard, {columns}, 1 AS w, 0 AS h FROM wanted"
            f" UNION ALL SELECT shard, {columns}, 0, 1 FROM there) GROUP BY ALL HAVING {wanted} <> sum(h)"
        )
        return self._number("SELECT coalesce(sum(CASE WHEN h > w THEN w ELSE w - h END), 0) FROM work")

    def counts(self) -> dict[int, int]:
        """How many rows each shard should have."""
        what = f"DISTINCT {', '.join(['shard', *self._columns])}" if self._shape.is_distinct else "shard"
        rows = self._con.execute(f"SELECT shard, count(*) FROM (SELECT {what} FROM wanted) GROUP BY shard")
        return {int(shard): int(count) for shard, count in rows.fetchall()}

    def differences(self) -> list[Difference]:
        """What `compare` found, by shard."""
        identity = ", ".join(self._columns[n] for n in self._shape.identity)
        same = " AND ".join(f"o.{c} IS NOT DISTINCT FROM d.{c}" for c in self._columns)
        rows = self._con.execute(
            f"""WITH d AS (
                SELECT *, greatest(w - h, 0) AS missing, greatest(h - w, 0) AS more FROM work
            ), e AS (
                SELECT *, more > 0 AND EXISTS (
                    SELECT 1 FROM wanted AS o WHERE o.shard <> d.shard AND {same}) AS is_elsewhere
                FROM d
            ), g AS (
                SELECT shard, {identity}, sum(missing) AS missing,
                    sum(CASE WHEN is_elsewhere THEN 0 ELSE more END) AS more,
                    sum(CASE WHEN is_elsewhere THEN more ELSE 0 END) AS misplaced
                FROM e GROUP BY shard, {identity}
            )
            SELECT shard, sum(missing - least(missing, more)), sum(more - least(missing, more)),
                sum(misplaced), sum(least(missing, more))
            FROM g GROUP BY shard ORDER BY shard"""
        )
        return [Difference(*map(int, row)) for row in rows.fetchall()]

    def shards(self) -> list[tuple[int, int]]:
        """The shards on which something differs, and how many rows are to be written there."""
        rows = self._con.execute(
            "SELECT shard, sum(CASE WHEN h > w THEN w ELSE w - h END) FROM work GROUP BY shard ORDER BY shard"
        )
        return [(int(shard), int(count)) for shard, count in rows.fetchall()]

    def changes(self, shard: int, batch_rows: int) -> Iterator[Change]:
        """A shard's differences, about `batch_rows` rows to be written or deleted at a time.

        A row of which there are too many goes with all of its copies, and those that are to stay come back at
        once.
        """
        columns = ", ".join(self._columns)
        of_shard = f"FROM work WHERE shard = {shard}"
        for gone in self._batches(f"SELECT {columns} {of_shard} AND h > w AND w = 0", batch_rows):
            yield Change(gone, gone.slice(0, 0))
        for gone in self._batches(f"SELECT {columns}, w {of_shard} AND h > w AND w > 0", batch_rows):
            first = gone.select(self._columns)
            for new in _copies(first, gone.column("w").to_pylist(), batch_rows):
                yield Change(first, new)
                first = first.slice(0, 0)
        more = f"SELECT {columns}, unnest(range(w - h)) AS n {of_shard} AND w > h"
        for new in self._batches(f"SELECT {columns} FROM ({more})", batch_rows):
            yield Change(new.slice(0, 0), new)

    def _batches(self, sql: str, rows: int) -> Iterator[pa.RecordBatch]:
        """A query's rows, at most so many at a time."""
        cursor = self._con.cursor()
        try:
            for batch in duck.arrow_reader(cursor, sql, (), rows):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)
        finally:
            cursor.close()

    def interrupt(self) -> None:
        self._con.interrupt()

    def close(self) -> None:
        self._con.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _filled(self, table: str, batches: Iterable[pa.RecordBatch]) -> int:
        count = 0
        for batch in batches:
            self._con.register("batch", pa.Table.from_batches([batch]))
            if table == "wanted" and not self._has(table):
                self._con.execute("CREATE TABLE wanted AS FROM batch LIMIT 0")
            self._con.execute(f"INSERT INTO {table} FROM batch")
            self._con.unregister("batch")
            count += batch.num_rows
        return count

    def _has(self, table: str) -> bool:
        return self._number(f"SELECT count(*) FROM duckdb_tables() WHERE table_name = '{table}'") > 0

    def _number(self, sql: str) -> int:
        row = self._con.execute(sql).fetchone()
        assert row is not None
        return int(row[0])


def _copies(batch: pa.RecordBatch, times: Sequence[int], rows: int) -> Iterator[pa.RecordBatch]:
    """Each row so many times, at most `rows` rows at a time."""
    numbers = [number for number, count in enumerate(times) for _ in range(count)]
    for start in range(0, len(numbers), rows):
        yield batch.take(pa.array(numbers[start : start + rows], pa.int64()))

"""The differences between an index table and its base tables, written shard by shard in batches.

Each batch is a transaction on its shard. Whatever stops the writing leaves whole batches: the next comparison
finds what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from shardwise.catalog.spoken import spoken
from shardwise.errors import Error, OperationalError
from shardwise.executor.guard import Guard
from shardwise.executor.pools import SourcePool
from shardwise.executor.writing import Form, Rows, Writer, open_writer
from shardwise.session.indexes.reading import LooseRows, TypedRows
from shardwise.session.indexes.staging import Staging

BATCH_ROWS = 50_000


@dataclass(frozen=True, kw_only=True)
class Target:
    """The shards of an index table, in order; the source of each, the table's name there, and what it is to
    be like: `form` asks a source of the base tables for that."""

    shards: Sequence[str]
    sources: Mapping[str, str]
    names: Mapping[str, str]
    form: Callable[[str], Form]
    is_loose: bool

    def rows(self, batch: pa.RecordBatch) -> Rows | None:
        if not batch.num_rows:
            return None
        return LooseRows(batch) if self.is_loose else TypedRows(batch)


@dataclass(frozen=True, kw_only=True)
class Writing:
    """Writes to the shards of a target. `on_batch` is told of each batch that was committed: shard, rows."""

    pool: SourcePool
    target: Target
    guard: Guard
    batch_rows: int = BATCH_ROWS
    on_batch: Callable[[str, int], None] = lambda _, __: None

    def there(self) -> list[str]:
        """The shards that have a table of the index table's name."""
        return [shard for shard in self.target.shards if self._is_there(shard)]

    def _is_there(self, shard: str) -> bool:
        self.guard.check()
        lease = self.pool.lease(self.target.sources[shard])
        try:
            connection = lease.connect("UTC")
            try:
                name = spoken(lease.dialect).quoted(self.target.names[shard])
                return bool(connection.columns(name))
            finally:
                connection.close()
        finally:
            lease.release()

    def apply(self, staging: Staging) -> None:
        """All that differs."""
        for number, _ in staging.shards():
            shard = self.target.shards[number]
            form = self.target.form(shard)
            with self._writer(shard) as writer:
                for change in staging.changes(number, self.batch_rows):
                    self.guard.check()
                    writer.change(form, self.target.rows(change.gone), self.target.rows(change.new))
                    self.on_batch(shard, change.new.num_rows)

    def finish(self, counts: Mapping[int, int]) -> None:
        """Makes the search indexes, and sees that each shard has as many rows as it should have."""
        for number, shard in enumerate(self.target.shards):
            form, wanted = self.target.form(shard), counts.get(number, 0)
            with self._writer(shard) as writer:
                found = writer.finish(form)
            if found != wanted:
                raise OperationalError(
                    f'index table "{form.table}" has {found:,} rows on shard "{shard}", and {wanted:,} were '
                    "put there: something else writes to it",
                    hint="End what writes to it, and begin again",
                )

    def drop(self) -> None:
        """The index table on each shard."""
        for shard in self.target.shards:
            with self._writer(shard) as writer:
                writer.drop(self.target.names[shard])

    @contextmanager
    def _writer(self, shard: str) -> Iterator[Writer]:
        """What it raises names the shard; what stops the statement stops it."""
        self.guard.check()
        try:
            writer = open_writer(self.pool, self.target.sources[shard])
            forget = self.guard.on_stop(writer.interrupt)
            try:
                yield writer
            finally:
                forget()
                writer.close()
                self.pool.look_again(self.target.sources[shard])
        except Error as error:
            self.guard.check()  # what stopped it is the statement's error
            error.shard = error.shard or shard
            raise

"""One statement's work on an index table: what should be in it beside what is, and what differs put right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

from shardwise.catalog.model import Catalog
from shardwise.executor.guard import Guard
from shardwise.executor.translate import translate
from shardwise.executor.writing import check_writable
from shardwise.options import Options
from shardwise.session.indexes.applying import BATCH_ROWS, Target, Writing
from shardwise.session.indexes.physical import Physical
from shardwise.session.indexes.reading import Placing, batches_of, is_loose
from shardwise.session.indexes.shapes import Shape
from shardwise.session.indexes.staging import Staging
from shardwise.session.indexes.states import Watcher, Work

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A statement's options, what stops it, who is told of its progress, and how much a batch may be."""

    options: Options
    guard: Guard
    watcher: Watcher | None = None
    batch_rows: int = BATCH_ROWS


@dataclass(frozen=True, kw_only=True)
class Job:
    """One statement's work. `beside` answers queries over the index table, as over any table."""

    cluster: Cluster
    beside: Cluster
    catalog: Catalog
    shape: Shape
    target: Target
    writing: Writing
    asked: Asked

    @contextmanager
    def staging(self) -> Iterator[Staging]:
        """What stops the statement stops what runs in it."""
        guard = self.asked.guard
        with Staging(self.shape, self.asked.options) as staging:
            forget = guard.on_stop(staging.interrupt)
            try:
                yield staging
            except duckdb.InterruptException:
                guard.check()
                raise
            except duckdb.Error as error:
                raise translate(error) from error
            finally:
                forget()

    def read_wanted(self, staging: Staging, work: Work) -> None:
        placing = Placing(self.shape, self.catalog, self.target.shards)
        count = len(self.shape.places) or 1
        names = [f"c{n}" for n in range(len(self.shape.columns))] + [f"p{n}" for n in range(count)]
        staging.read(self._counted(map(placing.wanted, self._batches(self.shape.wanted, names)), work))

    def read_there(self, staging: Staging, there: Sequence[str]) -> None:
        """The rows of the index table, which is on these shards."""
        if not there:
            staging.read_there(())
            return
        placing = Placing(self.shape, self.catalog, self.target.shards)
        names = [*(f"c{n}" for n in range(len(self.shape.columns))), "p0"]
        sql = self.shape.there_on(there, self.catalog.dialect)
        staging.read_there(map(placing.there, self._batches(sql, names)))

    def put_right(self, staging: Staging, work: Work, *, is_compared: bool = False) -> int:
        """Writes what differs; gives how many rows the index has then."""
        if not is_compared:
            staging.compare()
        to_write = sum(count for _, count in staging.shards())
        by_shard: dict[str, int] = {}
        work.tell(work.progress._replace(to_write=to_write))

        def on_batch(shard: str, rows: int) -> None:
            by_shard[shard] = by_shard.get(shard, 0) + rows
            work.tell(
                work.progress._replace(shard=shard, on_shard=by_shard[shard], written=sum(by_shard.values()))
            )

        replace(self.writing, on_batch=on_batch).apply(staging)
        counts = staging.counts()
        self.writing.finish(counts)
        return sum(counts.values())

    def rows(self, sql: str) -> list[tuple[int, ...]]:
        with self.beside.run(sql, options=self.asked.options, guard=self.asked.guard) as result:
            return result.fetchall()

    def _batches(self, sql: str, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self.beside.run(sql, options=self.asked.options, guard=self.asked.guard) as result:
            yield from batches_of(result, names, loose=self.target.is_loose)

    def _counted(self, batches: Iterable[pa.RecordBatch], work: Work) -> Iterator[pa.RecordBatch]:
        read = 0
        for batch in batches:
            self.asked.guard.check()
            yield batch
            read += batch.num_rows
            work.tell(work.progress._replace(read=read))


@contextmanager
def prepared(
    cluster: Cluster, catalog: Catalog, shape: Shape, asked: Asked, *, writes: bool = True
) -> Iterator[Job]:
    shards = catalog.homes(shape.table)
    sources = {shard: catalog.source_of(shard) for shard in shards}
    for source in sources.values() if writes else ():
        check_writable(cluster.pool.location(source))
    physical = Physical(catalog, cluster.open_source)
    target = Target(
        shards=shards,
        sources=sources,
        names={shard: catalog.partitions(shape.table, shard)[0] for shard in shards},
        form=lambda shard: physical.form(shape, shard),
        is_loose=is_loose(catalog),
    )
    # All moments are read and written in UTC. What is read are the tables, not another index of them.
    options = replace(asked.options, time_zone="UTC", schema=None, scatter="allow", trust_indexes=False)
    asked = replace(asked, options=options)
    writing = Writing(pool=cluster.pool, target=target, guard=asked.guard, batch_rows=asked.batch_rows)
    with cluster.beside(catalog.with_(shape.table)) as beside:
        yield Job(
            cluster=cluster,
            beside=beside,
            catalog=catalog,
            shape=shape,
            target=target,
            writing=writing,
            asked=asked,
        )

"""What all statements of a cluster share: sources, fetching threads, worker processes, the merge engine."""

from __future__ import annotations

from pathlib import Path

from shardwise.catalog.model import Catalog
from shardwise.executor.backends.base import SourceOptions
from shardwise.executor.limits import Limits
from shardwise.executor.own_zones import OwnZones
from shardwise.executor.pools import SourcePool
from shardwise.executor.threads import Workers
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.options import OWN_ZONE, Options
from shardwise.session.engines import engine_of
from shardwise.session.locating import Locator, Secrets

_REQUESTS_MAX = 32
_SOURCE_THREADS = 2
_SOURCES_MAX = 128
# What each open source may use, its cache of blocks included: at least this, else a quarter of the merge's.
_SOURCE_BYTES_MIN = 128 << 20


class Resources:
    """Nothing is opened or started before a statement needs it."""

    def __init__(self, catalog: Catalog, directory: Path, secrets: Secrets | None, options: Options) -> None:
        self.own_zones = OwnZones()
        self.pool = SourcePool(
            Locator(catalog, directory, secrets).locate,
            SourceOptions(
                threads=min(_SOURCE_THREADS, options.threads),
                memory_bytes_max=max(_SOURCE_BYTES_MIN, options.memory_bytes_max // 4),
                spill_directory=options.spill_directory,
            ),
            open_max=_SOURCES_MAX,
            own_zones=self.own_zones if options.time_zone == OWN_ZONE else None,
        )
        self.limits = Limits(total=_REQUESTS_MAX, place_of=self.pool.place_of)
        self.workers = Workers(_REQUESTS_MAX)
        self.processes = WorkerProcesses(options.processes_max)
        self.engine = engine_of(catalog.dialect)
        self.merge = self.engine.merge(catalog, self.pool)

    def close(self) -> None:
        """Waits for the threads and processes to end, and closes the sources."""
        self.workers.close()
        self.processes.close()
        self.merge.close()
        self.pool.close()

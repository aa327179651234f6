"""The time zone of statements where no one said any: the one that the catalog's servers have as their own."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from shardwise.catalog.model import Catalog
from shardwise.errors import ShardUnavailable
from shardwise.executor.own_zones import OwnZones
from shardwise.executor.pools import SourcePool
from shardwise.options import OWN_ZONE, Options

_TRIED_MAX = 3
"""Sources that are tried in turn for what any can tell."""


class TimeZones:
    """Settles the time zone of options. One server tells its own; the others are checked when opened."""

    def __init__(self, pool: SourcePool, own: OwnZones) -> None:
        self._pool = pool
        self._own = own
        self._last: tuple[Options, Options] | None = None

    def settled(self, options: Options, catalog: Catalog) -> Options:
        """The options with the servers' own time zone, where no other was said."""
        if options.time_zone != OWN_ZONE:
            return options
        last = self._last
        if last is not None and last[0] is options:
            return last[1]
        if self._own.zone is None:
            self._open_one(catalog)
        settled = replace(options, time_zone=self._own.zone or "UTC")
        if self._own.zone is not None:
            self._last = (options, settled)
        return settled

    def _open_one(self, catalog: Catalog) -> None:
        """Has one source of the catalog's own dialect opened, which tells its zone."""
        own = (
            source.name
            for source in catalog.sources()
            if source.url is not None and catalog.dialect_of(source.name) == catalog.dialect
        )
        failed: ShardUnavailable | None = None
        for name in islice(own, _TRIED_MAX):
            try:
                self._pool.lease(name).release()
            except ShardUnavailable as error:
                failed = failed or error
            else:
                return
        if failed is not None:
            raise failed

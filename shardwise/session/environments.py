"""What statements run in, by their time zone: what all of them share, and a describer of what is known."""

from __future__ import annotations

from shardwise.catalog.model import Catalog
from shardwise.executor.run import Environment
from shardwise.session.resources import Resources


class Environments:
    """One for each time zone, made when first asked for. Whoever makes or forgets some holds a lock."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._by_zone: dict[str, Environment] = {}

    def known(self, zone: str) -> Environment | None:
        """The zone's, if it was made already."""
        return self._by_zone.get(zone)

    def made(self, zone: str, catalog: Catalog) -> Environment:
        """The zone's; its describer is of this catalog if it is new."""
        known = self._by_zone.get(zone)
        if known is None:
            shared = self._resources
            known = self._by_zone[zone] = Environment(
                pool=shared.pool,
                limits=shared.limits,
                workers=shared.workers,
                processes=shared.processes,
                merge=shared.merge,
                describer=shared.engine.describer(catalog, shared.pool, zone),
            )
        return known

    def forget(self) -> None:
        """Has them made anew, of a catalog that is known better; statements that run keep theirs."""
        self._by_zone.clear()

    def close(self) -> None:
        """Closes the describers: no statement runs."""
        for environment in self._by_zone.values():
            environment.describer.close()
        self._by_zone.clear()

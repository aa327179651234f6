"""The one place that joins catalog, planner and executor: see README.md for the files in reading order."""

from shardwise.session.cluster import Cluster, open  # noqa: A004
from shardwise.session.locating import Secrets
from shardwise.session.opened import OpenedSource

__all__ = ["Cluster", "OpenedSource", "Secrets", "open"]

"""The one place that joins catalog, planner and executor.

`cluster` plans and runs statements; `locating` finds sources and passwords; `learning` reads the columns that
nobody listed; `opened` is a source to look into; `each` has every member answer by itself (`each_result`,
`shared_plan`); `parameters` are the user's values as the engine takes them.
"""

from shardwise.session.cluster import Cluster, open  # noqa: A004
from shardwise.session.locating import Secrets
from shardwise.session.opened import OpenedSource

__all__ = ["Cluster", "OpenedSource", "Secrets", "open"]

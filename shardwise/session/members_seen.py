"""The members of a DIRECTORY that a connection may know of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shardwise.errors import CatalogError, Error, Reason
from shardwise.planner import Scope
from shardwise.planner.scopes.members import members_in, shards_of

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster


def members_seen(cluster: Cluster, name: str, scope: Scope) -> tuple[str, ...]:
    """The members there are now; in a pinned scope only those that it names, and nothing is told of others.

    It is an error if none of them exists: what lies with the members, as reference tables may, is nowhere.
    """
    if not scope.is_pinned:
        return cluster.members(name)
    sharding = cluster.catalog.sharding(name)
    named = members_in(scope, cluster.catalog, sharding)
    try:
        found = cluster.members(name)
    except Error:
        raise CatalogError(
            f'the members of "{name}" could not be listed', hint="A connection that is not pinned is told why"
        ) from None
    if named is not None:
        found = tuple(member for member in found if member in named)
    if scope.shards is not None and sharding.shards_are_sources:
        found = tuple(member for member in found if shards_of(sharding, [member])[0] in scope.shards)
    if (named is not None or scope.shards is not None) and not found:
        raise CatalogError(f'"{name}" has no member of the scope', reason=Reason.SCOPE)
    return found

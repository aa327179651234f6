"""SHOW INDEXES: what indexes there are, and how far each is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from shardwise.catalog.index_tables import Index, fingerprint, why_no_table
from shardwise.catalog.model import Catalog, JoinIndex
from shardwise.catalog.tables import Built

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster


class Listed(NamedTuple):
    """An index: `state` in a word or two, and in `note` what there is to say about it."""

    name: str
    kind: str
    on: str
    state: str
    rows: int | None
    built_at: str | None
    note: str | None


def listed(cluster: Cluster) -> Iterator[Listed]:
    """The catalog's indexes, in the order declared."""
    catalog = cluster.catalog
    work = cluster.index_work.get("")
    for index in catalog.indexes():
        state, note = _state(catalog, index)
        if work is not None and work.progress.name.casefold() == index.name.casefold():
            note = str(work.progress)
        known = catalog.state_of(index)
        yield Listed(
            name=index.name,
            kind=_kind(index),
            on=_on(index),
            state=state,
            rows=known.rows if known is not None else None,
            built_at=known.built_at if known is not None else None,
            note=note,
        )


def _state(catalog: Catalog, index: Index) -> tuple[str, str | None]:
    problem = why_no_table(catalog, index)
    if problem is not None:
        return "unusable", problem
    if not isinstance(index, JoinIndex) and index.index_table is not None:
        return "attached", f'the application keeps it in "{index.index_table}"'
    known = catalog.state_of(index)
    if known is None:
        return "not built", "CREATE … INDEX builds it"
    if known.state is Built.BUILDING:
        return "building", "where nobody builds it, CREATE … INDEX goes on with it"
    if known.state is Built.DROPPING:
        return "dropping", "DROP … INDEX goes on with it"
    if known.fingerprint != fingerprint(catalog, index):
        return "outdated", "the catalog says otherwise since; CREATE … INDEX builds it anew"
    return "valid", None


def _kind(index: Index) -> str:
    if isinstance(index, JoinIndex):
        return "join"
    return "unique lookup" if index.unique else "lookup"


def _on(index: Index) -> str:
    if isinstance(index, JoinIndex):
        return f"{index.left} = {index.right}"
    return f"{index.table} ({', '.join(index.columns)})"

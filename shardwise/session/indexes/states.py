"""How far an index is, who works on it, and what a person is told meanwhile.

The state is kept in the catalog and its lock file: BUILDING before anything is written, VALID once all shards
are complete, DROPPING before anything is dropped. Only a valid index is used. One statement at a time works
on the indexes of a catalog: in this process, and of a catalog's file in all processes of this machine.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from shardwise.catalog.index_tables import Index
from shardwise.catalog.model import Catalog
from shardwise.catalog.tables import Built, IndexState
from shardwise.errors import OperationalError

if TYPE_CHECKING:
    from shardwise.session.cluster import Cluster

if sys.platform != "win32":
    import fcntl


class Progress(NamedTuple):
    """Rows that were read so far; then how many were written of how many, on `shard` and in all."""

    name: str
    read: int = 0
    shard: str | None = None
    on_shard: int = 0
    written: int = 0
    to_write: int | None = None

    def __str__(self) -> str:
        if self.to_write is None:
            return f"{self.read:,} rows read"
        return f"{self.written:,} of {self.to_write:,} rows written" + (
            f", {self.on_shard:,} on {self.shard}" if self.shard else ""
        )


Watcher = Callable[[Progress], None]
"""Told of each step; what it raises stops the build, as a crash would: between two batches."""


def set_state(
    cluster: Cluster,
    index: Index,
    state: Built,
    fingerprint: str | None,
    *,
    built_at: str | None = None,
    rows: int | None = None,
) -> None:
    """Also adds the index to the catalog, if it is not there."""
    made = IndexState(name=index.name, state=state, built_at=built_at, rows=rows, fingerprint=fingerprint)

    def change(catalog: Catalog) -> Catalog:
        return catalog.with_(made) if catalog.index(index.name) is not None else catalog.with_(index, made)

    cluster.keep(change)


def forget(cluster: Cluster, index: Index, *, is_declared: bool) -> None:
    """The index is not there any more; one that a statement made is not in the catalog either."""

    def change(catalog: Catalog) -> Catalog:
        known, state = catalog.index(index.name), catalog.state_of(index)
        gone = [state] if state is not None else []
        return catalog.without(*gone, *([known] if known is not None and not is_declared else []))

    cluster.keep(change)


@dataclass(eq=False)
class Work:
    """A statement's work on an index, and how far it is."""

    watcher: Watcher | None
    progress: Progress

    def tell(self, progress: Progress) -> None:
        self.progress = progress
        if self.watcher is not None:
            self.watcher(progress)


@contextmanager
def working(cluster: Cluster, index: str, watcher: Watcher | None) -> Iterator[Work]:
    """Inside, nobody else works on the catalog's indexes; raises OperationalError if somebody does."""
    work = Work(watcher, Progress(index))
    other = cluster.index_work.setdefault("", work)
    if other is not work:
        raise _busy(f'index "{other.progress.name}": {other.progress}')
    try:
        with _alone_on_this_machine(cluster):
            cluster.look_at_indexes()  # as whoever worked on them before, in another process, left them
            yield work
    finally:
        cluster.index_work.pop("", None)


@contextmanager
def _alone_on_this_machine(cluster: Cluster) -> Iterator[None]:
    """A file beside the catalog's, while somebody works, and a lock on it, which ends with the process."""
    if sys.platform == "win32" or cluster.file is None:
        yield
        return
    path = cluster.file.with_suffix(".lock.building")
    try:
        descriptor = _locked(path)
    except BlockingIOError as error:
        raise _busy("another process or connection") from error
    except OSError as error:
        raise OperationalError(f'cannot lock "{path}": {error.strerror}') from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    """The file, made and locked. One that its last owner has just removed is made anew."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _busy(who: str) -> OperationalError:
    return OperationalError(
        f"an index of this catalog is being worked on already ({who})",
        hint="Wait until that is done; SHOW INDEXES says how far it is",
    )

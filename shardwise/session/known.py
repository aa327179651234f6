"""What is known of a catalog: as it is declared, with the columns that were learned, and what is kept of it.

What was made of an earlier version (plans, describers) is forgotten here with each change.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from shardwise.catalog import Catalog
from shardwise.catalog.files import lock_path, may_save_lock, read_states, update_lock
from shardwise.catalog.model import IndexState, Table
from shardwise.errors import CatalogError, Error, OperationalError
from shardwise.planner import PlanCache, Statement
from shardwise.session.environments import Environments
from shardwise.session.learning import learn
from shardwise.session.opened import OpenedSource


class KnownCatalog:
    """A catalog and what became known of it. Threads may share it.

    `file` is where it came from. `catalog` is set once all is learned: nobody need wait for the lock then.
    """

    def __init__(self, declared: Catalog, file: Path | None, environments: Environments) -> None:
        self.declared = declared
        self.file = file
        self.environments = environments
        self.plan_cache = PlanCache()
        self.lock = threading.RLock()
        self._keeping = threading.RLock()
        self.catalog: Catalog | None = None
        self._learned: Catalog | None = None
        self._failed: Mapping[str, Error] = {}
        self._seen: tuple[int, ...] | None = None

    @classmethod
    def whole(cls, catalog: Catalog, environments: Environments) -> KnownCatalog:
        """One of which nothing is left to learn, and that comes from no file."""
        known = cls(catalog, None, environments)
        known.catalog = known._learned = catalog
        return known

    # -- columns --------------------------------------------------------------------------------

    def learned(
        self, open_source: Callable[[str], OpenedSource], members: Callable[[str], Sequence[str]]
    ) -> Catalog:
        """The catalog with the columns that neither it nor its lock file lists, read off the sources once."""
        with self.lock:
            if self._learned is None:
                self._learn(open_source, members)
                self.catalog = self._learned
            assert self._learned is not None
            return self._learned

    def _learn(
        self, open_source: Callable[[str], OpenedSource], members: Callable[[str], Sequence[str]]
    ) -> None:
        """Those of open families last: to list their members may be to query the others."""
        try:
            for are_open in (False, True):
                before = self._learned or self.declared
                found, failed = learn(before, open_source, members, are_open=are_open)
                if self._learned is not None and found is not self._learned:
                    self.plan_cache.clear()
                    self.environments.close()
                self._learned, self._failed = found, {**self._failed, **failed}
            self._seen = None  # what looked at states meanwhile, to list members, had an earlier catalog
        except BaseException:
            self._learned = None
            raise

    def check_columns(self, catalog: Catalog, statement: Statement, *, is_pinned: bool) -> None:
        """Raises what kept the columns of the statement's tables from being read; the next one tries again.

        What went wrong was on the first shard, of which a pinned connection is told nothing.
        """
        for name in statement.tables if self._failed else ():
            relation = catalog.table(name)
            error = self._failed.get(name.casefold()) or self._failed.get("*")
            unknown = relation is None or (isinstance(relation, Table) and relation.columns is None)
            if error is not None and unknown:
                with self.lock:
                    self._learned, self.catalog, self._failed = None, None, {}
                    self.plan_cache.clear()
                    self.environments.forget()
                if is_pinned:
                    raise CatalogError(
                        f'the columns of "{name}" could not be read',
                        hint="A connection that is not pinned is told why",
                    )
                raise error.with_traceback(None)

    # -- states and statistics ------------------------------------------------------------------

    def look_at_states(self) -> None:
        """Takes how far indexes are from the lock file, if that was written anew since: another process may
        have built or dropped them."""
        if self.file is None:
            return
        try:
            now = lock_path(self.file).stat()
        except FileNotFoundError:
            return
        seen = (now.st_mtime_ns, now.st_size, now.st_ino)
        if seen == self._seen:
            return
        with self.lock:
            states = read_states(self.file, self.declared.dialect)
            declared = _with_states(self.declared, states)
            learned = _with_states(self._learned, states) if self._learned is not None else None
            if declared is not self.declared or learned is not self._learned:
                self.declared, self._learned = declared, learned
                self.catalog = self._learned if self.catalog is not None else None
                self.plan_cache.clear()
            self._seen = seen  # last: whoever finds it so does not wait for the lock

    def keep(self, change: Callable[[Catalog], Catalog], *, needs_file: bool) -> Path | None:
        """Changes what is known, in the lock file if there is one and in this process. Gives the file."""
        kept: Path | None = None
        with self._keeping:  # who reads need not wait for the file
            if self.file is not None and (needs_file or may_save_lock(self.file)):
                kept = lock_path(self.file)
                try:
                    update_lock(self.file, change)
                except OSError as error:
                    raise OperationalError(f'cannot write "{kept}": {error.strerror}') from error
            with self.lock:
                before = self.declared.indexes()
                self.declared = change(self.declared)
                self._learned = change(self._learned) if self._learned is not None else None
                self.catalog = self._learned if self.catalog is not None else None
                self.plan_cache.clear()
                if self.declared.indexes() != before:  # others read an index's table than did before
                    self.environments.forget()
        return kept


def _with_states(catalog: Catalog, states: Sequence[IndexState]) -> Catalog:
    """The catalog with these states of the indexes that it has; itself, if it has them already."""
    wanted = {state.name.casefold(): state for state in states if catalog.index(state.name) is not None}
    known = {
        index.name.casefold(): state
        for index in catalog.indexes()
        if (state := catalog.state_of(index)) is not None
    }
    if wanted == known:
        return catalog
    return catalog.without(*known.values()).with_(*wanted.values())

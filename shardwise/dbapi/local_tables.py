"""The relations of one connection: registered data, stored results (CREATE TEMP TABLE), views."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from shardwise.catalog.hints import did_you_mean
from shardwise.catalog.model import Catalog, View
from shardwise.errors import InterfaceError, ProgrammingError, Reason, UnknownName
from shardwise.executor.locals import LocalStore, StoredTable
from shardwise.options import Options


class LocalTables:
    """Names without regard to letter case. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._relations: dict[str, Any] = {}
        self._store: LocalStore | None = None
        self._is_closed = False

    @property
    def relations(self) -> Mapping[str, Any]:
        """All by name: tables, frames, `View`s. Never changed in place, so a statement may keep it."""
        return self._relations

    def inherit(self, other: LocalTables) -> None:
        """Registered data and views of another connection; what it stored is its own, and goes with it."""
        self._relations = {n: r for n, r in other.relations.items() if not isinstance(r, StoredTable)}

    def find(self, name: str) -> tuple[str, Any] | None:
        """The name as it was given, and what it stands for."""
        wanted = name.casefold()
        return next(((n, r) for n, r in self._relations.items() if n.casefold() == wanted), None)

    def put(self, name: str, relation: Any, *, replaces: bool) -> None:
        with self._lock:
            found = self.find(name)
            if found is not None and not replaces:
                raise exists_already(*found)
            kept = {n: r for n, r in self._relations.items() if found is None or n != found[0]}
            self._relations = kept | {name: relation}

    def remove(self, name: str) -> bool:
        """Whether there was one."""
        with self._lock:
            found = self.find(name)
            if found is not None:
                self._relations = {n: r for n, r in self._relations.items() if n != found[0]}
        if self._store is not None:
            self._store.sweep()
        return found is not None

    def store(self, options: Options) -> LocalStore:
        """Where results are kept, with the limits of the options that it is first asked for with."""
        with self._lock:
            if self._is_closed:
                raise InterfaceError("the connection is closed")
            if self._store is None:
                self._store = LocalStore(options)
            return self._store

    def close(self) -> None:
        """Frees everything. Statements that read it are to be closed before."""
        with self._lock:
            self._is_closed = True
            self._relations = {}
        if self._store is not None:
            self._store.close()

    def unknown(self, name: str, kind: str) -> UnknownName:
        return UnknownName(
            f'there is no local {kind} "{name}"',
            reason=Reason.UNKNOWN_TABLE,
            sqlstate="42P01",
            hint=did_you_mean(name, self._relations) or "SHOW TABLES lists what there is",
        )


def exists_already(name: str, relation: Any) -> ProgrammingError:
    kind = "VIEW" if isinstance(relation, View) else "TABLE"
    return ProgrammingError(
        f'there is a local {kind.lower()} "{name}" already',
        sqlstate="42P07",
        hint=f"Write CREATE OR REPLACE TEMP {kind}, or DROP {kind} {name} first",
    )


def check_hides_nothing(catalog: Catalog, schema: str | None, name: str) -> None:
    """Raises if what statements mean by the name now would be hidden by a local relation of that name."""
    found = catalog.table(name, schema) or catalog.table(name)
    if found is not None:
        kind = "view" if isinstance(found, View) else "table"
        raise ProgrammingError(
            f'"{name}" is a {kind} of the catalog and cannot be hidden by a local one',
            hint="Choose another name",
        )

"""Where a statement of the dialect runs that is no shard's: on one of the catalog's sources, its home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

from shardwise.catalog.model import Catalog
from shardwise.errors import CatalogError, Error, InterfaceError, ShardUnavailable
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.pools import Lease, SourcePool
from shardwise.executor.served.product import Objection, Product

OPTION = "merge_on"
_TRIED_MAX = 3


@dataclass(frozen=True)
class Homes:
    """The sources that may be a home, and how they are reached. Threads may share it."""

    pool: SourcePool
    catalog: Catalog
    product: Product

    def open(self, preferred: str | None, time_zone: str) -> Home:
        """A connection to `preferred`, or to what the catalog's header says; to another source of the dialect
        if none of these is there. Closed by the caller."""
        failed: ShardUnavailable | None = None
        for count, name in enumerate(self._names(preferred)):
            if count == _TRIED_MAX:
                break
            try:
                return self._opened(name, time_zone)
            except ShardUnavailable as error:
                failed = failed or error
        if failed is not None:
            raise failed
        label, dialect = self.product.label, self.product.dialect
        raise CatalogError(
            f"the catalog's queries are in the {dialect} dialect, which {label} computes, but it has no "
            f"source of {label}",
            hint=f"Add a source of {label} to the catalog, which may be an empty database, or write CREATE "
            "CATALOG … DIALECT duckdb",
        )

    def may_retry(self, home: Home, error: Error) -> bool:
        """Whether another connection may do what one has failed at."""
        return self.pool.is_transient(home.name, error)

    def _names(self, preferred: str | None) -> Iterator[str]:
        """Each once: the first that is there is taken."""
        wanted = self.catalog.options.get(OPTION)
        if wanted is not None:
            source = self.catalog.find_source(wanted)
            if source is None or not self._is_of_it(wanted):
                raise CatalogError(
                    f'{OPTION} = {wanted}: there is no source "{wanted}" of {self.product.label}',
                    hint="Name one of the catalog's sources",
                )
            yield wanted
            return
        given = set()
        if preferred is not None and self._is_of_it(preferred):
            given.add(preferred)
            yield preferred
        for source in self.catalog.sources():
            if source.name not in given and self._is_of_it(source.name):
                yield source.name

    def _is_of_it(self, name: str) -> bool:
        return self.catalog.dialect_of(name) == self.product.dialect

    def _opened(self, name: str, time_zone: str) -> Home:
        lease = self.pool.lease(name)
        try:
            connection = lease.connect(time_zone)
            connection.version()  # a server that is gone shows now, while there is still another
            return Home(name, lease, connection, self.product)
        except Exception as error:
            ours = lease.translate(error)
            lease.release()
            raise ours from error
        except BaseException:
            lease.release()
            raise


class Home:
    """One connection, of one thread at a time; anyone may interrupt it."""

    def __init__(self, name: str, lease: Lease, connection: SourceConnection, product: Product) -> None:
        self.name = name
        self.connection = connection
        self._lease = lease
        self._product = product
        self._is_closed = False

    def run(self, sql: str, params: Mapping[str, Any]) -> Columns:
        """Starts a statement; gives its columns."""
        return self.connection.execute(sql, params)

    def objection(self, error: BaseException) -> Objection | None:
        """What the server has against a statement; None: it is something else that went wrong."""
        return None if isinstance(error, Error) else self._product.objection(error)

    def translate(self, error: BaseException) -> Error:
        """Ours for whatever went wrong."""
        if isinstance(error, Error):
            return error
        objection = self.objection(error)
        if objection is not None:
            return objection.error
        return self._lease.translate(error)

    def interrupt(self) -> None:
        if not self._is_closed:
            self.connection.interrupt()

    def close(self) -> None:
        """Gives it back."""
        if not self._is_closed:
            self._is_closed = True
            try:
                self.connection.close()
            finally:
                self._lease.release()

    def __enter__(self) -> Self:
        if self._is_closed:
            raise InterfaceError("the connection was given back")
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self.close()
        finally:
            if isinstance(error, Exception) and not isinstance(error, Error):
                raise self.translate(error) from error

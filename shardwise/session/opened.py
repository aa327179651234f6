"""An open source to look into: what `catalog import`, `catalog check` and EXPLAIN (SHARDS) ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from shardwise.errors import Error
from shardwise.executor.backends.base import Columns, SourceConnection
from shardwise.executor.pools import Lease
from shardwise.inspection.physical import PhysicalTable
from shardwise.inspection.reading import read_tables

_SCHEMAS = {
    "duckdb": (
        "SELECT schema_name FROM duckdb_schemas() WHERE NOT internal AND database_name = current_database()"
    ),
    "postgres": (
        "SELECT nspname::text FROM pg_namespace"
        " WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema'"
    ),
    "mysql": (
        "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA"
        " WHERE SCHEMA_NAME NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema')"
    ),
}
"""By dialect, the statement that lists schemas that are not the product's own. MySQL's are its databases."""


class OpenedSource:
    """One connection to a source, of one thread at a time; closed by whoever opened it."""

    def __init__(self, lease: Lease, connection: SourceConnection) -> None:
        self._lease = lease
        self._connection = connection

    def rows(
        self, sql: str, params: Mapping[str, Any] | None = None, wanted: Columns | None = None
    ) -> list[tuple[Any, ...]]:
        """All rows of a statement in the source's own SQL, of the `wanted` types if it has none itself."""
        try:
            self._connection.execute(sql, params or {}, wanted)
            rows: list[tuple[Any, ...]] = []
            while more := self._connection.fetchmany(65_536):
                rows += more
        except Error:
            raise
        except Exception as error:
            raise self._lease.translate(error) from error
        return rows

    @property
    def dialect(self) -> str:
        """sqlglot's name of the source's SQL."""
        return self._lease.dialect

    def tables(self, dialect: str = "duckdb") -> Mapping[str, PhysicalTable]:
        """All its tables, by name in lower case, as a catalog of `dialect` has them."""
        return read_tables(self, dialect)

    def schemas(self) -> list[str] | None:
        """The names of its schemas; None of a product that has no schemas."""
        if self.dialect not in _SCHEMAS:
            return None
        return [str(name) for (name,) in self.rows(_SCHEMAS[self.dialect])]

    def columns(self, table: str) -> tuple[tuple[str, str], ...]:
        """Names and types of a table's columns; none if there is no such table."""
        found = self.tables().get(table.casefold())
        return tuple((column.name, column.type) for column in found.columns) if found else ()

    def physical_columns(self, table: str) -> Columns:
        """Names and types of a physical table's columns; none if it is not there. `table` is SQL text."""
        try:
            return self._connection.columns(table)
        except Error:
            raise
        except Exception as error:
            raise self._lease.translate(error) from error

    def interrupt(self) -> None:
        """Stops what runs, from any thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Gives the connection back."""
        self._connection.close()
        self._lease.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""DuckDB files as sources: `duckdb:///path/to/file.duckdb`, opened for reading, never made by opening.

Each file is an instance of its own, apart from the merge's, locked once it is open; its connections are
cursors of it.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import duckdb
import pyarrow as pa

from shardwise.errors import Error, OperationalError, Reason, ShardUnavailable
from shardwise.executor import duck, translate
from shardwise.executor.backends.base import Columns, Location, ReadColumn, SourceOptions
from shardwise.executor.conform import suits


def settings(location: Location, options: SourceOptions) -> duck.Settings:
    """A source instance's settings: its Arrow goes to our merge, so that no type may be lost.

    Clusters of one process share a file's instance, so that its spill directory is the process's.
    """
    name = sha256(location.path.encode()).hexdigest()[:16]
    return duck.Settings(
        threads=options.threads,
        memory_bytes_max=options.memory_bytes_max,
        spill_directory=str(Path(_spill_root(options.spill_directory)) / name),
        lossless=True,
    )


@cache
def _spill_root(parent: str | None) -> str:
    """The process's private directory for the sources' spilled data, gone when the process ends."""
    if parent is not None:
        Path(parent).mkdir(parents=True, exist_ok=True)
    root = mkdtemp(prefix="shardwise-sources-", dir=parent)
    atexit.register(rmtree, root, ignore_errors=True)
    return root


_SCHEMA = "SELECT 1 FROM duckdb_schemas() WHERE schema_name = ? AND database_name = current_database()"


class DuckDBConnection:
    """A cursor of a source's instance."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        self._begun: tuple[str, Mapping[str, Any]] | None = None

    def version(self) -> object:
        return 0  # nobody else can write to the file while it is open

    def assumes(self, version: object) -> bool:
        return False

    def columns(self, table: str) -> Columns:
        try:
            return duck.bound(self._con, f"SELECT * FROM {table}")
        except duckdb.CatalogException as error:
            if "does not exist" in str(error):
                return ()
            raise

    def has_schema(self, name: str) -> bool:
        return bool(self._con.execute(_SCHEMA, [name]).fetchall())

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        columns = duck.columns(duck.execute(self._con, sql, params))
        self._begun = (sql, params)
        return columns

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        self._begun = None
        return self._con.fetchmany(count)

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        begun, self._begun = self._begun, None
        if begun == (sql, params):
            return duck.started_arrow_reader(self._con, sql, params, batch_rows)
        return duck.arrow_reader(self._con, sql, params, batch_rows)

    def interrupt(self) -> None:
        with suppress(duckdb.ConnectionException):  # closed meanwhile
            self._con.interrupt()

    def close(self) -> None:
        self._con.close()


class DuckDBSource:
    """An instance; closing it closes the file once its connections are closed too."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con
        ((self._time_zone,),) = con.execute("SELECT current_setting('TimeZone')").fetchall()

    def connect(self, time_zone: str) -> DuckDBConnection:
        con = self._con.cursor()
        if time_zone != self._time_zone:
            con.execute(f"SET TimeZone = {duck.literal(time_zone)}")
        return DuckDBConnection(con)

    def close(self) -> None:
        self._con.close()


class DuckDBBackend:
    """`duckdb:///file`."""

    name = "duckdb"
    dialect = "duckdb"

    def open(self, location: Location, options: SourceOptions) -> DuckDBSource:
        path = Path(location.path)
        if not path.is_file():
            what = "is a directory" if path.is_dir() else "does not exist"
            raise ShardUnavailable(
                f'source "{location.source}": file "{path}" {what}',
                hint="Check the source's URL in the catalog; opening never makes a file",
                is_missing=not path.exists(),
            )
        return DuckDBSource(duck.connect(str(path), settings(location, options), read_only=True))

    def suits(self, found: str, column: ReadColumn, normal: Callable[[str], str | None]) -> str | None:
        return suits(found, column, normal)

    def translate_error(self, error: BaseException, location: Location) -> Error:
        return translate_error(error, location)

    def is_transient(self, error: Error) -> bool:
        return isinstance(error, ShardUnavailable) and "another process" in error.message


def translate_error(error: BaseException, location: Location) -> Error:
    """A source DuckDB's error as ours."""
    if isinstance(error, ShardUnavailable):
        return error
    engine = translate.read(error)
    where = f'source "{location.source}"'
    for pattern, what, hint in _UNAVAILABLE:
        if pattern.search(engine.message):
            return ShardUnavailable(
                f'{where}: file "{location.path}" {what}', hint=hint, is_missing=what == "does not exist"
            )
    if engine.kind in ("IO", "Serialization", "FATAL", "Connection") or "orrupt" in engine.message:
        return ShardUnavailable(f"{where} cannot be read: {engine.message}", hint="Check the file")
    ours = translate.translate(error)
    if ours.reason in (Reason.UNKNOWN_COLUMN, Reason.UNKNOWN_TABLE):
        return OperationalError(
            f"{where} is not as the catalog says: {ours.message}",
            reason=Reason.SCHEMA_DRIFT,
            hint=_CHECK,
        )
    if (
        engine.kind == "Binder" and ours.hint is None
    ):  # it was bound on the catalog's types before it was sent
        ours.hint = f"{_CHECK}: the statement fits the types that the catalog says"
    return ours


_CHECK = "Run `shardwise catalog check` to see all differences"


_UNAVAILABLE = (
    (
        re.compile("Conflicting lock is held|Could not set lock"),
        "is locked by another process that writes to it",
        "Close the program that has it open for writing, or let it open the file read-only",
    ),
    (
        re.compile("different configuration"),
        "is open elsewhere in this process, with other settings",
        "Close your own duckdb.connect() to it (or other clusters with other options) first",
    ),
    (
        re.compile("not a valid DuckDB database"),
        "is not a DuckDB database",
        "Check the source's URL in the catalog",
    ),
    (
        re.compile("we can only read versions"),
        "was written by a newer DuckDB than this one",
        f"This is DuckDB {duckdb.__version__}: install a newer one, or export and import the file",
    ),
    (
        re.compile("database does not exist"),
        "does not exist",
        "Check the source's URL in the catalog; opening never makes a file",
    ),
)

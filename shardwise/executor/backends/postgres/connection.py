"""A request's connection: its statements in one transaction of one snapshot, rows as the wanted types."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import abc
from psycopg.adapt import Transformer
from psycopg.pq import Format

from shardwise.executor.backends.base import Columns
from shardwise.executor.backends.postgres import bulk
from shardwise.executor.backends.postgres.kinds import TEXT, Reading, readings
from shardwise.executor.backends.postgres.session import Field, Prepared, Session
from shardwise.executor.backends.postgres.tables import columns_of
from shardwise.executor.backends.postgres.values import bound, written

Rows = list[tuple[Any, ...]]


class PostgresConnection:
    """One request on a `Session` in a transaction, which goes back to `give_back` when it is closed."""

    def __init__(
        self,
        session: Session,
        version: str,
        time_zone: str,
        types: TypeNames,
        give_back: Callable[[Session], None],
    ) -> None:
        self._session = session
        self._version = version
        self._time_zone = time_zone
        self._types = types
        self._give_back = give_back
        self._lock = threading.Lock()
        self._is_closed = False
        self._readings: list[Reading] | None = None
        self._transformer: abc.Transformer | None = None
        self._rows: Rows = []
        self._is_over = True

    def version(self) -> object:
        return self._version

    def assumes(self, version: object) -> bool:
        return version == self._version

    def columns(self, table: str) -> Columns:
        self._ready()
        return columns_of(self._session, table)

    def has_schema(self, name: str) -> bool:
        self._ready()
        return bool(self._session.query("SELECT 1 FROM pg_namespace WHERE nspname = $1", [name]))

    def describe(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        self._ready()
        prepared, _ = self._prepare(sql, params)
        return self._columns(prepared, wanted)

    def execute(self, sql: str, params: Mapping[str, Any], wanted: Columns | None = None) -> Columns:
        self._ready()
        prepared, values = self._prepare(sql, params)
        columns = self._columns(prepared, wanted)
        self._transformer = self._loading(prepared)
        self._is_over = False
        try:
            self._session.start(prepared, values)
            self._rows = self._next()
        except psycopg.errors.FeatureNotSupported as error:
            if "cached plan" not in str(error):
                raise
            self._session.rollback()
            self._session.forget()
            return self.execute(sql, params, wanted)
        return columns

    def fetchmany(self, count: int) -> Rows:
        while len(self._rows) < count and not self._is_over:
            self._rows += self._next()
        found, self._rows = self._rows[:count], self._rows[count:]
        return found if self._readings is None else self._converted(found)

    def arrow(
        self, sql: str, params: Mapping[str, Any], batch_rows: int, wanted: Columns | None = None
    ) -> pa.RecordBatchReader:
        self._ready()
        prepared, _ = self._prepare(sql, params)
        text = written(self._session, sql, params) if params else sql
        if wanted is None:
            types = self._types.of(self._session, prepared.fields)
            return bulk.as_text(self._session, text, prepared.fields, types, batch_rows)
        columns = readings(prepared.fields, wanted, self._time_zone)
        return bulk.typed(self._session, text, columns, batch_rows)

    def interrupt(self) -> None:
        with self._lock:  # not once another request has the session
            if not self._is_closed:
                self._session.cancel()

    def close(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
        self._give_back(self._session)

    # -- inside -------------------------------------------------------------------------------

    def _ready(self) -> None:
        """In a transaction that goes on, with nothing under way."""
        self._session.settle()
        self._rows, self._is_over = [], True
        if not self._session.is_ready:
            self._session.rollback()
            self._session.begin(self._time_zone)

    def _prepare(self, sql: str, params: Mapping[str, Any]) -> tuple[Prepared, list[bytes | None]]:
        text, oids, values = bound(self._session, sql, params) if params else (sql, (), [])
        return self._session.prepare(text, oids), values

    def _columns(self, prepared: Prepared, wanted: Columns | None) -> Columns:
        if wanted is not None:
            self._readings = readings(prepared.fields, wanted, self._time_zone)
            return wanted
        self._readings = None
        types = self._types.of(self._session, prepared.fields)
        return tuple((field.name, types[field]) for field in prepared.fields)

    def _loading(self, prepared: Prepared) -> abc.Transformer:
        """psycopg's values where none are wanted, else the server's text."""
        made = Transformer(self._session.con)
        oids = [field.oid if self._readings is None else TEXT for field in prepared.fields]
        made.set_loader_types(oids, Format.TEXT)
        return made

    def _next(self) -> Rows:
        result = self._session.next_rows()
        if result is None:
            self._is_over = True
            return []
        assert self._transformer is not None
        self._transformer.set_pgresult(result, set_loaders=False)
        rows: Rows = self._transformer.load_rows(0, result.ntuples, tuple)
        return rows

    def _converted(self, rows: Rows) -> Rows:
        if not rows or self._readings is None:
            return rows
        columns = zip(self._readings, zip(*rows, strict=True), strict=True)
        return list(zip(*(reading.rows(cells) for reading, cells in columns), strict=True))


class TypeNames:
    """The names of types, as the server writes them; asked for once each. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], str] = {}

    def of(self, session: Session, fields: tuple[Field, ...]) -> Mapping[Field, str]:
        missing = sorted({(field.oid, field.modifier) for field in fields} - self._known.keys())
        if missing:
            asked = ", ".join(f"format_type({oid}, {modifier})" for oid, modifier in missing)
            (result,) = session.simple(f"SELECT {asked}")
            for i, pair in enumerate(missing):
                self._known[pair] = (result.get_value(0, i) or b"").decode()
        return {field: self._known[field.oid, field.modifier] for field in fields}

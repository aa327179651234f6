"""A cluster that is one DuckDB: what the DB-API layer sees of a session, without planner and shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from shardwise.catalog.language import parse
from shardwise.dbapi import Connection
from shardwise.errors import ProgrammingError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.plan.nodes import OneRow
from shardwise.plan.run import Plan
from shardwise.planner import Scope

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
ATTACH TABLE users (id BIGINT PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR) SHARD BY by_id (id);
ATTACH TABLE kinds (k VARCHAR, v INTEGER) REFERENCE ON by_id;
ATTACH TABLE settings (name VARCHAR) ON s0;
CREATE VIEW people AS SELECT * FROM users;
"""


class FakeResult:
    """Rows of one DuckDB statement."""

    stats = None

    is_typed = True

    def __init__(self, engine: duckdb.DuckDBPyConnection, sql: str, params: Any) -> None:
        self._run = lambda: engine.execute(sql, params or None)
        self._rows: duckdb.DuckDBPyConnection | None = None
        self._relation = engine.sql(sql, params=params or None)
        self.columns = tuple(
            (name, str(kind)) for name, kind in zip(self._relation.columns, self._relation.types, strict=True)
        )
        self.plan = Plan(
            sql=sql, root=OneRow(), fragments=(), merge=None, columns=self.columns, catalog_version=1
        )
        self.is_cancelled = self.is_closed = False

    def begin(self) -> None:
        """Rows are made as they are asked for."""

    def fetchmany(self, count: int) -> list[tuple[Any, ...]]:
        self._rows = self._rows or self._run()
        return self._rows.fetchmany(count)

    def arrow_reader(self, batch_rows: int) -> pa.RecordBatchReader:
        return self._relation.to_arrow_reader(batch_rows)

    def cancel(self) -> None:
        self.is_cancelled = True

    def close(self) -> None:
        self.is_closed = True


class FakeCluster:
    """Runs every statement on its own DuckDB; remembers the options it was given."""

    def __init__(self) -> None:
        self.engine = duckdb.connect()
        self.catalog = self.declared = parse(CATALOG)
        self.options: list[Options] = []
        self.locals: list[Mapping[str, Any]] = []
        self.is_closed = False

    def run(
        self,
        sql: str,
        params: Sequence[Any] | Mapping[str, Any],
        options: Options,
        locals: Mapping[str, Any],  # noqa: A002
        guard: Guard | None = None,
        scope: Scope | None = None,
        into: object = None,
        after: object = None,
    ) -> FakeResult:
        self.options.append(options)
        self.locals.append(dict(locals))
        assert not scope
        try:
            return FakeResult(self.engine.cursor(), sql, params)
        except duckdb.Error as error:
            raise ProgrammingError(str(error)) from error

    def close(self) -> None:
        self.is_closed = True


def connect() -> Connection:
    """A connection to a new fake cluster."""
    return Connection(FakeCluster(), Options(), owns_cluster=True)  # type: ignore[arg-type]

"""The public-domain DB-API 2.0 compliance suite (dbapi-compliance), over one DuckDB behind our cursor.

We only read, so what the suite writes goes to the DuckDB itself, by a cursor that does so for the suite.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import shardwise
from shardwise.dbapi import Connection, Cursor
from shardwise.options import Options
from tests.integration.dbapi.fake import FakeCluster

dbapi20: ModuleType = pytest.importorskip("dbapi20", reason="dbapi-compliance is not installed")

_WRITES = ("create", "drop", "insert")


class WritingCursor(Cursor):
    """Lets the suite make its tables."""

    def execute(self, sql: str, params: Any = None, **options: Any) -> WritingCursor:
        if sql.lower().startswith(_WRITES):
            self._check_open()
            self._discard()
            self.connection.cluster.engine.execute(sql, params)  # type: ignore[attr-defined]
            return self
        return super().execute(sql, params, **options)

    def executemany(self, sql: str, param_sets: Any) -> WritingCursor:
        for params in param_sets:
            self.execute(sql, params)
        return self


class WritingConnection(Connection):
    def cursor(self) -> WritingCursor:
        self.check_open()
        return WritingCursor(self)


class TestCompliance(dbapi20.DatabaseAPI20Test):  # type: ignore[misc,name-defined]
    driver = shardwise

    def _connect(self) -> WritingConnection:
        return WritingConnection(self._cluster, Options())  # type: ignore[arg-type]

    def setUp(self) -> None:
        self._cluster = FakeCluster()

    def tearDown(self) -> None:
        self._cluster.engine.close()

    def test_non_idempotent_close(self) -> None:
        """We differ, as the suite says that reasonable persons may: a second close does nothing."""
        connection = self._connect()
        connection.close()
        connection.close()

    def test_nextset(self) -> None:
        """There is no nextset: a statement has one result."""
        assert not hasattr(self._connect().cursor(), "nextset")

    def test_setoutputsize(self) -> None:
        """It does nothing, which the basic test covers."""

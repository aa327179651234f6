"""A statement that a shard cannot bind, though it fits the catalog's types, hints at the check."""

from __future__ import annotations

import sqlite3
from types import SimpleNamespace
from typing import Any

import pytest

from shardwise.errors import Error, OperationalError
from shardwise.executor.conform import KnownTables, suits
from shardwise.plan.run import Expected, ExpectedColumn
from tests.integration.executor.lab import Lab, whole


@pytest.mark.parametrize("sql", ["SELECT abs(g) AS x FROM t", "SELECT id FROM t WHERE g BETWEEN 1 AND id"])
def test_a_type_that_a_function_does_not_take(lab: Lab, sql: str) -> None:
    lab.fill("ALTER TABLE t ALTER g TYPE BOOLEAN[] USING [b]", shards=["s1"])
    with pytest.raises(Error) as caught, lab.execute(whole(lab.fragment("f1", sql, ["s1"]))) as result:
        result.fetchall()
    assert caught.value.shard == "s1"
    assert "shardwise catalog check" in str(caught.value.hint)


def test_what_could_not_be_looked_at_is_not_taken_for_good() -> None:
    """A lock or a cancel amid the look at a table: the error comes out, and the next request looks again."""

    class Connection:
        fails = True

        def version(self) -> object:
            return 1

        def columns(self, table: str) -> tuple[tuple[str, str], ...]:
            if self.fails:
                raise sqlite3.OperationalError("interrupted")
            return (("n", "VARCHAR"),)

        def has_schema(self, name: str) -> bool:
            return True

    tables, connection = KnownTables(suits), Connection()
    request: Any = SimpleNamespace(shard="s0", expects=(Expected("t", (ExpectedColumn("n", "INTEGER"),)),))
    with pytest.raises(sqlite3.OperationalError):
        tables.check(connection, request, str)
    connection.fails = False
    with pytest.raises(OperationalError, match="VARCHAR"):
        tables.check(connection, request, str)

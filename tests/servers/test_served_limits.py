"""Merges on a server that are large, stopped, or beyond a budget."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from shardwise.errors import BudgetExceeded, Cancelled, DeadlineExceeded
from tests.servers.served import Served, served

_TEXT = 'é"\\\n\t\x01,{}[]%s:p1 ' * 60
_ROWS = [(i, None if i % 9 == 4 else f"{_TEXT}{i % 100}", i % 7) for i in range(3000)]
_FOREVER = "SELECT count(*) FROM t AS a, t AS b, t AS c WHERE a.g + b.id > c.id + 1"


@pytest.fixture(scope="module", params=("mysql", "postgres"))
def world(request: pytest.FixtureRequest) -> Iterator[Served]:
    columns = "id BIGINT PRIMARY KEY, name TEXT, g INT"
    with served(request.param, {"t": (columns, _ROWS)}) as found:
        yield found


def test_large_texts_are_shipped_in_pieces(world: Served) -> None:
    for sql in (
        "SELECT max(name), min(name), count(*), g FROM t WHERE id > 1 GROUP BY g ORDER BY g",
        "SELECT id, name FROM t ORDER BY id",
        "SELECT a.id, b.name FROM t AS a JOIN t AS b ON a.id = b.id + 1 AND a.g = 3 ORDER BY a.id",
    ):
        assert world.found(sql) == world.expected(sql)


def test_a_merge_is_cancelled(world: Served) -> None:
    with world.cluster.connect() as connection, connection.cursor() as cursor:
        threading.Timer(1.0, cursor.cancel).start()
        started = time.perf_counter()
        with pytest.raises(Cancelled):
            cursor.execute(_FOREVER).fetchall()
        assert time.perf_counter() - started < 5
    assert world.found("SELECT count(*) FROM t AS a JOIN t AS b ON a.g = b.id")[1] == [(3000,)]


def test_a_merge_has_the_statements_deadline(world: Served) -> None:
    started = time.perf_counter()
    with pytest.raises(DeadlineExceeded):
        world.found(_FOREVER, deadline_s=1.0)
    assert time.perf_counter() - started < 5


def test_what_is_shipped_has_a_budget(world: Served) -> None:
    with pytest.raises(BudgetExceeded, match="memory_bytes_max"):
        world.found("SELECT id, name FROM t ORDER BY name, id", memory_bytes_max=1 << 20)
    with pytest.raises(BudgetExceeded, match="rows_max"):
        world.found("SELECT id, name FROM t ORDER BY name, id", rows_max=100)


def test_a_result_that_is_left_gives_its_connections_back(world: Served) -> None:
    for _ in range(20):
        with world.cluster.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT a.id, b.id FROM t AS a JOIN t AS b ON a.g = b.g")
            assert len(cursor.fetchmany(3)) == 3
    with world.cluster.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT id FROM t")
        assert cursor.fetchone() is not None
        cursor.execute("SELECT count(*) FROM t")
        assert cursor.fetchone() == (3000,)

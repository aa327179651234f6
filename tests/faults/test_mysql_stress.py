"""Many threads on one MySQL source, which cancel, leave results, kill connections: each gets its own rows."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

import pytest

from shardwise.errors import Cancelled
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.mysql import MySQLBackend, MySQLSource
from shardwise.executor.backends.mysql.connection import MySQLConnection
from tests.faults.asking import until
from tests.servers import mariadb

pytestmark = [pytest.mark.servers, pytest.mark.slow]
ROWS = 5_000
WANTED = (("id", "BIGINT"), ("w", "VARCHAR"))


class Worker(threading.Thread):
    def __init__(self, source: MySQLSource, seed: int, seconds: float) -> None:
        super().__init__()
        self.source, self.random, self.end = source, random.Random(seed), time.monotonic() + seconds
        self.seed = seed
        self.counts: Counter[str] = Counter()
        self.wrong: list[object] = []

    def run(self) -> None:
        does = [self.point, self.point, self.leave, self.bulk, self.variable, self.cancel, self.kill]
        while time.monotonic() < self.end:
            do = self.random.choice(does)
            connection = self.source.connect(self.random.choice(["UTC", "SYSTEM", "Asia/Tokyo"]))
            try:
                do(connection, self.random.randint(1, ROWS))
                self.counts[do.__name__] += 1
            except Cancelled:
                self.counts["cancelled"] += 1
            except Exception as error:
                self.wrong.append(error)
            finally:
                connection.close()

    def check(self, found: object, wanted: object) -> None:
        if found != wanted:
            self.wrong.append((found, wanted))

    def point(self, connection: MySQLConnection, key: int) -> None:
        connection.execute("SELECT id, :m FROM t WHERE id = :p", {"p": key, "m": self.seed})
        self.check(connection.fetchmany(9), [(key, self.seed)])

    def leave(self, connection: MySQLConnection, key: int) -> None:
        connection.execute("SELECT id FROM t WHERE id >= :p ORDER BY id", {"p": key})
        self.check(connection.fetchmany(self.random.choice([1, 50, 1000]))[0], (key,))

    def bulk(self, connection: MySQLConnection, key: int) -> None:
        reader = connection.arrow("SELECT id, w FROM t WHERE id <= :p", {"p": key}, 1000, WANTED)
        if self.random.random() < 0.5:
            reader.read_next_batch()
        else:
            self.check(reader.read_all().num_rows, key)

    def variable(self, connection: MySQLConnection, key: int) -> None:
        connection.execute("SELECT @x", {})
        self.check(connection.fetchmany(9), [(None,)])
        connection.execute("SET @x = :p", {"p": key})
        connection.execute("SELECT @x", {})
        self.check(connection.fetchmany(9), [(key,)])

    def cancel(self, connection: MySQLConnection, key: int) -> None:
        timer = threading.Timer(self.random.random() * 0.05, connection.interrupt)
        timer.start()
        try:
            connection.execute("SELECT count(*) FROM t a, t b, t c WHERE concat(a.w, b.w, c.w) = 'x'", {})
            self.check(connection.fetchmany(9), "was cancelled")
        finally:
            timer.join()

    def kill(self, connection: MySQLConnection, key: int) -> None:
        connection.execute("SELECT connection_id()", {})
        ((id_,),) = connection.fetchmany(9)
        connection.close()
        server = mariadb(0)
        if server.run(
            f"SELECT id FROM information_schema.processlist WHERE id = {id_} AND command = 'Sleep'"
        ):
            try:
                server.run(f"KILL {id_}")
            except Exception as error:  # it has ended meanwhile
                self.check("1094" in str(error), True)


def test_many_threads() -> None:
    server = mariadb(0)
    database = server.database(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, w VARCHAR(100))",
        f"INSERT INTO t SELECT seq, repeat('x', 100) FROM seq_1_to_{ROWS}",
    )
    where = Location(source="s", url=server.url(database), password=server.password)
    source = MySQLBackend().open(where, SourceOptions())
    workers = [Worker(source, seed, seconds=6) for seed in range(6)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not [wrong for each in workers for wrong in each.wrong if not _is_loss(wrong)]
    source.close()
    sql = f"SELECT count(*) FROM information_schema.processlist WHERE db = '{database}'"
    until(lambda: server.run(sql) == [(0,)], within_s=10)


def _is_loss(wrong: object) -> bool:
    """A connection that was killed amid a statement of another thread."""
    where = Location(source="s", url="mysql://x/y")
    backend = MySQLBackend()
    return isinstance(wrong, Exception) and backend.is_transient(backend.translate_error(wrong, where))

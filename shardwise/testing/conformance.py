"""What every backend must do: a suite of pytest tests to subclass, for ours and for strangers'.

    from shardwise.testing.conformance import BackendConformance

    class TestMine(BackendConformance):
        backend = MyBackend()

        def make(self, folder, tables):          # a source that holds these Arrow tables
            …
            return Location(source="mine", url=…)

A gap is a strict expected failure: `@pytest.mark.xfail(reason="upstream: …")` on the overridden test.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
import pytest

from shardwise.errors import DataError, Error, OperationalError, Reason, ShardUnavailable
from shardwise.executor.backends.base import Backend, Location, OpenSource, SourceConnection, SourceOptions

MANY = 100_000
NUMBERS = pa.table({"id": pa.array(range(MANY), pa.int64()), "word": [f"w{i % 7}" for i in range(MANY)]})
NULLS = pa.table({"id": pa.array([1, None, 3], pa.int32()), "word": ["a", "b", None]})
EMPTY = NUMBERS.schema.empty_table()
ID = (("id", "BIGINT"),)
BOTH = (*ID, ("word", "VARCHAR"))
TABLES: Mapping[str, pa.Table] = {"numbers": NUMBERS, "nulls": NULLS, "empty": EMPTY}


class BackendConformance:
    """Subclass it, say `backend` and `make`; `missing` is a location of the same kind where nothing is.

    The statements are plain enough for any SQL; a dialect that needs others overrides them.
    """

    backend: ClassVar[Backend]
    slow: ClassVar[str] = (
        "SELECT count(*) FROM numbers a, numbers b, numbers c WHERE a.word || b.word || c.word = 'x'"
    )
    fails_late: ClassVar[str] = (
        "SELECT CAST(CASE WHEN id = 99999 THEN word ELSE '1' END AS INTEGER) FROM numbers"
    )
    time_zone: ClassVar[str] = "SELECT CAST(TIMESTAMPTZ '2024-05-01 10:00:00+00' AS VARCHAR)"
    time_zone_type: ClassVar[str] = "VARCHAR"
    named: ClassVar[str] = "${}"
    """What a parameter of a name looks like in the planner's text for this dialect."""
    writes: ClassVar[tuple[str, ...]] = ("CREATE TABLE more (a INTEGER)", "DROP TABLE numbers")

    @abstractmethod
    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        """A source in `folder` that holds the tables."""

    @abstractmethod
    def missing(self, folder: Path) -> Location:
        """Where no source is."""

    # -- fixtures -----------------------------------------------------------------------------

    _made: ClassVar[dict[type, Location]] = {}

    @pytest.fixture
    def location(self, tmp_path_factory: pytest.TempPathFactory) -> Location:
        """Made once per class."""
        made = self._made.get(type(self))
        if made is None:
            made = self._made[type(self)] = self.make(tmp_path_factory.mktemp("a source"), TABLES)
        return made

    @pytest.fixture
    def source(self, location: Location) -> Iterator[OpenSource]:
        source = self.backend.open(location, SourceOptions())
        yield source
        source.close()

    @pytest.fixture
    def connection(self, source: OpenSource) -> Iterator[SourceConnection]:
        connection = source.connect("UTC")
        yield connection
        connection.close()

    # -- opening ------------------------------------------------------------------------------

    def test_opening_makes_nothing(self, tmp_path: Path) -> None:
        location = self.missing(tmp_path)
        with pytest.raises(Exception) as caught:  # noqa: PT011  the backend says what it is
            self.backend.open(location, SourceOptions())
        error = self.backend.translate_error(caught.value, location)
        assert isinstance(error, ShardUnavailable)
        assert location.source in error.message
        assert error.hint
        assert not list(tmp_path.iterdir())

    def test_it_can_be_opened_twice(self, location: Location, connection: SourceConnection) -> None:
        other = self.backend.open(location, SourceOptions())
        again = other.connect("UTC")
        again.execute("SELECT count(*) FROM numbers", {})
        assert again.fetchmany(2) == [(MANY,)]
        again.close()
        other.close()
        connection.execute("SELECT count(*) FROM numbers", {})
        assert connection.fetchmany(2) == [(MANY,)]

    @pytest.mark.parametrize("index", [0, 1])
    def test_it_is_for_reading(self, connection: SourceConnection, index: int) -> None:
        if index < len(self.writes):
            with pytest.raises(Exception):  # noqa: B017, PT011  each driver has its own
                self._run(connection, self.writes[index], "execute")
        connection.execute("SELECT count(*) FROM nulls", {})
        assert connection.fetchmany(2) == [(3,)]

    def test_its_tables(self, connection: SourceConnection) -> None:
        columns = connection.columns("numbers")
        assert [name for name, _ in columns] == ["id", "word"]
        for (_, found), declared in zip(columns, ("BIGINT", "VARCHAR"), strict=True):
            assert self.backend.suits(found, ("x", declared, None), lambda type_: type_) is None

    # -- rows ---------------------------------------------------------------------------------

    def test_rows_as_tuples(self, connection: SourceConnection) -> None:
        columns = connection.execute("SELECT id, word FROM nulls ORDER BY word", {}, BOTH)
        assert [name for name, _ in columns] == ["id", "word"]
        assert all(type_ for _, type_ in columns)
        rows = connection.fetchmany(2)
        rows += connection.fetchmany(2)
        assert sorted(rows, key=repr) == [(1, "a"), (3, None), (None, "b")]
        assert connection.fetchmany(2) == []

    def test_rows_as_arrow(self, connection: SourceConnection) -> None:
        reader = connection.arrow("SELECT id, word FROM numbers", {}, 1000, BOTH)
        assert reader.schema.names == ["id", "word"]
        first = reader.read_next_batch()
        assert 0 < len(first) <= 4096
        rest = reader.read_all()
        ids = first.column(0).to_pylist() + rest.column(0).to_pylist()
        assert sorted(ids) == list(range(MANY))

    def test_no_rows(self, connection: SourceConnection) -> None:
        assert connection.arrow("SELECT id, word FROM empty", {}, 1000, BOTH).read_all().num_rows == 0
        columns = connection.execute("SELECT id, word FROM empty", {}, BOTH)
        assert [name for name, _ in columns] == ["id", "word"]
        assert connection.fetchmany(1) == []

    def test_parameters_are_bound_by_name(self, connection: SourceConnection) -> None:
        low, high, text = map(self.named.format, ("low", "p1", "p2"))
        sql = f"SELECT id FROM numbers WHERE id >= {low} AND id < {high} AND word <> '{text}' ORDER BY id"
        params = {"p1": 7, "low": 5, "p2": "not used"}
        connection.execute(sql, params)
        assert connection.fetchmany(9) == [(5,), (6,)]
        assert connection.arrow(sql, params, 10, ID).read_all().column(0).to_pylist() == [5, 6]

    def test_a_parameter_is_a_value_never_text(self, connection: SourceConnection) -> None:
        sql = f"SELECT count(*) FROM nulls WHERE word = {self.named.format('p')}"
        connection.execute(sql, {"p": "a' OR '1' = '1"})
        assert connection.fetchmany(2) == [(0,)]

    def test_the_sessions_time_zone(self, source: OpenSource) -> None:
        found = []
        for zone in ("UTC", "Asia/Tokyo"):
            connection = source.connect(zone)
            connection.execute(self.time_zone, {}, (("moment", self.time_zone_type),))
            found += connection.fetchmany(1)
            connection.close()
        assert "10:00" in str(found[0][0])
        assert "19:00" in str(found[1][0])

    # -- several at once ----------------------------------------------------------------------

    def test_connections_work_side_by_side(self, source: OpenSource) -> None:
        connections = [source.connect("UTC") for _ in range(3)]
        readers = [each.arrow("SELECT id FROM numbers", {}, 1000, ID) for each in connections]
        for reader in readers:
            reader.read_next_batch()
        assert all(reader.read_all().num_rows > 0 for reader in readers)
        for each in connections:
            each.close()

    def test_a_connection_may_be_closed_amid_its_rows(self, source: OpenSource) -> None:
        for start in ("arrow", "execute"):
            connection = source.connect("UTC")
            if start == "arrow":
                connection.arrow("SELECT id FROM numbers", {}, 1000, ID).read_next_batch()
            else:
                connection.execute("SELECT id FROM numbers", {})
                connection.fetchmany(1)
            connection.close()
        after = source.connect("UTC")
        after.execute("SELECT id FROM numbers", {})
        assert after.fetchmany(1)
        after.close()

    # -- stopping and failing -----------------------------------------------------------------

    @pytest.mark.parametrize("start", ["arrow", "execute"])
    def test_interrupt(self, source: OpenSource, start: str) -> None:
        connection = source.connect("UTC")
        timer = threading.Timer(0.2, connection.interrupt)
        timer.start()
        started = time.perf_counter()
        with pytest.raises(Exception):  # noqa: B017, PT011  each driver has its own
            self._run(connection, self.slow, start)
        assert time.perf_counter() - started < 2
        timer.join()
        connection.execute("SELECT count(*) FROM nulls", {})
        assert connection.fetchmany(2) == [(3,)]
        connection.close()
        connection.interrupt()

    @pytest.mark.parametrize("start", ["arrow", "execute"])
    def test_errors_are_ours(self, location: Location, connection: SourceConnection, start: str) -> None:
        for sql, kind, reason in (
            ("SELECT absent FROM numbers", OperationalError, Reason.SCHEMA_DRIFT),
            ("SELECT id FROM nowhere", OperationalError, Reason.SCHEMA_DRIFT),
            (self.fails_late, DataError, None),
        ):
            with pytest.raises(Exception) as caught:  # noqa: PT011  each driver has its own
                self._run(connection, sql, start)
            error = self.backend.translate_error(caught.value, location)
            assert isinstance(error, kind), sql
            assert reason is None or error.reason == reason
            assert self.backend.translate_error(error, location) is error

    @staticmethod
    def _run(connection: SourceConnection, sql: str, start: str) -> None:
        if start == "arrow":
            connection.arrow(sql, {}, 1000, ID).read_all()
        else:
            connection.execute(sql, {}, ID)
            while connection.fetchmany(10_000):
                pass

    def test_an_error_of_ours_stays_itself(self, location: Location) -> None:
        error: Error = ShardUnavailable("gone")
        assert self.backend.translate_error(error, location) is error

    def test_what_it_says_of_itself(self) -> None:
        assert self.backend.name
        assert self.backend.dialect
        assert self.backend.is_transient(DataError("x")) is False

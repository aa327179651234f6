"""The bulk decoder gives, cell for cell, what PyMySQL gives."""

from __future__ import annotations

import math
import random
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pymysql
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymysql.converters import conversions, decoders

from shardwise.errors import DataError, InterfaceError, NotSupportedError, OperationalError
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.mysql import MySQLBackend
from shardwise.executor.backends.mysql.bulk import BulkResult
from shardwise.executor.backends.mysql.bulk.packets import Incoming
from tests.servers import mariadb
from tests.servers.bulk_tables import SAMPLES, Sample, tables

ANY_DATE = "ALLOW_INVALID_DATES"


@pytest.fixture(scope="module")
def con() -> Iterator[pymysql.Connection[Any]]:
    server = mariadb()
    with closing(server.connect(server.database())) as connection, connection.cursor() as cursor:
        cursor.execute(f"SET time_zone = '+00:00', sql_mode = '{ANY_DATE}'")
        yield connection


def bulk(con: pymysql.Connection[Any], sql: str, wanted: Any = None, **options: Any) -> pa.Table:
    result = BulkResult(con, sql, **options)
    return result.reader(1000, wanted).read_all()


def cells(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def fetched(con: pymysql.Connection[Any], sql: str, converters: Any = decoders) -> list[tuple[Any, ...]]:
    con.decoders = converters
    with con.cursor() as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall())


def scalar(con: pymysql.Connection[Any], sql: str, wanted: str) -> Any:
    (value,) = bulk(con, f"SELECT {sql}", (("x", wanted),))["x"].to_pylist()
    return value


# -- the property -----------------------------------------------------------------------------


@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(SAMPLES), st.integers(1, 300) | st.just(1 << 20))
def test_cells_are_those_of_pymysql(
    con: pymysql.Connection[Any], table: tuple[list[Sample], list[tuple[str, ...]]], chunk_bytes: int
) -> None:
    samples, rows = table
    with con.cursor() as cursor:
        cursor.execute("DROP TEMPORARY TABLE IF EXISTS r")
        columns = ", ".join(f"c{i} {sample.type}" for i, sample in enumerate(samples))
        cursor.execute(f"CREATE TEMPORARY TABLE r ({columns})")
        lists = [f"({', '.join(row)})" for row in rows]
        cursor.execute(f"INSERT INTO r VALUES {', '.join(lists)}")
    sql = "SELECT * FROM r"
    assert cells(bulk(con, sql, chunk_bytes=chunk_bytes)) == fetched(con, sql, converters={})
    wanted = tuple((f"w{i}", sample.wanted) for i, sample in enumerate(samples))
    found = cells(bulk(con, sql, wanted, chunk_bytes=chunk_bytes))
    for ours, theirs in zip(found, fetched(con, sql), strict=True):
        for one, other, sample in zip(ours, theirs, samples, strict=True):
            assert alike(one, other, sample), (one, other, sample.type, sample.wanted)


def alike(ours: Any, theirs: Any, sample: Sample) -> bool:
    """Whether a value of a DuckDB type is PyMySQL's; the documented differences are here."""
    if ours is None or theirs is None:
        return ours is theirs
    if sample.wanted == "INTERVAL":
        assert ours.months == ours.days == 0
        ours = timedelta(microseconds=ours.nanoseconds // 1000)
    elif sample.wanted in ("HUGEINT", "UHUGEINT"):
        ours = int.from_bytes(ours, "little", signed=sample.wanted == "HUGEINT")
    elif sample.wanted == "UUID":
        theirs = uuid.UUID(bytes=theirs) if isinstance(theirs, bytes) else uuid.UUID(theirs)
    elif sample.type.startswith("BIT") and sample.wanted != "BLOB":
        theirs = int.from_bytes(theirs, "big")
    elif sample.wanted.endswith("TIME ZONE"):
        theirs = theirs.replace(tzinfo=UTC)
    elif sample.type.startswith("DECIMAL(65"):
        ours = Decimal(ours)
    elif sample.wanted == "VARCHAR":
        theirs = str(theirs)
    elif sample.wanted == "DOUBLE":
        return bool(ours == theirs and math.copysign(1, ours) == math.copysign(1, theirs))
    return bool(ours == theirs)


SUITED = [s for s in SAMPLES if not (s.type.startswith(("BIT(13", "BIT(64", "DECIMAL(65", "BINARY(16")))]
SUITED.append(Sample("FLOAT", "FLOAT", st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr)))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(SUITED))
def test_rows_as_tuples_are_those_of_arrow(table: tuple[list[Sample], list[tuple[str, ...]]]) -> None:
    """A source gives the same values one by one, as DuckDB's own Python values, and in bulk."""
    samples, rows = table
    server = mariadb()
    name = server.database()
    columns = ", ".join(f"c{i} {sample.type}" for i, sample in enumerate(samples))
    lists = ", ".join(f"({', '.join(row)})" for row in rows)
    server.run(
        f"SET sql_mode = '{ANY_DATE}', time_zone = '+00:00'",
        f"CREATE TABLE r ({columns})",
        f"INSERT INTO r VALUES {lists}",
        database=name,
    )
    where = Location(source="one", url=server.url(name), password=server.password)
    source = MySQLBackend().open(where, SourceOptions())
    connection = source.connect("Europe/Paris")
    try:
        sql = f"SELECT {', '.join(f'`c{i}`' for i in range(len(samples)))} FROM r"
        wanted = tuple((f"w{i}", sample.wanted) for i, sample in enumerate(samples))
        connection.execute(sql, {}, wanted)
        tuples = connection.fetchmany(100)
        connection.execute(sql, {}, wanted)  # what the answer begins with is known now
        assert repr(connection.fetchmany(100)) == repr(tuples)
        found = connection.arrow(sql, {}, 100, wanted).read_all()
        with duckdb.connect() as con:
            con.execute("SET TimeZone = 'Europe/Paris'")
            con.register("found", found)
            assert tuples == con.execute("FROM found").fetchall()
        # A server knows zones by name only if they were loaded.
        with closing(server.connect(name, init_command="SET time_zone = '+02:00'")) as bare:
            theirs = fetched(bare, sql, conversions)
        with closing(source.connect("Etc/GMT-2")) as ahead:
            for _ in range(2):
                ahead.execute(sql, {})
                assert repr(ahead.fetchmany(100)) == repr(theirs)
    finally:
        connection.close()
        source.close()
        server.run(f"DROP DATABASE {name}")


# -- long values ------------------------------------------------------------------------------

_SPLIT = (1 << 24) - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "length",
    [
        65_536,
        1 << 20,
        *(_SPLIT - 4 - 2 + more for more in (-1, 0, 1)),  # a row's only packet is nearly, just, and not whole
        *(2 * _SPLIT - 9 - 2 + more for more in (-1, 0, 1)),
    ],
)
def test_long_values(con: pymysql.Connection[Any], length: int) -> None:
    with con.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        if cursor.fetchall()[0][0] < 40 << 20:
            pytest.skip("this server's max_allowed_packet is too small")
    sql = f"""SELECT 1, 'a' UNION ALL SELECT 2, REPEAT('é', 3) UNION ALL
        SELECT 3, CONCAT(REPEAT('x', {length - 1}), 'y') UNION ALL SELECT 4, 'z'"""
    found = bulk(con, sql)
    assert found[0].to_pylist() == ["1", "2", "3", "4"]
    assert found[1].to_pylist() == ["a", "ééé", "x" * (length - 1) + "y", "z"]
    assert cells(bulk(con, "SELECT 5")) == [("5",)]


def test_batches_have_no_more_rows_than_asked(con: pymysql.Connection[Any]) -> None:
    result = BulkResult(con, "SELECT seq FROM seq_1_to_25000")
    sizes = [batch.num_rows for batch in result.batches(10_000)]
    assert sum(sizes) == 25_000
    assert max(sizes) <= 10_000
    assert result.is_over


def test_memory_is_flat() -> None:
    server = mariadb()
    with closing(server.connect("mysql")) as con:
        before = pa.total_allocated_bytes()
        result = BulkResult(con, "SELECT seq, REPEAT('x', 200) FROM seq_1_to_100000")
        peak = rows = 0
        for batch in result.batches(1000):
            rows += batch.num_rows
            peak = max(peak, pa.total_allocated_bytes() - before)
        assert rows == 100_000
        assert peak < 8 << 20


# -- what the server says of columns ----------------------------------------------------------


def test_types_are_in_the_metadata(con: pymysql.Connection[Any]) -> None:
    types = {
        "TINYINT(1)": "TINYINT",
        "SMALLINT UNSIGNED": "SMALLINT UNSIGNED",
        "MEDIUMINT": "MEDIUMINT",
        "INT": "INT",
        "BIGINT UNSIGNED": "BIGINT UNSIGNED",
        "DECIMAL(12,2)": "DECIMAL(12,2)",
        "DECIMAL(9,0) UNSIGNED": "DECIMAL(9,0) UNSIGNED",
        "DECIMAL(65,30)": "DECIMAL(65,30)",
        "DOUBLE": "DOUBLE",
        "DATE": "DATE",
        "DATETIME": "DATETIME",
        "DATETIME(3)": "DATETIME(3)",
        "TIMESTAMP(6) NULL": "TIMESTAMP(6)",
        "TIME(2)": "TIME(2)",
        "YEAR": "YEAR",
        "BIT(5)": "BIT(5)",
        "CHAR(7)": "CHAR(7)",
        "VARCHAR(9) CHARACTER SET latin1": "VARCHAR(9)",
        "TINYTEXT": "TINYTEXT",
        "LONGTEXT": "LONGTEXT",
        "BINARY(4)": "BINARY(4)",
        "VARBINARY(4)": "VARBINARY(4)",
        "BLOB": "BLOB",
        "MEDIUMBLOB": "MEDIUMBLOB",
        "ENUM('a')": "ENUM",
        "SET('a')": "SET",
    }
    with con.cursor() as cursor:
        cursor.execute("DROP TEMPORARY TABLE IF EXISTS r")
        cursor.execute(f"CREATE TEMPORARY TABLE r ({', '.join(f'c{i} {t}' for i, t in enumerate(types))})")
    result = BulkResult(con, "SELECT * FROM r")
    assert [type_ for _, type_ in result.columns] == list(types.values())
    schema = result.reader(1).schema
    assert [field.metadata[b"type"].decode() for field in schema] == list(types.values())
    result.close()
    con.ping()


# -- values that do not fit -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("300", "TINYINT"),
        ("-1", "UBIGINT"),
        ("18446744073709551615", "BIGINT"),
        ("-1", "UHUGEINT"),
        ("2", "BOOLEAN"),
        ("1.5", "BIGINT"),
        ("1.25", "DECIMAL(5,1)"),
        ("0.10000000000000000001", "DECIMAL(5,1)"),
        ("12345.5", "DECIMAL(5,1)"),
        ("9007199254740993", "DOUBLE"),
        ("0.1234567890123456789", "DOUBLE"),
        ("CAST(0.1 AS DOUBLE)", "FLOAT"),
        ("CAST('0000-00-00' AS DATE)", "DATE"),
        ("CAST('2024-05-00' AS DATE)", "DATE"),
        ("CAST('0000-00-00' AS DATETIME)", "TIMESTAMP"),
        ("CAST('24:00:00' AS TIME)", "TIME"),
        ("CAST('-00:00:01' AS TIME)", "TIME"),
        ("CAST('2024-01-01 00:00:00.5' AS DATETIME(6))", "TIMESTAMP_S"),
        ("_binary X'FF'", "VARCHAR"),
        ("'a'", "BLOB"),
        ("'a'", "BIGINT"),
        ("'a'", "UUID"),
        ("'{'", "JSON"),
        ("'c'", "ENUM('a', 'b')"),
        ("CAST(1 AS UNSIGNED)", "TIME"),
    ],
)
def test_what_does_not_fit_is_an_error_that_names_the_column(
    con: pymysql.Connection[Any], sql: str, wanted: str
) -> None:
    with con.cursor() as cursor:
        cursor.execute("DROP TEMPORARY TABLE IF EXISTS r")
        cursor.execute(f"CREATE TEMPORARY TABLE r AS SELECT {sql} AS x")
    with pytest.raises(DataError, match=r'column "price" holds .* which '):
        bulk(con, "SELECT x FROM r", (("price", wanted),))
    con.ping()


def test_what_fits_in_another_way(con: pymysql.Connection[Any]) -> None:
    assert scalar(con, "CAST(5 AS DECIMAL(20,0))", "BIGINT") == 5
    assert scalar(con, "5.00", "INTEGER") == 5
    assert scalar(con, "0.25", "DOUBLE") == 0.25
    assert scalar(con, "CAST(0.5 AS DOUBLE)", "FLOAT") == 0.5
    assert scalar(con, "CAST(2.5 AS DOUBLE)", "DECIMAL(5,2)") == Decimal("2.50")
    assert scalar(con, "CAST('23:59:59.000001' AS TIME(6))", "TIME").isoformat() == "23:59:59.000001"
    assert scalar(con, "CAST('2024-05-06' AS DATE)", "TIMESTAMP") == datetime(2024, 5, 6)
    assert scalar(con, "CAST('838:59:59' AS TIME)", "VARCHAR") == "838:59:59"
    assert scalar(con, "NULL", "BIGINT") is None
    assert scalar(con, "NULL", "UUID") is None


def test_moments_come_in_utc_and_are_shown_in_a_zone(con: pymysql.Connection[Any]) -> None:
    result = BulkResult(con, "SELECT CAST('2024-07-01 12:00:00.25' AS DATETIME(6))")
    wanted = (("at", "TIMESTAMP WITH TIME ZONE"),)
    (at,) = result.reader(10, wanted, time_zone="Europe/Paris").read_all()["at"].to_pylist()
    assert at == datetime(2024, 7, 1, 14, 0, 0, 250_000, tzinfo=ZoneInfo("Europe/Paris"))
    assert at.hour == 14


def test_types_that_mysql_has_not(con: pymysql.Connection[Any]) -> None:
    result = BulkResult(con, "SELECT 1")
    with pytest.raises(NotSupportedError, match="MySQL source has no values of type"):
        result.reader(1, (("x", "INTEGER[]"),))
    result.close()


def test_as_many_columns_as_wanted() -> None:
    with closing(mariadb().connect()) as con:
        result = BulkResult(con, "SELECT 1, 2")
        with pytest.raises(OperationalError, match="answered with 2 columns, not 1"):
            result.reader(1, (("x", "INTEGER"),))


# -- errors -----------------------------------------------------------------------------------


def test_an_error_of_the_statement(con: pymysql.Connection[Any]) -> None:
    with pytest.raises(pymysql.ProgrammingError, match="1146"):
        BulkResult(con, "SELECT * FROM nowhere")
    with pytest.raises(InterfaceError, match="has no rows"):
        BulkResult(con, "SET @x = 1")
    assert cells(bulk(con, "SELECT 1")) == [("1",)]


def test_an_error_amid_the_rows_leaves_the_connection_usable(con: pymysql.Connection[Any]) -> None:
    sql = """SELECT seq, REPEAT('x', 100), (SELECT 1 FROM seq_1_to_2 i WHERE s.seq > 40000 OR i.seq = 1)
        FROM seq_1_to_50000 s"""
    sizes: list[int] = []
    with pytest.raises(pymysql.OperationalError, match="1242"):
        sizes.extend(batch.num_rows for batch in BulkResult(con, sql).batches(1000))
    assert 0 < sum(sizes) < 50_000
    assert cells(bulk(con, "SELECT 1")) == [("1",)]


def test_a_statement_is_stopped_amid_its_rows(con: pymysql.Connection[Any]) -> None:
    result = BulkResult(con, "SELECT a.seq, REPEAT('x', 100) FROM seq_1_to_50000 a, seq_1_to_50000 b")
    batches = result.batches(1000)
    next(batches)
    mariadb().run(f"KILL QUERY {con.thread_id()}")
    with pytest.raises(pymysql.OperationalError, match="1317"):
        list(batches)
    assert cells(bulk(con, "SELECT 1")) == [("1",)]


def test_a_connection_is_killed_amid_its_rows() -> None:
    server = mariadb()
    with closing(server.connect("mysql")) as con:
        result = BulkResult(con, "SELECT a.seq, REPEAT('x', 100) FROM seq_1_to_50000 a, seq_1_to_50000 b")
        batches = result.batches(1000)
        next(batches)
        server.run(f"KILL CONNECTION {con.thread_id()}")
        with pytest.raises(pymysql.OperationalError) as caught:
            list(batches)
        assert caught.value.args[0] in (2013, 1317, 1927)


class Cut(Incoming):
    """Only so much arrives, in pieces of any size."""

    def __init__(self, connection: pymysql.Connection[Any], count: int) -> None:
        super().__init__(connection)
        self._left = count

    def readinto(self, room: memoryview) -> int:
        size = min(len(room), self._left, random.randint(1, 700))
        count = super().readinto(room[:size]) if size else 0
        self._left -= count
        return count


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 50, 1000, 30_000])
def test_a_connection_is_lost_amid_a_row(count: int) -> None:
    with closing(mariadb().connect("mysql")) as con:
        result = BulkResult(con, "SELECT seq, REPEAT('x', 100) FROM seq_1_to_5000")
        result._rows._incoming = Cut(con, count)
        with pytest.raises(pymysql.OperationalError, match=r"2013.*Lost connection"):
            list(result.batches(1000))
        assert result.is_over
        assert not con.open


def test_bytes_arrive_in_pieces_of_any_size(con: pymysql.Connection[Any]) -> None:
    result = BulkResult(con, "SELECT seq, REPEAT('x', seq % 300) FROM seq_1_to_3000", chunk_bytes=1000)
    result._rows._incoming = Cut(con, 1 << 30)
    found = result.reader(1000, (("n", "INTEGER"), ("x", "VARCHAR"))).read_all()
    assert found["n"].to_pylist() == list(range(1, 3001))
    assert found["x"].to_pylist() == ["x" * (n % 300) for n in range(1, 3001)]


def test_a_slow_server_is_not_waited_for_to_fill_a_chunk() -> None:
    with closing(mariadb().connect("mysql")) as con:  # a new one, for a server's buffer grows and stays
        sql = "SELECT seq, REPEAT('x', 20000), SLEEP(IF(seq < 5, 0, 0.3)) FROM seq_1_to_8"
        sizes = [batch.num_rows for batch in BulkResult(con, sql).batches(1000)]
        assert sum(sizes) == 8
        assert len(sizes) > 1


def test_closing_does_not_wait_for_the_rest() -> None:
    with closing(mariadb().connect("mysql")) as con:
        result = BulkResult(con, "SELECT a.seq FROM seq_1_to_50000 a, seq_1_to_50000 b")
        next(result.batches(1000))
        result.close()
        assert not con.open


def test_closing_keeps_the_connection_where_the_rest_is_here_or_comes_soon() -> None:
    server = mariadb()
    with closing(server.connect("mysql")) as con:
        BulkResult(con, "SELECT seq FROM seq_1_to_100").close()
        assert cells(bulk(con, "SELECT 1")) == [("1",)]
        result = BulkResult(con, "SELECT a.seq FROM seq_1_to_50000 a, seq_1_to_50000 b")
        next(result.batches(1000))
        server.run(f"KILL QUERY {con.thread_id()}")
        assert result.finish(bytes_max=64 << 20, wait_s=2.0)
        assert cells(bulk(con, "SELECT 1")) == [("1",)]


def test_another_thread_closes_the_connection() -> None:
    with closing(mariadb().connect("mysql")) as con:
        result = BulkResult(con, "SELECT seq, REPEAT('x', 20000), SLEEP(0.1) FROM seq_1_to_1000")
        timer = threading.Timer(0.3, lambda: con._sock.shutdown(2))
        timer.start()
        with pytest.raises(pymysql.OperationalError, match="2013"):
            list(result.batches(1000))
        timer.join()

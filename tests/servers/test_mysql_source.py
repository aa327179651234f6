"""A MySQL or MariaDB source's values, parameters and columns, against the server's own word for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwise.errors import DataError, NotSupportedError, OperationalError, ProgrammingError
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.backends.mysql import MySQLBackend, MySQLSource
from shardwise.executor.backends.mysql.connection import MySQLConnection
from shardwise.executor.backends.mysql.session import Session
from shardwise.executor.backends.mysql.zones import offsets_of
from tests.servers import mariadb, private_mariadb

pytestmark = pytest.mark.servers
FLOATS = [0.1, 16777217.0, -0.0, 1e-38, 3.4028234e38, 1 / 3, 123456.7]


@pytest.fixture(scope="module")
def database() -> str:
    server = mariadb(0)
    name = server.database(
        "CREATE TABLE floats (id INT PRIMARY KEY, f FLOAT)",
        "CREATE TABLE `odd ``name` (id INT UNSIGNED, b VARCHAR(9) COLLATE utf8mb4_bin, e ENUM('x','y'))",
        "CREATE VIEW v AS SELECT id, f * 2 AS g FROM floats",
        *(f"INSERT INTO floats VALUES ({i}, {f!r})" for i, f in enumerate(FLOATS)),
    )
    server.run("CREATE SCHEMA IF NOT EXISTS " + name + "_2", f"CREATE TABLE {name}_2.t (a DATE)")
    return name


@pytest.fixture(scope="module")
def source(database: str) -> Iterator[MySQLSource]:
    server = mariadb(0)
    where = Location(source="db", url=server.url(database), password=server.password)
    found = MySQLBackend().open(where, SourceOptions())
    yield found
    found.close()


@pytest.fixture
def connection(source: MySQLSource) -> Iterator[MySQLConnection]:
    found = source.connect("UTC")
    yield found
    found.close()


# -- FLOAT, whose text is shorter than its value ------------------------------------------------

EXACT = [float(np.float32(f)) for f in FLOATS]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT `floats`.`f` AS `f` FROM `floats` ORDER BY `floats`.`id`",
        "SELECT f FROM floats ORDER BY id LIMIT 100",
        "SELECT * FROM (SELECT f FROM floats ORDER BY id LIMIT 99) AS q",
        "SELECT max(f) AS f FROM floats GROUP BY id ORDER BY id",
    ],
)
def test_floats_are_exact(connection: MySQLConnection, sql: str) -> None:
    wanted = (("f", "FLOAT"),)
    for _ in range(2):
        assert connection.arrow(sql, {}, 3, wanted).read_all().column(0).to_pylist() == EXACT
        connection.execute(sql, {}, wanted)
        assert [f for (f,) in connection.fetchmany(99)] == EXACT
        table = connection.arrow(sql, {}, 3).read_all()
        assert [float(f) for f in table.column(0).to_pylist()] == EXACT
        assert table.schema.field(0).metadata == {b"type": b"FLOAT"}


def test_floats_of_a_union(connection: MySQLConnection) -> None:
    sql = "(SELECT id, f FROM floats) UNION ALL (SELECT id, f FROM floats)"
    wanted = (("id", "INTEGER"), ("f", "FLOAT"))
    found = connection.arrow(sql, {}, 9, wanted).read_all().column(1).to_pylist()
    assert sorted(found) == sorted(2 * EXACT)
    with pytest.raises(NotSupportedError, match="UNION with ORDER BY"):
        connection.arrow(f"{sql} ORDER BY 1", {}, 9, wanted)


def test_the_drivers_own_floats_are_untouched(connection: MySQLConnection, database: str) -> None:
    connection.execute("SELECT f FROM floats ORDER BY id", {})
    found = connection.fetchmany(99)
    with mariadb(0).connect(database) as con, con.cursor() as cursor:
        cursor.execute("SELECT f FROM floats ORDER BY id")
        assert found == list(cursor.fetchall())


# -- parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "back"),
    [
        (None, None),
        (True, 1),
        (-7, -7),
        ((1 << 64) - 1, (1 << 64) - 1),
        (1.5, 1.5),
        (-1e300, -1e300),
        (Decimal("1.10"), Decimal("1.10")),
        (Decimal("-1E+2"), Decimal(-100)),
        ('it\'s \\ "é😀" -- # /* \0 \x1a\n', 'it\'s \\ "é😀" -- # /* \0 \x1a\n'),
        ("", ""),
        (b"\x00\xff'\\", b"\x00\xff'\\"),
        (bytearray(b"a"), b"a"),
        (date(2024, 2, 29), "2024-02-29"),
        (datetime(2024, 2, 29, 1, 2, 3, 4), "2024-02-29 01:02:03.000004"),
        (datetime(2024, 2, 29, 1, 2, 3, tzinfo=UTC), "2024-02-29 10:02:03"),
        (timedelta(hours=-30, microseconds=5), "-29:59:59.999995"),
        (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ],
    ids=repr,
)
def test_parameters(source: MySQLSource, value: Any, back: Any) -> None:
    connection = source.connect("Asia/Tokyo")
    connection.execute("SELECT :p, ':p', -:n", {"p": value, "n": -1})
    assert connection.fetchmany(2) == [(back, ":p", 1)]
    connection.close()


def test_only_statements_leave_something_in_a_session(
    source: MySQLSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A parameter is a literal, whatever its text looks like: nothing need be reset after it."""
    resets, reset = [], Session.reset

    def counted(session: Session) -> None:
        resets.append("")
        reset(session)

    monkeypatch.setattr(Session, "reset", counted)
    for sql, count in (("SELECT :p", 0), ("SELECT @x := :p", 1), ("SELECT GET_LOCK(:p, 0)", 2)):
        connection = source.connect("UTC")
        connection.execute(sql, {"p": "@x := GET_LOCK"})
        assert len(connection.fetchmany(2)) == 1
        connection.close()
        assert len(resets) == count


def test_a_list(connection: MySQLConnection) -> None:
    sql = "SELECT id FROM floats WHERE id IN (:ids) ORDER BY id"
    connection.execute(sql, {"ids": [1, 3, "2"]})
    assert connection.fetchmany(9) == [(1,), (2,), (3,)]
    connection.execute(sql, {"ids": []})
    assert connection.fetchmany(9) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, Decimal("NaN"), "\ud800"], ids=repr)
def test_values_that_mysql_has_not(connection: MySQLConnection, value: Any) -> None:
    where = Location(source="db", url="mysql://x/y")
    with pytest.raises((DataError, UnicodeError)) as caught:
        connection.execute("SELECT :p", {"p": value})
    assert isinstance(MySQLBackend().translate_error(caught.value, where), DataError)


def test_what_is_no_value(connection: MySQLConnection) -> None:
    with pytest.raises(ProgrammingError, match="type object"):
        connection.execute("SELECT :p", {"p": object()})


@settings(max_examples=200, deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=40), data=st.binary(max_size=40))
def test_no_text_leaves_its_quotes(source: MySQLSource, text: str, data: bytes) -> None:
    connection = source.connect("UTC")
    connection.execute("SELECT :p, :b, 'end'", {"p": text, "b": data})
    assert connection.fetchmany(2) == [(text, data, "end")]
    connection.close()


# -- columns ------------------------------------------------------------------------------------


def test_columns(connection: MySQLConnection, database: str) -> None:
    assert connection.columns("`odd ``name`") == (
        ("id", "int(10) unsigned"),
        ("b", "varchar(9) COLLATE utf8mb4_bin"),
        ("e", "enum('x','y') COLLATE utf8mb4_general_ci"),
    )
    assert connection.columns('"v"') == (("id", "int(11)"), ("g", "double"))
    assert connection.columns(f"`{database}_2`.`t`") == (("a", "date"),)
    assert connection.columns("none") == ()
    assert connection.has_schema(f"{database}_2")
    assert not connection.has_schema("none")


@pytest.mark.parametrize(
    ("found", "declared", "is_good"),
    [
        ("int(11)", "BIGINT", True),
        ("int(11)", "INTEGER", True),
        ("bigint(20)", "INTEGER", False),
        ("int(10) unsigned", "INTEGER", False),
        ("int(10) unsigned", "BIGINT", True),
        ("bigint(20) unsigned", "UBIGINT", True),
        ("bigint(20) unsigned", "BIGINT", False),
        ("tinyint(1)", "BOOLEAN", True),
        ("tinyint(4)", "BOOLEAN", False),
        ("decimal(10,2)", "DECIMAL(12,2)", True),
        ("decimal(10,2)", "DECIMAL(12,3)", False),
        ("float", "DOUBLE", False),
        ("float", "FLOAT", True),
        ("varchar(20) COLLATE utf8mb4_general_ci", "VARCHAR", True),
        ("varchar(20) COLLATE utf8mb4_general_ci", "BIGINT", False),
        ("bigint(20)", "VARCHAR", False),
        ("varbinary(20)", "VARCHAR", False),
        ("datetime(6)", "TIMESTAMP", True),
        ("datetime(6)", "TIMESTAMP WITH TIME ZONE", False),
        ("timestamp", "TIMESTAMP WITH TIME ZONE", True),
        ("date", "TIMESTAMP", False),
        ("enum('b','a') COLLATE utf8mb4_general_ci", "ENUM('b', 'a')", True),
        ("enum('a','b') COLLATE utf8mb4_general_ci", "ENUM('b', 'a')", False),
        ("longtext COLLATE utf8mb4_bin", "JSON", True),
        ("blob", "BLOB", True),
    ],
)
def test_which_columns_will_do(found: str, declared: str, is_good: bool) -> None:
    said = MySQLBackend().suits(found, ("c", declared, None), lambda type_: type_)
    assert (said is None) is is_good
    assert is_good or said == found


# -- time zones ---------------------------------------------------------------------------------


def test_a_servers_own_time_zone(source: MySQLSource) -> None:
    assert source.own_time_zone() == "UTC"


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Kolkata", "America/New_York"])
def test_a_server_in_a_zone_of_its_own(zone: str) -> None:
    server = private_mariadb(f"zone-{zone.partition('/')[2]}", environment={"TZ": zone})
    database = server.database("CREATE TABLE t (a TIMESTAMP)", "INSERT INTO t VALUES ('2024-07-01 12:00')")
    where = Location(source="db", url=server.url(database), password=server.password)
    source = MySQLBackend().open(where, SourceOptions())
    own = source.own_time_zone()
    assert offsets_of(own) == offsets_of(zone)
    for each in (own, zone, "SYSTEM"):
        connection = source.connect(each)
        connection.execute("SELECT a FROM t", {})
        assert connection.fetchmany(1) == [(datetime(2024, 7, 1, 12),)]
        connection.close()
    connection = source.connect("UTC")
    connection.execute("SELECT a FROM t", {})
    assert connection.fetchmany(1) == [(datetime(2024, 7, 1, 12) - ZoneInfo(zone).utcoffset(_SUMMER),)]
    connection.close()
    with pytest.raises(OperationalError, match="knows no time zone"):
        source.connect("Australia/Lord_Howe").execute("SELECT 1", {})
    source.close()


_SUMMER = datetime(2024, 7, 1, 12)

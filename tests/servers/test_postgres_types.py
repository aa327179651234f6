"""What a PostgreSQL source gives of each type: as DuckDB's values, as Arrow, as the server's own text."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID

import duckdb
import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shardwise.errors import DataError, OperationalError, Reason
from shardwise.executor import duck
from shardwise.executor.backends.base import Location, OpenSource, SourceConnection, SourceOptions
from shardwise.executor.backends.postgres import PostgresBackend
from tests.servers import postgres

ZONE = "Asia/Tokyo"
BACKEND = PostgresBackend()
CASES: list[tuple[str, str, list[str | None]]] = [
    ("smallint", "TINYINT", ["-128", "127", None]),
    ("smallint", "SMALLINT", ["-32768", "32767", None]),
    ("integer", "INTEGER", ["-2147483648", "2147483647", "0", None]),
    ("bigint", "BIGINT", ["-9223372036854775808", "9223372036854775807", None]),
    ("bigint", "UINTEGER", ["0", "4294967295"]),
    ("numeric(20)", "UBIGINT", ["0", "18446744073709551615", None]),
    ("numeric(38)", "HUGEINT", ["-99999999999999999999999999999999999999", "170141", None]),
    ("numeric", "DECIMAL(10,2)", ["0.10", "-12345678.9", "7", None]),
    ("numeric(38,10)", "DECIMAL(38,10)", ["-1234567890123456789012345678.0123456789", None]),
    ("bigint", "DECIMAL(20,1)", ["5", None]),
    ("double precision", "DOUBLE", ["0.1", "-0", "1e308", "5e-324", "Infinity", "-Infinity", "NaN", None]),
    ("real", "FLOAT", ["0.1", "3.4028235e38", "1e-45", "Infinity", "NaN", None]),
    ("boolean", "BOOLEAN", ["t", "f", None]),
    ("text", "VARCHAR", ["", "a,\"b'\n\r\n", "\\N", "\\.", "é漢🙂", " x ", "NULL", None]),
    ("varchar(9)", "VARCHAR", ["a  ", None]),
    ("char(4)", "VARCHAR", ["a", "", "ab c", None]),
    ("name", "VARCHAR", ["pg_class", None]),
    ("bytea", "BLOB", ["\\x", "\\x00ff5c27", None]),
    ("uuid", "UUID", ["01234567-89ab-cdef-0123-456789abcdef", "ffffffff-ffff-ffff-ffff-ffffffffffff", None]),
    ("json", "JSON", ['{"a" : [1, null]}', '"x"', "null", None]),
    ("jsonb", "JSON", ['{"a": 2, "b": 1}', None]),
    ("date", "DATE", ["2024-02-29", "0001-01-01", "9999-12-31", None]),
    ("date", "DATE", ["infinity", "-infinity", "0044-03-15 BC", "5874897-12-31", "4713-01-01 BC"]),
    ("time", "TIME", ["00:00:00", "23:59:59.999999", "10:00:00.5", None]),
    ("timetz", "TIME WITH TIME ZONE", ["10:00:00.25+02:30", "00:00:00-11", None]),
    ("timestamp", "TIMESTAMP", ["2024-05-01 10:00:00.123456", "1970-01-01", "0001-01-01", None]),
    ("timestamp", "TIMESTAMP", ["infinity", "-infinity", "0044-03-15 12:00 BC", "20000-01-01 01:02:03.4"]),
    ("timestamptz", "TIMESTAMP WITH TIME ZONE", ["2024-05-01 10:00:00.5+00", "1850-01-01 00:00:00+00", None]),
    ("timestamptz", "TIMESTAMP WITH TIME ZONE", ["infinity", "-infinity", "20000-01-01 01:02:03+00"]),
    ("interval", "INTERVAL", ["1 year 2 mons -3 days 04:05:06.789", "-00:00:00.5", "0", "-1 years", None]),
    ("bit(3)", "BIT", ["101", "000", None]),
    ("varbit", "BIT", ["1", "10101010101", None]),
    ("inet", "VARCHAR", ["10.0.0.1", "10.0.0.0/8", None]),
    ("int4range", "VARCHAR", ["[1,5)", "empty", None]),
    ("integer[]", "INTEGER[]", ["{1,NULL,3}", "{}", None]),
    ("text[]", "VARCHAR[]", ['{"a,b","\\"q\\" \\\\ {}","NULL",NULL,é}', None]),
    ("boolean[][]", "BOOLEAN[][]", ["{{t,f},{NULL,t}}", "{}", None]),
    ("numeric(9,2)[]", "DECIMAL(9,2)[]", ["{1.5,-2}", None]),
    ("uuid[]", "UUID[]", ["{01234567-89ab-cdef-0123-456789abcdef}", None]),
    ("date[]", "DATE[]", ["{2024-02-29,NULL}", None]),
]


@pytest.fixture(scope="module")
def database() -> str:
    return postgres().database("CREATE TYPE mood AS ENUM ('sad', 'o''k', 'happy')")


@pytest.fixture(scope="module")
def source(database: str) -> Iterator[OpenSource]:
    server = postgres()
    location = Location(source="s", url=server.url(database), password=server.password)
    source = BACKEND.open(location, SourceOptions())
    yield source
    source.close()


@pytest.fixture
def connection(source: OpenSource) -> Iterator[SourceConnection]:
    connection = source.connect(ZONE)
    yield connection
    connection.close()


def _selected(type_: str, texts: list[str | None]) -> str:
    rows = ", ".join(f"({i}, {'NULL' if t is None else _quoted(t)}::{type_})" for i, t in enumerate(texts))
    return f"SELECT x FROM (VALUES {rows}) AS v(i, x) ORDER BY i"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _by_duckdb(type_: str, texts: list[str | None]) -> tuple[list[Any], pa.Table]:
    """What DuckDB makes of the same texts, as its own values and as Arrow."""
    settings_ = duck.Settings(time_zone=ZONE, threads=1, memory_bytes_max=64 << 20, lossless=True)
    con = duck.connect(":memory:", settings_)
    rows = ", ".join(f"({i}, {'NULL' if t is None else _quoted(t)})" for i, t in enumerate(texts))
    sql = f"SELECT CAST(x AS {type_}) AS x FROM (VALUES {rows}) AS v(i, x) ORDER BY i"
    values = [value for (value,) in con.execute(sql).fetchall()]
    table = duck.arrow_reader(con, sql, (), 100).read_all()
    con.close()
    return values, table


def _for_duckdb(type_: str, text: str | None) -> str | None:
    """The text as DuckDB reads it."""
    if text is None:
        return None
    if " BC" in text:
        return text.replace(" BC", " (BC)")
    if type_.startswith("char"):
        return text.rstrip(" ")
    if type_ == "boolean[][]":
        return text.translate(str.maketrans("{}", "[]")).replace("t", "true").replace("f", "false")
    if type_ == "text[]":
        return "['a,b', '\"q\" \\\\ {}', 'NULL', NULL, 'é']"
    if type_.endswith("]"):
        return text.translate(str.maketrans("{}", "[]"))
    if type_ == "bytea":
        return "".join(f"\\x{byte:02x}" for byte in bytes.fromhex(text[2:]))
    return text


@pytest.mark.parametrize(("type_", "wanted", "texts"), CASES)
def test_as_duckdb_has_it(
    connection: SourceConnection, type_: str, wanted: str, texts: list[str | None]
) -> None:
    columns = (("x", wanted),)
    sql = _selected(type_, texts)
    if type_ == "timestamp" and "0044" in str(texts):
        expected, table = _by_duckdb(wanted, [*texts[:2], "0044-03-15 (BC) 12:00:00", *texts[3:]])
    else:
        expected, table = _by_duckdb(wanted, [_for_duckdb(type_, text) for text in texts])
    connection.execute(sql, {}, columns)
    found = [value for (value,) in connection.fetchmany(100)]
    assert repr(found) == repr(expected)
    arrow = connection.arrow(sql, {}, 100, columns).read_all()
    assert arrow.schema.types == table.schema.types
    assert _stored(arrow) == _stored(table)


def _stored(table: pa.Table) -> str:
    """Values of an Arrow table, whatever Python's types can hold."""
    (column,) = table.columns
    chunk = column.combine_chunks()
    storage = chunk.storage if isinstance(chunk, pa.ExtensionArray) else chunk
    if pa.types.is_date32(storage.type):
        storage = storage.cast(pa.int32())
    elif pa.types.is_timestamp(storage.type):
        storage = storage.cast(pa.int64())
    return repr(storage.to_pylist())


def test_an_enumeration(connection: SourceConnection) -> None:
    sql = "SELECT unnest(enum_range(NULL::mood)) AS x"
    for wanted in ("ENUM('sad', 'o''k', 'happy')", "VARCHAR"):
        connection.execute(sql, {}, (("x", wanted),))
        assert connection.fetchmany(9) == [("sad",), ("o'k",), ("happy",)]
        table = connection.arrow(sql, {}, 9, (("x", wanted),)).read_all()
        assert table.column(0).to_pylist() == ["sad", "o'k", "happy"]


@pytest.mark.parametrize(
    ("type_", "wanted", "text", "message"),
    [
        ("smallint", "TINYINT", "128", "128, which is out of the range of TINYINT"),
        ("bigint", "UINTEGER", "-1", "-1, which is out of the range of UINTEGER"),
        ("numeric", "DECIMAL(5,2)", "0.125", "which has more decimals than DECIMAL(5,2)"),
        ("numeric", "DECIMAL(5,2)", "1000", "which is out of the range of DECIMAL(5,2)"),
        ("numeric", "DECIMAL(5,2)", "NaN", "'NaN', which is no DECIMAL(5,2)"),
        ("numeric", "HUGEINT", "1.5", "which is no HUGEINT"),
        ("integer[]", "INTEGER[]", "{{1},{2}}", "which has 2 dimensions, not 1"),
        ("integer[]", "INTEGER[]", "[0:1]={1,2}", "which has bounds of its own"),
        ("timestamp", "TIMESTAMP", "294276-01-01", "which is out of the range of TIMESTAMP"),
        ("time", "TIME", "24:00:00", "'24:00:00', which is no TIME"),
        ("mood", "ENUM('sad')", "happy", "which is no member of ENUM('sad')"),
    ],
)
def test_what_does_not_fit(
    connection: SourceConnection, type_: str, wanted: str, text: str, message: str
) -> None:
    sql = _selected(type_, [None, text])
    connection.execute(sql, {}, (("x", wanted),))
    for read in (
        lambda: connection.fetchmany(10),
        lambda: connection.arrow(sql, {}, 10, (("x", wanted),)).read_all(),
    ):
        with pytest.raises(DataError) as caught:
            read()
        assert message in caught.value.message
        assert 'column "x"' in caught.value.message
        assert "server" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [("1.5::float8", "DECIMAL(9,2)"), ("'1'::text", "INTEGER"), ("true", "VARCHAR"), ("1", "INTEGER[]")],
)
def test_another_kind_is_drift(connection: SourceConnection, sql: str, wanted: str) -> None:
    with pytest.raises(OperationalError) as caught:
        connection.execute(f"SELECT {sql} AS x", {}, (("x", wanted),))
    assert caught.value.reason == Reason.SCHEMA_DRIFT


@pytest.mark.parametrize(("type_", "wanted", "texts"), CASES)
def test_the_drivers_own(
    connection: SourceConnection, database: str, type_: str, wanted: str, texts: list[str | None]
) -> None:
    """Without wanted types: psycopg's values in tuples, the server's own text as Arrow."""
    sql = _selected(type_, texts)
    with postgres().connect(database) as con:
        con.execute(f"SET TimeZone = '{ZONE}'")
        raw = con.execute(sql)
        own = [raw.pgresult.get_value(i, 0) for i in range(len(texts))]  # type: ignore[union-attr]
        ((type_name,),) = con.execute(f"SELECT '{type_.partition('(')[0]}'::regtype::text").fetchall()
        try:
            expected: Any = raw.fetchall()
        except psycopg.DataError as error:
            expected = error
    table = connection.arrow(sql, {}, 10).read_all()
    metadata = table.schema.field(0).metadata[b"type"].decode()
    assert metadata.partition("(")[0] == type_name.partition("(")[0]
    if type_ == "bytea":
        assert table.column(0).to_pylist() == [
            None if t is None else bytes.fromhex(t[2:].decode()) for t in own
        ]
    else:
        assert table.column(0).to_pylist() == [None if t is None else t.decode() for t in own]
    if isinstance(expected, Exception):
        connection.execute(sql, {})
        with pytest.raises(type(expected)):
            connection.fetchmany(len(texts))
        return
    columns = connection.execute(sql, {})
    assert columns == (("x", metadata),)
    assert repr(connection.fetchmany(20)) == repr(expected)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_databases_of_other_encodings(encoding: str) -> None:
    """SQL_ASCII is none: the server itself refuses to send what is no UTF-8."""
    server = postgres()
    value = "convert_from('\\xfc41', 'LATIN1')" if encoding == "LATIN1" else "E'\\xfcA'"
    options = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    name = server.database("CREATE TABLE t (x text)", f"INSERT INTO t VALUES ({value})", options=options)
    location = Location(source="s", url=server.url(name), password=server.password)
    source = BACKEND.open(location, SourceOptions())
    for wanted in (None, (("x", "VARCHAR"),)):
        connection = source.connect("UTC")
        if encoding == "LATIN1":
            connection.execute("SELECT x FROM t", {}, wanted)
            assert connection.fetchmany(9) == [("üA",)]
            assert connection.arrow("SELECT x FROM t", {}, 9, wanted).read_all().column(0)[0].as_py() == "üA"
        else:
            with pytest.raises(psycopg.DataError) as caught:
                connection.execute("SELECT x FROM t", {}, wanted)
            assert isinstance(BACKEND.translate_error(caught.value, location), DataError)
            with pytest.raises(psycopg.DataError):
                connection.arrow("SELECT x FROM t", {}, 9, wanted).read_all()
        connection.close()
    source.close()


def test_no_digit_is_lost(connection: SourceConnection) -> None:
    sql = "SELECT 0.1::float8 + 0.2::float8 AS a, 16777217::float4 AS b, 1e15::float8 / 3 AS c"
    connection.execute(sql, {})
    ((a, b, c),) = connection.fetchmany(2)
    assert (a, c) == (0.1 + 0.2, 1e15 / 3)
    table = connection.arrow(sql, {}, 10).read_all()
    assert [float(column[0].as_py()) for column in table.columns] == [a, b, c]


def test_columns_and_what_suits(source: OpenSource, database: str) -> None:
    postgres().run(
        "CREATE DOMAIN positive AS numeric(9, 2) CHECK (value > 0)",
        "CREATE DOMAIN more AS positive",
        "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
        'CREATE SCHEMA "Odd"',
        'CREATE TABLE "Odd"."T.x" (a more, b mood, c text COLLATE "C", d text COLLATE loose, e char(3),'
        " f timestamp(3), g varchar(7), h integer[], gone int, i oid)",
        'ALTER TABLE "Odd"."T.x" DROP COLUMN gone',
        database=database,
    )
    connection = source.connect("UTC")  # whose snapshot has the table
    found = dict(connection.columns('"Odd"."T.x"'))
    assert found == {
        "a": "numeric(9,2)",
        "b": "ENUM('sad', 'o''k', 'happy')",
        "c": 'text COLLATE "C"',
        "d": "text COLLATE loose (not deterministic)",
        "e": "character(3)",
        "f": "timestamp(3) without time zone",
        "g": "character varying(7)",
        "h": "integer[]",
        "i": "oid",
    }
    assert connection.columns("nowhere") == connection.columns('nowhere."x"') == ()
    assert connection.has_schema("Odd")
    assert not connection.has_schema("odd")
    connection.close()

    def normal(type_: str) -> str | None:
        return str(duckdb.sql(f"SELECT NULL::{type_} AS x").types[0])

    good = {"a": "DECIMAL(10, 2)", "b": "ENUM('sad', 'o''k', 'happy')", "c": "TEXT", "e": "CHAR(3)",
            "f": "TIMESTAMP", "g": "VARCHAR(7)", "h": "INT[]"}  # fmt: skip
    for name, declared in good.items():
        assert BACKEND.suits(found[name], (name, declared, None), normal) is None, name
    bad = {"a": "DECIMAL(10, 3)", "b": "VARCHAR", "c": "INTEGER", "d": "TEXT", "e": "VARCHAR", "f": "DATE",
           "h": "VARCHAR[]"}  # fmt: skip
    for name, declared in bad.items():
        assert BACKEND.suits(found[name], (name, declared, None), normal) == found[name], name


_CELLS: dict[str, tuple[str, st.SearchStrategy[Any]]] = {
    "smallint": ("SMALLINT", st.integers(-(1 << 15), (1 << 15) - 1)),
    "bigint": ("BIGINT", st.integers(-(1 << 63), (1 << 63) - 1)),
    "numeric(30,6)": ("DECIMAL(30,6)", st.decimals(-(10**20), 10**20, places=6)),
    "double precision": ("DOUBLE", st.floats(allow_nan=False)),
    "real": ("FLOAT", st.floats(allow_nan=False, width=32)),
    "boolean": ("BOOLEAN", st.booleans()),
    "text": ("VARCHAR", st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)),
    "bytea": ("BLOB", st.binary(max_size=9)),
    "uuid": ("UUID", st.uuids()),
    "date": ("DATE", st.dates()),
    "time": ("TIME", st.times()),
    "timestamp": ("TIMESTAMP", st.datetimes()),
    "text[]": ("VARCHAR[]", st.lists(st.none() | st.text(' ,"\\{}ñN', max_size=4), max_size=3)),
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_random_tables_are_as_psycopg_reads_them(
    source: OpenSource, database: str, data: st.DataObject
) -> None:
    types = data.draw(st.lists(st.sampled_from(sorted(_CELLS)), min_size=1, max_size=5))
    rows = data.draw(st.lists(st.tuples(*(st.none() | _CELLS[t][1] for t in types)), max_size=6))
    columns = ", ".join(f"c{i} {t}" for i, t in enumerate(types))
    with postgres().connect(database) as con:
        con.execute(f"DROP TABLE IF EXISTS random; CREATE TABLE random (i serial, {columns})")
        marks = ", ".join(f"%s::{t}" for t in types)
        for row in rows:
            names = ", ".join(f"c{i}" for i in range(len(types)))
            con.execute(f"INSERT INTO random ({names}) VALUES ({marks})", row)
        listed = ", ".join(f"c{i}" for i in range(len(types)))
        sql = f"SELECT {listed} FROM random ORDER BY i"
        expected = con.execute(sql).fetchall()
    wanted = tuple((f"c{i}", _CELLS[t][0]) for i, t in enumerate(types))
    connection = source.connect(ZONE)
    try:
        connection.execute(sql, {})
        own = connection.fetchmany(100)
        connection.execute(sql, {}, wanted)
        typed = connection.fetchmany(100)
        table = connection.arrow(sql, {}, 4, wanted).read_all()
    finally:
        connection.close()
    assert repr(own) == repr(expected)
    assert [[_value(v) for v in row] for row in typed] == [[_value(v) for v in row] for row in expected]
    for i, column in enumerate(table.columns):
        got = [_value(v) for v in _python(column)]
        assert got == [_value(row[i]) for row in typed], types[i]


def _python(column: pa.ChunkedArray) -> list[Any]:
    return [value for chunk in column.chunks for value in chunk.to_pylist()]


def _value(value: Any) -> Any:
    if isinstance(value, float):
        return repr(float(pa.scalar(value, pa.float32()).as_py()))
    if isinstance(value, UUID | datetime.date | Decimal):
        return str(value)
    return value

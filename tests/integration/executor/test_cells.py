"""Cells of a loosely typed file: what each DuckDB type takes, exactly, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.executor.cells import Decoder, MisfitError

ZONE = "Asia/Tokyo"
FITS: tuple[tuple[str, Any, str], ...] = (
    ("BOOLEAN", 1, "true"),
    ("TINYINT", -128, "-128"),
    ("SMALLINT", 7, "7"),
    ("INTEGER", 5.0, "5"),
    ("BIGINT", -(2**63), "-9223372036854775808"),
    ("HUGEINT", -7, "-7"),
    ("UTINYINT", 255, "255"),
    ("USMALLINT", 1, "1"),
    ("UINTEGER", 1, "1"),
    ("UBIGINT", 7, "7"),
    ("UHUGEINT", 7, "7"),
    ("FLOAT", 1.5, "1.5"),
    ("DOUBLE", 0.1, "0.1"),
    ("DOUBLE", 3, "3"),
    ("DECIMAL(4,1)", "1.50", "1.5"),
    ("DECIMAL(4,1)", -2, "-2.0"),
    ("DECIMAL(10,2)", 12.34, "12.34"),
    ("DECIMAL(10,2)", "-12.34", "-12.34"),
    ("DECIMAL(10,2)", "-0.00", "0.00"),
    ("DECIMAL(10,2)", "+007.5", "7.50"),
    ("DECIMAL(10,2)", "1e2", "100.00"),
    ("DECIMAL(3,3)", "0.125", "0.125"),
    ("DECIMAL(5,0)", "-12345", "-12345"),
    ("DECIMAL(5,0)", 0, "0"),
    ("DECIMAL(10,2)", 0.1 + 0.2, "0.30"),
    ("DECIMAL(38,10)", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789"),
    ("VARCHAR", "a\0b'é", "a'||chr(0)||'b''é"),
    ("DATE", "2020-02-29", "2020-02-29"),
    ("TIME", "10:00", "10:00"),
    ("TIME", "10:00:00.25", "10:00:00.25"),
    ("TIME_NS", "10:00:00.123456789", "10:00:00.123456789"),
    ("TIMESTAMP", "2020-01-01", "2020-01-01"),
    ("TIMESTAMP", "2020-01-01T10:00", "2020-01-01 10:00:00"),
    ("TIMESTAMP", "2020-01-01 10:00:00.5", "2020-01-01 10:00:00.5"),
    ("TIMESTAMP", "2020-01-01 10:00:00.123456000", "2020-01-01 10:00:00.123456"),
    ("TIMESTAMP", "0001-01-01 00:00:00", "0001-01-01 00:00:00"),
    ("TIMESTAMP_S", "2020-01-01 00:00:01", "2020-01-01 00:00:01"),
    ("TIMESTAMP_MS", "2020-01-01 10:00:00.123", "2020-01-01 10:00:00.123"),
    ("TIMESTAMP_NS", "2020-01-01 00:00:00.123456789", "2020-01-01 00:00:00.123456789"),
    ("TIMESTAMP WITH TIME ZONE", "2020-01-01 10:00+02:00", "2020-01-01 10:00:00+02:00"),
    ("TIMESTAMP WITH TIME ZONE", "2020-01-01 10:00:00.5Z", "2020-01-01 10:00:00.5+00"),
    ("TIMESTAMP WITH TIME ZONE", "2020-01-01 10:00:00-0130", "2020-01-01 10:00:00-01:30"),
    ("TIMESTAMP WITH TIME ZONE", "2020-01-01", "2020-01-01 00:00:00+00"),
    ("UUID", "0000000A-0000-0000-0000-000000000001", "0000000a-0000-0000-0000-000000000001"),
    ("JSON", '{"a": [1]}', '{"a": [1]}'),
    ("ENUM('a', 'b''c')", "b'c", "b''c"),
)


def _fits() -> Iterator[Any]:
    for fit in FITS:
        # DuckDB 1.5 makes these with pytz's zones.
        yield pytest.param(*fit, marks=pytest.mark.duckdb2) if "ZONE" in fit[0] else fit


@pytest.mark.parametrize(("type_", "cell", "text"), list(_fits()))
def test_a_cell_is_what_duckdb_itself_would_have(type_: str, cell: object, text: str) -> None:
    """As a Python value, and as Arrow that DuckDB reads."""
    con = duckdb.connect()
    con.execute(f"SET TimeZone = '{ZONE}'")
    con.execute("SET arrow_lossless_conversion = true")
    expected = con.execute(f"SELECT CAST('{text}' AS {type_}) UNION ALL SELECT NULL").fetchall()
    decoder = Decoder((("x", type_),), ["x"], ZONE)
    cells = [(cell,), (None,)]
    assert decoder.python(cells) == expected
    assert str(decoder.python(cells)) == str(expected)
    assert list(map(type, decoder.python(cells)[0])) == [type(expected[0][0])]
    assert decoder.python([]) == []
    assert (
        decoder.schema.types == con.sql(f"SELECT CAST(NULL AS {type_}) AS x").to_arrow_reader(1).schema.types
    )
    arrow = pa.Table.from_batches([decoder.batch(cells), decoder.batch([]), decoder.batch([(None,)])])
    arrow.validate(full=True)
    con.register("given", arrow)
    assert con.execute(f"SELECT CAST(x AS {type_}) FROM given").fetchall() == [*expected, (None,)]


MISFITS: tuple[tuple[str, Any, str], ...] = (
    ("INTEGER", "abc", "column \"x\" holds 'abc', which is no INTEGER"),
    ("INTEGER", 2**31, "holds 2147483648, which is out of the range of INTEGER"),
    ("UBIGINT", -1, "out of the range"),
    ("BIGINT", 1.5, "holds 1.5, which is no BIGINT"),
    ("BIGINT", 2.0**60, "no BIGINT"),
    ("BIGINT", b"1", "no BIGINT"),
    ("BIGINT", "#1", "no BIGINT"),
    ("BIGINT", float("inf"), "no BIGINT"),
    ("HUGEINT", "12", "no HUGEINT"),
    ("DOUBLE", "1.5", "no DOUBLE"),
    ("DOUBLE", 2**53 + 1, "cannot hold exactly"),
    ("FLOAT", 0.1, "no FLOAT holds exactly"),
    ("FLOAT", 1e300, "no FLOAT holds exactly"),
    ("BOOLEAN", 2, "no BOOLEAN"),
    ("BOOLEAN", "true", "no BOOLEAN"),
    ("VARCHAR", 1, "holds 1, which is no VARCHAR"),
    ("VARCHAR", b"abc", "no VARCHAR"),
    ("BLOB", "abc", "no BLOB"),
    ("DECIMAL(4,1)", "1.25", "more decimals"),
    ("DECIMAL(4,1)", "1e30", "out of the range"),
    ("DECIMAL(4,1)", "1000.5", "out of the range"),
    ("DECIMAL(3,3)", "1.125", "out of the range"),
    ("DECIMAL(5,0)", "123456", "out of the range"),
    ("DECIMAL(4,1)", "1e999", "out of the range"),
    ("DECIMAL(4,1)", 1.25, "more decimals"),
    ("DECIMAL(4,1)", 1000, "out of the range"),
    ("DECIMAL(4,1)", "#15", "no DECIMAL"),
    ("DECIMAL(4,1)", "nan", "no DECIMAL"),
    ("DECIMAL(4,1)", float("-inf"), "no DECIMAL"),
    ("DECIMAL(18,2)", 1.25, "is a REAL, which is exact to 15 digits"),
    ("DATE", "2026-02-30", "no DATE"),
    ("DATE", "2026-01-05 00:00:00", "no DATE"),
    ("DATE", "20260105", "no DATE"),
    ("DATE", "2026-W01-1", "no DATE"),
    ("DATE", "0000-01-01", "no DATE"),
    ("DATE", 20260105, "no DATE"),
    ("TIME", "24:00:00", "no TIME"),
    ("TIME", "10:00:00.1234567", "more decimals"),
    ("TIMESTAMP", "2026-01-05 10:00:00Z", "has an offset"),
    ("TIMESTAMP", "2026-01-05 10:00+01:00", "has an offset"),
    ("TIMESTAMP", "2026-01-05 10", "no TIMESTAMP"),
    ("TIMESTAMP", "2026-01-05 24:00:00", "no TIMESTAMP"),
    ("TIMESTAMP", "2026-01-05 10:00:00.1234567", "more decimals"),
    ("TIMESTAMP", "0000-01-01 00:00:00", "no TIMESTAMP"),
    ("TIMESTAMP", "\u0662026-01-05", "no TIMESTAMP"),
    ("TIMESTAMP", 1767571200, "no TIMESTAMP"),
    ("TIMESTAMP_S", "2026-01-05 10:00:00.5", "more decimals"),
    ("TIMESTAMP_MS", "2026-01-05 10:00:00.1234", "more decimals"),
    ("TIMESTAMP WITH TIME ZONE", "2026-01-05 10:00:00+99", "no TIMESTAMPTZ"),
    ("UUID", "abc", "no UUID"),
    ("JSON", "{", "no JSON"),
    ("JSON", "NaN", "no JSON"),
    ("ENUM('a')", "b", "no member of ENUM"),
    ("ENUM('a')", 1, "is no text"),
    ("INTEGER", "x" * 1000, "…, which is no INTEGER"),
)


@pytest.mark.parametrize(("type_", "cell", "says"), MISFITS)
def test_a_cell_that_does_not_fit_is_shown(type_: str, cell: object, says: str) -> None:
    """Both ways, alone and among others."""
    decoder = Decoder((("x", type_),), ["x"], ZONE)
    for make in (decoder.python, decoder.batch):
        for cells in ([(cell,)], [(None,), (cell,), (None,)]):
            with pytest.raises(MisfitError) as caught:
                make(cells)
            assert says in caught.value.message
            assert 'column "x" holds ' in caught.value.message
            assert len(caught.value.message) < 200
            assert caught.value.hint


def test_encoded_columns_are_told_by_their_names() -> None:
    """Numbers that SQLite cannot hold come as text that the statement made, under a name of its own."""
    wanted = (("sum", "HUGEINT"), ("total", "DECIMAL(38,2)"), ("least", "DECIMAL(9,2)"), ("n", "BIGINT"))
    decoder = Decoder(wanted, ["#sum", "#total", "#least", "n"], "UTC")
    rows = [("#4294967296:5", "#-1:4294967295", "#-150", 3), (None, None, None, None)]
    expected = [((1 << 64) + 5, Decimal("-0.01"), Decimal("-1.50"), 3), (None, None, None, None)]
    assert decoder.python(rows) == expected
    con = duckdb.connect()
    con.register("given", pa.Table.from_batches([decoder.batch(rows)]))
    assert con.execute("SELECT * FROM given").fetchall() == expected

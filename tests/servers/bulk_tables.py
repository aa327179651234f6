"""Random MariaDB tables: columns of every type that the protocol can send, and their values as SQL text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pymysql
from hypothesis import strategies as st


@dataclass(frozen=True)
class Sample:
    """A column's type, what DuckDB calls it, and rows of values as SQL text."""

    type: str
    wanted: str
    values: st.SearchStrategy[str]


def quoted(value: str | bytes) -> str:
    if isinstance(value, bytes):
        return f"X'{value.hex()}'" if value else "''"
    return f"'{pymysql.converters.escape_string(value)}'"


def whole(type_: str, wanted: str, low: int, high: int) -> Sample:
    edges = st.sampled_from([low, low + 1, -1 if low else 1, 0, 1, high - 1, high])
    return Sample(type_, wanted, (edges | st.integers(low, high)).map(str))


def decimal(precision: int, scale: int, sign: str = "") -> Sample:
    top = 10**precision - 1
    numbers = st.sampled_from([0, 1, top]) | st.integers(0, top)
    if not sign:
        numbers = numbers.flatmap(lambda n: st.sampled_from([n, -n]))
    wanted = f"DECIMAL({precision},{scale})" if precision <= 38 else "VARCHAR"
    text = numbers.map(lambda n: f"{'-' if n < 0 else ''}{abs(n) // 10**scale}.{abs(n) % 10**scale:0{scale}}")
    return Sample(f"DECIMAL({precision},{scale}){sign}", wanted, text if scale else numbers.map(str))


def long_text(characters: str) -> st.SearchStrategy[str]:
    """Of lengths about which the protocol changes its mind."""
    lengths = st.sampled_from([0, 1, 249, 250, 251, 252, 255, 256, 65_534, 65_535, 65_536, 70_000])
    return st.builds(
        lambda c, n: c * (n // len(c.encode())), st.text(characters, min_size=1, max_size=3), lengths
    )


_CHARACTERS = st.characters(exclude_categories=("Cs",))
_TEXT = st.text(_CHARACTERS, max_size=40)
_BYTES = st.binary(max_size=40)
_ENUM = ("a", "b'c", "ü", "", "10")


def _dates(low: str, high: str) -> st.SearchStrategy[str]:
    import datetime as dt

    return st.dates(dt.date.fromisoformat(low), dt.date.fromisoformat(high)).map(lambda d: f"'{d}'")


def _moments(low: str, high: str, digits: int) -> st.SearchStrategy[str]:
    import datetime as dt

    moments = st.datetimes(dt.datetime.fromisoformat(low), dt.datetime.fromisoformat(high))
    cut = 10 ** (6 - digits)
    return moments.map(lambda m: f"'{m.replace(microsecond=m.microsecond // cut * cut).isoformat(' ')}'")


def _times(digits: int) -> st.SearchStrategy[str]:
    most = (838 * 3600 + 59 * 60 + 59) * 10**6
    cut = 10 ** (6 - digits)

    def text(microseconds: int) -> str:
        span = timedelta(microseconds=abs(microseconds) // cut * cut)
        hours, rest = divmod(span.days * 86_400 + span.seconds, 3600)
        sign = "-" if microseconds < 0 else ""
        return f"'{sign}{hours}:{rest // 60:02}:{rest % 60:02}.{span.microseconds:06}'"

    return st.integers(-most, most).map(text)


SAMPLES = (
    *(
        whole(f"{name}{sign}", f"{'U' if sign else ''}{wanted}", low, high)
        for bits, name, wanted in (
            (8, "TINYINT", "TINYINT"),
            (16, "SMALLINT", "SMALLINT"),
            (24, "MEDIUMINT", "INTEGER"),
            (32, "INT", "INTEGER"),
            (64, "BIGINT", "BIGINT"),
        )
        for sign, low, high in (
            ("", -(1 << bits - 1), (1 << bits - 1) - 1),
            (" UNSIGNED", 0, (1 << bits) - 1),
        )
    ),
    whole("BOOL", "BOOLEAN", 0, 1),
    whole("INT(9) ZEROFILL", "UINTEGER", 0, 999),
    whole("BIGINT UNSIGNED", "UHUGEINT", 0, (1 << 64) - 1),
    whole("BIGINT", "HUGEINT", -(1 << 63), (1 << 63) - 1),
    whole("BIGINT", "DECIMAL(20,0)", -(1 << 63), (1 << 63) - 1),
    Sample("YEAR", "SMALLINT", st.sampled_from(["1901", "2155", "0"]) | st.integers(1901, 2155).map(str)),
    decimal(5, 0),
    decimal(12, 2),
    decimal(15, 15),
    decimal(16, 3),
    decimal(9, 4, " UNSIGNED"),
    decimal(38, 10),
    decimal(38, 38),
    decimal(65, 30),
    Sample("DOUBLE", "DOUBLE", st.floats(allow_nan=False, allow_infinity=False).map(repr)),
    Sample("DATE", "DATE", _dates("0001-01-01", "9999-12-31")),
    Sample(
        "DATE", "VARCHAR", st.sampled_from(["'0000-00-00'", "'2024-00-00'", "'2024-05-00'", "'2024-05-06'"])
    ),
    *(
        Sample(f"DATETIME({n})", "TIMESTAMP", _moments("0001-01-01", "9999-12-31T23:59:59.999999", n))
        for n in (0, 1, 3, 6)
    ),
    Sample("DATETIME", "VARCHAR", st.sampled_from(["'0000-00-00 00:00:00'", "'2024-05-06 07:08:09'"])),
    *(
        Sample(f"TIMESTAMP({n}) NULL", "TIMESTAMP", _moments("1971-01-01", "2037-12-31", n))
        for n in (0, 2, 6)
    ),
    Sample("TIMESTAMP(6) NULL", "TIMESTAMP WITH TIME ZONE", _moments("1971-01-01", "2037-12-31", 6)),
    *(Sample(f"TIME({n})", "INTERVAL", _times(n)) for n in (0, 4, 6)),
    Sample("BIT(1)", "BOOLEAN", st.sampled_from(["b'0'", "b'1'"])),
    Sample("BIT(13)", "USMALLINT", st.integers(0, (1 << 13) - 1).map(str)),
    Sample("BIT(64)", "BLOB", st.integers(0, (1 << 64) - 1).map(str)),
    Sample("VARCHAR(50)", "VARCHAR", _TEXT.map(quoted)),
    Sample("VARCHAR(50) COLLATE utf8mb4_bin", "VARCHAR", _TEXT.map(quoted)),
    Sample("CHAR(50)", "VARCHAR", _TEXT.map(quoted)),
    Sample(
        "VARCHAR(50) CHARACTER SET latin1",
        "VARCHAR",
        st.text(st.characters(codec="latin1"), max_size=9).map(quoted),
    ),
    Sample(
        "VARCHAR(50) CHARACTER SET ucs2",
        "VARCHAR",
        st.text(st.characters(max_codepoint=0xD7FF), max_size=9).map(quoted),
    ),
    Sample("LONGTEXT", "VARCHAR", long_text("aé漢😀").map(quoted)),
    Sample("TEXT", "VARCHAR", _TEXT.map(quoted)),
    Sample("VARBINARY(50)", "BLOB", _BYTES.map(quoted)),
    Sample("BINARY(7)", "BLOB", st.binary(min_size=7, max_size=7).map(quoted)),
    Sample("BINARY(16)", "UUID", st.binary(min_size=16, max_size=16).map(quoted)),
    Sample("UUID", "UUID", st.uuids().map(lambda u: f"'{u}'")),
    Sample("INET6", "VARCHAR", st.ip_addresses(v=6).map(lambda a: f"'{a}'")),
    Sample("LONGBLOB", "BLOB", long_text("a\0é").map(str.encode).map(quoted)),
    Sample("ENUM('a','b''c','ü','','10')", "VARCHAR", st.sampled_from(_ENUM).map(quoted)),
    Sample(
        "ENUM('a','b''c','ü','','10')",
        "ENUM('a', 'b''c', 'ü', '', '10')",
        st.sampled_from(_ENUM).map(quoted),
    ),
    Sample("SET('x','y','z')", "VARCHAR", st.sampled_from(["''", "'x'", "'x,z'", "'x,y,z'"])),
    Sample(
        "JSON",
        "JSON",
        st.recursive(
            st.none() | st.booleans() | st.integers(-99, 99) | _TEXT,
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
            ),
            max_leaves=5,
        ).map(lambda value: quoted(json.dumps(value))),
    ),
)


@st.composite
def tables(draw: Any, samples: Sequence[Sample]) -> tuple[list[Sample], list[tuple[str, ...]]]:
    """Some columns, and rows of SQL values, NULL among them."""
    chosen = draw(st.lists(st.sampled_from(samples), min_size=1, max_size=6))
    row = st.tuples(*(st.just("NULL") | sample.values for sample in chosen))
    return chosen, draw(st.lists(row, min_size=1, max_size=12))

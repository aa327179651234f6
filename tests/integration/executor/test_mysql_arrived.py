"""Answers that PyMySQL and `arrived` read alike, however their bytes arrive; no server is needed for that."""

from __future__ import annotations

import io
import struct
from typing import Any

import pymysql
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pymysql.constants import FIELD_TYPE

from shardwise.executor.backends.mysql.driver import DRIVERS_OWN, TEXT, Converters, Wire, is_open, row, rows

NAMES = st.text("abcü", max_size=5)
INTEGERS = st.integers(-(2**31), 2**31 - 1).map(lambda number: str(number).encode())
TEXTS = st.text(max_size=20).map(str.encode) | st.sampled_from([b"x" * 250, b"x" * 251, b"x" * 9_000])
COLUMNS = {
    FIELD_TYPE.LONG: (63, INTEGERS),
    FIELD_TYPE.VAR_STRING: (45, TEXTS),
    FIELD_TYPE.BLOB: (63, st.binary(max_size=20)),
    FIELD_TYPE.NEWDECIMAL: (63, st.decimals(-99, 99, places=2).map(lambda number: str(number).encode())),
    FIELD_TYPE.DATE: (63, st.dates().map(lambda day: day.isoformat().encode()) | st.just(b"0000-00-00")),
}


class Slowly(io.RawIOBase):
    """Bytes that arrive in pieces of these sizes, and then no more."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self._data = data
        self._sizes = sizes

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        size = min(self._sizes.pop() if self._sizes else len(self._data), len(self._data), len(room))
        room[:size], self._data = self._data[:size], self._data[size:]
        return size


class Socket:
    def settimeout(self, seconds: object) -> None:
        """Takes no time."""

    def sendall(self, data: bytes) -> None:
        """Nobody listens."""

    def close(self) -> None:
        """Nothing is open."""


def counted(data: bytes | None) -> bytes:
    if data is None:
        return b"\xfb"
    if len(data) < 251:
        return bytes([len(data)]) + data
    if len(data) < 1 << 16:
        return b"\xfc" + struct.pack("<H", len(data)) + data
    return b"\xfd" + struct.pack("<I", len(data))[:3] + data


def definition(name: str, type_: int, charset: int) -> bytes:
    texts = (b"def", b"d", b"t", b"t", name.encode(), name.encode())
    return b"".join(map(counted, texts)) + struct.pack("<BHIBHBH", 12, charset, 400, type_, 0, 0, 0)


def packets(*payloads: bytes) -> bytes:
    return b"".join(
        struct.pack("<I", len(payload))[:3] + bytes([(number + 1) % 256]) + payload
        for number, payload in enumerate(payloads)
    )


ANSWERS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
EOF = b"\xfe\0\0\x02\0"
LOST = b"\xff" + struct.pack("<H", 1317) + b"#70100Query execution was interrupted"


def answer(types: list[int], names: list[str], cells: list[list[bytes | None]], end: bytes) -> bytes:
    head = [definition(name, type_, COLUMNS[type_][0]) for name, type_ in zip(names, types, strict=True)]
    found = (b"".join(map(counted, each)) for each in cells)
    return packets(bytes([len(types)]), *head, EOF, *found, end)


def on(connection: Any, data: bytes, sizes: list[int]) -> Any:
    """A connection on which these bytes arrive."""
    connection._sock, connection._rfile = Socket(), io.BufferedReader(Slowly(data, list(sizes)))
    connection._current_timeout = None
    return connection


def read(data: bytes, sizes: list[int], converters: Converters, count: int) -> object:
    """By us: rows so many at a time, and whether the connection is free; or the error."""
    wire = on(Wire(defer_connect=True), data, sizes)
    found = []
    try:
        result = wire.start("SELECT 1", converters)
        names = [field.name for field in result.fields]
        while is_open(result):
            found += rows(result, count)
        assert row(result) is None
    except pymysql.MySQLError as error:
        wire.drop()
        return error.args
    return names, found, wire._rfile.peek()


def read_by_pymysql(data: bytes, converters: Converters) -> object:
    connection = on(pymysql.Connection(defer_connect=True), data, [])
    connection.decoders = converters
    try:
        connection.query("SELECT 1")
    except pymysql.MySQLError as error:
        return error.args
    result = connection._result
    return [field.name for field in result.fields], list(result.rows), connection._rfile.peek()


@st.composite
def answers(draw: st.DrawFn) -> bytes:
    types = draw(st.lists(st.sampled_from(list(COLUMNS)), min_size=1, max_size=4))
    names = draw(st.lists(NAMES, min_size=len(types), max_size=len(types)))
    cells = st.tuples(*(st.none() | COLUMNS[type_][1] for type_ in types)).map(list)
    return answer(types, names, draw(st.lists(cells, max_size=6)), draw(st.sampled_from([EOF, LOST])))


@ANSWERS
@given(
    answers(),
    st.lists(st.integers(1, 60), max_size=8),
    st.sampled_from([DRIVERS_OWN, TEXT]),
    st.sampled_from([1, 2, 1000]),
)
def test_rows_are_those_of_pymysql(data: bytes, sizes: list[int], converters: Converters, count: int) -> None:
    theirs = read_by_pymysql(data, converters)
    for _ in range(2):  # what the answer begins with is new, and then known
        assert read(data, sizes, converters, count) == theirs


@ANSWERS
@given(answers(), st.data())
def test_what_breaks_off_is_lost(data: bytes, drawn: st.DataObject) -> None:
    short = data[: drawn.draw(st.integers(0, len(data) - 1))]
    read(data, [], DRIVERS_OWN, 1000)  # its head is known
    assert read(short, [], DRIVERS_OWN, 1000) == read_by_pymysql(short, DRIVERS_OWN)


def test_many_rows_whose_packets_are_numbered_round() -> None:
    cells: list[list[bytes | None]] = [[str(number).encode()] for number in range(1000)]
    data = answer([FIELD_TYPE.LONG], ["n"], cells, EOF)
    for _ in range(2):
        assert read(data, [], DRIVERS_OWN, 300) == (["n"], [(number,) for number in range(1000)], b"")


@pytest.mark.parametrize("length", [250, 251, 65_535, 65_536, 70_000])
def test_long_values(length: int) -> None:
    data = answer([FIELD_TYPE.VAR_STRING], ["t"], [[b"x" * length], [None]], EOF)
    for _ in range(2):
        assert read(data, [], DRIVERS_OWN, 300) == (["t"], [("x" * length,), (None,)], b"")


@pytest.mark.parametrize("at", [3, -6])
def test_a_packet_out_of_its_turn(at: int) -> None:
    data = answer([FIELD_TYPE.LONG], ["n"], [[b"1"], [b"2"]], EOF)
    read(data, [], DRIVERS_OWN, 10)
    wrong = bytearray(data)
    wrong[at] ^= 1
    assert read(bytes(wrong), [], DRIVERS_OWN, 10) == read_by_pymysql(bytes(wrong), DRIVERS_OWN)

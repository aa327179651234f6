"""Shardings: the vectors of docs/shardings.md, other implementations, canonical keys, DuckDB's opinion."""

from __future__ import annotations

import copy
import math
import pickle
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from importlib import metadata
from pathlib import Path
from uuid import UUID

import duckdb
import mmh3
import pytest
import xxhash
from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
from cryptography.hazmat.primitives.ciphers import Cipher, modes
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwise.catalog.shardings import (
    HASHES,
    MAXVALUE,
    UNKNOWN,
    Between,
    Hash,
    ShardingFunction,
    Value,
    canonical,
    directory,
    exceptions,
    full,
    hash_function,
    interval,
    key_bytes,
    list_,
    mask,
    members,
    mod,
    range_,
    ring,
    two_level,
)
from shardwise.catalog.types import Family
from shardwise.errors import CatalogError, DataError, NotSupportedError
from tests.unit.catalog import independent

DOC = Path(__file__).parents[3] / "docs" / "shardings.md"
quick = settings(max_examples=40, derandomize=True, deadline=None, database=None)


# ------------------------------------------------------------------ the tables of the page


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the vector table under a heading of the page."""
    section = DOC.read_text().split(f"# {heading}\n", 1)[1].split("\n#", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip().strip("`") for cell in line.strip("|").split("|")]


def key(text: str) -> Value:
    """A key as the page writes it."""
    if text == "NULL":
        return None
    if text == "TRUE":
        return True
    if text.startswith("'"):
        return text[1:-1]
    word, _, quoted = text.partition(" ")
    match word:
        case "DATE":
            return date.fromisoformat(quoted.strip("'"))
        case "TIMESTAMP":
            return datetime.fromisoformat(quoted.strip("'"))
        case "UUID":
            return UUID(quoted.strip("'"))
    return Decimal(text) if "." in text else int(text)


def options(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split(", ")) if text else {}


def test_hash_vectors_of_the_page() -> None:
    table = list(rows("Vectors: hashes"))
    assert {row[0] for row in table} == set(HASHES)
    for name, given_options, text, wanted in table:
        function = hash_function(name, 1, options(given_options))
        assert isinstance(function, Hash)
        assert f"{function.hash(key(text)):x}" == wanted, (name, given_options, text)


def test_slot_vectors_of_the_page() -> None:
    table = list(rows("Vectors: slots"))
    assert {row[0] for row in table} == {*HASHES, "mycat_murmur"}
    for name, given_options, slots, text, wanted in table:
        function = hash_function(name, int(slots), options(given_options))
        assert function.slot((key(text),)) == int(wanted), (name, given_options, text)


def test_mod_interval_and_ring_vectors_of_the_page() -> None:
    for slots, text, wanted in rows("MOD"):
        assert mod(int(slots)).slot((key(text),)) == int(wanted), (slots, text)
    for unit, first, last, text, wanted in rows("INTERVAL"):
        function = interval(unit, date.fromisoformat(first), date.fromisoformat(last))
        assert function.slot((date.fromisoformat(text),)) == int(wanted), (unit, text)
    for name, points, listed, text, wanted in rows("RING"):
        function = ring(name, int(points), listed.split(", "))
        assert function.slot((key(text),)) == int(wanted), (name, text)


# ------------------------------------------------------------------ independent implementations


@quick
@given(st.binary(max_size=70), st.integers(0, 2**32 - 1))
def test_libraries_agree_with_the_specifications(data: bytes, seed: int) -> None:
    assert zlib.crc32(data) == independent.crc32(data)
    assert mmh3.hash(data, seed, signed=False) == independent.murmur3_32(data, seed)
    assert mmh3.hash64(data, seed, signed=False)[0] == independent.murmur3_64(data, seed)
    assert xxhash.xxh64_intdigest(data, seed) == independent.xxhash64(data, seed)


@quick
@given(st.text(max_size=30), st.integers(-(2**63), 2**63 - 1), st.integers(1, 2000))
def test_hashes_agree_with_independent_ones(text: str, number: int, slots: int) -> None:
    data = text.encode()
    wanted: dict[str, Callable[[], int]] = {
        "crc32": lambda: independent.crc32(data),
        "murmur3": lambda: independent.murmur3_32(data),
        "xxhash64": lambda: independent.xxhash64(data),
        "fnv1a": lambda: independent.fnv1a(data),
        "md5": lambda: independent.md5(data),
    }
    for name, compute in wanted.items():
        assert hash_function(name, slots).slot((text,)) == compute() % slots
        assert hash_function(name, slots).slot((number,)) == hash_function(name, slots).slot((str(number),))
    hashed = independent.java_string(text)
    signed = hashed - 2**32 if hashed >= 2**31 else hashed
    assert hash_function("java_string", slots).slot((text,)) == signed % slots
    hashed = independent.java_long(number)
    signed = hashed - 2**32 if hashed >= 2**31 else hashed
    assert hash_function("java_long", slots).slot((number,)) == signed % slots
    assert hash_function("cobar_long", 1024).slot((number,)) == number % 1024


@quick
@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=5, unique=True), st.text(max_size=6))
def test_ring_agrees_with_an_independent_one(names: list[str], text: str) -> None:
    points = [(independent.crc32(f"{m}-{p}".encode()), i) for i, m in enumerate(names) for p in range(9)]
    assert ring("crc32", 9, names).slot((text,)) == independent.ring(points, independent.crc32(text.encode()))


@quick
@given(st.integers(-(2**63), 2**64 - 1), st.integers(1, 300))
def test_vitess_hash_is_des_by_another_library(number: int, slots: int) -> None:
    block = (number % 2**64).to_bytes(8, "big")
    encryptor = Cipher(TripleDES(bytes(24)), modes.ECB()).encryptor()
    hashed = int.from_bytes(encryptor.update(block) + encryptor.finalize(), "big")
    assert hash_function("vitess_hash", slots).slot((number,)) == hashed * slots // 2**64
    reversed_bits = sum(1 << 63 - bit for bit in range(64) if number >> bit & 1)
    assert hash_function("vitess_reverse_bits", slots).slot((number,)) == reversed_bits * slots // 2**64


@quick
@given(st.text(max_size=20))
def test_keyspace_ranges(text: str) -> None:
    names = ["-40", "40-80", "80-c0", "c0-"]
    hashed = independent.xxhash64(text.encode()).to_bytes(8, "little")
    slot = hash_function("vitess_xxhash", 256).slot((text,))
    assert names[slot // 64] == independent.vitess_shard(hashed, names)
    assert slot == hashed[0]


@quick
@given(st.integers(-(2**63), 2**63 - 1), st.integers(1, 70))
def test_citus_ranges(number: int, shards: int) -> None:
    hashed = hash_function("postgres", 1)
    assert isinstance(hashed, Hash)
    wanted = independent.citus_shard(independent.signed(hashed.hash(number)), shards)
    assert hash_function("postgres", shards).slot((number,)) == wanted


@quick
@given(st.integers(1, 5), st.text(max_size=6), st.integers(0, 9))
def test_mycat_ring_agrees_with_an_independent_one(nodes: int, text: str, seed: int) -> None:
    function = hash_function("mycat_murmur", nodes, {"points": "12", "seed": str(seed)})
    assert function.slot((text,)) == independent.mycat_ring(nodes, text, 12, seed)


@pytest.mark.parametrize(
    ("name", "options_of", "message"),
    [
        ("mycat_murmur", {"width": "1"}, "no option"),
        ("mycat_murmur", {"points": "x"}, "not a whole number"),
        ("mycat_murmur", {"points": "0"}, "out of range"),
        ("postgres", {"sign": "abs"}, "in order"),
        ("crc32", {"sign": "mask", "to_slot": "scaled"}, "in order"),
        ("vitess_hash", {"to_slot": "modulo"}, "no option"),
    ],
)
def test_options_that_are_refused(name: str, options_of: dict[str, str], message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        hash_function(name, 8, options_of)


def test_hashes_of_numbers_refuse_text() -> None:
    for name in ("number", "vitess_hash", "vitess_numeric", "vitess_reverse_bits"):
        with pytest.raises(DataError, match="whole numbers"):
            hash_function(name, 8).slot(("x",))
        with pytest.raises(CatalogError, match="points are text"):
            ring(name, 4, ["a", "b"])


def test_cobar_slices() -> None:
    def h(text: str) -> int:
        return sum(ord(c) * 31 ** (len(text) - 1 - n) for n, c in enumerate(text)) % 1024

    for given_slice, part in {
        "2": "ab",
        "1:2": "b",
        "1:": "bcdef",
        "-1:": "f",
        ":-1": "abcde",
        ":": "abcdef",
    }.items():
        assert hash_function("cobar_string", 1024, {"slice": given_slice}).slot(("abcdef",)) == h(part), (
            given_slice
        )


# ------------------------------------------------------------------ canonical keys

TYPES = {
    Family.INT: ["TINYINT", "BIGINT", "HUGEINT"],
    Family.DECIMAL: ["DECIMAL(4,1)", "DECIMAL(18,6)"],
    Family.FLOAT: ["REAL", "DOUBLE"],
    Family.TEXT: ["VARCHAR"],
    Family.BOOL: ["BOOLEAN"],
    Family.DATE: ["DATE"],
    Family.TIMESTAMP: ["TIMESTAMP", "TIMESTAMP_S"],
    Family.UUID: ["UUID"],
    Family.BLOB: ["BLOB"],
}
TEXTS = {
    Family.INT: "0 1 -1 7 100",
    Family.DECIMAL: "0 1.0 1.00 -0.0 2.5 2.50 100 100.0",
    Family.FLOAT: "0 -0.0 1 1.0 2.5 nan -nan inf 0.1 100",
    Family.TEXT: "a A 1 1.0 é é",
    Family.BOOL: "true false t 1 0",
    Family.DATE: "2026-01-01 2026-1-1 0001-01-01",
    Family.TIMESTAMP: "2026-01-01 2026-01-01T00:00:00 2026-01-01T00:00:01",
    Family.UUID: "6F9619FF-8B86-D011-B42D-00CF4FC964FF 6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    Family.BLOB: r"abc \x61bc abC",
}


@pytest.mark.parametrize("family", list(TYPES))
def test_values_are_equal_in_duckdb_exactly_if_they_hash_alike(family: Family) -> None:
    connection = duckdb.connect()
    pool = [f"CAST('{text}' AS {name})" for name in TYPES[family] for text in TEXTS[family].split()]
    values = [connection.execute(f"SELECT {sql}").fetchall()[0][0] for sql in pool]
    forms = [canonical(value, family) for value in values]
    for a, left in enumerate(pool):
        equal = connection.execute(f"SELECT {', '.join(f'{left} = {right}' for right in pool)}").fetchall()[0]
        for b, same in enumerate(equal):
            assert (key_bytes(forms[a]) == key_bytes(forms[b])) == same, (left, pool[b])


def test_canonical_forms() -> None:
    assert canonical(Decimal("1E+2"), Family.DECIMAL) == 100
    long = "12345678901234567890123456789012345678"
    assert str(canonical(Decimal(f"{long}.00"), Family.DECIMAL)) == long
    assert math.copysign(1, canonical(-0.0, Family.FLOAT)) == 1  # type: ignore[arg-type]
    assert canonical(float("nan"), Family.FLOAT) is canonical(float("-nan"), Family.FLOAT)
    assert canonical(
        datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), Family.TIMESTAMPTZ
    ) == datetime(2026, 1, 1, tzinfo=UTC)
    assert (
        key_bytes(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == b"2026-01-01 00:00:00+00"
    )
    assert key_bytes(1e20) == b"100000000000000000000"
    for bad, family in (
        (2.5, Family.INT),
        ("1", Family.INT),
        (1, Family.TEXT),
        (datetime(2026, 1, 1, 1), Family.DATE),
    ):
        with pytest.raises(DataError):
            canonical(bad, family)
    with pytest.raises(CatalogError, match="cannot be a shard key"):
        canonical("{}", Family.JSON)


# ------------------------------------------------------------------ slot and slots agree

FUNCTIONS: list[tuple[ShardingFunction, st.SearchStrategy[Value]]] = [
    (mod(7), st.integers()),
    (hash_function("crc32", 16), st.text()),
    (range_([-3, 0, 10, MAXVALUE]), st.integers() | st.floats() | st.decimals(allow_nan=False)),
    (range_(["a", "m"]), st.text()),
    (range_([date(2026, 1, 1), MAXVALUE]), st.dates() | st.datetimes()),
    (list_([[1, 2], [3, None]], True), st.integers(0, 5)),
    (list_([["a"], ["b"]]), st.sampled_from(["a", "b", "c"])),
    (interval("MONTH", date(2000, 1, 1), date(2040, 1, 1)), st.dates() | st.datetimes()),
    (interval("YEAR"), st.dates()),
    (ring("fnv1a", 16, ["a", "b", "c"]), st.integers()),
    (hash_function("postgres", 12), st.integers(-(2**63), 2**63 - 1)),
    (hash_function("postgres", 5), st.text()),
    (hash_function("postgres", 7), st.dates()),
    (hash_function("vitess_xxhash", 16), st.text()),
    (hash_function("mycat_murmur", 3, {"points": "9"}), st.integers()),
    (exceptions(mod(4), [5, 9]), st.integers(0, 12)),
    (exceptions(range_([5, MAXVALUE]), [5, 9]), st.integers(0, 12)),
]


@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_slots_contain_the_slot(case: int) -> None:
    function, values = FUNCTIONS[case]

    @quick
    @given(values | st.none(), values | st.none(), values | st.none(), st.booleans())
    def check(value: Value, low: Value, high: Value, is_open: bool) -> None:
        try:
            slot = function.slot((value,))
        except DataError:
            assert function.slots((value,)) == 0
            return
        assert 0 <= slot < function.size
        assert function.slots((value,)) == 1 << slot
        assert function.slots((UNKNOWN,)) == full(function.size)
        if value is not None and _inside(value, low, high, is_open):
            assert function.slots((Between(low, high, high_open=is_open),)) >> slot & 1
            assert function.slots_between(low, high) >> slot & 1
        only = function.slots_only([value])
        assert not only >> slot & 1 or only == 1 << slot
        assert len(function.labels(slot)) == 1

    check()


def _inside(value: Value, low: Value, high: Value, is_open: bool) -> bool:
    def order(one: Value) -> tuple[bool, object]:  # DuckDB: NaN above all
        if isinstance(one, float) and math.isnan(one):
            return True, 0
        return False, datetime.combine(one, datetime.min.time()) if type(one) is date else one

    above = low is None or order(low) <= order(value)
    return above and (
        high is None or order(value) < order(high) or (not is_open and order(value) == order(high))
    )


@quick
@given(st.integers(-9, 9) | st.none(), st.dates(date(2025, 12, 1), date(2026, 5, 1)))
def test_grid(number: int | None, day: date) -> None:
    months = interval("MONTH", date(2025, 12, 1), date(2026, 5, 31))
    grid = two_level(mod(3), months)
    slot = grid.slot((number, day))
    assert slot == mod(3).slot((number,)) * 6 + months.slot((day,))
    assert grid.slots((number, day)) == 1 << slot
    row, column = grid.slots((number, UNKNOWN)), grid.slots((UNKNOWN, day))
    assert row & column == 1 << slot
    assert (row.bit_count(), column.bit_count()) == (6, 3)
    assert grid.slots((UNKNOWN, Between(day, day))) == column
    assert grid.labels(slot) == (slot // 6, day.replace(day=1))


@quick
@given(st.sets(st.integers(0, 300)))
def test_slot_sets(numbers: set[int]) -> None:
    assert mask(numbers) == sum(1 << number for number in numbers)
    assert list(members(mask(numbers))) == sorted(numbers)


def test_list_without_other_keys_is_all_that_not_in_may_skip() -> None:
    function = list_([[1, None], [2, 3], [4]], True)
    assert function.slots_only([1]) == 0b1  # NULL is not matched by <> either
    assert function.slots_only([2, 4]) == 0b100
    assert function.slots_only([2, 3, 9]) == 0b10
    assert function.slots_only([None]) == 0


def test_text_in_the_catalog_reads_as_the_key_type() -> None:
    dates = range_(["2026-01-01", "2027-01-01"])
    assert dates.slot((date(2026, 1, 1),)) == 1
    assert dates.slot((datetime(2025, 12, 31, 23, 59),)) == 0
    assert dates.slot((datetime(2026, 1, 1, tzinfo=UTC),)) == 1
    with pytest.raises(DataError, match="no slot"):
        dates.slot((date(2027, 1, 1),))
    with pytest.raises(CatalogError, match="key is a number"):
        dates.slot((5,))
    assert (
        list_([["6F9619FF-8B86-D011-B42D-00CF4FC964FF"]]).slot(
            (UUID("6f9619ff-8b86-d011-b42d-00cf4fc964ff"),)
        )
        == 0
    )


def test_exceptions_have_slots_after_the_function() -> None:
    function = exceptions(hash_function("crc32", 8), ["acme", "globex"])
    assert function.size == 10
    assert function.slot(("globex",)) == 9
    assert function.labels(9) == hash_function("crc32", 8).labels(hash_function("crc32", 8).slot(("globex",)))


def test_directory_is_kept_but_does_not_place() -> None:
    assert directory() == directory()
    with pytest.raises(NotSupportedError):
        directory().slots(("acme",))


def test_functions_are_values() -> None:
    for function, _ in FUNCTIONS:
        twin = pickle.loads(pickle.dumps(copy.deepcopy(function)))
        assert twin == function
        assert hash(twin) == hash(function)
        assert isinstance(function, ShardingFunction)
    assert mod(3) != mod(4)
    assert hash_function("crc32", 4, {"sign": "abs"}) != hash_function("crc32", 4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: hash_function("crc33", 4),
        lambda: hash_function("crc32", 0),
        lambda: hash_function("crc32", 4, {"seed": "1"}),
        lambda: hash_function("murmur3", 4, {"seed": "-1"}),
        lambda: hash_function("murmur3", 4, {"width": "31"}),
        lambda: hash_function("cobar_long", 1000),
        lambda: hash_function("cobar_string", 1024, {"slice": "a:b"}),
        lambda: mod(0),
        lambda: range_([3, 2]),
        lambda: range_([MAXVALUE, 2]),
        lambda: range_([1, "a"]),
        lambda: list_([[1], [1]]),
        lambda: interval("HOUR"),
        lambda: interval("DAY", date(2026, 1, 2), date(2026, 1, 1)),
        lambda: ring("java_long", 4, ["a"]),
        lambda: ring("crc32", 4, ["a", "a"]),
        lambda: exceptions(two_level(mod(2), mod(2)), [1]),
        lambda: exceptions(mod(2), [1, 1]),
    ],
)
def test_wrong_definitions_are_refused(make: Callable[[], ShardingFunction]) -> None:
    with pytest.raises(CatalogError):
        make()


def test_keys_that_a_function_does_not_take() -> None:
    for function in (mod(3), hash_function("java_long", 3), hash_function("cobar_long", 4)):
        with pytest.raises(DataError, match="whole numbers"):
            function.slot(("a",))
        assert function.slot((Decimal("3.0"),)) == function.slot((3.0,)) == function.slot((3,))


def test_third_parties_add_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = metadata.EntryPoint("thirds", f"{__name__}:thirds", "shardwise.shardings")
    monkeypatch.setattr(metadata.EntryPoint, "load", lambda self: lambda slots, options: mod(slots * 3))
    monkeypatch.setattr(
        metadata, "entry_points", lambda **wanted: [entry] if wanted["name"] == "thirds" else []
    )
    assert hash_function("thirds", 2) == mod(6)
    with pytest.raises(CatalogError, match="no hash function 'fourths'"):
        hash_function("fourths", 2)


# ------------------------------------------------------------------ the SQL of a slot

SQL_CASES: list[tuple[ShardingFunction, str, list[str]]] = [
    (mod(3), "BIGINT", ["-7", "7", "0", "NULL", "9223372036854775807", "-9223372036854775807"]),
    (hash_function("cobar_long", 1024), "BIGINT", ["-7", "7", "NULL", "1025"]),
    (hash_function("md5", 64), "VARCHAR", ["'a'", "'é'", "''", "NULL"]),
    (hash_function("md5", 64), "BIGINT", ["42", "-1"]),
    (hash_function("md5", 64), "DATE", ["'2026-01-31'"]),
    (hash_function("md5", 64), "TIMESTAMP", ["'2026-01-31'", "'2026-01-31 10:00:00.5'"]),
    (hash_function("md5", 64), "UUID", ["'6F9619FF-8B86-D011-B42D-00CF4FC964FF'"]),
    (range_([-2, Decimal("2.5"), MAXVALUE]), "DOUBLE", ["-3", "-2", "2.5", "'nan'", "NULL", "9"]),
    (range_(["a", "it's {x}", MAXVALUE]), "VARCHAR", ["'a'", "'it''s {x}'", "'A'", "'z'", "NULL"]),
    (range_(["2026-01-01", MAXVALUE]), "DATE", ["'2025-12-31'", "'2026-01-01'", "NULL"]),
    (list_([[1, None], [2, 3]], True), "INT", ["1", "2", "3", "4", "NULL"]),
    (
        interval("MONTH", date(2026, 1, 15), date(2026, 12, 1)),
        "TIMESTAMP",
        ["'2026-01-01'", "'2026-12-31 23:59:59'"],
    ),
    (interval("DAY", date(2026, 1, 15), date(2026, 12, 1)), "DATE", ["'2026-01-15'", "'2026-12-01'", "NULL"]),
    (exceptions(mod(4), [5, 9]), "INT", ["5", "9", "6", "NULL"]),
    (two_level(mod(3), mod(4)), "INT", ["5", "-9", "6", "NULL"]),
]


@pytest.mark.parametrize("case", range(len(SQL_CASES)))
def test_sql_says_the_same(case: int) -> None:
    function, type_text, texts = SQL_CASES[case]
    template = function.sql("duckdb")
    assert template is not None
    assert function.sql("klingon") is None
    connection = duckdb.connect()
    for text in texts:
        expression = template.format("k", "k")
        value, slot = connection.execute(
            f"SELECT k, {expression} FROM (SELECT CAST({text} AS {type_text}) AS k)"
        ).fetchall()[0]
        assert slot == function.slot((value,) * function.arity), (text, expression)

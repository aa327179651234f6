"""What prunes to which slots, what does not and why, and how partitions' predicates are narrowed."""

from __future__ import annotations

import sys
from datetime import date
from time import process_time

import pytest
import sqlglot
from sqlglot import exp

from shardwise.catalog.model import Column, Scattered, Sharded, Sharding, ShardKey, Table
from shardwise.catalog.shardings import (
    MAXVALUE,
    Grid,
    ShardingFunction,
    directory,
    exceptions,
    hash_function,
    interval,
    list_,
    members,
    mod,
    range_,
    two_level,
)
from shardwise.errors import InternalError
from shardwise.planner.prune import Narrowing, PruneReason, narrow, slots_of


def table(columns: str, *keys: ShardKey) -> Table:
    """A table t of `name TYPE, …`, sharded by `keys`."""
    pairs = [column.split(" ", 1) for column in columns.split(", ")]
    return Table(
        name="t",
        columns=tuple(Column(name=name, type=text) for name, text in pairs),
        placement=Sharded(sharding="f", keys=keys),
    )


def sharding(function: ShardingFunction) -> Sharding:
    levels = ("a", "b") if isinstance(function, Grid) else ("a",)
    return Sharding(name="f", function=function, levels=levels, on="s{a}")


def key(*texts: str, by_slot: bool = False) -> ShardKey:
    return ShardKey(parts=tuple(sqlglot.parse_one(text, read="duckdb") for text in texts), by_slot=by_slot)


def parse(text: str) -> list[exp.Expression]:
    where = sqlglot.parse_one(f"SELECT 1 WHERE {text}", read="duckdb").args["where"].this
    return list(where.flatten()) if isinstance(where, exp.And) else [where]


MONTHS = interval("month", date(2026, 1, 1), date(2026, 4, 30))
BY_K = table("k INT, x INT, s VARCHAR", ShardKey.of("k"))
BY_TEXT = table("k VARCHAR, x INT", ShardKey.of("k"))
BY_DATE = table("k DATE, x INT", ShardKey.of("k"))
BY_TWO = table("k INT, d DATE, x INT", ShardKey.of("k", "d"))
BY_ORDER = table("k INT, no VARCHAR", ShardKey.of("k"), key("CAST(right(no, 2) AS INT)", by_slot=True))
BY_SHIFT = table("k BIGINT, x INT", key("(k >> 4)"))
MOD4, RANGE = mod(4), range_([10, 20, MAXVALUE])
TEXT_RANGE = range_(["a", "c", MAXVALUE])
REGIONS = list_([["eu", "uk"], ["us"]], True)
GRID = two_level(mod(2), MONTHS)

ALL = "all"


@pytest.mark.parametrize(
    ("on", "function", "text", "wanted"),
    [
        (BY_K, MOD4, "t.k = 5", [1]),
        (BY_K, MOD4, "5 = t.k", [1]),
        (BY_K, MOD4, "(t.K) = (5)", [1]),
        (BY_K, MOD4, "t.k = -7", [1]),
        (BY_K, MOD4, "t.k IN (1, 2, 5)", [1, 2]),
        (BY_K, MOD4, "t.k IN (1, NULL)", [1]),
        (BY_K, MOD4, "t.k IN (1, t.x)", ALL),
        (BY_K, MOD4, "t.k IN (SELECT 1)", ALL),
        (BY_K, MOD4, "t.k IS NULL", [0]),
        (BY_K, MOD4, "t.k IS NOT NULL", ALL),
        (BY_K, MOD4, "t.k IS NOT DISTINCT FROM 5", [1]),
        (BY_K, MOD4, "t.k IS NOT DISTINCT FROM NULL", [0]),
        (BY_K, MOD4, "t.k IS DISTINCT FROM 5", ALL),
        (BY_K, MOD4, "t.k = NULL", []),
        (BY_K, MOD4, "t.k = 2.5", []),
        (BY_K, MOD4, "FALSE", []),
        (BY_K, MOD4, "t.k = 1 AND t.k = 2", []),
        (BY_K, MOD4, "t.k = 1 AND t.x = 2", [1]),
        (BY_K, MOD4, "t.k = 1 OR t.k = 2", [1, 2]),
        (BY_K, MOD4, "t.k = 1 OR t.x = 2", ALL),
        (BY_K, MOD4, "(t.k = 1 AND t.x = 3) OR (t.k = 2 AND t.x = 4)", [1, 2]),
        (BY_K, MOD4, "NOT t.k = 2", ALL),
        (BY_K, MOD4, "NOT (t.k <> 2)", [2]),
        (BY_K, MOD4, "NOT (t.k <> 2 OR t.x = 1)", [2]),
        (BY_K, MOD4, "NOT (t.k <> 2 AND t.x = 1)", ALL),
        (BY_K, MOD4, "NOT (NOT (t.k IN (1, 2)))", [1, 2]),
        (BY_K, MOD4, "t.k NOT IN (1, NULL)", []),
        (BY_K, MOD4, "(t.k = 2) IS TRUE", ALL),
        (BY_K, MOD4, "(t.k = 2) IS NOT TRUE", ALL),
        (BY_K, MOD4, "coalesce(t.k, 2) = 2", ALL),
        (BY_K, MOD4, "CASE WHEN t.k = 2 THEN TRUE ELSE FALSE END", ALL),
        (BY_K, MOD4, "t.k + 0 = 2", ALL),
        (BY_K, MOD4, "t.k COLLATE nocase = 2", ALL),
        (BY_K, MOD4, "u.k = 2", ALL),
        (BY_K, MOD4, "t.k = u.k", ALL),
        (BY_K, MOD4, "t.k > 5", ALL),
        (BY_K, MOD4, "(t.k, t.x) = (1, 2)", [1]),
        (BY_K, MOD4, "(t.x, t.k) IN ((1, 2), (3, 3), (4, NULL))", [0, 2, 3]),
        (BY_K, MOD4, "(t.k, t.x) IN ((1, 2), (u.k, 2))", ALL),
        (BY_K, RANGE, "t.k > 15", [1, 2]),
        (BY_K, RANGE, "t.k < 10", [0]),
        (BY_K, RANGE, "t.k <= 10", [0, 1]),
        (BY_K, RANGE, "t.k < 10.5", [0, 1]),
        (BY_K, RANGE, "10 > t.k", [0]),
        (BY_K, RANGE, "t.k BETWEEN 10 AND 19", [1]),
        (BY_K, RANGE, "t.k BETWEEN 25 AND 5", []),
        (BY_K, RANGE, "t.k NOT BETWEEN 10 AND 19", [0, 1, 2]),
        (BY_K, RANGE, "t.k NOT BETWEEN 5 AND 25", [0, 2]),
        (BY_K, RANGE, "NOT t.k >= 10", [0]),
        (BY_K, RANGE, "t.k >= 10 AND t.k < 20", [1]),
        (BY_K, RANGE, "(t.k, t.x) > (15, 7)", [0, 1, 2]),  # NULL is above all inside a row
        (BY_K, RANGE, "(t.k, t.x) < (5, 7)", [0]),
        (BY_K, exceptions(MOD4, [5]), "t.k = 5", [4]),
        (BY_K, exceptions(MOD4, [5]), "t.k = 9", [1]),
        (BY_TEXT, hash_function("crc32", 8), "t.k = 'a'", [3]),
        (BY_TEXT, hash_function("crc32", 8), "t.k LIKE 'a'", [3]),
        (BY_TEXT, hash_function("crc32", 8), "t.k = 1", ALL),
        (BY_TEXT, TEXT_RANGE, "t.k LIKE 'b%'", [1]),
        (BY_TEXT, TEXT_RANGE, "t.k LIKE 'b_x%'", [1]),
        (BY_TEXT, TEXT_RANGE, "t.k LIKE '%b'", ALL),
        (BY_TEXT, TEXT_RANGE, "t.k NOT LIKE 'b%'", ALL),
        (BY_TEXT, TEXT_RANGE, "t.k ILIKE 'b%'", ALL),
        (BY_TEXT, TEXT_RANGE, "t.k LIKE 'b!%' ESCAPE '!'", ALL),
        (BY_TEXT, TEXT_RANGE, "t.k >= 'c'", [2]),
        (BY_TEXT, REGIONS, "t.k = 'eu'", [0]),
        (BY_TEXT, REGIONS, "t.k <> 'us'", [0, 2]),
        (BY_TEXT, REGIONS, "NOT t.k = 'us'", [0, 2]),
        (BY_TEXT, REGIONS, "t.k <> 'eu'", ALL),
        (BY_TEXT, REGIONS, "t.k NOT IN ('eu', 'uk', 'x')", [1, 2]),
        (BY_TEXT, REGIONS, "t.k IS DISTINCT FROM 'us'", ALL),
        (BY_TEXT, list_([["eu"]]), "t.k = 'mars'", []),
        (BY_DATE, MONTHS, "t.k = '2026-02-28'", [1]),
        (BY_DATE, MONTHS, "t.k >= DATE '2026-02-01' AND t.k < DATE '2026-03-01'", [1]),
        (BY_DATE, MONTHS, "t.k BETWEEN '2026-02-10' AND '2026-03-01'", [1, 2]),
        (BY_DATE, MONTHS, "t.k < TIMESTAMP '2026-02-01 00:00:00'", [0]),
        (BY_DATE, MONTHS, "t.k = '2026-2-28'", ALL),
        (BY_TWO, GRID, "t.k = 1", [4, 5, 6, 7]),
        (BY_TWO, GRID, "t.d = '2026-03-05'", [2, 6]),
        (BY_TWO, GRID, "t.k = 1 AND t.d >= '2026-03-01'", [6, 7]),
        (BY_TWO, GRID, "(t.k, t.d) IN ((1, DATE '2026-01-01'), (2, DATE '2026-04-01'))", [3, 4]),
        (BY_TWO, GRID, "t.k = 1 AND (t.d = '2026-01-01' OR t.d = '2026-04-01')", [4, 7]),
        (BY_ORDER, mod(100), "t.k = 117", [17]),
        (BY_ORDER, mod(100), "t.no = 'A-0042'", [42]),
        (BY_ORDER, mod(100), "t.no IN ('A-0042', 'B-0007') AND t.k IN (7, 8)", [7]),
        (BY_ORDER, mod(100), "CAST(right(t.no, 2) AS INT) = 42", [42]),
        (BY_ORDER, mod(100), "t.no = 'x'", ALL),
        (BY_ORDER, mod(100), "(t.no, 1) IN (('a42', 1), ('b07', 1))", [7, 42]),
        (BY_ORDER, exceptions(mod(100), [142]), "t.no = 'A-0042'", [42, 100]),  # a row of user 142
        (BY_ORDER, exceptions(mod(100), [142]), "(t.no, 1) IN (('a42', 1), ('b07', 1))", [7, 42, 100]),
        (BY_ORDER, exceptions(mod(100), [142]), "t.no = 'A-0042' AND t.k = 142", [100]),
        (BY_SHIFT, MOD4, "t.k = 37", [2]),
        (BY_SHIFT, MOD4, "t.k >> 4 = 2", [2]),
        (BY_SHIFT, MOD4, "t.k >> 5 = 2", ALL),
        (BY_SHIFT, MOD4, "t.k IN (0, 16)", [0, 1]),
    ],
)  # fmt: skip
def test_slots(on: Table, function: ShardingFunction, text: str, wanted: list[int] | str) -> None:
    pruned = slots_of(parse(text), rel="t", table=on, sharding=sharding(function))
    expected = list(range(function.size)) if wanted == ALL else wanted
    assert list(members(pruned.slots)) == expected
    assert bool(pruned.reasons) == (len(expected) == function.size)


R = PruneReason
BY_JSON = table("k JSON", ShardKey.of("k"))
BY_UNKNOWN = table("x INT", ShardKey.of("k"))
REASONS = [
    (BY_K, "t.x = 1", R.KEY_NOT_COMPARED, "nothing compares t.k with a value"),
    (BY_K, "TRUE", R.KEY_NOT_COMPARED, "nothing compares t.k with a value"),
    (BY_TEXT, "t.k = 1", R.TEXT_AS_NUMBER, "t.k is text and is compared with a value that is not"),
    (
        BY_K,
        "t.k = '3.0'",
        R.CONSTANT_NOT_EXACT,
        "is compared with a constant that is not certain to be of type int",
    ),
    (BY_K, "t.k = t.x", R.NOT_CONSTANT, "t.k is compared with something that is no constant"),
    (BY_K, "t.k = 1 OR t.x = 1", R.OR_WITH_OTHER, "the key of t stands in an OR with another condition"),
    (
        BY_K,
        "(t.k = 1) IS TRUE",
        R.FORM_NOT_UNDERSTOOD,
        "a condition on the key of t is of a form that does not",
    ),
    (BY_K, "t.k > 3", R.RANGE_NOT_ORDERED, "a range of t.k is spread over all slots of f"),
    (BY_K, "t.k IN (1, 2, 3, 4)", R.ALL_SLOTS_MATCH, "the values that t is compared with are on all slots"),
    (BY_TEXT, "t.k = 'x'", R.VALUE_NOT_PLACED, "a value cannot be placed: MOD takes whole numbers"),
    (BY_JSON, "t.k = '1'", R.KEY_TYPE, "t.k is of type JSON, which is not pruned by"),
    (BY_UNKNOWN, "t.k = 1", R.KEY_TYPE, "the type of t.k is not known"),
]


@pytest.mark.parametrize(("on", "text", "slug", "sentence"), REASONS)
def test_reasons(on: Table, text: str, slug: PruneReason, sentence: str) -> None:
    pruned = slots_of(parse(text), rel="t", table=on, sharding=sharding(MOD4))
    assert [slug] == [note.slug for note in pruned.reasons if sentence in note.sentence]


def test_collations_do_not_prune() -> None:
    for collation, prunes in (("NOCASE", False), ("binary", True), ("C", True), (None, True)):
        column = Column(name="k", type="VARCHAR", collation=collation)
        on = Table(name="t", columns=(column,), placement=Sharded(sharding="f", keys=(ShardKey.of("k"),)))
        pruned = slots_of(parse("t.k = 'a'"), rel="t", table=on, sharding=sharding(REGIONS))
        assert (pruned.slots != 0b111) == prunes
        if not prunes:
            assert pruned.reasons[0] == (PruneReason.KEY_COLLATION, "t.k has collation NOCASE")


def test_scattered_tables_and_other_dialects_do_not_prune() -> None:
    scattered = Table(name="t", columns=BY_K.columns, placement=Scattered(sharding="f"))
    pruned = slots_of(parse("t.k = 1"), rel="t", table=scattered, sharding=sharding(MOD4))
    assert (pruned.slots, pruned.reasons[0].slug) == (0b1111, PruneReason.NO_SHARD_KEY)
    pruned = slots_of(parse("t.k = 1"), rel="t", table=BY_K, sharding=sharding(MOD4), dialect="oracle")
    assert (pruned.slots, pruned.reasons[0].slug) == (0b1111, PruneReason.DIALECT)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("t._shard = 's1'", 0b0010),
        ("t._SHARD IN ('s1', 's3')", 0b1010),
        ("t._shard <> 's1'", 0b1101),
        ("t._shard NOT IN ('s1', NULL)", 0),
        ("t._shard = 'S1'", 0),
        ("t._shard = 1", 0b1111),
        ("t._shard > 's1'", 0b1111),
        ("t._shard = 's1' AND t.k = 2", 0),
        ("t._shard = 's1' OR t.k = 2", 0b0110),
        ("t._source = 'main'", 0b0011),
        ("u._shard = 's1'", 0b1111),
    ],
)
def test_hidden_columns_prune(text: str, wanted: int) -> None:
    sources = {"s0": "main", "s1": "main", "s2": "other", "s3": "other"}
    for on in (BY_K, Table(name="t", columns=BY_K.columns, placement=Scattered(sharding="f"))):
        pruned = slots_of(parse(text), rel="t", table=on, sharding=sharding(MOD4), sources=sources)
        assert pruned.slots == wanted or (on is not BY_K and ".k" in text)


def test_source_is_unknown_without_the_catalog() -> None:
    assert slots_of(parse("t._source = 's1'"), rel="t", table=BY_K, sharding=sharding(MOD4)).slots == 0b1111


# ------------------------------------------------------------------ narrowing


@pytest.mark.parametrize(
    ("text", "slot", "wanted"),
    [
        ("t.k IN (1, 2, 3, 5)", 1, "t.k IN (1, 5)"),
        ("t.k IN (1, 2, 3, 5)", 2, "t.k IN (2)"),
        ("t.k IN (1, 2)", 3, "FALSE"),
        ("t.k IN (1, NULL)", 3, "t.k IN (NULL)"),
        ("t.k IN (1, 2.5, '3')", 3, "t.k IN (1, 2.5, '3')"),
        ("t.k NOT IN (1, 2)", 1, "NOT t.k IN (1)"),
        ("t.k NOT IN (1, NULL)", 3, "NOT t.k IN (NULL)"),
        ("t.k NOT IN (1, 2)", 3, "NOT t.k IS NULL"),
        ("t.x = 1 OR t.k IN (2, 3)", 3, "t.x = 1 OR t.k IN (3)"),
        ("t.x = 1 OR t.k IN (2, 3)", 1, "t.x = 1 OR FALSE"),
        ("NOT (t.x = 1 OR t.k IN (2, 3))", 1, "NOT (t.x = 1 OR t.k IN (2))"),  # not FALSE: k may be NULL
        ("(t.k IN (2, 3)) IS TRUE", 1, "(t.k IN (2, 3)) IS TRUE"),
        ("t.x IN (1, 2)", 1, "t.x IN (1, 2)"),
        ("u.k IN (1, 2)", 1, "u.k IN (1, 2)"),
        ("t.k IN (1, t.x, 2)", 1, "t.k IN (1, t.x)"),
        ("(t.k, t.x) IN ((1, 1), (2, 2), (NULL, 3))", 1, "(t.k, t.x) IN ((1, 1), (NULL, 3))"),
        ("t.k = 1", 2, "t.k = 1"),
    ],
)
def test_narrow(text: str, slot: int, wanted: str) -> None:
    conjuncts = parse(text)
    before = [one.sql("duckdb") for one in conjuncts]
    after = narrow(conjuncts, rel="t", table=BY_K, sharding=sharding(MOD4), slots=1 << slot)
    assert " AND ".join(one.sql("duckdb") for one in after) == wanted
    assert [one.sql("duckdb") for one in conjuncts] == before
    assert all(
        (new is old) == (new.sql("duckdb") == was)
        for new, old, was in zip(after, conjuncts, before, strict=True)
    )


def test_narrow_by_computed_and_partial_keys() -> None:
    after = narrow(parse("t.k IN (0, 16, 32)"), rel="t", table=BY_SHIFT, sharding=sharding(MOD4), slots=0b10)
    assert after[0].sql() == "t.k IN (16)"
    after = narrow(parse("t.k IN (1, 2, 3)"), rel="t", table=BY_TWO, sharding=sharding(GRID), slots=0b1111)
    assert after[0].sql() == "t.k IN (2)"


# ------------------------------------------------------------------ size


@pytest.mark.slow
@pytest.mark.parametrize("number", [False, True])
def test_long_lists_are_quick(number: bool) -> None:
    make = exp.Literal.number if number else exp.Literal.string
    leaf = exp.In(this=exp.column("k", "t"), expressions=[make(str(n)) for n in range(100_000)])
    on, by = (BY_K, mod(1024)) if number else (BY_TEXT, hash_function("xxhash64", 1024))
    start = process_time()
    pruned = slots_of([leaf], rel="t", table=on, sharding=sharding(by))
    narrowing = Narrowing([leaf], rel="t", table=on, sharding=sharding(by))
    kept = sum(len(narrowing.to(1 << slot)[0].expressions) for slot in range(1024))
    assert process_time() - start < 5  # of this processor; about 0.7
    assert (pruned.slots.bit_count(), kept) == (1024, 100_000)


def test_long_and_deep_predicates() -> None:
    chain = parse(" OR ".join(f"t.k = {4 * n + 1}" for n in range(500)))
    assert slots_of(chain, rel="t", table=BY_K, sharding=sharding(MOD4)).slots == 0b10
    deep: exp.Expression = exp.column("x", "t").eq(1)
    for n in range(sys.getrecursionlimit()):
        deep = exp.Or(
            this=deep, expression=exp.In(this=exp.column("k", "t"), expressions=[exp.Literal.number(n)])
        )
    assert slots_of([deep], rel="t", table=BY_K, sharding=sharding(MOD4)).slots == 0b1111
    (after,) = narrow([deep], rel="t", table=BY_K, sharding=sharding(MOD4), slots=1)
    assert after is not deep


def test_a_directory_prunes_once_its_members_are_known() -> None:
    by = Sharding(name="f", function=directory(("1", "2", "3")), on="s")
    assert slots_of(parse("t.k = 2"), rel="t", table=BY_K, sharding=by).slots == 0b010
    assert slots_of(parse("t.k <> 2"), rel="t", table=BY_K, sharding=by).slots == 0b101
    assert slots_of(parse("t.k >= 2"), rel="t", table=BY_K, sharding=by).slots == 0b110
    assert slots_of(parse("t.k IN (3, 4)"), rel="t", table=BY_K, sharding=by).slots == 0b100
    assert slots_of(parse("t.k IS NULL"), rel="t", table=BY_K, sharding=by).slots == 0b111
    with pytest.raises(InternalError):
        slots_of(
            parse("t.k = 1"), rel="t", table=BY_K, sharding=Sharding(name="f", function=directory(), on="s")
        )

"""Quantiles, common values and distinct values, from what was seen."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shardwise.catalog.model import Column, Sharded, ShardKey, Single, Table
from shardwise.catalog.statistics import ColumnStatistics
from shardwise.inspection.analyzing import figures
from shardwise.inspection.analyzing.columns import apart_columns, asked_column
from shardwise.inspection.analyzing.sketch import distinct_of, sketch_of, united
from shardwise.inspection.analyzing.told import Told, merged


@pytest.mark.parametrize(
    ("order", "text", "kept"),
    [
        ("number", "1.50", "1.5"),
        ("number", "-0.00", "0"),
        ("number", "100", "100"),
        ("number", "1E+2", "100"),
        ("number", "18446744073709551615", "18446744073709551615"),
        ("number", "1e300", "1E+300"),
        ("number", "nan", "nan"),
        ("moment", "2024-01-31T08:00:00.500000", "2024-01-31 08:00:00.5"),
        ("moment", "2024-01-31 08:00:00.000", "2024-01-31 08:00:00"),
        ("moment", "2024-01-30", "2024-01-30"),
        (None, " 1.50", " 1.50"),
    ],
)
def test_values_as_they_are_kept(order: str | None, text: str, kept: str) -> None:
    assert figures.normal(order, text) == kept


@pytest.mark.parametrize(
    ("order", "text"),
    [("number", "NaN"), ("number", "inf"), ("moment", "0000-00-00"), ("moment", "44-03-15 BC")],
)
def test_what_has_no_place(order: str, text: str) -> None:
    assert figures.rank(order, text) is None
    assert figures.bounds(order, {text: 5}) == ()
    assert figures.extremes(order, [text, None]) == (None, None)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=300))
def test_bounds_are_quantiles_of_what_was_seen(values: list[int]) -> None:
    found = [int(text) for text in figures.bounds("number", Counter(map(str, values)))]
    ordered = sorted(values)
    assert (found[0], found[-1]) == (ordered[0], ordered[-1])
    assert found == sorted(found)
    assert 2 <= len(found) <= figures.BOUNDS_MAX
    for place, bound in enumerate(found):  # as many rows between any two
        share = place / (len(found) - 1) * len(values)
        assert sum(v < bound for v in values) <= share + 1
        assert sum(v <= bound for v in values) >= share


def test_bounds_end_at_the_extremes_of_all_rows() -> None:
    assert figures.bounds("number", {"2": 1, "3": 1}, "1", "9") == ("1", "9")
    assert figures.bounds("number", {}, "1", "9") == ("1", "9")
    assert figures.bounds("moment", {"2024-01-02": 4}, "2024-01-01", None)[0] == "2024-01-01"
    assert figures.bounds("number", {"7": 1}) == ("7", "7")


def test_common_values() -> None:
    few = {"a": 3, "b": 1}
    assert figures.common(few, 8, 2, is_whole=True) == (("a", 0.375), ("b", 0.125))
    many = {**{str(n): 10 for n in range(100)}, "hot": 50}
    assert figures.common(many, 1050, 101, is_whole=True) == (("hot", 0.047619),)
    even = {str(n): 10 for n in range(100)}
    assert figures.common(even, 1000, 100, is_whole=False) == ()
    chance = Counter(str(random.Random(7).randrange(5000)) for _ in range(3))
    chance.update(str(number) for number in random.Random(8).choices(range(5000), k=10_000))
    assert figures.common(chance, 10_000, 5_000, is_whole=False) == ()
    assert figures.common({"x" * 65: 1, "tab\t": 1, "ok": 1, "\ud800": 1}, 4, 4, is_whole=True) == (
        ("ok", 0.25),
    )
    assert figures.common({}, 0, 0, is_whole=True) == ()


@pytest.mark.parametrize("distinct", [0, 1, 5, 60, 1_000, 5_000, 20_000])
def test_sketches_of_shards_that_have_values_in_common(distinct: int) -> None:
    values = [f"v{n}" for n in range(distinct)]
    alone = sketch_of(values)
    shards = [sketch_of(values[n::3] + values[: distinct // 2]) for n in range(3)]
    assert united(shards) == alone
    assert len(alone) <= 1024
    assert distinct_of(alone) == pytest.approx(distinct, rel=0.1, abs=0.5)


def test_a_sample_tells_distinct_values_of_all_rows() -> None:
    chance = random.Random(3)
    for distinct in (10, 500, 5_000, 50_000):
        rows = [str(chance.randrange(distinct)) for _ in range(100_000)]
        seen = Counter(chance.sample(rows, 20_000))
        assert figures.distinct_of_sample(seen, 20_000, 100_000) == pytest.approx(len(set(rows)), rel=0.2)
    unique = Counter(str(n) for n in range(1_000))
    assert figures.distinct_of_sample(unique, 1_000, 50_000) == 50_000
    assert figures.distinct_of_sample(Counter(), 0, 10) == 0
    assert figures.distinct_of_sample(unique, 1_000, 1_000) == 1_000


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([(100, 10_000), (100, 10_000)], 100),  # each has all of a small domain
        ([(10_000, 10_000), (10_000, 10_000)], 20_000),  # nothing is twice
        ([], 0),
        ([(0, 0), (5, 100)], 5),
        ([(9_516, 10_000), (9_516, 10_000)], 18_127),  # 10,000 draws of 100,000
    ],
)
def test_distinct_values_of_a_union(parts: list[tuple[float, float]], expected: float) -> None:
    assert figures.distinct_of_union(parts) == pytest.approx(expected, rel=0.02)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.integers(0, 1000)).map(lambda p: (min(p), max(p))), max_size=7
    )
)
def test_a_union_has_no_fewer_than_one_part_and_no_more_than_the_sum(parts: list[tuple[int, int]]) -> None:
    found = figures.distinct_of_union([(float(d), float(r)) for d, r in parts])
    assert max((d for d, _ in parts), default=0) <= found <= sum(d for d, _ in parts) + 1e-9


def column(type_: str, name: str = "c") -> Column:
    return Column(name=name, type=type_)


@pytest.mark.parametrize(
    ("type_", "dialect", "width"),
    [
        ("INTEGER", "duckdb", 4),
        ("BIGINT UNSIGNED", "mysql", 8),
        ("INTEGER", "sqlite", 8),
        ("HUGEINT", "duckdb", 16),
        ("DECIMAL(9,2)", "postgres", 16),
        ("REAL", "postgres", 4),
        ("REAL", "mysql", 8),
        ("VARCHAR", "duckdb", None),
        ("ENUM('a', 'b')", "mysql", None),
        ("DATE", "duckdb", 4),
    ],
)
def test_widths_of_types(type_: str, dialect: str, width: float | None) -> None:
    assert asked_column(column(type_), dialect).width == width


@pytest.mark.parametrize("type_", ["JSON", "BLOB", "INTEGER[]", "STRUCT(a INT)", "BIT", "GEOMETRY"])
def test_values_that_are_not_looked_at(type_: str) -> None:
    assert asked_column(column(type_), "duckdb").is_unread


def test_texts_that_differ_in_letter_case_alone() -> None:
    def folds(dialect: str, collation: str | None, type_: str = "VARCHAR(9)") -> bool:
        return asked_column(Column(name="c", type=type_, collation=collation), dialect).folds

    assert folds("mysql", None)
    assert folds("mysql", "utf8mb4_general_ci", "ENUM('a')")
    assert not folds("mysql", "utf8mb4_bin")
    assert not folds("mysql", None, "INT")
    assert folds("sqlite", "NOCASE")
    assert not folds("duckdb", None)


def test_columns_that_no_two_shards_have_a_value_of_in_common() -> None:
    table = Table(name="t", placement=Sharded(sharding="s", keys=(ShardKey.of("K"), ShardKey.of("a", "b"))))
    assert apart_columns(table) == {"k"}
    assert apart_columns(Table(name="t", placement=Single(on="s"))) == frozenset()


def test_what_sources_told_is_weighted_by_rows() -> None:
    columns = [asked_column(column("INTEGER", "n"), "duckdb"), asked_column(column("VARCHAR", "w"), "duckdb")]
    parts = [
        Told(
            100,
            {
                "n": ColumnStatistics(distinct=10, nulls=0.5, bounds=("1", "2", "3")),
                "w": ColumnStatistics(width=2, common=(("a", 0.5), ("b", 0.25))),
            },
        ),
        Told(
            300,
            {
                "n": ColumnStatistics(distinct=10, nulls=0.1, bounds=("0", "10", "20")),
                "w": ColumnStatistics(width=6, common=(("a", 0.1),)),
            },
        ),
        Told(0, {}),
    ]
    rows, found = merged(columns, parts, 1.0)
    assert rows == 400
    assert found["n"].nulls == pytest.approx(0.2)
    assert (found["n"].bounds[0], found["n"].bounds[-1]) == ("0", "20")
    assert found["n"].distinct == 10
    assert found["n"].width == 4
    assert found["w"].width == pytest.approx((100 * 2 + 300 * 6) / 400)
    assert found["w"].common == (("a", pytest.approx(0.2)), ("b", pytest.approx(0.0625)))
    rows, found = merged(columns, parts, 2.0)
    assert (rows, found["n"].distinct) == (800, 10)


def test_what_one_partition_knows_nothing_of_is_not_known() -> None:
    columns = [asked_column(column("VARCHAR", "w"), "duckdb")]
    known = ColumnStatistics(distinct=5)
    _, found = merged(columns, [Told(10, {"w": known}), Told(10, {})], 1.0)
    assert found["w"].distinct is None


def test_no_more_than_there_are_between_the_least_and_the_most() -> None:
    def capped(type_: str, least: str, most: str) -> float:
        return figures.capped(asked_column(column(type_), "duckdb"), 1_000.0, least, most)

    assert capped("INTEGER", "1", "20") == 20
    assert capped("DATE", "2024-01-01", "2024-01-31") == 31
    assert capped("DECIMAL(9,2)", "1", "2") == 1_000
    assert capped("TIMESTAMP", "2024-01-01 00:00:00", "2024-01-01 00:00:01") == 1_000
    assert figures.rank("number", "2") == Decimal(2)

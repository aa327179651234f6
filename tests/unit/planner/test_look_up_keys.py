"""look_up_keys: keys go to the shards that a lookup index says, and to no fewer than may have them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.reasons import OfIndex
from shardwise.plan.run import Bound, Plan
from shardwise.planner import Planner
from tests.unit.planner.trees import with_valid_indexes

SOURCES = """
CREATE CATALOG c DIALECT {dialect};
CREATE SOURCE s{{n}} FOR n IN 0-{last} URL '{url}s{{n}}';
CREATE SHARDING by_k USING MOD {count} ON s{{slot}};
CREATE SHARDING by_text USING HASH(crc32) SLOTS 8 ON s{{slot // 2}};
CREATE SHARDING by_pair USING MOD 4 AS n, HASH(crc32) SLOTS 2 AS m ON s{{n}};
CREATE SHARDING by_list USING LIST (s0 = IN (1, 2), s1 = IN (3, 4));
"""
URLS = {"duckdb": "duckdb:///", "mysql": "mysql://h/", "postgres": "postgresql://h/"}
FORCED = Options(trust_indexes=True, verify_passes=True, force=("keys", "look_up_keys"))
A = "CREATE TABLE a (id BIGINT, no {no}, x BIGINT) SHARD BY by_k (id);"
SQL = "SELECT b.s FROM a JOIN b ON a.no = b.no WHERE a.x = 3"


def planner(text: str, dialect: str = "duckdb", no: str = "BIGINT", count: int = 4) -> Planner:
    sources = SOURCES.format(dialect=dialect, url=URLS[dialect], last=count - 1, count=count)
    return Planner(with_valid_indexes(parse(sources + A.format(no=no) + text)))


def looked_up(
    of: Planner, keys: list[Any], rows: list[tuple[Any, ...]] | None, type_: str = "BIGINT"
) -> Plan:
    """The plan once these are the keys, and the index gave these rows."""
    plan = of.prepare(SQL).plan(options=FORCED)
    assert plan.then is not None
    (first,) = plan.first
    plan = plan.then({first.name: Bound((type_,), [(key,) for key in keys])})
    assert plan.then is not None, [note.sentence for note in plan.notes]
    (places,) = plan.first
    width = len(places.plan.columns)
    return plan.then({places.name: Bound((type_,) * width, rows)})


def sent(plan: Plan) -> dict[str, list[Any]]:
    """The keys that each shard of b is sent."""
    lists = {r.shard: r.params for r in plan.start().ready() if "FROM b" in re.sub('[`"]', "", r.sql)}
    return {shard: next(iter(params.values())) for shard, params in lists.items()}


B = "CREATE TABLE b (id BIGINT, no BIGINT, s VARCHAR(9)) SHARD BY by_k (id);"
INDEX = "CREATE LOOKUP INDEX i ON b (no);"
BY_NO = planner(B + INDEX)


def test_keys_go_to_the_shards_that_have_them() -> None:
    plan = looked_up(planner(B + INDEX), [7, 8, 9], [(7, 4), (8, 2), (8, 4), (7, 8)])
    assert sent(plan) == {"s0": [7, 8], "s2": [8]}
    assert [note.slug for note in plan.notes] == [OfIndex.USED]


def test_a_key_that_no_row_has_asks_nobody() -> None:
    assert sent(looked_up(planner(B + INDEX), [7, 8], [])) == {}


def test_a_shard_key_that_is_null_has_its_place() -> None:
    found = sent(looked_up(planner(B + INDEX), [7, 8], [(7, None), (8, 3)]))
    assert found == {"s0": [7], "s3": [8]}


def test_a_shard_key_without_a_place_may_be_anywhere() -> None:
    text = "CREATE TABLE b (id BIGINT, no BIGINT, s VARCHAR(9)) SHARD BY by_list (id);" + INDEX
    assert sent(looked_up(planner(text), [7, 8], [(7, 9), (8, 3)])) == {"s0": [7], "s1": [7, 8]}


def test_too_many_places_leave_the_keys_everywhere() -> None:
    plan = looked_up(planner(B + INDEX), [7], None)
    assert sent(plan) == {shard: [7] for shard in ("s0", "s1", "s2", "s3")}
    assert OfIndex.KEYS_UNKNOWN in [note.slug for note in plan.notes]


@pytest.mark.parametrize(
    ("table", "row", "shard"),
    [
        (
            "CREATE TABLE b (p INT, q VARCHAR, no BIGINT, s INT) SHARD BY by_pair (p, q) NAMED 'b_{n}_{m}';",
            (6, "u"),
            "s2",
        ),
        ("CREATE TABLE b (id BIGINT, no BIGINT, s INT) SHARD BY by_k ((id >> 2));", (8,), "s2"),
        ("CREATE TABLE b (id BIGINT, no BIGINT, s INT) SHARD BY by_k (id) ALSO BY (s);", (7,), "s3"),
    ],
)
def test_keys_of_several_columns_and_of_expressions(table: str, row: tuple[Any, ...], shard: str) -> None:
    assert sent(looked_up(planner(table + INDEX), [7], [(7, *row)])) == {shard: [7]}


def test_texts_by_their_bytes_are_told_apart() -> None:
    text = "CREATE TABLE b (id BIGINT, no VARCHAR, s INT) SHARD BY by_k (id);" + INDEX
    plan = looked_up(planner(text, no="VARCHAR"), ["a", "A"], [("a", 1)], "VARCHAR")
    assert sent(plan) == {"s1": ["a"]}


@pytest.mark.parametrize("exact", ["", " EXACT LOWER (no)"])
def test_of_texts_that_ignore_case_all_go_where_any_is(exact: str) -> None:
    """'ANN' finds 'ann', also where all rows are spelled in lower case."""
    no = "VARCHAR(20) COLLATE utf8mb4_general_ci"
    text = f"CREATE TABLE b (id BIGINT, no {no}, s INT) SHARD BY by_k (id){exact};" + INDEX
    plan = looked_up(planner(text, "mysql", no), ["ANN", "bob"], [("ann", 1), ("Bob", 6)], "VARCHAR(20)")
    assert sent(plan) == {"s1": ["ANN", "bob"], "s2": ["ANN", "bob"]}


KEPT = (
    B + "CREATE TABLE m (no {no}, id BIGINT) ON s0; ATTACH LOOKUP INDEX i ON b (no) USING TABLE m (no, id);"
)


def test_a_key_that_a_kept_table_lacks_goes_to_all_shards() -> None:
    plan = looked_up(planner(KEPT.format(no="BIGINT")), [7, 8], [(7, 5)])
    assert sent(plan) == {"s0": [8], "s1": [7, 8], "s2": [8], "s3": [8]}
    assert "answers as the application keeps m" in plan.notes[0].sentence


def test_a_shard_key_that_is_not_placed_as_it_compares() -> None:
    """The index may have 'Ann' for a row whose key is 'ann', on another shard."""
    text = "CREATE TABLE b (k VARCHAR COLLATE NOCASE, no BIGINT, s INT) SHARD BY by_text (k);" + INDEX
    plan = looked_up(planner(text), [7], [(7, "Ann")])
    assert sent(plan) == {shard: [7] for shard in ("s0", "s1", "s2", "s3")}


@pytest.mark.parametrize("dialect", ["mysql", "postgres"])
def test_on_servers(dialect: str) -> None:
    assert sent(looked_up(planner(B + INDEX, dialect), [7, 8], [(7, 4)])) == {"s0": [7]}


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_moments_of_the_hour_that_clocks_repeat_have_each_their_place(dialect: str) -> None:
    text = "CREATE TABLE b (at TIMESTAMPTZ, no BIGINT, s INT) SHARD BY by_text (at);" + INDEX
    summer = datetime(2024, 10, 27, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    found = sent(looked_up(planner(text, dialect), [7, 8], [(7, summer), (8, summer.replace(fold=1))]))
    assert found == {"s3": [7], "s0": [8]}


def test_keys_of_a_semi_join_and_of_a_null_side() -> None:
    of = planner(B + INDEX)
    for sql in (
        "SELECT b.s FROM b WHERE EXISTS (SELECT 1 FROM a WHERE a.no = b.no AND a.x = 3)",
        "SELECT a.id, b.s FROM a LEFT JOIN b ON a.no = b.no WHERE a.x = 3",
    ):
        plan = of.prepare(sql).plan(options=FORCED)
        assert plan.then is not None
        (first,) = plan.first
        width = len(first.plan.columns)
        plan = plan.then({first.name: Bound(("BIGINT",) * width, [(7,) * width])})
        assert [early.name.partition("_")[0] for early in plan.first] == ["places"]


# ------------------------------------------------------------------ is it asked?


def asks(of: Planner, options: Options) -> bool:
    plan = of.prepare(SQL).plan(options=options)
    return any("says where keys" in note.sentence for note in plan.notes)


def test_it_is_asked_where_the_connection_trusts_it() -> None:
    assert asks(planner(B + INDEX), FORCED)
    assert not asks(planner(B + INDEX), Options(force=("keys", "look_up_keys")))
    assert not asks(planner(B + "CREATE LOOKUP INDEX i ON b (no, s);"), FORCED)
    assert not asks(planner(B + "CREATE LOOKUP INDEX i ON b (id);"), FORCED)


def test_it_is_asked_where_it_spares_more_than_it_moves() -> None:
    """A key of one place costs 40 bytes, on six shards 48 without."""
    keys = Options(trust_indexes=True, force=("keys",))
    unique = B + "CREATE UNIQUE LOOKUP INDEX i ON b (no);"
    assert not asks(planner(unique, count=5), keys)
    assert asks(planner(unique, count=6), keys)
    assert not asks(planner(B + INDEX, count=6), keys)
    figures = "STATISTICS b ROWS 1000 FROM SCAN AT '2026-12-01T00:00:00Z' (no (DISTINCT 900, NULLS 0))"
    assert asks(planner(f"{B}{INDEX}{figures}", count=7), keys)


def test_the_choice_counts_what_it_costs() -> None:
    unique = B + "CREATE UNIQUE LOOKUP INDEX i ON b (no);"
    trusted, alone = (
        planner(unique, count=60).prepare(SQL).plan(options=Options(trust_indexes=trust, force=("keys",)))
        for trust in (True, False)
    )
    (with_index,), (without,) = (
        [a for a in plan.choices[0].alternatives if a.strategy == "keys"] for plan in (trusted, alone)
    )
    assert with_index.bytes < without.bytes
    assert with_index.sent < without.sent
    assert with_index.moved > without.moved

"""refused.txt: texts that are no catalog, each with the message that its writer gets."""

from pathlib import Path

import pytest

from shardwise.catalog import Catalog, parse
from shardwise.catalog.model import (
    Members,
    Reference,
    Secret,
    Shard,
    Sharded,
    Sharding,
    ShardKey,
    Single,
    Source,
    SourceFamily,
    Table,
)
from shardwise.catalog.shardings import mod, range_, ring, two_level
from shardwise.errors import CatalogError

SOURCES = "CREATE SOURCE a DIALECT duckdb; CREATE SOURCE b DIALECT duckdb;\n"
CASES = [
    tuple(block.strip().split("\n! "))
    for block in (Path(__file__).parent / "refused.txt").read_text(encoding="utf-8").split("\n\n")
]


@pytest.mark.parametrize(("text", "message"), CASES, ids=[case[0][:60] for case in CASES])
def test_refused(text, message):
    with pytest.raises(CatalogError) as caught:
        parse(SOURCES + text, "c.sql")
    assert str(caught.value) == f"c.sql:{message}"
    assert "secret" not in str(caught.value)


def test_the_text_of_a_position_is_what_it_points_at():
    text = "CREATE SOURCE a DIALECT duckdb;\nATTACH TABLE t\n  (id BIGINTT) ON a"
    with pytest.raises(CatalogError) as caught:
        parse(text)
    line, column, length = caught.value.position
    assert text.split("\n")[line - 1][column - 1 :][:length] == "BIGINTT"
    assert caught.value.file is None


def test_a_header_comes_once_and_first():
    with pytest.raises(CatalogError, match="1:19: a catalog has one CREATE CATALOG"):
        parse("CREATE CATALOG a; CREATE CATALOG b")
    with pytest.raises(CatalogError, match='there is no dialect "klingon"'):
        parse("CREATE CATALOG a DIALECT klingon")


A = Source(name="a", dialect="duckdb")
B = Source(name="b", dialect="duckdb")
BY = Sharding(name="f", function=mod(2), on="a")


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([A, A], 'source "a" is declared twice'),
        ([A, Source(name="c", dialect="mysql", password=Secret(env="X", file="y"))], "password of source"),
        ([A, Sharding(name="f", function=mod(2), on="a", owners=(("a", 3),))], "two maps"),
        ([A, Sharding(name="f", function=mod(2), owners=(("a", 5),))], "slot 2 does not exist"),
        ([A, B, Sharding(name="f", function=mod(2), owners=(("a", 3), ("b", 1)))], "slot 0 is given twice"),
        (
            [A, Sharding(name="f", function=two_level(mod(2), mod(2)), on="a")],
            "has levels: 2, and names for them: 1",
        ),
        (
            [A, BY, Table(name="t", placement=Sharded(sharding="f", keys=()))],
            "the first key of SHARD BY is a key",
        ),
        ([A, Table(name="t", placement=Single(on="a"), drift="MAYBE")], "DRIFT is FILL or ERROR"),
        ([A, Table(name="t", placement=Single(on="a"), columns=())], "has no columns"),
        ([A, Table(name="*", placement=Single(on="a"), created=True)], "can be attached, not created"),
        (
            [
                A,
                SourceFamily(
                    pattern=Source(name="a{n}", dialect="mysql"), variable="n", members=Members(("",))
                ),
            ],
            "empty",
        ),
        (
            [A, Sharding(name="f", function=range_((1,)), on="a")],
            'sharding "f" names its shards slot by slot, not by a template',
        ),
        (
            [A, B, Sharding(name="f", function=ring("crc32", 4, ("a", "b")), owners=(("b", 1), ("a", 2)))],
            'the slots of ring "f" are not on its members',
        ),
        ([A, Shard(name="s", source="a"), Table(name="t", placement=Reference(on=("a",)))], 'Write "s"'),
    ],
)
def test_a_catalog_made_in_python_is_checked_too(items, message):
    with pytest.raises(CatalogError, match=message) as caught:
        Catalog(items=items)
    assert caught.value.position is None


def test_shards_of_one_database_need_tables_of_their_own():
    parse(
        "CREATE SOURCE c{n} FOR n IN 0-3 URL 'mysql://u@h/d{n // 2}';"
        "CREATE SHARDING f USING MOD 4 ON c{slot};"
        "ATTACH TABLE t SHARD BY f (id) NAMED 't_{slot}'; ATTACH TABLE u SHARD BY f (id) NAMED '{shard}_u'"
    )


def test_changes_are_checked():
    catalog = Catalog(
        items=(A, BY, Table(name="t", placement=Sharded(sharding="f", keys=(ShardKey.of("x"),))))
    )
    with pytest.raises(CatalogError, match='there is no sharding "f"'):
        catalog.apply("DROP SHARDING f")
    with pytest.raises(CatalogError, match='1:17: sharding "f" is declared twice'):
        catalog.apply("CREATE SHARDING f USING MOD 3 ON a")

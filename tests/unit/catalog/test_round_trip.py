"""Whatever catalog there is, its text reads back as an equal one."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pytest
import sqlglot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from shardwise.catalog import parse
from shardwise.catalog.keys import evaluate
from shardwise.catalog.model import (
    Built,
    Catalog,
    Column,
    ColumnName,
    ColumnStatistics,
    IndexState,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Members,
    Reference,
    Scattered,
    Secret,
    Sequence,
    Shard,
    Sharded,
    ShardedWith,
    ShardFamily,
    Sharding,
    ShardKey,
    Single,
    Source,
    SourceFamily,
    Spelling,
    Stored,
    Table,
    TableStatistics,
    View,
)
from shardwise.catalog.shardings import (
    MAXVALUE,
    Hash,
    directory,
    exceptions,
    hash_function,
    interval,
    list_,
    mod,
    range_,
    ring,
    two_level,
)
from shardwise.errors import NotSupportedError


def expression(sql):
    return sqlglot.parse_one(sql, dialect="duckdb")


EVERYTHING = Catalog(
    name="every thing",
    dialect="duckdb",
    options={"a b": "it's", "c": "1"},
    items=(
        Source(name="main", url="duckdb:///x/main.duckdb", password=Secret(file="pw"), zone="z'1"),
        Source(name="a b", dialect="mysql", read_only=True, options={"x": "y"}),
        SourceFamily(
            pattern=Source(name="m{n:02}", url="mysql://u@h{n // 2}/d{n}", password=Secret(env="PW_{n}")),
            variable="n",
            members=Members((range(8), range(10, 11))),
        ),
        SourceFamily(
            pattern=Source(name="{c}_x", url="mysql://u@{c}/d"), variable="c", members=Members(("e'u", "us"))
        ),
        SourceFamily(pattern=Source(name="f_{t}", url="sqlite:///f/{t}.db"), variable="t"),
        SourceFamily(
            pattern=Source(name="q_{t}", url="sqlite:///q/{t}.db", options={"open_max": "9"}),
            variable="t",
            listing="SELECT name FROM tenants WHERE (state, x) IN ((1, ')'))",
        ),
        ShardFamily(pattern=Shard(name="s{n}", source="m{n:02}"), variable="n", members=Members((range(4),))),
        Shard(name="extra", source="a b", replicas=("m04",)),
        Sharding(name="by_mod", function=mod(4), levels=("n",), on="s{n}"),
        Sharding(
            name="by hash",
            function=exceptions(hash_function("cobar_string", 1024, {"slice": "0:8"}), ("k", "it's")),
            owners=(("s0", (1 << 512) - 1), ("s1", ((1 << 512) - 1) << 512)),
            moved=(("s2", 0b101 << 3 | 1 << 1025), ("extra", 1 << 1024)),
        ),
        Sharding(
            name="by_range",
            function=range_((-3, Decimal("2.50"), 7, MAXVALUE)),
            owners=(("s0", 0b0101), ("s1", 0b1010)),
        ),
        Sharding(
            name="by_date",
            function=range_((date(2025, 1, 1), datetime(2025, 1, 1, 12, 30, 0, 5))),
            owners=(("s0", 1), ("s1", 2)),
        ),
        Sharding(
            name="by_list", function=list_((("a", None), ("b",)), True), owners=(("s0", 0b101), ("s1", 0b10))
        ),
        Sharding(name="by_ring", function=ring("murmur3", 16, ("s3", "s0")), owners=(("s3", 1), ("s0", 2))),
        Sharding(
            name="by_two",
            function=two_level(mod(2), interval("DAY", date(2025, 1, 1), date(2025, 1, 31))),
            levels=("d", "m"),
            on="s{d}",
        ),
        Sharding(name="by_file", function=directory(), levels=("t",), on="f_{t}"),
        Table(
            name="t",
            created=True,
            columns=(
                Column(name="id", type="BIGINT", nullable=False, default="nextval('q')"),
                Column(name="primary", type="STRUCT(a INT, b VARCHAR[])"),
                Column(name="c", type="ENUM('a', 'b')", collation="de", default="'a'"),
                Column(name="epoch", type="DATE", stored=Stored.SECONDS, nullable=False),
                Column(name="at ms", type="TIMESTAMP", stored=Stored.MILLISECONDS, default="now()"),
                Column(name="at us", type="TIMESTAMPTZ", stored=Stored.MICROSECONDS),
                Column(name="julian", type="TIMESTAMP", stored=Stored.JULIAN),
                Column(name="lower", type="VARCHAR", collation="NOCASE"),
                Column(name="exact one", type="VARCHAR"),
                Column(name="up", type="TEXT"),
            ),
            primary_key=("id",),
            unique=(("c",), ("c", "primary")),
            unique_across=(("c",),),
            exact=(("lower", Spelling.LOWER), ("exact one", Spelling.AS_IT_IS), ("UP", Spelling.UPPER)),
            placement=Sharded(sharding="by_mod", keys=(ShardKey.of("id"),)),
            named="t_{n:02}",
            drift="FILL",
        ),
        Table(
            name="keys",
            placement=Sharded(
                sharding="by_mod",
                keys=(
                    ShardKey(parts=(expression("CAST(LEFT(a, 2) AS BIGINT)"),)),
                    ShardKey(parts=(expression("b >> 3"),), by_slot=True),
                    ShardKey.of("x y"),
                ),
            ),
        ),
        Table(name="logs", schema="s", placement=Sharded(sharding="by_two", keys=(ShardKey.of("u", "at"),))),
        Table(name="child", placement=ShardedWith(parent="s.logs", column="l", parent_column="id")),
        Table(
            name="*",
            schema="crm",
            placement=Sharded(
                sharding="by_file",
                keys=(ShardKey.of("tenant"),),
                virtual=(Column(name="tenant", type="TEXT", nullable=False),),
            ),
        ),
        Table(name="a.b", placement=Scattered(sharding="by_list")),
        Table(name="ref", placement=Reference(on=("by_mod",))),
        Table(name="ref2", placement=Reference(on=("s1", "extra"))),
        Table(name="*", placement=Single(on="main"), drift="ERROR"),
        View(name="v", sql="SELECT ';' AS \"x y\" FROM t", columns=("select",)),
        LookupIndex(name="i", table="t", columns=("c",), unique=True),
        LookupIndex(name="j", table="t", columns=("c",), index_table="main_t", index_columns=("c", "k")),
        JoinIndex(
            name="k",
            left=ColumnName(table="t", column="c"),
            right=ColumnName(table="s.logs", column="u"),
            include=(ColumnName(table="t", column="id"),),
            sharding="by_mod",
            key=ColumnName(table="t", column="id"),
        ),
        Sequence(name="q", cache=7, start=3, on="main"),
        LockedTable(
            name="keys",
            columns=(
                Column(name="a", type="VARCHAR", nullable=False),
                Column(name="b", type="some_enum"),
                Column(name="x y", type="INT"),
            ),
            primary_key=("b",),
            unique=(("b",), ("a", "b")),
            rows=12,
            read_at="2026-11-30T12:00:00Z",
        ),
        IndexState(name="i", state=Built.BUILDING),
        IndexState(name="k", state=Built.VALID, built_at="2026-11-30", rows=0, fingerprint="a'b"),
        IndexState(name="valid", state=Built.DROPPING),
        TableStatistics(
            name="keys",
            rows=12,
            source="sample",
            read_at="2026-12-01T00:10:00Z",
            columns={
                "a": ColumnStatistics(distinct=3, nulls=0.25, width=2.5, common=(("x'", 0.5),)),
                "x y": ColumnStatistics(bounds=("1", "2")),
            },
        ),
    ),
)


def test_a_catalog_of_everything_made_in_python():
    text = EVERYTHING.to_sql()
    again = parse(text)
    assert [a for a, b in zip(EVERYTHING.items, again.items, strict=True) if a != b] == []
    assert again == EVERYTHING
    assert again.to_sql() == text
    assert again.table("keys").columns[0].name == "a"


class Odd:
    """A sharding function that has no text."""

    arity, size, is_ordered = 1, 2, False

    def labels(self, slot):
        return (slot,)


def test_what_has_no_text():
    source = Source(name="a", dialect="duckdb")
    with pytest.raises(NotSupportedError, match="a sharding by Odd has no text"):
        Catalog(items=(source, Sharding(name="f", function=Odd(), on="a"))).to_sql()
    by_bytes = Sharding(name="f", function=range_((b"x",)), owners=(("a", 1),))
    with pytest.raises(NotSupportedError, match="a constant of type bytes has no text"):
        Catalog(items=(source, by_bytes)).to_sql()


# ------------------------------------------------------------------ by chance

names = st.text(alphabet="abN_ \"'.0é", min_size=1, max_size=5).filter(lambda text: not text.startswith("0"))
texts = st.text(alphabet="ab' ;-/*é%", max_size=6)
types = st.sampled_from(
    ["INT", "DECIMAL(12,2)", "VARCHAR", "TIMESTAMP WITH TIME ZONE", "INT[]", "ENUM('a;', 'b')"]
)
defaults = st.sampled_from([None, "1", "'x;'", "(1 + 2) * 3", "now()", "-1", "NULL"])
columns = st.builds(
    Column,
    name=names,
    type=types,
    nullable=st.booleans(),
    collation=st.none() | names,
    default=defaults,
    stored=st.none() | st.sampled_from(Stored),
).map(lambda each: each if each.type.startswith("TIMESTAMP") else replace(each, stored=None))
values = st.one_of(
    st.integers(-1000, 1000),
    st.decimals(-100, 100, places=2, allow_nan=False),
    texts.map(lambda text: text + "z"),
)


@st.composite
def maps(draw, shards):
    """A function and the owners of its slots."""
    kind = draw(st.integers(0, 4))
    if kind == 0:
        function = mod(draw(st.integers(1, 40)))
    elif kind == 1:
        function = hash_function(
            draw(st.sampled_from(["crc32", "md5", "fnv1a"])), draw(st.integers(1, 40)), {}
        )
    elif kind == 2:
        bounds = sorted(set(draw(st.lists(st.integers(-99, 99), min_size=1, max_size=5))))
        function = range_((*bounds, MAXVALUE))
    elif kind == 3:
        listed = draw(st.lists(st.integers(-99, 99), min_size=1, max_size=6, unique=True))
        function = list_([(value,) for value in listed], draw(st.booleans()))
    else:
        function = two_level(mod(draw(st.integers(1, 5))), mod(draw(st.integers(1, 5))))
    slots = [draw(st.sampled_from(shards)) for _ in range(function.size)]
    owners = {
        shard: sum(1 << n for n, owner in enumerate(slots) if owner == shard)
        for shard in dict.fromkeys(slots)
    }
    levels = ("x", "y") if kind == 4 else ("slot",)
    return Sharding(name="f", function=function, owners=tuple(owners.items()), levels=levels)


@st.composite
def catalogs(draw):
    sources = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.casefold))
    items = [Source(name=each, dialect="duckdb", options={draw(names): draw(texts)}) for each in sources]
    sharding = draw(maps([each.name for each in items]).filter(lambda each: "f" not in sources))
    items.append(sharding)
    for name in draw(st.lists(names, max_size=3, unique_by=str.casefold)):
        described = draw(
            st.lists(columns, min_size=1, max_size=4, unique_by=lambda each: each.name.casefold())
        )
        keys = draw(st.lists(st.sampled_from(described), max_size=2, unique=True))
        arity = sharding.function.arity
        by_key = Sharded(sharding="f", keys=(ShardKey.of(*[each.name for each in described][:1] * arity),))
        kinds = ("INT", "VARCHAR", "DECIMAL(12,2)")[:: 1 if isinstance(sharding.function, Hash) else 2]
        whole = described[0].type in kinds
        places = [
            Single(on=sources[0]),
            Reference(on=tuple(sources)),
            Scattered(sharding="f"),
            *[by_key][:whole],
        ]
        items.append(
            Table(
                name=name,
                schema=draw(st.none() | names.filter(lambda text: "." not in text)),
                columns=tuple(described),
                primary_key=tuple(each.name for each in keys),
                placement=draw(st.sampled_from(places)),
                created=draw(st.booleans()),
            )
        )
    options = draw(st.dictionaries(names, texts, max_size=2))
    return Catalog(name=draw(names), options=options, items=items)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(catalogs())
def test_any_catalog(catalog):
    text = catalog.to_sql()
    again = parse(text)
    assert again == catalog
    assert again.to_sql() == text


@pytest.mark.parametrize(
    ("part", "value", "result"),
    [
        (exp.IntDiv(this=exp.column("k"), expression=exp.Literal.number(100)), 1502, 15),
        (exp.Mod(this=exp.column("k"), expression=exp.Literal.number(100)), 1502, 2),
        (exp.Month(this=exp.column("k")), date(2025, 3, 4), 3),
        (exp.Year(this=exp.column("k")), date(2025, 3, 4), 2025),
        (exp.cast(exp.Right(this=exp.column("k"), expression=exp.Literal.number(2)), "BIGINT"), "A07", 7),
    ],
)
@pytest.mark.parametrize(
    ("dialect", "url"), [("duckdb", "duckdb:///"), ("mysql", "mysql://h/"), ("postgres", "postgresql://h/")]
)
def test_a_key_that_infer_writes_is_evaluated(dialect, url, part, value, result):
    head = (
        f"CREATE CATALOG c DIALECT {dialect}; CREATE SOURCE a URL '{url}a'; CREATE SOURCE b URL '{url}b';"
        "CREATE SHARDING f USING MOD 2 (a = 0, b = 1);"
    )
    catalog = parse(f"{head} ATTACH TABLE t SHARD BY f (({part.sql(dialect)}));")
    ((read,),) = [key.parts for key in catalog.table("t").placement.keys]
    assert evaluate(read, {"k": value}, dialect) == result

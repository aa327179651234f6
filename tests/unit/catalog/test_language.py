"""Reading the language: what a text means, and that no word is reserved."""

import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

import shardwise.catalog
from shardwise.catalog import is_management, parse
from shardwise.catalog.model import (
    Built,
    Column,
    ColumnName,
    IndexState,
    JoinIndex,
    LockedTable,
    LookupIndex,
    Reference,
    Scattered,
    Secret,
    Sequence,
    Sharded,
    ShardedWith,
    Single,
    Table,
    View,
)
from shardwise.catalog.shardings import (
    MAXVALUE,
    exceptions,
    hash_function,
    interval,
    list_,
    mod,
    range_,
    two_level,
)
from shardwise.catalog.text import language
from shardwise.errors import CatalogError

AB = (
    "CREATE SOURCE a DIALECT duckdb; CREATE SOURCE b DIALECT duckdb;"
    "CREATE SHARDING f USING MOD 4 (a = 0-1, b = 2-3);"
)


def last(text: str):
    return parse(AB + text).items[-1]


def test_the_grammar_has_no_conflict_and_no_two_terminals_that_collide(monkeypatch):
    pytest.importorskip("interegular")
    monkeypatch.setattr("lark.lexer.has_interegular", True)
    language(strict=True)


def keywords() -> list[str]:
    grammar = Path(shardwise.catalog.__file__).with_name("language.lark").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"^_?[A-Z]+\.2: /([a-z]+)", grammar, re.MULTILINE)))


@pytest.mark.parametrize("word", keywords())
def test_no_word_is_reserved(word):
    level = f"my_{word}" if word in ("table", "shard") else word  # templates use these two
    catalog = parse(
        f"CREATE CATALOG {word}; CREATE SOURCE {word} DIALECT duckdb WITH ({word} = {word});"
        f"CREATE SOURCE {word}_{{{word}}} FOR {word} IN 0-3 DIALECT duckdb;"
        f"CREATE SHARD {word}1 ON {word};"
        f"CREATE SHARDING {word} USING MOD 2 AS {level} ({word}1 = 0, {word}_1 = 1);"
        f"CREATE TABLE {word}.{word} ({word} INT NOT NULL) SHARD BY {word} ({word}) NAMED 'x_{{{level}}}';"
        f"ATTACH TABLE {word} ON {word}1; ATTACH TABLE x REFERENCE ON {word}1, {word}_2;"
        f"CREATE SEQUENCE {word} ON {word}1; CREATE VIEW w ({word}) AS SELECT 1 FROM t"
    )
    assert parse(catalog.to_sql()) == catalog
    assert catalog.table(word, word).column(word).type == "INT"


def test_letter_case_and_comments():
    catalog = parse("/* a */ create source A dialect duckdb; -- b\nAttach Table T /* c ; ' */ on A -- d")
    assert catalog == parse("CREATE SOURCE A DIALECT duckdb; ATTACH TABLE T ON A;;")
    assert catalog.table("t").name == "T"


def test_quotes():
    catalog = parse(
        'CREATE SOURCE "a b" DIALECT duckdb; ATTACH TABLE "x ""y""" ("c d" INT) ON "a b" NAMED \'it\'\'s\''
    )
    table = catalog.table('X "Y"')
    assert (table.named, table.columns[0].name, table.placement.on) == ("it's", "c d", "a b")
    assert parse(catalog.to_sql()) == catalog


def test_a_source():
    source = parse(
        "CREATE SOURCE x READ ONLY ZONE 'eu' WITH (a = 1, b = c, d = 'e') PASSWORD ENV 'PW' URL 'mariadb://u@h:3306/d'"
    ).source("x")
    assert (source.read_only, source.zone, source.password) == (True, "eu", Secret(env="PW"))
    assert dict(source.options) == {"a": "1", "b": "c", "d": "e"}
    assert (source.scheme, source.sql_dialect) == ("mariadb", "mysql")


@pytest.mark.parametrize(
    ("text", "function", "owners"),
    [
        ("MOD 2 (a = 0, b = 1)", mod(2), (("a", 1), ("b", 2))),
        ("MOD 4 (a = (0, 2-3), b = 1)", mod(4), (("a", 13), ("b", 2))),
        ("MOD 4 (a = 0, b = 1, a = 2-3)", mod(4), (("a", 13), ("b", 2))),
        ("HASH(fnv1a) SLOTS 2 (a = 0-1)", hash_function("fnv1a", 2, {}), (("a", 3),)),
        (
            "HASH(crc32, sign = 'abs') SLOTS 1 (a = 0)",
            hash_function("crc32", 1, {"sign": "abs"}),
            (("a", 1),),
        ),
        ("RANGE (a = LESS THAN -5, b = LESS THAN 2.5)", range_((-5, Decimal("2.5"))), (("a", 1), ("b", 2))),
        ("RANGE (a = LESS THAN 'x', b = LESS THAN MAXVALUE)", range_(("x", MAXVALUE)), (("a", 1), ("b", 2))),
        ("RANGE (a = LESS THAN DATE '2025-01-31')", range_((date(2025, 1, 31),)), (("a", 1),)),
        (
            "RANGE (a = LESS THAN TIMESTAMP '2025-01-31 12:00:00')",
            range_((datetime(2025, 1, 31, 12),)),
            (("a", 1),),
        ),
        ("LIST (a = IN (1, 2), b = IN (NULL, 3))", list_(((1, 2), (None, 3))), (("a", 1), ("b", 2))),
        ("LIST (a = DEFAULT, b = IN (TRUE))", list_(((True,),), True), (("b", 1), ("a", 2))),
        ("INTERVAL MONTH TO '0001-02-01' (a = 0-1)", interval("MONTH", None, date(1, 2, 1)), (("a", 3),)),
        ("MOD 2 AS x, MOD 2 AS y (a = 0-3)", two_level(mod(2), mod(2)), (("a", 15),)),
    ],
)
def test_shardings(text, function, owners):
    sharding = last(f"CREATE SHARDING x USING {text}")
    assert sharding.function == function
    assert sharding.owners == owners


def test_exceptions_of_a_sharding():
    sharding = last(
        "CREATE SHARDING x USING MOD 4 ON a EXCEPT (b = (1, 3), "
        "b = KEY IN (8), a = KEY IN (9, 10), b = KEY IN (11))"
    )
    assert sharding.function == exceptions(mod(4), (8, 9, 10, 11))
    assert [sharding.shard_of(sharding.function.slot((key,))) for key in (8, 9, 10, 11, 12, 13)] == list(
        "baabab"
    )
    assert sharding.slots_of("b") == 0b10011010


@pytest.mark.parametrize(
    ("text", "placement"),
    [
        ("SCATTERED ON f", Scattered(sharding="f")),
        ("REFERENCE ON f", Reference(on=("f",))),
        ("REFERENCE ON a, b", Reference(on=("a", "b"))),
        ("ON b", Single(on="b")),
        ("SHARD WITH p ON x = p.id", ShardedWith(parent="p", column="x", parent_column="id")),
        ("SHARD WITH p ON p.id = x", ShardedWith(parent="p", column="x", parent_column="id")),
        ("SHARD WITH s.p ON x = s.p.id", ShardedWith(parent="s.p", column="x", parent_column="id")),
        ("SHARD WITH s.p ON x = p.id", ShardedWith(parent="s.p", column="x", parent_column="id")),
    ],
)
def test_placements(text, placement):
    parents = "ATTACH TABLE p SHARD BY f (k); ATTACH TABLE s.p SHARD BY f (k);"
    assert last(f"{parents} ATTACH TABLE t {text}").placement == placement


def test_keys():
    table = last('ATTACH TABLE t SHARD BY f ((a >> 4)) ALSO BY SLOT (CAST(LEFT(b, 2) AS INT)) ALSO BY ("C")')
    assert isinstance(table.placement, Sharded)
    first, second, third = table.placement.keys
    assert [first.by_slot, second.by_slot, third.by_slot] == [False, True, False]
    assert first.parts[0].sql("duckdb") == "a >> 4"
    assert second.parts[0].sql("duckdb") == "CAST(LEFT(b, 2) AS INT)"
    assert third.parts[0].name == "C"


def test_columns():
    table = last(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, a DECIMAL(12,2) DEFAULT (1 + 2) * 3 NOT NULL, "
        "b VARCHAR(3) UNIQUE COLLATE nocase, "
        "c STRUCT(x INT, y VARCHAR[]), d ENUM('x', 'y') NULL DEFAULT 'x', "
        "e TIMESTAMP WITH TIME ZONE, UNIQUE (a, b)) ON a"
    )
    assert table == Table(
        name="t",
        columns=(
            Column(name="id", type="BIGINT", nullable=False),
            Column(name="a", type="DECIMAL(12,2)", nullable=False, default="(1 + 2) * 3"),
            Column(name="b", type="VARCHAR(3)", collation="nocase"),
            Column(name="c", type="STRUCT(x INT, y VARCHAR[])"),
            Column(name="d", type="ENUM('x', 'y')", default="'x'"),
            Column(name="e", type="TIMESTAMP WITH TIME ZONE"),
        ),
        placement=Single(on="a"),
        primary_key=("id",),
        unique=(("id",), ("b",), ("a", "b")),
        created=True,
    )
    assert table.unique[0] == ("id",)
    assert table.column("ID").type == "BIGINT"
    assert table.column("x") is None


def test_a_primary_key_may_hold_nulls_if_it_says_so():
    assert last("ATTACH TABLE t (x INT NULL PRIMARY KEY) ON a").columns[0].nullable
    assert not last("ATTACH TABLE t (x INT, PRIMARY KEY (X)) ON a").columns[0].nullable


def test_many_tables_in_one_statement():
    catalog = parse(AB + "ATTACH TABLE x, s.y, s.* ON a")
    assert [(each.schema, each.name) for each in catalog.items[-3:]] == [(None, "x"), ("s", "y"), ("s", "*")]


def test_indexes_views_sequences_locks():
    catalog = parse(
        AB + "ATTACH TABLE t SHARD BY f (k); ATTACH TABLE u ON a;"
        "CREATE UNIQUE LOOKUP INDEX i ON t (x); ATTACH LOOKUP INDEX j ON t (x, y) USING TABLE u (x, y, k);"
        "CREATE JOIN INDEX k ON t.x = u.y INCLUDE (t.z) SHARD BY f (t.k);"
        "CREATE SEQUENCE s START 5 CACHE 10 ON a; CREATE SEQUENCE r;"
        "CREATE VIEW v (n) AS SELECT ';', 1 -- x\n + 1 FROM t;"
        "LOCK TABLE z (k BIGINT NOT NULL, PRIMARY KEY (k)) ROWS 12 READ AT '2026-11-30T12:00:00Z';"
        "LOCK INDEX i building; LOCK INDEX k VALID BUILT AT '2026-11-30T12:00:00Z' ROWS 7 FINGERPRINT 'ab'"
    )
    assert catalog.items[5:] == (
        LookupIndex(name="i", table="t", columns=("x",), unique=True),
        LookupIndex(name="j", table="t", columns=("x", "y"), index_table="u", index_columns=("x", "y", "k")),
        JoinIndex(
            name="k",
            left=ColumnName(table="t", column="x"),
            right=ColumnName(table="u", column="y"),
            include=(ColumnName(table="t", column="z"),),
            sharding="f",
            key=ColumnName(table="t", column="k"),
        ),
        Sequence(name="s", start=5, cache=10, on="a"),
        Sequence(name="r"),
        View(name="v", columns=("n",), sql="SELECT ';', 1 -- x\n + 1 FROM t"),
        LockedTable(
            name="z",
            columns=(Column(name="k", type="BIGINT", nullable=False),),
            primary_key=("k",),
            rows=12,
            read_at="2026-11-30T12:00:00Z",
        ),
        IndexState(name="i", state=Built.BUILDING),
        IndexState(name="k", state=Built.VALID, built_at="2026-11-30T12:00:00Z", rows=7, fingerprint="ab"),
    )
    assert [each.name for each in catalog.lookup_indexes(catalog.table("t"))] == ["i", "j"]
    assert [each.name for each in catalog.join_indexes()] == ["k"]
    assert catalog.sequence("S").start == 5
    assert parse(catalog.to_sql()) == catalog


def test_key_expressions_and_views_are_read_in_the_catalogs_dialect():
    text = (
        "CREATE CATALOG c DIALECT mysql; CREATE SOURCE a DIALECT mysql; CREATE SHARDING f USING MOD 2 ON a;"
    )
    table = parse(text + "ATTACH TABLE t SHARD BY f (CAST(`a b` AS UNSIGNED))").table("t")
    assert "UNSIGNED" in table.placement.keys[0].parts[0].sql("mysql")
    parse(text + "CREATE VIEW v AS SELECT `a` FROM t WHERE a <=> 1")


def test_columns_that_a_dialect_of_a_source_has():
    parse("CREATE SOURCE a DIALECT mysql; ATTACH TABLE t (x BIGINT UNSIGNED, y MEDIUMTEXT) ON a")
    parse("CREATE SOURCE a DIALECT sqlite; ATTACH TABLE t (x, y DEFAULT 1) ON a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("create sharding x using mod 2", True),
        ("-- a\n /* b */ CREATE OR REPLACE VIEW v AS SELECT 1", True),
        ("ATTACH TABLE t ON a", True),
        ("ATTACH 'file.db' AS x", False),
        ("DROP LOOKUP INDEX i", True),
        ("STATISTICS t ROWS 1", True),
        ("CREATE INDEX i ON t (x)", False),
        ("CREATE TABLES", False),
        ("SELECT 1", False),
        ("", False),
    ],
)
def test_is_management(text, expected):
    assert is_management(text) is expected


def test_an_empty_text_is_an_empty_catalog():
    assert parse("").items == ()
    assert parse(" -- nothing\n ; ;").items == ()
    with pytest.raises(
        CatalogError,
        match='1:1: expected ";", ATTACH, CREATE, DROP, INCLUDE, LOCK, STATISTICS or the end, found',
    ):
        parse("SELECT 1")

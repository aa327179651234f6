"""The catalog's questions: tables, sources, shards, homes and partitions; and its changes."""

from datetime import date
from time import thread_time

import pytest
from sqlglot import exp

from shardwise.catalog import parse
from shardwise.catalog.model import (
    Catalog,
    Column,
    LockedTable,
    Members,
    Shard,
    ShardKey,
    Single,
    Source,
    SourceFamily,
    Table,
    View,
)
from shardwise.catalog.templates import Template
from shardwise.errors import CatalogError, NotSupportedError, UnknownName

SHOP = """
CREATE CATALOG shop DIALECT mysql WITH (store = main);
CREATE SOURCE main URL 'mysql://app@h/shop';
CREATE SOURCE db_{n:02} FOR n IN 0-7 URL 'mysql://r@10.0.{n // 4}.20/db_{n:02}'
  PASSWORD ENV 'PW_{n}' ZONE 'z{n % 2}';
CREATE SOURCE {c}_eu FOR c IN 'de', 'fr' URL 'mysql://r@{c}/x';
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:////srv/{tenant}.db';
CREATE SOURCE m{n} FOR n IN 0-3 URL 'mysql://app@m{n}/bank';
CREATE SOURCE m{n}_r FOR n IN 0-3 URL 'mysql://app@m{n}-r/bank';
CREATE SHARD s{n} FOR n IN 0-3 ON m{n} REPLICAS (m{n}_r);
CREATE SHARDING by_user USING MOD 64 AS n ON db_{n // 8:02};
CREATE SHARDING by_two USING MOD 4 AS d, INTERVAL MONTH FROM '2025-01-01' TO '2025-03-01' AS m ON s{d};
CREATE SHARDING moved USING MOD 8 ON s{slot // 4} EXCEPT (s3 = (1, 6), s2 = KEY IN (3));
CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
ATTACH TABLE orders SHARD BY by_user (user_id) NAMED 'orders_{n:02}';
ATTACH TABLE items SHARD WITH orders ON order_id = orders.id NAMED 'items_{n:02}';
ATTACH TABLE notes SHARD WITH items ON item_id = items.id;
ATTACH TABLE logs SHARD BY by_two (u, at) NAMED 'l.{table}_{m:%Y%m}_{shard}';
ATTACH TABLE things SHARD BY moved (id) NAMED 'things_{slot % 2}';
ATTACH TABLE audit SCATTERED ON by_user;
ATTACH TABLE cities REFERENCE ON moved;
ATTACH TABLE towns REFERENCE ON s1, s0;
ATTACH TABLE crm.* SHARD BY by_file (tenant TEXT VIRTUAL);
ATTACH TABLE x.y ON main;
ATTACH TABLE * ON main;
CREATE VIEW v AS SELECT 1;
"""


@pytest.fixture(scope="module")
def shop():
    return parse(SHOP)


def test_names(shop):
    assert (shop.name, shop.dialect, dict(shop.options)) == ("shop", "mysql", {"store": "main"})
    assert shop.table("ORDERS").name == "orders"
    assert shop.table("y") is None
    assert shop.table("Y", "X").full_name == "x.y"
    assert isinstance(shop.table("v"), View)
    assert shop.table("v", "x") is None
    assert [each.name for each in shop.tables()][:3] == ["orders", "items", "notes"]
    assert shop.relation("x.y") is shop.table("y", "x")


def test_homes(shop):
    assert shop.homes(shop.table("orders")) == tuple(f"db_{n:02}" for n in range(8))
    assert shop.homes(shop.table("notes")) == shop.homes(shop.table("orders"))
    assert shop.homes(shop.table("audit")) == shop.homes(shop.table("orders"))
    assert shop.homes(shop.table("cities")) == ("s0", "s3", "s1", "s2")
    assert shop.homes(shop.table("towns")) == ("s1", "s0")
    assert shop.homes(shop.table("y", "x")) == ("main",)


def test_partitions(shop):
    orders = shop.table("orders")
    assert shop.is_slot_grain(orders)
    assert shop.partitions(orders, "db_03") == tuple(f"orders_{n}" for n in range(24, 32))
    assert shop.partitions(orders, "db_03", 1 << 25 | 1 << 24 | 1 << 5) == ("orders_24", "orders_25")
    assert shop.partitions(orders, "db_03", 1) == ()
    assert shop.partitions(shop.table("items"), "db_00", 2) == ("items_01",)
    assert not shop.is_slot_grain(shop.table("notes"))
    assert shop.partitions(shop.table("notes"), "db_00", 2) == ("notes",)
    assert shop.partitions(shop.table("y", "x"), "main") == ("x.y",)
    assert shop.partitions(shop.table("logs"), "s1") == (
        "l.logs_202501_s1",
        "l.logs_202502_s1",
        "l.logs_202503_s1",
    )
    things = shop.table("things")  # slots 4, 5 and 7 of s1 share two tables
    assert shop.partitions(things, "s1") == ("things_0", "things_1")
    assert shop.partitions(things, "s1", 1 << 7) == ("things_1",)


def test_shard_maps(shop):
    moved = shop.sharding("moved")
    assert [moved.shard_of(slot) for slot in range(9)] == [
        "s0",
        "s3",
        "s0",
        "s0",
        "s1",
        "s1",
        "s3",
        "s1",
        "s2",
    ]
    assert moved.shards() == ("s0", "s3", "s1", "s2")
    assert moved.slots_of("s3") == 1 << 1 | 1 << 6
    assert moved.slots_of("elsewhere") == 0
    assert moved.shards_of(1 << 6 | 1) == ("s0", "s3")
    assert moved.shards_of(1 << 9) == ()
    assert moved.shards_of(0b111111111) == moved.shards()
    assert moved.shards_of(0b011110000) == ("s3", "s1")
    assert moved.function.slot((3,)) == 8
    with pytest.raises(CatalogError, match="no shard for slot 9"):
        moved.shard_of(9)


def test_a_key_with_its_own_place_keeps_its_table_name(shop):
    things = shop.table("things")
    assert shop.partitions(things, "s2") == ("things_1",)  # 3 is in things_1, wherever that is


def test_two_levels(shop):
    by_two = shop.sharding("by_two")
    slot = by_two.function.slot((5, date(2025, 2, 7)))
    assert by_two.variables(slot) == {"d": 1, "m": date(2025, 2, 1)}
    assert by_two.shard_of(slot) == "s1"
    assert by_two.slots_of("s1") == 0b111000


@pytest.mark.parametrize("on", ["s{d}", "s{m:%d}", "s{d // 9}", "s{d - d}{m:%d}", "s9"])
def test_templates_over_one_level_are_filled_like_others(on):
    sharding = parse(SHOP).sharding("by_two")
    moved = type(sharding)(name="x", function=sharding.function, levels=sharding.levels, on=on)
    expected = [Template.parse(on).render(moved.variables(slot)) for slot in range(12)]
    assert list(moved.slot_map) == expected


def test_moving_slots(shop):
    sharding = shop.sharding("by_user").with_moved(0b11, "db_07").with_moved(0b10, "db_06")
    changed = shop.with_(sharding)
    assert [changed.sharding("by_user").shard_of(slot) for slot in (0, 1, 2)] == ["db_07", "db_06", "db_00"]
    assert parse(changed.to_sql()) == changed
    assert changed != shop
    assert changed.version == shop.version + 1


def test_sources(shop):
    source = shop.source("db_05")
    assert (source.url, source.zone, source.password.env) == ("mysql://r@10.0.1.20/db_05", "z1", "PW_5")
    assert shop.source("de_eu").url == "mysql://r@de/x"
    assert shop.source("file_acme").url == "sqlite:////srv/acme.db"
    for name in ("db_8", "db_08", "DB_05", "es_eu", "nothing", "file_"):
        assert shop.find_source(name) is None
    with pytest.raises(UnknownName, match=r'there is no source "db_8". Did you mean'):
        shop.source("db_8")
    assert len(list(shop.sources())) == 1 + 8 + 2 + 4 + 4


def test_a_member_of_an_open_family_leads_nowhere_else(shop):
    for member in ("../x", "a/b", ".hidden", "a\\b", "a\0b", "{tenant}"):
        assert shop.find_source(f"file_{member}") is None


def test_shards(shop):
    assert shop.shard("s2") == Shard(name="s2", source="m2", replicas=("m2_r",))
    assert shop.shard("db_03") == Shard(name="db_03", source="db_03")
    assert shop.source_of("s2") == "m2"
    assert shop.find_shard("m2") is None  # it is s2's
    assert shop.find_shard("m2_r") is None
    assert shop.shard_on("m2_r").name == "s2"
    with pytest.raises(UnknownName, match=r'there is no shard "s4"'):
        shop.shard("s4")
    with pytest.raises(UnknownName, match=r'there is no sharding "by_usr". Did you mean "by_user"'):
        shop.sharding("by_usr")
    names = [each.name for each in shop.shards()]
    assert names[:5] == ["s0", "s1", "s2", "s3", "main"]
    assert len(names) == 4 + 1 + 8 + 2


def test_shards_have_one_order(shop):
    names = [each.name for each in shop.shards()]
    assert list(shop.ordered(reversed(names))) == names
    assert shop.ordered(["file_b", "file_a", "s1"]) == ("s1", "file_a", "file_b")


def test_a_directory_is_not_listed_here(shop):
    with pytest.raises(NotSupportedError, match="are not listed"):
        shop.homes(shop.wildcard("t", "crm"))


def test_unbounded_intervals_are_not_gone_through():
    catalog = parse(
        "CREATE SOURCE a DIALECT duckdb; CREATE SHARDING f USING INTERVAL MONTH AS m ON a;"
        "ATTACH TABLE t SHARD BY f (at) NAMED 't_{m:%Y%m}'"
    )
    t, f = catalog.table("t"), catalog.sharding("f")
    assert catalog.partitions(t, "a", f.function.slots((date(2025, 5, 6),))) == ("t_202505",)
    with pytest.raises(NotSupportedError, match="Give the INTERVAL of its sharding bounds"):
        catalog.partitions(t, "a")


# ------------------------------------------------------------------ the lock, wildcards, changes


def test_the_lock_fills_columns_in(shop):
    locked = shop.apply(
        "LOCK TABLE Orders (id BIGINT NOT NULL, user_id BIGINT, PRIMARY KEY (id)) ROWS 5;"
        "LOCK TABLE odd (x INT);"
        "LOCK TABLE crm.contacts (x INT); LOCK TABLE other.t (x INT)"
    )
    orders = locked.table("orders")
    assert orders.name == "orders"
    assert [each.name for each in orders.columns] == ["id", "user_id"]
    assert (orders.primary_key, orders.unique) == (("id",), (("id",),))
    assert orders.named == "orders_{n:02}"
    assert locked.table("odd").placement == Single(on="main")
    assert locked.table("contacts", "crm").placement.sharding == "by_file"
    assert locked.table("t", "other").placement == Single(on="main")
    assert shop.table("odd") is None
    assert parse(locked.to_sql()) == locked
    assert "LOCK" not in locked.to_sql(locked=False)
    assert parse(locked.to_sql(locked=False)) == shop
    again = locked.apply("LOCK TABLE odd (x INT, y INT)")
    assert len(again.table("odd").columns) == 2


def test_a_locked_key_column_that_does_not_exist(shop):
    with pytest.raises(CatalogError, match='table "orders" has no column "user_id"'):
        shop.apply("LOCK TABLE orders (id BIGINT)")


def test_declared_columns_win_over_the_lock():
    catalog = parse("CREATE SOURCE a DIALECT duckdb; ATTACH TABLE t (x INT) ON a; LOCK TABLE t (y INT)")
    assert [each.name for each in catalog.table("t").columns] == ["x"]


def test_wildcards(shop):
    assert shop.wildcard("foo").placement == Single(on="main")
    assert shop.wildcard("foo", "CRM").full_name == "CRM.foo"
    assert {each.full_name for each in shop.wildcards()} == {"*", "crm.*"}
    assert parse("CREATE SOURCE a DIALECT duckdb").wildcard("foo") is None


def test_statements(shop):
    catalog = shop.apply(
        "CREATE VIEW w AS SELECT 2; DROP VIEW v; DROP TABLE IF EXISTS nothing; DROP TABLE x.y"
    )
    assert (catalog.table("v"), catalog.table("y", "x")) == (None, None)
    assert catalog.apply("CREATE OR REPLACE VIEW w AS SELECT 3").table("w").sql == "SELECT 3"
    with pytest.raises(CatalogError, match=r'there is no sequence "s" to drop'):
        catalog.apply("DROP SEQUENCE s")
    with pytest.raises(CatalogError, match="a catalog has one CREATE CATALOG"):
        catalog.apply("CREATE CATALOG x DIALECT duckdb")
    with pytest.raises(CatalogError, match=r'there is no shard "main"'):
        catalog.apply("DROP SOURCE main")
    assert catalog.version == shop.version + 1
    assert shop.table("v") is not None


def test_objects_in_and_out(shop):
    t = Table(name="T", placement=Single(on="main"), columns=(Column(name="x", type="INT"),))
    catalog = shop.with_(t)
    assert catalog.table("t") == t
    assert catalog.with_(Table(name="t", placement=Single(on="s1"))).table("t").placement.on == "s1"
    assert catalog.without(t) == shop
    assert hash(catalog.without(t)) == hash(shop)
    assert catalog.without(t).version != shop.version


def test_equality_is_of_what_is_declared():
    a = parse("CREATE SOURCE a DIALECT duckdb; ATTACH TABLE t ON a; ATTACH TABLE u ON a")
    b = parse("CREATE SOURCE a DIALECT duckdb; ATTACH TABLE u ON a; ATTACH TABLE t ON a")
    assert a == b
    assert a != parse("CREATE SOURCE a DIALECT duckdb; ATTACH TABLE t ON a")
    assert a != "a"
    first, second = "CREATE SOURCE a DIALECT duckdb;", "CREATE SOURCE b DIALECT duckdb;"
    assert parse(first + second) != parse(second + first)  # the order of shards is part of it


def test_keys_of_plain_columns_ignore_quotes():
    quoted = exp.column(exp.to_identifier("id", quoted=True))
    assert ShardKey(parts=(quoted,)) == ShardKey.of("id")


# ------------------------------------------------------------------ places


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("sqlite:///x.db", "sqlite:////base/x.db"),
        ("sqlite:///../x.db?mode=ro", "sqlite:////x.db?mode=ro"),
        ("sqlite:////abs/x.db", "sqlite:////abs/x.db"),
        ("duckdb:///:memory:", "duckdb:///:memory:"),
        ("parquet:///dir/", "parquet:////base/dir"),
        ("mysql://h/d", "mysql://h/d"),
        ("sqlite://", "sqlite://"),
        (None, None),
    ],
)
def test_locations(url, location):
    assert Source(name="x", url=url, dialect="duckdb").location("/base") == location


def test_members():
    members = Members((range(3, 6), "eu", range(9, 10)))
    assert list(members) == [3, 4, 5, "eu", 9]
    assert len(members) == 5
    assert [members.index(value) for value in members] == list(range(5))
    assert [members.find(text) for text in ("4", "9", "eu", "6", "EU", "²")] == [4, 9, "eu", None, None, None]
    with pytest.raises(ValueError, match="7"):
        members.index(7)


def test_a_family_of_ten_thousand_costs_nothing():
    parse("CREATE SOURCE a DIALECT duckdb")
    start = thread_time()
    catalog = parse(
        "CREATE SOURCE db_{n:04} FOR n IN 0-9999 URL 'mysql://u@h{n // 100}/db_{n:04}';"
        "CREATE SHARD s{n} FOR n IN 0-9999 ON db_{n:04};"
    )
    assert catalog.source_of("s7777") == "db_7777"
    assert catalog.source("db_7777").url == "mysql://u@h77/db_7777"
    assert catalog.ordered(["s9", "s7777", "s10"]) == ("s9", "s10", "s7777")
    assert thread_time() - start < 0.2  # measured: 4 ms
    assert "db_0001" not in catalog.to_sql()


def test_a_sharding_of_ten_thousand_shards():
    catalog = parse(
        "CREATE SOURCE db_{n} FOR n IN 0-9999 URL 'mysql://u@h/db_{n}';"
        "CREATE SHARDING f USING MOD 10000 ON db_{slot}"
    )
    sharding = catalog.sharding("f")
    assert len(sharding.shards()) == 10_000
    start = thread_time()
    for slot in range(0, 10_000, 100):
        assert sharding.shards_of(1 << slot) == (f"db_{slot}",)
    assert sharding.shards_of((1 << 10_000) - 1) is not None
    assert thread_time() - start < 0.2


def test_repr_is_short(shop):
    assert repr(shop) == f"<Catalog 'shop' version 1: {len(shop.items)} declarations>"


def test_a_catalog_in_python():
    catalog = Catalog(
        name="x",
        items=[
            SourceFamily(
                pattern=Source(name="d{n}", url="duckdb:///d{n}.duckdb"),
                variable="n",
                members=Members((range(2),)),
            ),
            LockedTable(name="t", columns=(Column(name="a", type="INT"),)),
            Table(name="*", placement=Single(on="d1")),
        ],
    )
    assert catalog.table("T").columns[0].name == "a"
    assert parse(catalog.to_sql()) == catalog


def test_each_source_has_a_dialect_families_without_being_made():
    catalog = parse("""
        CREATE CATALOG x DIALECT duckdb;
        CREATE SOURCE f{n} FOR n IN 0-9999 URL 'sqlite:////srv/f{n}.db';
        CREATE SOURCE t_{tenant} FOR EACH tenant URL 'sqlite:////srv/t/{tenant}.db';
        CREATE SOURCE d URL 'duckdb:////srv/d.duckdb';
        CREATE SOURCE embedded DIALECT mysql;
        CREATE SHARD m{n} FOR n IN 0-9 ON f{n};
    """)
    assert catalog.dialects == {"sqlite", "duckdb", "mysql"}
    wanted = {"f7": "sqlite", "t_acme": "sqlite", "d": "duckdb", "embedded": "mysql"}
    assert {name: catalog.dialect_of(name) for name in wanted} == wanted
    assert catalog._source_cache.keys().isdisjoint(wanted)
    assert [catalog.dialect_of_shard(name) for name in ("m3", "f11", "d")] == ["sqlite", "sqlite", "duckdb"]
    assert parse("CREATE CATALOG x DIALECT duckdb;").dialects == {"duckdb"}


def test_names_that_anyone_may_ask_for_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service asks for whatever tenant it is told; the catalog lives as long as the service."""
    monkeypatch.setattr("shardwise.catalog.source_lookups.DIALECTS_MAX", 100)
    catalog = parse(
        "CREATE SOURCE main URL 'duckdb:///main.duckdb';\n"
        "CREATE SOURCE file_{tenant} FOR EACH tenant URL 'sqlite:///{tenant}.db';\n"
        "CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};"
    )
    for number in range(250):
        assert catalog.dialect_of_shard(f"file_t{number}") == "sqlite"
        assert catalog.dialect_of_shard("main") == "duckdb"
    kept = [each for each in catalog.__dict__.values() if isinstance(each, dict) and len(each) > 100]
    assert kept == []

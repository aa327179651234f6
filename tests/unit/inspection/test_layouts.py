"""Other systems' configuration files as catalogs: the statements, and where single keys are."""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from pathlib import Path

import pytest

from shardwise.catalog import Catalog, parse
from shardwise.catalog.model import Sharded, Table
from shardwise.catalog.shardings import Value
from shardwise.errors import CatalogError, NotSupportedError
from shardwise.inspection.layouts import translate
from shardwise.inspection.layouts.fitting import dated_template_of, template_of
from shardwise.inspection.layouts.inline import read_inline, read_names
from shardwise.inspection.layouts.levels import inline_level
from shardwise.inspection.layouts.shardingsphere import auto_interval_bounds
from shardwise.inspection.layouts.vitess import slots_of

FILES = Path(__file__).parent / "other_systems"


def translated(*names: str, shards: tuple[str, ...] = ()) -> tuple[str, Catalog]:
    text = translate([FILES / name for name in names], shards=shards).text()
    assert "s3cret" not in text
    return text, parse(text)


def where(catalog: Catalog, name: str, *key: Value) -> str:
    """source.table of a key."""
    table = catalog.table(name)
    assert isinstance(table, Table)
    assert isinstance(table.placement, Sharded)
    sharding = catalog.sharding(table.placement.sharding)
    slot = sharding.function.slot(key)
    shard = sharding.shard_of(slot)
    (physical,) = catalog.partitions(table, shard, 1 << slot)
    return f"{catalog.source_of(shard)}.{physical}"


# ------------------------------------------------------------------ templates


def test_templates_of_names() -> None:
    assert template_of({n: f"db_{n // 8:02}" for n in range(64)}, "n") == "db_{n // 8:02}"
    assert template_of({n: f"t_{n % 4}" for n in range(16)}, "n") == "t_{n % 4}"
    assert template_of({n: f"t_{n // 4 % 4 + 1}x" for n in range(32)}, "n") == "t_{n // 4 % 4 + 1}x"
    assert template_of({0: "a{1}", 1: "a{2}"}, "n") == "a{{{n + 1}}}"
    assert template_of({0: "a1", 1: "b2"}, "n") is None
    assert template_of({0: "a1", 1: "a7", 2: "a3"}, "n") is None
    assert template_of({0: "a01", 1: "a2"}, "n") is None
    assert (
        dated_template_of({date(2026, 1, 1): "t_2026_01", date(2026, 2, 1): "t_2026_02"}, "m")
        == "t_{m:%Y_%m}"
    )
    assert dated_template_of({date(2026, 1, 1): "t_1", date(2026, 2, 1): "u_2"}, "m") is None


# ------------------------------------------------------------------ ShardingSphere


def test_inline_expressions() -> None:
    assert read_names("ds_${0..1}.t_$->{['a', 'b']}, ds_9.t") == [
        "ds_0.t_a",
        "ds_0.t_b",
        "ds_1.t_a",
        "ds_1.t_b",
        "ds_9.t",
    ]
    assert read_names("t_${00..02}") == ["t_00", "t_01", "t_02"]

    def level(text: str) -> str:
        found = inline_level(read_inline(text))
        return f"{found.key.sql()} {found.function} {','.join(found.names)}"

    assert level("d_${id % 2}") == "id Mod(size=2) d_0,d_1"
    assert level("d${id.intdiv(2) % 2}") == "id Mod(size=4) d0,d0,d1,d1"
    assert level("d${(id % 4).intdiv(2)}") == "id Mod(size=4) d0,d0,d1,d1"
    assert level("d${(a + b) % 2}") == "(a + b) Mod(size=2) d0,d1"
    signed = "Hash(algorithm='java_string', size=2, options=())"
    assert level("d${name.hashCode() % 2}") == f"name {signed} d0,d1"
    absolute = "Hash(algorithm='java_string', size=2, options=(('sign', 'abs'),))"
    assert level("d${Math.abs(name.hashCode()) % 2}") == f"name {absolute} d0,d1"
    number = "Hash(algorithm='number', size=2, options=())"
    assert level("d${id.abs() % 2}") == f"id {number} d0,d1"
    assert (
        level("d${no.substring(2, 4).toLong() % 2}")
        == "CAST(SUBSTRING(no, 3, 2) AS BIGINT) Mod(size=2) d0,d1"
    )
    for bad in ("d${id}", "d", "d${id / 2 % 2}", "d${id.foo() % 2}", "d${id %}", "d${f(id) % 2}"):
        with pytest.raises(CatalogError):
            inline_level(read_inline(bad))


def test_shardingsphere() -> None:
    text, catalog = translated("shardingsphere.yaml")
    assert "ATTACH TABLE t_order SHARD BY by_user_id (user_id) NAMED 't_order_{n}';" in text
    assert "ATTACH TABLE t_order_item SHARD BY by_user_id (user_id) NAMED 't_order_item_{n}';" in text
    assert (
        "-- Never pruned: a strategy of kind hint has no rule in the file.\nATTACH TABLE t_hint SCATTERED"
        in text
    )
    assert where(catalog, "t_order", 7) == "ds_1.t_order_3"
    assert where(catalog, "t_two", 7, 10) == "ds_1.t_two_2"
    assert where(catalog, "t_log", date(2026, 3, 31)) == "ds_0.t_log_202603"
    assert where(catalog, "t_auto", "polygenelubricants") == "ds_0.t_auto_0"  # abs(hashCode()) is 2³¹
    assert [where(catalog, "t_vol", key) for key in (9, 10, 44, 45)] == [
        "ds_0.t_vol_0",
        "ds_1.t_vol_1",
        "ds_0.t_vol_4",
        "ds_1.t_vol_5",
    ]
    assert where(catalog, "t_ai", date(2025, 1, 1)) == "ds_0.t_ai_0"
    assert where(catalog, "t_ai", date(2030, 1, 1)) == "ds_0.t_ai_4"
    assert catalog.source("ds_1").url == "mysql://root@127.0.0.1:3306/demo_ds_1"


def test_auto_interval() -> None:
    """What Java's own DecimalFormat, ceil and the rest give, at the edges: (seconds, second, slot)."""
    for seconds, second, slot in (
        (4, 1, 1),
        (4, 0, 0),
        (4, 4, 1),
        (86400, 431, 0),
        (86400, 432, 1),
        (86400, 86832, 1),
        (86400, 86833, 2),
        (60, 900, 11),
    ):
        assert bisect_right(auto_interval_bounds(seconds, 12), second) == slot, (seconds, second)


# ------------------------------------------------------------------ Mycat and Cobar


def test_mycat() -> None:
    text, catalog = translated("schema.xml", "rule.xml")
    assert "ATTACH TABLE orders SHARD BY by_hash_int (customer_id);" in text
    assert "ATTACH TABLE order_items SHARD WITH orders ON order_id = orders.id;" in text
    assert "REFERENCE ON dn1, dn2, dn3" in text
    assert "ATTACH TABLE goods ON dn1;" in text
    assert where(catalog, "customer", 10010) == "dn2.customer"
    assert where(catalog, "hotnews", -7) == "dn2.hotnews"  # the absolute value's remainder
    assert where(catalog, "travel", 5_000_000) == "dn1.travel"  # 500M is 5,000,000, and the end is in it
    assert where(catalog, "travel", 5_000_001) == "dn2.travel"
    assert where(catalog, "member", "a") == "dn1.member"
    assert where(catalog, "crc", "123456789") == "dn3.crc"  # 3421780262 % 102400 = 84262
    assert catalog.source("dn3").url == "mysql://root@10.0.0.9:3306/db3"


def test_cobar() -> None:
    text, catalog = translated("cobar-schema.xml", "cobar-rule.xml")
    assert "USING HASH(cobar_long) SLOTS 1024" in text
    assert where(catalog, "tb2", 511) == "dnTest2.tb2"
    assert where(catalog, "tb2", 512) == "dnTest3.tb2"
    assert "ATTACH TABLE * ON dnTest1;" in text
    assert catalog.source("dnTest3").url == "mysql://test@192.168.0.1:3306/dbtest3"


# ------------------------------------------------------------------ Vitess


def test_vitess() -> None:
    text, catalog = translated("commerce.json", shards=("-40", "40-80", "80-"))
    assert where(catalog, "user", 1) == "commerce_0.user"  # 166b…
    assert where(catalog, "music", 3) == "commerce_1.music"  # 4eb1…
    assert where(catalog, "doc", 1) == "commerce_2.doc"  # d464…
    assert "-- Never pruned: the vindex unicode_loose_md5 has no counterpart." in text
    assert "ATTACH TABLE zip REFERENCE ON commerce_0, commerce_1, commerce_2;" in text
    assert "-- commerce_1 is commerce/40-80." in text


def test_shards_of_vitess() -> None:
    assert slots_of(["-"]) == (16, [(1 << 16) - 1])
    for bad in (["-80"], ["-80", "40-"], ["x"], ["80", "80-"]):
        with pytest.raises(CatalogError):
            slots_of(bad)


def test_files_that_are_not_known() -> None:
    with pytest.raises(CatalogError, match="no file"):
        translate([FILES / "missing.yaml"])
    with pytest.raises(NotSupportedError, match="no files of a system"):
        translate([FILES / "partition-hash-int.txt"])


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.yaml", b"rules: [", "cannot be read"),
        ("a.yaml", b"rules:\n- !SHARDING of_text", "a.yaml:2: !SHARDING is no block"),
        ("a.json", b"{", "cannot be read"),
        ("a.xml", b"<schema", "cannot be read"),
        ("a.xml", b"\xff\xfe\xff", "cannot be read"),
    ],
)
def test_a_file_that_is_broken(tmp_path: Path, name: str, content: bytes, why: str) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(CatalogError, match=why):
        translate([file])

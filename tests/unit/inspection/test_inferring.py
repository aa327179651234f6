"""catalog infer on made-up layouts: what is found, and what is not taken for found."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, timedelta

import pytest

from shardwise.catalog import parse
from shardwise.catalog.shardings import Value, hash_function
from shardwise.catalog.types import Family as Kind
from tests.unit.inspection.layouts_at_hand import Layout

INT, TEXT, DATE = Kind.INT, Kind.TEXT, Kind.DATE


def statement(text: str, start: str) -> str:
    """The statement that begins so, on one line."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    statements = [" ".join(each.split()) for each in lines.split(";")]
    found = [each for each in statements if f"{start} " in f"{each} "]
    assert len(found) == 1, text
    return found[0]


def eight_by_eight() -> Layout:
    """Eight databases of eight tables: orders carry the user's last bits in both of their numbers."""
    chance = random.Random(8)
    layout = Layout(
        {
            "order_items": {"id": INT, "parcel": INT, "sku": TEXT},
            "orders": {"id": INT, "user_id": INT, "order_no": TEXT, "status": INT},
            "parcels": {"id": INT, "user_id": INT},
            "users": {"id": INT, "name": TEXT},
            "cities": {"id": INT, "name": TEXT},
            "settings": {"id": INT, "name": TEXT},
        }
    )
    for n in range(1500):
        user = chance.randrange(1, 1 << 40)
        slot = user % 64
        database = f"shop_{slot // 8:02}"
        number = chance.randrange(1 << 20) * 64 + slot
        layout.add(database, f"users_{slot:02}", user, f"u{n}")
        order_no = f"A{chance.randrange(10**8):08}{slot:02}"
        layout.add(database, f"orders_{slot:02}", number, user, order_no, n % 5)
        layout.add(database, f"parcels_{slot:02}", n, user)
        layout.add(database, f"order_items_{slot:02}", 2 * n, n, f"s{n % 7}")
        layout.add(database, f"order_items_{slot:02}", 2 * n + 1, n, f"s{n % 5}")
    for database in range(8):
        for city in range(30):
            layout.add(f"shop_{database:02}", "cities", city, f"c{city}")
    layout.add("shop_03", "settings", 1, "x")
    return layout


@pytest.mark.slow
def test_eight_by_eight_with_gene_keys_and_a_child() -> None:
    text = eight_by_eight().infer(30)
    family = "CREATE SOURCE shop_{n:02} FOR n IN 0-7 URL 'mysql://app@db/shop_{n:02}'"
    assert statement(text, "CREATE SOURCE") == family
    assert (
        statement(text, "CREATE SHARDING")
        == "CREATE SHARDING by_user_id USING MOD 64 AS n ON shop_{n // 8:02}"
    )
    assert statement(text, "TABLE orders") == (
        "ATTACH TABLE orders SHARD BY by_user_id (user_id) ALSO BY (id) "
        "ALSO BY (CAST(RIGHT(order_no, 2) AS SIGNED)) NAMED 'orders_{n:02}'"
    )
    assert (
        statement(text, "TABLE users") == "ATTACH TABLE users SHARD BY by_user_id (id) NAMED 'users_{n:02}'"
    )
    assert statement(text, "TABLE order_items") == (
        "ATTACH TABLE order_items SHARD WITH parcels ON parcel = parcels.id NAMED 'order_items_{n:02}'"
    )
    assert statement(text, "TABLE cities") == "ATTACH TABLE cities REFERENCE ON by_user_id"
    assert statement(text, "TABLE settings") == "ATTACH TABLE settings ON shop_03"
    assert "-- 64 tables on 8 sources. 1,500 of 1,500 keys fit user_id by MOD 64." in text
    parse(text)


# ------------------------------------------------------------------ one key, many functions

Place = Callable[[Value], int]


def placed(size: int, name: str, **options: str) -> Place:
    function = hash_function(name, size, options)
    return lambda key: function.slot((key,))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "place", "sharding"),
    [
        (INT, placed(6, "crc32"), "HASH(crc32) SLOTS 6 AS n ON d{n // 2}"),
        (
            TEXT,
            placed(6, "java_string", sign="abs"),
            "HASH(java_string, sign = 'abs') SLOTS 6 AS n ON d{n // 2}",
        ),
        (TEXT, placed(4, "java_string"), "HASH(java_string) SLOTS 4 AS n ON d{n // 2}"),
        (INT, placed(6, "java_long", sign="abs"), "HASH(java_long, sign = 'abs') SLOTS 6 AS n ON d{n // 2}"),
        (INT, placed(6, "postgres"), "HASH(postgres) SLOTS 6 AS n ON d{n // 2}"),
        (TEXT, placed(6, "postgres"), "HASH(postgres) SLOTS 6 AS n ON d{n // 2}"),
        (INT, placed(6, "mycat_murmur"), "HASH(mycat_murmur) SLOTS 6 AS n ON d{n // 2}"),
        (INT, placed(6, "vitess_hash"), "HASH(vitess_hash) SLOTS 6 AS n ON d{n // 2}"),
        (TEXT, placed(6, "vitess_xxhash"), "HASH(vitess_xxhash) SLOTS 6 AS n ON d{n // 2}"),
        (TEXT, placed(6, "md5"), "HASH(md5) SLOTS 6 AS n ON d{n // 2}"),
        (INT, lambda key: key % 6, "MOD 6 AS n ON d{n // 2}"),  # type: ignore[operator]
        (INT, lambda key: (key >> 12) % 6, "MOD 6 AS n ON d{n // 2}"),  # type: ignore[operator]
    ],
)
def test_functions(kind: Kind, place: Place, sharding: str) -> None:
    chance = random.Random(3)
    layout = Layout({"t": {"id": INT, "k": kind}})
    for n in range(400):
        number = chance.randrange(-(1 << 40) if "java" in sharding else 0, 1 << 45)
        key: Value = f"customer-{number}" if kind is TEXT else number
        slot = place(key)
        layout.add(f"d{slot // 2}", f"t_{slot}", n, key)
    text = layout.infer(10_000)
    assert statement(text, "CREATE SHARDING") == f"CREATE SHARDING by_k USING {sharding}"
    assert statement(text, "TABLE t").endswith("NAMED 't_{n}'")
    assert "400 of 400 keys fit" in text


@pytest.mark.slow
def test_cobar() -> None:
    function = hash_function("cobar_string", 1024, {"slice": "0:8"})
    chance = random.Random(3)
    layout = Layout({"member": {"id": INT, "login": TEXT}})
    for n in range(6000):
        login = "".join(chance.choices("abcdefghij", k=chance.randrange(4, 12)))
        slot = function.slot((login,))
        layout.add("db0" if slot < 512 else f"db{1 + (slot - 512) // 256}", "member", n, login)
    text = layout.infer(4000)
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_login USING HASH(cobar_string, slice = '0:8') SLOTS 1024 AS n "
        "(db0 = 0-511, db1 = 512-767, db2 = 768-1023)"
    )


@pytest.mark.slow
def test_ranges_of_keyspace_ids() -> None:
    """Vitess's -40, 40-80, 80-: the first half of all is on two shards."""
    function = hash_function("vitess_xxhash", 256)
    layout = Layout({"customer": {"id": INT, "name": TEXT}})
    for n in range(4000):
        slot = function.slot((n,))
        layout.add(f"ks_{min(slot // 64, 2)}", "customer", n, f"n{n}")
    text = layout.infer(4000)
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_id USING HASH(vitess_xxhash) SLOTS 16 AS n (ks_0 = 0-3, ks_1 = 4-7, ks_2 = 8-15)"
    )


@pytest.mark.slow
def test_citus() -> None:
    """32 shards of one number range, on three workers in turn."""
    function = hash_function("postgres", 32)
    chance = random.Random(3)
    layout = Layout({"visits": {"id": INT, "site": INT}}, dialect="postgres")
    for n in range(3000):
        site = chance.randrange(1 << 30)
        slot = function.slot((site,))
        layout.add(f"worker{slot % 3}", f"visits_{102008 + slot}", n, site)
    text = layout.infer()
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_site USING HASH(postgres) SLOTS 32 AS n ON worker{n % 3}"
    )
    assert "NAMED 'visits_{n + 102008}'" in statement(text, "TABLE visits")


@pytest.mark.slow
def test_database_by_one_column_and_table_by_another() -> None:
    chance = random.Random(3)
    layout = Layout({"t": {"id": INT, "user_id": INT}})
    for _ in range(2000):
        number, user = chance.randrange(1 << 30), chance.randrange(1 << 30)
        layout.add(f"ds_{user % 2}", f"t_{number % 4}", number, user)
    text = layout.infer()
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_user_id_id USING MOD 2 AS d, MOD 4 AS t ON ds_{d}"
    )
    assert statement(text, "TABLE t") == "ATTACH TABLE t SHARD BY by_user_id_id (user_id, id) NAMED 't_{t}'"


def test_months_and_ranges() -> None:
    layout = Layout({"log": {"id": INT, "at": DATE}, "acct": {"id": INT, "name": TEXT}})
    for day in range(365):
        at = date(2026, 1, 1) + timedelta(days=day)
        layout.add("main", f"log_{at:%Y%m}", day, at)
    for number in range(0, 30_000, 7):
        layout.add("main", f"acct_{number // 10_000}", number, f"n{number}")
    text = layout.infer()
    assert "USING INTERVAL MONTH FROM '2026-01-01' TO '2026-12-01' AS n ON main" in text
    assert "A later month's table is read once TO says so" in text
    assert "NAMED 'log_{n:%Y%m}'" in statement(text, "TABLE log")
    assert "RANGE (main = LESS THAN 10000, main = LESS THAN 20000, main = LESS THAN MAXVALUE) AS n" in text
    assert "NAMED 'acct_{n}'" in statement(text, "TABLE acct")


@pytest.mark.slow
def test_database_by_user_and_table_by_month() -> None:
    chance = random.Random(3)
    layout = Layout({"log": {"id": INT, "user_id": INT, "at": DATE}})
    for n in range(3000):
        user, at = chance.randrange(1 << 30), date(2025, 11, 1) + timedelta(days=chance.randrange(120))
        layout.add(f"db_{user % 4}", f"log_{at:%Y%m}", n, user, at)
    layout.add("db_1", "log_202603", 3001, 1, date(2026, 3, 1))  # next month's, on one server so far
    text = layout.infer()
    assert "-- Not read, for not all sources of log have it: log_202603 on db_1." in text
    assert statement(text, "CREATE SHARDING") == (
        "CREATE SHARDING by_user_id_at USING MOD 4 AS d, "
        "INTERVAL MONTH FROM '2025-11-01' TO '2026-02-01' AS t ON db_{d}"
    )
    assert statement(text, "TABLE log") == (
        "ATTACH TABLE log SHARD BY by_user_id_at (user_id, at) NAMED 'log_{t:%Y%m}'"
    )


# ------------------------------------------------------------------ what is not there


@pytest.mark.slow
def test_no_rule_is_found_where_there_is_none() -> None:
    chance = random.Random(3)
    layout = Layout({"t": {"id": INT, "k": TEXT}})
    for n in range(2000):
        layout.add(f"d{chance.randrange(4)}", "t", n, f"k{chance.randrange(10**6)}")
    text = layout.infer()
    assert "SCATTERED ON" in statement(text, "TABLE t")
    assert "none fits all keys" in text


def test_one_misplaced_row_is_not_left_out() -> None:
    """With SHARD BY a query that is pruned would not see it."""
    layout = Layout({"t": {"id": INT}})
    for n in range(2000):
        layout.add(f"d{n % 4}", "t", n)
    layout.add("d1", "t", 4002)
    text = layout.infer(10_000)
    assert "SCATTERED ON" in statement(text, "TABLE t")
    assert "100.0% of the keys fit id by MOD 4: are the others misplaced?" in text.replace("\n--  ", "")


def test_a_rule_whose_names_follow_no_pattern_is_told() -> None:
    layout = Layout({"t": {"id": INT}})
    for n in range(2000):
        layout.add("d", f"t_{n % 6 * 5 % 6}", n)
    text = layout.infer()
    assert "A rule was found, but it cannot be written" in text
    assert "SCATTERED ON" in statement(text, "TABLE t")


def test_months_by_no_rule() -> None:
    chance = random.Random(5)
    layout = Layout({"log": {"id": INT, "at": DATE}})
    for n in range(2000):
        name = f"log_{chance.choice(['202511', '202512', '202601'])}"
        layout.add(f"db_{chance.randrange(2)}", name, n, date(2020, 1, 1 + n % 28))
    text = layout.infer()
    assert "USING MOD 2 AS d, INTERVAL MONTH FROM '2025-11-01' TO '2026-01-01' AS m ON db_{d}" in text
    assert statement(text, "TABLE log") == "ATTACH TABLE log SCATTERED ON members NAMED 'log_{m:%Y%m}'"


def test_empty_tables_are_no_copies() -> None:
    layout = Layout({"t": {"id": INT}})
    for n in range(4):
        layout.data[f"d{n}", "t"] = []
    text = layout.infer()
    assert "Never pruned: all are empty." in text
    assert "SCATTERED ON" in statement(text, "TABLE t")


def test_names_that_cannot_be_written_are_told() -> None:
    layout = Layout({"t": {"id": INT}})
    for number in ("1", "02", "7"):
        layout.data["d", f"t_{number}"] = [(n,) for n in range(100)]
    text = layout.infer()
    assert "-- t (3 tables on 1 source) is left out: the names of the tables" in text


def test_few_rows_prove_nothing() -> None:
    layout = Layout({"t": {"id": INT}})
    for n in range(6):
        layout.add(f"d{n % 2}", "t", n)
    assert "SCATTERED ON" in statement(layout.infer(), "TABLE t")


def test_columns_that_some_lack_are_filled() -> None:
    layout = Layout({"t_3": {"id": INT, "name": TEXT, "more": TEXT}, "t": {"id": INT, "name": TEXT}})
    for n in range(400):
        layout.add("d", f"t_{n % 4}", *((n, "n", "x") if n % 4 == 3 else (n, "n")))
    text = layout.infer()
    assert statement(text, "TABLE t").endswith("SHARD BY by_id (id) NAMED 't_{n}' DRIFT FILL")
    assert "Not on all of them: more." in text


# ------------------------------------------------------------------ how text keys are spelled


@pytest.mark.parametrize(
    ("collation", "keys", "says"),
    [
        ("utf8mb4_general_ci", "acme-{}", "unless you add EXACT LOWER (login). 400 of 400 values"),
        ("utf8mb4_general_ci", "ACME-{}", "unless you add EXACT UPPER (login)."),
        ("utf8mb4_general_ci", "Acme-{}", "unless you add EXACT (login)."),
        ("utf8mb4_lithuanian_ci", "acme-{}", "unless you add EXACT (login)."),
        ("utf8mb4_bin", "Ácme-{}", "unless you add EXACT (login)."),
        ("utf8mb4_general_ci", "acme-{} ", "texts that differ may be equal: queries by it ask all shards."),
        ("utf8mb4_nopad_bin", "acme-{}", None),
        (None, "acme-{}", None),
    ],
)
def test_exact_is_proposed_where_it_seems_true(collation: str | None, keys: str, says: str | None) -> None:
    place = placed(4, "crc32")
    layout = Layout({"members": {"id": INT, "login": TEXT}}, collation=collation)
    for n in range(400):
        login = keys.format(n)
        slot = place(login)
        layout.add(f"d{slot // 2}", f"members_{slot}", n, login)
    text = layout.infer()
    told = " ".join(line.removeprefix("--").strip() for line in text.splitlines() if line.startswith("--"))
    assert (says in told) if says is not None else ("EXACT" not in told and "ask all shards" not in told)
    assert "EXACT" not in statement(text, "TABLE members")


def test_a_key_that_is_spelled_in_two_ways_is_not_proposed() -> None:
    place = placed(4, "crc32")
    layout = Layout({"members": {"id": INT, "login": TEXT}}, collation="utf8mb4_general_ci")
    for n in range(400):
        for login in (f"acme-{n}", f"ACME-{n}"):
            layout.add(f"d{place(login) // 2}", f"members_{place(login)}", n, login)
    text = layout.infer(200)
    assert "queries by it ask all" in text
    assert "EXACT" not in text

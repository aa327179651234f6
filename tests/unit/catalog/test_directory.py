"""DIRECTORY: members as slots, once somebody says which there are."""

from __future__ import annotations

from datetime import date

import pytest

from shardwise.catalog import Catalog, parse
from shardwise.catalog.places import checked_members
from shardwise.catalog.shardings import UNKNOWN, Between, directory, reads_back
from shardwise.catalog.sources import member_problem
from shardwise.catalog.types import Family
from shardwise.errors import DataError, NotSupportedError, Reason

CATALOG = """ CREATE SOURCE file_{x} FOR EACH x URL 'sqlite:////srv/{x}.db'; CREATE SOURCE lake URL
'duckdb:////srv/lake.duckdb'; CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant}; CREATE
SHARDING by_schema USING DIRECTORY AS tenant ON lake; ATTACH TABLE crm.notes (id BIGINT) SHARD BY by_file
(tenant TEXT VIRTUAL); ATTACH TABLE erp.orders (id BIGINT) SHARD BY by_schema (tenant BIGINT VIRTUAL) NAMED
'tenant_{tenant}.{table}';
"""


@pytest.fixture
def catalog() -> Catalog:
    return parse(CATALOG)


def test_each_member_is_a_slot() -> None:
    known = directory(("acme", "b", "zed"))
    assert [known.slot((name,)) for name in ("acme", "b", "zed")] == [0, 1, 2]
    assert known.slots(("nobody",)) == 0
    assert known.slots((UNKNOWN,)) == known.slots((None,)) == 0b111
    assert known.slots((Between("b", None),)) == 0b110
    assert known.slots((Between(None, "zed", high_open=True),)) == 0b011
    assert known.slots_only(("b", "nobody")) == 0b010
    assert known.labels(2) == ("zed",)
    with pytest.raises(DataError):
        known.slot((None,))


def test_numbers_and_dates_are_told_by_their_text() -> None:
    numbers = directory(("10", "2", "7"))
    assert numbers.slots((7,)) == 0b100
    assert numbers.slots((Between(3, 10),)) == 0b101
    days = directory(("2026-01-01", "2026-02-01"))
    assert days.slots((Between(date(2026, 1, 15), None),)) == 0b10


def test_nothing_is_placed_before_it_is_listed() -> None:
    with pytest.raises(NotSupportedError, match="not listed"):
        directory().slots(("acme",))
    assert directory() == directory()
    assert directory(("a",)) != directory(("b",))


@pytest.mark.parametrize(
    ("text", "family", "expected"),
    [
        ("07", Family.INT, False), ("7", Family.INT, True), ("-7", Family.INT, True), ("٣", Family.INT,
        False), ("1_0", Family.INT, False), (" 7", Family.INT, False), ("2026-01-31", Family.DATE, True),
        ("20260131", Family.DATE, False), ("07", Family.TEXT, True), ("7", Family.FLOAT, False),
        ("5B3F9C1E-0000-0000-0000-000000000000", Family.UUID, False),
    ],
)  # fmt: skip
def test_which_texts_are_keys(text: str, family: Family, expected: bool) -> None:
    assert reads_back(text, family) is expected


@pytest.mark.parametrize("name", ["a", "A b", "é", "100%", "a.b", "a..b", "-", "日本"])
def test_names_that_can_be_members(name: str) -> None:
    assert member_problem(name) is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", ".a", "a/b", "a\\b", "a\0", "a\n", "{a}", "a?", "*", "[", "\ud800", "é" * 101]
)
def test_names_that_cannot(name: str, catalog: Catalog) -> None:
    assert member_problem(name) is not None
    with pytest.raises(DataError) as caught:
        catalog.with_members({"by_file": ["ok", name]})
    assert caught.value.reason == Reason.MEMBER_NAME


@pytest.mark.parametrize("names", [("a", "A"), ("é", "e\u0301"), ("straße", "STRASSE")])
def test_names_that_some_systems_take_for_one(names: tuple[str, str], catalog: Catalog) -> None:
    with pytest.raises(DataError, match="letter case"):
        checked_members(catalog.sharding("by_file"), names)
    with pytest.raises(DataError) as caught:
        checked_members(catalog.sharding("by_file"), names, are_shown=False)
    assert caught.value.message.startswith("two values cannot")


def test_a_view_with_members(catalog: Catalog) -> None:
    view = catalog.with_members({"by_file": ["b", "a", "b"]})
    notes = view.table("notes", "crm")
    assert view.homes(notes) == ("file_a", "file_b")
    assert view.partitions(notes, "file_a") == ("notes",)  # SQLite has no schemas
    assert view.members_on(notes, "file_b") == ("b",)
    assert view == catalog
    assert catalog.open_sharding(notes) is not None
    assert view.open_sharding(notes) is None
    assert catalog.with_members({"by_file": ("b", "a", "b")}) is view
    assert catalog.with_members({"by_file": ("c",)}).homes(notes) == ("file_c",)
    assert view.homes(notes) == ("file_a", "file_b")


def test_members_that_are_schemas(catalog: Catalog) -> None:
    view = catalog.with_members({"by_schema": ["7", "12"]})
    orders = view.table("orders", "erp")
    assert view.homes(orders) == ("lake",)
    assert view.partitions(orders, "lake") == ("tenant_12.orders", "tenant_7.orders")
    assert view.partitions(orders, "lake", 0b10) == ("tenant_7.orders",)
    assert view.members_on(orders, "lake", 0b10) == ("7",)


def test_virtual_columns_stand_last_and_are_not_null(catalog: Catalog) -> None:
    columns = catalog.table("notes", "crm").columns
    assert [(c.name, c.virtual, c.nullable) for c in columns] == [
        ("id", False, True),
        ("tenant", True, False),
    ]


def test_names_that_are_no_members_have_no_source(catalog: Catalog) -> None:
    assert catalog.find_source("file_acme").url == "sqlite:////srv/acme.db"
    for name in ("file_../etc", "file_", "file_.a", "file_a/b"):
        assert catalog.find_source(name) is None

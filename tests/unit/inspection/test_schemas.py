"""catalog infer and PostgreSQL's schemas: which are tenants', and what is told of the others."""

from __future__ import annotations

import pytest

from shardwise.catalog.sources import Source
from shardwise.inspection.inferring.schemas import Elsewhere, add_schemas, tenants_of
from shardwise.inspection.layouts.draft import Draft

SHOP = frozenset({"customers", "invoices"})


def drafted(*sources: Elsewhere) -> str:
    draft = Draft("found", "postgres")
    for number, _ in enumerate(sources):
        draft.sources[f"main{number}x"] = Source(name=f"main{number}x", url="postgresql://a@b/c")
    add_schemas(draft, {f"main{number}x": found for number, found in enumerate(sources)})
    return " ".join(line.removeprefix("-- ").strip() for line in draft.text().splitlines())


@pytest.mark.parametrize(
    ("schemas", "prefix"),
    [
        (("t_acme", "t_globex"), "t_"),
        (("tenant1", "tenant10", "tenant2"), "tenant"),
        (("tenant_1", "tenant_10"), "tenant_"),
        (("org-a-7", "org-a-x"), "org-a-"),
        (("acme", "ajax"), None),  # a template of every name would take in "public"
        (("12", "13"), None),
        (("t_acme",), None),
    ],
)
def test_what_tenants_schemas_begin_with(schemas: tuple[str, ...], prefix: str | None) -> None:
    found = tenants_of(dict.fromkeys(schemas, SHOP))
    assert (found.prefix if found else None) == prefix


def test_a_schema_per_tenant() -> None:
    tables = {
        "t_acme": SHOP,
        "t_globex": SHOP,
        "t_old": frozenset({"invoices"}),
        "stats": frozenset({"days"}),
    }
    text = drafted(Elsewhere(tables))
    assert "CREATE SHARDING by_schema USING DIRECTORY AS tenant ON main0x;" in text
    assert (
        "ATTACH TABLE invoices SHARD BY by_schema (tenant TEXT VIRTUAL) NAMED 't_{tenant}.{table}';" in text
    )
    assert "3 schemas with the same 2 tables: t_acme, t_globex, t_old." in text
    assert "Not in this catalog: 1 table in other schemas of main0x, stats.days." in text


def test_a_column_of_the_tables_own() -> None:
    text = drafted(Elsewhere(dict.fromkeys(("t_a", "t_b"), SHOP), has_tenant=True))
    assert "SHARD BY by_schema (tenant_schema TEXT VIRTUAL) NAMED 't_{tenant_schema}.{table}'" in text


def test_schemas_of_several_databases_are_told_of() -> None:
    tables = dict.fromkeys(("t_a", "t_b"), SHOP)
    text = drafted(Elsewhere(tables), Elsewhere({}))
    assert "DIRECTORY AS" not in text
    assert "Not in this catalog: 4 tables in other schemas of main0x, t_a.customers, t_a.invoices," in text

"""A database of tenants, of which a connection may be pinned to one: for tests of scopes.

Whatever belongs to another tenant than acme has one of `SECRETS` in it: rows, names of shards, paths of
files, values of the sharding. Ids repeat nowhere. Layouts: "list", where acme has a shard of its own, and
"hash", where its rows share one with others'; "files", where each tenant is a file of a DIRECTORY.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import duckdb

from shardwise.catalog import load

ACME: Final = "acme"
TENANTS: Final = (ACME, "globex", "initech", "hooli", "vandelay", "dunder")
SECRETS: Final = ("globex", "initech", "hooli", "vandelay", "dunder", "secret")
LAYOUTS: Final = ("list", "hash", "files")

_SHARDS: Final = {
    "list": ("acme_db", "globex_db", "initech_db"),
    "hash": ("h0", "h1"),
    "files": ("acme_pages", "secret_pages"),
}
_SHARDINGS: Final = {
    "list": """
CREATE SHARDING by_tenant USING LIST (acme_db = IN ('acme'), globex_db = IN ('globex', 'hooli'),
    initech_db = IN ('initech', 'vandelay', 'dunder'));
CREATE SHARDING by_page USING LIST (acme_db = IN ('/a'), globex_db = IN ('/secret'), initech_db = DEFAULT);
""",
    "hash": """
CREATE SHARDING by_tenant USING HASH(crc32) SLOTS 4 ON h{slot % 2};
CREATE SHARDING by_page USING HASH(crc32) SLOTS 4 ON h{slot % 2};
""",
    "files": """
CREATE SOURCE file_{tenant} FOR EACH tenant URL 'duckdb:///{tenant}.tenant.duckdb' READ ONLY;
CREATE SHARDING by_tenant USING DIRECTORY AS tenant ON file_{tenant};
CREATE SHARDING by_page USING LIST (acme_pages = IN ('/a'), secret_pages = DEFAULT);
""",
}
_TABLES: Final = """
CREATE TABLE tenants (name VARCHAR PRIMARY KEY, plan VARCHAR) SHARD BY by_tenant (name);
CREATE TABLE orders (id BIGINT, tenant VARCHAR NOT NULL, total DECIMAL(12,2), note VARCHAR, big BIGINT,
    PRIMARY KEY (tenant, id)) SHARD BY by_tenant (tenant) UNIQUE ACROSS SHARDS (id);
CREATE TABLE items (order_id BIGINT, sku VARCHAR, note VARCHAR) SHARD WITH orders ON order_id = orders.id;
CREATE TABLE audit (tenant VARCHAR, what VARCHAR) SCATTERED ON by_tenant;
CREATE TABLE clicks (page VARCHAR, tenant VARCHAR) SHARD BY by_page (page);
CREATE TABLE cities (name VARCHAR) REFERENCE ON by_tenant;
CREATE TABLE settings (name VARCHAR, value VARCHAR) ON main;
CREATE VIEW every_order AS SELECT * FROM orders;
CREATE VIEW by_plan AS SELECT t.plan, o.id, o.note FROM tenants t JOIN orders o ON o.tenant = t.name;
"""


def catalog_text(layout: str) -> str:
    sources = "".join(f"CREATE SOURCE {s} URL 'duckdb:///{s}.duckdb' READ ONLY;\n" for s in _SHARDS[layout])
    main = "CREATE SOURCE main URL 'duckdb:///main.duckdb' READ ONLY;\n"
    return f"CREATE CATALOG tenants DIALECT duckdb;\n{sources}{main}{_SHARDINGS[layout]}{_TABLES}"


def rows(tenant: str) -> dict[str, list[tuple[Any, ...]]]:
    """A tenant's rows by table. Acme's notes are numbers; others' are not, so that casts of them fail."""
    number = TENANTS.index(tenant)
    mine = tenant == ACME
    ids = [10 * number + n for n in range(4)]
    return {
        "tenants": [(tenant, "gold" if mine else f"secret-{tenant}")],
        "orders": [
            (id, tenant, 10 + id, str(id) if mine else f"secret {tenant} {id}", 5 if mine else (1 << 62) + id)
            for id in ids
        ],
        "items": [
            (id, f"sku{n}" if mine else f"{tenant}-{n}", str(n) if mine else f"secret {tenant}")
            for id in ids
            for n in range(2)
        ],
        "audit": [(tenant, "login" if mine else f"secret {tenant}")],
        "clicks": [("/a" if mine else "/secret", tenant)],
    }


def make(folder: Path, layout: str) -> Path:
    """The cluster's file; its shards beside it."""
    path = folder / "cluster.sql"
    path.write_text(catalog_text(layout), encoding="utf-8")
    catalog = load(path)
    sharding, pages = catalog.sharding("by_tenant"), catalog.sharding("by_page")
    names = (*_SHARDS[layout], *(f"{t}.tenant" for t in TENANTS if layout == "files"))
    engines = {name: duckdb.connect(str(folder / f"{name}.duckdb")) for name in (*names, "main")}
    for name in names:
        _create(engines[name])
    for tenant in TENANTS:
        home = f"{tenant}.tenant"
        if layout != "files":
            home = sharding.shard_of(sharding.function.slot((tenant,)))
        for table, found in rows(tenant).items():
            for row in found:
                at = pages.shard_of(pages.function.slot((row[0],))) if table == "clicks" else home
                engines[at].execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    engines["main"].execute("CREATE TABLE settings (name VARCHAR, value VARCHAR)")
    engines["main"].execute("INSERT INTO settings VALUES ('currency', 'EUR')")
    for engine in engines.values():
        engine.close()
    return path


def alone() -> duckdb.DuckDBPyConnection:
    """One database that holds acme's rows only, and what all may read: what is right in acme's scope."""
    engine = duckdb.connect()
    _create(engine)
    for table, found in rows(ACME).items():
        marks = ", ".join("?" * len(found[0]))
        engine.executemany(f"INSERT INTO {table} VALUES ({marks})", found)
    engine.execute("CREATE TABLE settings (name VARCHAR, value VARCHAR)")
    engine.execute("INSERT INTO settings VALUES ('currency', 'EUR')")
    engine.execute("CREATE VIEW every_order AS SELECT * FROM orders")
    engine.execute(
        "CREATE VIEW by_plan AS SELECT t.plan, o.id, o.note FROM tenants t JOIN orders o ON o.tenant = t.name"
    )
    return engine


def _create(engine: duckdb.DuckDBPyConnection) -> None:
    engine.execute("CREATE TABLE tenants (name VARCHAR PRIMARY KEY, plan VARCHAR)")
    engine.execute(
        "CREATE TABLE orders (id BIGINT, tenant VARCHAR NOT NULL, total DECIMAL(12,2), note VARCHAR, "
        "big BIGINT, PRIMARY KEY (tenant, id))"
    )
    engine.execute("CREATE TABLE items (order_id BIGINT, sku VARCHAR, note VARCHAR)")
    engine.execute("CREATE TABLE audit (tenant VARCHAR, what VARCHAR)")
    engine.execute("CREATE TABLE clicks (page VARCHAR, tenant VARCHAR)")
    engine.execute("CREATE TABLE cities (name VARCHAR)")
    engine.execute("INSERT INTO cities VALUES ('Paris'), ('Rome')")

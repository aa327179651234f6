"""The demo's shop: four DuckDB files and a catalog, made from nothing and always the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import duckdb

from shardwise.catalog.language import parse
from shardwise.catalog.model import Catalog

SHARDS: Final = 4
CUSTOMERS, PRODUCTS, ORDERS = 5_000, 600, 30_000

CATALOG: Final = """\
-- The shop of `shardwise demo`: four DuckDB files that answer as one database.
--
-- This file says where rows are and by which rule, nothing else. Columns, keys and row counts
-- were read off the files into cluster.lock.sql by `shardwise catalog import`.

CREATE CATALOG shop DIALECT duckdb;

-- The databases. {n} runs from 0 to 3: shop_0.duckdb … shop_3.duckdb, beside this file.
CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///shop_{n}.duckdb' READ ONLY;

-- Two rules. A key is hashed to one of 64 slots, and each shard owns 16 of them …
CREATE SHARDING by_customer USING HASH(crc32) SLOTS 64
  (s0 = 0-15, s1 = 16-31, s2 = 32-47, s3 = 48-63);
-- … or, simpler, a number modulo 4 is the number of the shard.
CREATE SHARDING by_product USING MOD 4 AS n ON s{n};

-- Tables that share a sharding are colocated: a customer, their orders and what is in them are on one
-- shard, so joins of the three never leave it. An order's number is unique in the whole shop.
ATTACH TABLE customers SHARD BY by_customer (id);
ATTACH TABLE orders SHARD BY by_customer (customer_id) UNIQUE ACROSS SHARDS (id);
ATTACH TABLE items SHARD BY by_customer (customer_id);

ATTACH TABLE products SHARD BY by_product (id);  -- split by a rule of its own
ATTACH TABLE nations REFERENCE ON by_customer;   -- the same rows on every shard
ATTACH TABLE settings ON s0;                     -- on one shard only
"""

# Random-looking numbers from 0 to n-1 that are the same in every version of DuckDB.
_DRAW = "CREATE MACRO draw(i, what, n) AS CAST(md5_number_lower(what || CAST(i AS VARCHAR)) % n AS INTEGER)"

_NATIONS = [
    *("Argentina", "Australia", "Brazil", "Canada", "Chile", "Denmark", "Egypt", "Finland", "France"),
    *("Germany", "Ghana", "India", "Indonesia", "Italy", "Japan", "Kenya", "Mexico", "Morocco", "Norway"),
    *("Peru", "Poland", "Portugal", "Spain", "Sweden", "Vietnam"),
]

_TABLES: Final = {
    "nations": """
        CREATE TABLE nations (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL);
        INSERT INTO nations SELECT generate_subscripts($nations, 1), unnest($nations)""",
    "settings": """
        CREATE TABLE settings (name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL);
        INSERT INTO settings VALUES ('currency', 'EUR'), ('vat_percent', '20')""",
    "products": """
        CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, category VARCHAR NOT NULL,
                               price DECIMAL(8,2) NOT NULL);
        INSERT INTO products
        SELECT i, ['Small', 'Plain', 'Fine', 'Large', 'Red', 'Blue'][1 + draw(i, 'a', 6)] || ' '
            || ['lamp', 'stool', 'kettle', 'basket', 'clock', 'rug', 'shelf', 'sofa'][1 + draw(i, 'b', 8)]
            || ' ' || i,
               ['kitchen', 'living', 'garden', 'office', 'bath'][1 + draw(i, 'c', 5)],
               (500 + draw(i, 'd', 15000)) / 100
        FROM range(1, $products + 1) AS t(i)""",
    "customers": """
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR,
                                nation_id INTEGER NOT NULL, since DATE NOT NULL);
        INSERT INTO customers
        SELECT i, ['Ada', 'Ben', 'Chi', 'Dee', 'Eli', 'Fay', 'Gus', 'Hal', 'Ida', 'Jon'][1 + draw(i, 'e', 10)]
               || ' ' || ['Ames', 'Berg', 'Cruz', 'Diaz', 'Endo', 'Falk', 'Gray', 'Ito'][1 + draw(i, 'f', 8)],
               CASE WHEN draw(i, 'g', 20) > 0 THEN 'City ' || draw(i, 'h', 200) END,
               1 + draw(i, 'i', 25), DATE '2018-01-01' + draw(i, 'j', 2500)
        FROM range(1, $customers + 1) AS t(i)""",
    "orders": """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL, placed DATE NOT NULL,
                             status VARCHAR NOT NULL);
        INSERT INTO orders
        SELECT i, 1 + least(draw(i, 'k', $customers), draw(i, 'l', $customers)),
               DATE '2024-01-01' + draw(i, 'm', 730),
               ['paid', 'paid', 'paid', 'sent', 'sent', 'cancelled'][1 + draw(i, 'n', 6)]
        FROM range(1, $orders + 1) AS t(i)""",
    "items": """
        CREATE TABLE items (order_id INTEGER, line INTEGER, customer_id INTEGER NOT NULL,
                            product_id INTEGER NOT NULL, quantity INTEGER NOT NULL,
                            price DECIMAL(8,2) NOT NULL, PRIMARY KEY (order_id, line));
        INSERT INTO items
        SELECT o.id, line, o.customer_id, p.id, 1 + draw(o.id * 10 + line, 'q', 5), p.price
        FROM orders AS o, range(1, 2 + draw(o.id, 'o', 6)) AS t(line)
        JOIN products AS p ON p.id = 1 + draw(o.id * 10 + line, 'p', $products)""",
}

FILES: Final = ("cluster.sql", "cluster.lock.sql", *(f"shop_{n}.duckdb" for n in range(SHARDS)))


def is_built(directory: Path) -> bool:
    """Whether the shop is there already."""
    return all((directory / name).is_file() for name in FILES)


def build(directory: Path) -> Iterator[str]:
    """Makes the databases and the catalog, and says what it does; `catalog import` makes the lock file."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "cluster.sql").write_text(CATALOG, encoding="utf-8")
    catalog = parse(CATALOG)
    with duckdb.connect() as engine:
        engine.execute(_DRAW)
        yield "making customers, orders and products"
        _make_all(engine)
        _place(engine, catalog, "by_customer", CUSTOMERS)
        _place(engine, catalog, "by_product", PRODUCTS)
        for n in range(SHARDS):
            yield f"writing shop_{n}.duckdb"
            _write_shard(engine, directory / f"shop_{n}.duckdb", f"s{n}")


def _make_all(engine: duckdb.DuckDBPyConnection) -> None:
    values = {"nations": _NATIONS, "customers": CUSTOMERS, "products": PRODUCTS, "orders": ORDERS}
    for sql in _TABLES.values():
        create, _, insert = sql.partition(";")
        engine.execute(create)
        engine.execute(insert, {name: value for name, value in values.items() if f"${name}" in insert})


def _place(engine: duckdb.DuckDBPyConnection, catalog: Catalog, name: str, keys: int) -> None:
    """A table that says on which shard each key is, by the catalog's own rule."""
    sharding = catalog.sharding(name)
    shards = [sharding.shard_of(sharding.function.slot((key,))) for key in range(1, keys + 1)]
    engine.execute(
        f"CREATE TABLE {name} AS SELECT generate_subscripts($shards, 1) AS key, unnest($shards) AS shard",
        {"shards": shards},
    )


def _write_shard(engine: duckdb.DuckDBPyConnection, path: Path, shard: str) -> None:
    path.unlink(missing_ok=True)
    mine = "SELECT key FROM {} WHERE shard = ?"
    rows_of = {
        "customers": f"id IN ({mine.format('by_customer')})",
        "orders": f"customer_id IN ({mine.format('by_customer')})",
        "items": f"customer_id IN ({mine.format('by_customer')})",
        "products": f"id IN ({mine.format('by_product')})",
        "nations": None,
    }
    if shard == "s0":
        rows_of["settings"] = None
    with duckdb.connect(str(path)) as target:
        for table, condition in rows_of.items():
            target.execute(_TABLES[table].partition(";")[0])
            rows = engine.sql(
                f"SELECT * FROM {table}"
                + (f" WHERE {condition} ORDER BY ALL" if condition else " ORDER BY ALL"),
                params=[shard] if condition else None,
            ).to_arrow_table()
            target.register("rows_to_write", rows)
            target.execute(f"INSERT INTO {table} FROM rows_to_write")
            target.unregister("rows_to_write")

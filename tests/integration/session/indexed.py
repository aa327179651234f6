"""A small cluster of files to build indexes on: clicks by slot, pages by a text, invoices by shard.

`World.expected` says what an index holds by looking at the rows in Python; `World.found` reads what is in the
files, each row with the shard that it is on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

import shardwise
from shardwise.catalog.index_tables import index_table
from shardwise.catalog.model import Sharded
from shardwise.dbapi import Connection

Row = tuple[Any, ...]

TABLES = {
    "clicks": 'customer_id BIGINT, page {text}, moment BIGINT, "odd ""name""" {text}',
    "pages": "url {text}, title {text}, weight DOUBLE",
    "invoices": "customer_id BIGINT, no BIGINT, kind {text}, PRIMARY KEY (customer_id, no)",
}
VISITS = (
    'CREATE JOIN INDEX visits ON clicks.page = pages.url INCLUDE (clicks."odd ""name""", pages.title, '
    "pages.weight) SHARD BY by_customer (clicks.customer_id)"
)
VISITS_BY_PAGE = "CREATE JOIN INDEX by_page ON clicks.page = pages.url SHARD BY by_url (pages.url)"
INVOICES_NO = "CREATE LOOKUP INDEX invoices_no ON invoices (no)"
INVOICES_KIND = "CREATE LOOKUP INDEX invoices_kind ON invoices (kind, no)"

CLICKS = [
    (n % 23, None if n % 7 == 0 else f"p{n % 11}", 1_000 * n, None if n % 5 == 0 else f'o"{n % 3}')
    for n in range(120)
] + [(5, "p1", 1, "twice")] * 2
PAGES = [(f"p{n}", None if n % 4 == 0 else f"title {n}", n / 3) for n in range(9)] + [("p1", "again", -0.5)]
INVOICES = [(n % 17, n, None if n % 6 == 0 else f"K{n % 4}") for n in range(60)]
ROWS = {"clicks": CLICKS, "pages": PAGES, "invoices": INVOICES}


@dataclass
class World:
    """`products` are those of the shards, in turn; `dialect` the catalog's."""

    folder: Path
    shards: int
    products: Sequence[str] = ("duckdb",)
    dialect: str = "duckdb"
    rows: dict[str, list[Row]] = field(default_factory=lambda: dict(ROWS))
    more: str = ""

    def make(self) -> Path:
        """The files, and a catalog's."""
        for shard in range(self.shards):
            self.run(shard, *self._tables(shard))
        path = self.folder / "cluster.sql"
        path.write_text(self.catalog(), encoding="utf-8")
        path.with_suffix(".lock.sql").unlink(missing_ok=True)
        with closing(shardwise.connect(path)) as con:
            self._fill(con)
        return path

    def catalog(self) -> str:
        slots = 2 * self.shards
        sources = "".join(
            f"CREATE SOURCE s{n} URL '{self.product(n)}:///{self.file(n).name}';\n"
            for n in range(self.shards)
        )
        text = "TEXT" if self.dialect == "sqlite" else "VARCHAR"
        columns = {name: form.format(text=text) for name, form in TABLES.items()}
        return (
            f"CREATE CATALOG world DIALECT {self.dialect};\n{sources}"
            f"CREATE SHARDING by_customer USING MOD {slots} ON s{{slot % {self.shards}}};\n"
            f"CREATE SHARDING by_url USING HASH(crc32) SLOTS 16 ON s{{slot % {self.shards}}};\n"
            f"CREATE TABLE clicks ({columns['clicks']}) SHARD BY by_customer (customer_id)"
            " NAMED 'clicks_{slot}';\n"
            f"CREATE TABLE pages ({columns['pages']}) SHARD BY by_url (url);\n"
            f"CREATE TABLE invoices ({columns['invoices']}) SHARD BY by_customer (customer_id);\n"
            f"{self.more}"
        )

    def product(self, shard: int) -> str:
        return self.products[shard % len(self.products)]

    def file(self, shard: int) -> Path:
        return self.folder / f"s{shard}.{self.product(shard)}"

    def connect(self) -> Connection:
        return shardwise.connect(self.folder / "cluster.sql")

    def run(self, shard: int, *statements: str) -> list[Row]:
        """Runs statements on a shard's file; gives the rows of the last."""
        rows: list[Row] = []
        if self.product(shard) == "sqlite":
            with closing(sqlite3.connect(self.file(shard))) as con:
                for statement in statements:
                    rows = con.execute(statement).fetchall()
                con.commit()
            return rows
        with duckdb.connect(str(self.file(shard))) as engine:
            for statement in statements:
                rows = engine.execute(statement).fetchall()
        return rows

    def found(self, index: str) -> list[tuple[str, Row]]:
        """What is in the index tables: shard and row, in order."""
        return sorted(
            ((f"s{n}", row) for n in range(self.shards) for row in self.run(n, f'SELECT * FROM "{index}"')),
            key=repr,
        )

    def expected(self, con: Connection, index: str, rows: Iterable[Row]) -> list[tuple[str, Row]]:
        """The rows, each with the shard that the sharding of the index table says."""
        catalog = con.cluster.catalog
        declared = catalog.index(index)
        assert declared is not None
        table = index_table(catalog, declared).table
        assert isinstance(table.placement, Sharded)
        sharding = catalog.sharding(table.placement.sharding)
        key = table.placement.keys[0].parts[0].name
        place = [column.name for column in table.columns or ()].index(key)
        return sorted(
            ((sharding.shard_of(sharding.function.slot((row[place],))), row) for row in rows), key=repr
        )

    def visits(self) -> list[Row]:
        """The rows of VISITS."""
        return [
            (page, url, customer, odd, title, weight)
            for customer, page, _, odd in self.rows["clicks"]
            for url, title, weight in self.rows["pages"]
            if page == url
        ]

    def by_page(self) -> list[Row]:
        return [(page, url) for page, url, *_ in self.visits()]

    def invoices_no(self) -> list[Row]:
        return sorted({(no, customer) for customer, no, _ in self.rows["invoices"]})

    def invoices_kind(self) -> list[Row]:
        rows = self.rows["invoices"]
        return sorted({(kind, no, customer) for customer, no, kind in rows if kind is not None})

    def _tables(self, shard: int) -> list[str]:
        made = []
        for name, form in TABLES.items():
            columns = form.format(text="TEXT" if self.product(shard) == "sqlite" else "VARCHAR")
            slots = range(2 * self.shards) if name == "clicks" else [None]
            made += [
                f"CREATE TABLE {name if slot is None else f'clicks_{slot}'} ({columns})"
                for slot in slots
                if slot is None or slot % self.shards == shard
            ]
        return made

    def _fill(self, con: Connection) -> None:
        catalog = con.cluster.catalog
        for name, key in (("clicks", 0), ("pages", 0), ("invoices", 0)):
            table = catalog.table(name)
            sharding = catalog.sharding("by_url" if name == "pages" else "by_customer")
            assert table is not None
            for row in self.rows[name]:
                slot = sharding.function.slot((row[key],))
                place = name if name != "clicks" else f"clicks_{slot}"
                shard = int(sharding.shard_of(slot)[1:])
                self.pending.setdefault((shard, place), []).append(row)
        con.close()
        for (shard, place), rows in self.pending.items():
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            self.run(shard, f"INSERT INTO {place} VALUES {values}")

    pending: dict[tuple[int, str], list[Row]] = field(default_factory=dict)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


INDEXES: dict[str, tuple[str, Callable[[World], list[Row]]]] = {
    "visits": (VISITS, World.visits),
    "by_page": (VISITS_BY_PAGE, World.by_page),
    "invoices_no": (INVOICES_NO, World.invoices_no),
    "invoices_kind": (INVOICES_KIND, World.invoices_kind),
}
"""By name, the statement that makes it, and what is in it."""

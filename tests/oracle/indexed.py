"""Worlds with indexes over shards, on files: built here of the whole database, row by row, and trusted.

The index tables are those that the catalog says; their rows are placed by the catalog's shardings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pytest

from shardwise.catalog.files import save_lock
from shardwise.catalog.index_tables import Index, fingerprint
from shardwise.catalog.model import Built, Catalog, IndexState, LookupIndex, Sharded
from shardwise.catalog.shardings import canonical
from shardwise.catalog.types import type_family
from shardwise.planner import OPTIONAL
from tests.oracle.cases import Case, read
from tests.oracle.cluster import By, Cluster, Files, Grain, Table, load_catalog, mod, sizes, turns
from tests.oracle.generator import statement
from tests.oracle.harness import Stage, run_random
from tests.oracle.worlds import LETTERS, SHOP, World

FILES = ("joins", "subqueries", "aggregates", "queries", "forty", "regressions", "duckdb", "parameters")
# Many to many by x, with NULLs and values that only one side has; an empty side; ids that are never NULL.
PAIRS = World(
    "pairs",
    [
        Table(
            "l",
            "id BIGINT NOT NULL, k BIGINT, x INTEGER, v INTEGER, s VARCHAR",
            By("by_k", "k"),
            [
                (n, None if n % 7 == 6 else n % 5, None if n % 6 == 5 else n % 4, n % 3, f"l{n}")
                for n in range(24)
            ],
        ),
        Table(
            "r",
            "id BIGINT PRIMARY KEY, x INTEGER, w INTEGER, s VARCHAR",
            By("by_k", "id"),
            [(n, None if n % 9 == 8 else n % 6, None if n % 5 == 4 else n % 4, f"r{n}") for n in range(30)],
        ),
        Table("none", "id BIGINT NOT NULL, x INTEGER, s VARCHAR", By("by_k", "id")),
        Table("c", "k BIGINT, s VARCHAR", By("by_k", "k"), [(1, "c1"), (2, "c2"), (2, "c2"), (None, "c")]),
        Table("m", "id BIGINT, w INTEGER, z DOUBLE", By("by_k", "id"), [(n, n % 5, n / 2) for n in range(9)]),
    ],
    [mod("by_k")],
)
INDEXES = {
    LETTERS.name: """
CREATE LOOKUP INDEX a_x ON a (x); CREATE LOOKUP INDEX a_vt ON a (v, t); CREATE LOOKUP INDEX a_t ON a (t);
CREATE LOOKUP INDEX b_x ON b (x); CREATE LOOKUP INDEX b_v ON b (v); CREATE LOOKUP INDEX t_g1 ON t (g1);
CREATE UNIQUE LOOKUP INDEX t_id ON t (id); CREATE LOOKUP INDEX t_s ON t (s, g2);
CREATE LOOKUP INDEX e_dst ON e (dst);
CREATE LOOKUP INDEX o_c ON o (c); CREATE LOOKUP INDEX t1_w ON t1 (w); CREATE LOOKUP INDEX t2_w ON t2 (w);
CREATE LOOKUP INDEX rg_v ON rg (v); CREATE LOOKUP INDEX ls_v ON ls (v); CREATE LOOKUP INDEX dec_v ON dec (v);
CREATE JOIN INDEX a_b ON a.x = b.x INCLUDE (a.v, a.t, b.k, b.v) SHARD BY by_k (a.k);
CREATE JOIN INDEX b_a ON b.v = a.x INCLUDE (a.v, a.t, b.x, b.k) SHARD BY by_k (a.k);
CREATE JOIN INDEX a_k_b_x ON a.k = b.x INCLUDE (a.x, a.v, a.t, b.v) SHARD BY by_k (b.k);
CREATE JOIN INDEX a_to_t ON a.x = t.k INCLUDE (a.v, a.t, t.g1, t.g2, t.v, t.id) SHARD BY by_text (a.t);
CREATE JOIN INDEX a_t_v ON a.v = t.v INCLUDE (a.t, t.g2) SHARD BY by_k (t.k);
CREATE JOIN INDEX b_e ON b.x = e.dst INCLUDE (b.k, b.v) SHARD BY by_k (e.src);
CREATE JOIN INDEX e_o ON e.dst = o.c INCLUDE (o.id, o.v) SHARD BY by_k (e.src);
CREATE JOIN INDEX a_n ON a.x = n.c INCLUDE (a.k, a.v, a.t, n.name, n.region) SHARD BY by_k (a.k);
CREATE JOIN INDEX t1_t2 ON t1.w = t2.w INCLUDE (t1.p, t1.q, t2.p, t2.q) SHARD BY by_k (t1.p);
CREATE JOIN INDEX rg_a ON rg.v = a.x INCLUDE (rg.k, a.k, a.v, a.t) SHARD BY by_range (rg.k);
""",
    SHOP.name: """
CREATE LOOKUP INDEX users_name ON users (name); CREATE LOOKUP INDEX users_grp ON users (grp);
CREATE LOOKUP INDEX orders_oid ON orders (oid); CREATE LOOKUP INDEX orders_status ON orders (status);
CREATE LOOKUP INDEX events_kind ON events (kind); CREATE LOOKUP INDEX cities_country ON cities (country);
CREATE LOOKUP INDEX items_free ON sales (amount); CREATE LOOKUP INDEX cells_v ON cells (v);
CREATE LOOKUP INDEX temps_n ON users (born); CREATE LOOKUP INDEX few_v ON few (v);
CREATE JOIN INDEX cities_countries ON cities.country = countries.code
  INCLUDE (cities.code, cities.pop, countries.name, countries.people) SHARD BY by_code (cities.code);
CREATE JOIN INDEX few_colors ON few.v = colors.id INCLUDE (few.id, colors.name) SHARD BY by_id (few.id);
CREATE JOIN INDEX sales_cities ON sales.region = cities.country
  INCLUDE (sales.day, sales.amount, cities.code, cities.pop)
  SHARD BY by_region (sales.region);
CREATE JOIN INDEX users_temps ON users.grp = temps.n INCLUDE (users.id, users.name, users.active)
  SHARD BY by_id (users.id);
CREATE JOIN INDEX users_cells ON users.grp = cells.v INCLUDE (users.id, users.name, cells.i, cells.j)
  SHARD BY by_id (users.id);
CREATE JOIN INDEX events_cities ON events.kind = cities.country INCLUDE (events.uid, events.val, cities.code)
  SHARD BY by_id (events.uid);
""",
}


class IndexedStage(Stage):
    """Clusters whose indexes are built, and connections that trust them, with these options."""

    def __init__(self, folder: Any, indexes: dict[str, str] | None = None, **options: Any) -> None:
        super().__init__(folder)
        self.indexes = indexes or INDEXES
        self.options = {"trust_indexes": True, **options}

    def cluster(self, world: World, shards: int, grain: Grain, files: Files = "duckdb") -> Cluster:
        key = (world.name, shards, grain, files)
        is_new = key not in self.clusters
        found = super().cluster(world, shards, grain, files)
        if is_new:
            add_indexes(found, self.indexes[world.name])
        return found

    def connection(
        self,
        world: World,
        shards: int,
        grain: Grain,
        disable_passes: tuple[str, ...] = (),
        files: Files = "duckdb",
        **options: Any,
    ) -> Any:
        asked = {**self.options, "disable_passes": disable_passes, **options}
        key = (world.name, shards, grain, files, (repr(sorted(asked.items())),))
        if key not in self.connections:
            self.connections[key] = self.cluster(world, shards, grain, files).session(**asked)
        return self.connections[key]


def add_indexes(cluster: Cluster, statements: str) -> None:
    """Declares and builds indexes of a cluster of DuckDB files."""
    path = cluster.catalog_path
    path.write_text(path.read_text() + statements)
    catalog = load_catalog(path)
    states = []
    rows: dict[str, list[tuple[Any, ...]]] = {}
    for index in catalog.indexes():
        rows[index.name] = cluster.whole().execute(rows_sql(catalog, index)).fetchall()
        states.append(
            IndexState(
                name=index.name,
                state=Built.VALID,
                built_at="2026-12-01T00:00:00Z",
                rows=len(rows[index.name]),
                fingerprint=fingerprint(catalog, index),
            )
        )
    for n in range(cluster.shards):
        with duckdb.connect(str(cluster.folder / f"shard{n}.duckdb")) as connection:
            for index in catalog.indexes():
                write_table(connection, catalog, index, f"s{n}", rows[index.name])
    save_lock(catalog.with_(*states), path)


def rows_sql(catalog: Catalog, index: Index) -> str:
    """All rows of the index table, of the whole database, by the base tables' names."""
    found = catalog.index_tables[index.name.casefold()]
    of = {own: name for name, own in reversed(list(found.columns.items()))}
    items = ", ".join(f'"{of[c.name].table}"."{of[c.name].column}"' for c in found.table.columns or ())
    if isinstance(index, LookupIndex):
        known = " AND ".join(f"{name} IS NOT NULL" for name in index.columns)
        return f"SELECT DISTINCT {items} FROM {index.table} WHERE {known}"
    left, right = index.left, index.right
    return f"SELECT {items} FROM {left.table} JOIN {right.table} ON {left} = {right}"


def write_table(
    connection: Any, catalog: Catalog, index: Index, shard: str, rows: Sequence[tuple[Any, ...]]
) -> None:
    """The rows of an index table that are on a shard."""
    table = catalog.index_tables[index.name.casefold()].table
    columns = ", ".join(
        f'"{c.name}" {c.type}' + (f" COLLATE {c.collation}" if c.collation else "")
        for c in table.columns or ()
    )
    (name,) = catalog.partitions(table, shard)
    connection.execute(f'CREATE TABLE "{name}" ({columns})')
    mine = list(rows_on(catalog, index, shard, rows))
    if mine:
        connection.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(mine[0]))})', mine)


def rows_on(
    catalog: Catalog, index: Index, shard: str, rows: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[Any, ...]]:
    table = catalog.index_tables[index.name.casefold()].table
    sharding = catalog.sharding_of(table)
    assert sharding is not None
    names = [c.name for c in table.columns or ()]
    for number, row in enumerate(rows):
        if isinstance(table.placement, Sharded):
            (part,) = table.placement.keys[0].parts
            column = table.column(part.name)
            assert column is not None
            value = canonical(row[names.index(column.name)], type_family(column.type, catalog.dialect))
            where = sharding.shard_of(sharding.function.slot((value,)))
        else:
            where = sharding.shards()[number % len(sharding.shards())]
        if where == shard:
            yield row


def explained(connection: Any, sql: str) -> str:
    return "\n".join(row[0] for row in connection.execute(f"EXPLAIN {sql}").fetchall())


# ------------------------------------------------------------------ cases and random statements


def cases(worlds: Sequence[str]) -> list[Case]:
    """The cases of these worlds that are answered."""
    return [case for name in FILES for case in read(name) if case.world in worlds and not case.refused]


def in_turn(cases: Sequence[Case], *, every: int) -> list[Any]:
    """Each case on three shards, every second on another size, in turn; one of so many is not slow."""
    return [
        pytest.param(
            case,
            *size,
            marks=[pytest.mark.slow] if number or at % every else [],
            id=f"{case.id}-{size[0]}-{size[1]}",
        )
        for at, case in enumerate(cases)
        for number, size in enumerate(turns(at, sizes(), at % 2))
    ]


def on_sizes(statements: Sequence[str]) -> list[Any]:
    """Each statement on three shards, and on two of the other sizes, in turn."""
    return [
        pytest.param(sql, *size, marks=[pytest.mark.slow] if number else [], id=f"{sql}-{size[0]}-{size[1]}")
        for at, sql in enumerate(statements)
        for number, size in enumerate(turns(at, sizes(), 2))
    ]


def check_random(stage: IndexedStage, seed: int) -> None:
    """The random statement of a seed, on a size of cluster and without an optional pass that it decides."""
    world = (LETTERS, SHOP)[seed % 2]
    shards, grain = sizes()[seed // 2 % 8]
    without = (OPTIONAL[seed // 4 % len(OPTIONAL)],) if seed % 4 == 3 else ()
    run_random(stage, world, statement(seed, world.name), shards, grain, seed=seed, without=without)


__all__ = [
    "INDEXES",
    "PAIRS",
    "IndexedStage",
    "add_indexes",
    "cases",
    "check_random",
    "explained",
    "in_turn",
    "on_sizes",
]

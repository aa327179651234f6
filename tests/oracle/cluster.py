"""A split database and the whole one beside it, made out of the same plain tables.

    tables = [Table("u", "id BIGINT, name VARCHAR", rows=[(1, "ann")], place=By("by_id", "id"))]
    cluster = Cluster.build(folder, tables, [mod("by_id")], shards=3, grain="slot")
    cluster.connect()   # shardwise, over shard0.duckdb … shard2.duckdb and cluster.sql
    cluster.whole()     # DuckDB, with all rows in one file: what is right

At shard grain a sharding has a slot per shard and each table is one table there; at slot
grain it has three slots per shard, dealt out in turn, and a physical table per slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import duckdb
import pyarrow as pa
import pytest

import shardwise
from shardwise.catalog import load
from tests.oracle.files import declared, write

Grain = Literal["shard", "slot"]
Files = Literal["duckdb", "sqlite", "mixed", "mariadb", "postgres", "servers"]
"""What the shards are; mixed: in turn a SQLite and a DuckDB file; servers: in turn a database on MariaDB, on
PostgreSQL, and these."""
SLOTS_PER_SHARD = 3

# -- where rows go --------------------------------------------------------------------


@dataclass(frozen=True)
class By:
    """Split: `keys` are SQL expressions, one per column of the sharding. `also`: further keys (ALSO BY)."""

    sharding: str
    keys: tuple[str, ...]
    also: tuple[str, ...] = ()

    def __init__(self, sharding: str, *keys: str, also: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "sharding", sharding)
        object.__setattr__(self, "keys", keys)
        object.__setattr__(self, "also", also)


@dataclass(frozen=True)
class With:
    """A child: where the parent row with the same value is; without a parent, anywhere."""

    parent: str
    column: str
    parent_column: str


@dataclass(frozen=True)
class Scattered:
    """On the shards of a sharding, dealt out in turn."""

    sharding: str


@dataclass(frozen=True)
class Everywhere:
    """A reference table of the shards of a sharding."""

    sharding: str


@dataclass(frozen=True)
class Alone:
    """A single table, on the last shard."""


Place = By | With | Scattered | Everywhere | Alone


@dataclass(frozen=True)
class Table:
    """`rows`, or `query`: a SELECT that fills the table. `extra`: clauses after the placement."""

    name: str
    columns: str
    place: Place
    rows: Sequence[Sequence[Any]] = ()
    query: str | None = None
    extra: str = ""
    always_shard_grain: bool = False


@dataclass(frozen=True)
class Sharding:
    """A sharding of the cluster: its clause of the catalog, and the same rule once more in Python.

    `clause(shards, grain)` is what follows CREATE SHARDING name. `slot(key, size)` may be None:
    then the package's own function places the rows. `size(shards, grain)` is the number of slots,
    `shard(slot, shards)` the owner's number. `suffix` is the template of the slot in a physical name,
    `label(slot)` its value.
    """

    name: str
    clause: Callable[[int, Grain], str]
    size: Callable[[int, Grain], int]
    slot: Callable[[Sequence[Any], int], int] | None = None
    shard: Callable[[int, int], int] = lambda slot, shards: slot % shards
    sql: Callable[[Sequence[str], int], str] | None = None
    suffix: str = "{slot:02}"
    label: Callable[[int], str] = "{:02}".format


def mod(name: str) -> Sharding:
    """By the key modulo the number of slots; NULL is on slot 0."""

    def size(shards: int, grain: Grain) -> int:
        return shards * (SLOTS_PER_SHARD if grain == "slot" else 1)

    def slot(key: Sequence[Any], size: int) -> int:
        return 0 if key[0] is None else int(key[0]) % size

    return Sharding(
        name,
        lambda shards, grain: f"USING MOD {size(shards, grain)} ON s{{slot % {shards}}}",
        size,
        slot,
        sql=lambda keys, size: f"COALESCE((({keys[0]}) % {size} + {size}) % {size}, 0)",
    )


def hashed(name: str, function: str, slots: int = 12) -> Sharding:
    """By a hash, which the package computes (its vectors are checked elsewhere)."""
    return Sharding(
        name,
        lambda shards, grain: f"USING HASH({function}) SLOTS {slots} ON s{{slot % {shards}}}",
        lambda shards, grain: slots,
    )


def ranges(name: str, bounds: Sequence[Any]) -> Sharding:
    """By ranges, the last one open. NULL sorts below everything."""

    def clause(shards: int, grain: Grain) -> str:
        parts = [f"s{n % shards} = LESS THAN {literal(bound)}" for n, bound in enumerate(bounds)]
        return f"USING RANGE ({', '.join([*parts, f's{len(bounds) % shards} = LESS THAN MAXVALUE'])})"

    def slot(key: Sequence[Any], size: int) -> int:
        if key[0] is None:
            return 0
        return next((n for n, bound in enumerate(bounds) if key[0] < bound), len(bounds))

    return Sharding(name, clause, lambda shards, grain: len(bounds) + 1, slot)


def lists(name: str, members: Sequence[Sequence[Any]]) -> Sharding:
    """By lists of values; what is in none of them, NULL too, is on the last slot."""

    def clause(shards: int, grain: Grain) -> str:
        parts = [
            f"s{n % shards} = IN ({', '.join(map(literal, values))})" for n, values in enumerate(members)
        ]
        return f"USING LIST ({', '.join([*parts, f's{len(members) % shards} = DEFAULT'])})"

    def slot(key: Sequence[Any], size: int) -> int:
        return next((n for n, values in enumerate(members) if key[0] in values), len(members))

    return Sharding(name, clause, lambda shards, grain: len(members) + 1, slot)


def grid(name: str, rows: int = 2, columns: int = 3) -> Sharding:
    """Two levels: the first key modulo `rows`, the second modulo `columns`."""

    def slot(key: Sequence[Any], size: int) -> int:
        row, column = (0 if part is None else int(part) for part in key)
        return row % rows * columns + column % columns

    return Sharding(
        name,
        lambda shards, grain: (
            f"USING MOD {rows} AS i, MOD {columns} AS j ON s{{(i * {columns} + j) % {shards}}}"
        ),
        lambda shards, grain: rows * columns,
        slot,
        suffix="{i}_{j}",
        label=lambda slot: f"{slot // columns}_{slot % columns}",
    )


def literal(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'" if not isinstance(value, int) else str(value)


# -- the cluster ----------------------------------------------------------------------


@dataclass
class Cluster:
    """Files in `folder`: cluster.sql, shard0.duckdb …, whole.duckdb."""

    folder: Path
    shards: int
    grain: Grain
    files: Files = "duckdb"
    _whole: duckdb.DuckDBPyConnection | None = field(default=None, repr=False)
    _opened: Any = field(default=None, repr=False)
    databases: dict[int, str] = field(default_factory=dict)
    """On servers, by the shard's number."""

    @property
    def catalog_path(self) -> Path:
        return self.folder / "cluster.sql"

    def sources(self) -> list[str]:
        """What the catalog says of each shard's source. Makes the databases that are on servers."""
        found = []
        for n in range(self.shards):
            product = product_of(n, self.files)
            if product in SERVERS:
                from tests.oracle.servers_world import database  # it reads this module

                self.databases[n], where = database(product, n)
            else:
                where = f"URL '{product}:///shard{n}.{product}'"
            found.append(where)
        return found

    def connect(self, **options: Any) -> Any:
        return shardwise.connect(str(self.catalog_path), **{"verify_passes": True, **options})

    def session(self, **options: Any) -> Any:
        """A connection to one cluster that is kept open: it costs little, and shares plans and sources."""
        if self._opened is None:
            self._opened = shardwise.open(self.catalog_path)
        return self._opened.connect(**{"verify_passes": True, **options})

    def close(self) -> None:
        """Closes what was kept."""
        for kept in (self._opened, self._whole):
            if kept is not None:
                kept.close()
        self._opened = self._whole = None

    def whole(self) -> duckdb.DuckDBPyConnection:
        """The unsharded database; one connection, kept."""
        if self._whole is None:
            self._whole = duckdb.connect(str(self.folder / "whole.duckdb"), read_only=True)
            self._whole.execute("SET TimeZone = 'UTC'")
        return self._whole

    @classmethod
    def build(
        cls,
        folder: Path,
        tables: Sequence[Table],
        shardings: Sequence[Sharding],
        *,
        shards: int,
        grain: Grain = "shard",
        views: Sequence[str] = (),
        files: Files = "duckdb",
    ) -> Cluster:
        folder.mkdir(parents=True, exist_ok=True)
        cluster = cls(folder, shards, grain, files)
        text = catalog_text(tables, shardings, shards, grain, views, files, cluster.sources())
        cluster.catalog_path.write_text(text)
        _Builder(cluster, {sharding.name: sharding for sharding in shardings}, tables, views).run()
        return cluster


def catalog_text(
    tables: Sequence[Table],
    shardings: Sequence[Sharding],
    shards: int,
    grain: Grain,
    views: Sequence[str] = (),
    files: Files = "duckdb",
    sources: Sequence[str] = (),
) -> str:
    by_name = {sharding.name: sharding for sharding in shardings}
    lines = ["CREATE CATALOG oracle DIALECT duckdb;"]
    if files in _EACH:
        lines += [f"CREATE SOURCE s{n} {where};" for n, where in enumerate(sources)]
    else:
        lines.append(f"CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL '{files}:///shard{{n}}.{files}';")
    lines += [f"CREATE SHARDING {each.name} {each.clause(shards, grain)};" for each in shardings]
    placed = {table.name: table.place for table in tables}
    for table in tables:
        clauses = _clauses(table, placed, by_name, shards, grain)
        columns = declared(table.name, table.columns) if files in ("sqlite", "mixed") else table.columns
        lines += [f"CREATE TABLE {table.name} ({columns}) {clauses};"]
    lines += [f"CREATE VIEW {view};" for view in views]
    return "\n".join(lines) + "\n"


def product_of(shard: int, files: Files) -> str:
    """What the shard of that number is a file of, or a database on."""
    turns = _EACH.get(files, (files,))
    return turns[shard % len(turns)]


SERVERS = ("mariadb", "postgres")
_EACH: dict[str, tuple[str, ...]] = {
    "mixed": ("sqlite", "duckdb"),
    "mariadb": ("mariadb",),
    "postgres": ("postgres",),
    "servers": ("mariadb", "postgres", "duckdb", "sqlite"),
}
"""What is in turn a shard, where not all are named alike."""


def _clauses(
    table: Table, placed: dict[str, Place], shardings: dict[str, Sharding], shards: int, grain: Grain
) -> str:
    place = table.place
    if isinstance(place, Everywhere):
        return f"REFERENCE ON {place.sharding}"
    if isinstance(place, Alone):
        return f"ON s{shards - 1}"
    if isinstance(place, Scattered):
        return f"SCATTERED ON {place.sharding}"
    if isinstance(place, With):
        text = f"SHARD WITH {place.parent} ON {place.column} = {place.parent}.{place.parent_column}"
    else:
        keys = (key if key.isidentifier() else f"({key})" for key in place.keys)
        text = f"SHARD BY {place.sharding} ({', '.join(keys)})"
        text += "".join(f" ALSO BY ({key})" for key in place.also)
    if table.extra:
        text += f" {table.extra}"
    if grain == "slot" and not table.always_shard_grain:
        text += f" NAMED '{table.name}_{shardings[_sharding_of(place, placed)].suffix}'"
    return text


def _sharding_of(place: Place, placed: dict[str, Place]) -> str:
    while isinstance(place, With):
        place = placed[place.parent]
    assert not isinstance(place, Alone)
    return place.sharding


class _Builder:
    """Fills whole.duckdb, works out each row's slot, and copies the rows to where they belong."""

    def __init__(
        self, cluster: Cluster, shardings: dict[str, Sharding], tables: Sequence[Table], views: Sequence[str]
    ) -> None:
        self.cluster, self.shardings, self.tables, self.views = cluster, shardings, tables, views
        self.placed = {table.name: table.place for table in tables}
        self.slots: dict[str, dict[int, int]] = {}
        self.catalog: Any = None
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")

    def run(self) -> None:
        self.attach("whole")
        products = [product_of(n, self.cluster.files) for n in range(self.cluster.shards)]
        for n, product in enumerate(products):
            self.attach(f"shard{n}", in_memory=product != "duckdb")
        for table in self.tables:
            self.execute(f"CREATE TABLE whole.{table.name} ({table.columns})")
            if table.query is not None:
                self.execute(f"INSERT INTO whole.{table.name} {table.query}")
            elif table.rows:
                marks = ", ".join("?" for _ in table.rows[0])
                self.execute("BEGIN")  # one transaction: each is written to the disk
                self.connection.executemany(
                    f"INSERT INTO whole.{table.name} VALUES ({marks})", [list(row) for row in table.rows]
                )
                self.execute("COMMIT")
            self.distribute(table)
        self.execute("USE whole")
        for view in self.views:
            self.execute(f"CREATE VIEW {view}")
        self.execute("USE memory")
        for n, product in enumerate(products):
            if product == "sqlite":
                path = self.cluster.folder / f"shard{n}.sqlite"
                write(self.connection, f"shard{n}", path, counted=self.cluster.files in ("sqlite", "mixed"))
            elif product in SERVERS:
                from tests.oracle.servers_world import write as write_to  # it reads this module

                write_to(self.connection, f"shard{n}", product, n, self.cluster.databases[n])
        for name in ("whole", *(f"shard{n}" for n in range(self.cluster.shards))):
            self.execute(f"DETACH {name}")
        self.connection.close()

    def attach(self, name: str, *, in_memory: bool = False) -> None:
        path = ":memory:" if in_memory else str(self.cluster.folder / f"{name}.duckdb").replace("'", "''")
        self.execute(f"ATTACH '{path}' AS {name}")

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self.connection.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def distribute(self, table: Table) -> None:
        shards, grain, place = self.cluster.shards, self.cluster.grain, table.place
        if isinstance(place, Everywhere | Alone):
            for n in range(shards) if isinstance(place, Everywhere) else [shards - 1]:
                self.copy(table, n, table.name, None)
            return
        if isinstance(place, Scattered):
            for n in range(shards):
                self.copy(table, n, table.name, f"t.rowid % {shards} = {n}")
            return
        sharding = self.shardings[_sharding_of(place, self.placed)]
        size = sharding.size(shards, grain)
        if table.query is not None and isinstance(place, By) and sharding.sql is not None:
            inside = sharding.sql(place.keys, size) + " IN ({})"
        else:
            slot_of = self.slots_of(table, sharding, size)
            self.slots[table.name] = slot_of
            columns = {"id": pa.array(slot_of, pa.int64()), "slot": pa.array(slot_of.values(), pa.int64())}
            self.connection.register("placed", pa.table(columns))
            inside = "t.rowid IN (SELECT id FROM placed WHERE slot IN ({}))"
        by_slot = grain == "slot" and not table.always_shard_grain
        for n in range(shards):
            mine = [slot for slot in range(size) if sharding.shard(slot, shards) == n]
            for group in [[slot] for slot in mine] if by_slot else [mine]:
                name = f"{table.name}_{sharding.label(group[0])}" if by_slot else table.name
                slots = ", ".join(map(str, group)) or "NULL"
                self.copy(table, n, name, inside.format(slots))

    def copy(self, table: Table, shard: int, name: str, condition: str | None) -> None:
        self.execute(f"CREATE TABLE shard{shard}.{name} ({table.columns})")
        where = f" WHERE {condition}" if condition else ""
        self.execute(f"INSERT INTO shard{shard}.{name} SELECT t.* FROM whole.{table.name} t{where}")

    def slots_of(self, table: Table, sharding: Sharding, size: int) -> dict[int, int]:
        """The slot of each row, by its row id in the whole table."""
        place = table.place
        if isinstance(place, With):
            parents = {
                value: self.slots[place.parent][row]
                for row, value in self.execute(
                    f"SELECT rowid, {place.parent_column} FROM whole.{place.parent}"
                )
            }
            children = self.execute(f"SELECT rowid, {place.column} FROM whole.{table.name}")
            return {
                row: row % size if value is None or value not in parents else parents[value]
                for row, value in children
            }
        assert isinstance(place, By)
        rows = self.execute(f"SELECT rowid, {', '.join(place.keys)} FROM whole.{table.name}")
        slot = sharding.slot or self.package_slot(sharding)
        slots = {row[0]: slot(row[1:], size) for row in rows}
        for key in place.also:
            others = self.execute(f"SELECT rowid, {key} FROM whole.{table.name}")
            wrong = [row for row, value in others if slot((value,), size) != slots[row]]
            assert not wrong, f"{table.name}: ALSO BY ({key}) does not hold for rows {wrong[:5]}"
        return slots

    def package_slot(self, sharding: Sharding) -> Callable[[Sequence[Any], int], int]:
        if self.catalog is None:
            self.catalog = load_catalog(self.cluster.catalog_path)
        function = self.catalog.sharding(sharding.name).function
        return lambda key, size: function.slot(tuple(key))


def load_catalog(path: Path) -> Any:
    return load(path)


T = TypeVar("T")


def sizes(shards: Iterable[int] = (1, 2, 3, 7)) -> list[tuple[int, Grain]]:
    """Every number of shards at both grains."""
    return [(n, grain) for n in shards for grain in ("shard", "slot")]


def in_turn(statements: Sequence[str]) -> list[Any]:
    """Each with three shards, and with one, two or seven: `(sql, shards)`."""
    runs = [(sql, n) for at, sql in enumerate(statements) for n in (3, (1, 2, 7)[at % 3])]
    return [pytest.param(sql, n, marks=[pytest.mark.slow] if n != 3 else []) for sql, n in runs]


def by_turns(all_: Sequence[T], shards: int) -> Sequence[T]:
    """What is asked on so many shards: on three all; on 1, 2 and 7 every third, each on one of them."""
    return all_ if shards == 3 else all_[(1, 2, 7).index(shards) :: 3]


def turns(number: int, all_sizes: Sequence[tuple[int, Grain]], others: int) -> list[tuple[int, Grain]]:
    """The sizes that the case of this number is run at: three shards, and `others` of the rest, in turn."""
    rest = [size for size in all_sizes if size != (3, "shard")]
    return [(3, "shard"), *(rest[(number * others + i) % len(rest)] for i in range(others))]

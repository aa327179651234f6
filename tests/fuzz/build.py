"""A world as it is asked: one database that has all rows, and the same rows on shards.

`Built(world, folder)` has `connection()`, to the shards, `right(sql)`, what one database says, and
`one(sql, 1)`: what it says when its rows lie in the other order.
"""

from __future__ import annotations

import functools
import math
import os
import random
import re
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

import shardwise
from shardwise.catalog import Catalog, parse
from shardwise.catalog.model import Table as CatalogTable
from tests.fuzz.collations import SETUP
from tests.fuzz.schema import SERVERS, Row, Table, World
from tests.fuzz.statistics import made_up
from tests.oracle import files, servers_world
from tests.oracle.compare import Answer, answer_of
from tests.servers import lent, mariadb, postgres

PASSWORD = "SHARDWISE_TEST_FUZZ"
SECONDS_MAX = 2.0
MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"


class Refused(Exception):
    """One database does not answer: it raises, or takes too long."""


class Built:
    """A world's databases; `close()` removes what is on servers. `one(sql, n)` is what one database says with
    its rows in the n-th order: as they are, the other way round, or shuffled."""

    def __init__(self, world: World, folder: Path, seconds_max: float = SECONDS_MAX) -> None:
        """`seconds_max`: for a statement of the one database. SQLite's is counted in steps."""
        folder.mkdir(parents=True, exist_ok=True)
        self.world, self.folder = world, folder
        self.closing: list[Callable[[], Any]] = []
        try:
            self.urls = self._urls()
            self.text = catalog_text(world, self.urls)
            self.catalog = parse(self.text)
            self._fill()
            path = folder / "cluster.sql"
            path.write_text(self.text, encoding="utf-8")
            self.lock = ""
            self.index()
            self.connections: dict[int | None, Any] = {}
            self.connection(None)
            self.one = _ONE[world.dialect](world, self.closing, seconds_max)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        for close in reversed(self.closing):
            close()
        self.closing.clear()

    def right(self, sql: str) -> Answer:
        """What one database says; raises Refused."""
        return self.one(sql, 0)

    def connection(self, statistics: int | None) -> Any:
        """A connection to the shards; with a lock file of statistics made up from a seed."""
        if statistics not in self.connections:
            path = self.folder / f"cluster{'' if statistics is None else statistics}.sql"
            path.write_text(self.text, encoding="utf-8")
            text = self.lock + (made_up(self.world, statistics) if statistics is not None else "")
            if text:
                path.with_name(f"{path.stem}.lock.sql").write_text(text, encoding="utf-8")
            cluster = shardwise.open(str(path))
            self.closing.append(cluster.close)
            self.connections[statistics] = cluster.connect()
            self.closing.append(self.connections[statistics].close)
        return self.connections[statistics]

    def index(self) -> None:
        """Builds the world's indexes; their states stay in the lock file. Raises what a build raises."""
        if not self.world.indexes:
            return
        path = self.folder / "cluster.sql"
        path.write_text(self.text, encoding="utf-8")
        with shardwise.open(str(path)) as cluster, cluster.connect() as connection:
            for each in self.world.indexes:
                connection.execute(f"CREATE {each}").fetchall()
        self.lock = path.with_name("cluster.lock.sql").read_text(encoding="utf-8")

    # -- shards

    def _urls(self) -> list[str]:
        """Each shard's source; databases that are on servers are made."""
        world, found = self.world, []
        self.databases: dict[int, tuple[Any, str]] = {}
        for n in range(world.shards):
            product = world.products[n % len(world.products)]
            setup = SETUP.get(world.dialect, ())
            if product == "mysql":
                server = mariadb(n % 2)
                database = server.database(*setup)
                self.closing.append(lambda s=server, d=database: s.run(f"DROP DATABASE `{d}`"))
            elif product == "postgres":
                server = postgres()  # type: ignore[assignment]
                database = lent.borrow(server, *setup)  # type: ignore[arg-type]
                self.closing.append(lambda s=server, d=database: lent.give_back(s, d))
            elif product == "parquet":
                found.append(f"URL 'parquet:///p{n}'")
                continue
            else:
                found.append(f"URL '{product}:///s{n}.{product}'")
                continue
            self.databases[n] = server, database
            os.environ[PASSWORD] = server.password
            found.append(f"URL '{server.url(database)}' PASSWORD ENV '{PASSWORD}'")
        return found

    def _fill(self) -> None:
        placed = _placed(self.world, self.catalog)
        for source in self._sources():
            tables = [
                (name, table, rows) for (place, name), (table, rows) in placed.items() if place == source
            ]
            product, write = self._writer(source)
            write(product, source, tables)

    def _sources(self) -> list[str]:
        members = [f"{s.name}_{m}" for s in self.world.shardings if s.rule == "DIRECTORY" for m in s.values]
        return [*(f"s{n}" for n in range(self.world.shards)), *members]

    def _writer(self, source: str) -> tuple[str, Callable[..., None]]:
        number = int(source[1:]) if re.fullmatch(r"s\d+", source) else 0
        product = self.world.products[number % len(self.world.products)]
        if not re.fullmatch(r"s\d+", source):
            return "duckdb", self._duckdb
        if self.world.dialect == "sqlite":
            return product, self._sqlite
        is_own = product in SERVERS and self.world.dialect == product
        return product, self._server if is_own else self._duckdb

    def _duckdb(self, product: str, source: str, tables: Sequence[tuple[str, Table, list[Row]]]) -> None:
        """A DuckDB file, or what another product holds, by way of DuckDB."""
        path = self.folder / f"{source}.{product}"
        with duckdb.connect(str(path) if product == "duckdb" else ":memory:") as con:
            for name, table, rows in tables:
                _insert(con, name, table.columns, rows)
            if product == "sqlite":
                con.execute("ATTACH ':memory:' AS given")
                for name, _, _ in tables:
                    con.execute(f"CREATE TABLE given.{name} AS SELECT * FROM memory.{name}")
                files.write(con, "given", path, counted=_is_counted(self.world))
            if product in SERVERS:
                number = int(source[1:])
                server = "mariadb" if product == "mysql" else product
                servers_world.write(con, "memory", server, number, self.databases[number][1])
            if product == "parquet":
                (self.folder / f"p{source[1:]}").mkdir()
                for name, _, _ in tables:
                    target = str(self.folder / f"p{source[1:]}" / f"{name}.parquet").replace("'", "''")
                    con.execute(f"COPY {name} TO '{target}'")

    def _sqlite(self, product: str, source: str, tables: Sequence[tuple[str, Table, list[Row]]]) -> None:
        with closing(sqlite3.connect(self.folder / f"{source}.sqlite")) as con:
            for name, table, rows in tables:
                _insert(con, name, table.columns, rows)
            con.commit()

    def _server(self, product: str, source: str, tables: Sequence[tuple[str, Table, list[Row]]]) -> None:
        server, database = self.databases[int(source[1:])]
        texts = [text for name, table, rows in tables for text in _statements(name, table.columns, rows)]
        server.run(*texts, database=database)


# -- the catalog ----------------------------------------------------------------------


def catalog_text(world: World, urls: Sequence[str]) -> str:
    lines = [f"CREATE CATALOG fuzz DIALECT {world.dialect};"]
    lines += [f"CREATE SOURCE s{n} {url};" for n, url in enumerate(urls)]
    for each in world.shardings:
        if each.rule == "DIRECTORY":
            name = f"{each.name}_{{{each.name}_m}}"
            lines.append(f"CREATE SOURCE {name} FOR EACH {each.name}_m URL 'duckdb:///{name}.duckdb';")
        lines.append(f"CREATE SHARDING {each.name} {each.clause(world.shards)};")
    for table in world.tables:
        columns = table.columns
        if "sqlite" in world.products and _is_counted(world):
            columns = files.declared(table.name, columns)
        columns += f", {table.keys}" if table.keys else ""
        named = ""
        if table.by_slot:
            named = f" NAMED '{table.name}_{world.sharding(_sharding_of(world, table)).numbered()}'"
        lines.append(f"ATTACH TABLE {table.name} ({columns}) {table.place}{named};")
    lines += [f"CREATE VIEW {view};" for view in world.views]
    return "\n".join(lines) + "\n"


def _is_counted(world: World) -> bool:
    """Whether SQLite files may hold dates and times as numbers: the catalog says so of all sources."""
    return world.dialect == "duckdb" and not world.is_on_servers


def _sharding_of(world: World, table: Table) -> str:
    while table.place.startswith("SHARD WITH"):
        table = next(t for t in world.tables if t.name == table.place.split()[2])
    return table.place.split()[2]


# -- where rows are -------------------------------------------------------------------


def _placed(world: World, catalog: Catalog) -> dict[tuple[str, str], tuple[Table, list[Row]]]:
    """Rows by source and physical table. Slots are the package's own: other tests check what it says."""
    found: dict[tuple[str, str], tuple[Table, list[Row]]] = {}
    slots: dict[str, list[int]] = {}
    for table in world.tables:
        place = table.place.split()
        if place[0] == "ON":
            found[place[1], table.name] = (table, list(table.rows))
            continue
        if place[0] in ("REFERENCE", "SCATTERED"):
            declared = catalog.relation(table.name)
            assert isinstance(declared, CatalogTable)
            every = catalog.homes(declared)
            for n, source in enumerate(every):
                mine = table.rows if place[0] == "REFERENCE" else table.rows[n :: len(every)]
                found[source, table.name] = (table, list(mine))
            continue
        sharding = world.sharding(_sharding_of(world, table))
        if sharding.rule == "DIRECTORY":
            for member in sharding.values:
                mine = [row[:-1] for row in table.rows if row[-1] == member]
                found[f"{sharding.name}_{member}", table.name] = (table, mine)
            continue
        slots[table.name] = _slots(world, catalog, table, slots)
        known = catalog.sharding(sharding.name)
        for slot in range(known.function.size):
            source = known.shard_of(slot)
            name = table.name
            if table.by_slot:
                text = sharding.numbered()
                columns = sharding.values[1] if sharding.rule == "GRID" else 1
                name += "_" + text.format(slot=slot, i=slot // columns, j=slot % columns)
            rows = [row for row, at in zip(table.rows, slots[table.name], strict=True) if at == slot]
            found.setdefault((source, name), (table, []))[1].extend(rows)
        for source in known.shards():
            if not table.by_slot:
                found.setdefault((source, table.name), (table, []))
    return found


def _slots(world: World, catalog: Catalog, table: Table, slots: dict[str, list[int]]) -> list[int]:
    """The slot of each row."""
    if table.place.startswith("SHARD WITH"):
        words = table.place.split()
        parent = next(t for t in world.tables if t.name == words[2])
        keys = [row[parent.names.index("id")] for row in parent.rows]
        where = dict(zip(keys, slots[parent.name], strict=True))
        where.pop(None, None)
        size = catalog.sharding(_sharding_of(world, table)).function.size
        column = table.names.index(words[4])
        return [where.get(row[column], number % size) for number, row in enumerate(table.rows)]
    named = table.place.partition("(")[2].partition(")")[0].split(", ")
    at = [table.names.index(name) for name in named]
    function = catalog.sharding(_sharding_of(world, table)).function
    return [function.slot(tuple(row[i] for i in at)) for row in table.rows]


# -- text -----------------------------------------------------------------------------


def literal(value: Any, *, is_sqlite: bool = False) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return ("" if is_sqlite else "TIMESTAMP ") + f"'{value.isoformat(' ', 'microseconds')}'"
    if isinstance(value, date):
        return ("" if is_sqlite else "DATE ") + f"'{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, bytes):
        return f"x'{value.hex()}'"
    if isinstance(value, float) and not math.isfinite(value):
        return f"CAST('{value}' AS FLOAT8)"
    return repr(value) if isinstance(value, float) else str(value)


def _statements(name: str, columns: str, rows: Sequence[Row], *, is_sqlite: bool = False) -> list[str]:
    made = [f"CREATE TABLE {name} ({columns})"]
    if rows:
        texts = [f"({', '.join(literal(v, is_sqlite=is_sqlite) for v in row)})" for row in rows]
        made.append(f"INSERT INTO {name} VALUES {', '.join(texts)}")
    return made


def _insert(con: Any, name: str, columns: str, rows: Sequence[Row]) -> None:
    for text in _statements(name, columns, rows, is_sqlite=isinstance(con, sqlite3.Connection)):
        con.execute(text)


def _whole(world: World, order: int) -> list[tuple[str, str, Sequence[Row]]]:
    """All tables of one database: name, columns, rows in the n-th order."""
    found = []
    for table in world.tables:
        columns = table.columns + (", tenant VARCHAR NOT NULL" if "VIRTUAL" in table.place else "")
        found.append((table.name, columns, _ordered(table.rows, order)))
    return found


def _ordered(rows: Sequence[Row], order: int) -> Sequence[Row]:
    return random.Random(order).sample(rows, len(rows)) if order > 1 else rows[:: 1 - 2 * order]


# -- one database ---------------------------------------------------------------------

One = Callable[[str, int], Answer]


def _one_duckdb(world: World, closing_: list[Callable[[], Any]], seconds_max: float) -> One:
    made = []
    for order in (0, 1):
        con = duckdb.connect()
        closing_.append(con.close)
        con.execute("SET TimeZone = 'UTC'; SET threads = 1")
        for name, columns, rows in _whole(world, order):
            _insert(con, name, columns, rows)
        for view in world.views:
            con.execute(f"CREATE VIEW {view}")
        made.append(con)

    def one(sql: str, order: int) -> Answer:
        con = made[order]
        alarm = threading.Timer(seconds_max, con.interrupt)
        alarm.start()
        try:
            return answer_of(con.execute(sql))
        except duckdb.Error as error:
            raise Refused(str(error)) from error
        finally:
            alarm.cancel()

    return one


def _one_sqlite(world: World, closing_: list[Callable[[], Any]], _: float) -> One:
    made = []
    for order in (0, 1):
        con = sqlite3.connect(":memory:", isolation_level=None)
        closing_.append(con.close)
        for name, columns, rows in _whole(world, order):
            _insert(con, name, columns, rows)
        made.append(con)

    def one(sql: str, order: int) -> Answer:
        con = made[order]
        con.set_progress_handler(lambda: True, 20_000_000)
        try:
            cursor = con.execute(_with_joins_inside(sql))
            return Answer(tuple(c[0] for c in cursor.description), (), cursor.fetchall())
        except sqlite3.Error as error:
            raise Refused(str(error)) from error
        finally:
            con.set_progress_handler(None, 0)

    return one


def _with_joins_inside(sql: str) -> str:
    """UNION ALL with its arms' RIGHT and FULL joins in derived tables: SQLite 3.40 forgets WHERE of the other
    arms where it flattens such a union."""
    if "UNION ALL" not in sql or not re.search(r"\b(RIGHT|FULL) JOIN\b", sql):
        return sql
    tree = sqlglot.parse_one(sql, read="sqlite")
    for arm in [each for each in tree.find_all(exp.Select) if isinstance(each.parent, exp.SetOperation)]:
        if any(join.side in ("RIGHT", "FULL") for join in arm.args.get("joins") or ()):
            alias = exp.TableAlias(this=exp.to_identifier("arm"))
            arm.replace(exp.select("*").from_(exp.Subquery(this=arm.copy(), alias=alias)))
    return tree.sql(dialect="sqlite")


def _one_mysql(world: World, closing_: list[Callable[[], Any]], seconds_max: float) -> One:
    import pymysql

    server = mariadb(0)

    @functools.cache
    def made(order: int) -> Any:
        texts = [text for whole in _whole(world, order) for text in _statements(*whole)]
        database = server.database(*texts)
        closing_.append(lambda d=database: server.run(f"DROP DATABASE `{d}`"))
        con = server.connect(database)
        closing_.append(con.close)
        with con.cursor() as cursor:
            cursor.execute("SET SESSION sql_mode = %s, max_statement_time = %s", (MODE, seconds_max))
            # Its cache of subqueries takes two texts for one that their column's collation takes for equal;
            # by a key of a derived table NULLs join where `a = b AND a <=> b`.
            cursor.execute("SET SESSION optimizer_switch = 'subquery_cache=off,derived_with_keys=off'")
        return con

    def one(sql: str, order: int) -> Answer:
        con = made(order)
        try:
            with closing(con.cursor()) as cursor:
                cursor.execute(sql)
                return Answer(tuple(c[0] for c in cursor.description), (), list(cursor.fetchall()))
        except pymysql.MySQLError as error:
            raise Refused(str(error)) from error

    return one


_OTHERWISE = (
    (),
    ("enable_mergejoin", "enable_hashjoin"),
    ("enable_hashagg", "enable_hashjoin"),
    ("enable_mergejoin", "enable_sort"),
)
"""By what other plans rows in another order are found: of equal texts, too, one that sorts takes the same."""


def _one_postgres(world: World, closing_: list[Callable[[], Any]], seconds_max: float) -> One:
    import psycopg

    server = postgres()

    @functools.cache
    def made(order: int) -> Any:
        texts = [text for whole in _whole(world, order) for text in _statements(*whole)]
        database = lent.borrow(server, *SETUP["postgres"], *texts)
        closing_.append(lambda d=database: lent.give_back(server, d))
        con = server.connect(database)
        closing_.append(con.close)
        con.execute(f"SET statement_timeout = {seconds_max * 1000:.0f}")
        for setting in _OTHERWISE[order % len(_OTHERWISE)]:
            con.execute(f"SET {setting} = off")
        return con

    def one(sql: str, order: int) -> Answer:
        con = made(order)
        try:
            cursor = con.execute(sql)
            return Answer(tuple(c.name for c in cursor.description or ()), (), cursor.fetchall())
        except psycopg.Error as error:
            raise Refused(str(error)) from error

    return one


_ONE: dict[str, Callable[[World, list[Callable[[], Any]], float], One]] = {
    "duckdb": _one_duckdb,
    "sqlite": _one_sqlite,
    "mysql": _one_mysql,
    "postgres": _one_postgres,
}

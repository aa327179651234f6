"""TPC-H in DuckDB's dialect over four shards of four products, beside one DuckDB with all rows."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from benchmarks.measure import paired
from benchmarks.servers.places import COLUMNS, INDEXES, KEYS, PASSWORD, SHARDS, catalog, load, rows_of
from shardwise.catalog import parse
from shardwise.errors import Error
from shardwise.session.cluster import Cluster
from tests.oracle.cases import read
from tests.oracle.compare import answer_of, difference
from tests.servers import mariadb, postgres

DEADLINE_S = 20.0
_BUDGET_S = 3.0


@contextmanager
def one_duckdb(scale: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """All rows in one DuckDB, whose answers are those of the duckdb dialect."""
    with duckdb.connect() as con:
        for name in COLUMNS:
            con.execute(f"CREATE TABLE {name} AS SELECT * {rows_of(scale, name, None)}")
        yield con


@contextmanager
def mixed(scale: float) -> Iterator[Cluster]:
    """A shard each on MariaDB, on PostgreSQL, in a SQLite file and in a DuckDB file."""
    maria, post = mariadb(), postgres()
    os.environ[PASSWORD] = maria.password  # as PostgreSQL's
    database = f"bench_{os.getpid()}_mixed"
    try:
        with TemporaryDirectory() as kept, duckdb.connect() as con:
            folder = Path(kept)
            load(con, folder, scale, maria, database, 0)
            load(con, folder, scale, post, database, 1)
            _sqlite(con, folder / "2.sqlite", scale, 2)
            _duckdb(con, folder / "3.duckdb", scale, 3)
            urls = [maria.url(database), post.url(database)]
            urls += [f"sqlite:///{folder}/2.sqlite", f"duckdb:///{folder}/3.duckdb"]
            with Cluster(parse(catalog("duckdb", urls)), Path.cwd(), None, {}) as found:
                yield found
    finally:
        for server in (maria, post):
            server.run(f"DROP DATABASE IF EXISTS {database}")


def _sqlite(con: duckdb.DuckDBPyConnection, path: Path, scale: float, shard: int) -> None:
    """Dates as text, decimals as SQLite's NUMERIC has them."""
    with closing(sqlite3.connect(path)) as made:
        for name, columns in COLUMNS.items():
            made.execute(f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({KEYS[name]}))")
            for column in INDEXES.get(name, ()):
                made.execute(f"CREATE INDEX {name}_{column} ON {name} ({column})")
            types = con.execute(f"DESCRIBE SELECT * {rows_of(scale, name, shard)}").fetchall()
            listed = ", ".join(f"{each[0]}{_HELD.get(each[1].partition('(')[0], '')}" for each in types)
            found = con.execute(f"SELECT {listed} {rows_of(scale, name, shard)}")
            marks = ", ".join("?" for _ in types)
            while rows := found.fetchmany(10_000):
                made.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        made.execute("ANALYZE")
        made.commit()


_HELD = {"DECIMAL": "::DOUBLE", "DATE": "::VARCHAR"}


def _duckdb(con: duckdb.DuckDBPyConnection, path: Path, scale: float, shard: int) -> None:
    con.execute(f"ATTACH '{path}' AS made")
    for name, columns in COLUMNS.items():
        con.execute(f"CREATE TABLE made.{name} ({columns}, PRIMARY KEY ({KEYS[name]}))")
        con.execute(f"INSERT INTO made.{name} SELECT * {rows_of(scale, name, shard)}")
    con.execute("DETACH made")


def measure(scale: float, *, rounds: int) -> dict[str, Any]:
    """Each query's answer compared, and its time."""
    found: list[dict[str, Any]] = []
    with one_duckdb(scale) as whole, mixed(scale) as cluster, cluster.connect(deadline_s=DEADLINE_S) as con:
        for case in read("tpch"):

            def ours(sql: str = case.sql) -> Any:
                with con.cursor() as cursor:
                    return answer_of(cursor.execute(sql))

            def theirs(sql: str = case.sql) -> Any:
                return answer_of(whole.execute(sql))

            try:
                problem = difference(ours(), theirs(), ordered=case.ordered, order_keys=case.order_keys)
            except Error as error:
                problem = f"{type(error).__name__}: {error.message}"
            if problem is not None:
                found.append({"query": case.title, "error": problem.partition("\n")[0]})
                print(f"  mixed {case.title}: {problem}", flush=True)
                continue
            pair = paired(ours, theirs, rounds=rounds, budget_s=_BUDGET_S)
            found.append({"query": case.title, "ours_s": pair.ours_s, "theirs_s": pair.theirs_s})
            print(f"  mixed {case.title}: {pair.ours_s * 1e3:,.0f} ms", flush=True)
    return {"queries": found, "shards": SHARDS}

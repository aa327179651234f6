"""TPC-H's tables on servers: all rows in one database, and split over four."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import duckdb

from shardwise.catalog import parse
from shardwise.session.cluster import Cluster
from tests.oracle.cluster import By
from tests.oracle.tpch import PLACES, generated
from tests.servers import Server, mariadb, postgres

SHARDS = 4
PASSWORD = "SHARDWISE_BENCH_PASSWORD"
Product = Literal["mysql", "postgres"]

COLUMNS = {
    "region": "r_regionkey INTEGER NOT NULL, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)",
    "nation": """n_nationkey INTEGER NOT NULL, n_name CHAR(25) NOT NULL, n_regionkey INTEGER NOT NULL,
        n_comment VARCHAR(152)""",
    "customer": """c_custkey BIGINT NOT NULL, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL,
        c_nationkey INTEGER NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL,
        c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL""",
    "orders": """o_orderkey BIGINT NOT NULL, o_custkey BIGINT NOT NULL, o_orderstatus CHAR(1) NOT NULL,
        o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL,
        o_clerk CHAR(15) NOT NULL, o_shippriority INTEGER NOT NULL, o_comment VARCHAR(79) NOT NULL""",
    "lineitem": """l_orderkey BIGINT NOT NULL, l_partkey BIGINT NOT NULL, l_suppkey BIGINT NOT NULL,
        l_linenumber INTEGER NOT NULL, l_quantity DECIMAL(15,2) NOT NULL,
        l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL,
        l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL,
        l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL,
        l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, l_comment VARCHAR(44) NOT NULL""",
    "part": """p_partkey BIGINT NOT NULL, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL,
        p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INTEGER NOT NULL,
        p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL,
        p_comment VARCHAR(23) NOT NULL""",
    "partsupp": """ps_partkey BIGINT NOT NULL, ps_suppkey BIGINT NOT NULL, ps_availqty INTEGER NOT NULL,
        ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL""",
    "supplier": """s_suppkey BIGINT NOT NULL, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL,
        s_nationkey INTEGER NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL,
        s_comment VARCHAR(101) NOT NULL""",
}
KEYS = {
    "region": "r_regionkey",
    "nation": "n_nationkey",
    "customer": "c_custkey",
    "orders": "o_orderkey",
    "lineitem": "l_orderkey, l_linenumber",
    "part": "p_partkey",
    "partsupp": "ps_partkey, ps_suppkey",
    "supplier": "s_suppkey",
}
REPEATED = "lineitem_repeated"
"""A view in `Placed.whole`: lineitem over and over, ten thousand times."""
_NUMBERS = {"mysql": "seq_1_to_10000", "postgres": "generate_series(1, 10000)"}
INDEXES = {"orders": ("o_custkey",), "lineitem": ("l_partkey", "l_suppkey"), "partsupp": ("ps_suppkey",)}


def server_of(product: Product, number: int) -> Any:
    return mariadb(number % 2) if product == "mysql" else postgres()


@dataclass(frozen=True)
class Placed:
    """Databases with the tables of TPC-H: `whole` has all rows, `shards` have them by key."""

    product: Product
    scale: float
    whole: str
    shards: tuple[str, ...]

    def server(self, shard: int = 0) -> Any:
        return server_of(self.product, shard)

    def connect(self, shard: int | None = None) -> Any:
        """The driver's own connection, to the whole or to a shard."""
        database = self.whole if shard is None else self.shards[shard]
        return self.server(shard or 0).connect(database)

    def catalog(self, dialect: str) -> str:
        """Four shards in a query dialect."""
        return catalog(dialect, [self.server(i).url(name) for i, name in enumerate(self.shards)])

    @contextmanager
    def cluster(self, dialect: str, *, one: bool = False, **options: Any) -> Iterator[Cluster]:
        """Opened; `one`: a catalog of the whole alone."""
        os.environ[PASSWORD] = self.server().password
        text = self.catalog(dialect)
        if one:
            text = catalog(dialect, [self.server().url(self.whole)])
            text += f"ATTACH TABLE {REPEATED} ({COLUMNS['lineitem']}) SHARD BY by_key (l_orderkey);"
        with Cluster(parse(text), Path.cwd(), None, options) as found:
            yield found


def catalog(dialect: str, urls: list[str]) -> str:
    """The tables of TPC-H, split over the databases at these URLs."""
    lines = [f"CREATE CATALOG tpch DIALECT {dialect};"]
    lines += [f"CREATE SOURCE s{i} URL '{url}' PASSWORD ENV '{PASSWORD}';" for i, url in enumerate(urls)]
    lines.append(f"CREATE SHARDING by_key USING MOD {len(urls)} AS n ON s{{n}};")
    for name, place in PLACES.items():
        where = f"SHARD BY by_key ({place.keys[0]})" if isinstance(place, By) else "REFERENCE ON by_key"
        lines.append(f"ATTACH TABLE {name} ({COLUMNS[name]}, PRIMARY KEY ({KEYS[name]})) {where};")
    return "\n".join(lines)


@contextmanager
def placed(product: Product, scale: float) -> Iterator[Placed]:
    """Loads the tables, and drops them in the end."""
    name = f"bench_{os.getpid()}_{product}"
    found = Placed(product, scale, f"{name}_whole", tuple(f"{name}_{i}" for i in range(SHARDS)))
    try:
        with TemporaryDirectory() as folder, duckdb.connect() as con:
            load(con, Path(folder), scale, found.server(), found.whole, None)
            view = f"CREATE VIEW {REPEATED} AS SELECT lineitem.* FROM lineitem, {_NUMBERS[product]}"
            found.server().run(view, database=found.whole)
            for shard, database in enumerate(found.shards):
                load(con, Path(folder), scale, found.server(shard), database, shard)
        yield found
    finally:
        for shard, database in [(0, found.whole), *enumerate(found.shards)]:
            found.server(shard).run(f"DROP DATABASE IF EXISTS {database}")


def rows_of(scale: float, table: str, shard: int | None) -> str:
    """`FROM …`: a table's rows, or those of a shard."""
    place = PLACES[table]
    rows = f"FROM '{generated(scale) / table}.parquet'"
    if shard is not None and isinstance(place, By):
        rows += f" WHERE {place.keys[0]} % {SHARDS} = {shard}"
    return rows


def load(
    con: duckdb.DuckDBPyConnection, folder: Path, scale: float, server: Any, database: str, shard: int | None
) -> None:
    """A new database with the tables' rows, or those of a shard."""
    server.database(name=database)
    for name, columns in COLUMNS.items():
        server.run(
            f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({KEYS[name]}))",
            *(f"CREATE INDEX {name}_{column} ON {name} ({column})" for column in INDEXES.get(name, ())),
            database=database,
        )
        file = folder / f"{name}.csv"
        con.execute(
            f"COPY (SELECT * {rows_of(scale, name, shard)} ORDER BY {KEYS[name]}) TO '{file}' (HEADER false)"
        )
        copy_in(server, database, name, file)
    tables = ", ".join(COLUMNS)
    server.run(f"ANALYZE {'TABLE ' if server.product == 'mariadb' else ''}{tables}", database=database)


def copy_in(server: Server | Any, database: str, table: str, file: Path) -> None:
    """A CSV file's rows into a table."""
    if server.product == "mariadb":
        with closing(server.connect(database, local_infile=True)) as con, con.cursor() as cursor:
            cursor.execute(
                f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE {table}"
                " FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"'"
            )
    else:
        with (
            server.connect(database) as con,
            con.cursor() as cursor,
            cursor.copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy,
        ):
            copy.write(file.read_bytes())

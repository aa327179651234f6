"""All 22 TPC-H queries at scale 0.01 in the mysql dialect, on 1, 2, 3 and 7 MariaDB databases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import parse
from tests.oracle.cases import Case, read
from tests.oracle.cluster import By
from tests.oracle.mysql_world import PASSWORD
from tests.oracle.tpch import PLACES, generated
from tests.servers import mariadb
from tests.servers.mariadb_server import MariaDB

KEYS = {
    "region": "PRIMARY KEY (r_regionkey)",
    "nation": "PRIMARY KEY (n_nationkey), KEY (n_regionkey)",
    "customer": "PRIMARY KEY (c_custkey), KEY (c_nationkey)",
    "orders": "PRIMARY KEY (o_orderkey), KEY (o_custkey)",
    "lineitem": "KEY (l_orderkey), KEY (l_partkey, l_suppkey), KEY (l_suppkey)",
    "part": "PRIMARY KEY (p_partkey)",
    "partsupp": "PRIMARY KEY (ps_partkey, ps_suppkey), KEY (ps_suppkey)",
    "supplier": "PRIMARY KEY (s_suppkey), KEY (s_nationkey)",
}
"""As anyone would have them."""
CASES = {case.title: case for case in read("tpch")}
_TYPES = {"VARCHAR": "VARCHAR(200)"}
pytestmark = pytest.mark.slow


class TPCH:
    """All rows in one database, and copies of its parts, made by the server itself."""

    def __init__(self) -> None:
        self.clusters: dict[int, shardwise.Cluster] = {}
        self.known: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {}
        self.duckdb = duckdb.connect()
        self.server: MariaDB = mariadb(0)
        self.columns: dict[str, str] = {}
        self.databases = [self.server.database()]
        folder = generated(0.01)
        for name in PLACES:
            self.duckdb.execute(f"CREATE TABLE {name} AS SELECT * FROM '{folder}/{name}.parquet'")
            found = self.duckdb.execute(f"SELECT * FROM {name}")
            columns = [
                f"{c[0]} {'VARCHAR(200)' if str(c[1]) == 'VARCHAR' else c[1]}" for c in found.description
            ]
            self.columns[name] = ", ".join(columns)
            self.server.run(f"CREATE TABLE {name} ({self.columns[name]})", database=self.databases[0])
            self.server.insert(self.databases[0], name, found.fetchall())
            self.server.run(f"ANALYZE TABLE {name}", database=self.databases[0])

    def cluster(self, shards: int) -> shardwise.Cluster:
        if shards not in self.clusters:
            self.clusters[shards] = self._cluster(shards)
        return self.clusters[shards]

    def _cluster(self, shards: int) -> shardwise.Cluster:
        lines = ["CREATE CATALOG tpch DIALECT mysql;"]
        for shard in range(shards):
            database = self.server.database()
            self.databases.append(database)
            for name, place in PLACES.items():
                where = f" WHERE {place.keys[0]} % {shards} = {shard}" if isinstance(place, By) else ""
                self.server.run(
                    self._table(name),
                    f"INSERT INTO {name} SELECT * FROM `{self.databases[0]}`.{name}{where}",
                    f"ANALYZE TABLE {name}",
                    database=database,
                )
            lines.append(
                f"CREATE SOURCE s{shard} URL '{self.server.url(database)}' PASSWORD ENV '{PASSWORD}';"
            )
        lines.append(f"CREATE SHARDING by_key USING MOD {shards} AS n ON s{{n}};")
        for name, place in PLACES.items():
            text = f"SHARD BY by_key ({place.keys[0]})" if isinstance(place, By) else "REFERENCE ON by_key"
            lines.append(f"ATTACH TABLE {name} ({self.columns[name]}) {text};")
        return shardwise.open(parse("\n".join(lines)))

    def expected(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """What DuckDB says, whose averages are DOUBLEs: one MariaDB would take minutes for some."""
        if sql not in self.known:
            found = self.duckdb.execute(sql)
            self.known[sql] = [c[0] for c in found.description], found.fetchall()
        return self.known[sql]

    def _table(self, name: str) -> str:
        return f"CREATE TABLE {name} ({self.columns[name]}, {KEYS[name]})"

    def close(self) -> None:
        for cluster in self.clusters.values():
            cluster.close()
        self.duckdb.close()
        for database in self.databases:
            self.server.run(f"DROP DATABASE `{database}`")


@pytest.fixture(scope="module")
def tpch() -> Iterator[TPCH]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PASSWORD, mariadb(0).password)
        made = TPCH()
        yield made
        made.close()


@pytest.mark.parametrize("shards", [3, 1, 2, 7])
@pytest.mark.parametrize("query", CASES)
def test_answers_as_one_database_does(tpch: TPCH, query: str, shards: int) -> None:
    case: Case = CASES[query]
    names, wanted = tpch.expected(case.sql)
    with tpch.cluster(shards).connect() as con, con.execute(in_mysql(case.sql)) as cursor:
        found = [tuple(row) for row in cursor.fetchall()]
        assert [c[0] for c in cursor.description or ()] == names
    assert len(found) == len(wanted)
    pairs = zip(found, wanted, strict=True)
    if case.ordered:
        assert all(_alike(ours, theirs) for ours, theirs in pairs), (found[:5], wanted[:5])
    else:
        keys = [k - 1 for k in case.order_keys]
        assert all(_alike([ours[k] for k in keys], [theirs[k] for k in keys]) for ours, theirs in pairs)
        rest = list(wanted)
        for row in found:
            rest.remove(next(other for other in rest if _alike(row, other)))


def _alike(ours: Sequence[Any], theirs: Sequence[Any]) -> bool:
    return all(map(_close, ours, theirs))


def _close(ours: Any, theirs: Any) -> bool:
    """Numbers to six digits behind the point: as many has an average of DECIMAL(15,2)."""
    if isinstance(ours, int | float | Decimal) and isinstance(theirs, int | float | Decimal):
        return math.isclose(float(ours), float(theirs), rel_tol=1e-6, abs_tol=1e-5)
    return bool(ours == theirs)


def in_mysql(sql: str) -> str:
    """The standard's query in MySQL's words, which has no names of columns behind a derived table's."""
    sql = re.sub(r"count\(o_orderkey\)(?! AS)", "count(o_orderkey) AS c_count", sql)
    return sql.replace("c_orders (c_custkey, c_count)", "c_orders")

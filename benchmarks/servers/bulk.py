"""Large reads into Arrow: eleven columns of lineitem, from one server and from four shards at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from benchmarks.measure import once, paired
from benchmarks.servers.places import REPEATED, Placed

COLUMNS = (
    *("l_orderkey", "l_partkey", "l_suppkey", "l_linenumber", "l_quantity", "l_extendedprice"),
    *("l_discount", "l_tax", "l_returnflag", "l_shipdate", "l_comment"),
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM"
SQL = f"{SELECT} lineitem"
OURS = "shardwise"
ALONE_ROWS = (100_000, 1_000_000, 10_000_000)
PEERS_ALONE_ROWS = 1_000_000
_FETCH = 16_384
"""Rows asked of a driver's cursor at a time."""

Batch = pa.RecordBatch | pa.Table
Reader = Callable[[str], Iterator[Batch]]
"""A statement's rows as they come."""


def limited(key: int) -> str:
    """About so many rows: an order has four lines on average, and one key in four is used."""
    return f"{SQL} WHERE l_orderkey <= {key}"


def repeated(rows: int) -> str:
    """So many rows, whatever the scale."""
    return f"{SELECT} {REPEATED} LIMIT {rows}"


@contextmanager
def ours(place: Placed) -> Iterator[Reader]:
    """Through a catalog of one source, in DuckDB's dialect."""
    with place.cluster("duckdb", one=True) as cluster:

        def read(sql: str) -> Iterator[Batch]:
            with cluster.run(sql) as result:
                yield from result.arrow_reader(65_536)

        yield read


def _arrow_of(cursor: Any) -> Iterator[Batch]:
    """A cursor's rows of tuples as Arrow: what a program without shardwise does."""
    for rows in iter(lambda: list(cursor.fetchmany(_FETCH)), []):
        yield pa.record_batch([pa.array(column) for column in zip(*rows, strict=True)], list(COLUMNS))


@contextmanager
def pymysql(place: Placed) -> Iterator[Reader]:
    from pymysql.cursors import SSCursor

    con = place.connect()

    def read(sql: str) -> Iterator[Batch]:
        with con.cursor(SSCursor) as cursor:
            cursor.execute(sql)
            yield from _arrow_of(cursor)

    yield read
    con.close()


@contextmanager
def mysqlclient(place: Placed) -> Iterator[Reader]:
    import MySQLdb
    from MySQLdb.cursors import SSCursor

    server = place.server()
    con = MySQLdb.connect(
        host=server.host,
        port=server.port,
        user=server.user,
        password=server.password,
        database=place.whole,
        charset="utf8mb4",
    )

    def read(sql: str) -> Iterator[Batch]:
        cursor = con.cursor(SSCursor)
        cursor.execute(sql)
        yield from _arrow_of(cursor)
        cursor.close()

    yield read
    con.close()


def _url(place: Placed) -> str:
    server = place.server()
    scheme = {"mysql": "mysql", "postgres": "postgresql"}[place.product]
    return (
        f"{scheme}://{server.user}:{quote(server.password, safe='')}"
        f"@{server.host}:{server.port}/{place.whole}"
    )


@contextmanager
def connectorx(place: Placed) -> Iterator[Reader]:
    """Gives all rows at once."""
    import connectorx as cx

    yield lambda sql: iter([cx.read_sql(_url(place), sql, return_type="arrow")])


@contextmanager
def psycopg(place: Placed) -> Iterator[Reader]:
    con = place.connect()

    def read(sql: str) -> Iterator[Batch]:
        with con.transaction(), con.cursor("rows") as cursor:
            cursor.itersize = _FETCH
            cursor.execute(sql)
            yield from _arrow_of(cursor)

    yield read
    con.close()


@contextmanager
def adbc(place: Placed) -> Iterator[Reader]:
    """DECIMAL comes as text in a type of its own: cast, as its users must."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(_url(place)) as con:

        def read(sql: str) -> Iterator[Batch]:
            with con.cursor() as cursor:
                cursor.execute(sql)
                yield from map(_with_decimals, cursor.fetch_record_batch())

        yield read


def _with_decimals(batch: pa.RecordBatch) -> Batch:
    columns = [
        c.storage.cast(pa.decimal128(15, 2)) if isinstance(c.type, pa.BaseExtensionType) else c
        for c in batch.columns
    ]
    return pa.record_batch(columns, batch.schema.names)


READERS: dict[str, dict[str, Callable[[Placed], Any]]] = {
    "mysql": {
        OURS: ours,
        "PyMySQL SSCursor": pymysql,
        "mysqlclient SSCursor": mysqlclient,
        "connectorx": connectorx,
    },
    "postgres": {
        OURS: ours,
        "psycopg, server-side cursor": psycopg,
        "adbc-driver-postgresql": adbc,
        "connectorx": connectorx,
    },
}
_TYPES = [pa.int64(), pa.int64(), pa.int64(), pa.int32(), *[pa.decimal128(15, 2)] * 4]
_TYPES += [pa.string(), pa.date32(), pa.string()]
_SCHEMA = pa.schema(list(zip(COLUMNS, _TYPES, strict=True)))


def _table(read: Reader, sql: str) -> pa.Table:
    batches = list(read(sql))
    if all(isinstance(batch, pa.RecordBatch) for batch in batches):
        return pa.Table.from_batches(batches)
    return pa.concat_tables(batches)


def _plain(table: pa.Table) -> pa.Table:
    order = [("l_orderkey", "ascending"), ("l_linenumber", "ascending")]
    return table.cast(_SCHEMA).sort_by(order)


def measure(place: Placed, *, rounds: int, rows: int) -> dict[str, Any]:
    """Each peer paired with ours, on as many rows as keeps a run within seconds."""
    found: dict[str, Any] = {"peers": [], "missing": {}}
    sql = limited(rows)
    with ours(place) as mine:
        answer = _plain(_table(mine, sql))
        found["rows"] = answer.num_rows
        for name, peer in READERS[place.product].items():
            if name == OURS:
                continue
            try:
                with peer(place) as theirs:
                    if not _plain(_table(theirs, sql)).equals(answer):
                        raise AssertionError(f"the rows of {name} differ")
                    pair = paired(
                        lambda: _table(mine, sql), lambda read=theirs: _table(read, sql), rounds=rounds
                    )
            except ImportError as error:
                found["missing"][name] = f"{error}"
                continue
            found["peers"].append({"peer": name, **asdict(pair)})
            print(f"  {place.product} bulk, {name}: {1 / pair.ratio:.1f} times as fast", flush=True)
    found["four_shards"] = _four_shards(place, rounds)
    return found


def _four_shards(place: Placed, rounds: int) -> dict[str, Any]:
    """All of lineitem from four shards at once, through a cluster, beside the same through one shard."""
    with place.cluster("duckdb") as split, ours(place) as whole:

        def read(cluster: Any) -> int:
            with cluster.run(SQL) as result:
                return sum(batch.num_rows for batch in result.arrow_reader(65_536))

        def read_whole() -> int:
            return sum(batch.num_rows for batch in whole(SQL))

        rows = read(split)
        assert rows == read_whole()
        pair = paired(lambda: read(split), read_whole, rounds=rounds)
    print(f"  {place.product} bulk, four shards: {rows / pair.ours_s:,.0f} rows/s", flush=True)
    return {"rows": rows, **asdict(pair)}


def alone(place: Placed, missing: dict[str, str]) -> list[dict[str, Any]]:
    """Rows a second and peak memory of a process that reads so many rows and drops them."""
    found = []
    for name in READERS[place.product]:
        if name in missing:
            continue
        for rows in ALONE_ROWS if name == OURS else (PEERS_ALONE_ROWS,):
            told = once("benchmarks.servers.bulk_once", name, str(rows), json.dumps(asdict(place)))
            found.append({"reader": name, "rows": rows, **told})
            print(f"  {place.product} alone, {name}, {rows:,} rows: {told['peak'] / 1e6:,.0f} MB", flush=True)
    return found

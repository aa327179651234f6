"""Large reads into Arrow: eleven columns of lineitem, from one server and from four shards at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from benchmarks.measure import paired, peak_bytes
from benchmarks.servers.places import Placed
from shardwise.executor.backends import backend_of
from shardwise.executor.backends.base import Columns, Location, SourceOptions

WANTED: Columns = (
    ("l_orderkey", "BIGINT"),
    ("l_partkey", "BIGINT"),
    ("l_suppkey", "BIGINT"),
    ("l_linenumber", "INTEGER"),
    ("l_quantity", "DECIMAL(15,2)"),
    ("l_extendedprice", "DECIMAL(15,2)"),
    ("l_discount", "DECIMAL(15,2)"),
    ("l_tax", "DECIMAL(15,2)"),
    ("l_returnflag", "VARCHAR"),
    ("l_shipdate", "DATE"),
    ("l_comment", "VARCHAR"),
)
SQL = f"SELECT {', '.join(name for name, _ in WANTED)} FROM lineitem"
_FETCH = 16_384
"""Rows asked of a driver's cursor at a time."""

Reader = Callable[[int], pa.Table]
"""Reads so many rows."""


def limited(rows: int) -> str:
    """About so many: an order has four lines on average, and one key in four is used."""
    return f"{SQL} WHERE l_orderkey <= {rows}"


@contextmanager
def ours(place: Placed) -> Iterator[Reader]:
    """The source as the executor reads it, with the types that a catalog in DuckDB's dialect wants."""
    server = place.server()
    location = Location(source="one", url=server.url(place.whole), password=server.password)
    source = backend_of(location.scheme, location.source).open(location, SourceOptions())
    connection = source.connect("UTC")
    try:
        yield lambda rows: connection.arrow(limited(rows), {}, _FETCH, WANTED).read_all()
    finally:
        connection.close()
        source.close()


def _arrow_of(cursor: Any) -> pa.Table:
    """A cursor's rows of tuples as Arrow: what a program without shardwise does."""
    names = [name for name, _ in WANTED]
    return pa.Table.from_batches(
        pa.record_batch([pa.array(c) for c in zip(*rows, strict=True)], names)
        for rows in iter(lambda: list(cursor.fetchmany(_FETCH)), [])
    )


@contextmanager
def pymysql(place: Placed) -> Iterator[Reader]:
    from pymysql.cursors import SSCursor

    con = place.connect()

    def read(rows: int) -> pa.Table:
        with con.cursor(SSCursor) as cursor:
            cursor.execute(limited(rows))
            return _arrow_of(cursor)

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

    def read(rows: int) -> pa.Table:
        cursor = con.cursor(SSCursor)
        cursor.execute(limited(rows))
        table = _arrow_of(cursor)
        cursor.close()
        return table

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
    import connectorx as cx

    yield lambda rows: cx.read_sql(_url(place), limited(rows), return_type="arrow")


@contextmanager
def psycopg(place: Placed) -> Iterator[Reader]:
    con = place.connect()

    def read(rows: int) -> pa.Table:
        with con.transaction(), con.cursor("rows") as cursor:
            cursor.itersize = _FETCH
            cursor.execute(limited(rows))
            return _arrow_of(cursor)

    yield read
    con.close()


@contextmanager
def adbc(place: Placed) -> Iterator[Reader]:
    """DECIMAL comes as text in a type of its own: cast, as its users must."""
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(_url(place)) as con:

        def read(rows: int) -> pa.Table:
            with con.cursor() as cursor:
                cursor.execute(limited(rows))
                table = cursor.fetch_arrow_table()
            for i, field in enumerate(table.schema):
                if isinstance(field.type, pa.BaseExtensionType):
                    cast = [chunk.storage.cast(pa.decimal128(15, 2)) for chunk in table.column(i).chunks]
                    table = table.set_column(i, field.name, pa.chunked_array(cast, pa.decimal128(15, 2)))
            return table

        yield read


PEERS: dict[str, dict[str, Callable[[Placed], Any]]] = {
    "mysql": {"PyMySQL SSCursor": pymysql, "connectorx": connectorx, "mysqlclient SSCursor": mysqlclient},
    "postgres": {
        "psycopg, server-side cursor": psycopg,
        "adbc-driver-postgresql": adbc,
        "connectorx": connectorx,
    },
}
_TYPES = [pa.int64(), pa.int64(), pa.int64(), pa.int32(), *[pa.decimal128(15, 2)] * 4]
_TYPES += [pa.string(), pa.date32(), pa.string()]


def _plain(table: pa.Table) -> pa.Table:
    return table.cast(pa.schema(list(zip([name for name, _ in WANTED], _TYPES, strict=True))))


def measure(place: Placed, *, rounds: int, rows: int) -> dict[str, Any]:
    """Each peer paired with ours, on as many rows as keeps a run within seconds."""
    found: dict[str, Any] = {"peers": [], "missing": {}}
    with ours(place) as mine:
        order = [("l_orderkey", "ascending"), ("l_linenumber", "ascending")]
        answer = _plain(mine(rows)).sort_by(order)
        found["rows"] = answer.num_rows
        for name, peer in PEERS[place.product].items():
            try:
                with peer(place) as theirs:
                    other = _plain(theirs(rows))
                    if not other.sort_by(order).equals(answer):
                        raise AssertionError(f"the rows of {name} differ")
                    pair = paired(lambda: mine(rows), lambda read=theirs: read(rows), rounds=rounds)
            except ModuleNotFoundError as error:
                found["missing"][name] = f"{error.name} is not installed"
                continue
            found["peers"].append({"peer": name, **asdict(pair)})
            print(f"  {place.product} bulk, {name}: {1 / pair.ratio:.1f} times as fast", flush=True)
    found["four_shards"] = _four_shards(place, rounds)
    return found


def _four_shards(place: Placed, rounds: int) -> dict[str, Any]:
    """All of lineitem from four shards at once, through a cluster, beside the same through one shard."""
    with place.cluster("duckdb") as split, place.cluster("duckdb", one=True) as whole:

        def read(cluster: Any) -> int:
            with cluster.run(SQL) as result:
                return sum(batch.num_rows for batch in result.arrow_reader(65_536))

        rows = read(split)
        assert rows == read(whole)
        pair = paired(lambda: read(split), lambda: read(whole), rounds=rounds)
    print(f"  {place.product} bulk, four shards: {rows / pair.ours_s:,.0f} rows/s", flush=True)
    return {"rows": rows, **asdict(pair)}


def memory(place: Placed, sizes: tuple[int, ...]) -> list[dict[str, int]]:
    """Peak memory of a process that reads so many rows and drops them."""
    server = place.server()
    return [
        {
            "rows": rows,
            "peak_bytes": peak_bytes("benchmarks.servers.bulk_once", server.url(place.whole), str(rows)),
        }
        for rows in sizes
    ]

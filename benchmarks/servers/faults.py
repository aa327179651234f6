"""How long it takes until a cancel, or a fault, is a clean error."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from benchmarks.servers.odd_shards import (
    NO_VALUE,
    OTHER_COLLATION,
    odd,
    stopped,
    with_a_server_of_its_own,
)
from benchmarks.servers.places import PASSWORD, SHARDS, Placed, catalog
from shardwise.catalog import parse
from shardwise.errors import Cancelled, Error
from shardwise.session.cluster import Cluster
from tests.faults.proxy import Proxy

SLOW = "SELECT count(*) FROM lineitem a, lineitem b WHERE a.l_comment > b.l_comment"
ROWS = "SELECT l_orderkey, l_comment FROM lineitem"
ROWS_BY_FIVE = (
    "SELECT a.l_orderkey, a.l_comment FROM lineitem a JOIN lineitem b ON a.l_orderkey = b.l_orderkey"
)
SILENT_S = 2


def measure(place: Placed) -> list[dict[str, Any]]:
    """Seconds from the cancel, or from the statement that meets the fault, to the error."""
    os.environ[PASSWORD] = place.server().password
    found = [{"fault": "cancelled by the user", **_cancel(place)}]
    for name, fault in _FAULTS.items():
        found.append({"fault": name, **fault(place)})
        print(f"  {place.product} faults, {name}: {found[-1]['seconds']:.2f} s", flush=True)
    return found


@contextmanager
def _cluster(place: Placed, change: Callable[[str], str] = lambda text: text) -> Iterator[Cluster]:
    text = change(place.catalog(place.product))
    with Cluster(parse(text), Path.cwd(), None, {}) as found:
        yield found


@contextmanager
def _proxied(place: Placed, **options: Any) -> Iterator[tuple[Cluster, Proxy]]:
    """The first shard by way of a proxy."""
    server = place.server()
    with Proxy(server.host, server.port) as proxy:
        urls = [place.server(i).url(name) for i, name in enumerate(place.shards)]
        urls[0] = urls[0].replace(f":{server.port}/", f":{proxy.port}/")
        text = catalog(place.product, urls)
        with_ = ", ".join(f"{name} = {value}" for name, value in options.items())
        if with_:
            text = text.replace(f"PASSWORD ENV '{PASSWORD}';", f"PASSWORD ENV '{PASSWORD}' WITH ({with_});")
        with Cluster(parse(text), Path.cwd(), None, {}) as found:
            yield found, proxy


def _error(cluster: Cluster, sql: str) -> dict[str, Any]:
    start = perf_counter()
    try:
        with cluster.connect() as connection, connection.cursor() as cursor:
            cursor.execute(sql).fetchall()
    except Error as error:
        return {"seconds": perf_counter() - start, "error": f"{type(error).__name__}: {error.message}"}
    return {"seconds": perf_counter() - start, "error": None}


def _cancel(place: Placed) -> dict[str, Any]:
    latencies = []
    with _cluster(place) as cluster:
        for _ in range(5):
            with cluster.connect() as connection, connection.cursor() as cursor:
                at: list[float] = []

                def cancel(cursor: Any = cursor, at: list[float] = at) -> None:
                    sleep(0.5)
                    at.append(perf_counter())
                    cursor.cancel()

                thread = threading.Thread(target=cancel)
                thread.start()
                try:
                    cursor.execute(SLOW).fetchall()
                except Cancelled:
                    latencies.append(perf_counter() - at[0])
                thread.join()
    if not latencies:
        return {"seconds": float("nan"), "error": None}
    return {"seconds": sorted(latencies)[len(latencies) // 2], "error": "Cancelled"}


def _password(place: Placed) -> dict[str, Any]:
    os.environ["SHARDWISE_BENCH_WRONG"] = "wrong"
    with _cluster(place, lambda text: text.replace(PASSWORD, "SHARDWISE_BENCH_WRONG")) as cluster:
        return _error(cluster, ROWS)


def _database(place: Placed) -> dict[str, Any]:
    with _cluster(place, lambda text: text.replace(place.shards[SHARDS - 1], "nowhere")) as cluster:
        return _error(cluster, ROWS)


def _down(place: Placed) -> dict[str, Any]:
    with _proxied(place) as (cluster, proxy):
        proxy.refuse()
        return _error(cluster, ROWS)


def _amid(place: Placed) -> dict[str, Any]:
    """The connection goes when a part of a shard's rows was handed on."""
    with _proxied(place) as (cluster, proxy):
        _error(cluster, "SELECT count(*) FROM lineitem")
        proxy.cut_after(int(120e6 * place.scale))
        return _error(cluster, ROWS_BY_FIVE)


def _silent(place: Placed) -> dict[str, Any]:
    with _proxied(place, read_timeout_s=SILENT_S, connect_timeout_s=SILENT_S) as (cluster, proxy):
        _error(cluster, "SELECT count(*) FROM lineitem")
        proxy.stall()
        try:
            return _error(cluster, ROWS)
        finally:
            proxy.flow()


def _killed(place: Placed) -> dict[str, Any]:
    """Connections that wait in the pool are gone: the statement is answered all the same."""
    with _proxied(place) as (cluster, proxy):
        _error(cluster, "SELECT count(*) FROM lineitem")
        proxy.drop()
        return _error(cluster, "SELECT count(*) FROM lineitem")


def _stopped(place: Placed) -> dict[str, Any]:
    """The server is there, its processes stand still."""
    limits = f"read_timeout_s = {SILENT_S}, connect_timeout_s = {SILENT_S}"
    with with_a_server_of_its_own(place, limits) as (cluster, server):
        _error(cluster, "SELECT count(*) FROM lineitem")
        with stopped(server):
            return _error(cluster, ROWS)


def _timeout(place: Placed) -> dict[str, Any]:
    """Of the statement that a shard runs: one customer's, so that it goes to one."""
    sql = "SELECT count(*) FROM customer, nation a, nation b, nation c, nation d, nation e, nation f"
    sql += " WHERE c_custkey = 1 AND concat(a.n_name, b.n_name, c.n_name, d.n_name, e.n_name) > f.n_comment"
    with _proxied(place, statement_timeout_s=1) as (cluster, _):
        return _error(cluster, sql)


def _other_type(place: Placed) -> dict[str, Any]:
    with odd(place, place.product, columns=("l_comment VARCHAR(44)", "l_comment BIGINT")) as cluster:
        return _error(cluster, ROWS)


def _other_collation(place: Placed) -> dict[str, Any]:
    other = f"l_comment VARCHAR(44) COLLATE {OTHER_COLLATION[place.product]}"
    with odd(place, place.product, columns=("l_comment VARCHAR(44)", other)) as cluster:
        return _error(cluster, "SELECT l_comment, count(*) FROM lineitem GROUP BY 1 ORDER BY 1 LIMIT 9")


def _no_value(place: Placed) -> dict[str, Any]:
    """In DuckDB's dialect, which has no such value."""
    with odd(place, "duckdb", *NO_VALUE[place.product]) as cluster:
        return _error(cluster, "SELECT o_orderkey, o_totalprice, o_orderdate FROM orders")


_FAULTS: dict[str, Callable[[Placed], dict[str, Any]]] = {
    "wrong password": _password,
    "unknown database": _database,
    "server down at connect": _down,
    "connection lost amid the rows": _amid,
    "server silent": _silent,
    "server stopped (SIGSTOP)": _stopped,
    "connections killed in the pool": _killed,
    "statement_timeout_s = 1": _timeout,
    "a column of another type on a shard": _other_type,
    "a column of another collation on a shard": _other_collation,
    "a value that the catalog's type has not": _no_value,
}

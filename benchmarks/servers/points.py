"""A row by its key: the cursor against the driver on the owning server, paired; and from eight threads."""

from __future__ import annotations

import itertools
import threading
from contextlib import ExitStack, closing
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.servers.places import SHARDS, Placed

SQL = {
    "mysql": "SELECT c_name, c_acctbal FROM customer WHERE c_custkey = %s",
    "postgres": "SELECT c_name, c_acctbal FROM customer WHERE c_custkey = %s",
}
THREADS = 8


def measure(place: Placed, *, rounds: int) -> list[dict[str, Any]]:
    """In the product's own dialect and in DuckDB's."""
    found = []
    for dialect in (place.product, "duckdb"):
        with place.cluster(dialect) as cluster:
            one = _one(place, cluster, rounds * 100)
            found.append({"dialect": dialect, **one, **_threads(place, cluster, rounds * 40)})
            print(f"  {place.product} points, {dialect} dialect: {one['ratio']:.2f} × the driver", flush=True)
    return found


def _keys(place: Placed) -> list[int]:
    """Customers of all shards in turn."""
    return list(range(1, int(150_000 * place.scale), 37))


def _one(place: Placed, cluster: Any, count: int) -> dict[str, float]:
    sql = SQL[place.product]
    keys = itertools.cycle(_keys(place))
    drivers = [place.connect(shard) for shard in range(SHARDS)]
    bare = [con.cursor() for con in drivers]
    mine: list[float] = []
    theirs: list[float] = []
    with cluster.connect(paramstyle="format") as connection, connection.cursor() as cursor:
        for number in range(count + 50):
            key = next(keys)
            start = perf_counter()
            cursor.execute(sql, [key])
            ours = cursor.fetchone()
            between = perf_counter()
            bare[key % SHARDS].execute(sql, (key,))
            other = bare[key % SHARDS].fetchone()
            end = perf_counter()
            assert tuple(ours) == tuple(other), (ours, other)
            if number >= 50:
                mine.append(between - start)
                theirs.append(end - between)
    for con in drivers:
        con.close()
    return {
        "ours_s": median(mine),
        "theirs_s": median(theirs),
        "ratio": median(a / b for a, b in zip(mine, theirs, strict=True)),
    }


def _threads(place: Placed, cluster: Any, count: int) -> dict[str, float]:
    """Statements a second of eight threads, each with a connection of its own."""
    sql, keys = SQL[place.product], _keys(place)

    def run(cursors: list[Any], number: int) -> None:
        for key in itertools.islice(itertools.cycle(keys), number, number + count):
            cursor = cursors[key % len(cursors)]
            cursor.execute(sql, (key,))
            cursor.fetchone()

    with ExitStack() as stack:
        ours, theirs = [], []
        for number in range(THREADS):
            connection = stack.enter_context(cluster.connect(paramstyle="format"))
            ours.append([stack.enter_context(connection.cursor())])
            drivers = [stack.enter_context(closing(place.connect(shard))) for shard in range(SHARDS)]
            theirs.append([driver.cursor() for driver in drivers])
            run(ours[number], number)
        rates: dict[str, list[float]] = {"ours": [], "theirs": []}
        for _ in range(3):
            for name, each in (("ours", ours), ("theirs", theirs)):
                threads = [threading.Thread(target=run, args=(each[n], n)) for n in range(THREADS)]
                start = perf_counter()
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                rates[name].append(THREADS * count / (perf_counter() - start))
    return {"threads_ours": max(rates["ours"]), "threads_theirs": max(rates["theirs"])}

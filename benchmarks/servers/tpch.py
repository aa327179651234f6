"""TPC-H on four databases: each query's answer checked, its wall time beside the peers'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.measure import paired
from benchmarks.servers import by_hand
from benchmarks.servers.fdw import postgres_fdw
from benchmarks.servers.places import Placed
from benchmarks.servers.queries import queries
from benchmarks.servers.spider import Missing, spider
from shardwise.errors import Error
from tests.oracle.compare import matching

DEADLINE_S = 20.0
PEER_DEADLINE_S = 10.0
WHOLE_DEADLINE_S = 60.0
SLOW_S = 3.0
"""What takes longer is run once."""

Run = Callable[[str], list[tuple[Any, ...]]]


@contextmanager
def _running(con: Any, deadline_s: float) -> Iterator[Run]:
    """A driver's connection."""

    def run(sql: str) -> list[tuple[Any, ...]]:
        with con.cursor() as cursor:
            cursor.execute(sql)
            return list(cursor.fetchall())

    limit = {
        "pymysql": f"SET max_statement_time = {deadline_s}",
        "psycopg": f"SET statement_timeout = {1000 * deadline_s:.0f}",
    }[type(con).__module__.partition(".")[0]]
    with con.cursor() as cursor:
        cursor.execute(limit)
    yield run


def measure(place: Placed, *, rounds: int) -> dict[str, Any]:
    """Every query in the product's own dialect and in DuckDB's, beside one server with all rows, and beside
    the product's own way to many (Spider, postgres_fdw)."""
    missing: dict[str, str] = {}
    peer_name, peer_of = {"mysql": ("Spider", spider), "postgres": ("postgres_fdw", postgres_fdw)}[
        place.product
    ]
    with ExitStack() as stack:
        runs: dict[str, Run] = {}
        for dialect in (place.product, "duckdb"):
            cluster = stack.enter_context(place.cluster(dialect))
            runs[dialect] = _ours(stack.enter_context(cluster.connect(deadline_s=DEADLINE_S)))
        whole = stack.enter_context(_running(place.connect(), WHOLE_DEADLINE_S))
        try:
            peer = stack.enter_context(peer_of(place))
            runs[peer_name] = stack.enter_context(_running(peer, PEER_DEADLINE_S))
        except Missing as error:
            missing[peer_name] = str(error)
        found = [
            _query(case, text, place.product, runs, whole, rounds) for case, text in queries(place.product)
        ]
    return {"queries": found, "missing": missing, "peer": peer_name, "by_hand": _by_hand(place, rounds)}


def _ours(connection: Any) -> Run:
    def run(sql: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return [tuple(row) for row in cursor.fetchall()]

    return run


def _query(
    case: Any, text: str, product: str, runs: dict[str, Run], whole: Run, rounds: int
) -> dict[str, Any]:
    """Each contender once, its rows compared; then those that are not slow in turn, `rounds` times."""
    times: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    runs = {"whole": whole, **runs}
    texts = {name: case.sql if name == "duckdb" else text for name in runs}
    expected: list[tuple[Any, ...]] | None = None
    for name, run in runs.items():
        start = perf_counter()
        try:
            rows = run(texts[name])
        except Exception as error:  # noqa: BLE001  a peer that fails is named in the page
            failed[name] = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            continue
        times[name] = [perf_counter() - start]
        if expected is None:  # that of the one server, unless it took too long
            expected = rows
        left, right = matching(_plain(rows), _plain(expected))
        if left or right:
            failed[name] = f"{len(left)} rows differ"
    again = [name for name in times if name not in failed and sum(times[name]) < SLOW_S]
    for _ in range(rounds):
        for name in again:
            start = perf_counter()
            runs[name](texts[name])
            times[name].append(perf_counter() - start)
        again = [*again[1:], *again[:1]]
    # The first run of each was the one that plans, describes and warms.
    medians = {name: median(each[1:] or each) for name, each in times.items()}
    shown = " ".join(f"{name} {seconds * 1e3:,.0f} ms" for name, seconds in medians.items())
    print(f"  {product} {case.title}: {shown}", *(f"{n}: {why}" for n, why in failed.items()), flush=True)
    return {"query": case.title, "seconds": medians, "failed": failed}


def _plain(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Numbers of any type compared as such, for the dialects' result types differ."""
    return [tuple(_number(value) for value in row) for row in rows]


def _number(value: Any) -> Any:
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return float(f"{float(value):.6g}")
    return value.rstrip() if isinstance(value, str) else value


def _by_hand(place: Placed, rounds: int) -> list[dict[str, Any]]:
    frame, close = by_hand.reader(place)
    found = []
    try:
        with place.cluster("duckdb") as cluster, cluster.connect(deadline_s=DEADLINE_S) as connection:
            duckdb = {case.title: case.sql for case, _ in queries(place.product)}
            run = _ours(connection)
            for name, query in by_hand.QUERIES.items():
                try:
                    pair = paired(
                        lambda name=name: run(duckdb[name]),
                        lambda query=query: query(frame),
                        rounds=rounds,
                        budget_s=8.0,
                    )
                except Error as error:
                    found.append({"query": name, "error": error.message})
                    continue
                found.append(
                    {"query": name, "ours_s": pair.ours_s, "theirs_s": pair.theirs_s, "ratio": pair.ratio}
                )
    finally:
        close()
    return found

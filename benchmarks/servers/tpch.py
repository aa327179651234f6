"""TPC-H on four databases: each query's answer checked, its wall time beside the peers'."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from decimal import Decimal
from math import isclose
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.measure import paired
from benchmarks.servers import by_hand
from benchmarks.servers.fdw import postgres_fdw
from benchmarks.servers.mixed import one_duckdb
from benchmarks.servers.places import Placed
from benchmarks.servers.queries import queries
from benchmarks.servers.spider import Missing, spider
from shardwise.errors import Error
from tests.oracle.cases import Case
from tests.oracle.compare import Answer, answer_of, difference, rank

DEADLINE_S = 20.0
PEER_DEADLINE_S = 10.0
WHOLE_DEADLINE_S = 60.0
SLOW_S = 3.0
"""What takes longer is run once."""
WHOLE = "whole"

Run = Callable[[str], Answer]
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Contender:
    """Who answers, in which dialect, and how its answer is judged: `problem(answer)` in words, or None."""

    name: str
    run: Run
    sql: str
    problem: Callable[[Answer], str | None] = lambda _: None


@contextmanager
def _running(con: Any, deadline_s: float) -> Iterator[Run]:
    """A driver's connection."""

    def run(sql: str) -> Answer:
        with con.cursor() as cursor:
            cursor.execute(sql)
            return answer_of(cursor)

    limit = {
        "pymysql": f"SET max_statement_time = {deadline_s}",
        "psycopg": f"SET statement_timeout = {1000 * deadline_s:.0f}",
    }[type(con).__module__.partition(".")[0]]
    with con.cursor() as cursor:
        cursor.execute(limit)
    yield run


def _ours(connection: Any) -> Run:
    def run(sql: str) -> Answer:
        with connection.cursor() as cursor:
            return answer_of(cursor.execute(sql))

    return run


def measure(place: Placed, *, rounds: int) -> dict[str, Any]:
    """Every query in the product's own dialect and in DuckDB's, beside one server with all rows, and beside
    the product's own way to many (Spider, postgres_fdw).

    Each dialect's answer is the one that a single database of that dialect gives: the server's own, values as
    they are, and that of one DuckDB. The peers' rows are compared as numbers of four digits.
    """
    missing: dict[str, str] = {}
    peer_name, peer_of = {"mysql": ("Spider", spider), "postgres": ("postgres_fdw", postgres_fdw)}[
        place.product
    ]
    with ExitStack() as stack:
        runs: dict[str, Run] = {}
        for dialect in (place.product, "duckdb"):
            cluster = stack.enter_context(place.cluster(dialect))
            runs[dialect] = _ours(stack.enter_context(cluster.connect(deadline_s=DEADLINE_S)))
        runs[WHOLE] = stack.enter_context(_running(place.connect(), WHOLE_DEADLINE_S))
        try:
            peer = stack.enter_context(peer_of(place))
            runs[peer_name] = stack.enter_context(_running(peer, PEER_DEADLINE_S))
        except Missing as error:
            missing[peer_name] = str(error)
        duck = stack.enter_context(one_duckdb(place.scale))
        found = [
            _query(case, _contenders(case, text, place.product, runs, answer_of(duck.execute(case.sql))))
            for case, text in queries(place.product)
        ]
        for query, run_again in found:
            run_again(rounds)
            shown = " ".join(f"{name} {seconds * 1e3:,.0f} ms" for name, seconds in query["seconds"].items())
            print(f"  {place.product} {query['query']}: {shown}", query["failed"] or "", flush=True)
    return {
        "queries": [query for query, _ in found],
        "missing": missing,
        "peer": peer_name,
        "by_hand": _by_hand(place, rounds),
    }


def _contenders(
    case: Case, text: str, product: str, runs: dict[str, Run], duckdb: Answer
) -> Iterator[Contender]:
    """The one server first: the others' answers are judged by its own."""
    whole: list[Answer] = []

    def known(answer: Answer) -> str | None:
        whole.append(answer)
        return _alike(answer.rows, duckdb.rows)

    def as_whole(answer: Answer) -> str | None:
        if not whole:  # it took too long
            return _alike(answer.rows, duckdb.rows)
        ours, theirs = (Answer((), (), each.rows) for each in (answer, whole[0]))
        return difference(ours, theirs, order_keys=_keys(case, answer))

    def as_duckdb(answer: Answer) -> str | None:
        return difference(answer, duckdb, order_keys=_keys(case, answer))

    yield Contender(WHOLE, runs[WHOLE], text, known)
    yield Contender(product, runs[product], text, as_whole)
    yield Contender("duckdb", runs["duckdb"], case.sql, as_duckdb)
    for name in runs.keys() - {WHOLE, product, "duckdb"}:
        yield Contender(name, runs[name], text, lambda answer: _alike(answer.rows, duckdb.rows))


def _keys(case: Case, answer: Answer) -> tuple[int, ...]:
    return tuple(range(1, len(answer.names) + 1)) if case.ordered else case.order_keys


def _query(case: Case, contenders: Iterator[Contender]) -> tuple[dict[str, Any], Callable[[int], None]]:
    """Each contender once, its rows compared; and what runs those that are not slow in turn."""
    times: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    seconds: dict[str, float] = {}
    again: list[Contender] = []
    for each in contenders:
        start = perf_counter()
        try:
            answer = each.run(each.sql)
            times[each.name] = [perf_counter() - start]
            problem = each.problem(answer)
        except Exception as error:  # noqa: BLE001  who fails is named in the page
            problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            failed[each.name] = problem.partition("\n")[0][:200]
        elif times[each.name][0] < SLOW_S:
            again.append(each)

    def run_again(rounds: int) -> None:
        for number in range(rounds):
            for each in again[number % max(1, len(again)) :] + again[: number % max(1, len(again))]:
                start = perf_counter()
                each.run(each.sql)
                times[each.name].append(perf_counter() - start)
        # The first run of each was the one that plans, describes and warms.
        seconds.update((name, median(each[1:] or each)) for name, each in times.items())

    return {"query": case.title, "seconds": seconds, "failed": failed}, run_again


def _alike(rows: Rows, others: Rows) -> str | None:
    """Numbers of any type compared as such, to four digits: an AVG of MariaDB's has six decimals."""
    if len(rows) != len(others):
        return f"{len(rows)} rows, not {len(others)}"
    pairs = zip(_sorted(rows), _sorted(others), strict=True)
    wrong = sum(not all(map(_near, row, other)) for row, other in pairs)
    return f"{wrong} rows differ" if wrong else None


def _sorted(rows: Rows) -> Rows:
    """By the group's columns, which come first in TPC-H's answers."""
    return sorted((tuple(map(_plain, row)) for row in rows), key=lambda row: tuple(map(rank, row)))


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal | int | float) and not isinstance(value, bool):
        return float(value)
    return value.rstrip() if isinstance(value, str) else value


def _near(value: Any, other: Any) -> bool:
    if isinstance(value, float) and isinstance(other, float):
        return isclose(value, other, rel_tol=1e-4, abs_tol=1e-4)
    return bool(value == other)


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

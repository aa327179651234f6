"""TPC-H's joins across four MariaDB databases: shardwise, Spider, and DuckDB by hand, in turn, in one run.

By hand is what one would write who knows where the rows are: what is on one shard together is joined there,
with its filters and the columns that are needed; connectorx reads it from all four at once, as Arrow; DuckDB
does the rest. `PARTS=joins PRODUCTS=mysql SCALE=0.1 python -m benchmarks.servers` runs this part alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from statistics import median
from typing import Any
from urllib.parse import quote

import duckdb
import pyarrow as pa

from benchmarks.measure import seconds
from benchmarks.servers.mixed import one_duckdb
from benchmarks.servers.places import SHARDS, Placed
from benchmarks.servers.queries import queries
from benchmarks.servers.spider import Missing, spider
from benchmarks.servers.tpch import Contender, Run, _alike, _ours, _query, _running
from benchmarks.tables import table
from tests.oracle.compare import Answer, answer_of

DEADLINE_S = 60.0
HAND = "DuckDB by hand"
SPIDER = "Spider"

_REVENUE = "sum(l_extendedprice * (1 - l_discount)) AS revenue"
_LINES = "orders JOIN lineitem ON l_orderkey = o_orderkey"
_NATION = "JOIN nation ON s_nationkey = n_nationkey"
BY_HAND: dict[str, tuple[dict[str, str], str]] = {
    "Q3": (
        {
            "c": "SELECT c_custkey FROM customer WHERE c_mktsegment = 'BUILDING'",
            "l": f"""SELECT o_custkey, l_orderkey, o_orderdate, o_shippriority, l_extendedprice, l_discount
                FROM {_LINES} WHERE o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15'""",
        },
        f"""SELECT l_orderkey, {_REVENUE}, o_orderdate, o_shippriority FROM l JOIN c ON c_custkey = o_custkey
            GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate LIMIT 10""",
    ),
    "Q5": (
        {
            "c": "SELECT c_custkey, c_nationkey FROM customer",
            "l": f"""SELECT o_custkey, l_suppkey, l_extendedprice, l_discount FROM {_LINES}
                WHERE o_orderdate >= '1994-01-01' AND o_orderdate < '1995-01-01'""",
            "s": f"""SELECT s_suppkey, s_nationkey, n_name FROM supplier {_NATION}
                JOIN region ON n_regionkey = r_regionkey WHERE r_name = 'ASIA'""",
        },
        f"""SELECT n_name, {_REVENUE} FROM l JOIN s ON s_suppkey = l_suppkey
            JOIN c ON c_custkey = o_custkey AND c_nationkey = s_nationkey
            GROUP BY n_name ORDER BY revenue DESC""",
    ),
    "Q7": (
        {
            "c": """SELECT c_custkey, n_name AS cust_nation FROM customer
                JOIN nation ON c_nationkey = n_nationkey WHERE n_name IN ('FRANCE', 'GERMANY')""",
            "l": f"""SELECT o_custkey, l_suppkey, year(l_shipdate) AS l_year, l_extendedprice, l_discount
                FROM {_LINES} WHERE l_shipdate BETWEEN '1995-01-01' AND '1996-12-31'""",
            "s": f"""SELECT s_suppkey, n_name AS supp_nation FROM supplier {_NATION}
                WHERE n_name IN ('FRANCE', 'GERMANY')""",
        },
        f"""SELECT supp_nation, cust_nation, l_year, {_REVENUE} FROM l JOIN s ON s_suppkey = l_suppkey
            JOIN c ON c_custkey = o_custkey WHERE supp_nation <> cust_nation
            GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year""",
    ),
    "Q8": (
        {
            "p": "SELECT p_partkey FROM part WHERE p_type = 'ECONOMY ANODIZED STEEL'",
            "c": """SELECT c_custkey FROM customer JOIN nation ON c_nationkey = n_nationkey
                JOIN region ON n_regionkey = r_regionkey WHERE r_name = 'AMERICA'""",
            "l": f"""SELECT o_custkey, l_partkey, l_suppkey, year(o_orderdate) AS o_year, l_extendedprice,
                l_discount FROM {_LINES} WHERE o_orderdate BETWEEN '1995-01-01' AND '1996-12-31'""",
            "s": f"SELECT s_suppkey, n_name FROM supplier {_NATION}",
        },
        """SELECT o_year, sum(CASE WHEN trim(n_name) = 'BRAZIL' THEN l_extendedprice * (1 - l_discount) ELSE 0
            END) / sum(l_extendedprice * (1 - l_discount)) AS mkt_share
            FROM l JOIN p ON p_partkey = l_partkey JOIN s ON s_suppkey = l_suppkey
            JOIN c ON c_custkey = o_custkey GROUP BY o_year ORDER BY o_year""",
    ),
    "Q9": (
        {
            "p": """SELECT ps_partkey, ps_suppkey, ps_supplycost FROM part
                JOIN partsupp ON ps_partkey = p_partkey WHERE p_name LIKE '%green%'""",
            "l": f"""SELECT l_partkey, l_suppkey, l_quantity, l_extendedprice, l_discount,
                year(o_orderdate) AS o_year FROM {_LINES}""",
            "s": f"SELECT s_suppkey, n_name FROM supplier {_NATION}",
        },
        """SELECT n_name AS nation, o_year,
            sum(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS sum_profit
            FROM l JOIN p ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
            JOIN s ON s_suppkey = l_suppkey GROUP BY n_name, o_year ORDER BY n_name, o_year DESC""",
    ),
    "Q10": (
        {
            "c": """SELECT c_custkey, c_name, c_acctbal, n_name, c_address, c_phone, c_comment FROM customer
                JOIN nation ON c_nationkey = n_nationkey""",
            "l": f"""SELECT o_custkey, l_extendedprice, l_discount FROM {_LINES}
                WHERE o_orderdate >= '1993-10-01' AND o_orderdate < '1994-01-01' AND l_returnflag = 'R'""",
        },
        f"""SELECT c_custkey, c_name, {_REVENUE}, c_acctbal, n_name, c_address, c_phone, c_comment
            FROM l JOIN c ON c_custkey = o_custkey
            GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
            ORDER BY revenue DESC LIMIT 20""",
    ),
    "Q18": (
        {
            "c": "SELECT c_custkey, c_name FROM customer",
            "l": f"""SELECT o_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
                FROM {_LINES} GROUP BY o_custkey, o_orderkey, o_orderdate, o_totalprice
                HAVING sum(l_quantity) > 300""",
        },
        """SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, quantity
            FROM l JOIN c ON c_custkey = o_custkey ORDER BY o_totalprice DESC, o_orderdate LIMIT 100""",
    ),
}
"""What each shard is asked, under the name that DuckDB knows it by, and what DuckDB is asked."""
NEEDED = {"Q18": "SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300"}
"""What every shard has to do, whoever asks: no answer can come sooner."""


def measure(place: Placed, *, rounds: int) -> dict[str, Any]:
    """Each query's time by each of them; every answer was compared with that of one DuckDB."""
    missing: dict[str, str] = {}
    with ExitStack() as stack:
        runs: dict[str, Run] = {}
        moved: dict[str, Callable[[str], int]] = {}
        for dialect in ("mysql", "duckdb"):
            cluster = stack.enter_context(place.cluster(dialect))
            cluster.analyze()
            connection = stack.enter_context(cluster.connect(deadline_s=DEADLINE_S))
            runs[f"shardwise, {dialect}"] = _ours(connection)
            moved[dialect] = lambda sql, connection=connection: _moved(connection, sql)
        for name, peer in ((SPIDER, _spider), (HAND, _by_hand)):
            try:
                runs[name] = stack.enter_context(peer(place))
            except (Missing, ImportError) as error:
                missing[name] = str(error)
        duck = stack.enter_context(one_duckdb(place.scale))
        found = []
        for case, text in queries("mysql"):
            if case.title not in BY_HAND:
                continue
            right = answer_of(duck.execute(case.sql))

            def problem(answer: Answer, right: Answer = right) -> str | None:
                return _alike(answer.rows, right.rows)

            contenders = (
                Contender(name, run, _text(name, case.title, case.sql, text), problem)
                for name, run in runs.items()
            )
            query, run_again = _query(case, contenders)
            query["rows_moved"] = {
                name: count(case.sql if name == "duckdb" else text) for name, count in moved.items()
            }
            run_again(rounds)
            if case.title in NEEDED:
                query["needed_s"] = _at_once(place, NEEDED[case.title], rounds)
            found.append(query)
            shown = " ".join(f"{name} {seconds * 1e3:,.0f} ms" for name, seconds in query["seconds"].items())
            print(f"  {case.title}: {shown}", query["failed"] or "", flush=True)
    return {"queries": found, "names": list(runs), "missing": missing}


def _text(name: str, title: str, duckdb_sql: str, own_sql: str) -> str:
    """By hand is run by the query's title."""
    return {HAND: title, "shardwise, duckdb": duckdb_sql}.get(name, own_sql)


def _moved(connection: Any, sql: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql).fetchall()
        return int(cursor.stats.rows_moved)


def _at_once(place: Placed, sql: str, rounds: int) -> float:
    """The median time until all shards have answered, each over a driver's connection of its own."""
    with ExitStack() as stack:
        cursors = [stack.enter_context(closing(place.connect(i))).cursor() for i in range(SHARDS)]
        pool = stack.enter_context(ThreadPoolExecutor(SHARDS))

        def run() -> None:
            list(pool.map(lambda cursor: cursor.execute(sql), cursors))

        run()
        return median(seconds(run) for _ in range(max(3, rounds)))


@contextmanager
def _spider(place: Placed) -> Iterator[Run]:
    with spider(place) as con, _running(con, DEADLINE_S) as run:
        yield run


@contextmanager
def _by_hand(place: Placed) -> Iterator[Run]:
    import connectorx  # which is a peer's, and may be missing

    urls = [_url(place.server(i), name) for i, name in enumerate(place.shards)]
    with ThreadPoolExecutor(SHARDS) as pool:

        def read(sql: str) -> pa.Table:
            parts = pool.map(lambda url: connectorx.read_sql(url, sql, return_type="arrow"), urls)
            return pa.concat_tables(parts)

        def run(title: str) -> Answer:
            statements, sql = BY_HAND[title]
            with duckdb.connect() as con:
                for name, statement in statements.items():
                    con.register(name, read(statement))
                return answer_of(con.execute(sql))

        yield run


def _url(server: Any, database: str) -> str:
    password = quote(server.password, safe="")
    return f"mysql://{server.user}:{password}@{server.host}:{server.port}/{database}"


PAGE = """\
## {name}: joins across four databases, at scale {scale:g}

Times in ms, of one run in turn; beside them the rows that shardwise moved, after ANALYZE. By hand: what is on
one shard together is joined there, with filters and needed columns; connectorx reads it from all shards at
once as Arrow, and DuckDB does the rest. (Aim: three times as fast as Spider, where Spider moves rows.)
"""


def page(name: str, scale: float, measured: dict[str, Any]) -> str:
    names = measured["names"]
    head = ["query", *names, "rows, mysql", "rows, duckdb", "Spider / shardwise", "by hand / shardwise"]
    rows = []
    for query in measured["queries"]:
        seconds, failed = query["seconds"], query["failed"]
        cells = ["failed" if n in failed else f"{seconds[n] * 1e3:,.0f}" for n in names]
        ours = min(seconds[n] for n in names[:2] if n not in failed)
        peers = [n if n in seconds and n not in failed else None for n in (SPIDER, HAND)]
        ratios = ["–" if n is None else f"{seconds[n] / ours:.2f}" for n in peers]
        moved = [f"{query['rows_moved'][n]:,}" for n in ("mysql", "duckdb")]
        rows.append([query["query"], *cells, *moved, *ratios])
    text = f"{PAGE.format(name=name, scale=scale)}\n{table(head, rows)}\n"
    for query in measured["queries"]:
        if "needed_s" in query:
            text += (
                f"- {query['query']}: `{NEEDED[query['query']]}`, which every shard has to answer, takes"
                f" {query['needed_s'] * 1e3:,.0f} ms of four at once.\n"
            )
        text += "".join(f"- {query['query']}, {who}: {why}\n" for who, why in query["failed"].items())
    return text + "".join(f"- {who} is missing: {why}\n" for who, why in measured["missing"].items())

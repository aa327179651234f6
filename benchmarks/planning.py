"""Planning alone: against sqlglot.parse_one, over many shards, and loading a large catalog."""

from __future__ import annotations

import json
import os
from typing import Any

import sqlglot

from benchmarks.cluster import placed, prepared
from benchmarks.measure import paired
from shardwise.catalog import Catalog, language
from shardwise.planner import Planner
from tests.oracle.cases import read
from tests.oracle.cluster import catalog_text, load_catalog, mod
from tests.oracle.tpch import world

POINT = "SELECT o_orderdate, o_totalprice FROM orders WHERE o_orderkey = 4711"
SCATTER = "SELECT grp, count(*), sum(v) FROM t WHERE v > 10 GROUP BY grp ORDER BY 2 DESC LIMIT 5"


def measure(*, rounds: int) -> dict[str, Any]:
    return {
        "cold": cold(rounds),
        "statistics": with_statistics(rounds),
        "joins": [ten_joins(rounds, shape) for shape in JOINED],
        "shards": many_shards(rounds),
        "load": load(rounds),
    }


def plan(catalog: Catalog, sql: str) -> object:
    """Cold: a new planner each time, so that nothing is remembered."""
    return Planner(catalog).prepare(sql).plan(())


def cold(rounds: int) -> list[dict[str, Any]]:
    tpch = world(0.01)
    catalog = language.parse(catalog_text(tpch.tables, tpch.shardings, 4, "shard"))
    statements = {"point SELECT": POINT} | {
        case.title: case.sql for case in read("tpch") if case.title in ("Q1", "Q3", "Q5", "Q21")
    }
    results = []
    for name, sql in statements.items():
        pair = paired(
            lambda sql=sql: plan(catalog, sql),
            lambda sql=sql: sqlglot.parse_one(sql, dialect="duckdb"),
            rounds=rounds * 10,
        )
        results.append(
            {"statement": name, "ours_s": pair.ours_s, "theirs_s": pair.theirs_s, "ratio": pair.ratio}
        )
    return results


def with_statistics(rounds: int) -> list[dict[str, Any]]:
    """The joins of TPC-H, planned with statistics of all tables, beside the same catalog without any."""
    results = []
    with placed(prepared(0.01)) as (known, bare):
        catalogs = [load_catalog(each.catalog_path) for each in (known, bare)]
    for case in read("tpch"):
        if case.title in ("Q2", "Q3", "Q5", "Q7", "Q8", "Q9", "Q10", "Q18", "Q20", "Q21"):
            pair = paired(
                lambda sql=case.sql: plan(catalogs[0], sql),
                lambda sql=case.sql: plan(catalogs[1], sql),
                rounds=rounds * 4,
            )
            results.append(
                {
                    "statement": case.title,
                    "with_s": pair.ours_s,
                    "without_s": pair.theirs_s,
                    "ratio": pair.ratio,
                }
            )
    return results


TABLES = 10
JOINED = {
    "a chain": " ".join(f"JOIN t{i} ON t{i}.id = t{i - 1}.k1" for i in range(1, TABLES)),
    "a star": " ".join(f"JOIN t{i} ON t{i}.id = t0.k{i}" for i in range(1, TABLES)),
    "a star on the shards": " ".join(f"JOIN t{i} ON t{i}.id = t0.id" for i in range(1, TABLES)),
}


def ten_joins(rounds: int, shape: str) -> dict[str, Any]:
    """Ten tables, each split by its own key, in one join with a filter and groups."""
    keys = ", ".join(f"k{i} BIGINT" for i in range(1, TABLES))
    catalog = language.parse(
        "CREATE CATALOG joined DIALECT duckdb;\n"
        "CREATE SOURCE s{n} FOR n IN 0-3 URL 'duckdb:///s{n}.duckdb';\n"
        "CREATE SHARDING by_id USING MOD 4 ON s{slot};\n"
        + "".join(
            f"CREATE TABLE t{i} (id BIGINT PRIMARY KEY, {keys}, v INTEGER) SHARD BY by_id (id);\n"
            for i in range(TABLES)
        )
    )
    last = f"t{TABLES - 1}"
    sql = f"SELECT {last}.v, sum(t0.v) FROM t0 {JOINED[shape]} WHERE t2.v = 7 AND t5.v > 3 GROUP BY {last}.v"
    pair = paired(
        lambda: plan(catalog, sql), lambda: sqlglot.parse_one(sql, dialect="duckdb"), rounds=rounds * 4
    )
    return {"statement": shape, "ours_s": pair.ours_s, "theirs_s": pair.theirs_s, "ratio": pair.ratio}


def family(sources: int) -> str:
    """A catalog of that many sources, declared as one family."""
    sharding = mod("by_id")
    return (
        "CREATE CATALOG wide DIALECT duckdb;\n"
        f"CREATE SOURCE s{{n}} FOR n IN 0-{sources - 1} URL 'duckdb:///shard{{n}}.duckdb';\n"
        f"CREATE SHARDING by_id {sharding.clause(sources, 'shard')};\n"
        "CREATE TABLE t (id BIGINT, grp INTEGER, v INTEGER) SHARD BY by_id (id);\n"
    )


def many_shards(rounds: int) -> dict[str, Any]:
    few, many = (language.parse(family(sources)) for sources in (10, 10_000))
    pair = paired(lambda: plan(many, SCATTER), lambda: plan(few, SCATTER), rounds=rounds * 4)
    return {"ten_s": pair.theirs_s, "ten_thousand_s": pair.ours_s, "ratio": pair.ratio}


def load(rounds: int) -> dict[str, Any]:
    few, many = family(10), family(10_000)
    pair = paired(lambda: language.parse(many), lambda: language.parse(few), rounds=rounds)
    return {"ten_s": pair.theirs_s, "ten_thousand_s": pair.ours_s, "ratio": pair.ratio}


if __name__ == "__main__":
    print(json.dumps(measure(rounds=int(os.environ.get("ROUNDS", "3"))), indent=1))

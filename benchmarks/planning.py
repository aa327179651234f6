"""Planning alone: against sqlglot.parse_one, over many shards, and loading a large catalog."""

from __future__ import annotations

from typing import Any

import sqlglot

from benchmarks.measure import paired
from shardwise.catalog import Catalog, language
from shardwise.planner import Planner
from tests.oracle.cases import read
from tests.oracle.cluster import catalog_text, mod
from tests.oracle.tpch import world

POINT = "SELECT o_orderdate, o_totalprice FROM orders WHERE o_orderkey = 4711"
SCATTER = "SELECT grp, count(*), sum(v) FROM t WHERE v > 10 GROUP BY grp ORDER BY 2 DESC LIMIT 5"


def measure(*, rounds: int) -> dict[str, Any]:
    return {"cold": cold(rounds), "shards": many_shards(rounds), "load": load(rounds)}


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

"""Shards in a temporary folder, and plans made by hand: the executor without planner and session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from shardwise.catalog.language import parse
from shardwise.catalog.model import Catalog
from shardwise.executor import duck
from shardwise.executor.backends.base import Location, SourceOptions
from shardwise.executor.describe import Describer
from shardwise.executor.limits import Limits
from shardwise.executor.merge import DuckDBMerge
from shardwise.executor.pools import SourcePool
from shardwise.executor.result import Result
from shardwise.executor.run import Environment, execute
from shardwise.executor.threads import Workers
from shardwise.executor.workers.processes import WorkerProcesses
from shardwise.options import Options
from shardwise.plan.nodes import OneRow
from shardwise.plan.route import Route
from shardwise.plan.run import First, Fragment, Merge, Plan

NUMBERS = "t (id BIGINT, g INTEGER, s VARCHAR, b BOOLEAN)"
ROWS = """
    SELECT range * {shards} + {shard} AS id, CAST(range % 10 AS INTEGER) AS g, 'x' || range AS s,
      range % 2 = 0 AS b FROM range({rows})"""


class Lab:
    """Shards s0, s1, … as DuckDB files, and what a cluster would have made of them."""

    def __init__(self, folder: Path, *, shards: int = 3, threads: int = 32, open_max: int = 64) -> None:
        self.folder = folder
        self.shards = tuple(f"s{n}" for n in range(shards))
        self.catalog: Catalog
        self.declare(f"ATTACH TABLE {NUMBERS} SHARD BY by_id (id);")
        self.pool = SourcePool(self._locate, SourceOptions(), open_max=open_max)
        self.workers = Workers(threads)
        self.limits = Limits(total=max(threads, 4))
        self.merge = DuckDBMerge()
        self.describer: Describer

    def _locate(self, name: str) -> Location:
        return Location(source=name, url=f"duckdb:///{self.file(name)}")

    def file(self, shard: str) -> Path:
        return self.folder / f"{shard}.duckdb"

    def declare(self, *statements: str) -> None:
        """The catalog; sources and sharding are there already."""
        last = len(self.shards) - 1
        head = (
            f"CREATE SOURCE s{{n}} FOR n IN 0-{last} URL 'duckdb:///s{{n}}.duckdb';\n"
            f"CREATE SHARDING by_id USING MOD {last + 1} AS n ON s{{n}};\n"
        )
        self.catalog = parse(head + "\n".join(statements))
        self.describer = Describer(self.catalog)

    def fill(self, *statements: str, shards: Iterable[str] | None = None) -> None:
        """Runs the statements on each shard; `{shard}` is its number of `{shards}`."""
        for shard in shards or self.shards:
            with duckdb.connect(str(self.file(shard))) as con:
                for statement in statements:
                    text = statement.replace("{shards}", str(len(self.shards)))
                    con.execute(text.replace("{shard}", shard[1:]))

    def numbers(self, rows: int) -> None:
        """Fills table t with `rows` rows per shard."""
        self.fill("CREATE TABLE t AS " + ROWS.replace("{rows}", str(rows)))

    @property
    def environment(self) -> Environment:
        return Environment(
            pool=self.pool,
            limits=self.limits,
            workers=self.workers,
            processes=WorkerProcesses(0),
            merge=self.merge,
            describer=self.describer,
        )

    def fragment(
        self,
        name: str,
        sql: str,
        shards: Iterable[str] | None = None,
        params: Mapping[str, Any] | None = None,
        text: Callable[[str], str] | None = None,
    ) -> Fragment:
        on = self.shards if shards is None else tuple(shards)
        return Fragment(
            name=name,
            make_sql=lambda: sql,
            columns=self.describer.describe(sql, params or {}),
            route=Route(shards=on, total=len(self.shards)),
            params=params or {},
            make_text=lambda: text or (lambda shard: sql),
            source_of=lambda shard: shard,
        )

    def execute(
        self, plan: Plan, options: Options | None = None, columns: duck.Columns | None = None
    ) -> Result:
        return execute(plan.start(), self.environment, options or Options(), columns=columns)

    def rows(self, plan: Plan, options: Options | None = None) -> list[tuple[Any, ...]]:
        with self.execute(plan, options) as result:
            return result.fetchall()

    def close(self) -> None:
        self.workers.close()
        self.merge.close()
        self.describer.close()
        self.pool.close()


def merged(sql: str, *fragments: Fragment, params: Mapping[str, Any] | None = None) -> Plan:
    """A plan whose merge reads all the fragments."""
    merge = Merge(sql=sql, params=params or {}, inputs=tuple(f.name for f in fragments))
    return _plan(fragments, merge)


def whole(fragment: Fragment) -> Plan:
    """A plan without merge."""
    return _plan((fragment,), None)


def after(first: Iterable[First], then: Callable[[Mapping[str, Any]], Plan]) -> Plan:
    """A plan that is made of other plans' rows."""
    return Plan(
        sql="",
        root=OneRow(),
        fragments=(),
        merge=None,
        columns=(),
        catalog_version=1,
        first=tuple(first),
        then=then,
    )


def _plan(fragments: tuple[Fragment, ...], merge: Merge | None) -> Plan:
    return Plan(sql="", root=OneRow(), fragments=fragments, merge=merge, columns=(), catalog_version=1)

"""The rounds of a deep page, step by step: what is asked, and what comes of rows that change meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from shardwise.catalog import parse
from shardwise.options import Options
from shardwise.plan.run import Bound, Fragment, Merge, Plan
from shardwise.plan.windows import Window
from shardwise.planner import Planner, paging

SHARDS = 3
CATALOG = f"""
CREATE CATALOG c DIALECT duckdb;
CREATE SOURCE s{{n}} FOR n IN 0-{SHARDS - 1} URL 'duckdb:///s{{n}}.duckdb';
CREATE SHARDING by_id USING MOD {SHARDS} ON s{{slot}};
CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER, w DOUBLE) SHARD BY by_id (id);
"""
Change = Callable[["Cluster"], None]


class Cluster:
    """A DuckDB per shard, in memory; it drives a run as an executor would."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rng = random.Random(seed)
        self.shards = {f"s{n}": duckdb.connect() for n in range(SHARDS)}
        for con in self.shards.values():
            con.execute("CREATE TABLE t (id BIGINT, v INTEGER, w DOUBLE)")
        self.next_id = 0
        self.insert(rows)
        self.steps: list[str] = []

    def insert(self, count: int) -> None:
        for _ in range(count):
            row = [
                self.next_id,
                self.rng.choice([None, *range(20)]),
                self.rng.choice([None, 0.5, float("nan")]),
            ]
            self.shards[f"s{self.next_id % SHARDS}"].execute("INSERT INTO t VALUES (?, ?, ?)", row)
            self.next_id += 1

    def delete(self, count: int) -> None:
        for _ in range(count):
            id_ = self.rng.randrange(self.next_id)
            self.shards[f"s{id_ % SHARDS}"].execute("DELETE FROM t WHERE id = ?", [id_])

    def everything(self, order: str) -> list[tuple[Any, ...]]:
        whole = duckdb.connect()
        for name, con in self.shards.items():
            whole.register(name, con.sql("SELECT * FROM t").to_arrow_table())
        union = " UNION ALL ".join(f"SELECT * FROM {name}" for name in self.shards)
        return whole.execute(f"SELECT id, v, w FROM ({union}) ORDER BY {order}").fetchall()

    def answer(
        self, plan: Plan, change: Change, order: str
    ) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """The page, and all rows as they were when its fragments were read. `change` is called before each
        step."""
        run = plan.start()
        while True:
            while run.first:
                (first,) = run.first
                self.steps.append(first.name)
                change(self)
                streams = self.read(first.plan.fragments)
                assert first.plan.merge is not None
                run.bind(first.name, Bound(*self.merged(first.plan.merge, streams)))
            change(self)
            rows = self.everything(order)
            self.steps.append("rows")
            fragments = run.plan.fragments
            streams = self.read(fragments)
            if run.proof is not None:
                run.prove(self.merged(run.proof.merge, streams)[1])
                if run.plan.fragments is not fragments:
                    continue
            assert run.merge is not None
            return self.merged(run.merge, streams)[1], rows

    def read(self, fragments: tuple[Fragment, ...]) -> dict[str, Any]:
        (fragment,) = fragments
        tables = []
        for shard in fragment.route.shards:
            params = fragment.params if fragment.params_for is None else fragment.params_for(shard, {})
            con = self.shards[shard]
            tables.append(con.sql(fragment.text(shard), params=dict(params)).to_arrow_table())
        return {fragment.name: pa.concat_tables(tables, promote_options="permissive")}

    def merged(self, merge: Merge, streams: dict[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        with duckdb.connect() as con:
            for name, table in streams.items():
                con.register(name, table)
            con.execute(merge.sql, merge.params or None)
            return tuple(str(column[1]) for column in con.description or ()), con.fetchall()


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "samples_for", lambda offset, shards: 6)


def planned(order: str, count: int, offset: int) -> Plan:
    sql = f"SELECT id, v, w FROM t ORDER BY {order} LIMIT {count} OFFSET {offset}"
    return Planner(parse(CATALOG)).prepare(sql).plan(options=Options(force=("seek_pages",)))


ORDERS = ("v, id", "w DESC NULLS LAST, v DESC, id DESC", "v DESC NULLS FIRST, id")


@pytest.mark.parametrize("order", ORDERS)
def test_rounds_then_rows(order: str) -> None:
    cluster = Cluster(450, 1)
    for offset in (1, 100, 449, 2000):
        cluster.steps.clear()
        found, rows = cluster.answer(planned(order, 7, offset), lambda _: None, order)
        assert repr(found) == repr(rows[offset : offset + 7])
        assert cluster.steps[-1] == "rows" and cluster.steps.count("rows") == 1  # noqa: PT018
        assert len(cluster.steps) <= 6


def _unrest(cluster: Cluster) -> None:
    cluster.insert(cluster.rng.choice((0, 2, 20)))
    cluster.delete(cluster.rng.choice((0, 2, 20)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("order", ORDERS)
def test_the_page_is_that_of_the_moment_its_rows_are_read(order: str, seed: int) -> None:
    """Rows come and go between all steps; the page is of one state of each shard all the same."""
    cluster = Cluster(400, seed)
    for _ in range(3):
        offset = cluster.rng.randrange(1, 380)
        found, rows = cluster.answer(planned(order, 9, offset), _unrest, order)
        assert repr(found) == repr(rows[offset : offset + 9])


def test_a_place_that_is_gone_is_sought_again_and_then_done_without_seeks() -> None:
    cluster = Cluster(400, 3)

    def upheaval(cluster: Cluster) -> None:
        for con in cluster.shards.values():
            con.execute("UPDATE t SET v = 1000 - v")
            con.execute("DELETE FROM t WHERE id % 10 = ?", [cluster.rng.randrange(10)])
        cluster.insert(60)

    found, rows = cluster.answer(planned("v, id", 9, 300), upheaval, "v, id")
    assert repr(found) == repr(rows[300:309])
    assert cluster.steps.count("rows") == 3
    assert "page_2_1" in cluster.steps


@pytest.mark.parametrize("is_last", [False, True], ids=["before another round", "before the rows"])
def test_a_place_that_is_not_the_same_when_it_was_sent_is_not_sought(
    is_last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a round brought nothing, too: a window without width moves on if rows went meanwhile."""
    sql = "SELECT d, id FROM t ORDER BY d, id LIMIT 5 OFFSET 400"
    catalog = parse(CATALOG.replace("w DOUBLE", "d DATE"))
    plan = Planner(catalog).prepare(sql).plan(options=Options(force=("seek_pages",)))
    high = 401 if is_last else 300

    def moved_on(windows: Any, *_: object, **__: object) -> tuple[Window, ...]:
        return tuple(Window(1, high, (date.max, 7), 0) for _ in windows)

    monkeypatch.setattr(paging, "narrowed", moved_on)
    assert plan.then is not None
    after = plan.then({"page_1": Bound(("BIGINT", "BIGINT", "DATE", "BIGINT"), [])})
    assert after.proof is None
    assert not after.first
    assert "9999" not in str([fragment.params for fragment in after.fragments])

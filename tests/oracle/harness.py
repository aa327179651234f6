"""Runs one statement on both sides and compares."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

import shardwise
from tests.oracle.cases import Case
from tests.oracle.cluster import Cluster, Files, Grain
from tests.oracle.compare import Answer, answer_of, difference, matching, same_count
from tests.oracle.worlds import World

ROWS_MAX = 20_000
"""Of an answer that is compared, to random statements."""
DUCKDB = tuple(int(part) for part in duckdb.__version__.split(".")[:2])


class Stage:
    """Clusters, connections and right answers, each made when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clusters: dict[tuple[str, int, Grain, Files], Cluster] = {}
        self.connections: dict[tuple[str, int, Grain, Files, tuple[str, ...]], Any] = {}
        self.expected: dict[tuple[str, str, str], Answer | Exception] = {}

    def cluster(self, world: World, shards: int, grain: Grain, files: Files = "duckdb") -> Cluster:
        key = (world.name, shards, grain, files)
        if key not in self.clusters:
            self.clusters[key] = Cluster.build(
                self.folder / f"{world.name} {shards} {grain} {files}",
                world.tables,
                world.shardings,
                shards=shards,
                grain=grain,
                views=world.views,
                files=files,
            )
        return self.clusters[key]

    def connection(
        self,
        world: World,
        shards: int,
        grain: Grain,
        disable_passes: tuple[str, ...] = (),
        files: Files = "duckdb",
    ) -> Any:
        key = (world.name, shards, grain, files, disable_passes)
        if key not in self.connections:
            options = {"disable_passes": disable_passes} if disable_passes else {}
            self.connections[key] = self.cluster(world, shards, grain, files).session(**options)
        return self.connections[key]

    def right(self, world: World, sql: str, params: Any = None) -> Answer | Exception:
        """What one unsharded database says: an answer, or the error it raises."""
        key = (world.name, sql, json.dumps(params, default=str))
        if key not in self.expected:
            whole = self.cluster(world, 1, "shard").whole()
            try:
                self.expected[key] = answer_of(whole.execute(sql, params) if params else whole.execute(sql))
            except duckdb.Error as error:
                self.expected[key] = error
        return self.expected[key]

    def close(self) -> None:
        """Closes and forgets all but the clusters themselves, which open again when they are asked."""
        for connection in self.connections.values():
            connection.close()
        for cluster in self.clusters.values():
            cluster.close()
        self.connections.clear()
        self.expected.clear()


def run_case(
    stage: Stage,
    world: World,
    case: Case,
    shards: int,
    grain: Grain,
    files: Files = "duckdb",
    without: tuple[str, ...] = (),
) -> None:
    """The whole comparison for a case: against one database, and against the rows written beside it."""
    if case.at_least > DUCKDB:
        pytest.skip(f"DuckDB {'.'.join(map(str, case.at_least))} and newer")
    expected = stage.right(world, case.sql, case.params)
    if case.raises:
        assert isinstance(expected, Exception), f"one database answers: {expected}"
    elif isinstance(expected, Exception):
        raise expected
    connection = stage.connection(world, shards, grain, without, files)
    if case.refused is not None:
        with pytest.raises(shardwise.NotSupportedError, match=case.refused):
            run(connection, case.sql, case.params)
        return
    try:
        actual = run(connection, case.sql, case.params)
    except shardwise.Error:
        if case.raises:
            return
        raise
    if case.raises:
        return
    check = same_count if case.any else None
    report(
        difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys, check=check),
        case.sql,
        shards,
        grain,
        actual,
        expected,
        "" if files == "duckdb" else f", {files} files" + "".join(f", without {name}" for name in without),
    )
    if case.rows is not None:
        assert written_rows_match(expected.rows, case.rows, case.ordered), (expected.rows, case.rows)


def run_random(
    stage: Stage,
    world: World,
    sql: str,
    shards: int,
    grain: Grain,
    *,
    seed: int,
    without: tuple[str, ...] = (),
    files: Files = "duckdb",
    params: Any = None,
    may_say: tuple[str, ...] = (),
) -> None:
    """The comparison for a random statement, which one database may raise on, or have too much to say of.

    Its rows are in order if the statement is one that orders a derived table `z`. `may_say`: words of an
    error of ours that is no fault.
    """
    expected = stage.right(world, sql, params)
    if isinstance(expected, Exception) or len(expected.rows) > ROWS_MAX:
        pytest.skip("one database raises, or the answer is too long to compare")
    connection = stage.connection(world, shards, grain, without, files)
    note = f", {files} files, seed {seed}, {params}" + "".join(f", without {name}" for name in without)
    try:
        actual = run(connection, sql, params or None)
    except Exception as error:
        if isinstance(error, shardwise.Error) and any(words in str(error) for words in may_say):
            pytest.skip(f"an error, and no other answer: {error}")
        pytest.fail(
            f"{shards} shards, {grain} grain{note}\n{sql};\n{type(error).__name__}: {error}\n"
            f"  one database: {expected.rows[:20]}",
            pytrace=False,
        )
    ordered = ") z ORDER BY " in sql
    report(difference(actual, expected, ordered=ordered), sql, shards, grain, actual, expected, note)


def run(connection: Any, sql: str, params: Any = None) -> Answer:
    with connection.cursor() as cursor:
        cursor.execute(sql, params) if params is not None else cursor.execute(sql)
        return answer_of(cursor)


def report(
    problem: str | None, sql: str, shards: int, grain: str, actual: Answer, expected: Answer, note: str = ""
) -> None:
    """Fails with everything that is needed to look into it, the SQL ready to paste."""
    if problem is None:
        return
    pytest.fail(
        f"{shards} shards, {grain} grain{note}\n{sql};\n{problem}\n"
        f"  we answered:  {actual.rows[:20]}\n  one database: {expected.rows[:20]}",
        pytrace=False,
    )


def written_rows_match(rows: list[tuple[Any, ...]], written: list[list[Any]], ordered: bool) -> bool:
    plain = [tuple(float(v) if isinstance(v, Decimal) else v for v in row) for row in rows]
    hand = [tuple(row) for row in written]
    return plain == hand if ordered else matching(plain, hand) == ([], [])

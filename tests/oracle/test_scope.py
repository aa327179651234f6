"""In a scope the answer is that of one database which holds the rows of the scope only.

The same cases as without a scope: each world's whole database, less the rows that a scope leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import shardwise
from shardwise.catalog import load
from shardwise.catalog.model import Reference, Single
from shardwise.catalog.model import Table as CatalogTable
from tests.oracle.cases import Case, read
from tests.oracle.cluster import By, Cluster, Grain, sizes
from tests.oracle.compare import Answer, answer_of, difference, same_count
from tests.oracle.harness import DUCKDB, Stage, report, run
from tests.oracle.worlds import LETTERS, MEMBERS, World

SCOPES: dict[str, dict[str, Any]] = {
    "one key": {"by_id": 1, "by_k": 2},
    "two keys": {"by_id": [3, 1], "by_k": [1, 5]},
    "a shard": {"shard": ["s0"]},
    "some shards": {"shard": ["s2", "s0"]},
}
WORLDS = {world.name: world for world in (LETTERS, MEMBERS)}
CASES = [*read("members"), *read("forty"), *read("subqueries")]
CASES = [case for case in CASES if case.world in WORLDS]


def scope_for(world: World, name: str, shards: int) -> dict[str, Any]:
    """Those of a scope's names that the world has."""
    known = {sharding.name for sharding in world.shardings}
    found = {key: value for key, value in SCOPES[name].items() if key == "shard" or key in known}
    if "shard" in found:
        found["shard"] = [shard for shard in found["shard"] if int(shard[1:]) < shards]
    return found


def whole_in_scope(cluster: Cluster, world: World, scope: dict[str, Any]) -> duckdb.DuckDBPyConnection:
    """A database of what the scope leaves: by keys out of the whole one, by shards out of theirs."""
    engine = duckdb.connect()
    engine.execute("SET TimeZone = 'UTC'")
    engine.execute(f"ATTACH '{cluster.folder / 'whole.duckdb'}' AS whole (READ_ONLY)")
    for shard in scope.get("shard", ()):
        engine.execute(f"ATTACH '{cluster.folder}/shard{shard[1:]}.duckdb' AS {shard} (READ_ONLY)")
    catalog = load(cluster.catalog_path)
    for table in world.tables:
        engine.execute(f"CREATE TABLE {table.name} AS FROM whole.{table.name} LIMIT 0")
        declared = catalog.table(table.name)
        assert isinstance(declared, CatalogTable)
        source = f"FROM whole.{table.name}"
        if isinstance(table.place, By) and table.place.sharding in scope:
            values = scope[table.place.sharding]
            source += f" WHERE {table.place.keys[0]} IN ({str(values).strip('[]')})"
        elif "shard" in scope and not isinstance(declared.placement, Reference | Single):
            parts = [(s, p) for s in scope["shard"] for p in catalog.partitions(declared, s)]
            columns = ", ".join(column.name for column in declared.columns or ())
            source = " UNION ALL ".join(f"SELECT {columns} FROM {s}.{p}" for s, p in parts)
        engine.execute(f"INSERT INTO {table.name} {source}")
    for view in world.views:
        engine.execute(f"CREATE VIEW {view}")
    return engine


class Scoped:
    """Connections in scopes, and what is right there; each made when first asked for."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.connections: dict[tuple[Any, ...], Any] = {}
        self.wholes: dict[tuple[Any, ...], duckdb.DuckDBPyConnection] = {}
        self.expected: dict[tuple[Any, ...], Answer | Exception] = {}

    def connection(self, world: World, name: str, shards: int, grain: Grain) -> Any:
        key = (world.name, name, shards, grain)
        if key not in self.connections:
            scope = scope_for(world, name, shards)
            self.connections[key] = self.stage.cluster(world, shards, grain).session(scope=scope)
        return self.connections[key]

    def right(self, world: World, name: str, case: Case, shards: int, grain: Grain) -> Answer | Exception:
        """Keys name the same rows on any number of shards."""
        key = (world.name, name) if "key" in name else (world.name, name, shards, grain)
        asked = (*key, case.id)
        if asked not in self.expected:
            if key not in self.wholes:
                scope = scope_for(world, name, shards)
                self.wholes[key] = whole_in_scope(self.stage.cluster(world, shards, grain), world, scope)
            whole = self.wholes[key]
            try:
                given = whole.execute(case.sql, case.params) if case.params else whole.execute(case.sql)
                self.expected[asked] = answer_of(given)
            except duckdb.Error as error:
                self.expected[asked] = error
        return self.expected[asked]

    def close(self) -> None:
        for each in (*self.connections.values(), *self.wholes.values()):
            each.close()


@pytest.fixture(scope="module")
def scoped(stage: Stage) -> Iterator[Scoped]:
    found = Scoped(stage)
    yield found
    found.close()


TIED = {"forty:389": (2,)}
"""By case: the positions that are determined where groups of a scope tie and a LIMIT cuts between them."""

# Each case on every second size, by turns: there it meets each scope, and each size has each with some case.
TURNS = [
    pytest.param(
        case,
        list(SCOPES)[(number + turn) // 2 % len(SCOPES)],
        shards,
        grain,
        id=f"{case.id} {shards} {grain}",
    )
    for number, case in enumerate(CASES)
    for turn, (shards, grain) in enumerate(sizes())
    if (number + turn) % 2 == 0
]


@pytest.mark.parametrize(("case", "name", "shards", "grain"), TURNS)
def test_answers_as_a_database_of_the_scopes_rows(
    scoped: Scoped, case: Case, name: str, shards: int, grain: Grain
) -> None:
    if case.at_least > DUCKDB:
        pytest.skip(f"DuckDB {'.'.join(map(str, case.at_least))} and newer")
    world = WORLDS[case.world]
    expected = scoped.right(world, name, case, shards, grain)
    connection = scoped.connection(world, name, shards, grain)
    try:
        actual = run(connection, case.sql, case.params)
    except shardwise.Error:
        if isinstance(expected, Exception) or case.refused:
            return
        raise
    if isinstance(expected, Exception):
        if case.raises:
            return
        raise expected
    if case.id in TIED:
        actual, expected = (_only(answer, TIED[case.id]) for answer in (actual, expected))
    check = same_count if case.any else None
    problem = difference(actual, expected, ordered=case.ordered, order_keys=case.order_keys, check=check)
    report(problem, case.sql, shards, grain, actual, expected, f", scope: {name}")


def _only(answer: Answer, positions: tuple[int, ...]) -> Answer:
    """Names and types whole, of the rows only these columns' values."""
    rows = [tuple(v if i in positions else None for i, v in enumerate(row, 1)) for row in answer.rows]
    return Answer(answer.names, answer.types, rows)

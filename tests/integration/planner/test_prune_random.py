"""No row that satisfies a predicate is on a pruned slot; narrowed predicates give each slot the same rows.

DuckDB says which rows satisfy; the slot of each row is what a writer would compute.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from random import Random

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from shardwise.planner.prune import Narrowing, slots_of
from tests.unit.planner.prune_worlds import World, predicate, values, worlds

ROWS = 60
EXAMPLES = int(os.environ.get("SHARDWISE_FUZZ", "15"))  # per world; some thousands to search for mistakes


@dataclass
class Loaded:
    world: World
    slots: dict[int, int]
    connection: duckdb.DuckDBPyConnection

    def ids(self, predicate: str, slot: int | None = None) -> set[int]:
        where = "" if slot is None else f" AND t._slot = {slot}"
        sql = f'SELECT t.id FROM "{self.world.name}" AS t WHERE ({predicate}){where}'
        return {row[0] for row in self.connection.execute(sql).fetchall()}


@pytest.fixture(scope="module")
def loaded() -> dict[str, Loaded]:
    connection = duckdb.connect(config={"threads": 1})
    pick = Random(7)
    return {world.name: _load(world, connection, pick) for world in worlds()}


def _load(world: World, connection: duckdb.DuckDBPyConnection, pick: Random) -> Loaded:
    columns = world.all_columns
    listed = ", ".join(f"{name} {text}" for name, text in columns)
    connection.execute(f'CREATE TABLE "{world.name}" (id INT, {listed}, _slot INT)')
    rows = [", ".join(pick.choice(_values(world, name, text)) for name, text in columns) for _ in range(ROWS)]
    inserted = ", ".join(f"({number}, {row}, NULL)" for number, row in enumerate(rows))
    sql = f'INSERT INTO "{world.name}" VALUES {inserted} RETURNING *'
    slots: dict[int, int] = {}
    for number, *row_values, _ in connection.execute(sql).fetchall():
        named = dict(zip((name for name, _ in columns), row_values, strict=True))
        found = {world.slot(named, key) for key in world.keys}
        assert len(found) == 1
        slots[number] = found.pop()
    placed = ", ".join(map(str, slots.items()))
    connection.execute(
        f'UPDATE "{world.name}" AS t SET _slot = v.slot FROM (VALUES {placed}) v(id, slot) WHERE t.id = v.id'
    )
    return Loaded(world, slots, connection)


def _values(world: World, name: str, text: str) -> list[str]:
    found = values(text)
    if text == "TINYINT":
        return [value for value in found if len(value) < 5]
    if text == "INT":
        return [value for value in found if "9007" not in value]
    if world.name == "lower" and name == "k":
        return [value for value in found if value.isascii()]
    return found


@pytest.mark.parametrize("name", [world.name for world in worlds()])
def test_no_matching_row_is_on_a_pruned_slot(name: str, loaded: dict[str, Loaded]) -> None:
    case = loaded[name]
    pick = Random(name)
    done = 0
    while done < EXAMPLES:
        conjuncts = [predicate(case.world, pick) for _ in range(pick.randint(1, 2))]
        try:
            matching = case.ids(" AND ".join(f"({one})" for one in conjuncts))
        except duckdb.Error:
            continue  # a constant that does not convert
        done += 1
        parsed = [sqlglot.parse_one(f"SELECT {one}", read="duckdb").selects[0] for one in conjuncts]
        before = [one.sql("duckdb") for one in parsed]
        pruned = slots_of(parsed, rel="t", table=case.world.table, sharding=case.world.sharding)
        for number in matching:
            assert pruned.slots >> case.slots[number] & 1, (conjuncts, number, case.slots[number])
        _check_narrowed(case, parsed, matching)
        assert [one.sql("duckdb") for one in parsed] == before


def _check_narrowed(case: Loaded, parsed: list[exp.Expression], matching: set[int]) -> None:
    narrowing = Narrowing(parsed, rel="t", table=case.world.table, sharding=case.world.sharding)
    for slot in sorted(set(case.slots.values()))[:4]:
        after = narrowing.to(1 << slot)
        if all(new is old for new, old in zip(after, parsed, strict=True)):
            continue
        sql = " AND ".join(f"({one.sql('duckdb')})" for one in after)
        try:
            found = case.ids(sql, slot)
        except duckdb.ConversionException:
            continue  # 'a' in a list of numbers, which an engine may or may not come to evaluate
        assert found == {number for number in matching if case.slots[number] == slot}, sql

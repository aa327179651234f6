"""CHECK of lookup indexes that the application keeps."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import shardwise
from shardwise.errors import NotSupportedError
from shardwise.session.indexes.kept import ABSENT, INCOMPLETE, SUPERFLUOUS
from tests.integration.session.indexed import World

MAP = "CREATE TABLE map (no BIGINT, kind {text}, customer BIGINT)"
ATTACHED = """
CREATE TABLE map (no BIGINT, kind {text}, customer BIGINT) ON s0;
ATTACH LOOKUP INDEX by_map ON invoices (no, kind) USING TABLE map (no, kind, customer);
"""
KINDS = {"duckdb": ("duckdb", "VARCHAR"), "sqlite": ("sqlite", "TEXT")}


@pytest.fixture(params=[(d, n) for d in KINDS for n in (1, 3)], ids=str)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    (dialect, text), shards = KINDS[request.param[0]], request.param[1]
    made = World(tmp_path, shards, (dialect,), dialect, more=ATTACHED.format(text=text))
    made.make()
    made.run(0, MAP.format(text=text))
    return made


def _fill(world: World, rows: list[tuple[int, str | None, int | None]]) -> None:
    for no, kind, customer in rows:
        values = ", ".join("NULL" if v is None else repr(v) for v in (no, kind, customer))
        world.run(0, f"INSERT INTO map VALUES ({values})")


def _right(world: World) -> list[tuple[int, str | None, int | None]]:
    return [(no, kind, customer) for customer, no, kind in world.rows["invoices"] if kind is not None]


def test_a_table_that_is_right(world: World) -> None:
    _fill(world, _right(world))
    with closing(world.connect()) as con:
        assert con.execute("CHECK LOOKUP INDEX by_map").fetchall() == []


def test_what_is_missing_and_what_leads_nowhere(world: World) -> None:
    rows = _right(world)
    (no, kind, customer), *rest = rows[3:]
    assert customer is not None
    _fill(world, [(no, kind, customer + 1), (900, "K9", 1), (901, None, 1), *rest])
    with closing(world.connect()) as con:
        found = con.execute("CHECK LOOKUP INDEX by_map").fetchall()
    assert found == [
        (None, ABSENT, 3, False),
        (None, INCOMPLETE, 1, False),
        (None, SUPERFLUOUS, 3, False),
    ]


def test_it_is_not_ours_to_write(world: World) -> None:
    with closing(shardwise.connect(world.folder / "cluster.sql")) as con:
        for statement in ("CHECK LOOKUP INDEX by_map REPAIR", "DROP LOOKUP INDEX by_map"):
            with pytest.raises(NotSupportedError, match='the application keeps "map"'):
                con.execute(statement)

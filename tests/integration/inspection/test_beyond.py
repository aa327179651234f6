"""catalog check: tables whose name fits, and that nothing reads."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from shardwise.catalog.language import parse
from shardwise.inspection import Extent, Finding, Kind, check
from tests.integration.inspection.test_inspection import Reader

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SHARDING by_both USING MOD 2 AS d, INTERVAL MONTH FROM '2025-01-01' TO '2025-02-01' AS m ON s{d};
CREATE SHARDING by_id USING MOD 4 AS n ON s{n % 2};
ATTACH TABLE events SHARD BY by_both (id, day) NAMED 'events_{m:%Y%m}';
ATTACH TABLE users SHARD BY by_id (id) NAMED '{table}_{n:02}';
ATTACH TABLE users_11 ON s1;
"""


def found_with(folder: Path, *more: str) -> list[Finding]:
    """What is told where these statements were run on s1."""
    for n in range(2):
        with duckdb.connect(str(folder / f"s{n}.duckdb")) as db:
            for month in ("202501", "202502"):
                db.execute(f"CREATE TABLE events_{month} (id BIGINT, day DATE)")
            for slot in (n, n + 2):
                db.execute(f"CREATE TABLE users_{slot:02} (id BIGINT)")
            if n == 1:
                db.execute("CREATE TABLE users_11 (id BIGINT)")
                for statement in more:
                    db.execute(statement)
    return list(check(parse(CATALOG), lambda name: Reader(folder / f"{name}.duckdb"), Extent()))


def test_none(tmp_path: Path) -> None:
    """users_11 is a table of its own."""
    assert found_with(tmp_path) == []


def test_next_month(tmp_path: Path) -> None:
    (found,) = found_with(tmp_path, "CREATE TABLE events_202503 AS SELECT 1 AS id, DATE '2025-03-01' AS day")
    assert (found.kind, found.table, found.shard, found.is_error) == (Kind.EXTRA_TABLE, "events", "s1", True)
    assert found.found == '"events_202503", for which the sharding has no slot: its rows are not read'


def test_next_month_made_ahead_is_a_warning(tmp_path: Path) -> None:
    (found,) = found_with(tmp_path, "CREATE TABLE events_202503 (id BIGINT, day DATE)")
    assert (found.kind, found.is_error) == (Kind.EXTRA_TABLE, False)


@pytest.mark.parametrize("name", ["users_04", "USERS_4", "users_00"])  # the last is where s0 should have it
def test_a_slot_that_there_is_not(tmp_path: Path, name: str) -> None:
    (found,) = found_with(tmp_path, f"CREATE TABLE {name} AS SELECT 4 AS id")
    assert found.found == f'"{name}", for which the sharding has no slot: its rows are not read'


@pytest.mark.parametrize("name", ["users_old", "users", "events_2025", "events_202503_old", "old_users_04"])
def test_names_that_do_not_fit(tmp_path: Path, name: str) -> None:
    assert found_with(tmp_path, f"CREATE TABLE {name} AS SELECT 4 AS id") == []

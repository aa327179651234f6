"""seek_pages: which pages are worth the rounds."""

from __future__ import annotations

import pytest

from shardwise.catalog import parse
from shardwise.planner import Planner

CATALOG = """
CREATE CATALOG shop DIALECT duckdb;
CREATE SOURCE s{{n}} FOR n IN 0-3 URL 'duckdb:///s{{n}}.duckdb';
CREATE SHARDING by_id USING MOD 4 ON s{{slot}};
CREATE TABLE notes (id BIGINT PRIMARY KEY, body VARCHAR) SHARD BY by_id (id);
STATISTICS notes ROWS 1000000 FROM SCAN AT '2026-12-01T00:00:00Z'
  (body (DISTINCT 1000000, NULLS 0, WIDTH {width}));
"""


@pytest.mark.parametrize(
    ("offset", "width", "is_sought"),
    [(999, 2_000, False), (2_000, 20, False), (2_000, 2_000, True), (2_500, 20, True)],
    ids=["near", "little", "wide rows", "many rows"],
)
def test_few_rows_are_moved_as_they_are(offset: int, width: int, is_sought: bool) -> None:
    sql = f"SELECT id, body FROM notes ORDER BY body, id LIMIT 10 OFFSET {offset}"
    plan = Planner(parse(CATALOG.format(width=width))).prepare(sql).plan()
    assert bool(plan.first) is is_sought

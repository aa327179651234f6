"""Random statements in the mysql dialect against one MariaDB; `SHARDWISE_FUZZ=20000` runs more of them."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from typing import Any

import pymysql
import pytest

from tests.oracle.compare import matching
from tests.oracle.mysql_generator import Statements
from tests.oracle.mysql_world import MySQLWorld, tables

COUNT = int(os.environ.get("SHARDWISE_FUZZ", "120"))
SHARDS = (3, 2, 7)
_CHUNK = 20
_SECONDS_MAX = 3
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def worlds() -> Iterator[list[MySQLWorld]]:
    made = [MySQLWorld(shards, tables(seed)) for seed, shards in enumerate(SHARDS)]
    for world in made:
        with world.one.cursor() as cursor:
            cursor.execute("SET SESSION max_statement_time = %s", (_SECONDS_MAX,))
    yield made
    for world in made:
        world.close()


@pytest.mark.parametrize("first", range(0, COUNT, _CHUNK))
def test_random_statements(worlds: list[MySQLWorld], first: int) -> None:
    compared = 0
    for seed in range(first, first + _CHUNK):
        world = worlds[seed % len(worlds)]
        sql = Statements(seed).statement()
        try:
            names, expected = world.expected(sql)
        except pymysql.MySQLError:  # MariaDB refuses it, or takes too long
            continue
        found_names, found = world.found(sql)
        assert found_names == names, (seed, sql)
        ours, theirs = matching(map(_comparable, found), map(_comparable, expected))
        assert (ours, theirs) == ([], []), (seed, sql)
        compared += 1
    assert compared >= _CHUNK / 2, "MariaDB refuses most of what is drawn"


def _comparable(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Which of the texts that are equal stands for them is for the order of rows to say."""
    return tuple(_plain(v) if isinstance(v, str) else _short(v) for v in row)


def _plain(text: str) -> str:
    parts = unicodedata.normalize("NFD", text.replace("ss", "s").replace("ß", "s"))
    return "".join(c for c in parts if not unicodedata.combining(c)).casefold().rstrip(" ")


def _short(value: Any) -> Any:
    return float(f"{value:.10g}") if isinstance(value, float) else value

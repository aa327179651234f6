"""The demo: made from nothing, always the same, and right."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import shardwise
from shardwise.cli.demo import QUESTIONS
from shardwise.cli.demo_data import FILES, SHARDS
from tests.integration.cli.runner import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo's folder, and what the first run said."""
    folder = tmp_path_factory.mktemp("x") / "the demo"
    ran = run("demo", "--dir", str(folder))
    assert (ran.code, ran.err) == (0, "")
    return folder, ran.text


def test_it_answers_and_explains_every_question(shop: tuple[Path, str]) -> None:
    folder, said = shop
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    for number, question in enumerate(QUESTIONS, 1):
        assert f"{number}. {question.words}" in said
    assert said.count(" moved, ") == len(QUESTIONS)
    assert "Fragment f1 on 1 of 4 shards" in said
    assert f"query -c '{folder / 'cluster.sql'}'" in said
    assert max(map(len, said.replace(str(folder), "demo").splitlines())) < 160


def test_its_answers_are_one_databases(shop: tuple[Path, str]) -> None:
    """One DuckDB that holds all rows says the same."""
    folder, _ = shop
    with duckdb.connect() as whole, shardwise.connect(folder / "cluster.sql") as con:
        for n in range(SHARDS):
            whole.execute(f"ATTACH '{folder / f'shop_{n}.duckdb'}' AS s{n} (READ_ONLY)")
        for table in ("customers", "orders", "items", "products"):
            parts = " UNION ALL ".join(f"FROM s{n}.{table}" for n in range(SHARDS))
            whole.execute(f"CREATE TABLE {table} AS {parts}")
        for table in ("nations", "settings"):
            whole.execute(f"CREATE TABLE {table} AS FROM s0.{table}")
        for question in QUESTIONS:
            expected = whole.execute(question.sql).fetchall()
            assert con.execute(question.sql).fetchall() == expected
            assert expected


def test_the_shop_is_as_its_catalog_says(shop: tuple[Path, str]) -> None:
    folder, _ = shop
    ran = run("catalog", "check", "--rows", "-c", str(folder / "cluster.sql"))
    assert ran.text == "6 tables checked, all rows: all as the catalog says\n"


def test_it_uses_the_shop_again_and_leaves_others_files_alone(shop: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = shop
    assert "is used again" in run("demo", "--dir", str(folder)).text
    (tmp_path / "cluster.sql").write_text("-- mine", encoding="utf-8")
    ran = run("demo", "--dir", str(tmp_path))
    assert ran.code == 2
    assert "give another --dir" in ran.err
    assert (tmp_path / "cluster.sql").read_text(encoding="utf-8") == "-- mine"

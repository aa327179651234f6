"""`shardwise index`: built, listed, compared, dropped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.integration.cli.runner import run
from tests.integration.session.indexed import INVOICES_NO, VISITS, World


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path, 2, ("sqlite",), more=f"{VISITS};\n{INVOICES_NO};\n")
    made.make()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return made


def test_built_compared_put_right_and_dropped(world: World) -> None:
    assert run("index", "list").text.count("not built") == 2
    built = run("index", "build")
    assert built.code == 0
    assert re.search(
        rf"visits: {len(world.visits())} rows on \d shards, as of 20\S+, in [\d.]+ s", built.text
    )
    assert re.search(r"invoices_no: 60 rows on \d shards, as of 20\S+, in [\d.]+ s", built.text)
    assert run("index", "build").text == ""
    checked = run("index", "check")
    assert (checked.code, checked.text) == (0, "visits: as its tables are\ninvoices_no: as its tables are\n")
    world.run(1, "DELETE FROM invoices_no WHERE no < 30")
    found = run("index", "check", "invoices_no")
    assert found.code == 4
    assert "rows missing on s1\n" in found.text
    repaired = run("index", "check", "--repair")
    assert repaired.code == 0
    assert "rows missing on s1, put right" in repaired.text
    dropped = run("index", "drop", "visits", "invoices_no")
    assert (dropped.code, dropped.text.count("dropped on all of its shards")) == (0, 2)
    assert run("index", "list").text.count("not built") == 2


def test_what_is_wrong_is_said(world: World) -> None:
    ran = run("index", "build", "nothing")
    assert ran.code == 1
    assert 'there is no index "nothing"' in ran.err
    world.run(0, "CREATE TABLE visits (mine INTEGER)")
    ran = run("index", "build", "visits")
    assert ran.code == 1
    assert 'a table "visits" on shard "s0" already' in ran.err

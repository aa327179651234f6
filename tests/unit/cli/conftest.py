"""A small cluster in a folder with a space in its name: the working directory of every test here."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

CATALOG = """\
CREATE CATALOG tiny DIALECT duckdb;
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb' READ ONLY;
CREATE SHARDING by_id USING MOD 2 AS n ON s{n};
ATTACH TABLE customers SHARD BY by_id (id);
ATTACH TABLE cities REFERENCE ON by_id;
"""


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    for n in range(2):
        with duckdb.connect(str(folder / f"s{n}.duckdb")) as db:
            db.execute("CREATE TABLE customers (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, city VARCHAR)")
            db.execute(
                f"INSERT INTO customers SELECT i, 'c' || i, 'City ' || i % 3 FROM range({n}, 300, 2) t(i)"
            )
            db.execute("CREATE TABLE cities (name VARCHAR)")
            db.execute("INSERT INTO cities VALUES ('City 0'), ('City 1')")
    (folder / "cluster.sql").write_text(CATALOG, encoding="utf-8")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the cluster, its columns not imported."""
    copy = tmp_path / "a cluster"
    shutil.copytree(made, copy)
    monkeypatch.chdir(copy)
    monkeypatch.delenv("SHARDWISE_CATALOG", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return copy


@pytest.fixture
def imported(folder: Path) -> Path:
    """The same, columns written into the catalog."""
    catalog = CATALOG.replace("customers SHARD", "customers (id INTEGER, name VARCHAR, city VARCHAR) SHARD")
    catalog = catalog.replace("cities REF", "cities (name VARCHAR) REF")
    (folder / "cluster.sql").write_text(catalog, encoding="utf-8")
    return folder

"""SQL that reads files, loads code or changes settings is refused: in merge, describer and sources.

The planner refuses most of it before; here is what holds if it did not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from shardwise.errors import Error, OperationalError, ProgrammingError, Reason
from shardwise.executor.backends.base import Location, OpenSource, SourceOptions
from shardwise.executor.backends.parquet import ParquetBackend
from tests.integration.executor.lab import Lab, merged, whole

frame = pd.DataFrame({"secret": [1]})

FILES = [
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_parquet('{parquet}')",
    "SELECT * FROM parquet_metadata('{parquet}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM '{parquet}'",
    "SELECT * FROM '{file}'",
    "FROM '{folder}/*.parquet'",
]
STATEMENTS = [
    "COPY (SELECT 1) TO '{folder}/out.csv'",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/new.duckdb'",
    "ATTACH '{database}' AS other",
    "INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{folder}/x.duckdb_extension'",
    "SET threads = 3",
    "SET enable_external_access = true",
    "SET lock_configuration = false",
    "SET allowed_configs = ['threads']",
    "SET allowed_directories = ['{folder}']",
    "RESET memory_limit",
    "PRAGMA temp_directory = '{folder}'",
    "CREATE SECRET s (TYPE s3)",
    "CREATE PERSISTENT SECRET s (TYPE s3)",
]
OTHERS = ["SELECT getenv('HOME')", "SELECT * FROM frame", "SELECT * FROM query_table('frame')"]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One for all: what is refused leaves nothing behind."""
    lab = Lab(tmp_path_factory.mktemp("lab"))
    lab.numbers(100)
    yield lab
    lab.close()


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "a.csv").write_text("secret\n1\n")
    with duckdb.connect(str(folder / "a.duckdb")) as con:
        con.execute(f"COPY (SELECT 1 AS secret) TO '{folder}/a.parquet'")
    return {
        "folder": str(folder),
        "file": str(folder / "a.csv"),
        "parquet": str(folder / "a.parquet"),
        "database": str(folder / "a.duckdb"),
    }


def refused(do: Any, folder: str, kinds: Any = (Error, duckdb.Error)) -> None:
    before = sorted(Path(folder).iterdir())
    with pytest.raises(kinds):
        do()
    assert sorted(Path(folder).iterdir()) == before


@pytest.mark.parametrize("sql", FILES + STATEMENTS + OTHERS)
def test_in_the_merge(lab: Lab, names: dict[str, str], sql: str) -> None:
    text = sql.format(**names)
    fragment = lab.fragment("f1", "SELECT id FROM t")
    refused(lambda: lab.rows(merged(text, fragment)), names["folder"], Error)
    instance = next(iter(lab.merge._idle.values()))[0]
    refused(lambda: instance.con.cursor().execute(text).fetchall(), names["folder"])


@pytest.mark.parametrize("sql", FILES + STATEMENTS + OTHERS)
def test_in_the_describer(lab: Lab, names: dict[str, str], sql: str) -> None:
    text = sql.format(**names)
    if "sniff_csv" not in sql:  # opens the file only when it is run
        refused(lambda: lab.describer.describe(text), names["folder"])
    refused(lambda: lab.describer.batches(text, (), None), names["folder"])


@pytest.mark.parametrize("sql", FILES + STATEMENTS + OTHERS)
def test_in_a_source(lab: Lab, names: dict[str, str], sql: str) -> None:
    text = sql.format(**names)
    with_text = lab.fragment("f1", "SELECT id FROM t", ["s1"], text=lambda _: text)
    refused(lambda: lab.rows(whole(with_text)), names["folder"], Error)
    refused(lambda: lab.rows(merged("FROM f1", with_text)), names["folder"], Error)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenSource]:
    folder = tmp_path_factory.mktemp("source")
    duckdb.sql("SELECT 1 AS a").to_parquet(str(folder / "t.parquet"))
    source = ParquetBackend().open(Location(source="p", url=f"parquet:///{folder}"), SourceOptions())
    yield source
    source.close()


@pytest.mark.parametrize("sql", FILES + STATEMENTS + OTHERS)
def test_in_a_folder_of_parquet(names: dict[str, str], parquet: OpenSource, sql: str) -> None:
    """It may read its own folder, nothing else."""
    connection = parquet.connect("UTC")
    assert connection.execute("SELECT a FROM t", {}) == (("a", "INTEGER"),)
    assert connection.fetchmany(2) == [(1,)]
    refused(lambda: connection.execute(sql.format(**names), {}), names["folder"])
    connection.close()


@pytest.mark.parametrize(
    "statement", ["CREATE TABLE x (a INT)", "INSERT INTO t SELECT * FROM t", "DROP TABLE t", "DELETE FROM t"]
)
def test_sources_are_opened_for_reading(lab: Lab, statement: str) -> None:
    fragment = lab.fragment("f1", "SELECT id FROM t", ["s1"], text=lambda _: statement)
    with pytest.raises(Error):
        lab.rows(whole(fragment))
    assert lab.rows(whole(lab.fragment("f1", "SELECT count(*) FROM t", ["s1"]))) == [(100,)]


def test_the_message_says_what_is_refused(lab: Lab, names: dict[str, str]) -> None:
    with pytest.raises(ProgrammingError, match=r"refused: .*file") as caught:
        lab.describer.describe(f"SELECT * FROM read_csv('{names['file']}')")
    assert caught.value.reason == Reason.FORBIDDEN
    assert "registered" in str(caught.value)


def test_a_sources_error_is_no_hint_at_the_users_sql(lab: Lab) -> None:
    fragment = lab.fragment("f1", "SELECT id FROM t", ["s1"], text=lambda _: "SELECT nothing FROM t")
    with pytest.raises(OperationalError) as caught:
        lab.rows(whole(fragment))
    assert caught.value.position is None

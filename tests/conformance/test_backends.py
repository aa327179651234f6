"""Our backends, through the suite that ships for all."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shardwise.errors import NotSupportedError
from shardwise.executor import backends
from shardwise.executor.backends.base import Location
from shardwise.executor.backends.duckdb import DuckDBBackend
from shardwise.executor.backends.parquet import ParquetBackend
from shardwise.executor.backends.sqlite import SQLiteBackend
from shardwise.testing.conformance import BackendConformance


class TestDuckDB(BackendConformance):
    backend = DuckDBBackend()

    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        with duckdb.connect(str(folder / "it's.duckdb")) as con:
            for name, table in tables.items():
                con.register("given", table)
                con.execute(f"CREATE TABLE {name} AS FROM given")
        return Location(source="file", url=f"duckdb:///{folder}/it's.duckdb")

    def missing(self, folder: Path) -> Location:
        return Location(source="file", url=f"duckdb:///{folder}/none.duckdb")


class TestParquet(BackendConformance):
    backend = ParquetBackend()
    writes = ("INSERT INTO numbers VALUES (1, 'x')", "COPY numbers TO 'numbers.parquet'")

    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        for name, table in tables.items():
            if name == "numbers":
                parts = folder / name / "deep er"
                parts.mkdir(parents=True)
                pq.write_table(table.slice(0, 1000), parts / "a.parquet")
                pq.write_table(table.slice(1000), parts.parent / "b.parquet")
            else:
                pq.write_table(table, folder / f"{name}.parquet")
        (folder / "notes").mkdir()
        (folder / "notes.txt").write_text("no table")
        return Location(source="folder", url=f"parquet:///{folder}")

    def missing(self, folder: Path) -> Location:
        return Location(source="folder", url=f"parquet:///{folder}/none")


class TestSQLite(BackendConformance):
    backend = SQLiteBackend()
    fails_late = "SELECT CASE WHEN id = 99999 THEN word ELSE 1 END FROM numbers"
    time_zone = "SELECT '2024-05-01 10:00:00+00'"
    time_zone_type = "TIMESTAMP WITH TIME ZONE"

    def make(self, folder: Path, tables: Mapping[str, pa.Table]) -> Location:
        con = sqlite3.connect(folder / "it's 100% #1.db")
        for name, table in tables.items():
            con.execute(f"CREATE TABLE {name} (id INTEGER, word TEXT)")
            con.executemany(
                f"INSERT INTO {name} VALUES (?, ?)", zip(*table.to_pydict().values(), strict=True)
            )
        con.commit()
        con.close()
        return Location(source="file", url=f"sqlite:///{folder}/it's 100% #1.db")

    def missing(self, folder: Path) -> Location:
        return Location(source="file", url=f"sqlite:///{folder}/none.db")


def test_a_scheme_without_backend() -> None:
    with pytest.raises(
        NotSupportedError, match='source "a" cannot be read: there is no backend for "ftp:" URLs'
    ):
        backends.backend_of("ftp", "a")


def test_a_strangers_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("mine", f"{DuckDBBackend.__module__}:DuckDBBackend", backends.GROUP)
    monkeypatch.setattr(backends, "entry_points", lambda group: [point] if group == backends.GROUP else [])
    backends._third_parties.cache_clear()
    assert isinstance(backends.backend_of("mine", "a"), DuckDBBackend)
    backends._third_parties.cache_clear()

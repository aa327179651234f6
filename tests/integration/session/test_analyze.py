"""ANALYZE over DuckDB, SQLite, Parquet and folders of files, compared with exact counts of the union of rows.

Stated bounds: rows, NULLs, extremes, and distinct values of shard keys are exact; other distinct values are
within 25 % where all rows were looked at and too many to be read; where all were read, everything is exact.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest

import shardwise
from shardwise.catalog import load, lock_path
from shardwise.catalog.model import Catalog, TableStatistics
from shardwise.dbapi.statements import parse
from shardwise.dbapi.statements.analyze import Analyze
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DeadlineExceeded,
    NotSupportedError,
    OperationalError,
    SQLSyntaxError,
    UnknownName,
)
from shardwise.inspection.analyzing import collecting

COLUMNS = """id BIGINT, name VARCHAR, city VARCHAR, price DECIMAL(9,2), day DATE, seen TIMESTAMP,
    flag BOOLEAN, measure DOUBLE, doc JSON, void INTEGER, friend INTEGER, skewed INTEGER"""


def rows_of(shard: int, shards: int, count: int) -> str:
    """Rows 0 to `count` that are on a shard. `friend` has the same values on all, `skewed` is mostly 7."""
    return f"""
        SELECT i AS id, 'n' || (i % {max(count // 10, 1)}) AS name,
            CASE WHEN i % 4 < 3 THEN 'Berlin' ELSE 'City ' || (i % 40) END AS city,
            CAST((i % 500) / 100 AS DECIMAL(9,2)) AS price,
            DATE '2024-01-01' + CAST(i % 365 AS INTEGER) AS day,
            TIMESTAMP '2024-01-01' + to_minutes(i) AS seen, i % 3 = 0 AS flag, i / 7 AS measure,
            '{{"a": 1}}'::JSON AS doc, CAST(NULL AS INTEGER) AS void,
            CASE WHEN i % 5 > 0 THEN CAST(hash(i) % {max(count // 20, 1)} AS INTEGER) END AS friend,
            CASE WHEN i % 10 > 0 THEN 7 ELSE CAST(i % 1000 AS INTEGER) END AS skewed
        FROM range({shard}, {count}, {shards}) r(i)"""


def duckdb_files(folder: Path, shards: int, count: int) -> str:
    for n in range(shards):
        with duckdb.connect(str(folder / f"s{n}.duckdb")) as db:
            db.execute(f"CREATE TABLE t ({COLUMNS}); INSERT INTO t {rows_of(n, shards, count)}")
    return "duckdb:///s{n}.duckdb"


def sqlite_files(folder: Path, shards: int, count: int) -> str:
    for n in range(shards):
        with duckdb.connect() as engine:
            found = engine.execute(rows_of(n, shards, count)).fetchall()
        with sqlite3.connect(folder / f"s{n}.db") as db:
            db.execute(f"CREATE TABLE t ({COLUMNS})")
            texts = [
                tuple(v if isinstance(v, int | float | str | None) else str(v) for v in row) for row in found
            ]
            db.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 12)})", texts)
        db.close()
    return "sqlite:///s{n}.db"


def parquet_folders(folder: Path, shards: int, count: int) -> str:
    for n in range(shards):
        (folder / f"s{n}").mkdir()
        with duckdb.connect() as engine:
            engine.execute(
                f"COPY ({rows_of(n, shards, count)}) TO '{folder}/s{n}/t.parquet' (FORMAT parquet)"
            )
    return "parquet:///s{n}"


MAKERS: dict[str, Callable[[Path, int, int], str]] = {
    "duckdb": duckdb_files,
    "sqlite": sqlite_files,
    "parquet": parquet_folders,
}


def make(folder: Path, product: str, shards: int, count: int) -> Path:
    url = MAKERS[product](folder, shards, count)
    file = folder / "cluster.sql"
    file.write_text(f"""
        CREATE CATALOG c DIALECT duckdb;
        CREATE SOURCE s{{n}} FOR n IN 0-{shards - 1} URL '{url}' READ ONLY;
        CREATE SHARDING by_id USING MOD {shards} AS n ON s{{n}};
        ATTACH TABLE t ({COLUMNS}) SHARD BY by_id (id);
    """)
    return file


def exact(count: int, column: str) -> tuple[int, int, str, str]:
    """Distinct values, NULLs, the least and the most, of one database that has all rows."""
    with duckdb.connect() as engine:
        sql = f"SELECT count(DISTINCT {column}), count(*) - count({column}), min({column}), max({column})"
        found = engine.execute(f"{sql} FROM ({rows_of(0, 1, count)})").fetchone()
    assert found is not None
    return found


def check(statistics: TableStatistics, count: int, *, within: float, is_scan: bool = True) -> None:
    assert statistics.rows == count
    for column in (
        "id",
        "name",
        "city",
        "price",
        "day",
        "seen",
        "flag",
        "measure",
        "void",
        "friend",
        "skewed",
    ):
        distinct, nulls, least, most = exact(count, column)
        known = statistics.columns[column]
        if is_scan:
            assert known.nulls == pytest.approx(nulls / count, abs=1e-4), column
        else:
            assert known.nulls == pytest.approx(nulls / count, abs=0.02), column
        assert known.distinct == pytest.approx(distinct, rel=within), column
        assert known.width is None or known.width > 0
        if column in ("id", "price", "day", "seen", "measure", "friend", "skewed") and is_scan:
            assert len(known.bounds) <= 33
            if column in ("id", "day", "friend", "skewed"):
                assert (known.bounds[0], known.bounds[-1]) == (str(least), str(most))
        if column in ("name", "city", "flag", "void"):
            assert known.bounds == ()
    assert statistics.columns["id"].distinct == pytest.approx(count, rel=0 if is_scan else within)
    # Of 4,000 rows drawn at random six standard deviations are 0.041 and 0.028.
    assert dict(statistics.columns["city"].common)["Berlin"] == pytest.approx(0.75, abs=0.041)
    assert dict(statistics.columns["skewed"].common)["7"] == pytest.approx(0.9, abs=0.028)
    assert sum(text == "7" for text in statistics.columns["skewed"].bounds) >= 25
    assert sorted(dict(statistics.columns["flag"].common)) == ["false", "true"]
    assert statistics.columns["doc"].distinct is None
    assert statistics.columns["doc"].common == ()
    assert statistics.columns["id"].common == ()
    ids = [int(text) for text in statistics.columns["id"].bounds]
    assert max(b - a for a, b in pairwise(ids)) < count / 32 * 1.5 + 2


@pytest.mark.parametrize("product", MAKERS)
@pytest.mark.parametrize("shards", [1, 7])
def test_small_tables_are_read_whole_and_everything_is_exact(
    tmp_path: Path, product: str, shards: int
) -> None:
    with shardwise.open(make(tmp_path, product, shards, 2_000)) as cluster:
        (done,) = cluster.analyze()
        check(done.statistics, 2_000, within=0)
        assert (done.statistics.source, done.looked_at) == ("scan", "all rows")
        assert done.left_out == {"doc": "JSON"}
        assert cluster.catalog.statistics_of(cluster.catalog.table("t")) == done.statistics
    assert load(tmp_path / "cluster.sql").statistics_of(cluster.catalog.table("t")) == done.statistics


@pytest.mark.parametrize("product", MAKERS)
@pytest.mark.parametrize("shards", [1, 3])
def test_larger_ones_by_a_pass_over_each_partition_and_a_sample(
    tmp_path: Path, product: str, shards: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", 4_000)
    with shardwise.open(make(tmp_path, product, shards, 20_000)) as cluster:
        (done,) = cluster.analyze("t")
    assert done.statistics.source == "scan"
    assert done.looked_at.startswith("all rows, ")
    check(done.statistics, 20_000, within=0.25)


@pytest.mark.parametrize("product", MAKERS)
def test_the_largest_by_a_sample(tmp_path: Path, product: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", 5_000)
    monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 100))
    with shardwise.open(make(tmp_path, product, 3, 20_000)) as cluster:
        (done,) = cluster.analyze("t")
    assert done.statistics.source == "sample"
    check(done.statistics, 20_000, within=0.25, is_scan=False)


@pytest.mark.parametrize("product", MAKERS)
def test_from_sources_reads_no_rows(tmp_path: Path, product: str) -> None:
    file = make(tmp_path, product, 3, 2_000)
    if product == "sqlite":
        for n in range(3):
            with sqlite3.connect(tmp_path / f"s{n}.db") as db:
                db.execute("CREATE INDEX names ON t (name)")
                db.execute("ANALYZE")
            db.close()
    with shardwise.open(file) as cluster:
        (done,) = cluster.analyze("t", from_sources=True)
    statistics = done.statistics
    assert (statistics.rows, statistics.source) == (2_000, "sources")
    assert statistics.columns["price"].width == 16
    if product == "parquet":
        assert statistics.columns["void"].nulls == 1
        assert statistics.columns["id"].bounds == ("0", "1999")
        assert statistics.columns["day"].bounds == ("2024-01-01", "2024-12-30")
    if product == "sqlite":
        assert 140 <= (statistics.columns["name"].distinct or 0) <= 270  # it rounds rows of a value up


def test_sqlite_without_statistics_of_its_own_knows_its_largest_rowid(tmp_path: Path) -> None:
    with shardwise.open(make(tmp_path, "sqlite", 2, 100)) as cluster:
        (done,) = cluster.analyze("t", from_sources=True)
    assert done.statistics.rows == 100


def test_empty_shards_and_empty_tables(tmp_path: Path) -> None:
    with shardwise.open(make(tmp_path, "duckdb", 3, 2)) as cluster:
        (done,) = cluster.analyze()
    assert done.statistics.rows == 2
    assert done.statistics.columns["id"].bounds == ("0", "1")
    empty = tmp_path / "empty"
    empty.mkdir()
    with shardwise.open(make(empty, "duckdb", 3, 0)) as cluster:
        (done,) = cluster.analyze()
        (told,) = cluster.analyze(from_sources=True)
    assert done.statistics.rows == told.statistics.rows == 0
    assert {c.distinct for name, c in done.statistics.columns.items() if name != "doc"} == {0}
    assert all(c.bounds == () and c.nulls == 0 for c in done.statistics.columns.values())


@pytest.mark.parametrize("product", MAKERS)
def test_a_pass_over_shards_of_which_some_are_empty(
    tmp_path: Path, product: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", 1)
    with shardwise.open(make(tmp_path, product, 7, 3)) as cluster:
        (done,) = cluster.analyze()
    assert (done.statistics.rows, done.statistics.source) == (3, "scan")
    known = done.statistics.columns
    assert (known["id"].distinct, known["city"].distinct, known["void"].distinct) == (3, 1, 0)
    assert (known["id"].bounds[0], known["id"].bounds[-1]) == ("0", "2")
    assert known["void"].nulls == 1


# -- layouts ------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Members as files with a VIRTUAL key; tables by slot, of one copy, and with a column that one lacks."""
    for number, tenant in enumerate(("acme", "globex", "initech")):
        with duckdb.connect(str(tmp_path / f"{tenant}.tenant.duckdb")) as db:
            more = ", note VARCHAR" if tenant != "globex" else ""
            db.execute(f"CREATE TABLE notes (id INTEGER PRIMARY KEY, body VARCHAR{more})")
            note = ", 'x'" if more else ""
            db.execute(f"INSERT INTO notes SELECT i, 'b' || i{note} FROM range({10 * (number + 1)}) r(i)")
    for n in range(2):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as db:
            db.execute("CREATE TABLE cities (\"Name\" VARCHAR); INSERT INTO cities VALUES ('A'), ('B')")
            for slot in range(n, 4, 2):
                db.execute(f'CREATE TABLE visits_{slot} (k INTEGER, "Odd name" VARCHAR)')
                db.execute(f"INSERT INTO visits_{slot} SELECT {slot} + 4 * (i % 5), 'v' FROM range(20) r(i)")
            db.execute('CREATE SCHEMA crm; CREATE TABLE crm."Deals" (id INTEGER)')
            db.execute(f'INSERT INTO crm."Deals" VALUES ({n}), ({n + 2})')
    with duckdb.connect(str(tmp_path / "s0.duckdb")) as db:
        db.execute("CREATE TABLE settings (name VARCHAR PRIMARY KEY); INSERT INTO settings VALUES ('a')")
    file = tmp_path / "cluster.sql"
    file.write_text("""
        CREATE CATALOG shop DIALECT duckdb;
        CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb' READ ONLY;
        CREATE SOURCE file_{tenant} FOR EACH tenant URL 'duckdb:///{tenant}.tenant.duckdb' READ ONLY;
        CREATE SHARDING by_file USING DIRECTORY AS tenant ON file_{tenant};
        CREATE SHARDING by_slot USING MOD 4 (s0 = (0, 2), s1 = (1, 3));
        ATTACH TABLE notes (id INTEGER PRIMARY KEY, body VARCHAR, note VARCHAR)
            SHARD BY by_file (tenant VARCHAR VIRTUAL) DRIFT FILL;
        ATTACH TABLE cities ("Name" VARCHAR) REFERENCE ON by_slot;
        ATTACH TABLE settings ON s0;
        ATTACH TABLE visits SHARD BY by_slot (k) NAMED 'visits_{slot}';
        ATTACH TABLE crm."Deals" SCATTERED ON by_slot;
        CREATE VIEW v AS SELECT * FROM cities;
    """)
    return file


@pytest.mark.parametrize("sample_rows", [30_000, 10])
def test_every_kind_of_table_is_scanned(
    shop: Path, sample_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read whole, or by a pass: a column that one partition lacks counts as what it is filled with."""
    monkeypatch.setattr(collecting, "SAMPLE_ROWS", sample_rows)
    with shardwise.open(shop) as cluster:
        done = {each.statistics.full_name: each.statistics for each in cluster.analyze()}
    assert {each.source for each in done.values()} == {"scan"}
    notes = done["notes"]
    assert notes.rows == 60
    assert notes.columns["note"].nulls == pytest.approx(20 / 60, abs=1e-4)
    assert notes.columns["note"].distinct == 1
    assert notes.columns["id"].distinct == pytest.approx(30, rel=0.25)
    assert notes.columns["id"].bounds[0] == "0"
    assert notes.columns["id"].bounds[-1] == "29"
    assert done["visits"].columns["k"].distinct == 20
    assert done["visits"].columns["odd name"].distinct == 1
    assert done["settings"].columns["name"].distinct == 1


TYPES = {
    "b": ("BOOLEAN", "true"),
    "i1": ("UTINYINT", "200"),
    "i8": ("UBIGINT", "18446744073709551615"),
    "i16": ("HUGEINT", "-170141183460469231731687303715884105727"),
    "dec": ("DECIMAL(38,10)", "12345678901234567890.0000000001"),
    "f": ("FLOAT", "'nan'"),
    "d8": ("DOUBLE", "'-inf'"),
    "day": ("DATE", "'9999-12-31'"),
    "t": ("TIME", "'23:59:59.5'"),
    "ts": ("TIMESTAMP", "'infinity'"),
    "ns": ("TIMESTAMP_NS", "'2024-01-01 00:00:00.123456789'"),
    "tz": ("TIMESTAMP WITH TIME ZONE", "'2024-01-01 00:00:00+02'"),
    "gap": ("INTERVAL", "INTERVAL 3 MONTH"),
    "word": ("VARCHAR", "'it''s' || chr(10)"),
    "long": ("VARCHAR", "repeat('é', 5000)"),
    "id": ("UUID", "'7f4c7a0a-0b0c-4d0e-8f00-000000000001'"),
    "mood": ("ENUM('sad', 'glad')", "'glad'"),
    "raw": ("BLOB", "'abc'::BLOB"),
    "doc": ("JSON", "'{}'"),
    "list": ("INTEGER[]", "[1, 2]"),
    "s": ("STRUCT(a INTEGER)", "{'a': 1}"),
    "bits": ("BIT", "'101'::BIT"),
}


@pytest.mark.parametrize("mode", ["whole", "scan", "sample", "sources"])
def test_all_types(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the rows are NULL in every column."""
    if mode != "whole":
        monkeypatch.setattr(collecting, "SAMPLE_ROWS", 30)
    if mode == "sample":
        monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 1))
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    values = ", ".join(f"CASE WHEN i % 4 < 2 THEN {value} END" for _, value in TYPES.values())
    for n in range(2):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as db:
            db.execute(f"CREATE TABLE t (k INTEGER, {columns})")
            db.execute(f"INSERT INTO t SELECT i, {values} FROM range({n}, 200, 2) r(i)")
    (tmp_path / "cluster.sql").write_text(f"""
        CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'duckdb:///s{{n}}.duckdb' READ ONLY;
        CREATE SHARDING f USING MOD 2 AS n ON s{{n}};
        ATTACH TABLE t (k INTEGER, {columns}) SHARD BY f (k);
    """)
    with shardwise.open(tmp_path / "cluster.sql") as cluster:
        (done,) = cluster.analyze(from_sources=mode == "sources")
    assert load(tmp_path / "cluster.sql").statistics_of(cluster.catalog.table("t")) == done.statistics
    assert list(done.left_out) == ["raw", "doc", "list", "s", "bits"]
    if mode == "sources":
        assert done.statistics.rows == 200
        return
    known = done.statistics.columns
    for name in TYPES:
        assert known[name].nulls == pytest.approx(0.5, abs=0.4 if mode == "sample" else 0)
        if name in done.left_out:
            assert known[name].common == known[name].bounds == ()
        else:
            assert known[name].distinct == 1, name
    assert known["i8"].bounds == ("18446744073709551615",) * len(known["i8"].bounds)
    assert known["dec"].bounds[0] == "12345678901234567890.0000000001"
    assert known["f"].bounds == known["d8"].bounds == known["ts"].bounds == ()
    assert known["tz"].bounds[0] == "2023-12-31 22:00:00"
    assert known["day"].bounds[0] == "9999-12-31"
    assert known["word"].common == known["long"].common == ()
    assert known["long"].width == 10_004
    assert known["mood"].common[0][0] == "glad"
    assert (known["id"].width, known["raw"].width, known["doc"].width) == (40, 7, 6)


@pytest.mark.parametrize("mode", ["whole", "scan", "sample"])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_how_sqlite_stores_what_it_has_no_types_for(
    tmp_path: Path, mode: str, dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if mode != "whole":
        monkeypatch.setattr(collecting, "SAMPLE_ROWS", 40)
    if mode == "sample":
        monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 1))
    for n in range(2):
        with sqlite3.connect(tmp_path / f"s{n}.db") as db:
            db.execute(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, day TEXT, seconds INTEGER, millis INTEGER,"
                " julian REAL, flag INTEGER, word TEXT COLLATE NOCASE)"
            )
            db.executemany(
                "INSERT INTO t VALUES (?, '2024-02-03', 86400, 86400500, 2440587.5, 0, ?)",
                [(i, ("Ann", "ANN", "ann", None)[i // 2 % 4]) for i in range(n, 200, 2)],
            )
        db.close()
    collate = " COLLATE NOCASE" if dialect == "sqlite" else ""
    (tmp_path / "cluster.sql").write_text(f"""
        CREATE CATALOG c DIALECT {dialect};
        CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'sqlite:///s{{n}}.db' READ ONLY;
        CREATE SHARDING f USING MOD 2 AS n ON s{{n}};
        ATTACH TABLE t (id INTEGER PRIMARY KEY, day DATE, seconds TIMESTAMP EPOCH SECONDS,
            millis TIMESTAMP EPOCH MILLISECONDS, julian TIMESTAMP JULIAN, flag BOOLEAN, word TEXT{collate})
            SHARD BY f (id);
    """)
    with shardwise.open(tmp_path / "cluster.sql") as cluster:
        (done,) = cluster.analyze()
    known = done.statistics.columns
    ends = {name: set(each.bounds) for name, each in known.items()}
    assert ends["day"] == {"2024-02-03"}
    assert ends["seconds"] == {"1970-01-02 00:00:00"}
    assert ends["millis"] == {"1970-01-02 00:00:00.5"}
    assert ends["julian"] == {"1970-01-01 00:00:00"}
    assert known["flag"].common == (("false", 1.0),)
    assert known["word"].distinct == (1 if dialect == "sqlite" else 3)
    assert done.statistics.rows == known["id"].distinct == 200


@pytest.mark.parametrize("mode", ["whole", "scan", "sample"])
def test_bytes_in_any_column_of_sqlite(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes that are no text were an error of the file's: "no UTF-8"."""
    if mode != "whole":
        monkeypatch.setattr(collecting, "SAMPLE_ROWS", 10)
    if mode == "sample":
        monkeypatch.setattr(collecting, "SCANNED_MAX", dict.fromkeys(collecting.SCANNED_MAX, 1))
    columns = "id INTEGER PRIMARY KEY, a, b BLOB, c TEXT, d INTEGER, e DATE, f NUMERIC, g REAL, h BOOLEAN"
    values = [b"\xff\x00", b"a", "a", None, 1, 2.5]
    for n in range(2):
        with sqlite3.connect(tmp_path / f"s{n}.db") as db:
            db.execute(f"CREATE TABLE t ({columns})")
            rows = [(i, *[values[i // 2 % 6]] * 8) for i in range(n, 120, 2)]
            db.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
        db.close()
    (tmp_path / "cluster.sql").write_text(f"""
        CREATE CATALOG c DIALECT sqlite;
        CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'sqlite:///s{{n}}.db' READ ONLY;
        CREATE SHARDING f USING MOD 2 AS n ON s{{n}};
        ATTACH TABLE t ({columns}) SHARD BY f (id);
    """)
    with shardwise.open(tmp_path / "cluster.sql") as cluster:
        (done,) = cluster.analyze()
    assert done.statistics.rows == 120
    # A sample of 20 rows is off by 0.08 as a rule.
    assert done.statistics.columns["a"].nulls == pytest.approx(1 / 6, abs=0.01 if mode == "whole" else 0.35)


@pytest.mark.parametrize("from_sources", [False, True])
def test_every_kind_of_table(shop: Path, from_sources: bool) -> None:
    with shardwise.open(shop) as cluster:
        done = {
            each.statistics.full_name: each.statistics for each in cluster.analyze(from_sources=from_sources)
        }
    rows = {name: each.rows for name, each in done.items()}
    assert rows == {"notes": 60, "cities": 2, "settings": 1, "visits": 80, "crm.Deals": 4}
    tenant = done["notes"].columns["tenant"]
    assert tenant.distinct == 3
    assert tenant.common == (("initech", 0.5), ("globex", 0.33333), ("acme", 0.16667))
    assert done["settings"].columns["name"].distinct == 1
    if not from_sources:
        assert done["notes"].columns["note"].nulls == pytest.approx(20 / 60, abs=1e-4)
        assert done["notes"].columns["note"].distinct == 1
        assert done["notes"].columns["id"].distinct == 30
        assert done["cities"].columns["name"].distinct == 2
        assert done["visits"].columns["k"].distinct == 20
        assert done["visits"].columns["odd name"].common == (("v", 1.0),)
    assert {each.name for each in load(shop).items if isinstance(each, TableStatistics)} == {
        "notes",
        "cities",
        "settings",
        "visits",
        "Deals",
    }


def test_of_very_many_members_some_are_asked(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "MEMBERS_MAX", 2)
    with shardwise.open(shop) as cluster:
        (done,) = cluster.analyze("notes")
    assert done.statistics.source == "sample"
    assert done.looked_at == "all rows of 2 of 3 members"
    assert done.statistics.rows == 60  # of 10 and 30, and one more as large as they are
    assert done.statistics.columns["tenant"].distinct == 3


def test_a_table_that_a_shard_lacks_is_an_error(shop: Path) -> None:
    with duckdb.connect(str(shop.parent / "s1.duckdb")) as db:
        db.execute("DROP TABLE visits_3")
    with (
        shardwise.open(shop) as cluster,
        pytest.raises(OperationalError, match='"visits_3" is missing on shard "s1"'),
    ):
        cluster.analyze("visits")


def test_what_is_done_is_kept_also_if_a_later_table_fails(shop: Path) -> None:
    with duckdb.connect(str(shop.parent / "s1.duckdb")) as db:
        db.execute("DROP TABLE visits_3")
    with shardwise.open(shop) as cluster, pytest.raises(OperationalError):
        cluster.analyze("cities", "visits")
    catalog = load(shop)
    assert catalog.statistics_of(catalog.table("cities")).rows == 2
    assert catalog.statistics_of(catalog.table("visits")) is None


# -- the statement ------------------------------------------------------------------------------


def test_the_statement_and_what_is_shown(shop: Path) -> None:
    with shardwise.open(shop) as cluster, cluster.connect() as con:
        found = con.execute('ANALYZE TABLE visits, crm."Deals"')
        assert [column[0] for column in found.description or ()] == [
            *("table", "rows", "columns", "source", "looked_at", "left_out", "kept_in", "seconds")
        ]
        rows = found.fetchall()
        lock = str(lock_path(shop.resolve()))
        assert [row[:7] for row in rows] == [
            ("visits", 80, 2, "scan", "all rows", None, lock),
            ("crm.Deals", 4, 1, "scan", "all rows", None, lock),
        ]
        assert all(isinstance(row[7], float) for row in rows)
        shown = con.execute("SHOW STATISTICS").fetchall()
        assert [row[:3] for row in shown] == [("visits", 80, "scan"), ("crm.Deals", 4, "scan")]
        ((column, distinct, nulls, width, bounds, common),) = con.execute(
            "SHOW STATISTICS FOR visits LIKE 'k'"
        ).fetchall()
        assert (column, distinct, nulls, width) == ("k", 20, 0, 4)
        assert (bounds.split(", ")[0], bounds.split(", ")[-1]) == ("0", "19")
        assert common.startswith("0 5.00%, 1 5.00%, ")
        assert con.execute("SHOW STATISTICS FOR cities").fetchall() == []
        con.execute("ANALYZE visits WITHOUT VALUES")
        assert (
            con.execute(
                "SHOW STATISTICS FOR visits WHERE bounds IS NOT NULL OR common IS NOT NULL"
            ).fetchall()
            == []
        )
        assert con.execute("ANALYZE visits FROM SOURCES").fetchall()[0][3:5] == (
            "sources",
            "no rows: 4 partitions asked",
        )
        assert con.execute("ANALYZE crm.Deals").to_arrow_table().column("rows").to_pylist() == [4]
        con.execute("USE crm")
        assert con.execute("ANALYZE deals").fetchone()[0] == "crm.Deals"


@pytest.mark.parametrize(
    ("sql", "error", "message"),
    [
        ("ANALYZE nothing", UnknownName, "nothing"),
        ("ANALYZE v", NotSupportedError, '"v" is a view'),
        ("ANALYZE visits,", SQLSyntaxError, "does not read so"),
        ("ANALYZE visits cities", SQLSyntaxError, "does not read so"),
        ("ANALYZE 'visits'", SQLSyntaxError, "does not read so"),
        ("ANALYZE (SELECT 1)", SQLSyntaxError, "does not read so"),
    ],
)
def test_what_is_no_analyze(shop: Path, sql: str, error: type[Exception], message: str) -> None:
    with shardwise.open(shop) as cluster, cluster.connect() as con, pytest.raises(error, match=message):
        con.execute(sql)


def test_names_that_are_words_of_the_statement() -> None:
    assert parse('ANALYZE "from sources" FROM SOURCES') == Analyze(
        tables=((None, "from sources"),), from_sources=True
    )
    assert parse("analyze table from sources without values;") == Analyze(
        tables=((None, "table"),), from_sources=True, values=False
    )
    assert parse("ANALYZE") == Analyze()


def test_a_pinned_connection_learns_nothing(shop: Path) -> None:
    with shardwise.open(shop) as cluster:
        cluster.analyze()
        with cluster.connect(scope={"tenant": "acme"}, pinned=True) as con:
            for sql in ("ANALYZE", "ANALYZE notes", "ANALYZE notes FROM SOURCES", "SHOW STATISTICS"):
                with pytest.raises(NotSupportedError, match="pinned"):
                    con.execute(sql)
            with pytest.raises(NotSupportedError, match="pinned"):
                con.execute("SHOW STATISTICS FOR notes")


# -- kept ---------------------------------------------------------------------------------------


def test_what_else_is_in_the_lock_file_stays(shop: Path) -> None:
    lock_path(shop).write_text(
        "LOCK TABLE settings (name VARCHAR NOT NULL, PRIMARY KEY (name)) ROWS 9;\n"
        "STATISTICS gone ROWS 5 FROM SCAN AT '2020-01-01T00:00:00Z';"
    )
    with shardwise.open(shop) as cluster:
        cluster.analyze("settings")
        cluster.analyze("cities")
    catalog = load(shop)
    text = lock_path(shop).read_text()
    assert "LOCK TABLE settings" in text
    assert "STATISTICS gone ROWS 5" in text
    assert catalog.statistics_of(catalog.table("settings")).rows == 1
    assert catalog.statistics_of(catalog.table("cities")).rows == 2
    assert sorted(each.name for each in shop.parent.glob("cluster*")) == ["cluster.lock.sql", "cluster.sql"]


def test_where_the_lock_file_cannot_be_written_they_are_in_memory(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwise.session.known.may_save_lock", lambda _: False)
    with shardwise.open(shop) as cluster:
        (done,) = cluster.analyze("cities")
        assert done.kept_in is None
        assert cluster.catalog.statistics_of(cluster.catalog.table("cities")).rows == 2
    assert not lock_path(shop).exists()


def test_of_a_catalog_that_came_from_no_file(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    catalog: Catalog = load(shop)
    with shardwise.open(catalog) as cluster:
        (done,) = cluster.analyze("cities")
        assert done.kept_in is None
        assert cluster.catalog.statistics_of(cluster.catalog.table("cities")) == done.statistics
    assert catalog.statistics_of(catalog.table("cities")) is None


def test_statements_are_planned_anew_with_them(shop: Path) -> None:
    with shardwise.open(shop) as cluster, cluster.connect() as con:
        sql = "SELECT count(*) FROM visits WHERE k = ?"
        before = cluster.plan(sql, (4,))
        assert cluster.plan(sql, (4,)) is not None
        con.execute("ANALYZE visits")
        assert cluster.plan_cache.figures().statements == 0
        after = cluster.plan(sql, (4,))
        assert after is not before
        assert con.execute(sql, (4,)).fetchall() == [(4,)]


def test_the_small_side_of_a_join_comes_first_once_it_is_known(tmp_path: Path) -> None:
    """Guessed to be as large as the other, it does not narrow it; the answer is the same."""
    for n in range(2):
        with duckdb.connect(str(tmp_path / f"s{n}.duckdb")) as db:
            db.execute(
                "CREATE TABLE large (id INTEGER, k INTEGER); CREATE TABLE small (id INTEGER, k INTEGER)"
            )
            db.execute(f"INSERT INTO large SELECT i, i * 7 % 20000 FROM range({n}, 20000, 2) r(i)")
            db.execute(f"INSERT INTO small SELECT i, i * 11 FROM range({n}, 40, 2) r(i)")
    columns = "(id INTEGER, k INTEGER)"
    (tmp_path / "cluster.sql").write_text(f"""
        CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'duckdb:///s{{n}}.duckdb' READ ONLY;
        CREATE SHARDING f USING MOD 2 AS n ON s{{n}};
        ATTACH TABLE large {columns} SHARD BY f (id); ATTACH TABLE small {columns} SHARD BY f (id);
    """)
    sql = "SELECT count(*), sum(l.id) FROM large l JOIN small s ON l.k = s.k"
    with shardwise.open(tmp_path / "cluster.sql") as cluster, cluster.connect() as con:
        before = con.execute(sql)
        rows = before.fetchall()
        moved = before.stats.rows_moved if before.stats else 0
        con.execute("ANALYZE")
        after = con.execute(sql)
        assert after.fetchall() == rows
        assert rows[0][0] == 40
        assert after.stats is not None
        assert after.stats.rows_moved <= 80 < moved
        assert con.execute(sql).fetchall() == rows


def test_statements_go_on_meanwhile(tmp_path: Path) -> None:
    with shardwise.open(make(tmp_path, "duckdb", 2, 3_000)) as cluster:
        wrong: list[object] = []
        done = threading.Event()

        def ask() -> None:
            with cluster.connect() as con:
                while not done.is_set():
                    found = con.execute("SELECT count(*), sum(id) FROM t WHERE id >= ?", (0,)).fetchall()
                    if found != [(3_000, 4_498_500)]:
                        wrong.append(found)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(3):
                cluster.analyze("t")
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert wrong == []


# -- stopped ------------------------------------------------------------------------------------


def test_budgets_deadline_and_cancel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with shardwise.open(make(tmp_path, "duckdb", 2, 3_000)) as cluster, cluster.connect() as con:
        with pytest.raises(BudgetExceeded, match="ANALYZE t"):
            con.execute("ANALYZE t", rows_max=100)
        with pytest.raises(BudgetExceeded, match="ANALYZE t"):
            con.execute("ANALYZE t", bytes_max=1_000)
        with pytest.raises(DeadlineExceeded):
            con.execute("ANALYZE t", deadline_s=1e-6)
        assert cluster.catalog.statistics_of(cluster.catalog.table("t")) is None
        cursor = con.cursor()
        started = threading.Event()
        sample = "shardwise.inspection.analyzing.parts.Asking.sample"

        def slow(asking: object, columns: object, share: float) -> object:
            started.set()
            reader = asking.reader  # type: ignore[attr-defined]
            return reader.rows("SELECT count(*) FROM range(10000000) a, range(10000000) b")

        monkeypatch.setattr(sample, slow)
        stopper = threading.Thread(target=lambda: (started.wait(10), time.sleep(0.2), cursor.cancel()))
        stopper.start()
        with pytest.raises(Cancelled):
            cursor.execute("ANALYZE t")
        stopper.join()
        monkeypatch.undo()
        assert con.execute("ANALYZE t").fetchone()[1] == 3_000

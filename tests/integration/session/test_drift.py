"""Tables whose columns are of other types than the catalog says are refused, whatever is read of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from shardwise.errors import CatalogError, OperationalError, Reason
from shardwise.executor import duck
from shardwise.executor.backends.duckdb import DuckDBConnection
from shardwise.session import Cluster
from shardwise.session import open as open_cluster

CATALOG = """
CREATE SOURCE s{n} FOR n IN 0-1 URL 'duckdb:///s{n}.duckdb';
CREATE SOURCE lake URL 'parquet:///lake';
CREATE SHARDING by_user USING MOD 8 AS slot ON s{slot // 4};
ATTACH TABLE events (user_id INT, kind TEXT, v FLOAT8, price NUMERIC(9, 2), n INT8)
  SHARD BY by_user (user_id) NAMED 'events_{slot:02}';
ATTACH TABLE days (day INT, v DOUBLE) ON lake;
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cluster.sql").write_text(CATALOG)
    (tmp_path / "lake").mkdir()
    days(tmp_path, "SELECT 1 AS day, CAST(9 AS DOUBLE) AS v")
    for shard in range(2):
        with duckdb.connect(str(tmp_path / f"s{shard}.duckdb")) as con:
            for slot in range(shard * 4, shard * 4 + 4):
                con.execute(
                    f"""CREATE TABLE events_{slot:02} AS SELECT CAST({slot} AS INTEGER) AS user_id,
                    'k' || range AS kind, CAST(range AS DOUBLE) AS v, CAST(range AS DECIMAL(9, 2)) AS price,
                    range AS n FROM range(12)"""
                )
    return tmp_path


def days(folder: Path, sql: str) -> None:
    with duckdb.connect() as con:
        con.sql(sql).to_parquet(str(folder / "lake" / "days.parquet"))


def alter(folder: Path, column: str, type_: str) -> None:
    with duckdb.connect(str(folder / "s1.duckdb")) as con:
        con.execute(f"ALTER TABLE events_05 ALTER {column} TYPE {type_}")


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    with open_cluster(folder / "cluster.sql") as cluster:
        yield cluster


def rows(cluster: Cluster, sql: str) -> list[tuple[Any, ...]]:
    with cluster.run(sql) as result:
        return result.fetchall()


SORTED = "SELECT user_id, kind FROM events WHERE user_id = 5 ORDER BY v DESC LIMIT 1"


@pytest.mark.parametrize(
    "sql",
    [
        SORTED,
        "SELECT kind FROM events WHERE user_id = 5 AND v > 9",
        "SELECT kind FROM events WHERE v > 9",
        "SELECT count(*) FROM events GROUP BY v",
        "SELECT kind FROM (SELECT * FROM events WHERE user_id IN (5, 6)) ORDER BY v LIMIT 3",
    ],
)
def test_a_column_of_another_type_that_is_not_returned(folder: Path, cluster: Cluster, sql: str) -> None:
    alter(folder, "v", "VARCHAR")
    wanted = 'column "v" of table "events_05" is VARCHAR on shard "s1", not DOUBLE as the catalog says'
    with pytest.raises(OperationalError, match=wanted) as caught:
        rows(cluster, sql)
    assert caught.value.reason == Reason.SCHEMA_DRIFT
    assert caught.value.shard == "s1"
    assert "shardwise catalog check" in str(caught.value.hint)


def test_what_reads_nothing_of_it_is_answered(folder: Path, cluster: Cluster) -> None:
    alter(folder, "v", "VARCHAR")
    assert rows(cluster, "SELECT kind FROM events WHERE user_id = 5 ORDER BY n DESC LIMIT 1") == [("k11",)]
    assert rows(cluster, SORTED.replace("5", "6")) == [(6, "k11")]
    with pytest.raises(OperationalError, match="VARCHAR on shard"):
        rows(cluster, SORTED)


@pytest.mark.parametrize(
    ("column", "type_"), [("n", "SMALLINT"), ("n", "UINTEGER"), ("price", "DECIMAL(7, 2)")]
)
def test_a_narrower_type_that_compares_alike(folder: Path, cluster: Cluster, column: str, type_: str) -> None:
    alter(folder, column, type_)
    assert rows(cluster, SORTED.replace(" v ", f" {column} ")) == [(5, "k11")]
    assert rows(cluster, f"SELECT kind FROM events ORDER BY {column} DESC, user_id LIMIT 1") == [("k11",)]


@pytest.mark.parametrize(
    ("column", "type_"),
    [("v", "FLOAT"), ("v", "INTEGER"), ("n", "HUGEINT"), ("price", "DECIMAL(9, 1)"), ("kind", "BLOB")],
)
def test_a_type_that_does_not(folder: Path, cluster: Cluster, column: str, type_: str) -> None:
    alter(folder, column, type_)
    with pytest.raises(OperationalError, match=f'column "{column}" of table "events_05" is {type_[:4]}'):
        rows(cluster, f"SELECT user_id FROM events WHERE user_id = 5 ORDER BY {column} LIMIT 1")


def test_a_folder_of_parquet(folder: Path, cluster: Cluster) -> None:
    assert rows(cluster, "SELECT day FROM days ORDER BY v") == [(1,)]
    days(folder, "SELECT 1 AS day, '9' AS v")
    with (
        open_cluster(folder / "cluster.sql") as other,
        pytest.raises(OperationalError, match='column "v" of table "days" is VARCHAR on shard "lake"'),
    ):
        rows(other, "SELECT day FROM days ORDER BY v")


def test_what_is_missing(folder: Path, cluster: Cluster) -> None:
    with duckdb.connect(str(folder / "s1.duckdb")) as con:
        con.execute("ALTER TABLE events_05 DROP v")
        con.execute("DROP TABLE events_06")
    with pytest.raises(OperationalError, match='column "v" of table "events_05" is missing on shard "s1"'):
        rows(cluster, SORTED)
    with pytest.raises(OperationalError, match='table "events_06" does not exist'):
        rows(cluster, SORTED.replace("5", "6"))


def test_a_table_is_asked_about_once(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    columns = DuckDBConnection.columns

    def told(self: DuckDBConnection, table: str) -> duck.Columns:
        asked.append(table)
        return columns(self, table)

    monkeypatch.setattr(DuckDBConnection, "columns", told)
    for _ in range(3):
        rows(cluster, SORTED)
        rows(cluster, "SELECT max(n) FROM events WHERE user_id IN (5, 6)")
    assert sorted(asked) == ["events_05", "events_06"]


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("dayy", r'cluster\.sql:3:31: table "days" has no column "dayy". Did you mean "day"?'),
        ("name", r"cluster\.sql:3:28: MOD takes whole numbers; days\.name is VARCHAR"),
    ],
)
def test_a_key_that_the_columns_read_off_show_to_be_wrong(tmp_path: Path, key: str, wanted: str) -> None:
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        con.execute("CREATE TABLE days (day INTEGER, name VARCHAR)")
    (tmp_path / "cluster.sql").write_text(
        "CREATE SOURCE s URL 'duckdb:///s.duckdb';\nCREATE SHARDING f USING MOD 1 ON s;\n"
        f"ATTACH TABLE days SHARD BY f ({key});\n"
    )
    with pytest.raises(CatalogError, match=wanted), open_cluster(tmp_path / "cluster.sql") as cluster:
        rows(cluster, "SELECT * FROM days")

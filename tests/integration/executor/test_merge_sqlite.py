"""The sqlite dialect's engine: what its rows become, how it is stopped, what of a file it refuses."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import shardwise
from shardwise.catalog import parse
from shardwise.errors import (
    BudgetExceeded,
    Cancelled,
    DataError,
    DeadlineExceeded,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    UnknownName,
)
from shardwise.session import Cluster

COLUMNS = "id INTEGER, name TEXT COLLATE NOCASE, price REAL, any_, b BLOB"
ROWS = [
    (1, "a", 1.5, 1, b"1"),
    (2, "B", 2.0, "x", None),
    (3, None, None, 2.5, b""),
    (4, "b", 4.0, b"y", None),
]
FOREVER = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c, t"


def make(folder: Path, columns: str = COLUMNS, declared: str = COLUMNS) -> Cluster:
    for shard in (0, 1):
        con = sqlite3.connect(folder / f"s{shard}.db")
        con.execute(f"CREATE TABLE t ({columns})")
        con.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [r for r in ROWS if r[0] % 2 == shard])
        con.commit()
        con.close()
    return shardwise.open(
        parse(
            "CREATE CATALOG c DIALECT sqlite;\n"
            f"CREATE SOURCE s{{n}} FOR n IN 0-1 URL 'sqlite:///{folder}/s{{n}}.db';\n"
            "CREATE SHARDING by_id USING MOD 2 AS n ON s{n};\n"
            f"ATTACH TABLE t ({declared}) SHARD BY by_id (id);"
        )
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with make(tmp_path) as made:
        yield made


@pytest.mark.parametrize("where", ["", " WHERE id = 1"])
def test_arrow_types_are_the_declared_ones(cluster: Cluster, where: str) -> None:
    table = cluster.connect().execute(f"SELECT id, name, price, b FROM t{where}").to_arrow_table()
    assert table.schema.types == [pa.int64(), pa.string(), pa.float64(), pa.binary()]


def test_arrow_types_of_what_is_computed_are_the_values(cluster: Cluster) -> None:
    con = cluster.connect()
    table = con.execute("SELECT count(*), 'a', avg(price), NULL, x'01' FROM t").to_arrow_table()
    assert table.schema.types == [pa.int64(), pa.string(), pa.float64(), pa.null(), pa.binary()]
    mixed = con.execute("SELECT 1 AS n UNION ALL SELECT 2.5").to_arrow_table()
    assert mixed.column("n").to_pylist() == [1.0, 2.5]


def test_a_mixture_has_no_arrow_type_and_comes_as_tuples(cluster: Cluster) -> None:
    con = cluster.connect()
    with pytest.raises(DataError, match='column "any_" holds blobs, reals, texts, whole numbers'):
        con.execute("SELECT any_ FROM t").to_arrow_table()
    rows = con.execute("SELECT any_ FROM t ORDER BY id").fetchall()
    assert rows == [(1,), ("x",), (2.5,), (b"y",)]


def test_the_description_has_declared_types(cluster: Cluster) -> None:
    cursor = cluster.connect().execute("SELECT id AS a, name, id + 1, any_ FROM t")
    assert [(c.name, c.type_code) for c in cursor.description or ()] == [
        ("a", "INTEGER"),
        ("name", "TEXT"),
        ("id + 1", ""),
        ("any_", ""),
    ]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (COLUMNS.replace("price REAL", "price TEXT"), 'column "price" of table "t" is TEXT .* not REAL'),
        (COLUMNS.replace(" COLLATE NOCASE", ""), 'column "name" .* is COLLATE BINARY .* not COLLATE NOCASE'),
        (COLUMNS.replace("any_", "other"), 'column "any_" of table "t" is missing'),
    ],
)
@pytest.mark.parametrize("sql", ["SELECT * FROM t", "SELECT * FROM t WHERE id = 1"])
def test_a_file_that_compares_otherwise_is_an_error(
    tmp_path: Path, found: str, message: str, sql: str
) -> None:
    with make(tmp_path, columns=found) as cluster, pytest.raises(OperationalError, match=message):
        cluster.connect().execute(sql).fetchall()


def test_the_merge_is_cancelled_and_has_a_deadline(cluster: Cluster) -> None:
    con = cluster.connect()
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        con.execute(FOREVER, deadline_s=0.2).fetchall()
    timer = threading.Timer(0.2, con.interrupt)
    timer.start()
    with pytest.raises(Cancelled):
        con.execute(FOREVER).fetchall()
    assert time.monotonic() - started < 5


def test_budgets_count_rows_off_the_shards(cluster: Cluster) -> None:
    with pytest.raises(BudgetExceeded):
        cluster.connect().execute("SELECT group_concat(name) FROM t", rows_max=3).fetchall()
    cursor = cluster.connect().execute("SELECT group_concat(name) FROM t")
    cursor.fetchall()
    assert cursor.stats is not None
    assert cursor.stats.rows_moved == 4


def test_registered_rows_have_the_affinities_of_their_types(cluster: Cluster) -> None:
    con = cluster.connect()
    con.register("l", pa.table({"k": [1, 2], "s": ["1", "b"]}))
    assert con.execute("SELECT t.id, typeof(l.k) FROM l JOIN t ON t.id = l.k ORDER BY 1").fetchall() == [
        (1, "integer"),
        (2, "integer"),
    ]
    assert con.execute("SELECT t.id FROM l JOIN t ON t.id = l.s").fetchall() == [(1,)]


def test_what_a_statement_may_not_do(cluster: Cluster) -> None:
    con = cluster.connect()
    for sql in (
        "SELECT load_extension('x')",
        "SELECT * FROM sqlite_schema",
        "SELECT shardwise_value(1,2,3,4)",
    ):
        with pytest.raises((NotSupportedError, ProgrammingError)):
            con.execute(sql)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT nam FROM t", 'Did you mean "name"'),
        ("SELECT x.Nam FROM T x ORDER BY 1", 'Did you mean "name"'),
        ("SELECT id FROM t WHERE zzzz = 1", "There are: id, name"),
        ("SELECT quantile(id) FROM t", "SQLite's own functions"),
    ],
)
def test_an_unknown_name_is_met_with_those_there_are(cluster: Cluster, sql: str, hint: str) -> None:
    with pytest.raises(UnknownName) as caught:
        cluster.connect().execute(sql).fetchall()
    assert hint in str(caught.value.hint)


def test_other_sources_are_refused() -> None:
    catalog = parse("CREATE CATALOG c DIALECT sqlite; CREATE SOURCE a URL 'duckdb:///a.duckdb';")
    with shardwise.open(catalog) as cluster, pytest.raises(NotSupportedError, match="sources of sqlite only"):
        cluster.connect().execute("SELECT 1")


def test_spilled_data_is_where_the_option_says_and_goes(cluster: Cluster, tmp_path: Path) -> None:
    spill = tmp_path / "spill"
    cursor = cluster.connect().execute("SELECT group_concat(name) FROM t", spill_directory=str(spill))
    assert list(spill.iterdir())
    cursor.fetchall()
    cursor.close()
    assert not list(spill.iterdir())


def test_tables_in_a_schema(tmp_path: Path) -> None:
    con = sqlite3.connect(tmp_path / "a.db")
    con.execute("CREATE TABLE notes (id INTEGER, title TEXT)")
    con.execute("INSERT INTO notes VALUES (1, 'a')")
    con.commit()
    catalog = parse(
        f"CREATE CATALOG c DIALECT sqlite; CREATE SOURCE a URL 'sqlite:///{tmp_path}/a.db';\n"
        "ATTACH TABLE crm.notes (id INTEGER, title TEXT) ON a NAMED 'notes';"
    )
    with shardwise.open(catalog) as cluster:
        cursor = cluster.connect().execute("SELECT crm.notes.title, n.id FROM crm.notes, crm.notes AS n")
        assert cursor.fetchall() == [("a", 1)]

"""Results to files: whole or not at all, types kept."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from datetime import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import shardwise
from shardwise.errors import InterfaceError, NotSupportedError, OperationalError, ProgrammingError
from tests.integration import tiny
from tests.integration.dbapi.fake import connect

TYPED = """
SELECT 1.10::DECIMAL(12,2) AS d, 170141183460469231731687303715884105727::HUGEINT AS h,
       TIMESTAMPTZ '2020-01-01 10:00:00+02' AS tz, TIMESTAMP '2020-01-01 10:00:00.123456' AS ts,
       DATE '0044-03-15' AS day, TIME '10:00:00.5' AS t, 'a'::ENUM('a', 'b') AS e, '\\x00ab'::BLOB AS b,
       {'n': [1, NULL], 'm': MAP {'k': 0.5::DECIMAL(3,1)}} AS s, NULL::TINYINT AS nothing, 'é,"' AS text,
       '6b9f1b1e-0000-4000-8000-000000000001'::UUID AS u, [{'u': uuid_of}] AS us, '{"a": 1}'::JSON AS j
FROM (SELECT '6b9f1b1e-0000-4000-8000-000000000002'::UUID AS uuid_of)
"""


def test_parquet_keeps_types_and_values(tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    assert connect().execute(TYPED).write_parquet(path) == 1
    found = duckdb.sql(f"SELECT * FROM '{path}'")
    wanted = duckdb.sql(TYPED)
    assert found.columns == wanted.columns
    kinds = dict(zip(found.columns, map(str, found.types), strict=True))
    expected = dict(zip(wanted.columns, map(str, wanted.types), strict=True))
    assert kinds == {**expected, "h": "DECIMAL(38,0)", "e": "VARCHAR"}
    assert found.fetchall() == [
        tuple(int(v) if n == "h" else v for n, v in zip(wanted.columns, row, strict=True))
        for row in wanted.fetchall()
    ]


def test_parquet_of_no_rows_has_the_types(tmp_path: Path) -> None:
    path = tmp_path / "none.parquet"
    assert connect().execute(f"SELECT * FROM ({TYPED}) WHERE d > 2").write_parquet(path) == 0
    kinds = duckdb.sql(f"DESCRIBE SELECT u, us, j, d FROM '{path}'").fetchall()
    assert [kind[1] for kind in kinds] == ["UUID", "STRUCT(u UUID)[]", "JSON", "DECIMAL(12,2)"]


def test_row_groups_and_compression_are_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "groups.parquet"
    cursor = connect().execute("SELECT i, 'x' AS x FROM range(250000) t(i)")
    assert cursor.write_parquet(path, compression="snappy", row_group_rows=100_000) == 250_000
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    assert [g.num_rows for g in groups] == [100_000, 100_000, 50_000]
    assert groups[0].column(0).compression == "SNAPPY"
    assert pq.read_table(path)["i"].to_pylist() == list(range(250_000))
    assert cursor.rowcount == 250_000


@pytest.mark.parametrize(
    "options", [{}, {"delimiter": "\t"}, {"delimiter": "."}, {"delimiter": "]", "null": "NULL"}]
)
def test_csv_reads_back(tmp_path: Path, options: dict[str, Any]) -> None:
    sql = """SELECT * FROM (VALUES (1.5, 'NULL', 'a.b'), (NULL, NULL, ''), (-2.0, E'x\\ny', 'q"],'))
             v("a,b", t, "]")"""
    path = tmp_path / "x.csv"
    assert connect().execute(sql).write_csv(path, **options) == 3
    found = duckdb.read_csv(
        str(path),
        header=True,
        delimiter=options.get("delimiter", ","),
        dtype={"a,b": "DECIMAL(2,1)", "t": "VARCHAR", "]": "VARCHAR"},
        na_values=[options.get("null", "")],
        quotechar='"',
        escapechar='"',
        allow_quoted_nulls=False,
    )
    wanted = duckdb.sql(sql)
    assert found.columns == wanted.columns
    assert found.fetchall() == wanted.fetchall()


def test_csv_without_header(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    connect().execute("SELECT 1 AS a, 'x;y' AS b, NULL AS c").write_csv(
        path, header=False, delimiter=";", null="-"
    )
    assert path.read_text() == '1;"x;y";-\n'


@pytest.mark.parametrize("value", ["TIMETZ '10:00:00+02'", "'101'::BIT", "[{'q': TIMETZ '10:00:00+02'}]"])
def test_a_type_without_a_word_for_it_is_refused(tmp_path: Path, value: str) -> None:
    for write in ("write_parquet", "write_csv"):
        with pytest.raises(NotSupportedError, match='column "x" cannot be written') as raised:
            getattr(connect().execute(f"SELECT {value} AS x"), write)(tmp_path / "x")
        assert "CAST" in str(raised.value.hint)
    with pytest.raises(NotSupportedError, match="no type for INTERVAL"):
        connect().execute("SELECT INTERVAL 1 DAY AS x").write_parquet(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_looks_like_a_type_is_none(tmp_path: Path) -> None:
    sql = """SELECT 'INTERVAL'::ENUM('INTERVAL', 'BIT') AS e, {'BIT': 1} AS "BIT", TIME '10:00' AS t"""
    assert connect().execute(sql).write_parquet(tmp_path / "x.parquet") == 1
    assert duckdb.sql(f"SELECT t FROM '{tmp_path}/x.parquet'").fetchall() == [(time(10),)]


@pytest.mark.parametrize(
    ("write", "options"),
    [
        ("write_parquet", {"compression": "zip"}),
        ("write_parquet", {"row_group_rows": 0}),
        ("write_csv", {"delimiter": ""}),
        ("write_csv", {"delimiter": '"'}),
        ("write_csv", {"null": "a,b"}),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, write: str, options: dict[str, Any]) -> None:
    with pytest.raises(ProgrammingError):
        getattr(connect().execute("SELECT 1"), write)(tmp_path / "x", **options)
    assert list(tmp_path.iterdir()) == []


def test_what_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"before")
    tiny.make(tmp_path)
    before = set(tmp_path.iterdir())
    with shardwise.connect(tmp_path / "cluster.sql") as con:
        cursor = con.execute(
            "SELECT CASE WHEN i = 900000 THEN error('late') ELSE 'x' END AS x FROM range(1000000) t(i)"
        )
        with pytest.raises(shardwise.Error, match="late"):
            cursor.write_parquet(path)
        cursor = con.execute("SELECT a.id FROM customers a, customers b, customers c")
        cursor.cancel()
        with pytest.raises(shardwise.Cancelled):
            cursor.write_csv(path)
        cursor = con.execute("SELECT id FROM customers")
        cursor.fetchone()
        with pytest.raises(InterfaceError, match="already fetched"):
            cursor.write_parquet(path)
        with pytest.raises(OperationalError, match=r"cannot write .*gone"):
            con.execute("SELECT id FROM customers").write_csv(tmp_path / "gone" / "x.csv")
        assert path.read_bytes() == b"before"
        assert set(tmp_path.iterdir()) == before
        assert con.execute("SELECT id FROM customers").write_parquet(str(path)) == 300
    assert set(tmp_path.iterdir()) == before


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """A limit on files' sizes stands for the disk."""
    script = f"""
    import resource, signal
    from shardwise.errors import OperationalError
    from tests.integration.dbapi.fake import connect

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    for write in ("write_csv", "write_parquet"):
        try:
            cursor = connect().execute("SELECT i, hash(i) AS h FROM range(500000) t(i)")
            getattr(cursor, write)("{tmp_path}/x")
        except OperationalError as error:
            print(error.message)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("cannot write") == 2
    assert list(tmp_path.iterdir()) == []

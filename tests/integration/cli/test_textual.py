"""The formats that are made row by row."""

from __future__ import annotations

import html
import io
import json
import re
import sqlite3
from pathlib import Path

import duckdb
import pytest

import shardwise
from shardwise.cli import output, table
from shardwise.cli.output import Format
from shardwise.cli.textual import Rows
from tests.integration.dbapi.fake import connect

SQL = """
SELECT * FROM (VALUES (1, E'tab\\there', 1.50::DECIMAL(5,2)), (2, E'it''s | <b>\\nnext\\\\', NULL),
                      (3, NULL, 0), (4, chr(27) || '[2J', 7)) t("n r", "t<x>", d)
"""


def written(form: Format, sql: str = SQL, **changes: object) -> str:
    sink = io.BytesIO()
    output.write(connect().execute(sql), form, sink, **changes)  # type: ignore[arg-type]
    return sink.getvalue().decode()


def test_tsv_is_what_copy_reads() -> None:
    lines = written(Format.TSV).splitlines()
    assert lines[:4] == [
        "n r\tt<x>\td",
        "1\ttab\\there\t1.50",
        "2\tit's | <b>\\nnext\\\\\t\\N",
        "3\t\\N\t0.00",
    ]
    assert written(Format.TSV, headers=False).splitlines() == lines[1:]


def test_records() -> None:
    assert written(Format.LINE, "SELECT 1 AS a, NULL AS long, 'x\ny' AS c UNION ALL SELECT 2, 3, ''") == (
        "-[ RECORD 1 ]\na    | 1\nlong | NULL\nc    | x\\ny\n-[ RECORD 2 ]\na    | 2\nlong | 3\nc    |\n"
    )


def test_markdown() -> None:
    lines = written(Format.MARKDOWN).splitlines()
    assert lines[:2] == ["| n r | t<x> | d |", "| ---: | --- | ---: |"]
    assert lines[3] == "| 2 | it's \\| <b><br>next\\\\ | NULL |"
    assert "\x1b" not in "".join(lines)


def test_html_is_escaped() -> None:
    text = written(Format.HTML)
    cells = [html.unescape(cell) for cell in re.findall(r"<t[dh]>(.*?)</t[dh]>", text, re.DOTALL)]
    assert cells[:3] == ["n r", "t<x>", "d"]
    assert cells[6:9] == ["2", "it's | <b>\nnext\\", "NULL"]


def test_inserts_are_read_back() -> None:
    with duckdb.connect() as db:
        db.execute('CREATE TABLE result ("n r" INTEGER, "t<x>" VARCHAR, d DECIMAL(5,2))')
        db.execute(written(Format.INSERT))
        assert db.table("result").fetchall() == duckdb.sql(SQL).fetchall()


def test_columns_without_a_declared_type_are_what_their_values_are(tmp_path: Path) -> None:
    """The sqlite dialect declares none for what is computed."""
    sqlite3.connect(tmp_path / "a.db").execute("CREATE TABLE t (x)").connection.close()
    (tmp_path / "cluster.sql").write_text(
        "CREATE CATALOG c DIALECT sqlite;\nCREATE SOURCE a URL 'sqlite:///a.db';\nATTACH TABLE t ON a;\n",
        encoding="utf-8",
    )
    sql = "SELECT count(*) AS n, 9e999 AS big, 'x' AS t, NULL AS z FROM t"
    with shardwise.connect(tmp_path / "cluster.sql") as connection:
        forms = {}
        for form in (Format.JSONL, Format.INSERT):
            sink = io.BytesIO()
            output.write(connection.execute(sql), form, sink)
            forms[form] = sink.getvalue().decode()
        shown = table.read(Rows(connection.execute(sql)), None)
    assert json.loads(forms[Format.JSONL]) == {"n": 0, "big": "inf", "t": "x", "z": None}
    assert forms[Format.INSERT].endswith("VALUES (0, 'inf', 'x', NULL);\n")
    assert list(shown.is_number) == [True, True, False, False]


def test_list() -> None:
    assert written(Format.LIST, "SELECT 1 AS a, NULL AS b", null="-") == "a|b\n1|-\n"


@pytest.mark.parametrize("form", [f for f in Format if f is not Format.TABLE])
def test_no_rows(form: Format) -> None:
    written_ = io.BytesIO()
    output.write(connect().execute("SELECT 1 AS a WHERE false"), form, written_)
    if form in (Format.CSV, Format.TSV, Format.LIST):
        assert written_.getvalue() == b"a\n"


def test_all_suffixes_are_formats() -> None:
    assert set(output.FORMAT_OF_SUFFIX.values()) <= set(Format)

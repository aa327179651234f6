"""The parts of the command line that need no cluster: errors, parameters, writers."""

from __future__ import annotations

import csv
import io
import json
import os
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from shardwise.cli import demo, output, table
from shardwise.cli.console import Exit, exit_code, own_words, show_error, underlined
from shardwise.cli.output import Format
from shardwise.cli.parameters import parameters, value
from shardwise.cli.textual import Rows
from shardwise.dbapi import Cursor
from shardwise.errors import CatalogError, InternalError, Position, ProgrammingError, ShardUnavailable
from tests.integration.dbapi.fake import connect

EVERYTHING = """
SELECT 1 AS a, 'x,"y' AS "b c", NULL::INT AS c, {'q': [1,2]} AS d, 12345678901234567890123::HUGEINT AS e,
       1.10::DECIMAL(5,2) AS f, DATE '2020-01-01' AS g, '' AS h, 'inf'::DOUBLE AS i, '{"a": 1}'::JSON AS j,
       0.1::DOUBLE AS k, TIMESTAMPTZ '2020-01-01 10:00:00+00' AS l, E'one\\ntwo' AS m, true AS n
UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
"""


def cursor(sql: str) -> Cursor:
    return connect().execute(sql)


def written(sql: str, form: Format) -> bytes:
    sink = io.BytesIO()
    output.write(cursor(sql), form, sink)
    return sink.getvalue()


# -- errors --------------------------------------------------------------------------------------


def lines(source: str, position: Position) -> list[str]:
    return [line.plain for line in underlined(source, position)]


def test_the_place_is_underlined() -> None:
    assert lines("SELECT a,\n  citty\nFROM t", Position(2, 3, 5)) == ["   2 |   citty", "     |   ^^^^^"]
    assert lines("SELECT", Position(1, 7)) == ["   1 | SELECT", "     |       ^"]
    assert lines("SELECT", Position(3, 1)) == []
    assert lines("a\tb", Position(1, 3)) == ["   1 | a b", "     |   ^"]


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    source = "SELECT " + ", ".join(f"column_{i}" for i in range(100)) + ", oops FROM t"
    start = source.index("oops") + 1
    line, marks = lines(source, Position(1, start, 4))
    assert len(line) <= 110
    assert line[marks.index("^") : marks.rindex("^") + 1] == "oops"


def test_an_error_is_shown_with_its_hint(capsys: pytest.CaptureFixture[str]) -> None:
    error = ProgrammingError("no column", hint="Did you mean [b]city[/b]?", position=Position(1, 8, 5))
    show_error(error, "SELECT citty FROM t")
    assert capsys.readouterr().err == (
        "error: no column\n   1 | SELECT citty FROM t\n     |        ^^^^^\nhint: Did you mean [b]city[/b]?\n"
    )


def test_a_catalog_error_shows_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "c.sql"
    file.write_text("CREATE SORCE a", encoding="utf-8")
    show_error(CatalogError("expected SOURCE", file=str(file), position=Position(1, 8, 5)))
    assert capsys.readouterr().err == (
        f"{file}:1:8\nerror: expected SOURCE\n   1 | CREATE SORCE a\n     |        ^^^^^\n"
    )


@pytest.mark.parametrize(
    ("hint", "own"),
    [
        ("Compare the shard key with a value, or allow it: scatter='allow'", "drop --refuse-scatter"),
        ("Raise rows_max, or see with EXPLAIN", "Raise --rows-moved-max, or"),
        ("Raise deadline_s, or narrow the query", "Raise --deadline, or"),
        ("Pass one value for each ?", "Give one --param for each ?"),
        ('Pass a mapping with that key, such as {"city": …}', "Give --param city=VALUE"),
        ("Give options to open(), connect() or execute(), for example x", "as --deadline 10"),
    ],
)
def test_hints_name_the_command_lines_options(hint: str, own: str) -> None:
    assert own in own_words(hint)


def test_exit_codes() -> None:
    assert exit_code(ShardUnavailable("gone", shard="s1")) == Exit.UNAVAILABLE == 3
    assert exit_code(ProgrammingError("wrong")) == exit_code(InternalError("ours")) == Exit.FAILED == 1


# -- the demo --------------------------------------------------------------------------------------


def test_the_demo_finds_the_command_on_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked, there = tmp_path / "locked", tmp_path / "there"
    locked.mkdir(mode=0)
    there.mkdir()
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, (locked, tmp_path / "gone", there))))
    assert not demo._is_on_path()
    (there / "shardwise").touch(mode=0o755)
    assert demo._is_on_path()


# -- parameters ----------------------------------------------------------------------------------


def test_values_read_as_json_or_text() -> None:
    texts = ["17", "-1.50", "true", "null", "[1, 2]", '"17"', "City 7", "2026-01-01", "NaN", "{'", ""]
    expected = [17, Decimal("-1.50"), True, None, [1, 2], "17", "City 7", "2026-01-01", "NaN", "{'", ""]
    assert [value(text) for text in texts] == expected


def test_parameters_are_positions_or_names() -> None:
    assert parameters("SELECT ?", ["a=b"]) == ["a=b"]
    assert parameters("EXPLAIN SELECT ?", ["5"]) == [5]
    assert parameters("SELECT :a, '?'", ["a=b=c", "n=5"]) == {"a": "b=c", "n": 5}
    assert parameters("SELECT 1", []) == []
    assert parameters("SELECT ?::DATE, '?'", ["2025-01-01"]) == ["2025-01-01"]
    assert parameters("SELECT $1", ["a=b"]) == ["a=b"]
    assert parameters("SELECT $a", ["a=b"]) == {"a": "b"}
    assert parameters("SHOW ROUTE FOR t KEY (?)", ["5"]) == [5]
    assert parameters("SELECT FROM WHERE", ["5"]) == [5]  # the error is the statement's
    with pytest.raises(ProgrammingError, match="each --param is NAME=VALUE"):
        parameters("SELECT :a", ["17"])


# -- writers -------------------------------------------------------------------------------------


def test_csv_is_read_back_by_others() -> None:
    text = written(EVERYTHING, Format.CSV).decode()
    head, row, nulls = csv.reader(io.StringIO(text))
    assert head == ["a", "b c", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"]
    assert row == [
        *("1", 'x,"y', "", "{'q': [1, 2]}", "12345678901234567890123", "1.10", "2020-01-01", "", "inf"),
        *('{"a": 1}', "0.1", "2020-01-01 10:00:00+00", "one\ntwo", "true"),
    ]
    assert nulls == [""] * 14
    assert ',"",inf,' in text  # the empty text, not NULL
    assert written('SELECT 1 AS "a,""b" WHERE false', Format.CSV) == b'"a,""b"\n'


def test_json_is_json() -> None:
    first, second = json.loads(written(EVERYTHING, Format.JSON), parse_float=Decimal)
    assert first == {
        "a": 1,
        "b c": 'x,"y',
        "c": None,
        "d": {"q": [1, 2]},
        "e": 12345678901234567890123,
        "f": Decimal("1.10"),
        "g": "2020-01-01",
        "h": "",
        "i": "inf",
        "j": {"a": 1},
        "k": Decimal("0.1"),
        "l": "2020-01-01 10:00:00+00",
        "m": "one\ntwo",
        "n": True,
    }
    assert set(second.values()) == {None}
    assert [json.loads(line)["a"] for line in written(EVERYTHING, Format.JSONL).splitlines()] == [1, None]
    assert json.loads(written("SELECT 1 AS a WHERE false", Format.JSON)) == []


def test_json_keeps_the_digits_of_a_json_document() -> None:
    document = """{"a": 1.50, "b": 123456789012345678901234567890.10,\n\t"c": "x y"}"""
    text = written(f"SELECT '{document}'::JSON AS j", Format.JSONL).decode()
    assert text == """{"j": {"a": 1.50, "b": 123456789012345678901234567890.10,  "c": "x y"}}\n"""
    assert written("SELECT 1 AS a WHERE false", Format.JSONL) == b""


def test_names_that_repeat_or_need_quotes() -> None:
    sql = 'SELECT 1 AS "it\'s", 2 AS "{0}"'
    assert json.loads(written(sql, Format.JSON)) == [{"it's": 1, "{0}": 2}]


@pytest.mark.parametrize("form", [Format.PARQUET, Format.ARROW])
def test_binary_formats_stream_many_rows(form: Format) -> None:
    data = written("SELECT i, 'n' || i AS n FROM range(300000) t(i)", form)
    is_parquet = form is Format.PARQUET
    table = pq.read_table(io.BytesIO(data)) if is_parquet else pa.ipc.open_stream(data).read_all()
    assert table.num_rows == 300_000
    assert table["n"][299_999].as_py() == "n299999"


def test_binary_formats_of_no_rows_have_the_columns() -> None:
    assert pq.read_table(io.BytesIO(written("SELECT 1 AS a WHERE false", Format.PARQUET))).column_names == [
        "a"
    ]
    assert pa.ipc.open_stream(written("SELECT 1 AS a WHERE false", Format.ARROW)).schema.names == ["a"]


def shown(sql: str, rows_max: int | None, **options: Any) -> str:
    out = io.StringIO()
    table.show(table.read(Rows(cursor(sql)), rows_max), Console(file=out, width=60, **options))
    return out.getvalue()


def test_a_table_for_a_pipe_is_plain() -> None:
    assert shown("SELECT i, CASE i WHEN 1 THEN 'one' END AS n FROM range(3) t(i)", None) == (
        "i  n\n-  ----\n0  NULL\n1  one\n2  NULL\n(3 rows)\n"
    )
    assert shown("SELECT 1 AS a", None).endswith("(1 row)\n")


def test_a_table_is_cut_and_says_so() -> None:
    text = shown("SELECT i FROM range(3) t(i)", 2, force_terminal=True)
    assert "the first 2 rows; --rows 0 shows all" in text
    assert "(2 rows)" in shown("SELECT i FROM range(2) t(i)", 2)


def test_a_file_appears_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(ValueError, match="surrogates"), output.sink(path) as sink:
        sink.write(b"half" + "\ud800".encode())
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]
    with output.sink(path) as sink:
        sink.write(b"whole")
    assert path.read_text(encoding="utf-8") == "whole"

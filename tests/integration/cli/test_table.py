"""Tables, drawn for a terminal and plain for a pipe."""

from __future__ import annotations

import pytest

from shardwise.cli.table import Look, Shown, lines, read
from shardwise.cli.terminal import Style, width_of
from shardwise.cli.textual import Rows
from tests.integration.dbapi.fake import connect


def shown(sql: str, rows_max: int | None = None, *, has_types: bool = False) -> Shown:
    return read(Rows(connect().execute(sql)), rows_max, has_types=has_types)


def drawn(sql: str, width: int | None, **changes: object) -> list[str]:
    look = Look(is_drawn=True, width=width, **changes)  # type: ignore[arg-type]
    return list(lines(shown(sql, has_types=True), look))


def test_a_drawn_table() -> None:
    assert drawn("SELECT 10 AS n, 'a\nb' AS t, NULL::INT AS z UNION ALL SELECT 2, '漢', 3", 80) == [
        "┌─────────┬─────────┬─────────┐",
        "│       n │ t       │       z │",
        "│ integer │ varchar │ integer │",
        "├─────────┼─────────┼─────────┤",
        "│      10 │ a\\nb    │    NULL │",
        "│       2 │ 漢      │       3 │",
        "└─────────┴─────────┴─────────┘",
        "(2 rows)",
    ]


MANY = ", ".join(f"'{i}' AS c{i}" for i in range(20))
WIDE = f"SELECT 12345678901234 AS n, repeat('word ', 30) AS t, {MANY}"


@pytest.mark.parametrize("width", range(20, 300, 7))
def test_a_table_is_never_wider_than_the_terminal(width: int) -> None:
    table = drawn(WIDE, width)
    *frame, told = table
    assert {width_of(line) for line in frame} == {width_of(frame[0])}
    assert width_of(frame[0]) <= width
    text = "\n".join(frame)
    if width >= 30:
        assert "12345678901234" in text  # a number is never cut
    if " of 22 columns" in told:
        assert "…" in text or told == "(1 row, 1 of 22 columns)"
    else:
        assert "c19" in text


def test_a_width_of_none_cuts_nothing() -> None:
    assert "word " * 30 in "\n".join(drawn(WIDE, None))


def test_null_is_not_the_text_null() -> None:
    table = drawn("SELECT NULL::VARCHAR AS a UNION ALL SELECT 'NULL'", 80, style=Style(is_coloured=True))
    null, text = table[4:6]
    assert "\x1b[2mNULL   \x1b[0m" in null
    assert "\x1b[2mNULL" not in text
    assert "(null)" in drawn("SELECT NULL AS a", 80, null="(null)")[4]


def test_data_cannot_drive_the_terminal() -> None:
    table = "\n".join(drawn("SELECT chr(27) || '[2J' || chr(8238) AS \"\x1b[31m\"", 80))
    assert "\x1b" not in table
    assert "\\x1b[2J\\u202e" in table
    assert "\\x1b[31m" in table


def test_what_is_left_out_is_told() -> None:
    sql = "SELECT i FROM range(5) t(i)"
    assert list(lines(shown(sql, 3), Look(more="more")))[-1] == "(the first 3 rows; more)"
    assert list(lines(shown(sql, 5), Look()))[-1] == "(5 rows)"
    assert list(lines(shown(sql, 0), Look(more="more")))[-1] == "(the first 0 rows; more)"


def test_without_headers() -> None:
    assert list(lines(shown("SELECT 1 AS long_name"), Look(headers=False))) == ["1", "(1 row)"]
    assert drawn("SELECT 1 AS long_name", 80, headers=False) == ["┌───┐", "│ 1 │", "└───┘", "(1 row)"]

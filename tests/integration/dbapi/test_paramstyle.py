"""Statements written for PyMySQL and psycopg: `%s`, `%(name)s`."""

from __future__ import annotations

from pathlib import Path

import pytest

import shardwise
from shardwise.dbapi.paramstyle import translated
from tests.integration import tiny


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ("SELECT %s, %(a)s", "SELECT ?, :a"),
        ("SELECT 7 %% 2", "SELECT 7 % 2"),
        ("WHERE a IN %s AND b in  %s", "WHERE a IN (?) AND b in  (?)"),
        ("WHERE a IN (%s, %s)", "WHERE a IN (?, ?)"),
        ("SELECT '5%%', \"%%\", 'it''s %%' -- 50 % of\n", "SELECT '5%', \"%\", 'it''s %' -- 50 % of\n"),
        ("SELECT 'a\\'%%' /* %s */", "SELECT 'a\\'%' /* %s */"),
        ("SELECT begin%s", "SELECT begin?"),
    ],
)  # fmt: skip
def test_marks_and_doubled_percents_are_translated(given: str, wanted: str) -> None:
    assert translated(given, "mysql").sql == wanted


@pytest.mark.parametrize(
    ("dialect", "given", "wanted"),
    [
        # A backslash ends no text but MySQL's, or one that says so.
        ("duckdb", "SELECT '\\', %s, '%%'", "SELECT '\\', ?, '%'"),
        ("sqlite", "SELECT '\\', %s, '%%'", "SELECT '\\', ?, '%'"),
        ("postgres", "SELECT '\\', %s, E'\\'%%', %s", "SELECT '\\', ?, E'\\'%', ?"),
        ("mysql", "SELECT '\\'%%', %s", "SELECT '\\'%', ?"),
        # A comment may hold a quote.
        ("mysql", "SELECT %s # it's\n, %s -- it's\n", "SELECT ? # it's\n, ? -- it's\n"),
        ("mysql", "SELECT 5--%s", "SELECT 5--?"),
        ("postgres", "SELECT %s # %s /* it's /* %s */ %s */, %s", "SELECT ? # ? /* it's /* %s */ %s */, ?"),
        # What is quoted otherwise.
        ("postgres", "SELECT $a$ ' %% $a$, %s", "SELECT $a$ ' % $a$, ?"),
        ("mysql", "SELECT `a'b`, %s", "SELECT `a'b`, ?"),
        ("sqlite", "SELECT [a'b], `a'b`, %s", "SELECT [a'b], `a'b`, ?"),
    ],
)
def test_texts_and_comments_as_the_dialect_reads_them(dialect: str, given: str, wanted: str) -> None:
    assert translated(given, dialect).sql == wanted


@pytest.mark.parametrize(
    ("given", "column"),
    [
        ("SELECT %d", 8),
        ("SELECT '%s'", 9),
        ("SELECT 7 % 2", 10),
        ("SELECT %(a)d", 8),
        ("SELECT ?", 8),
        ("SELECT 1 %", 10),
    ],
)
def test_what_is_no_parameter(given: str, column: int) -> None:
    with pytest.raises(shardwise.ProgrammingError) as caught:
        translated(given, "duckdb")
    assert caught.value.position is not None
    assert caught.value.position[:2] == (1, column)
    assert caught.value.reason is shardwise.Reason.PARAMETERS


@pytest.fixture
def con(tmp_path: Path) -> shardwise.Connection:
    tiny.make(tmp_path)
    return shardwise.connect(tmp_path / "cluster.sql", paramstyle="format")


def test_statements_with_percent_marks_answer(con: shardwise.Connection) -> None:
    def one(sql: str, params: object = None) -> object:
        return con.execute(sql, params).fetchall()  # type: ignore[arg-type]

    assert one("SELECT %s + 1, 'x%%'", [4]) == [(5, "x%")]
    assert one("SELECT %(a)s + 1 WHERE 1 IN %(b)s", {"a": 4, "b": (1, 2)}) == [(5,)]
    assert one("SELECT 1 WHERE 2 IN %s", [(1, 2)]) == [(1,)]
    assert one("SELECT 7 % 4") == [(3,)]  # no parameters: as it is
    assert one("SELECT 7 %% 4", ()) == [(3,)]
    assert con.scoped(id=4).execute("SELECT id FROM customers WHERE id > %s", [1]).fetchall() == [(4,)]
    assert con.each("by_id").execute("SELECT count(*) FROM customers WHERE id < %s", [3]).fetchall() == [
        ("s0", 2),
        ("s1", 1),
    ]


def test_positions_are_those_of_the_users_text(con: shardwise.Connection) -> None:
    text = "SELECT %(long)s,\n  %(long)s, '100 %%', nope"
    for run in (con.execute, con.explain):
        with pytest.raises(shardwise.UnknownName) as caught:
            run(text, {"long": 1})
        assert caught.value.position is not None
        line, column, length = caught.value.position
        assert text.split("\n")[line - 1][column - 1 : column - 1 + length] == "nope"


def test_a_style_that_is_none(tmp_path: Path) -> None:
    tiny.make(tmp_path)
    cluster = shardwise.open(tmp_path / "cluster.sql")
    with pytest.raises(shardwise.ProgrammingError, match="paramstyle cannot be 'numeric'"):
        cluster.connect(paramstyle="numeric")


@pytest.mark.parametrize(
    ("sql", "params", "says"),
    [
        (
            "SELECT %s, %s",
            [1],
            "the statement takes at least 2 parameters, 1 was given. Pass one value for each %s",
        ),
        (
            "SELECT %(a)s",
            {"b": 1},
            'the statement\'s parameter "%(a)s" was given no value. Pass a mapping with that key',
        ),
        (
            "SELECT %s",
            3,
            "parameters are a sequence for %s or a mapping for %(name)s, not int. For one value",
        ),
        ("SET SCOPE id = %s", [], "Pass one value for each %s"),
        ("SELECT id FROM customers WHERE name = %s", None, "Give execute() the values of its %s"),
    ],
)
def test_messages_are_in_the_words_of_the_style(
    con: shardwise.Connection, sql: str, params: object, says: str
) -> None:
    with pytest.raises(shardwise.ProgrammingError) as caught:
        con.execute(sql, params)  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_executemany_says_what_to_write_in_its_style(con: shardwise.Connection) -> None:
    with pytest.raises(shardwise.ProgrammingError, match=r"WHERE id IN %s$"):
        con.cursor().executemany("SELECT %s", [[1], [2]])

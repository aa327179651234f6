"""Named parameters in the text for servers' drivers."""

from __future__ import annotations

import pytest

from shardwise.errors import ProgrammingError
from shardwise.executor.backends.binding import MYSQL, POSTGRES, Marks, inlined, numbered, pieces


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT 1", ()),
        ("SELECT :p1, :p2 + :p1", ("p1", "p2", "p1")),
        ("a=:p1", ("p1",)),
        ("SELECT ':p1', \":p1\", `:p1`, :p2", ("p2",)),
        (r"SELECT 'it\'s :p1', :p2", ("p2",)),
        ("SELECT 'it''s :p1', :p2", ("p2",)),
        (r"SELECT '\\', :p2", ("p2",)),
        ("SELECT @a := 1, :p2", ("p2",)),
        ("SELECT /* :p1 ' */ :p2 -- :p3 '\n, :p4 # :p5\n", ("p2", "p4")),
        ("SELECT 1--:p1", ("p1",)),
        ("SELECT 1 FROM `a``:b` WHERE x = :p1", ("p1",)),
    ],
)
def test_mysql(sql: str, names: tuple[str, ...]) -> None:
    parts = pieces(sql, MYSQL)
    assert parts[1::2] == names
    assert "".join(p if i % 2 == 0 else f":{p}" for i, p in enumerate(parts)) == sql


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT %(p1)s, 5 % 3, a %(p2)s", ("p1", "p2")),
        ("SELECT '%(p1)s', \"%(p1)s\", $$%(p1)s$$, $a$ $$ %(p1)s $a$, %(p2)s", ("p2",)),
        (r"SELECT '\', %(p1)s, E'\'%(p2)s', e'\\', %(p3)s", ("p1", "p3")),
        ("SELECT 1 -- %(p1)s\n /* %(p1)s */ %(p2)s", ("p2",)),
        ("SELECT x LIKE '%' || %(p1)s", ("p1",)),
    ],
)
def test_postgres(sql: str, names: tuple[str, ...]) -> None:
    parts = pieces(sql, POSTGRES)
    assert parts[1::2] == names
    assert "".join(p if i % 2 == 0 else f"%({p})s" for i, p in enumerate(parts)) == sql


def test_values() -> None:
    assert inlined("SELECT :p1, ':p2', :p1", {"p1": 7}, MYSQL, repr) == "SELECT 7, ':p2', 7"
    text = "SELECT %(a)s, %(b)s, %(a)s, 5 % 2"
    assert numbered(text, {"a": 1, "b": 2, "c": 3}, POSTGRES) == ("SELECT $1, $2, $1, 5 % 2", [1, 2])
    assert numbered("SELECT 5 % 2", {}, POSTGRES) == ("SELECT 5 % 2", [])


@pytest.mark.parametrize("marks", [MYSQL, POSTGRES])
def test_a_value_that_is_missing(marks: Marks) -> None:
    with pytest.raises(ProgrammingError, match='no value for the parameter "p1"'):
        numbered("SELECT :p1, %(p1)s", {}, marks)

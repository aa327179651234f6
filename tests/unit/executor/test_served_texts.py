"""A statement's text over other rows, and columns of texts as one: without a server."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from shardwise.executor.served.encoding import array_elements, json_rows, pieces
from shardwise.executor.served.texts import replaced, with_items
from shardwise.session.parameters import for_server


def _quoted(name: str) -> str:
    return f"`{name}`"


def _over(sql: str) -> tuple[str, list[str]]:
    """The text over empty tables, and where the words `bad` of the result are in the original."""
    items: dict[str, str] = {}

    def item(table: exp.Table, is_named: bool) -> str:
        name = table.name if is_named else f"x{len(items)}"
        items[name] = "…"
        return name

    tree = sqlglot.parse_one(sql, dialect="mysql")
    text = with_items(replaced(sql, tree, item, _quoted), items, _quoted)
    position = text.position(text.sql.index("bad")) if "bad" in sql else None
    return text.sql, [] if position is None else [
        sql.splitlines()[position.line - 1][position.column - 1 :][:3]
    ]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT t.bad FROM t", "WITH `t` AS (…) SELECT t.bad FROM t"),
        ("SELECT s.t.bad FROM s.t", "WITH `x0` AS (…) SELECT `t`.bad FROM `x0` AS `t`"),
        ("SELECT q.bad FROM s.t AS q", "WITH `x0` AS (…) SELECT q.bad FROM `x0` AS q"),
        (
            "WITH w AS (SELECT * FROM t)\nSELECT bad FROM w",
            "WITH `x0` AS (…), w AS (SELECT * FROM `x0` AS `t`)\n",
        ),
        ("WITH RECURSIVE t AS (SELECT 1 AS bad) SELECT bad FROM t", "WITH RECURSIVE t AS (SELECT 1 AS bad)"),
        ("(SELECT bad FROM t) UNION (SELECT 1)", "WITH `t` AS (…) (SELECT bad FROM t) UNION (SELECT 1)"),
    ],
)
def test_tables_are_replaced_and_places_are_known(sql: str, expected: str) -> None:
    text, found = _over(sql)
    assert text.startswith(expected)
    assert found == ["bad"]


def test_parameters_are_marked_as_the_dialects_do() -> None:
    sql = "SELECT ?, ':x', :name FROM t WHERE a IN ? AND b = ?"
    assert for_server(sql, [], dialect="mysql") == (sql, {})
    assert for_server("SELECT ?, '?' FROM t WHERE a IN ?", [1, (2, 3)], dialect="mysql") == (
        "SELECT :p1, '?' FROM t WHERE a IN (:p2)",
        {"p1": 1, "p2": [2, 3]},
    )
    assert for_server("SELECT :a::int, $1", {"a": 1}, dialect="postgres")[0] == "SELECT %(a)s::int, %(p1)s"


_CELLS = st.one_of(st.none(), st.text())


@settings(deadline=None)
@given(st.lists(st.tuples(_CELLS, _CELLS), max_size=20))
def test_rows_as_json(rows: list[tuple[str | None, str | None]]) -> None:
    columns = [pa.array([row[at] for row in rows], pa.string()) for at in range(2)]
    assert json.loads(json_rows(columns, [False, False])) == [list(row) for row in rows]


def test_an_arrays_elements() -> None:
    column = pa.array(["a", None, 'q"\\', "", "{1,NULL}"])
    assert array_elements(column, plain=False) == '{"a",NULL,"q\\"\\\\","","{1,NULL}"}'
    assert array_elements(pa.array(["1", None]), plain=True) == "{1,NULL}"


@settings(deadline=None)
@given(st.integers(1, 50), st.integers(1, 10_000))
def test_pieces_are_all_the_rows(count: int, size: int) -> None:
    batch = pa.RecordBatch.from_pydict({"a": [f"text {i}" for i in range(count)]})
    found = [row for piece in pieces([batch, batch], size) for row in piece.to_pylist()]
    assert found == batch.to_pylist() * 2

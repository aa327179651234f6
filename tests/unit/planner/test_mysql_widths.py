"""Set operations of a merge whose columns' widths matter: the server pads what it makes of them."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from shardwise.errors import Unplannable
from shardwise.planner.dialects.mysql_members import as_texts

STREAMS = {
    "f1": {"c": "CHAR(10)", "bn": "BINARY(4)", "vb": "VARBINARY(6)", "bt": "BIT(8)", "s": "VARCHAR(9)"},
    "f2": {"c": "CHARACTER(3)", "bn": "binary(4)", "bt": "BIT", "i": "INT", "cv": "CHARACTER VARYING(9)"},
}


def checked(sql: str) -> None:
    query = sqlglot.parse_one(sql, read="mysql")
    assert isinstance(query, exp.Query)
    as_texts(query, lambda: STREAMS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c FROM f1 UNION ALL SELECT bn FROM f2",
        "SELECT bt FROM f1 UNION SELECT c FROM f2",
        "SELECT s, bn FROM f1 EXCEPT SELECT i, bt FROM f2",
        "SELECT vb FROM f1 INTERSECT SELECT bt FROM f2",
        "SELECT c FROM f1 UNION ALL SELECT s FROM f1 UNION ALL SELECT bn FROM f2",
        "SELECT x.y FROM (SELECT c AS y FROM f1 UNION SELECT z.v FROM (SELECT bn AS v FROM f2) AS z) AS x",
    ],
)
def test_what_would_not_be_padded_is_refused(sql: str) -> None:
    with pytest.raises(Unplannable, match="in one arm and"):
        checked(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c FROM f1 UNION SELECT c FROM f2",
        "SELECT bn FROM f1 UNION SELECT bn FROM f2",
        "SELECT bt, c FROM f1 UNION SELECT i, cv FROM f2",
        "SELECT vb FROM f1 UNION SELECT bn FROM f2",
        "SELECT vb FROM f1 UNION SELECT c FROM f2",
        "SELECT hex(bn) FROM f1 UNION SELECT hex(bt) FROM f2",
        "SELECT bt FROM f1 UNION SELECT cv FROM f2",
    ],
)
def test_the_rest_is_not(sql: str) -> None:
    checked(sql)


@pytest.mark.parametrize(
    "sql",
    [
        # The name is of what a derived table computes, whose own sources have no such column.
        "SELECT q.c14 AS c8 FROM (SELECT q.c14 FROM (SELECT 1 AS c13) AS q) AS q UNION ALL SELECT c FROM f1",
        "SELECT q.x FROM (SELECT x FROM (SELECT 1 AS y) AS z JOIN f1) AS q UNION ALL SELECT c FROM f1",
        "WITH q AS (SELECT q.x FROM f1) SELECT q.x FROM q UNION ALL SELECT c FROM f1",
    ],
)
def test_a_derived_table_sees_nothing_around_it(sql: str) -> None:
    checked(sql)

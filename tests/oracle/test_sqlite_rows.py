"""Rows and values that travel in the sqlite dialect: the same again, with the affinity that they had.

A column's values as JSON beside the column itself: shown, compared with columns of every affinity and with
constants, on either side, they do alike.
"""

from __future__ import annotations

import math
import random
import sqlite3
from itertools import product
from typing import Any

import pytest
from sqlglot import exp

from shardwise.executor import lite
from shardwise.plan.run import Bound
from shardwise.plan.sql import text_of
from shardwise.planner.early_values import SQLITE_VALUES
from tests.oracle.sqlite_mixed import VALUES

AFFINITIES = {"INTEGER": "INTEGER", "REAL": "REAL", "NUMERIC": "DATE", "TEXT": "TEXT", "BLOB": ""}
POOLS: dict[str, tuple[tuple[Any, ...], ...]] = {
    "whole": (0, 1, -1, 2, 3, 2**53, 2**53 + 1, 2**63 - 1, -(2**63) + 1, None),
    "real": (0.0, 1.0, 2.5, -0.1, 1 / 3, 2.0**53, 1e-9, 123456.789, 1e300, -5e-324, None),
    "text": ("", "a", "A", "a ", "1", "1.0", " 1", "01", "0x1", "1e0", "é", "😀", "\x01", 'q"\\', "'", None),
    "mixed": (0, 1, 2, "1", "a", "1.0", "2", None),
}
COMPARED = (
    *("r.x = o.y", "o.y = r.x", "r.x < o.y", "o.y < r.x", "r.x IS o.y", "r.x BETWEEN o.y AND o.y"),
    *("o.y IN (r.x)", "r.x IN (o.y)", "r.x IN (SELECT y FROM o AS p)", "r.x = o.y || ''", "r.x < o.y + 0"),
    *("r.x = 1", "r.x = '1'", "r.x < '2'", "r.x > 1.0", "r.x = +o.y", "max(r.x, o.y) = o.y"),
    *("CASE r.x WHEN o.y THEN 1 END", "nullif(r.x, o.y) IS NULL", "typeof(r.x) = typeof(o.y)"),
    "o.y IN (SELECT x FROM {} AS p)",
)


def sent(affinity: str, values: list[Any]) -> tuple[str, dict[str, str]] | None:
    """The query of rows (id, value) that were sent, and its parameter."""
    bound = Bound(("INTEGER", affinity), list(enumerate(values)))
    if not SQLITE_VALUES.rows_travel(bound, (None, None)):
        return None
    given: dict[str, Any] = {}

    def bind(suffix: str, text: Any) -> exp.Expr:
        given[suffix] = text
        return exp.Placeholder(this=suffix)

    query = SQLITE_VALUES.as_rows(bound, (None, None), bind)
    named = zip(query.expressions, ("id", "x"), strict=True)
    query.set("expressions", [exp.alias_(item, name) for item, name in named])
    return text_of(query, "sqlite"), given


def database(declared: str, values: tuple[Any, ...]) -> sqlite3.Connection:
    con = lite.open_memory()
    con.execute(f"CREATE TABLE m (id INTEGER, x {declared})")
    con.executemany("INSERT INTO m VALUES (?, ?)", list(enumerate(values)))
    return con


def stored(con: sqlite3.Connection) -> list[Any]:
    return [value for (value,) in con.execute("SELECT x FROM m ORDER BY id")]


@pytest.mark.parametrize(("affinity", "pool"), [*product(AFFINITIES, POOLS)])
def test_rows_compare_as_the_column_does(affinity: str, pool: str) -> None:
    con = database(AFFINITIES[affinity], POOLS[pool])
    found = sent(affinity, stored(con))
    if found is None:
        pytest.skip("these do not travel")
    rows, given = found
    shown = "SELECT r.id, r.x, typeof(r.x), quote(r.x), r.x || '' FROM {} AS r ORDER BY r.id"
    own = con.execute(shown.format("m")).fetchall()
    assert repr(con.execute(shown.format(f"({rows})"), given).fetchall()) == repr(own)
    for other, has_index in product(AFFINITIES.values(), (False, True)):
        con.executescript(f"DROP TABLE IF EXISTS o; CREATE TABLE o (id INTEGER, y {other})")
        con.executemany("INSERT INTO o VALUES (?, ?)", list(enumerate(VALUES)))
        if has_index:
            con.execute("CREATE INDEX o_y ON o (y)")
        for test, join in product(COMPARED, ("r JOIN o", "o JOIN r", "o LEFT JOIN r")):
            text = f"SELECT r.id, o.id FROM {join.replace('r', '{} AS r')} ON {test} ORDER BY 1, 2"
            right = con.execute(text.replace("{}", "m")).fetchall()
            assert con.execute(text.replace("{}", f"({rows})"), given).fetchall() == right, (other, test)


def test_what_travels() -> None:
    travelling = {
        (affinity, pool)
        for affinity, pool in product(AFFINITIES, POOLS)
        if sent(affinity, stored(database(AFFINITIES[affinity], POOLS[pool]))) is not None
    }
    assert travelling == {
        *(("INTEGER", "whole"), ("NUMERIC", "whole"), ("REAL", "whole"), ("REAL", "real")),
        *(("TEXT", "text"), ("TEXT", "mixed")),
        *(("TEXT", "whole"), ("TEXT", "real"), ("BLOB", "whole"), ("BLOB", "text"), ("BLOB", "mixed")),
    }


@pytest.mark.parametrize("value", [b"a", "a\0b", -0.0, math.inf, [1, 1.5], ["a", 1.5]], ids=repr)
@pytest.mark.parametrize("affinity", [*AFFINITIES, "NONE"])
def test_what_does_not(affinity: str, value: Any) -> None:
    assert sent(affinity, value if isinstance(value, list) else [value]) is None


def test_every_digit_of_a_real_travels() -> None:
    draw = random.Random(5)
    values = [draw.uniform(-1000, 1000) for _ in range(500)]
    values += [round(draw.uniform(0, 99), 2) for _ in range(500)]
    values += [draw.uniform(-1, 1) * 10.0 ** draw.randint(-320, 308) for _ in range(500)]
    values = [value for value in values if value]
    found = sent("NONE", values)
    assert found is not None
    rows = lite.open_memory().execute(*found).fetchall()
    assert [x for _, x in rows] == values


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_a_value_compares_as_a_subquery_of_its_column_does(affinity: str) -> None:
    con = database(AFFINITIES[affinity], VALUES)
    columns = ", ".join(f"y{n} {declared}" for n, declared in enumerate(AFFINITIES.values()))
    con.execute(f"CREATE TABLE o (id INTEGER, {columns})")
    con.executemany("INSERT INTO o VALUES (?, ?, ?, ?, ?, ?)", [(n, *[v] * 5) for n, v in enumerate(VALUES)])
    value = text_of(SQLITE_VALUES.value(exp.Placeholder(this="v"), affinity), "sqlite")
    travelled = 0
    for n, given in enumerate(stored(con)):
        if not SQLITE_VALUES.travels(Bound((affinity,), [(given,)])):
            continue
        travelled += 1
        own = f"(SELECT x FROM m WHERE id = {n})"
        for at, form in product(
            range(5),
            (
                "{1} = {0}",
                "{0} < {1}",
                "{1} BETWEEN {0} AND {0}",
                "{1} IN ({0}, 'z')",
                "{0} = 1",
                "{0} < '2'",
                "{0} IN (1, '1')",
            ),
        ):
            text = f"SELECT id, {form}, quote({{0}}) FROM o ORDER BY id"
            right = con.execute(text.format(own, f"y{at}")).fetchall()
            assert con.execute(text.format(value, f"y{at}"), {"v": given}).fetchall() == right, (given, form)
    assert travelled > 2

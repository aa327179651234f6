"""Rows for SQLite: one text, which json_each reads, each column with the affinity that it had.

    SELECT CAST(json_extract(value, '$[0]') AS NUMERIC), CAST(json_extract(value, '$[1]') AS TEXT)
    FROM json_each('[[7,"ann"]]') AS j LIMIT -1

A value has a type of its own, and a column an affinity, by which `=` converts what it meets. CAST to NUMERIC
leaves whole numbers as they are, to REAL others, and to TEXT texts; all give the affinity. What else a
column may hold does not travel: a text in a numeric one, a BLOB in any. A column without a type has an
affinity too, BLOB: that of `json_each`'s own values. The LIMIT keeps the rows from being read anew for each
row that they meet. A REAL comes as its digits, which a function of the connection reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from shardwise.plan.sent import RowsText
from shardwise.planner.early_values.base import is_negative_zero

NO_AFFINITY: Final = "NONE"
"""What a computed column has, in the place of an affinity's name."""
REAL: Final = "shardwise_real"
"""A function of each connection's: from digits to the REAL that Python wrote so."""
_NUMERIC: Final = frozenset({"INTEGER", "REAL", "NUMERIC"})
_CHARACTERS_MAX: Final = 8 << 20


def is_numeric(affinity: str) -> bool:
    """Whether it is one of those that compare alike."""
    return affinity in _NUMERIC


def fit(affinities: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> bool:
    """Whether all values are the same again, and compare as in columns of these affinities."""
    columns = [[row[at] for row in rows if row[at] is not None] for at in range(len(affinities))]
    are_same = all(_is_same(affinity, column) for affinity, column in zip(affinities, columns, strict=True))
    return are_same and sum(len(v) for c in columns for v in c if type(v) is str) <= _CHARACTERS_MAX


def _is_same(affinity: str, values: Sequence[Any]) -> bool:
    kinds = {type(value) for value in values}
    if kinds == {float}:
        return affinity not in ("TEXT", "BLOB") and all(map(_is_kept, values))
    if is_numeric(affinity):
        return kinds <= {int} and (affinity != "REAL" or not kinds)
    texts = kinds <= ({str} if affinity == "TEXT" else {str, int})
    return texts and not any("\0" in value for value in values if type(value) is str)


def _is_kept(real: float) -> bool:
    return math.isfinite(real) and not is_negative_zero(real)


def rows_text(rows: Sequence[tuple[Any, ...]]) -> RowsText:
    """The rows as JSON, a REAL as the text of its digits."""
    return RowsText.of([_cell(v) for v in row] for row in rows)


def _cell(value: Any) -> Any:
    return repr(value) if type(value) is float else value


def json_rows(affinities: Sequence[str], rows: Sequence[tuple[Any, ...]], text: exp.Expr) -> exp.Select:
    """The rows of a parameter that is bound to such a text; of one of no affinity a member compares as what
    it meets says."""
    items = [
        _item(at, affinity, any(type(row[at]) is float for row in rows))
        for at, affinity in enumerate(affinities)
    ]
    table = exp.Table(
        this=exp.Anonymous(this="json_each", expressions=[text]),
        alias=exp.TableAlias(this=exp.to_identifier("j")),
    )
    return exp.Select(
        expressions=items,
        from_=exp.From(this=table),
        limit=exp.Limit(expression=exp.Neg(this=exp.Literal.number(1))),
    )


def _item(at: int, affinity: str, is_real: bool) -> exp.Expr:
    if affinity == "BLOB":
        return _own_value(at)
    value: exp.Expr = exp.Anonymous(
        this="json_extract", expressions=[exp.to_identifier("value"), exp.Literal.string(f"$[{at}]")]
    )
    if is_real:
        value = exp.Anonymous(this=REAL, expressions=[value])
    if affinity == NO_AFFINITY:
        return value
    return with_affinity(value, "REAL" if is_real else affinity)


def with_affinity(value: exp.Expr, affinity: str) -> exp.Cast:
    """A value that the cast leaves as it is, with the affinity; all numeric ones are one where they compare.
    A REAL keeps its own: as NUMERIC it is a whole number once SQLite has put the rows aside."""
    name = "NUMERIC" if affinity == "INTEGER" else affinity
    return exp.Cast(this=value, to=exp.DataType(this=exp.DType.USERDEFINED, kind=name))


def _own_value(at: int) -> exp.Expr:
    """(SELECT e.value FROM json_each(j.value) AS e WHERE e.key = at)"""
    key = exp.EQ(this=_name("e", "key"), expression=exp.Literal.number(at))
    rows = exp.Anonymous(this="json_each", expressions=[_name("j", "value")])
    table = exp.Table(this=rows, alias=exp.TableAlias(this=exp.to_identifier("e")))
    query = exp.Select(
        expressions=[_name("e", "value")], from_=exp.From(this=table), where=exp.Where(this=key)
    )
    return exp.Subquery(this=query)


def _name(table: str, column: str) -> exp.Expr:
    return exp.Dot(
        this=exp.to_identifier(table), expression=exp.to_identifier(column, quoted=column == "key")
    )

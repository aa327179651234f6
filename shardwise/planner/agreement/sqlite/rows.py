"""Rows that ran first, for SQLite: one text of JSON, which json_each takes apart.

    SELECT CAST(json_extract(r.value, '$[0]') AS INTEGER), CAST(json_extract(r.value, '$[1]') AS TEXT)
    FROM json_each(:rows_1_1_json) AS r JOIN json_each('[0]') AS one LIMIT -1

So that a join takes each row but once: the LIMIT keeps the rows together, else the text would be read again
for each row that they meet; SQLite makes an index of columns that have an affinity, by CASTs that change no
value, and of rows that it expects to be many: it takes those of json_each for 25, and of two for 625.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from shardwise.planner.agreement.known import Known
from shardwise.planner.agreement.make import call, integer, string
from shardwise.planner.agreement.sent import SentColumn, SentRows
from shardwise.planner.agreement.types import Family
from shardwise.planner.early_values.sqlite_rows import REAL

_STORAGE: Final[dict[Family, str]] = {
    Family.BOOL: "BIGINT",
    Family.INT: "BIGINT",
    Family.DECIMAL: "BIGINT",
    Family.DOUBLE: "DOUBLE",
    Family.TEXT: "TEXT",
    Family.DATE: "TEXT",
    Family.TIMESTAMP: "TEXT",
}


def rows_of_json(columns: tuple[SentColumn, ...], known: Known) -> exp.Select:
    """The rows, whose columns are canonical."""
    sent = SentRows(columns, are_decimals_whole=True)
    return exp.Select(
        expressions=[_item(sent, at) for at in range(len(columns))],
        from_=exp.From(this=_each(sent.placeholder(known), "r")),
        joins=[exp.Join(this=_each(string("[0]"), "one"))],
        limit=exp.Limit(expression=integer(-1)),
    )


def _each(json: exp.Expr, alias: str) -> exp.Table:
    named = exp.TableAlias(this=exp.to_identifier(alias))
    return exp.Table(this=call("json_each", json), alias=named)


def _item(sent: SentRows, at: int) -> exp.Expr:
    column = sent.columns[at]
    member: exp.Expr = exp.Var(this="r.value")  # no column of the plan's
    if len(sent.columns) > 1:
        member = call("json_extract", member, string(sent.path(at)))
    if column.type.family is Family.DOUBLE:
        member = call(REAL, member)
    return exp.Cast(this=member, to=exp.DataType.build(_STORAGE[column.type.family]))

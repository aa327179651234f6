"""Rows that ran first, for MariaDB: one text of JSON, which JSON_TABLE reads with the types it is told.

    SELECT c1, c2 FROM JSON_TABLE(:rows_1_1_json, '$[*]' COLUMNS (c1 BIGINT PATH '$[0]' ERROR ON ERROR,
        c2 VARCHAR(9) COLLATE utf8mb4_nopad_bin PATH '$[1]' ERROR ON ERROR)) AS j LIMIT 18446744073709551615

The LIMIT makes a derived table that is kept and gets an index, of texts too.
"""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp

from shardwise.planner.agreement.known import Known
from shardwise.planner.agreement.make import string
from shardwise.planner.agreement.sent import SentColumn, SentRows
from shardwise.planner.agreement.types import Family
from shardwise.planner.early_values.mysql_rows import ALL_ROWS, BYTES_MAX, have_room, text_type

_TYPES: Final[dict[Family, str]] = {
    Family.BOOL: "TINYINT",
    Family.INT: "BIGINT",
    Family.DOUBLE: "DOUBLE",
    Family.DATE: "DATE",
    Family.TIMESTAMP: "DATETIME(6)",
}


def rows_of_json(columns: tuple[SentColumn, ...], collation: str, known: Known) -> exp.Select | None:
    """The rows, whose columns are canonical; None if a statement has no room for them."""
    sent = SentRows(columns)
    values = {column.name: known.values[column.name] for column in columns}
    if not _fit(sent, values):
        return None
    names = [f"c{at}" for at in range(1, len(columns) + 1)]
    types = [_type(column, values[column.name], collation) for column in columns]
    defined = ", ".join(
        f"{name} {type_} PATH '{sent.path(at)}' ERROR ON ERROR"
        for at, (name, type_) in enumerate(zip(names, types, strict=True))
    )
    table = exp.JSONTable(this=sent.placeholder(known), path=string("$[*]"), schema=exp.Var(this=defined))
    alias = exp.TableAlias(this=exp.to_identifier("j"))
    return exp.Select(
        expressions=[exp.Var(this=name) for name in names],  # no columns of the plan's
        from_=exp.From(this=exp.Table(this=table, alias=alias)),
        limit=exp.Limit(expression=ALL_ROWS.copy()),
    )


def _type(column: SentColumn, values: list[Any], collation: str) -> str:
    if column.type.family is Family.DECIMAL:
        return f"DECIMAL({column.type.digits},{column.type.scale})"
    if column.type.family is Family.TEXT:
        return text_type(values, collation)
    return _TYPES[column.type.family]


def _fit(sent: SentRows, values: dict[str, list[Any]]) -> bool:
    texts = (values[column.name] for column in sent.columns if column.type.family is Family.TEXT)
    # In the statement each quote and backslash has another before it.
    return have_room(texts) and 2 * len(sent.text(values).encode()) <= BYTES_MAX

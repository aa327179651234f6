"""Rows for MySQL and MariaDB: one text, which JSON_TABLE reads with the types that it is told.

    SELECT c1, c2 FROM JSON_TABLE('[[7,"2024-01-31"]]', '$[*]' COLUMNS (c1 INT PATH '$[0]' ERROR ON ERROR,
        c2 DATE PATH '$[1]' ERROR ON ERROR)) AS j LIMIT 18446744073709551615

Its columns are of their types as a table's are: an UNSIGNED stays one, a DECIMAL has its scale. The LIMIT
makes a derived table that is kept and gets an index; else the text is read again for each row that it meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from sqlglot import exp

from shardwise.catalog.types import ColumnType, Family, read_type
from shardwise.errors import InternalError
from shardwise.plan.sent import RowsText
from shardwise.plan.sql.own_mysql import HOLE, MARK

_CHARACTER_SETS: Final = frozenset({"utf8mb4", "utf8mb3", "utf8", "latin1", "ascii"})
_ROW_BYTES_MAX: Final = 60_000
"""Of a derived table's row, with texts at four bytes a character."""
BYTES_MAX: Final = 8 << 20
"""A packet takes 16 MB by default, and has more than the rows."""
ALL_ROWS: Final = exp.Literal.number(18446744073709551615)


def fit(type_texts: Sequence[str], rows: int, texts: Mapping[int, Sequence[str | None]]) -> bool:
    """Whether so many rows go into a statement, however long their values are; `texts` are known, by
    column."""
    others = [_WIDTHS[_read(type_text).family] for at, type_text in enumerate(type_texts) if at not in texts]
    of_texts = sum(2 * len(v.encode()) + 7 for values in texts.values() for v in values if v is not None)
    return have_room(texts.values()) and rows * sum(others) + of_texts <= BYTES_MAX


def have_room(texts: Iterable[Sequence[str | None]]) -> bool:
    """Whether a derived table's row has room for a column of each of these texts."""
    return sum(4 * _longest(values) for values in texts) <= _ROW_BYTES_MAX


def has_character_set(collation: str | None) -> bool:
    """Whether a column of this collation can be declared: not by the short names of newer ones."""
    return collation is not None and collation.lower().partition("_")[0] in _CHARACTER_SETS


def may_be_texts(values: Sequence[Any]) -> bool:
    """Whether JSON_TABLE reads all as they are."""
    return all(v is None or (type(v) is str and "\0" not in v) for v in values)


def text_type(values: Sequence[str | None], collation: str) -> str:
    """The type of a column of texts; JSON_TABLE cuts off without a word what is longer than its type."""
    name = collation.lower().partition("_")[0]
    return f"VARCHAR({max(_longest(values), 1)}) CHARACTER SET {name} COLLATE {collation}"


def _longest(values: Sequence[str | None]) -> int:
    return max((len(v) for v in values if v is not None), default=0)


def rows_text(rows: Sequence[tuple[Any, ...]]) -> RowsText:
    """The rows as JSON, each value so that nothing of it is lost: numbers as they are, others as texts."""
    return RowsText.of([_cell(v) for v in row] for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date):
        return value.isoformat()
    return _duration(value) if isinstance(value, timedelta) else value


def _duration(value: timedelta) -> str:
    """A TIME, which has more hours than a day and may be negative."""
    sign = "-" if value < timedelta() else ""
    microseconds = abs(value) // timedelta(microseconds=1)
    seconds, fraction = divmod(microseconds, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{sign}{hours:02}:{minute:02}:{second:02}.{fraction:06}"


def json_table(type_texts: Sequence[str], rows: exp.Expr) -> exp.Select:
    """The rows of a parameter that is bound to such a text."""
    names = [f"c{n}" for n in range(1, len(type_texts) + 1)]
    defined = ", ".join(
        f"{name} {_type(type_text)} PATH '$[{at}]' ERROR ON ERROR"
        for at, (name, type_text) in enumerate(zip(names, type_texts, strict=True))
    )
    form = f"JSON_TABLE{MARK}JSON_TABLE({HOLE}, '$[*]' COLUMNS ({defined}))"
    table = exp.Table(
        this=exp.Anonymous(this=form, expressions=[rows]), alias=exp.TableAlias(this=exp.to_identifier("j"))
    )
    return exp.Select(
        expressions=[exp.to_identifier(name) for name in names],
        from_=exp.From(this=table),
        limit=exp.Limit(expression=ALL_ROWS.copy()),
    )


def _type(type_text: str) -> str:
    if " COLLATE " in type_text:
        return type_text
    found = _read(type_text)
    arguments = f"({','.join(found.arguments)})" if found.arguments and found.family is not Family.INT else ""
    return f"{found.name}{arguments}{' UNSIGNED' if found.unsigned else ''}"


def _read(type_text: str) -> ColumnType:
    found = read_type(type_text, "mysql")
    if found is None or found.family not in _WIDTHS:
        raise InternalError(f"rows of {type_text} do not travel")
    return found


_WIDTHS: Final = {
    Family.INT: 21,
    Family.DECIMAL: 72,
    Family.FLOAT: 25,
    Family.DATE: 15,
    Family.TIMESTAMP: 31,
    Family.TIME: 22,
}
"""Bytes of a value in a statement at most: in quotes, with a backslash before each, and a comma."""

"""Is this the same answer? Names, types and rows, exactly; doubles to 1e-9, ties by their sort keys alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

TOLERANCE = 1e-9
Row = tuple[Any, ...]


@dataclass(frozen=True)
class Answer:
    """What a statement gave: column names, types as DuckDB writes them, rows in order."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[Row]


def answer_of(cursor: Any) -> Answer:
    """Reads an executed DB-API cursor to its end (DuckDB's own or shardwise's)."""
    description = cursor.description
    return Answer(
        tuple(column[0] for column in description),
        tuple(str(column[1]) for column in description),
        [tuple(row) for row in cursor.fetchall()],
    )


def same(left: Any, right: Any) -> bool:
    """Whether two values are the same, of the same Python type; floats to 1e-9 relative, NaN equal to NaN."""
    if type(left) is not type(right):
        return False
    if isinstance(left, float):
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=TOLERANCE**2)
    if isinstance(left, Decimal) and left.is_nan():
        return right.is_nan() and left.is_snan() == right.is_snan()
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def rank(value: Any) -> tuple[Any, ...]:
    """Sorts values of any type, floats that are nearly equal beside each other."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (1, int(value))
    if isinstance(value, float):
        # Rounded, so that 1e-12 of difference does not part rows that belong together by other columns.
        return (3, math.inf if math.isnan(value) else float(f"{value:.6g}"), math.isnan(value))
    if isinstance(value, int | Decimal):
        return (2, value) if value == value else (2, math.inf)
    if isinstance(value, dict):
        return (8, *(part for key in value for part in (rank(str(key)), rank(value[key]))))
    if isinstance(value, list | tuple):
        return (9, *map(rank, value))
    for number, kind in enumerate((str, bytes, datetime, date, time, timedelta, UUID)):
        if isinstance(value, kind):
            comparable = value.isoformat() if kind in (datetime, time) else value
            return (20 + number, comparable)
    return (99, repr(value))


def matching(left: Iterable[Row], right: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """The rows of each side that have no partner on the other, as multisets."""
    ours, theirs = sorted(left, key=rank), sorted(right, key=rank)
    if len(ours) == len(theirs) and all(map(same, ours, theirs)):
        return [], []
    # Equal rows first, then those that are only nearly equal: 1 and 1 + 1e-9 may both be there.
    count = Counter(map(repr, ours))
    theirs = [row for row in theirs if not _taken(count, row)]
    ours = [row for row in ours if _taken(count, row)]
    missing: list[Row] = []
    for row in theirs:
        for position, other in enumerate(ours):
            if same(row, other):
                del ours[position]
                break
        else:
            missing.append(row)
    return ours, missing


def _taken(count: Counter[str], row: Row) -> bool:
    """Whether the row is still counted; then it is counted no more."""
    key = repr(row)
    if count[key] > 0:
        count[key] -= 1
        return True
    return False


def difference(
    actual: Answer,
    expected: Answer,
    *,
    ordered: bool = False,
    order_keys: Sequence[int] | None = None,
    check: Callable[[Answer, Answer], str | None] | None = None,
) -> str | None:
    """What is different, in words, or None.

    Rows are a multiset; with `ordered` a sequence. With `order_keys` (1-based positions of the sort
    keys) the keys are a sequence and the rows a multiset: tied rows may come in any order. With
    `check`, rows are judged by it alone (an any_value may be any member).
    """
    if actual.names != expected.names:
        return f"names: {list(actual.names)}, expected {list(expected.names)}"
    if actual.types != expected.types:
        return f"types: {list(actual.types)}, expected {list(expected.types)}"
    if check is not None:
        return check(actual, expected)
    surplus, missing = matching(actual.rows, expected.rows)
    if surplus or missing:
        return (
            f"{len(actual.rows)} rows, expected {len(expected.rows)}\n"
            f"  not expected: {shown(surplus)}\n  missing:      {shown(missing)}"
        )
    if ordered:
        order_keys = range(1, len(expected.names) + 1)
    for number, (row, other) in enumerate(zip(actual.rows, expected.rows, strict=True), start=1):
        for key in order_keys or ():
            if not same(row[key - 1], other[key - 1]):
                return f"order: row {number} is {row}, expected {other}"
    return None


def shown(rows: list[Row], limit: int = 8) -> str:
    more = f" … and {len(rows) - limit} more" if len(rows) > limit else ""
    return f"{rows[:limit]}{more}"


def same_count(actual: Answer, expected: Answer) -> str | None:
    """For results that one database does not determine: as many rows."""
    if len(actual.rows) != len(expected.rows):
        return f"{len(actual.rows)} rows, expected {len(expected.rows)}"
    return None

"""What ORDER BY writes: keys, positions, ALL."""

from __future__ import annotations

from sqlglot import exp

from shardwise.errors import ProgrammingError, Reason
from shardwise.plan.nodes import SortKey


def sort_key(ordered: exp.Expr, expr: exp.Expr) -> SortKey:
    """DuckDB's default is NULLS LAST, ascending and descending; sqlglot fills in what was not written."""
    return SortKey(expr, bool(ordered.args.get("desc")), bool(ordered.args.get("nulls_first")))


def ordinal(expr: exp.Expr) -> int | None:
    """`ORDER BY 2`: the 2."""
    is_number = isinstance(expr, exp.Literal) and not expr.is_string and expr.name.isdigit()
    return int(expr.name) if is_number else None


def place(expr: exp.Expr, count: int, clause: str) -> int | None:
    """Of `ORDER BY 2` the 2, which must be one of `count` columns; None if it is no position."""
    position = ordinal(expr)
    if position is not None and not 1 <= position <= count:
        raise ProgrammingError(
            f"{clause} {position}: there are {count} columns", reason=Reason.UNKNOWN_COLUMN
        )
    return position


def is_order_by_all(ordered: exp.Expr) -> bool:
    return isinstance(ordered.this, exp.Var) and ordered.this.name.upper() == "ALL"

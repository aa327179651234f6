"""Numbers that MySQL shows with a count of decimals: a DOUBLE(10,2), and what is computed of one.

    CONCAT((SELECT max(price) FROM t))    is 0.90, and 0.9 if it ran first: a constant has no such count

The type of what is computed does not tell it, so it is asked of the columns that are computed with.
"""

from __future__ import annotations

from shardwise.catalog.types import Family, read_type
from shardwise.plan.nodes import ColumnId, Node, Scan
from shardwise.plan.tree import columns_in, walk


def counts_decimals(type_text: str | None) -> bool:
    """Whether a declared type is such a DOUBLE, FLOAT or REAL."""
    found = read_type(type_text, "mysql") if type_text is not None else None
    return found is not None and found.family is Family.FLOAT and bool(found.arguments)


def reads_counted_decimals(plan: Node) -> bool:
    """Whether an expression of the plan reads such a column."""
    counted: set[ColumnId] = {
        o.id for n in walk(plan) if isinstance(n, Scan) for o in n.outputs if counts_decimals(o.type)
    }
    if not counted:
        return False
    return any(not counted.isdisjoint(columns_in(expr)) for n in walk(plan) for expr in n.expressions)

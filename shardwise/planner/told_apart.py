"""Whether values that are equal are the same: then one of them may stand for all, whatever is done with it.

0.0 = -0.0, INTERVAL '1 month' = INTERVAL '30 days', 'a' = 'A' by a collation, and 1.0 = 1.00 to PostgreSQL:
GROUP BY and DISTINCT keep one of them, and CAST(x AS VARCHAR) of that one is not that of the others.
"""

from __future__ import annotations

from shardwise.catalog.types import Family
from shardwise.plan.nodes import Output
from shardwise.planner.equivalence import is_one_text
from shardwise.planner.pass_context import PlanContext

_EXACT = frozenset({Family.INT, Family.DECIMAL, Family.DATE, Family.TIMESTAMP, Family.BOOL, Family.UUID})


def is_told_apart(output: Output, ctx: PlanContext) -> bool:
    """Whether two of the column's values that are equal are the same."""
    if output.type is None or not is_one_text(output):
        return False
    family = ctx.dialect.family(output.type)
    if family is Family.DECIMAL and ctx.catalog.dialect == "postgres":
        return "(" in output.type  # or else each has a scale of its own
    return family in _EXACT or family is Family.TEXT

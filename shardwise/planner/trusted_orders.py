"""Orders that a merge in this process may trust: those in which it compares two values as their source does.

Everything is read off what the catalog declares of a column, and drift is an error of its own: numbers, days
and moments, texts by their bytes or code points. `sort_keys` says which, a dialect at a time.

What is not trusted, and what would go wrong. A collation: a shard has 'a' before 'B', a comparison of bytes
'B' before 'a'. FLOAT in the mysql dialect: it is written with six digits, by which 16777217 and 16777218 are
equal. ENUM, SET: they are in order of their members. TIME: the text '100:00:00' is before '20:00:00'.
TIMESTAMP of MySQL in another zone than UTC: in autumn two hours are written alike. Texts that MySQL may sort
by their beginning alone. `numeric` without a scale: its values have no common form.
"""

from __future__ import annotations

from shardwise.plan.nodes import ColumnId, Gather
from shardwise.plan.run import Compared
from shardwise.planner.origins import origin
from shardwise.planner.pass_context import PlanContext


def compared(gather: Gather, id: ColumnId, ctx: PlanContext) -> Compared | None:
    """How values of a fragment's column compare, if the merge can tell; else None."""
    output = next((o for o in gather.outputs if o.id == id), None)
    if output is None or output.type is None:  # of an outer row, or computed
        return None
    found = origin(gather.input, id)
    column = None if found is None else found.column
    return ctx.dialect.sort_keys.compared(output, column, ctx.time_zone)

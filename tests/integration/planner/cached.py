"""Comparing a plan out of the cache with one that was made anew: what is sent, where to, what is merged."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

from shardwise.catalog.model import Catalog
from shardwise.errors import Error, InternalError
from shardwise.options import Options
from shardwise.plan.run import Plan
from shardwise.planner import Context, PlanCache, Planner
from shardwise.planner.caching.lift import cut

Essence = tuple[Any, ...]


def essence(plan: Plan) -> Essence:
    """What of a plan reaches the shards and the merge."""
    is_sketch = plan.paging is not None and bool(plan.first)  # what a page's last round makes of it is sent
    fragments = tuple(
        (
            fragment.name,
            fragment.columns,
            fragment.route.shards,
            tuple(fragment.text(shard) for shard in fragment.route.shards if not is_sketch),
            tuple(fragment.expects(shard) for shard in fragment.route.shards),
            fragment.sql,
            repr(fragment.params),
        )
        for fragment in plan.fragments
    )
    merge = plan.merge and (plan.merge.sql, repr(plan.merge.params), plan.merge.inputs, plan.merge.stored)
    first = tuple((first.name, essence(first.plan)) for first in plan.first)
    return plan.sql, plan.columns, fragments, merge, first


def outcome(
    planner: Planner, sql: str, params: Any, options: Options | None = None, context: Context | None = None
) -> Essence:
    """The essence, or the error."""
    try:
        return essence(planner.prepare(sql).plan(params, options=options, context=context))
    except InternalError:
        raise
    except Error as error:
        return type(error).__name__, str(error), error.position


class Twins:
    """A planner that remembers and one that does not: both must say the same."""

    def __init__(self, catalog: Catalog, options: Options | None = None) -> None:
        self.cache = PlanCache()
        self.options = options
        self.remembers = Planner(catalog, self.cache)
        self.forgets = Planner(catalog)

    def check(self, sql: str, params: Any = None, context: Context | None = None) -> bool:
        """Whether the plan came out of the cache; fails if it is another than a new one."""
        hits = self.cache.figures().plan_hits
        given = outcome(self.remembers, sql, params, self.options, context)
        assert given == outcome(self.forgets, sql, params, self.options, context), sql
        return self.cache.figures().plan_hits > hits


def with_other_literals(sql: str, *, seed: int, count: int) -> Iterator[str]:
    """The statement with some of its literals exchanged, for ones alike and for ones that are not."""
    draw = random.Random(seed)
    found = cut(sql)
    for _ in range(count):
        parts = list(found.parts)
        for at in range(1, len(parts), 2):
            is_compared = parts[at - 1].rstrip()[-1:] in "=<>"
            if draw.random() < (0.8 if is_compared else 0.3):
                parts[at] = _another(parts[at], draw)
        if len(set(parts[1::2])) == len(
            parts[1::2]
        ):  # `k = 3 AND k = 3` is one condition only if planned anew
            yield "".join(parts)


def _another(literal: str, draw: random.Random) -> str:
    if literal[0] == "'":
        day = re.fullmatch(r"'(\d{4})-(\d\d)-\d\d(.*)", literal)
        if day:
            return f"'{int(day[1]) + draw.randrange(2)}-{day[2]}-{draw.randrange(10, 28)}{day[3]}"
        return draw.choice([literal, "'x'", "'eu'", "''", "'it''s'", "'5'", "'2026-01-01'", "'%'"])
    if "." in literal:
        whole, _, fraction = literal.partition(".")
        return f"{draw.randrange(10 ** len(whole))}.{draw.randrange(10 ** len(fraction)):0{len(fraction)}}"
    number = draw.choice([draw.randrange(8), int(literal) + 1, draw.randrange(1000)])
    return draw.choice([str(number)] * 5 + ["1.50", "'7'"])

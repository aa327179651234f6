"""A query level's aggregate calls in parts, for dialects that split each call by itself.

    SELECT avg(x), sum(x)   =>   shards: sum(x) AS p0, count(x) AS p1    merge: sum(p0) / sum(p1), sum(p0)

A part that two calls have in common is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from shardwise.planner.aggregates import Combined


class Pool:
    """Partials and keys under their names; two whose `text` is the same are one."""

    def __init__(self, text: Callable[[exp.Expr], str]) -> None:
        self.partials: dict[str, tuple[str, exp.Expr]] = {}
        self.keys: dict[str, tuple[str, exp.Expr]] = {}
        self._text = text

    def partial(self, expr: exp.Expr) -> exp.Column:
        name, _ = self.partials.setdefault(self._text(expr), (f"p{len(self.partials)}", expr.copy()))
        return exp.column(name)

    def key(self, expr: exp.Expr) -> exp.Column:
        name, _ = self.keys.setdefault(self._text(expr), (f"k{len(self.keys)}", expr.copy()))
        return exp.column(name)


def combined(
    calls: Sequence[exp.Expr], pool: Pool, split: Callable[[exp.Expr], exp.Expr | None]
) -> Combined | None:
    """All calls together; None if one of them has no parts. `split` puts parts into the pool and gives what
    finishes the call."""
    finals = []
    for call in calls:
        final = split(call)
        if final is None:
            return None
        finals.append(final)
    return Combined(
        partials=tuple(pool.partials.values()),
        keys=tuple(pool.keys.values()),
        count=None,
        expand=False,
        finals=tuple(finals),
    )

"""Ternary-logic partitioning, and its like: a query and its parts, which together give the same.

A row is in exactly one of `p`, `NOT p` and `p IS NULL` (M. Rigger and Z. Su, "Finding Bugs in Database
Systems via Query Partitioning", OOPSLA 2020), so the three give what the query without WHERE gives: as rows,
as a set for DISTINCT, by sum, min and max of the parts for aggregates, as groups for HAVING, as pairs for an
inner join's ON. A left join is its inner join and its anti-join, all rows are a semi-join's and an
anti-join's, and a bag is what INTERSECT ALL and EXCEPT ALL make of it. No other database is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz.collations import fold
from tests.fuzz.dialects import INT, NUM, OUT, REAL
from tests.fuzz.statements import Statements
from tests.oracle.compare import Answer, matching

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Partition:
    """`whole` gives the rows that `combine` makes of those of `parts`."""

    name: str
    whole: str
    parts: tuple[str, ...]
    combine: Callable[[list[Rows]], Rows]

    def problem(self, whole: Answer, parts: list[Answer]) -> str | None:
        surplus, missing = matching(self.combine([part.rows for part in parts]), whole.rows)
        if not surplus and not missing:
            return None
        folded = self.combine([_folded(part.rows) for part in parts])
        if matching(folded, _folded(whole.rows)) == ([], []):
            return None
        return (
            f"{self.name}: the parts have beside the whole {surplus[:5]}, the whole beside them {missing[:5]}"
        )


def _folded(rows: Rows) -> Rows:
    """Any of equal texts may stand for them."""
    return [tuple(map(fold, row)) for row in rows]


def three(p: str) -> tuple[str, str, str]:
    return p, f"NOT ({p})", f"({p}) IS NULL"


def partition(made: Statements) -> Partition:
    """One at random."""
    forms = [_where, _where, _distinct, _aggregate, _grouped, _having, _on, left_join, _exists]
    if made.words.all_sets:
        forms.append(_sets)
    return made.random.choice(forms)(made)


def _bag(parts: list[Rows]) -> Rows:
    return [row for rows in parts for row in rows]


def _set(parts: list[Rows]) -> Rows:
    return list({repr(row): row for row in _bag(parts)}.values())


def _items(made: Statements, scope: Any) -> str:
    columns = [c for c in scope if c.family != OUT]
    chosen = made.random.sample(columns, min(len(columns), made.pick(1, 2, 3)))
    return ", ".join(f"{c.sql} AS c{n}" for n, c in enumerate(chosen)) or "1 AS c0"


def _where(made: Statements) -> Partition:
    source, scope = made.source(2)
    whole = f"SELECT {_items(made, scope)} FROM {source}"
    parts = tuple(f"{whole} WHERE {p}" for p in three(made.predicate(scope, 2)))
    return Partition("WHERE", whole, parts, _bag)


def _distinct(made: Statements) -> Partition:
    source, scope = made.source(2)
    whole = f"SELECT DISTINCT {_items(made, scope)} FROM {source}"
    parts = tuple(f"{whole} WHERE {p}" for p in three(made.predicate(scope, 2)))
    return Partition("DISTINCT", whole, parts, _set)


def _measures(made: Statements, scope: Any) -> tuple[str, Callable[[Rows], tuple[Any, ...]]]:
    """count, min, max and sum of a column, and how those of parts are made one."""
    column = made.column(scope, INT, NUM, REAL)
    x = column.sql if column is not None else "1"
    items = f"count(*) AS n, count({x}) AS c, min({x}) AS lo, max({x}) AS hi, sum({x}) AS s"

    def one(rows: Rows) -> tuple[Any, ...]:
        def known(at: int) -> list[Any]:
            return [row[at] for row in rows if row[at] is not None]

        lo, hi, sums = known(2), known(3), known(4)
        return (
            sum(row[0] for row in rows),
            sum(row[1] for row in rows),
            min(lo) if lo else None,
            max(hi) if hi else None,
            sum(sums[1:], sums[0]) if sums else None,
        )

    return items, one


def _aggregate(made: Statements) -> Partition:
    source, scope = made.source(2)
    items, one = _measures(made, scope)
    whole = f"SELECT {items} FROM {source}"
    parts = tuple(f"{whole} WHERE {p}" for p in three(made.predicate(scope, 2)))
    return Partition("aggregates", whole, parts, lambda found: [one(_bag(found))])


def _grouped(made: Statements) -> Partition:
    source, scope = made.source(2)
    items, one = _measures(made, scope)
    key = made.column(scope)
    k = key.sql if key is not None else "1"
    shown = f"SELECT {items}, {k} AS k FROM {source}"
    group = f" GROUP BY {k}" if key is not None else " GROUP BY ()"
    if key is None:
        return _where(made)
    parts = tuple(f"{shown} WHERE {p}{group}" for p in three(made.predicate(scope, 2)))

    def combine(found: list[Rows]) -> Rows:
        groups: dict[str, Rows] = {}
        for row in _bag(found):
            groups.setdefault(repr(row[-1]), []).append(row)
        return [(*one(rows), rows[0][-1]) for rows in groups.values()]

    return Partition("GROUP BY", shown + group, parts, combine)


def _having(made: Statements) -> Partition:
    source, scope = made.source(2)
    key, x = made.column(scope), made.column(scope, INT, NUM)
    if key is None or x is None:
        return _where(made)
    whole = f"SELECT {key.sql} AS k, count(*) AS n, max({x.sql}) AS hi FROM {source} GROUP BY {key.sql}"
    parts = tuple(f"{whole} HAVING {p}" for p in three(made.having(scope, 2)))
    return Partition("HAVING", whole, parts, _bag)


def _on(made: Statements) -> Partition:
    left, scope = made.source(1)
    right, more = made.item(1)
    both = [*scope, *more]
    on = made.on(scope, more, 1)
    shown = f"SELECT {_items(made, both)} FROM {left} JOIN {right} ON"
    parts = tuple(f"{shown} ({on}) AND {p}" for p in three(made.predicate(both, 1)))
    return Partition("ON", f"{shown} {on}", parts, _bag)


def left_join(made: Statements) -> Partition:
    """A left join is its inner join, and its left side's rows that meet none."""
    left, scope = made.item(1)
    right, more = made.item(1)
    on = made.on(scope, more, 1)
    shown = [c for c in scope if c.family != OUT][:3]
    nulls = [c for c in more if c.family != OUT][:2]
    if not shown or not nulls:
        return _where(made)
    items = ", ".join(f"{c.sql} AS c{n}" for n, c in enumerate((*shown, *nulls)))
    alone = ", ".join(
        [
            *(f"{c.sql} AS c{n}" for n, c in enumerate(shown)),
            *("NULL AS x" + str(n) for n, _ in enumerate(nulls)),
        ]
    )
    inner = f"SELECT {items} FROM {left} JOIN {right} ON {on}"
    anti = f"SELECT {alone} FROM {left} WHERE NOT EXISTS (SELECT 1 FROM {right} WHERE {on})"
    return Partition(
        "LEFT JOIN", f"SELECT {items} FROM {left} LEFT JOIN {right} ON {on}", (inner, anti), _bag
    )


def _exists(made: Statements) -> Partition:
    source, scope = made.source(2)
    shown = f"SELECT {_items(made, scope)} FROM {source}"
    sub = made.exists(scope, 1)
    parts = (f"{shown} WHERE EXISTS ({sub})", f"{shown} WHERE NOT EXISTS ({sub})")
    return Partition("EXISTS", shown, parts, _bag)


def _sets(made: Statements) -> Partition:
    names = ["c0", "c1"]
    one, other = (made.plain_select((INT, INT), (), 1, names) for _ in names)
    parts = (f"({one}) INTERSECT ALL ({other})", f"({one}) EXCEPT ALL ({other})")
    return Partition("INTERSECT and EXCEPT ALL", one, parts, _bag)

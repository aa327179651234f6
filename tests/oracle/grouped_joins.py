"""Random aggregates over joins of every kind: statements that all dialects read, over one small world.

Keys are NULL, repeated, of one side alone; a table is empty; a join drops, fills with NULL, repeats.
"""

from __future__ import annotations

from random import Random

from tests.oracle.cluster import By, Everywhere, Table, mod
from tests.oracle.test_join_aggregates import COLUMNS, _rows
from tests.oracle.worlds import World

WORLD = World(
    "joins grouped",
    [
        Table("a", COLUMNS, By("by_id", "id"), _rows(40, 1)),
        Table("b", COLUMNS, By("by_id", "id"), _rows(60, 2)),
        Table("c", COLUMNS, By("by_g", "g"), _rows(30, 3)),
        Table("e", COLUMNS, By("by_id", "id")),
        Table("r", COLUMNS, Everywhere("by_id"), _rows(6, 4)),
    ],
    [mod("by_id"), mod("by_g")],
)

_TESTS = [
    *(
        "{x}.g = {y}.g",
        "{x}.g = {y}.g",
        "{x}.g = {y}.h",
        "{x}.h = {y}.g",
        "{x}.d = {y}.d",
        "{x}.day = {y}.day",
    ),
    *("{x}.t = {y}.t", "{x}.g = {y}.g AND {x}.h = {y}.h", "{x}.g = {y}.g AND {x}.v < {y}.v", "{x}.f = {y}.f"),
    *("{x}.g = {y}.g AND {y}.v > 1", "{x}.g = {y}.g AND {x}.v > 1", "{x}.g + 1 = {y}.g", "{x}.d = {y}.v"),
    *("{x}.g = {y}.g OR {x}.h = {y}.h", "{x}.id = {y}.g", "{x}.g = {y}.id", "{x}.h < {y}.g"),
]
_KINDS = ["JOIN"] * 5 + ["LEFT JOIN"] * 4 + ["RIGHT JOIN"]
_CALLS = [
    *("count(*)", "count(*)", "count({x}.v)", "sum({x}.v)", "sum({x}.w)", "sum({x}.v)", "sum({x}.h)"),
    *("avg({x}.v)", "avg({x}.w)", "min({x}.v)", "max({x}.w)", "min({x}.day)", "max({x}.h)"),
    *("count(DISTINCT {x}.v)", "sum(DISTINCT {x}.w)", "min(DISTINCT {x}.v)", "count(DISTINCT {x}.day)"),
    *("sum({x}.w * (1 - {x}.d))", "sum({x}.v * {x}.g)", "sum({x}.v + {x}.w)", "avg({x}.w * {x}.v)"),
    *("sum(CASE WHEN {x}.v > 1 THEN 1 ELSE 0 END)", "count(coalesce({x}.v, 0))", "sum(coalesce({x}.w, 1))"),
    *("sum({x}.w * {y}.v)", "sum({x}.f)", "avg({x}.f)", "max({x}.f)", "count({x}.t)", "count(1)", "sum(2)"),
    *("var_pop({x}.v)", "stddev({x}.w)", "var_samp({x}.g)", "bit_or({x}.g)"),
    *("max({x}.v + 1)", "min({x}.v) + sum({y}.v)", "100 * sum({x}.v)", "sum({x}.v) - sum({y}.w)"),
]
_FILTERED = ["count(*)", "sum({x}.v)", "avg({x}.w)", "count({x}.g)", "min({x}.v)", "count(DISTINCT {x}.v)"]
_CONDITIONS = ["{x}.v > 1", "{x}.w IS NOT NULL", "{y}.v > 0", "{x}.v IS NULL", "{x}.v < {y}.v"]
_KEYS = [
    *("{x}.g", "{x}.h", "{x}.g", "{x}.day", "{x}.d", "{x}.v", "{x}.id"),
    *("{x}.g + {y}.g", "CASE WHEN {x}.v > 1 THEN 1 ELSE 0 END", "coalesce({x}.g, 0)", "{x}.g * 2"),
]
_WHERES = [
    *(
        "{x}.v > 1",
        "{x}.v > {y}.v",
        "{x}.id < 30",
        "{x}.g IS NULL",
        "{x}.v IS NOT NULL AND {y}.g IN (1, 2, 3)",
    ),
    *("EXISTS (SELECT 1 FROM c z WHERE z.h = {x}.g)", "NOT EXISTS (SELECT 1 FROM c z WHERE z.h = {x}.g)"),
    *("{x}.g IN (SELECT z.h FROM c z)", "coalesce({x}.v, 7) > 2", "{x}.t = 'x'"),
]
_HAVING = ["count(*) > 2", "sum({x}.v) > 3", "count(DISTINCT {x}.v) < 3"]
_DERIVED = "(SELECT id, g, h, d, day, t, f, v, w FROM {t} WHERE v > 0)"


def statements(seed: int, count: int, *, kinds: tuple[str, ...] = (), filters: bool = False) -> list[str]:
    """So many, the same for a seed. `kinds` are more kinds of joins; `filters`: FILTER is known."""
    random = Random(seed)
    return [_statement(random, [*_KINDS, *kinds], filters=filters) for _ in range(count)]


def _statement(random: Random, kinds: list[str], *, filters: bool) -> str:
    names: list[str] = []
    hidden: set[str] = set()
    text = ""
    for name in "xyz"[: random.choice([2, 2, 2, 3, 3])]:
        table = random.choice("aabbbccer" if names else "aabbbc")
        source = _DERIVED.format(t=table) if random.random() < 0.1 else table
        if not names:
            text = f"{source} {name}"
        elif random.random() < 0.03:
            text += f" CROSS JOIN {source} {name}"
        else:
            kind = random.choice(kinds)
            test = random.choice(_TESTS).format(x=random.choice(names), y=name)
            text += f" {kind} {source} {name} ON {test}"
            if kind in ("SEMI JOIN", "ANTI JOIN"):
                hidden.add(name)
        if name not in hidden:
            names.append(name)
    random.shuffle(names)

    def filled(form: str) -> str:
        x = random.choice(names)
        return form.format(x=x, y=random.choice([n for n in names if n != x] or [x]))

    keys = [filled(random.choice(_KEYS)) for _ in range(random.choice([0, 0, 1, 1, 1, 2]))]
    calls = [filled(random.choice(_CALLS)) for _ in range(random.choice([1, 1, 2, 3]))]
    if filters and random.random() < 0.25:
        x = random.choice(names)
        y = random.choice(names)
        form = f"{random.choice(_FILTERED)} FILTER (WHERE {random.choice(_CONDITIONS)})"
        calls.append(form.format(x=x, y=y))
    items = [f"{key} AS k{i}" for i, key in enumerate(keys)]
    items += [f"{call} AS c{i}" for i, call in enumerate(calls)]
    sql = f"SELECT {', '.join(items)} FROM {text}"
    if random.random() < 0.4:
        sql += f" WHERE {filled(random.choice(_WHERES))}"
    if keys:
        sql += f" GROUP BY {', '.join(keys)}"
    if keys and random.random() < 0.15:
        sql += f" HAVING {filled(random.choice(_HAVING))}"
    return sql

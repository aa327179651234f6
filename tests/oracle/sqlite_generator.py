"""Random statements of SQLite over `sqlite_world`'s tables, the same for the same seed.

Loose typing everywhere: columns of any storage class are compared, computed with, joined and grouped. Only
what SQLite itself determines is asked: LIMIT with an order of all columns, no order-dependent aggregates.
"""

from __future__ import annotations

import random

COLUMNS = {
    "t": "id k name price qty any_ b d",
    "u": "id t_id note v",
    "r": "code n",
    "w": "name x y",
    "p": "name z",
}
LITERALS = ("1", "2", "3", "5", "-7", "2.5", "NULL", "0", "7", "10", "1e3", "x'31'", "''", "'a'", "'7'")
TEXTS = ("'a'", "'A'", "'5'", "'05'", "'7'")
PATTERNS = ("'a%'", "'A*'", "'%5'")
Scope = list[tuple[str, str]]


class Statements:
    """One statement per instance; `made` counts the names handed out."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def column(self, scope: Scope) -> str:
        return ".".join(self.random.choice(scope))

    def value(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.random.random() < 0.45:
            return self.column(scope) if self.random.random() < 0.75 else self.pick(*LITERALS)
        a, b = self.value(scope, depth - 1), self.value(scope, depth - 1)
        forms = (
            f"{a} {self.pick('+', '-', '*', '/', '%', '&', '|', '<<')} {b}",
            f"{a} || {b}",
            f"coalesce({a}, {b})",
            f"max({a}, {b})",
            f"typeof({a})",
            f"substr({a}, 1, 2)",
            f"CASE WHEN {self.condition(scope, depth - 1)} THEN {a} ELSE {b} END",
            f"CAST({a} AS {self.pick('TEXT', 'INTEGER', 'REAL', 'NUMERIC', 'BLOB', 'VARCHAR(5)')})",
            f"({a})",
            f"-{self.column(scope)}",
            f"+{self.column(scope)}",
            f"({self.condition(scope, depth - 1)})",
        )
        return self.random.choice(forms)

    def condition(self, scope: Scope, depth: int = 2) -> str:
        column = self.column(scope)
        a, b = self.value(scope, depth - 1), self.value(scope, depth - 1)
        plain = (
            f"{a} {self.pick('=', '==', '<', '>', '<=', '<>')} {b}",
            f"{column} {self.pick('IN', 'NOT IN')} ({self.pick(*LITERALS)}, {self.pick(*TEXTS)})",
            f"{column} {self.pick('IS NULL', 'NOTNULL', 'IS 5', 'IS NOT 1')}",
            f"{column} {self.pick('LIKE', 'NOT LIKE', 'GLOB')} {self.pick(*PATTERNS)}",
            f"{column} BETWEEN {self.pick(*LITERALS)} AND {self.pick(*LITERALS)}",
            column,
        )
        if depth <= 0 or self.random.random() < 0.6:
            return self.random.choice(plain)
        return self.random.choice((self._connected, self._subquery))(scope, depth)

    def _connected(self, scope: Scope, depth: int) -> str:
        a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
        return self.pick(f"{a} AND {b}", f"({a} OR {b})", f"NOT ({a})")

    def _subquery(self, scope: Scope, depth: int) -> str:
        table, alias = self.pick(*COLUMNS), self.name("s")
        inner = [(alias, column) for column in COLUMNS[table].split()]
        of, outer, where = self.column(inner), self.column(scope), self.condition(inner, 0)
        return self.pick(
            f"{outer} {self.pick('IN', 'NOT IN')} (SELECT {of} FROM {table} {alias} WHERE {where})",
            f"{outer} < (SELECT {self.pick('min', 'max', 'count', 'avg')}({of}) FROM {table} {alias})",
            f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {table} {alias} WHERE {of} = {outer} AND {where})",
        )

    def source(self, depth: int) -> tuple[str, Scope]:
        alias = self.name("a")
        if depth > 0 and self.random.random() < 0.2:
            query, names = self.block(depth - 1, named=True)
            return f"({query}) {alias}", [(alias, name) for name in names]
        table = self.pick("t", "t", "u", "u", "r", "w", "p")
        return f"{table} AS {alias}", [(alias, column) for column in COLUMNS[table].split()]

    def tables(self, depth: int) -> tuple[str, Scope]:
        text, scope = self.source(depth)
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            other, more = self.source(depth)
            join = self.pick("JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN", ",", "FULL JOIN", "RIGHT JOIN")
            on = f"{self._key(scope)} = {self._key(more)}"
            if self.random.random() < 0.3:
                on += f" AND {self.condition(scope + more, 1)}"
            text += f" {join} {other}" + (
                f" ON {on}" if join.endswith("JOIN") and join != "CROSS JOIN" else ""
            )
            scope = scope + more
        return text, scope

    def _key(self, scope: Scope) -> str:
        keys = [c for c in scope if c[1] in ("id", "t_id", "k", "name", "v", "n", "code", "x", "z")]
        return self.column(keys or scope)

    def aggregate(self, scope: Scope) -> str:
        if self.random.random() < 0.2:
            return "count(*)"
        call = self.pick("count", "sum", "avg", "min", "max", "total")
        if self.random.random() < 0.25:
            return f"{call}(DISTINCT {self.value(scope, 1)})"
        text = f"{call}({self.value(scope, 1)})"
        return text if self.random.random() < 0.85 else f"{text} FILTER (WHERE {self.condition(scope, 1)})"

    def block(self, depth: int, *, named: bool) -> tuple[str, list[str]]:
        """A SELECT, and its columns' names."""
        tables, scope = self.tables(depth)
        kind, tail = self.pick("plain", "plain", "group", "group", "global", "distinct", "window"), ""
        items = [self.value(scope) for _ in range(self.random.randint(1, 3))]
        if kind == "global":
            items = [self.aggregate(scope) for _ in items]
        elif kind == "group":
            keys = [self.column(scope) for _ in range(self.random.randint(1, 2))]
            items = [*keys, self.aggregate(scope)]
            tail = f" GROUP BY {', '.join(keys)}"
            if self.random.random() < 0.3:
                tail += f" HAVING {self.aggregate(scope)} > {self.pick(*LITERALS)}"
        elif kind == "window":
            over = f"OVER (PARTITION BY {self.column(scope)}"
            items = [self.column(scope), f"count(*) {over})", f"rank() {over} ORDER BY {self.column(scope)})"]
        names = [self.name("o") for _ in items]
        pairs = zip(items, names, strict=True)
        shown = [f"{item} AS {name}" if named or self.random.random() < 0.5 else item for item, name in pairs]
        where = f" WHERE {self.condition(scope)}" if self.random.random() < 0.65 else ""
        distinct = "DISTINCT " if kind == "distinct" else ""
        return f"SELECT {distinct}{', '.join(shown)} FROM {tables}{where}{tail}", names

    def statement(self) -> str:
        text, names = self.block(1, named=False)
        if self.random.random() < 0.12:
            tables, scope = self.tables(0)
            operator = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            text += f" {operator} SELECT {', '.join(self.value(scope, 1) for _ in names)} FROM {tables}"
        if self.random.random() < 0.5:
            keys = (f"{n}{self.pick('', ' DESC', ' NULLS LAST')}" for n in range(1, len(names) + 1))
            text += f" ORDER BY {', '.join(keys)}"
            if self.random.random() < 0.6:
                text += f" LIMIT {self.random.randint(0, 9)} OFFSET {self.random.randint(0, 4)}"
        return text

"""Random statements of MySQL over `mysql_world`'s tables, the same for the same seed.

Loose typing everywhere: texts and numbers are compared, added, joined and grouped under several collations.
Only what MariaDB itself determines is asked: LIMIT with an order of all columns, no order-dependent
aggregates.
"""

from __future__ import annotations

import random

COLUMNS = {
    "t": "id k name acc bin price qty d at flag big",
    "u": "id t_id note v w at",
    "r": "code label n",
    "w": "name x y",
    "p": "name z",
    "q": "name z",
    "e": "name z",
    "f": "name z",
}
NUMBERS = frozenset(["id", "k", "price", "qty", "flag", "big", "t_id", "v", "w", "n", "x", "y", "z"])
LITERALS = ("1", "2", "3", "5", "-7", "2.5", "NULL", "0", "7", "10", "1e3", "''", "'ann'", "'7'", "'5x'")
TEXTS = ("'ann'", "'ANN '", "'5'", "'05'", "'bob'", "'ea'", "'strasse'")
PATTERNS = ("'a%'", "'A__'", "'%5'", "'b_b'")
ALIASES = ("d", "k", "x", "name", "v", "w", "t", "n", "id", "z")
"""Names that a table's alias and a column may have both."""
Scope = list[tuple[str, str]]


class Statements:
    """One statement per instance; `made` counts the names handed out."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0
        self.aliases = list(ALIASES)
        self.random.shuffle(self.aliases)

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def alias(self, prefix: str) -> str:
        return self.aliases.pop() if self.aliases and self.random.random() < 0.2 else self.name(prefix)

    def column(self, scope: Scope, *, number: bool | None = None) -> str:
        found = [c for c in scope if number is None or (c[1] in NUMBERS) is number]
        return ".".join(self.random.choice(found or scope))

    def number(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.random.random() < 0.5:
            return self.column(scope, number=True) if self.random.random() < 0.8 else self.pick(*LITERALS[:6])
        a, b = self.number(scope, depth - 1), self.number(scope, depth - 1)
        return self.random.choice(
            (
                f"{a} {self.pick('+', '-', '*')} {b}",
                f"({a}) / ({b})",
                f"({a}) {self.pick('DIV', '%')} ({b})",
                f"({a}) {self.pick('&', '|', '^')} ({b})",
                f"abs({self.column(scope, number=True)})",
                f"length({self.column(scope)})",
                f"round({a}, 1)",
                f"({self.condition(scope, depth - 1)})",
                f"-({a})",
            )
        )

    def value(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.random.random() < 0.45:
            return self.column(scope) if self.random.random() < 0.8 else self.pick(*LITERALS)
        a, b = self.value(scope, depth - 1), self.value(scope, depth - 1)
        return self.random.choice(
            (
                self.number(scope, depth),
                f"concat({a}, {b})",
                f"ifnull({a}, {b})",
                f"nullif({a}, {self.pick(*LITERALS)})",
                f"if({self.condition(scope, depth - 1)}, {a}, {b})",
                f"CASE WHEN {self.condition(scope, depth - 1)} THEN {a} ELSE {b} END",
                f"left({self.column(scope)}, 2)",
                f"upper({self.column(scope)})",
                f"CAST({self.column(scope)} AS {self.pick('CHAR', 'SIGNED', 'DECIMAL(12,2)', 'CHAR(2)')})",
                f"({a})",
                self._scalar(scope, depth),
            )
        )

    def _scalar(self, scope: Scope, depth: int) -> str:
        """The value of a subquery of one row; no quotient: a cached one has fewer digits than the first."""
        table, inner = self._few(depth)
        of, where = self.column(inner), self.condition(inner, 0)
        if self.random.random() < 0.6:
            where = f"{self._key(inner)} {self.pick('=', '=', '<')} {self._key(scope)} AND {where}"
        return f"(SELECT {self.pick('min', 'max', 'count')}({of}) FROM {table} WHERE {where})"

    def _few(self, depth: int) -> tuple[str, Scope]:
        """A table, or a derived one of its groups."""
        table, alias = self.pick(*COLUMNS), self.alias("s")
        columns = COLUMNS[table].split()
        if depth <= 0 or self.random.random() < 0.5:
            return f"{table} AS {alias}", [(alias, column) for column in columns]
        own = [(table, column) for column in columns]
        key, of = self.column(own, number=True), self.column(own)
        query = self.pick(
            f"SELECT {key} AS id, {self.pick('min', 'max', 'count')}({of}) AS v FROM {table} GROUP BY {key}",
            f"SELECT DISTINCT {key} AS id, {of} AS v FROM {table}",
            f"SELECT {key} AS id, {self.value(own, 0)} AS v FROM {table} WHERE {self.condition(own, 0)}",
            f"SELECT {key} AS id, {of} AS v FROM {table} UNION ALL SELECT n, n FROM r",
        )
        return f"({query}) AS {alias}", [(alias, "id"), (alias, "v")]

    def condition(self, scope: Scope, depth: int = 2) -> str:
        column, number = self.column(scope), self.column(scope, number=True)
        a, b = self.value(scope, depth - 1), self.value(scope, depth - 1)
        plain = (
            f"{column} {self.pick('=', '<=>', '<', '>', '<=', '<>')} {self.pick(*LITERALS, *TEXTS)}",
            f"({a}) {self.pick('=', '<', '>', '<=', '<>')} ({b})",
            f"{column} {self.pick('IN', 'NOT IN')} ({self.pick(*LITERALS)}, {self.pick(*TEXTS)})",
            f"{column} {self.pick('IS NULL', 'IS NOT NULL')}",
            f"{self.column(scope, number=False)} {self.pick('LIKE', 'NOT LIKE')} {self.pick(*PATTERNS)}",
            f"{self.column(scope, number=False)} REGEXP '^[a-c]'",
            f"{number} BETWEEN {self.pick('1', '-7', '2')} AND {self.pick('3', '7', '50')}",
            number,
        )
        if depth <= 0 or self.random.random() < 0.6:
            return self.random.choice(plain)
        return self.random.choice((self._connected, self._subquery))(scope, depth)

    def _connected(self, scope: Scope, depth: int) -> str:
        a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
        return self.pick(f"{a} AND {b}", f"({a} OR {b})", f"NOT ({a})", f"({a} XOR {b})", f"(({a}) IS TRUE)")

    def _subquery(self, scope: Scope, depth: int) -> str:
        table, inner = self._few(depth)
        of, outer, where = self.column(inner), self.column(scope), self.condition(inner, 0)
        return self.pick(
            f"{outer} {self.pick('IN', 'NOT IN')} (SELECT {of} FROM {table} WHERE {where})",
            f"{outer} < (SELECT {self.pick('min', 'max', 'count', 'avg')}({of}) FROM {table})",
            f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {table} WHERE {of} = {outer} AND {where})",
            f"{outer} {self.pick('=', '<', '>')} {self._scalar(scope, depth)}",
        )

    def source(self, depth: int) -> tuple[str, Scope]:
        alias = self.alias("a")
        if depth > 0 and self.random.random() < 0.2:
            query, names = self.block(depth - 1, named=True)
            return f"({query}) {alias}", [(alias, name) for name in names]
        table = self.pick("t", "t", "u", "u", "r", "w", "p", "q")
        return f"{table} AS {alias}", [(alias, column) for column in COLUMNS[table].split()]

    def tables(self, depth: int) -> tuple[str, Scope]:
        text, scope = self.source(depth)
        for _ in range(self.random.choice((0, 0, 1, 1, 2))):
            other, more = self.source(depth)
            join = self.pick("JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN", ",", "RIGHT JOIN")
            on = f"{self._key(scope)} = {self._key(more)}"
            if self.random.random() < 0.3:
                on += f" AND {self.condition(scope + more, 1)}"
            is_on = join.endswith("JOIN") and join != "CROSS JOIN"
            text += f" {join} {other}" + (f" ON {on}" if is_on else "")
            scope = scope + more
        return text, scope

    def _key(self, scope: Scope) -> str:
        keys = [c for c in scope if c[1] in ("id", "t_id", "k", "name", "v", "n", "code", "x", "z")]
        return self.column(keys or scope)

    def aggregate(self, scope: Scope) -> str:
        if self.random.random() < 0.2:
            return "count(*)"
        call = self.pick("count", "sum", "avg", "min", "max", "count", "bit_or")
        is_of_numbers = call in ("sum", "avg", "bit_or")
        argument = self.number(scope, 1) if is_of_numbers else self.value(scope, 1)
        if call != "bit_or" and self.random.random() < 0.25:
            return f"{call}(DISTINCT {argument})"
        return f"{call}({argument})"

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
            if self.random.random() < 0.2:
                tail += " WITH ROLLUP"
            elif self.random.random() < 0.3:
                tail += f" HAVING {self.aggregate(scope)} > {self.pick('1', '2', '0')}"
        elif kind == "distinct":  # of constants MariaDB 10.11 gives one row whatever OFFSET says
            items[0] = self.column(scope)
        elif kind == "window":
            over = f"OVER (PARTITION BY {self.column(scope)}"
            items = [self.column(scope), f"count(*) {over})", f"rank() {over} ORDER BY {self.column(scope)})"]
        names = [self.name("o") for _ in items]
        pairs = zip(items, names, strict=True)
        shown = [f"{item} AS {name}" if named or self.random.random() < 0.5 else item for item, name in pairs]
        where = f" WHERE {self.condition(scope)}" if self.random.random() < 0.65 else ""
        distinct = "DISTINCT " if kind == "distinct" else ""
        return f"SELECT {distinct}{', '.join(shown)} FROM {tables}{where}{tail}", names

    def shared(self) -> tuple[str, list[str]]:
        """A WITH item that is read once, or twice."""
        query, names = self.block(0, named=True)
        one, other = self.alias("a"), self.alias("a")
        shown = ", ".join(f"{one}.{name}" for name in names)
        text = f"WITH shared AS ({query}) SELECT {shown} FROM shared AS {one}"
        if self.random.random() < 0.5:
            join = self.pick("JOIN", "LEFT JOIN")
            text += f" {join} shared AS {other} ON {one}.{names[0]} = {other}.{names[-1]}"
        return text, names

    def statement(self) -> str:
        text, names = self.shared() if self.random.random() < 0.1 else self.block(1, named=False)
        has_rollup = "WITH ROLLUP" in text
        if self.random.random() < 0.12 and not has_rollup:
            tables, scope = self.tables(0)
            operator = self.pick("UNION", "UNION ALL", "EXCEPT", "INTERSECT")
            text += f" {operator} SELECT {', '.join(self.value(scope, 1) for _ in names)} FROM {tables}"
        if self.random.random() < 0.5 and not has_rollup:
            keys = (f"{n}{self.pick('', ' DESC')}" for n in range(1, len(names) + 1))
            text += f" ORDER BY {', '.join(keys)}"
            if self.random.random() < 0.5:
                text += f" LIMIT {self.random.randint(0, 9)} OFFSET {self.random.randint(0, 4)}"
        return text

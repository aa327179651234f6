"""Random statements of PostgreSQL over `postgres_world`'s tables, the same for the same seed.

Every expression has a type, so that nearly all of them run. Only what PostgreSQL itself determines is asked:
LIMIT with an order of all columns, ordered aggregates by all that they show, nothing that shows which of
several equal values stands for a group.
"""

from __future__ import annotations

import random
import re

COLUMNS = {
    "t": {
        "id": "int", "k": "int", "s": "int", "big": "long", "price": "num", "qty": "num", "f": "float",
        "name": "text", "title": "text", "b": "bool", "d": "date", "at": "time", "iv": "span",
        "nums": "list", "email": "loose", "code": "loose", "j": "json",
    },
    "u": {"id": "int", "t_id": "int", "v": "long", "w": "num", "note": "text", "at": "date"},
    "r": {"code": "text", "label": "text", "n": "int"},
    "w": {"name": "text", "x": "int", "y": "float"},
    "p": {"name": "text", "z": "int"},
}  # fmt: skip
LITERALS = {
    "int": ("1", "2", "3", "5", "-7", "0", "30", "NULL::int"),
    "long": ("1", "2", "3", "1000000000000000", "NULL::bigint"),
    "num": ("1.5", "2.25", "0", "-0.5", "1.00", "NULL::numeric"),
    "float": ("1.5::float8", "0.1::float8", "2"),
    "text": ("'a'", "'A'", "'b'", "'5'", "'é'", "''", "NULL"),
    "bool": ("true", "false", "NULL::boolean"),
    "date": ("'2024-01-31'::date", "date '2024-02-29'", "'1999-07-04'::date"),
    "time": ("timestamp '2024-01-31 13:05:09.25'", "'2024-02-29'::timestamp"),
    "span": ("interval '1 day'", "interval '1' hour", "'40 days 02:00'::interval"),
    "list": ("ARRAY[1, 2, 3]", "'{3,1}'::int[]", "'{}'::int[]"),
}
NUMBERS = ("int", "long", "num", "float")
SHOWN = ("int", "int", "long", "num", "text", "text", "bool", "date", "time", "span", "float")
Scope = list[tuple[str, str, str]]
"""Alias, column, kind."""


class Statements:
    """One statement per instance; `made` counts the names handed out."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.made = 0

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def name(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def column(self, scope: Scope, *kinds: str) -> str | None:
        found = [f"{alias}.{column}" for alias, column, kind in scope if kind in kinds]
        return self.random.choice(found) if found else None

    # ------------------------------------------------------------------ values

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        column = self.column(scope, kind)
        if depth <= 0 or self.chance(0.45):
            return column if column is not None and self.chance(0.8) else self.pick(*LITERALS[kind])
        make = getattr(self, f"_{kind}")
        text: str = make(scope, depth - 1)
        return text

    def _choice(self, scope: Scope, kind: str, depth: int) -> str:
        a, b = self.value(scope, kind, depth), self.value(scope, kind, depth)
        return self.pick(
            f"coalesce({a}, {b})",
            f"CASE WHEN {self.condition(scope, depth)} THEN {a} ELSE {b} END",
            f"CASE WHEN {self.condition(scope, depth)} THEN {a} END",
            f"nullif({a}, {b})",
            f"greatest({a}, {b})",
            f"({a})",
        )

    def _int(self, scope: Scope, depth: int) -> str:
        a, b = self.value(scope, "int", depth), self.value(scope, "int", depth)
        t = self.value(scope, "text", depth)
        return self.pick(
            self._choice(scope, "int", depth),
            f"({a} {self.pick('+', '-', '&', '|', '#')} {b})",
            f"{a} / nullif({b}, 0)",
            f"{a} % nullif({b}, 0)",
            f"length({t})",
            f"position('a' in {t})",
            f"-{self.column(scope, 'int') or '1'}",
            f"abs({a})",
            f"{self.value(scope, 'bool', depth)}::int",
            f"({self.value(scope, 'date', 0)} - {self.value(scope, 'date', 0)})",
            f"cardinality({self.value(scope, 'list', 0)})",
        )

    def _long(self, scope: Scope, depth: int) -> str:
        return self.pick(
            self._choice(scope, "long", depth),
            f"{self.value(scope, 'int', depth)}::bigint",
            f"{self.value(scope, 'long', 0)} / 3",
        )

    def _num(self, scope: Scope, depth: int) -> str:
        a, b = self.value(scope, "num", depth), self.value(scope, "num", depth)
        return self.pick(
            self._choice(scope, "num", depth),
            f"({a} {self.pick('+', '-', '*')} {b})",
            f"{a} / nullif({b}, 0)",
            f"round({a}, 1)",
            f"{self.value(scope, 'int', depth)} * 1.5",
            f"{self.value(scope, 'int', depth)}::numeric(12,3)",
            f"extract(day FROM {self.value(scope, 'date', 0)})",
        )

    def _float(self, scope: Scope, depth: int) -> str:
        return self.pick(
            self._choice(scope, "float", depth),
            f"{self.value(scope, 'int', depth)}::float8",
            f"{self.value(scope, 'int', depth)} * 0.5::float8",
        )

    def _text(self, scope: Scope, depth: int) -> str:
        a, b = self.value(scope, "text", depth), self.value(scope, "text", depth)
        return self.pick(
            self._choice(scope, "text", depth),
            f"({a} || {b})",
            f"{self.pick('upper', 'lower', 'reverse', 'trim', 'md5')}({a})",
            f"substring({a}, 1, 2)",
            f"left({a}, 1)",
            f"{self.value(scope, 'int', depth)}::text",
            f"concat({a}, {self.value(scope, 'int', depth)}, {b})",
            f"{self.value(scope, 'num', depth)}::text",
            f"replace({a}, 'a', 'x')",
            f"to_char({self.value(scope, 'date', 0)}, 'YYYY-MM')",
            f"regexp_replace({a}, '[ab]', 'z')",
            f"({a} || {self.value(scope, 'int', depth)})",
        )

    def _bool(self, scope: Scope, depth: int) -> str:
        return f"({self.condition(scope, depth)})"

    def _date(self, scope: Scope, depth: int) -> str:
        return self.pick(
            self._choice(scope, "date", depth),
            f"({self.value(scope, 'date', depth)} + {self.pick('1', '30', '-400')})",
            f"{self.value(scope, 'time', depth)}::date",
        )

    def _time(self, scope: Scope, depth: int) -> str:
        return self.pick(
            self._choice(scope, "time", depth),
            f"date_trunc('{self.pick('month', 'hour', 'year')}', {self.value(scope, 'time', depth)})",
            f"({self.value(scope, 'time', depth)} + {self.value(scope, 'span', depth)})",
            f"({self.value(scope, 'date', depth)} + {self.value(scope, 'span', depth)})",
        )

    def _span(self, scope: Scope, depth: int) -> str:
        return self.pick(
            f"({self.value(scope, 'span', depth)} * {self.pick('2', '0.5')})",
            f"({self.value(scope, 'time', depth)} - {self.value(scope, 'time', depth)})",
            f"({self.value(scope, 'span', depth)} + {self.value(scope, 'span', depth)})",
        )

    def _list(self, scope: Scope, depth: int) -> str:
        return f"({self.value(scope, 'list', depth)} || {self.value(scope, 'int', depth)})"

    # ------------------------------------------------------------------ conditions

    def condition(self, scope: Scope, depth: int = 2) -> str:
        if depth > 0 and self.chance(0.4):
            return self._subquery(scope, depth) if self.chance(0.4) else self._connected(scope, depth)
        return self.random.choice((self._comparison, self._comparison, self._comparison, self._test))(
            scope, depth - 1
        )

    def _comparison(self, scope: Scope, depth: int) -> str:
        kind = self.pick("int", "int", "long", "num", "text", "text", "bool", "date", "time", "span", "float")
        a, b = self.value(scope, kind, depth), self.value(scope, kind, depth)
        operator = self.pick("=", "=", "<", ">", "<=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
        return self.pick(
            f"{a} {operator} {b}",
            f"{a} {self.pick('IN', 'NOT IN')} ({', '.join(self.value(scope, kind, 0) for _ in 'ab')})",
            f"{a} {self.pick('', 'NOT ')}BETWEEN {b} AND {self.value(scope, kind, 0)}",
            f"{a} {self.pick('IS NULL', 'IS NOT NULL')}",
            f"({a}, {self.value(scope, 'int', 0)}) {self.pick('=', '<', '>=')} ({b}, 2)",
            f"{self.value(scope, 'int', depth)} {self.pick('=', '<', '>')} {self.value(scope, 'num', depth)}",
        )

    def _test(self, scope: Scope, depth: int) -> str:
        text = self.value(scope, "text", depth)
        tests = [
            f"{text} {self.pick('', 'NOT ')}{self.pick('LIKE', 'ILIKE')} {self.pick(*_PATTERNS)}",
            f"{text} {self.pick('~', '!~', '~*')} '^[abA]'",
            f"{self.value(scope, 'bool', 0)} {self.pick('IS TRUE', 'IS NOT FALSE', 'IS UNKNOWN')}",
            f"{self.value(scope, 'int', 0)} = {self.pick('ANY', 'ANY')} ({self.value(scope, 'list', 0)})",
            f"{self.value(scope, 'list', 0)} @> ARRAY[1]",
        ]
        loose, json = self.column(scope, "loose"), self.column(scope, "json")
        if loose is not None:
            tests += [f"{loose} = {self.pick(*_LOOSE)}", f"{loose} IN ({self.pick(*_LOOSE)}, 'abcd')"] * 2
        if json is not None:
            tests += [f"{json} ? 'a'", f"{json} ->> 'a' = '1'", f"{json} @> '{{\"a\": 2}}'"]
        return self.random.choice(tests)

    def _connected(self, scope: Scope, depth: int) -> str:
        a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
        return self.pick(f"{a} AND {b}", f"({a} OR {b})", f"NOT ({a})")

    def _subquery(self, scope: Scope, depth: int) -> str:
        table, alias = self.pick(*COLUMNS), self.name("s")
        inner = [(alias, column, kind) for column, kind in COLUMNS[table].items()]
        kind = self.pick("int", "text")
        outer = self.value(scope, kind, 0)
        of = self.column(inner, kind) or self.pick(*LITERALS[kind])
        where = self.condition(inner, 0)
        number, least = self.column(inner, "int") or "1", self.value(scope, "num", 0)
        call = f"{self.pick('min', 'max', 'count', 'avg', 'sum')}({number})"
        return self.pick(
            f"{outer} {self.pick('IN', 'NOT IN')} (SELECT {of} FROM {table} {alias} WHERE {where})",
            f"{least} < (SELECT {call} FROM {table} {alias})",
            f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM {table} {alias} WHERE {of} = {outer} AND {where})",
            f"{outer} {self.pick('=', '<>')} {self.pick('ANY', 'ALL')} (SELECT {of} FROM {table} {alias})",
            f"(SELECT count(*) FROM {table} {alias} WHERE {of} = {outer}) > {self.pick('0', '1')}",
        )

    # ------------------------------------------------------------------ tables

    def source(self, depth: int) -> tuple[str, Scope]:
        alias = self.name("a")
        if depth > 0 and self.chance(0.25):
            query, names = self.union(depth - 1) if self.chance(0.3) else self.block(depth - 1, named=True)
            return f"({query}) {alias}", [(alias, name, kind) for name, kind in names]
        table = self.pick("t", "t", "u", "u", "r", "w", "p")
        return f"{table} AS {alias}", [(alias, column, kind) for column, kind in COLUMNS[table].items()]

    def tables(self, depth: int) -> tuple[str, Scope]:
        text, scope = self.source(depth)
        count = self.random.choice((0, 0, 1, 1, 2))
        for number in range(count):
            other, more = self.source(depth)
            join = self.pick("JOIN", "JOIN", "LEFT JOIN", "CROSS JOIN", ",", "FULL JOIN", "RIGHT JOIN")
            if join == "," and number < count - 1:
                join = "JOIN"
            if join in (",", "CROSS JOIN"):
                text = f"{text}{'' if join == ',' else ' '}{join} {other}"
                scope = scope + more
                continue
            kind = self.pick("int", "int", "text", "loose")
            left, right = self.column(scope, kind), self.column(more, kind)
            on = f"{left} = {right}" if left and right else f"{self.column(scope, 'int') or 1} = 1"
            if self.chance(0.3) and join != "FULL JOIN":
                on += f" AND {self.condition(scope + more, 1)}"
            if "= 1" in on and join == "FULL JOIN":
                join = "LEFT JOIN"
            text += f" {join} {other} ON {on}"
            scope = scope + more
        return text, scope

    def aggregate(self, scope: Scope) -> tuple[str, str]:
        """A call, and the kind of its result."""
        if self.chance(0.2):
            return "count(*)", "long"
        kind = self.pick("int", "int", "long", "num", "float", "text", "date", "time", "span", "bool")
        value = self.value(scope, kind, 1)
        call = self.pick("count", "min", "max")
        if kind == "bool":
            call = self.pick("count", "bool_and", "bool_or")
        elif kind in NUMBERS and self.chance(0.7):
            call = self.pick("sum", "sum", "avg", "avg", "var_pop", "variance", "stddev")
        elif kind == "span" and self.chance(0.5):
            call = self.pick("sum", "avg")
        elif kind == "text" and self.chance(0.3):
            return f"string_agg({value}, ',' ORDER BY {value})", "text"
        elif kind == "int" and self.chance(0.2):
            return f"bit_{self.pick('and', 'or', 'xor')}({value})", "int"
        result = "long" if call == "count" else "bool" if kind == "bool" else kind
        if call == "sum" and kind == "int":
            result = "long"
        if (call in ("avg", "var_pop", "variance", "stddev") or call == "sum") and kind in (
            "int",
            "long",
            "num",
        ):
            result = result if call == "sum" and kind == "int" else "num"
        if call not in ("bool_and", "bool_or") and self.chance(0.2):
            return f"{call}(DISTINCT {value})", result
        text = f"{call}({value})"
        if self.chance(0.15):
            text = f"{text} FILTER (WHERE {self.condition(scope, 1)})"
        return text, result

    def block(self, depth: int, *, named: bool) -> tuple[str, list[tuple[str, str]]]:
        """A SELECT, and its columns' names and kinds."""
        tables, scope = self.tables(depth)
        kind, tail = self.pick("plain", "plain", "group", "group", "global", "distinct", "window", "sets"), ""
        kinds = [self.pick(*SHOWN) for _ in range(self.random.randint(1, 3))]
        items = [self.value(scope, each) for each in kinds]
        if kind == "global":
            items, kinds = map(list, zip(*(self.aggregate(scope) for _ in items), strict=True))  # type: ignore[assignment]
        elif kind in ("group", "sets"):
            kinds = [self.pick(*SHOWN) for _ in range(self.random.randint(1, 2))]
            keys = [self.value(scope, each, self.random.choice((0, 0, 1))) for each in kinds]
            keys = [
                key if _HAS_COLUMN.search(key) else f"({self.column(scope, *_KEYS)} || '')::text"
                for key in keys
            ]
            kinds = [
                each if "||" not in key or each == "text" else "text"
                for key, each in zip(keys, kinds, strict=True)
            ]
            call, result = self.aggregate(scope)
            items, kinds = [*keys, call], [*kinds, result]
            listed = ", ".join(str(n + 1) for n in range(len(keys))) if self.chance(0.4) else ", ".join(keys)
            tail = f" GROUP BY {listed}"
            if kind == "sets" and all(_COLUMN.fullmatch(key) for key in keys):
                tail = f" GROUP BY {self.pick('ROLLUP', 'CUBE')} ({', '.join(keys)})"
            if self.chance(0.3):
                tail += (
                    f" HAVING {self.pick('count(*) > 1', 'max(' + keys[0] + ') IS NOT NULL', 'count(*) < 5')}"
                )
        elif kind == "window":
            part = self.column(scope, *SHOWN)
            over = f"OVER (PARTITION BY {part}"
            number = self.value(scope, "int", 1)
            items = [
                f"{part}",
                f"count(*) {over})",
                f"rank() {over} ORDER BY {number})",
                f"sum({number}) {over})",
            ]
            first = next(k for a, c, k in scope if f"{a}.{c}" == part)
            kinds = [first, "long", "long", "long"]
        names = [self.name("o") for _ in items]
        shown = [
            f"{item} AS {name}" if named or self.chance(0.5) else item
            for item, name in zip(items, names, strict=True)
        ]
        where = f" WHERE {self.condition(scope)}" if self.chance(0.65) else ""
        distinct = "DISTINCT " if kind == "distinct" else ""
        return f"SELECT {distinct}{', '.join(shown)} FROM {tables}{where}{tail}", list(
            zip(names, kinds, strict=True)
        )

    def union(self, depth: int) -> tuple[str, list[tuple[str, str]]]:
        text, columns = self.block(depth, named=True)
        tables, scope = self.tables(0)
        operator = self.pick("UNION", "UNION ALL", "UNION ALL", "EXCEPT", "INTERSECT", "EXCEPT ALL")
        mixed = {"int": "num", "long": "int"}
        kinds = [mixed.get(kind, kind) if self.chance(0.3) else kind for _, kind in columns]
        other = ", ".join(self.value(scope, kind, 1) for kind in kinds)
        ranks = list(NUMBERS)
        both = [
            (name, max(a, b, key=ranks.index) if a in ranks and b in ranks else a)
            for (name, a), b in zip(columns, kinds, strict=True)
        ]
        return f"{text} {operator} SELECT {other} FROM {tables}", both

    def statement(self) -> str:
        text, columns = self.union(1) if self.chance(0.15) else self.block(1, named=False)
        if self.chance(0.15) and " UNION" not in text:
            name = self.name("c")
            inner, found = self.block(0, named=True)
            shown = ", ".join(each for each, _ in found)
            text = f"WITH {name} AS ({inner}) SELECT {shown}, count(*) FROM {name} GROUP BY {shown}"
            columns = [*found, ("n", "long")]
        if self.chance(0.5):
            keys = (
                f"{n}{self.pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')}"
                for n in range(1, len(columns) + 1)
            )
            text += f" ORDER BY {', '.join(keys)}"
            if self.chance(0.6):
                text += f" LIMIT {self.random.randint(0, 9)} OFFSET {self.random.randint(0, 4)}"
        return text


_KEYS = ("int", "long", "text", "bool", "date", "time")
_COLUMN = re.compile(r"[ac]\d+\.\w+")
_HAS_COLUMN = re.compile(r"\b[ac]\d+\.")
_PATTERNS = ("'a%'", "'%B'", "'_'", "'A%'")
_LOOSE = ("'ANN@x'", "'bob@X'", "'ab '", "'a'")

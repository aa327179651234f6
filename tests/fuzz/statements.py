"""Random SELECTs over a world's tables, the same for the same random numbers.

Only what one database determines: LIMIT under an order of all columns, no row numbers among unequal ties,
sums that are exact. What slips through is found out by asking it with its rows in the other order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from tests.fuzz import collations
from tests.fuzz.dialects import BOOL, DATE, DIALECTS, INT, NUM, OUT, REAL, TEXT
from tests.fuzz.expressions import Col, Scope
from tests.fuzz.groups import Columns, Groups
from tests.fuzz.schema import FAMILY, World

_LITERAL = re.compile(r"'.*'|-?[\d.]+|(DATE|TIMESTAMP) '.*'|NULL|TRUE|FALSE")
NATURAL = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")


@dataclass(frozen=True)
class Select:
    """A SELECT in its parts, for what must put it together in several ways."""

    source: str
    scope: tuple[Col, ...]


class Statements(Groups):
    def __init__(self, random: Random, world: World) -> None:
        super().__init__(random, DIALECTS[world.dialect])
        if world.dialect in collations.TYPES:
            known = {v for table in world.tables for row in table.rows for v in row if isinstance(v, str)}
            self.texts = (*sorted(known), *sorted(known), *random.sample(collations.TEXTS, 3))
        self.known = _known(world)
        self.tables: dict[str, Columns] = {
            table.name: tuple(
                (name, FAMILY[name])
                for name in (*table.names, *(("tenant",) if "VIRTUAL" in table.place else ()))
            )
            for table in world.tables
        }
        self.ctes: list[tuple[str, Columns]] = [
            (view.split()[0], columns) for view, columns in zip(world.views, world.view_columns, strict=True)
        ]

    def statement(self) -> str:
        definitions = []
        for _ in range(self.pick(0, 0, 0, 0, 1, 1, 2)):
            sql, columns = self.query(2, ())
            name = self.fresh("w")
            how = self.pick("", "", "MATERIALIZED ", "NOT MATERIALIZED ") if self.words.lateral else ""
            definitions.append(f"{name} AS {how}({sql})")
            self.ctes.append((name, columns))
        recursive = ""
        if self.chance(0.03):
            definition, name, columns = self.recursive()
            definitions.append(definition)
            self.ctes.append((name, columns))
            recursive = "RECURSIVE "
        sql, columns = self.query(3, ())
        if self.chance(0.35):
            sql = self.ordered(sql, columns)
        return (f"WITH {recursive}{', '.join(definitions)} " if definitions else "") + sql

    def view(self, name: str) -> tuple[str, Columns]:
        """A view of the world's tables: "name AS SELECT …"."""
        sql, columns = self.query(1, ())
        return f"{name} AS {sql}", columns

    # -- order

    def ordered(self, sql: str, columns: Columns) -> str:
        keys, is_total = self.keys(columns)
        if not keys:
            return sql
        limit = self.limit() if is_total and self.chance(0.75) else ""
        return f"SELECT * FROM ({sql}) z ORDER BY {keys}{limit}"

    def keys(self, columns: Columns) -> tuple[str, bool]:
        """Positions to order by; whether equal rows by them are the same rows."""
        numbers = [n for n, (_, family) in enumerate(columns, start=1) if family not in (OUT, BOOL)]
        is_total = len(numbers) == len(columns)
        self.random.shuffle(numbers)
        ways = ("", "", " DESC", *((" NULLS FIRST", " DESC NULLS LAST") if self.words.nulls_order else ()))
        return ", ".join(f"{n}{self.pick(*ways)}" for n in numbers), is_total

    def limit(self) -> str:
        count = self.pick(1, 2, 3, 5, 5, 10, 10) if self.chance(0.9) else self.pick(0, 100)
        offset = self.pick("", "", "", " OFFSET 1", " OFFSET 2", " OFFSET 5", " OFFSET 20")
        if offset and self.words.offset_alone and self.chance(0.15):
            return offset
        return f" LIMIT {count}{offset}"

    # -- queries

    def query(self, depth: int, outer: Scope) -> tuple[str, Columns]:
        if depth > 1 and self.chance(0.17):
            return self.set_operation(depth, outer)
        return self.select(depth, outer)

    def set_operation(self, depth: int, outer: Scope) -> tuple[str, Columns]:
        families = [self.pick(INT, INT, INT, TEXT, NUM, DATE, REAL) for _ in range(self.pick(1, 1, 2, 3))]
        families = [f if self.words.has(f) else INT for f in families]
        names = [self.fresh("c") for _ in families]
        operators = ["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"]
        operators += ["EXCEPT ALL", "INTERSECT ALL"] if self.words.all_sets else []
        parts = self.words.set_arms_in_parentheses

        def arm() -> str:
            text = self.plain_select(families, outer, depth - 1, names)
            return f"({text})" if parts else text

        text = f"{arm()} {self.random.choice(operators)} {arm()}"
        if self.chance(0.25):
            text = (
                f"({text}) {self.random.choice(operators)} {arm()}" if parts else f"{text} UNION ALL {arm()}"
            )
        return text, tuple(zip(names, families, strict=True))

    def plain_select(
        self, families: Sequence[str], outer: Scope, depth: int, names: Sequence[str] = ()
    ) -> str:
        """A SELECT of columns of these families."""
        source, scope = self.source(depth)
        items = [self.value(scope, family, self.pick(0, 0, 1)) for family in families]
        shown = [f"{item} AS {name}" for item, name in zip(items, names, strict=True)] if names else items
        distinct = "DISTINCT " if self.chance(0.12) else ""
        text = f"SELECT {distinct}{', '.join(shown)} FROM {source}{self.where(scope, depth, outer)}"
        if names and self.chance(0.1) and self.words.limit_in_arms:
            text += f" ORDER BY {self.keys(tuple(zip(names, families, strict=True)))[0]}{self.limit()}"
        return text

    def select(self, depth: int, outer: Scope) -> tuple[str, Columns]:
        source, scope = self.source(depth)
        where = self.where(scope, depth, outer)
        roll = self.random.random()
        if roll < 0.33:
            return self.grouped(source, scope, where, depth)
        if roll < 0.43:
            return self.windowed(source, scope, where)
        items, columns = [], []
        for _ in range(self.pick(1, 2, 2, 3, 4)):
            sql, family = self.shown(scope, depth)
            name = self.fresh("c")
            items.append(f"{sql} AS {name}")
            columns.append((name, family))
        distinct = "DISTINCT " if self.chance(0.18) else ""
        text = f"SELECT {distinct}{', '.join(items)} FROM {source}{where}"
        keys, is_total = self.keys(tuple(columns))
        if is_total and keys and not distinct and self.words.distinct_on and self.chance(0.08):
            return self.first_of_each(items, source, where, keys), tuple(columns)
        if depth < 3 and is_total and self.chance(0.15):
            first = self.order_first(scope) if not distinct and self.chance(0.25) else ""
            text += f" ORDER BY {first}{keys}{self.limit()}"
        return text, tuple(columns)

    def order_first(self, scope: Scope) -> str:
        """Something that is not shown, before the keys that are: the value of a subquery or of the row."""
        if self.chance(0.5):
            return f"{self.scalar(INT, scope, 0)}, "
        column = self.column(scope, INT, TEXT, DATE)
        return f"{self.value(scope, column.family, 1)}{self.pick('', ' DESC')}, " if column else ""

    def first_of_each(self, items: Sequence[str], source: str, where: str, keys: str) -> str:
        """DISTINCT ON some of the items by which all is ordered, so that the first row is known of each."""
        positions = [int(key.split()[0]) for key in keys.split(", ")]
        on = [items[at - 1].rpartition(" AS ")[0] for at in positions[: self.pick(1, 1, 2)]]
        if any(map(_LITERAL.fullmatch, on)):  # DuckDB's error
            return f"SELECT {', '.join(items)} FROM {source}{where}"
        text = f"SELECT DISTINCT ON ({', '.join(on)}) {', '.join(items)} FROM {source}{where} ORDER BY {keys}"
        return text + (self.limit() if self.chance(0.3) else "")

    def windowed(self, source: str, scope: Scope, where: str) -> tuple[str, Columns]:
        """Rows that tie are alike in what is shown, so that any order of them gives the same."""
        part, order = self.column(scope), self.column(scope, INT, TEXT, DATE, NUM)
        if part is None or order is None:
            return f"SELECT count(*) AS c0 FROM {source}{where}", (("c0", INT),)
        p, o, pick = part.sql, order.sql, self.pick
        by = f"ORDER BY {o}{pick('', ' DESC')}"
        over = pick(f"PARTITION BY {p}", f"PARTITION BY {p} {by}", f"PARTITION BY {p} {by}", by)
        number = self.column(scope, INT)
        n = number.sql if number is not None else "1"
        calls = [("count(*)", INT), (f"count({p})", INT), (f"max({o})", order.family)]
        calls.append((f"sum({n})", INT if self.words.name in ("duckdb", "sqlite") else NUM))
        names = [self.fresh("c") for _ in range(3)]
        items = [(p, part.family), (o, order.family)]
        if "ORDER" in over:
            ranks = [("rank()", INT), ("dense_rank()", INT)]
            if "PARTITION" in over or p == o:
                ranks += [
                    ("row_number()", INT),
                    (f"lag({o})", order.family),
                    (f"first_value({o})", order.family),
                ]
            elif self.chance(0.5):
                items = [(o, order.family)]
                ranks += [("row_number()", INT), (f"lead({o})", order.family), ("ntile(2)", INT)]
            calls = self.random.choice((calls, ranks, ranks))
        call, family = self.random.choice(calls)
        if "ORDER" in over and self.chance(0.3):
            over, call, family = self.framed(over, order)
            if "PARTITION" not in over:  # rows that tie may differ in what else is shown
                items = [(o, order.family)]
        items.append((f"{call} OVER ({over})", family))
        shown = ", ".join(f"{sql} AS {name}" for (sql, _), name in zip(items, names, strict=False))
        text = f"SELECT {shown} FROM {source}{where}"
        if self.words.qualify and self.chance(0.3):
            text += f" QUALIFY {call} OVER ({over}) {pick('> 1', '= 1', '<= 2')}" if family == INT else ""
        return text, tuple((name, f) for (_, f), name in zip(items, names, strict=False))

    def framed(self, over: str, order: Col) -> tuple[str, str, str]:
        """A window with a frame, and a call over it that reads what is ordered by: in that ties are alike."""
        pick = self.pick
        starts = ("UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW")
        frame = f"{pick(*starts)} AND {pick('CURRENT ROW', '1 FOLLOWING', 'UNBOUNDED FOLLOWING')}"
        unit = "ROWS"
        if self.chance(0.3):
            frame, unit = f"{pick('UNBOUNDED PRECEDING', 'CURRENT ROW')} AND UNBOUNDED FOLLOWING", "RANGE"
        elif self.chance(0.4) and order.family == INT and self.words.name != "sqlite":
            unit = "RANGE"
        calls = [("count(*)", INT), (f"min({order.sql})", order.family), (f"max({order.sql})", order.family)]
        if order.family == INT:
            calls.append((f"sum({order.sql})", INT if self.words.name in ("duckdb", "sqlite") else NUM))
        call, family = self.random.choice(calls)
        return f"{over} {unit} BETWEEN {frame}", call, family

    def recursive(self) -> tuple[str, str, Columns]:
        name, table = self.fresh("w"), self.random.choice(list(self.tables))
        columns = [column for column, family in self.tables[table] if family == INT] or ["NULL"]
        x, y = self.random.choice(columns), self.random.choice(columns)
        start = f"SELECT {self.words.as_big.format(x)} AS k, 1 AS n FROM {table}"
        cast = self.words.as_big.format("e." + y if y != "NULL" else y)
        step = (
            f"SELECT {cast}, {name}.n + 1 FROM {name} JOIN {table} e ON e.{x} = {name}.k WHERE {name}.n < 3"
        )
        if x == "NULL":
            step = f"SELECT {cast}, n + 1 FROM {name} WHERE n < 3"
        return f"{name}(k, n) AS ({start} UNION {step})", name, (("k", INT), ("n", INT))

    # -- FROM

    def source(self, depth: int) -> tuple[str, list[Col]]:
        text, scope = self.item(depth)
        is_using = False
        for _ in range(self.pick(0, 0, 1, 1, 1, 2, 2, 3) if depth > 1 else self.pick(0, 0, 0, 1)):
            if is_using:
                break
            if depth > 1 and self.words.lateral and self.chance(0.06):
                text, scope = self.with_lateral(text, scope)
                continue
            other, more = self.item(depth)
            kind = self.kind()
            if kind in ("CROSS JOIN", ","):
                text, scope = f"{text} {kind} {other}", [*scope, *more]
                continue
            shared = [c.name for c in scope if any(c.name == m.name and c.family == m.family for m in more)]
            single = [
                n for n in shared if sum(c.name == n for c in scope) == 1 == sum(m.name == n for m in more)
            ]
            if single and "SEMI" not in kind and "ANTI" not in kind and self.chance(0.12):
                name = self.random.choice(single)
                text, is_using = f"{text} {kind} {other} USING ({name})", True
                merged = Col(name, next(c.family for c in scope if c.name == name), name)
                scope = [merged, *(c for c in (*scope, *more) if c.name != name)]
                continue
            common = {c.name for c in scope} & {m.name for m in more}
            is_natural = self.words.using and kind in NATURAL and self.chance(0.06)
            if is_natural and len(single) == len(common) > 0:
                text, is_using = f"{text} NATURAL {kind} {other}", True
                merged_all = [
                    Col(name, next(c.family for c in scope if c.name == name), name) for name in single
                ]
                scope = [*merged_all, *(c for c in (*scope, *more) if c.name not in single)]
                continue
            text += f" {kind} {other} ON {self.on(scope, more, depth)}"
            if kind not in ("SEMI JOIN", "ANTI JOIN"):
                scope = [*scope, *more]
        return text, scope

    def kind(self) -> str:
        if self.chance(0.07):
            return self.pick("CROSS JOIN", "CROSS JOIN", ",")
        if self.words.semi_join and self.chance(0.1):
            return self.pick("SEMI JOIN", "ANTI JOIN")
        return self.pick(
            "JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN",
            "FULL JOIN" if self.words.full_join else "LEFT JOIN",
        )  # fmt: skip

    def with_lateral(self, text: str, scope: list[Col]) -> tuple[str, list[Col]]:
        alias = self.fresh("q")
        sql, columns = self.select(1, scope)
        join = self.pick(f", LATERAL ({sql}) {alias}", f" LEFT JOIN LATERAL ({sql}) {alias} ON TRUE")
        return text + join, [*scope, *self.aliased(alias, columns)]

    def item(self, depth: int) -> tuple[str, list[Col]]:
        alias, roll = self.fresh("q"), self.random.random()
        if depth > 1 and roll < 0.24:
            is_grouped = self.chance(0.4)
            sql, columns = self.group_table(depth - 1) if is_grouped else self.query(depth - 1, ())
            return f"({sql}) {alias}", self.aliased(alias, columns)
        if self.ctes and roll < 0.46:
            name, columns = self.random.choice(self.ctes)
            return f"{name} {alias}", self.aliased(alias, columns)
        if roll > 0.97 and self.words.lateral:
            rows = ", ".join(
                f"({self.literal(INT)}, {self.pick('NULL', self.literal(TEXT))})" for _ in range(3)
            )
            return f"(VALUES {rows}) {alias}(k, s)", self.aliased(alias, (("k", INT), ("s", TEXT)))
        name = self.random.choice(list(self.tables))
        return f"{name} {alias}", self.aliased(alias, self.tables[name])

    def on(self, left: Scope, right: Scope, depth: int) -> str:
        text = self.linked(left, right)
        if text is None:
            return self.pick("1 = 1", self.plain([*left, *right]))
        if self.chance(0.2):
            more = self.linked(left, right)
            text += f" {self.pick('AND', 'AND', 'OR')} {more}"
        if self.chance(0.15):
            text = f"({text}) AND {self.predicate([*left, *right], min(depth - 1, 1))}"
        elif depth > 2 and self.chance(0.04):
            text = f"({text}) AND {self.with_subquery([*left, *right], 1)}"
        return text

    def linked(self, left: Scope, right: Scope) -> str | None:
        """A comparison of a column of each side: of two keys, or of a child and its parent, more often."""
        pairs = [(x, y) for x in left for y in right if x.family == y.family and x.family not in (OUT, BOOL)]
        if self.words.name == "mysql" and self.chance(0.06):
            pairs += [(x, y) for x in left for y in right if {x.family, y.family} == {INT, TEXT}]
        if not pairs:
            return None
        weights = [6 if x.name == y.name == "k" else 3 if x.name == y.name else 1 for x, y in pairs]
        weights = [
            w + 3 * ({x.name, y.name} in ({"n", "id"}, {"c", "id"}))
            for w, (x, y) in zip(weights, pairs, strict=True)
        ]
        x, y = self.random.choices(pairs, weights)[0]
        if self.chance(0.04):
            v, w = self.random.choice(pairs)
            return f"({x.sql}, {v.sql}) {self.pick('=', '=', '=', '<>')} ({y.sql}, {w.sql})"
        operator = self.pick(*["{} = {}"] * 10, "{} < {}", "{} >= {}", self.words.same)
        return operator.format(x.sql, y.sql)

    def where(self, scope: Scope, depth: int, outer: Scope) -> str:
        parts = []
        if outer and (link := self.linked(scope, outer)) is not None and self.chance(0.9):
            parts.append(link)
        if self.chance(0.36):
            parts.append(self.predicate(scope, depth))
        if self.chance(0.1):
            parts.append(self.predicate([*scope, *outer], 0))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    # -- subqueries of expressions

    def scalar(self, family: str, outer: Scope, depth: int) -> str:
        """One row: an aggregate without groups, though of groups, perhaps."""
        if depth > 0 and self.chance(0.2) and (text := self.group_scalar(family, outer)) is not None:
            return text
        source, scope = self.source(1)
        where = self.where(scope, depth, outer if self.chance(0.6) else ())
        column = self.column(scope, family)
        call = self.pick("min", "max")
        item = f"{call}({column.sql})" if column is not None else f"{call}({self.literal(family)})"
        if family == INT and self.chance(0.4):
            item = self.pick("count(*)", f"count({item.partition('(')[2][:-1]})")
        return f"(SELECT {item} FROM {source}{where})"

    def listed(self, families: Sequence[str], outer: Scope, depth: int) -> str:
        if self.chance(0.25) and (text := self.group_list(families, outer, depth)) is not None:
            return text
        if self.chance(0.06):
            return self.first_of_list(families)
        return self.plain_select(families, outer, depth)

    def first_of_list(self, families: Sequence[str]) -> str:
        """The first rows of a query, in a derived table: MariaDB has no LIMIT in what IN compares with."""
        columns = tuple((self.fresh("c"), family) for family in families)
        text = self.plain_select(families, (), 0, [name for name, _ in columns])
        shown = ", ".join(name for name, _ in columns)
        keys, is_total = self.keys(columns)
        ordered = (
            f"SELECT * FROM ({text}) {self.fresh('q')} ORDER BY {keys}{self.limit()}" if is_total else text
        )
        return f"SELECT {shown} FROM ({ordered}) {self.fresh('q')}"

    def exists(self, outer: Scope, depth: int) -> str:
        if self.chance(0.2):
            return self.group_exists(outer, depth)
        source, scope = self.source(self.pick(1, 1, 2))
        return f"SELECT {self.pick('1', '*')} FROM {source}{self.where(scope, depth, outer)}"


def _known(world: World) -> dict[str, list[Any]]:
    """Values of the tables' rows, each as often as it occurs."""
    kinds = {INT: int, NUM: Decimal, DATE: date}
    known: dict[str, list[Any]] = {}
    for table in world.tables:
        for row in table.rows:
            for name, value in zip(table.names, row, strict=False):  # a VIRTUAL key comes last
                if type(value) is kinds.get(FAMILY[name]):
                    known.setdefault(FAMILY[name], []).append(value)
    return known

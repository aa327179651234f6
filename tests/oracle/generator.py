"""Random SELECTs that one database determines: the same seed gives the same statement.

Every statement is free of luck: LIMIT only under an order of all columns, no row numbers among
ties, no sums whose order shows. Values are small, so that nothing overflows, and NULL is common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

T = TypeVar("T")

INT, TEXT, REAL, BOOL = "int", "text", "real", "bool"


@dataclass(frozen=True)
class Vocabulary:
    """What statements are made of: tables with a weight come more often, `keys` are joined on more often."""

    tables: dict[str, tuple[tuple[str, str], ...]]
    weights: dict[str, int]
    keys: frozenset[str]
    texts: tuple[str, ...]
    integers: tuple[int, ...]


def columns_of(text: str) -> tuple[tuple[str, str], ...]:
    """Columns in short: "k x t:text" are two integers and a text."""
    return tuple((word.partition(":")[0], word.partition(":")[2] or INT) for word in text.split())


LETTERS = Vocabulary(
    tables={
        "a": columns_of("k x v t:text"),
        "b": columns_of("k x v"),
        "c": columns_of("k"),
        "t": columns_of("k id g1:text g2 v f:real s:text"),
        "e": columns_of("src dst"),
        "o": columns_of("id c v"),
        "n": columns_of("c name:text region:text"),
        "r": columns_of("c label:text"),
        "one_row": columns_of("x"),
        "nothing": columns_of("k x"),
        "t1": columns_of("p q w"),
        "t2": columns_of("p q w"),
        "rg": columns_of("k v"),
        "ls": columns_of("region:text v"),
    },
    # The tables that share a sharding come more often, for they are what colocation is about.
    weights={"a": 6, "b": 6, "c": 3, "t": 5, "e": 2, "o": 3, "n": 3, "r": 2, "t1": 2, "t2": 2},
    keys=frozenset(("k", "src", "id", "p", "q", "region")),
    texts=("'x'", "'y'", "'n'", "'Ann'", "'eu'", "'a'", "'two'"),
    integers=(0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10, 20, -1),
)

SHOP = Vocabulary(
    tables={
        "users": columns_of("id name:text grp score:real"),
        "orders": columns_of("oid uid status:text"),
        "items": columns_of("oid line sku:text qty"),
        "events": columns_of("uid kind:text val:real"),
        "logs": columns_of("id lvl:text msg:text"),
        "cities": columns_of("code:text country:text pop"),
        "sales": columns_of("region:text amount"),
        "temps": columns_of("n"),
        "cells": columns_of("i j v"),
        "countries": columns_of("code:text name:text people"),
        "colors": columns_of("id name:text"),
        "settings": columns_of("k:text v:text"),
        "few": columns_of("id v"),
        "hollow": columns_of("id v s:text"),
        "paid": columns_of("oid uid"),
        "totals": columns_of("uid n"),
        "people": columns_of("id name:text"),
        "places": columns_of("code:text name:text"),
    },
    weights={"users": 6, "orders": 7, "items": 6, "events": 3, "cells": 2, "countries": 2, "colors": 2},
    keys=frozenset(("id", "uid", "oid", "code", "region", "n", "i", "j")),
    texts=("'ann'", "'bob'", "'paid'", "'fr'", "'eu'", "'pen'", "'view'", "'par'"),
    integers=(0, 1, 1, 2, 3, 3, 4, 5, 8, 10, 13, 20, 30, 126, 149, 267, -1),
)
WORLDS = {"letters": LETTERS, "shop": SHOP}


@dataclass(frozen=True)
class Col:
    """A column in scope: how it is written, its type, and its bare name."""

    sql: str
    family: str
    name: str


class Generator:
    def __init__(self, seed: int, words: Vocabulary) -> None:
        self.random = Random(seed)
        self.words = words
        self.count = 0
        self.ctes: list[tuple[str, tuple[tuple[str, str], ...]]] = []

    def statement(self) -> str:
        """One statement, with its CTEs."""
        definitions = []
        for _ in range(self.pick([0, 0, 0, 1, 1, 2])):
            sql, columns = self.query(2, ())
            name = self.fresh("w")
            how = self.pick(["", "", "", "MATERIALIZED ", "NOT MATERIALIZED "])
            definitions.append(f"{name} AS {how}({sql})")
            self.ctes.append((name, columns))
        sql, columns = self.query(3, ())
        if self.chance(0.35):
            order = ", ".join(
                f"{n}{self.pick(['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'])}"
                for n in range(1, len(columns) + 1)
            )
            limit = self.pick(["", " LIMIT 3", " LIMIT 5 OFFSET 1", " LIMIT 2", " OFFSET 1"])
            sql = f"SELECT * FROM ({sql}) z ORDER BY {order}{limit}"
        return (f"WITH {', '.join(definitions)} " if definitions else "") + sql

    # -- chance -----------------------------------------------------------------------

    def pick(self, items: Sequence[T]) -> T:
        return self.random.choice(items)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # -- queries ----------------------------------------------------------------------

    def query(self, depth: int, outer: Sequence[Col]) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A SELECT or a set operation: its text, and its columns' names and types."""
        if depth > 1 and self.chance(0.16):
            return self.set_operation(depth, outer)
        return self.select(depth, outer)

    def set_operation(self, depth: int, outer: Sequence[Col]) -> tuple[str, tuple[tuple[str, str], ...]]:
        types = tuple(self.pick([INT, INT, TEXT]) for _ in range(self.pick([1, 1, 2])))
        names = tuple(self.fresh("c") for _ in types)
        arms = [self.plain_select(depth - 1, outer, types, names) for _ in range(self.pick([2, 2, 2, 3]))]
        operator = self.pick(
            ["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL", "INTERSECT ALL"]
        )
        text = f"({arms[0]})"
        for arm in arms[1:]:
            text = f"({text} {operator} ({arm}))" if len(arms) > 2 else f"{text} {operator} ({arm})"
        return text.removeprefix("(").removesuffix(")") if len(arms) > 2 else text, tuple(
            zip(names, types, strict=True)
        )

    def plain_select(
        self, depth: int, outer: Sequence[Col], types: Sequence[str], names: Sequence[str]
    ) -> str:
        source, columns = self.source(depth)
        items = [
            f"{self.typed(columns, family)} AS {name}" for family, name in zip(types, names, strict=True)
        ]
        distinct = "DISTINCT " if self.chance(0.15) else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {source}{self.where(columns, depth, outer)}"

    def select(self, depth: int, outer: Sequence[Col]) -> tuple[str, tuple[tuple[str, str], ...]]:
        source, columns = self.source(depth)
        where = self.where(columns, depth, outer)
        shape = self.random.random()
        if shape < 0.3:
            return self.grouped(source, columns, where, depth)
        if shape < 0.42:
            return self.windowed(source, columns, where)
        items, result = [], []
        for _ in range(self.pick([1, 2, 2, 3])):
            sql, family = self.expression(columns, depth)
            name = self.fresh("c")
            items.append(f"{sql} AS {name}")
            result.append((name, family))
        distinct = "DISTINCT " if self.chance(0.2) else ""
        text = f"SELECT {distinct}{', '.join(items)} FROM {source}{where}"
        if depth < 3 and self.chance(0.12):
            order = ", ".join(map(str, range(1, len(items) + 1)))
            text += f" ORDER BY {order} LIMIT {self.pick([1, 3, 6])}"
        return text, tuple(result)

    def grouped(
        self, source: str, columns: Sequence[Col], where: str, depth: int
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        groups = []
        for _ in range(self.pick([0, 1, 1, 1, 2])):
            column = self.keyish(columns)
            groups.append(
                (f"{column.sql} % 3", INT)
                if column.family == INT and self.chance(0.15)
                else (column.sql, column.family)
            )
        groups = list(dict.fromkeys(groups))
        items = [(sql, family) for sql, family in groups if self.chance(0.85)]
        items += [self.aggregate(columns) for _ in range(self.pick([1, 1, 2, 3]))]
        named = [(sql, self.fresh("c"), family) for sql, family in items]
        text = f"SELECT {', '.join(f'{sql} AS {name}' for sql, name, _ in named)} FROM {source}{where}"
        if groups:
            list_ = ", ".join(sql for sql, _ in groups)
            how = self.random.random()
            if how < 0.1:
                list_ = f"ROLLUP ({list_})"
            elif how < 0.17:
                list_ = f"CUBE ({list_})"
            elif how < 0.23:
                list_ = f"GROUPING SETS (({list_}), ({groups[0][0]}), ())"
            text += f" GROUP BY {list_}"
        if self.chance(0.25):
            text += f" HAVING {self.pick(['count(*) > 1', 'count(*) >= 1', self.having(columns)])}"
        return text, tuple((name, family) for _, name, family in named)

    def having(self, columns: Sequence[Col]) -> str:
        column = self.typed_column(columns, INT)
        return f"max({column}) > {self.integer()}" if column else "count(*) < 4"

    def windowed(
        self, source: str, columns: Sequence[Col], where: str
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        part = self.keyish(columns)
        order = self.pick(columns)
        over = self.pick(
            [
                f"PARTITION BY {part.sql}",
                f"PARTITION BY {part.sql} ORDER BY {order.sql}",
                f"ORDER BY {order.sql}",
                "",
            ]
        )
        number = self.typed_column(columns, INT) or "1"
        ranks = ["rank()", "dense_rank()"] if "ORDER" in over else []
        function = self.pick([*ranks, "count(*)", f"sum({number})", f"max({number})", f"count({part.sql})"])
        item, name = self.pick(columns), self.fresh("c")
        text = f"SELECT {item.sql} AS {name}, {function} OVER ({over}) AS {name}w FROM {source}{where}"
        if self.chance(0.3):
            text += f" QUALIFY {function} OVER ({over}) {self.pick(['> 1', '= 1', '<= 2'])}"
        return text, ((name, item.family), (f"{name}w", INT))

    # -- FROM -------------------------------------------------------------------------

    def source(self, depth: int) -> tuple[str, list[Col]]:
        """A FROM clause and the columns in scope."""
        text, columns = self.item(depth)
        for _ in range(self.pick([0, 0, 1, 1, 1, 2]) if depth > 1 else self.pick([0, 0, 1])):
            other, more = self.item(depth)
            if self.chance(0.1):
                text = f"{text} CROSS JOIN {other}"
            else:
                kind = self.pick(["JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
                if self.chance(0.14):
                    kind = self.pick(["SEMI JOIN", "ANTI JOIN"])
                on = self.join_condition(columns, more)
                text = f"{text} {kind} {other} ON {on}"
                if kind in ("SEMI JOIN", "ANTI JOIN"):
                    continue
            columns = [*columns, *more]
        return text, columns

    def item(self, depth: int) -> tuple[str, list[Col]]:
        alias = self.fresh("q")
        roll = self.random.random()
        if depth > 1 and roll < 0.2:
            sql, columns = self.query(depth - 1, ())
            return f"({sql}) {alias}", self.columns(alias, columns)
        if self.ctes and roll < 0.45:
            name, columns = self.pick(self.ctes)
            return f"{name} {alias}", self.columns(alias, columns)
        if roll > 0.96:
            rows = ", ".join(
                f"({self.integer()}, {self.pick(['NULL', *self.words.texts])})" for _ in range(2)
            )
            return f"(VALUES {rows}) {alias}(k, y)", self.columns(alias, (("k", INT), ("y", TEXT)))
        tables, weights = self.words.tables, self.words.weights
        name = self.random.choices(list(tables), [weights.get(name, 1) for name in tables])[0]
        return f"{name} {alias}", self.columns(alias, tables[name])

    @staticmethod
    def columns(alias: str, columns: Sequence[tuple[str, str]]) -> list[Col]:
        return [Col(f"{alias}.{name}", family, name) for name, family in columns]

    def join_condition(self, left: Sequence[Col], right: Sequence[Col]) -> str:
        pairs = [(x, y) for x in left for y in right if x.family == y.family and x.family in (INT, TEXT)]
        if not pairs:
            return self.pick(["TRUE", f"{self.pick(left).sql} IS NOT NULL"])
        keyed = [(x, y) for x, y in pairs if x.name in self.words.keys and y.name in self.words.keys]
        x, y = self.pick(keyed) if keyed and self.chance(0.65) else self.pick(pairs)
        operator = self.pick(["="] * 8 + ["<", "IS NOT DISTINCT FROM"])
        text = f"{x.sql} {operator} {y.sql}"
        if self.chance(0.2):
            x, y = self.pick(pairs)
            text += f" {self.pick(['AND', 'AND', 'OR'])} {x.sql} = {y.sql}"
        if self.chance(0.12):
            text = f"({text}) AND {self.simple_predicate([*left, *right])}"
        return text

    # -- predicates -------------------------------------------------------------------

    def where(self, columns: Sequence[Col], depth: int, outer: Sequence[Col]) -> str:
        parts = []
        if outer:
            pairs = [(x, y) for x in columns for y in outer if x.family == y.family and x.family != REAL]
            if pairs:
                keyed = [(x, y) for x, y in pairs if x.name in self.words.keys and y.name in self.words.keys]
                x, y = self.pick(keyed) if keyed and self.chance(0.6) else self.pick(pairs)
                parts.append(f"{x.sql} {self.pick(['=', '=', '=', '=', '<'])} {y.sql}")
        if self.chance(0.4):
            parts.append(self.predicate(columns, depth))
        if self.chance(0.08):
            parts.append(self.predicate(columns, depth))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def predicate(self, columns: Sequence[Col], depth: int) -> str:
        roll = self.random.random()
        if roll < 0.12:
            return f"NOT ({self.simple_predicate(columns)})"
        if roll < 0.24:
            return f"({self.simple_predicate(columns)} OR {self.simple_predicate(columns)})"
        if depth > 1 and roll < 0.5:
            return self.subquery_predicate(columns, depth)
        return self.simple_predicate(columns)

    def subquery_predicate(self, columns: Sequence[Col], depth: int) -> str:
        maybe_not = self.pick(["", "", "NOT "])
        outer = columns if self.chance(0.4) else ()
        column = self.keyish(columns)
        roll = self.random.random()
        if roll < 0.4:
            sub, inner = self.source(1)
            return f"{maybe_not}EXISTS (SELECT 1 FROM {sub}{self.where(inner, 1, columns)})"
        if roll < 0.75 and column.family in (INT, TEXT):
            sub = self.plain_select(1, outer, (column.family,), (self.fresh("c"),))
            return f"{column.sql} {maybe_not}IN ({sub})"
        if roll < 0.85 and column.family == INT:
            sub = self.plain_select(1, outer, (INT,), (self.fresh("c"),))
            return f"{column.sql} {self.pick(['=', '>', '<='])} {self.pick(['ANY', 'ALL'])} ({sub})"
        return f"{self.typed(columns, INT)} {self.pick(['>', '<=', '='])} {self.scalar(outer)}"

    def scalar(self, outer: Sequence[Col]) -> str:
        """A subquery of exactly one row."""
        source, columns = self.source(1)
        function = self.pick(["max", "min", "count"])
        return f"(SELECT {function}({self.typed(columns, INT)}) FROM {source}{self.where(columns, 1, outer)})"

    def simple_predicate(self, columns: Sequence[Col]) -> str:
        column = self.keyish(columns)
        if self.chance(0.15):
            return f"{column.sql} IS {self.pick(['', 'NOT '])}NULL"
        if column.family == TEXT:
            return self.pick(
                [
                    f"{column.sql} = {self.pick(self.words.texts)}",
                    f"{column.sql} > {self.pick(self.words.texts)}",
                    f"{column.sql} IN ({self.pick(self.words.texts)}, {self.pick(self.words.texts)})",
                    f"lower({column.sql}) = {self.pick(self.words.texts)}",
                ]
            )
        if column.family == INT:
            n = self.integer
            choices: list[Callable[[], str]] = [
                lambda: f"{column.sql} = {n()}",
                lambda: f"{column.sql} >= {n()}",
                lambda: f"{column.sql} <> {n()}",
                lambda: f"{column.sql} {self.pick(['<', '>=', '>'])} {n()}",
                lambda: (
                    f"{column.sql} {self.pick(['', 'NOT '])}IN ({n()}, {n()}, {self.pick([n(), 'NULL'])})"
                ),
                lambda: f"{column.sql} BETWEEN {n()} AND {n()} + 4",
                lambda: f"COALESCE({column.sql}, {n()}) = {n()}",
                lambda: f"{column.sql} IS DISTINCT FROM {n()}",
                lambda: f"{column.sql} % 2 = {self.pick([0, 1])}",
                lambda: f"({column.sql} = {n()}) IS NOT TRUE",
                lambda: f"{column.sql} > {n()}.5",
            ]
            return self.pick(choices)()
        if column.family == REAL:
            return f"{column.sql} {self.pick(['<', '>'])} {self.pick(['2', '0.5', '7.25'])}"
        return f"{column.sql} IS NOT FALSE"

    # -- expressions ------------------------------------------------------------------

    def integer(self) -> str:
        return str(self.pick(self.words.integers))

    def keyish(self, columns: Sequence[Col]) -> Col:
        keys = [column for column in columns if column.name in self.words.keys]
        return self.pick(keys) if keys and self.chance(0.5) else self.pick(columns)

    def typed_column(self, columns: Sequence[Col], family: str) -> str | None:
        fitting = [column for column in columns if column.family == family]
        return self.pick(fitting).sql if fitting else None

    def typed(self, columns: Sequence[Col], family: str) -> str:
        """An expression of a type; a column if there is one. Integers all as BIGINT."""
        column = self.typed_column(columns, family)
        if family == INT:
            return f"{column}::BIGINT" if column else f"{self.integer()}::BIGINT"
        return column or self.pick(self.words.texts)

    def expression(self, columns: Sequence[Col], depth: int) -> tuple[str, str]:
        column = self.keyish(columns)
        roll = self.random.random()
        if roll < 0.62:
            return column.sql, column.family
        if depth > 1 and roll < 0.7:
            outer = columns if self.chance(0.6) else ()
            return self.scalar(outer), INT
        if depth > 1 and roll < 0.73 and column.family == INT:
            sub = self.plain_select(1, (), (INT,), (self.fresh("c"),))
            return f"{column.sql} IN ({sub})", BOOL
        if column.family == INT:
            return self.pick(
                [
                    (f"COALESCE({column.sql}, {self.integer()})", INT),
                    (f"{column.sql} + 1", INT),
                    (f"CASE WHEN {self.simple_predicate(columns)} THEN {column.sql} END", INT),
                    (f"{column.sql} IN ({self.integer()}, {self.integer()})", BOOL),
                    (f"{column.sql} IS NULL", BOOL),
                ]
            )
        if column.family == TEXT:
            return self.pick(
                [
                    (f"COALESCE({column.sql}, 'none')", TEXT),
                    (f"upper({column.sql})", TEXT),
                    (f"length({column.sql})", INT),
                ]
            )
        return f"{self.integer()}", INT

    def aggregate(self, columns: Sequence[Col]) -> tuple[str, str]:
        column = self.keyish(columns)
        number = self.typed_column(columns, INT)
        text = self.typed_column(columns, TEXT)
        choices = [
            ("count(*)", INT),
            (f"count({column.sql})", INT),
            (f"count(DISTINCT {column.sql})", INT),
            (f"min({column.sql})", column.family),
            (f"max({column.sql})", column.family),
        ]
        if number:
            choices += [
                (f"sum({number})", INT),
                (f"avg({number})", REAL),
                (f"sum(DISTINCT {number})", INT),
                (f"bit_xor({number})", INT),
                (f"bool_or({number} > 3)", BOOL),
                (f"sum({number}) FILTER (WHERE {self.simple_predicate(columns)})", INT),
                (f"COALESCE(sum({number}), 0) + count(*)", INT),
                (f"median({number})", REAL),
                (f"stddev_pop({number})", REAL),
            ]
        if text:
            choices += [(f"string_agg({text}, ',' ORDER BY {text})", TEXT)]
        sql, family = self.pick(choices)
        return sql, BOOL if column.family == BOOL and sql.startswith(("min", "max")) else family


def statement(seed: int, world: str = "letters") -> str:
    return Generator(seed, WORLDS[world]).statement()

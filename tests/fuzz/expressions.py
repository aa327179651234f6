"""Values, predicates and aggregates, each of a family; what a dialect has not is not written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from tests.fuzz.collations import COLLATE
from tests.fuzz.data import DATES, MOMENTS, TEXTS
from tests.fuzz.dialects import BOOL, DATE, INT, NUM, NUMBERS, OUT, REAL, TEXT, TIME, Dialect

T = TypeVar("T")
INTEGERS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, -1, -7, 4)


@dataclass(frozen=True)
class Col:
    """A column in scope: how it is written, its family, its bare name."""

    sql: str
    family: str
    name: str


Scope = Sequence[Col]


class Expressions:
    """`outer` are the columns of enclosing queries, which an expression may mention in a subquery."""

    def __init__(self, random: Random, words: Dialect) -> None:
        self.random, self.words, self.made = random, words, 0
        self.texts: Sequence[str] = TEXTS
        self.known: dict[str, Sequence[Any]] = {}
        """Values of a family that the tables have, where there are some."""
        self.patterns = ("'%B'", "'A '", "'%'") if words.name in COLLATE else ()

    # -- chance

    def pick(self, *choices: T) -> T:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def fresh(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}{self.made}"

    def column(self, scope: Scope, *families: str) -> Col | None:
        """A column of one of the families; keys more often."""
        found = (
            [c for c in scope if c.family in families] if families else [c for c in scope if c.family != OUT]
        )
        if not found:
            return None
        weights = [3 if c.name in ("k", "id", "tenant") else 1 for c in found]
        return self.random.choices(found, weights)[0]

    # -- subqueries, which statements.py makes

    def scalar(self, family: str, outer: Scope, depth: int) -> str:
        raise NotImplementedError

    def listed(self, families: Sequence[str], outer: Scope, depth: int) -> str:
        raise NotImplementedError

    def exists(self, outer: Scope, depth: int) -> str:
        raise NotImplementedError

    # -- values

    def literal(self, family: str) -> str:
        pick, words = self.pick, self.words
        known = self.known.get(family) if self.chance(0.5) else None
        match family:
            case "int":
                return str(pick(*(known or INTEGERS)))
            case "num":
                return str(pick(*(known or ("0.5", "1.5", "-2.5", "10.1", "1"))))
            case "text":
                return "'" + pick(*self.texts).replace("'", "''") + "'"
            case "date":
                return words.date_literal.format(pick(*(known or DATES)).isoformat())
            case "time":
                return words.time_literal.format(pick(*MOMENTS).isoformat(" ", "microseconds"))
            case "bool":
                return pick("TRUE", "FALSE")
        return words.as_real.format(pick("0.25", "1.5", "2", "-0.75"))

    def value(self, scope: Scope, family: str, depth: int = 1) -> str:
        """An expression of a family; mostly a column."""
        column = self.column(scope, family)
        if column is not None and (depth <= 0 or self.chance(0.6)):
            return column.sql
        if depth <= 0 or self.chance(0.1):
            return self.literal(family)
        if depth > 1 and self.chance(0.12) and family in (INT, TEXT, DATE):
            return self.scalar(family, scope, depth - 1)
        a, b = self.value(scope, family, depth - 1), self.value(scope, family, depth - 1)
        general: list[Callable[[], str]] = [
            lambda: f"COALESCE({a}, {b})",
            lambda: f"CASE WHEN {self.predicate(scope, 0)} THEN {a} ELSE {b} END",
            lambda: f"CASE WHEN {self.predicate(scope, 0)} THEN {a} END",
            lambda: f"NULLIF({a}, {self.literal(family)})",
        ]
        own = self._own(scope, family, a, b)
        return self.random.choice([*general, *own, *own])()

    def _own(self, scope: Scope, family: str, a: str, b: str) -> list[Callable[[], str]]:
        words, number = self.words, self.literal(INT)
        match family:
            case "int":
                found: list[Callable[[], str]] = [
                    lambda: f"({a} + {number})",
                    lambda: f"({a} - {b})",
                    lambda: f"({words.as_big.format(a)} * {number})",
                    lambda: f"abs({a})",
                    lambda: f"({a} % 3)",
                    lambda: f"-({a})",
                    lambda: words.as_big.format(a),
                ]
                if self.column(scope, TEXT):
                    found.append(lambda: f"length({self.value(scope, TEXT, 0)})")
                if self.column(scope, DATE) and words.booleans:
                    found.append(lambda: f"extract(month FROM {self.value(scope, DATE, 0)})")
                return found
            case "num":
                return [
                    lambda: f"({a} + {b})",
                    lambda: f"({a} * 2)",
                    lambda: f"round({a}, 1)",
                    lambda: words.as_num.format(self.value(scope, INT, 0)),
                ]
            case "text":
                if words.name in COLLATE and self.chance(0.15):
                    return [lambda: f"({a} COLLATE {self.random.choice(COLLATE[words.name])})"]
                return [
                    lambda: words.concat.format(a, b),
                    lambda: f"upper({a})",
                    lambda: f"substr({a}, 1, 1)",
                    lambda: words.as_text.format(self.value(scope, INT, 0)),
                ]
            case "date":
                return [lambda: words.next_day.format(a)]
            case "bool":
                return [lambda: f"({self.predicate(scope, 0)})", lambda: f"NOT {a}"]
            case "real":
                return [
                    lambda: f"({a} * 0.5)",
                    lambda: f"({a} + {b})",
                    lambda: words.as_real.format(self.value(scope, INT, 0)),
                ]
        return []

    def shown(self, scope: Scope, depth: int = 2) -> tuple[str, str]:
        """Something for a select list, and its family."""
        column = self.column(scope)
        if column is not None and self.chance(0.62):
            return column.sql, column.family
        families = [c.family for c in scope if c.family != OUT] or [INT]
        if self.chance(0.1) and self.words.booleans:
            return f"({self.predicate(scope, depth)})", BOOL
        if depth > 1 and self.chance(0.12):
            return self.scalar(INT, scope, depth - 1), INT
        family = self.random.choice(families)
        return self.value(scope, family, depth), family

    # -- predicates

    def predicate(self, scope: Scope, depth: int = 1) -> str:
        roll = self.random.random()
        if depth > 0 and roll < 0.1:
            return f"NOT ({self.predicate(scope, depth - 1)})"
        if depth > 0 and roll < 0.22:
            return f"({self.predicate(scope, depth - 1)} OR {self.predicate(scope, depth - 1)})"
        if depth > 0 and roll < 0.3:
            return f"({self.predicate(scope, depth - 1)} AND {self.predicate(scope, depth - 1)})"
        if depth > 1 and roll < 0.52:
            return self.with_subquery(scope, depth - 1)
        return self.plain(scope)

    def plain(self, scope: Scope) -> str:
        column = self.column(scope)
        if column is None:
            return self.pick("1 = 1", "1 = 0", "NULL IS NULL")
        x, family, pick = column.sql, column.family, self.pick
        y = self.literal
        other = self.column([c for c in scope if c is not column], family)
        choices: list[Callable[[], str]] = [
            lambda: f"{x} IS {pick('', 'NOT ')}NULL",
            lambda: f"{x} {pick('=', '=', '<>')} {y(family)}",
        ]
        if family == BOOL:
            choices.append(lambda: f"{x} IS {pick('', 'NOT ')}{pick('TRUE', 'FALSE')}")
            return self.random.choice(choices)()
        choices += [
            lambda: f"{x} {pick('<', '<=', '>', '>=')} {y(family)}",
            lambda: f"{x} {pick('<', '<=', '>', '>=')} {y(family)}",
            lambda: f"{x} {pick('', '', 'NOT ')}IN ({y(family)}, {y(family)}, {pick(y(family), 'NULL')})",
            lambda: f"{x} {pick('', 'NOT ')}BETWEEN {y(family)} AND {y(family)}",
            lambda: pick(self.words.same, self.words.different).format(x, y(family)),
            lambda: f"COALESCE({x}, {y(family)}) {pick('=', '<', '>=')} {y(family)}",
            lambda: f"{self.value(scope, family, 1)} {pick('=', '<', '>=')} {self.value(scope, family, 1)}",
        ]
        if self.words.booleans:
            choices.append(
                lambda: f"({x} = {y(family)}) IS {pick('', 'NOT ')}{pick('TRUE', 'FALSE', 'NULL')}"
            )
        if family == TEXT:
            choices.append(
                lambda: (
                    f"{x} {pick('', 'NOT ')}LIKE "
                    f"{pick(chr(39) + 'a%' + chr(39), chr(39) + '_' + chr(39), *self.patterns)}"
                )
            )
        if other is not None:
            choices += [lambda: f"{x} {pick('=', '=', '<', '<>', '>=')} {other.sql}"] * 2
        if other is not None and self.chance(0.1):
            choices += [lambda: f"({x}, {y(family)}) {pick('=', '=', '<>')} ({other.sql}, {x})"]
        return self.random.choice(choices)()

    def with_subquery(self, scope: Scope, depth: int) -> str:
        pick = self.pick
        maybe_not = pick("", "", "NOT ")
        roll = self.random.random()
        column = self.column(scope, INT, TEXT, DATE, NUM) or self.column(scope)
        if column is None or roll < 0.35 or column.family == BOOL:
            return f"{maybe_not}EXISTS ({self.exists(scope, depth)})"
        outer = scope if self.chance(0.35) else ()
        if roll < 0.65:
            return f"{column.sql} {maybe_not}IN ({self.listed((column.family,), outer, depth)})"
        if roll < 0.72 and self.words.row_in:
            other = self.column(scope, INT, TEXT)
            if other is not None:
                pair = self.listed((column.family, other.family), outer, depth)
                return f"({column.sql}, {other.sql}) {maybe_not}IN ({pair})"
        if roll < 0.82 and self.words.quantified:
            sub = self.listed((column.family,), outer, depth)
            return f"{column.sql} {pick('=', '>', '<=', '<>')} {pick('ANY', 'ALL')} ({sub})"
        one = self.scalar(column.family, scope if self.chance(0.5) else (), depth)
        return f"{column.sql} {pick('>', '<=', '=')} {one}"

    # -- aggregates

    def aggregate(self, scope: Scope) -> tuple[str, str]:
        """An aggregate and its family."""
        words, column = self.words, self.column(scope)
        if column is None:
            return "count(*)", INT
        x, family = column.sql, column.family
        total = INT if words.name in ("duckdb", "sqlite") else NUM
        found = [("count(*)", INT), (f"count({x})", INT), (f"count(DISTINCT {x})", INT)]
        if family != BOOL:
            found += [(f"min({x})", family), (f"max({x})", family)]
        number = self.column(scope, INT)
        if number is not None:
            n = number.sql if self.chance(0.75) else self.value(scope, INT, 1)
            found += [
                (f"sum({n})", total),
                (f"sum(DISTINCT {n})", total),
                (f"avg({n})", OUT),
                (f"COALESCE(sum({n}), 0) + count(*)", total),
                (words.bits.format(number.sql), INT if words.name != "mysql" else OUT),
            ]
            if words.medians:
                found += [(f"median({n})", OUT), (f"stddev_samp({n})", OUT), (f"var_pop({n})", OUT)]
                found += [(f"bool_or({n} > 3)", BOOL), (f"list({n} ORDER BY {n})", OUT)]
            if words.filters:
                found.append((f"sum({n}) FILTER (WHERE {self.plain(scope)})", total))
                found.append((f"count(*) FILTER (WHERE {self.plain(scope)})", INT))
            found.append((f"sum(CASE WHEN {self.plain(scope)} THEN 1 ELSE 0 END)", total))
        other = self.column(scope, NUM)
        if other is not None:
            found += [(f"sum({other.sql})", NUM), (f"avg({other.sql})", OUT)]
        real = self.column(scope, REAL)
        if real is not None:
            found += [(f"sum({real.sql})", REAL), (f"avg({real.sql})", OUT)]
        text = self.column(scope, TEXT)
        if text is not None:
            found.append((words.listed.format(text.sql), TEXT if words.name != "sqlite" else INT))
        flag = self.column(scope, BOOL)
        if flag is not None and words.booleans:
            found.append((f"{self.pick('bool_and', 'bool_or')}({flag.sql})", BOOL))
        return self.random.choice(found)


__all__ = ["DATE", "NUMBERS", "TIME", "Col", "Expressions", "Scope"]

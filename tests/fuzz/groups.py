"""Grouped queries: their aggregates, HAVING, and groups that are read again: joined, grouped once more, asked
by a subquery of IN, EXISTS or a scalar.

    SELECT g.k AS c1, sum(h.x2) AS c2
    FROM (SELECT q1.k, max(q1.a) AS x1 FROM t0 q1 GROUP BY q1.k) g JOIN (SELECT q2.k, …) h ON g.k = h.k
    GROUP BY g.k HAVING sum(h.x2) > (SELECT count(*) FROM t1 q3 WHERE q3.k = g.k)
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.dialects import BOOL, DATE, INT, NUM, OUT, TEXT
from tests.fuzz.expressions import Col, Expressions, Scope

Columns = tuple[tuple[str, str], ...]
"""Names and families."""


class Groups(Expressions):
    # -- FROM and WHERE, which statements.py makes

    def source(self, depth: int) -> tuple[str, list[Col]]:
        raise NotImplementedError

    def where(self, scope: Scope, depth: int, outer: Scope) -> str:
        raise NotImplementedError

    def linked(self, left: Scope, right: Scope) -> str | None:
        raise NotImplementedError

    @staticmethod
    def aliased(alias: str, columns: Columns) -> list[Col]:
        return [Col(f"{alias}.{name}", family, name) for name, family in columns]

    # -- a SELECT

    def grouped(self, source: str, scope: Scope, where: str, depth: int) -> tuple[str, Columns]:
        groups: dict[str, str] = {}
        keys: list[Col] = []
        for _ in range(self.pick(0, 1, 1, 1, 2, 2, 3)):
            column = self.column(scope)
            if column is not None:
                is_made = column.family == INT and self.chance(0.12)
                groups[f"({column.sql} % 3)" if is_made else column.sql] = column.family
                keys += [] if is_made else [column]
        items = [(sql, family) for sql, family in groups.items() if self.chance(0.85)]
        items += [self.aggregate(scope) for _ in range(self.pick(1, 1, 2, 3))]
        by = f" GROUP BY {self.grouping(list(groups))}" if groups else ""
        has_sets = any(word in by for word in ("ROLLUP", "CUBE", "SETS"))
        if has_sets and self.chance(0.4):
            items.append((f"GROUPING({self.random.choice(list(groups))})", INT))
        outer = [] if has_sets else keys
        if outer and depth > 1 and self.chance(0.08):
            items.append((self.scalar(INT, outer, 1), INT))
        named = [(sql, self.fresh("c"), family) for sql, family in items]
        text = f"SELECT {', '.join(f'{sql} AS {name}' for sql, name, _ in named)} FROM {source}{where}{by}"
        if self.chance(0.25):
            text += f" HAVING {self.having(scope, depth, outer)}"
        return text, tuple((name, family) for _, name, family in named)

    def grouping(self, groups: list[str]) -> str:
        every, roll = ", ".join(groups), self.random.random()
        if not self.words.grouping_sets or roll > 0.2:
            return every
        if roll < 0.08:
            return f"ROLLUP ({every})"
        if roll < 0.13:
            return f"CUBE ({every})"
        return f"GROUPING SETS (({every}), ({groups[0]}), ())"

    # -- HAVING

    def having(self, scope: Scope, depth: int, outer: Scope = ()) -> str:
        """`outer`: group keys and columns of enclosing queries, which its subqueries may mention."""
        text = self.of_a_group(scope, depth, outer)
        if self.chance(0.15):
            text += f" {self.pick('AND', 'AND', 'OR')} {self.of_a_group(scope, depth, outer)}"
        return text

    def of_a_group(self, scope: Scope, depth: int, outer: Scope) -> str:
        pick, column = self.pick, self.column(scope, INT, TEXT, DATE, NUM)
        choices = [f"count(*) {pick('>', '>=', '=', '<')} {pick(1, 2, 3)}"]
        if column is not None:
            x, family = column.sql, column.family
            choices += [
                f"{pick('min', 'max')}({x}) {pick('>', '<=', '=')} {self.literal(family)}",
                f"count(DISTINCT {x}) > 1",
                f"max({x}) IS NULL",
            ]
            if depth > 1:
                of = outer if self.chance(0.5) else ()
                choices.append(f"max({x}) {pick('>', '<=', '=')} {self.scalar(family, of, 1)}")
                choices.append(f"count({x}) {pick('>', '<=', '=')} {self.scalar(INT, outer, 1)}")
            if depth > 1 and self.words.finds_aggregates:
                choices.append(f"min({x}) {pick('', '', 'NOT ')}IN ({self.listed((family,), (), 1)})")
        if depth > 1 and (key := self.column(outer, INT, TEXT, DATE)) is not None:
            choices += [
                f"{pick('', '', 'NOT ')}EXISTS ({self.exists(outer, 1)})",
                f"{key.sql} {pick('', '', 'NOT ')}IN ({self.listed((key.family,), (), 1)})",
            ]
        return self.random.choice(choices)

    # -- groups as a table

    def group_table(self, depth: int) -> tuple[str, Columns]:
        """Groups whose keys are still called so, that tables and other groups may be joined by them."""
        source, scope = self.source(depth)
        keys = {column.name: column for column in (self.column(scope), self.column(scope)) if column}
        if self.chance(0.6):
            keys = dict(list(keys.items())[:1])
        items = [(key.sql, name, key.family) for name, key in keys.items()]
        for _ in range(self.pick(1, 1, 2)):
            call, family = self.aggregate(scope)
            items.append((call, self.fresh("x"), family))
        text = f"SELECT {', '.join(f'{sql} AS {name}' for sql, name, _ in items)} FROM {source}"
        text += self.where(scope, depth, ())
        if keys:
            text += f" GROUP BY {', '.join(key.sql for key in keys.values())}"
        if self.chance(0.2):
            text += f" HAVING {self.having(scope, depth, list(keys.values()))}"
        return text, tuple((name, family) for _, name, family in items)

    # -- groups in subqueries

    def group_list(self, families: Sequence[str], outer: Scope, depth: int) -> str | None:
        """For IN: groups' keys, and what is least or greatest in them; None where a family has no column."""
        source, scope = self.source(1)
        where = self.where(scope, depth, outer)
        items, keys = [], []
        for family in families:
            column = self.column(scope, family)
            if column is None:
                return None
            if self.chance(0.4) and family != BOOL:
                items.append(f"{self.pick('min', 'max')}({column.sql})")
            else:
                items.append(column.sql)
                keys.append(column)
        other = self.column(scope)
        if other is not None and (not keys or self.chance(0.3)):
            keys.append(other)
        by = ", ".join(dict.fromkeys(key.sql for key in keys))
        having = f" HAVING {self.having(scope, depth, outer)}" if self.chance(0.6) else ""
        return f"SELECT {', '.join(items)} FROM {source}{where} GROUP BY {by}{having}" if by else None

    def group_exists(self, outer: Scope, depth: int) -> str:
        """For EXISTS: a group, or all rows as one, that HAVING may leave out."""
        source, scope = self.source(1)
        where = self.where(scope, depth, outer)
        column = self.column(scope)
        by = f" GROUP BY {column.sql}" if column is not None and self.chance(0.75) else ""
        having = f" HAVING {self.having(scope, depth, outer)}" if not by or self.chance(0.8) else ""
        return f"SELECT {self.pick('1', 'count(*)')} FROM {source}{where}{by}{having}"

    def group_scalar(self, family: str, outer: Scope) -> str | None:
        """One row: an aggregate of groups, or of rows with HAVING; None where no column is of the family."""
        if self.chance(0.5):
            alias = self.fresh("g")
            text, columns = self.group_table(1)
            source, scope = f"({text}) {alias}", self.aliased(alias, columns)
        else:
            source, scope = self.source(1)
        column = self.column([c for c in scope if c.family != OUT], family)
        if column is None:
            return None
        x = column.sql
        calls = [f"min({x})", f"max({x})"]
        if family == INT:
            calls += ["count(*)", f"count(DISTINCT {x})", f"sum({x})", f"COALESCE(max({x}), 0) - count(*)"]
        having = f" HAVING {self.having(scope, 0, outer)}" if self.chance(0.3) else ""
        return f"(SELECT {self.random.choice(calls)} FROM {source}{self.where(scope, 0, outer)}{having})"

"""Random rows: few distinct values, so that joins meet and groups repeat; NULLs, skew, tables without rows.

Doubles are quarters, so that a sum of them is exact in whatever order it is made; where the products have
them some are NaN, infinite, or zero below zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from tests.fuzz import collations
from tests.fuzz.collations import fold
from tests.fuzz.dialects import BOOL, DATE, INT, NUM, REAL, TEXT, TIME, Dialect
from tests.fuzz.schema import FAMILY, Row, Sharding, Table

TEXTS = ("a", "b", "ab", "B", "x y", "", "10", "it's", "é")
ODD = ("1", "2", "x", "1.5", " 3", 2.5, 1.0, 2.0**53, 2**53 + 1, b"1", b"")
"""What a column of SQLite's may hold, whatever its type is."""
DATES = (
    date(2024, 1, 31),
    date(2024, 2, 29),
    date(2024, 12, 31),
    date(2025, 1, 1),
    date(2025, 3, 30),
    date(2025, 6, 15),
)
MOMENTS = (
    datetime(2024, 1, 31, 13, 5, 9, 250000),
    datetime(2024, 2, 29),
    datetime(2025, 1, 1, 0, 0, 0, 1),
    datetime(2025, 6, 15, 23, 59, 59),
)
ALSO_STEP = 126
"""A multiple of every MOD: an id that is the key plus it is in the key's slot."""


class Data:
    """`is_dense`: the tables are small, and all columns of a family have the same few values. `is_large`:
    some have hundreds of rows, and many values."""

    def __init__(
        self,
        random: Random,
        shardings: Sequence[Sharding],
        words: Dialect,
        products: Sequence[str] = (),
        *,
        is_dense: bool = False,
        is_large: bool = False,
    ) -> None:
        self.random = random
        self.is_large = is_large
        self.values: dict[str, list[Any]] | None = {} if is_dense else None
        """In a dense world, each family's."""
        self.has_odd = words.name == "sqlite" and random.random() < 0.5
        self.has_nan = set(products) <= {"duckdb", "parquet", "postgres"}
        self.texts: Sequence[str] = TEXTS
        if words.name in collations.TYPES:
            self.texts = random.sample(collations.TEXTS, random.choice((4, 6, 8, 12)))
        self.members = {s.name: s.values for s in shardings if s.rule == "DIRECTORY"}

    def fill(self, tables: Sequence[Table]) -> list[Table]:
        filled: dict[str, Table] = {}
        for table in tables:
            filled[table.name] = replace(table, rows=tuple(self.rows(table, filled)))
        return list(filled.values())

    def rows(self, table: Table, filled: dict[str, Table]) -> list[Row]:
        random = self.random
        sizes = (0, 1, 3, 6, 10, 10, 10, 15, 15, 15, 15, 25, 25)
        if self.is_large:
            sizes = (0, 5, 40, 150, 400, 1200)
        size = random.choice(sizes if self.values is None else (2, 3, 4, 5, 6, 8))
        placed = set(re.findall(r"\w+", f"{table.place} {table.keys}"))
        makers = {
            column.split()[0]: self.maker(
                column,
                is_free=column.split()[0] not in placed,
                is_exact=f"EXACT LOWER ({column.split()[0]})" in table.place,
            )
            for column in table.columns.split(", ")
        }
        if table.place.startswith("SHARD WITH"):
            parent = filled[table.place.split()[2]]
            ids = [row[parent.names.index("id")] for row in parent.rows]
            column = table.place.split()[4]
            makers[column] = self.foreign(ids, is_null=0.0 if f"{column} " in _required(table) else 0.1)
        if "VIRTUAL" in table.place:
            sharding = table.place.split()[2]
            makers["tenant"] = lambda: random.choice(self.members[sharding])
        found = []
        for number in range(size):
            row = {name: make() for name, make in makers.items()}
            if "id" in row:
                key = table.place.partition("(")[2].partition(")")[0]
                also = "ALSO BY" in table.place
                row["id"] = (row[key] or 0) + ALSO_STEP * number if also else number * 3 + 1
                if "UNIQUE ACROSS" not in table.place and not also and random.random() < 0.4:
                    row["id"] = number % 5  # it repeats
                if "NOT NULL" not in _column(table, "id") and random.random() < 0.06:
                    row["id"] = None
            found.append(row)
        if "PRIMARY KEY" in table.keys:
            names = [n.strip() for n in table.keys.partition("(")[2].rstrip(")").split(",")]
            found = list({tuple(fold(row[n]) for n in names): row for row in found}.values())
        return [tuple(row.values()) for row in found]

    def foreign(self, ids: list[Any], is_null: float) -> Callable[[], Any]:
        """Values of a child: mostly those of a parent."""
        random = self.random
        known = [i for i in ids if i is not None] or [1]

        def make() -> Any:
            if random.random() < is_null:
                return None
            return random.choice(known) if random.random() < 0.9 else random.randrange(500, 505)

        return make

    def maker(self, column: str, *, is_free: bool = False, is_exact: bool = False) -> Callable[[], Any]:
        """Values of a column; some are nearly always the same. `is_free`: it is of no key. `is_exact`: its
        texts are spelled in one way."""
        random = self.random
        name, type_ = column.split()[:2]
        null = (
            0.0
            if "NOT NULL" in column
            else random.choice((0.0, 0.0, 0.1, 0.1, 0.1, 0.3, 0.3, 1.0 if name not in "ka" else 0.1))
        )
        family = FAMILY[name]
        pool = list(self.texts if family == TEXT else _pool(family, type_))
        if self.is_large and random.random() < 0.7:
            pool += _more(family, type_, random.choice((20, 200, 2000)))
        if self.values is not None:
            pool = list(self.values.setdefault(family, random.sample(pool, min(len(pool), 3))))
        if is_exact:
            pool = list(collations.SPELLED)
        if family == REAL and self.has_nan and random.random() < 0.6:
            pool += random.sample((math.nan, math.inf, -math.inf, -0.0), 2)
        if self.has_odd and is_free and name != "id" and random.random() < 0.5:
            pool += random.sample(ODD, 3)
        if random.random() < 0.5:
            pool = random.sample(pool, min(len(pool), random.choice((1, 2, 4))))
        often = random.choice(pool) if random.random() < 0.25 else None

        def make() -> Any:
            if random.random() < null:
                return None
            return often if often is not None and random.random() < 0.7 else random.choice(pool)

        return make


def _pool(family: str, type_: str) -> Sequence[Any]:
    match family:
        case "int":
            return (-7, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10)
        case "num":
            return [Decimal(text) for text in ("0.5", "1.0", "1.5", "-2.5", "10.1", "0.0", "99.9")]
        case "date":
            return DATES
        case "time":
            return MOMENTS
        case "bool":
            return (True, False)
    return (0.0, 0.25, 1.0, 1.5, -0.75, 2.0, 7.25)


def _more(family: str, type_: str, size: int) -> Sequence[Any]:
    """Up to so many further values of a column."""
    match family:
        case "int":
            size = min(size, 100) if type_ == "TINYINT" else size
            return range(11, 11 + size)
        case "num":
            return [Decimal(n) / 10 for n in range(size)]
        case "text":
            return [f"{'abcxyz'[n % 6]}{n}" for n in range(size)]
        case "date":
            return [date(2024, 1, 1) + timedelta(n) for n in range(min(size, 700))]
        case "time":
            return [datetime(2024, 1, 1) + timedelta(hours=n) for n in range(size)]
    return ()


def _column(table: Table, name: str) -> str:
    return next(column for column in table.columns.split(", ") if column.split()[0] == name)


def _required(table: Table) -> str:
    return " ".join(c for c in table.columns.split(", ") if "NOT NULL" in c) + " "


FAMILIES = (INT, NUM, TEXT, DATE, TIME, BOOL, REAL)

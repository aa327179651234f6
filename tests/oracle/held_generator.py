"""Random statements over the world HELD: whatever SQLite files may be asked to compute, and its neighbours.

Each has a value of every family beside constants of every kind, written out or as parameters. The same seed
gives the same statement. Nothing in it is luck: LIMIT only under an order of all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from random import Random
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

INT, BIG, DEC, WIDE, REAL, TEXT, DAY, MOMENT, BOOL = [
    "int",
    "big",
    "dec",
    "wide",
    "real",
    "text",
    "day",
    "moment",
    "bool",
]
COLUMNS = {
    "h": {
        "k": BIG,
        "i": INT,
        "b": BIG,
        "u": INT,
        "d": DEC,
        "w": WIDE,
        "x": REAL,
        "s": TEXT,
        "t": TEXT,
        "day": DAY,
        "seen": MOMENT,
        "ok": BOOL,
    },
    "g": {"k": BIG, "i": INT, "s": TEXT, "d": DEC, "day": DAY, "ok": BOOL},
    "r": {"i": INT, "s": TEXT, "d": DEC},
}
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    7,
    100,
    2**31 - 1,
    -(2**31),
    2**31,
    2**53,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**70,
)
DECIMALS = (
    "0.0",
    "2.5",
    "10.00",
    "10.01",
    "10.005",
    "-0.5",
    "1.10",
    "9999999999.99",
    "0.0001",
    "99999999999.9",
)
REALS = (0.1, 2.5, -0.5, 1e15, 5.0, 1e308, 9007199254740993.0)
TEXTS = (
    "",
    "a",
    "A",
    "ab",
    "abc",
    "ABC",
    "á",
    "ß",
    "z",
    "z ",
    "a%b",
    "a_b",
    "it's",
    "5",
    "\U0001f388",
    "a\0b",
    "\uffff",
    "a\\",
    "\\%",
    ":p1 %s",
)
PATTERNS = (
    "a%",
    "%b",
    "%a%",
    "a%c",
    "A%",
    "%",
    "",
    "a",
    "á%",
    "%\U0001f388",
    "a_",
    "%a%b%",
    "z %",
    "\uffff%",
    "it's%",
    "a\\",
    "\\%",
    "_",
    "__%",
    "%|%",
)
DAYS = (date(1, 1, 1), date(2024, 2, 29), date(2025, 1, 5), date(2025, 1, 6), date(9999, 12, 31))
MOMENTS = (
    datetime(1, 1, 1),
    datetime(2025, 1, 5),
    datetime(2025, 1, 5, 10),
    datetime(2025, 1, 5, 10, 0, 0, 500000),
    datetime(2025, 1, 5, 10, 0, 0, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
)
OPERATORS = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")


class Statement(NamedTuple):
    sql: str
    params: list[Any]


class Col(NamedTuple):
    sql: str
    family: str


def statement(seed: int) -> Statement:
    """One statement and its parameters."""
    made = _Held(Random(seed))
    sql = made.statement()
    return Statement(sql, made.params)


class _Held:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.params: list[Any] = []

    def pick(self, items: Sequence[T]) -> T:
        return self.random.choice(items)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    # -- statements -------------------------------------------------------------------

    def statement(self) -> str:
        if self.chance(0.25):
            return self.groups_of_one()
        sql, width = self.query()
        roll = self.random.random()
        if roll < 0.12:
            other, _ = self.union_arm()
            sql = f"{other[0]} {self.pick(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT'])} {other[1]}"
            width = 2
        if self.chance(0.4):
            how = [self.pick(["", " DESC", " NULLS FIRST", " DESC NULLS LAST"]) for _ in range(width)]
            order = ", ".join(f"{n + 1}{how[n]}" for n in range(width))
            sql = (
                f"SELECT * FROM ({sql}) z ORDER BY {order}{self.pick(['', ' LIMIT 3', ' LIMIT 2 OFFSET 1'])}"
            )
        return sql

    def groups_of_one(self) -> str:
        """All values of one expression: what is computed otherwise shows."""
        columns = self.columns("q", "h")
        family = self.pick([TEXT, TEXT, INT, BIG, DEC, WIDE, REAL, DAY, MOMENT, BOOL])
        made = self.computed(self.pick([c for c in columns if c.family == family]))
        return f"SELECT {made} AS c0, count(*) AS c1 FROM h q GROUP BY 1"

    def union_arm(self) -> tuple[tuple[str, str], int]:
        self.params.clear()
        families = [self.pick([INT, TEXT, DEC, DAY, BOOL]) for _ in range(2)]
        arms = []
        for table in (self.pick(["h", "g"]), self.pick(["h", "g"])):
            columns = [Col(f"{table}.{name}", family) for name, family in COLUMNS[table].items()]
            items = [self.pick([c for c in columns if c.family == f]).sql for f in families]
            arms.append(
                f"SELECT {items[0]} AS c0, {items[1]} AS c1 FROM {table} WHERE {self.predicate(columns)}"
            )
        return (arms[0], arms[1]), 2

    def query(self) -> tuple[str, int]:
        columns, source = self.source()
        # Parameters are in the order of the text.
        select, group, width = self.selected(columns)
        where = f" WHERE {self.predicates(columns)}" if self.chance(0.75) else ""
        having = ""
        if group is not None and self.chance(0.2):
            having = (
                f" HAVING {self.pick(['count(*) > 1', 'min(q.i) > 0', 'max(q.s) < ' + self.text_literal()])}"
            )
        group_by = f" GROUP BY {group}" if group else ""
        return f"SELECT {select} FROM {source}{where}{group_by}{having}", width

    def source(self) -> tuple[list[Col], str]:
        roll = self.random.random()
        mine = self.columns("q", "h")
        if roll < 0.5:
            return mine, "h q"
        if roll < 0.85:
            kind = self.pick(["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "SEMI JOIN", "ANTI JOIN"])
            on = self.pick(["q.k = p.k", "q.k = p.k", "q.k = p.k AND q.s = p.s", "q.k = p.k AND q.i > p.i"])
            both = mine if kind.startswith(("SEMI", "ANTI")) else mine + self.columns("p", "g")
            return both, f"h q {kind} g p ON {on}"
        on = self.pick(["q.i = p.i", "q.s = p.s", "q.d = p.d", "q.d = p.i"])
        return mine + self.columns("p", "r"), f"h q {self.pick(['JOIN', 'LEFT JOIN'])} r p ON {on}"

    @staticmethod
    def columns(alias: str, table: str) -> list[Col]:
        return [Col(f"{alias}.{name}", family) for name, family in COLUMNS[table].items()]

    def selected(self, columns: list[Col]) -> tuple[str, str | None, int]:
        """The select list, GROUP BY (None: not grouped), and how many columns."""
        roll = self.random.random()
        if roll < 0.45:
            count = self.pick([1, 2, 3])
            items = [
                self.expression(columns) if self.chance(0.3) else self.pick(columns).sql for _ in range(count)
            ]
            named = ", ".join(f"{item} AS c{n}" for n, item in enumerate(items))
            return ("DISTINCT " if self.chance(0.35) else "") + named, None, count
        keys = [self.pick(columns).sql for _ in range(self.pick([0, 1, 1, 2]))]
        if keys and self.chance(0.2):
            keys[0] = "q.i % 3"
        items = [*keys, *(self.aggregate(columns) for _ in range(self.pick([1, 2, 3])))]
        named = ", ".join(f"{item} AS c{n}" for n, item in enumerate(items))
        return named, ", ".join(keys), len(items)

    # -- predicates -------------------------------------------------------------------

    def predicates(self, columns: list[Col]) -> str:
        joined = self.predicate(columns)
        for _ in range(self.pick([0, 0, 1, 2])):
            joined = f"{joined} {self.pick(['AND', 'AND', 'OR'])} {self.predicate(columns)}"
        return joined

    def predicate(self, columns: list[Col]) -> str:
        roll = self.random.random()
        if roll < 0.1:
            return f"NOT ({self.simple(columns)})"
        if roll < 0.15:
            truth = self.pick(["TRUE", "FALSE", "NULL", "NOT TRUE", "NOT FALSE", "NOT NULL"])
            return f"(({self.simple(columns)}) IS {truth})"
        if roll < 0.22:
            return f"({self.simple(columns)} OR {self.simple(columns)})"
        if roll < 0.3 and columns[0].sql.startswith("q."):
            maybe = self.pick(["", "NOT "])
            extra = self.pick(["", " AND e.s = q.s", " AND e.i < q.i", " AND e.d > 10.00"])
            return f"{maybe}EXISTS (SELECT 1 FROM g e WHERE e.k = q.k{extra})"
        if roll < 0.34 and columns[0].sql.startswith("q."):
            return f"q.k {self.pick(['', 'NOT '])}IN (SELECT e.k FROM g e WHERE e.ok)"
        return self.simple(columns)

    def simple(self, columns: list[Col]) -> str:
        column = self.pick(columns)
        if self.chance(0.08):
            return f"{column.sql} IS {self.pick(['', 'NOT '])}NULL"
        if self.chance(0.12):
            alike = [c for c in columns if c.family == column.family]
            return f"{column.sql} {self.pick(OPERATORS)} {self.pick(alike).sql}"
        roll = self.random.random()
        sql, maybe_not = column.sql, self.pick(["", "", "NOT "])
        if roll < 0.15:
            return (
                f"{sql} {maybe_not}BETWEEN {self.constant(column.family)} AND {self.constant(column.family)}"
            )
        if roll < 0.3:
            members = [self.constant(column.family) for _ in range(self.pick([1, 2, 3]))]
            return f"{sql} {maybe_not}IN ({', '.join([*members, *(['NULL'] if self.chance(0.15) else [])])})"
        if column.family == TEXT and roll < 0.65:
            return f"{sql} {maybe_not}LIKE {self.value(self.pick(PATTERNS))}"
        if column.family == BOOL and roll < 0.7:
            return self.pick([sql, f"NOT {sql}", f"{sql} IS TRUE", f"{sql} IS NOT FALSE"])
        if column.family in (INT, BIG) and roll < 0.4:
            return f"{sql} % {self.pick([2, 3, 7])} = {self.pick([0, 1, -1])}"
        if roll < 0.5:
            default, other = self.constant(column.family), self.constant(column.family)
            return f"COALESCE({sql}, {default}) {self.pick(OPERATORS)} {other}"
        if self.chance(0.12):
            return f"{self.computed(column)} {self.pick(OPERATORS)} {self.computed(column)}"
        if self.chance(0.15):
            return f"{self.constant(column.family)} {self.pick(OPERATORS)} {sql}"
        return f"{sql} {self.pick(OPERATORS)} {self.constant(column.family)}"

    # -- constants --------------------------------------------------------------------

    def constant(self, family: str) -> str:
        if self.chance(0.03):
            return "NULL"
        if family in (INT, BIG):
            choices: list[Any] = [self.pick(NUMBERS)] * 6
            choices += [Decimal(self.pick(DECIMALS)), str(self.pick(NUMBERS[:8])), self.pick(REALS)]
            return self.value(self.pick(choices))
        if family in (DEC, WIDE):
            choices = [Decimal(self.pick(DECIMALS))] * 4 + [self.pick(NUMBERS[:11]), self.pick(DECIMALS)]
            return self.value(self.pick([*choices, self.pick(REALS)]))
        if family == REAL:
            return self.value(self.pick([*REALS, 1, 5, Decimal("2.5"), Decimal("0.1")]))
        if family == DAY:
            return self.value(self.pick([*DAYS, *DAYS, *map(str, DAYS), *MOMENTS[:3]]))
        if family == MOMENT:
            return self.value(self.pick([*MOMENTS, *MOMENTS, *map(str, MOMENTS[1:4]), *DAYS]))
        if family == BOOL:
            return self.value(self.pick([True, False]))
        return self.value(self.pick(TEXTS))

    def text_literal(self) -> str:
        return self.literal(self.pick(TEXTS[:8]))

    def value(self, value: Any) -> str:
        """Written out, or as a parameter."""
        if self.chance(0.3) and not (isinstance(value, int) and abs(value) >= 2**63):
            self.params.append(value)
            return "?"
        return self.literal(value)

    @staticmethod
    def literal(value: Any) -> str:
        if isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            parts = value.split("\0")
            quoted = ["'" + part.replace("'", "''") + "'" for part in parts]
            return " || chr(0) || ".join(quoted) if len(parts) == 1 else f"({' || chr(0) || '.join(quoted)})"
        if isinstance(value, datetime):
            return f"TIMESTAMP '{value}'"
        if isinstance(value, date):
            return f"DATE '{value}'"
        return f"{value!r}::DOUBLE" if isinstance(value, float) else str(value)

    # -- expressions ------------------------------------------------------------------

    def expression(self, columns: list[Col]) -> str:
        column = self.pick(columns)
        roll = self.random.random()
        if roll < 0.3:
            return f"COALESCE({column.sql}, {self.constant(column.family)})"
        if roll < 0.45:
            return f"CASE WHEN {self.simple(columns)} THEN {column.sql} END"
        if roll < 0.6:
            return f"NULLIF({column.sql}, {self.constant(column.family)})"
        if roll < 0.8:
            return f"({self.simple(columns)})"
        return self.computed(column)

    def computed(self, column: Col) -> str:
        """What is computed otherwise in SQLite, most of it, and what is not."""
        sql, family = column.sql, column.family
        if family == TEXT:
            return self.pick(
                [
                    *(f"lower({sql})", f"upper({sql})", f"({sql} || 'x')", f"trim({sql})", f"left({sql}, 1)"),
                    f"substring({sql}, {self.pick([1, 2, 3])}, {self.pick([0, 1, 2])})",
                    f"substring({sql}, {self.pick([1, 2])})",
                ]
            )
        if family == INT:
            return self.pick(
                [
                    f"{sql}::BIGINT",
                    f"{sql} % 3",
                    f"({sql}::BIGINT * 3)",
                    f"-{sql}::BIGINT",
                    f"abs({sql}::BIGINT)",
                ]
            )
        if family == BIG:
            return self.pick([sql, f"{sql} % 7", f"{sql}::DOUBLE"])
        if family in (DEC, WIDE):
            return self.pick(
                [
                    *(sql, f"{sql}::DOUBLE", f"round({sql}, 1)", f"{sql}::INTEGER", f"-{sql}"),
                    f"({sql} {self.pick('+-*')} {self.pick([1, 2, 5_000_000_000, '0.25', '1.0000'])})",
                    f"(1 - {sql})",
                    f"({sql} {self.pick('+-*')} q.{self.pick('iudb')})",
                ]
            )
        if family in (DAY, MOMENT):
            return self.pick(
                [
                    *(f"{sql}::TIMESTAMP", f"{sql}::DATE::TIMESTAMP"),
                    f"date_trunc('month', {sql})::TIMESTAMP",
                    f"extract({self.pick(['year', 'month', 'day'])} FROM {sql})",
                    f"year({sql})",
                ]
            )
        return sql

    def aggregate(self, columns: list[Col]) -> str:
        column = self.pick(columns)
        call = self.pick(
            [
                *("count(*)", f"count({column.sql})", f"count(DISTINCT {column.sql})"),
                *(f"min({column.sql})", f"max({column.sql})"),
            ]
        )
        numbers = [c for c in columns if c.family in (INT, BIG, DEC, WIDE)]
        number = self.pick(numbers).sql
        if self.chance(0.4):
            call = self.pick(
                [f"sum({number})", f"avg({number})", f"sum(DISTINCT {number})", f"median({number})"]
            )
        elif self.chance(0.1):
            call = f"sum({self.computed(self.pick(numbers))})"
        elif self.chance(0.1):
            call = self.pick([f"bool_and({self.simple(columns)})", f"bool_or({self.simple(columns)})"])
        if self.chance(0.15):
            call += f" FILTER (WHERE {self.simple(columns)})"
        return call

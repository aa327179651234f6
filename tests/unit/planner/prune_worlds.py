"""Tables with their rows and slots, and random predicates over them, for the tests of pruning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from random import Random

import sqlglot
from sqlglot import exp

from shardwise.catalog.keys import evaluate, family_of
from shardwise.catalog.model import Column, Sharded, Sharding, ShardKey, Table
from shardwise.catalog.shardings import (
    MAXVALUE,
    Grid,
    Part,
    ShardingFunction,
    SlotSet,
    Unknown,
    Value,
    canonical,
    exceptions,
    full,
    hash_function,
    interval,
    list_,
    mod,
    range_,
    ring,
    two_level,
)
from shardwise.catalog.types import type_family


@dataclass(frozen=True, slots=True)
class Pair:
    """A function of two columns that is no grid, as a third party may add."""

    size: int = 5
    arity: int = 2
    is_ordered: bool = False

    def slot(self, key: Sequence[Value]) -> int:
        return hash(tuple(0 if part is None else part for part in key)) % self.size

    def slots(self, key: Sequence[Part]) -> SlotSet:
        if any(isinstance(part, Unknown) or not isinstance(part, int | None) for part in key):
            return full(self.size)
        return 1 << self.slot(key)  # type: ignore[arg-type]

    def slots_between(self, low: Value, high: Value) -> SlotSet:
        return full(self.size)

    def slots_only(self, values: Sequence[Value]) -> SlotSet:
        return 0

    def labels(self, slot: int) -> tuple[int]:
        return (slot,)

    def sql(self, dialect: str) -> str | None:
        return None


NUMBERS = (
    "3 '3' 3.0 2.5 3e0 '03' -7 -0.0 0 '1.00' NULL 9007199254740993 9007199254740992e0 CAST(3|AS|BIGINT) "
    "CAST('3'|AS|VARCHAR) 1+2 TRUE '|3' 0.1 16777217 1 2 4 5 -1 1.00 CAST(1.5|AS|DECIMAL(10,2)) 1e308 "
    "0.1e0 2.9999999999999999 x.v -(2) (4) CAST(NULL|AS|INT) 'a'"
).replace("x.v", "t.x")
TEXTS = (
    "'a' 'A' '1' 1 '01' 1.0 'abc' '' NULL CAST(1|AS|VARCHAR) 'a|' 'ab' 'é' 'é' TRUE t.s CAST('a'|AS|VARCHAR)"
)
DATES = (
    "'2026-01-01' '2026-1-1' DATE|'2026-02-28' TIMESTAMP|'2026-02-01|00:00:00' NULL '2026-03-01' "
    "TIMESTAMP|'2026-02-01|12:00:00' '2026-02-01|12:00:00' CAST('2026-03-31'|AS|DATE) DATE|'2026-03-01' "
    "TIMESTAMP|'2026-01-31|23:59:59.999999' '2026-01-31|23:59:59.9999999' CAST('2026-02-01'|AS|TIMESTAMP)"
)
OTHERS = {
    "BOOLEAN": "TRUE FALSE 1 0 'true' 'f' NULL",
    "UUID": "'6F9619FF-8B86-D011-B42D-00CF4FC964FF' '6f9619ff8b86d011b42d00cf4fc964ff' NULL "
    "CAST('00000000-0000-0000-0000-000000000001'|AS|UUID) '00000000-0000-0000-0000-000000000001'",
    "BLOB": r"'abc' '\x61bc' NULL CAST('abc'|AS|BLOB) ''",
    "ENUM('b', 'a', 'c')": "'a' 'b' 'c' NULL CAST('a'|AS|VARCHAR)",
}


def literals(type_text: str) -> list[str]:
    """Constants (and a few that are none) to compare a column of a type with."""
    family = type_family(type_text, "duckdb").value
    text = OTHERS.get(type_text) or (
        TEXTS if family == "text" else DATES if family in ("date", "timestamp") else NUMBERS
    )
    return [word.replace("|", " ") for word in text.split()]


def values(type_text: str) -> list[str]:
    """Values to have rows of."""
    match type_family(type_text, "duckdb").value:
        case "int":
            return [str(number) for number in range(-8, 9)] + [
                "NULL",
                "NULL",
                "9007199254740993",
                "9007199254740992",
            ]
        case "decimal":
            return ["1.00", "1.50", "2.5", "3", "-7", "0", "0.1", "NULL", "2.9999999999", "4", "5"]
        case "float":
            return [
                "1",
                "0.1",
                "-0.0",
                "0",
                "3",
                "2.5",
                "'nan'",
                "'inf'",
                "NULL",
                "16777216",
                "9007199254740992",
            ]
        case "text":
            return [
                "'a'",
                "'A'",
                "'1'",
                "'01'",
                "'1.0'",
                "' 1'",
                "'abc'",
                "''",
                "NULL",
                "'ab'",
                "'é'",
                "'é'",
                "'3'",
            ]
        case "date" | "timestamp":
            days = ["2026-01-01", "2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01", "2026-03-31"]
            if type_text != "DATE":
                days += ["2026-01-31 23:59:59", "2026-02-01 12:00:00"]
            if type_text == "TIMESTAMP":
                days += ["2026-01-31 23:59:59.999999"]
            return [f"'{day}'" for day in days] + ["NULL"]
        case _:
            return [
                word for word in literals(type_text) if word[0] in "'NTF" and word not in ("'f'", "'true'")
            ]


@dataclass(frozen=True)
class World:
    """A table t(id, columns…, x INT, s VARCHAR), sharded."""

    name: str
    columns: tuple[tuple[str, str], ...]
    function: ShardingFunction
    keys: tuple[ShardKey, ...]

    @property
    def all_columns(self) -> tuple[tuple[str, str], ...]:
        own = dict(self.columns)
        return self.columns + tuple((n, t) for n, t in (("x", "INT"), ("s", "VARCHAR")) if n not in own)

    @property
    def table(self) -> Table:
        columns = tuple(Column(name=name, type=text) for name, text in self.all_columns)
        return Table(name=self.name, columns=columns, placement=Sharded(sharding="f", keys=self.keys))

    @property
    def sharding(self) -> Sharding:
        levels = ("a", "b") if isinstance(self.function, Grid) else ("a",)
        return Sharding(name="f", function=self.function, levels=levels, on="s{a}")

    def slot(self, row: dict[str, Value], key: ShardKey) -> int:
        """The slot of a row by one key: what a writer would do."""
        families = {name: type_family(text, "duckdb") for name, text in self.all_columns}
        row = {name: canonical(value, families[name]) for name, value in row.items()}
        found = [canonical(evaluate(part, row), family_of(part, families)) for part in key.parts]
        return int(found[0] or 0) if key.by_slot else self.function.slot(found)  # type: ignore[arg-type]


def _expr(*texts: str, by_slot: bool = False) -> ShardKey:
    return ShardKey(parts=tuple(sqlglot.parse_one(text, read="duckdb") for text in texts), by_slot=by_slot)


def worlds() -> list[World]:
    """Every sharding function, over keys of every type."""
    k = ShardKey.of("k")
    months = interval("month", date(2026, 1, 1), date(2026, 3, 31))
    small = two_level(mod(2), mod(3))
    days = interval("day", date(2026, 1, 1), date(2026, 3, 31))
    uuids = range_(["11111111-0000-0000-0000-000000000001", MAXVALUE])
    dates = range_(["2026-02-01", MAXVALUE])
    found = [World(f"mod_{t}", (("k", t),), mod(3), (k,)) for t in ("INT", "BIGINT", "HUGEINT", "TINYINT")]
    hashed = ["INT", "DECIMAL(10,2)", "DECIMAL(30,10)", "REAL", "DOUBLE", "VARCHAR", "DATE", "TIMESTAMP"]
    hashed += ["TIMESTAMP_S", *OTHERS]
    algorithms = ["crc32", "murmur3", "xxhash64", "fnv1a", "md5", "java_string"]
    found += [
        World(f"hash_{n}", (("k", t),), hash_function(algorithms[n % 6], 4), (k,))
        for n, t in enumerate(hashed)
    ]
    found += [
        World("java_long", (("k", "BIGINT"),), hash_function("java_long", 4), (k,)),
        World("cobar_long", (("k", "INT"),), hash_function("cobar_long", 4), (k,)),
        World("range_int", (("k", "INT"),), range_([-2, 2, 3, MAXVALUE]), (k,)),
        World("range_float", (("k", "DOUBLE"),), range_([0, 2.5, MAXVALUE]), (k,)),
        World("range_decimal", (("k", "DECIMAL(10,2)"),), range_([1, 3, MAXVALUE]), (k,)),
        World("range_text", (("k", "VARCHAR"),), range_(["1", "a", "ab", MAXVALUE]), (k,)),
        World("range_uuid", (("k", "UUID"),), uuids, (k,)),
        World("range_date", (("k", "DATE"),), dates, (k,)),
        World("range_timestamp", (("k", "TIMESTAMP"),), dates, (k,)),
        World("list_int", (("k", "INT"),), list_([[1, 2, None], [3], [4, 5, 6]], True), (k,)),
        World("list_text", (("k", "VARCHAR"),), list_([["a"], ["A", "1"]], True), (k,)),
        World("list_enum", (("k", "ENUM('b', 'a', 'c')"),), list_([["a"], ["b"], ["c"]], True), (k,)),
        World("interval_date", (("k", "DATE"),), months, (k,)),
        World("interval_timestamp", (("k", "TIMESTAMP"),), days, (k,)),
        World("ring", (("k", "INT"),), ring("murmur3", 8, ["s0", "s1", "s2"]), (k,)),
        World("except_mod", (("k", "INT"),), exceptions(mod(3), [3, -1]), (k,)),
        World("except_range", (("k", "INT"),), exceptions(range_([2, MAXVALUE]), [3]), (k,)),
        World("grid", (("k", "INT"), ("b", "DATE")), two_level(mod(3), months), (ShardKey.of("k", "b"),)),
        World("grid_range", (("k", "INT"), ("b", "INT")), two_level(range_([2, MAXVALUE]), mod(2)),
              (ShardKey.of("k", "b"),)),
        World("pair", (("k", "INT"), ("b", "INT")), Pair(), (ShardKey.of("k", "b"),)),
        World("shift", (("k", "BIGINT"),), mod(3), (_expr("k >> 1"),)),
        World("negative", (("k", "INT"),), mod(5), (_expr("(k % 3)"),)),
        World("lower", (("k", "VARCHAR"),), hash_function("crc32", 3), (_expr("left(k, 1)"),)),
        World("grid_expr", (("k", "INT"), ("b", "DATE")), small, (_expr("k + 1", "month(b)"),)),
        World("also_by", (("k", "INT"),), mod(3), (k, _expr("((k % 3) + 3) % 3", by_slot=True))),
        World("two_columns", (("k", "INT"), ("b", "INT")), mod(5), (_expr("k * 2 + b"),)),
    ]  # fmt: skip
    return found


# ------------------------------------------------------------------ predicates

_COMPARE = ["=", "=", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]


def predicate(world: World, pick: Random, depth: int = 3) -> str:
    """A random predicate over the world's columns, most of it about its key."""
    shape = pick.choice(["leaf", "leaf", "leaf", "AND", "AND", "OR", "NOT"]) if depth else "leaf"
    if shape == "leaf":
        return _leaf(world, pick)
    if shape == "NOT":
        return f"NOT ({predicate(world, pick, depth - 1)})"
    return f"({predicate(world, pick, depth - 1)} {shape} {predicate(world, pick, depth - 1)})"


def _leaf(world: World, pick: Random) -> str:
    types = dict(world.all_columns)
    names = [name for name, _ in world.columns] * 3 + ["x", "s"]
    name = pick.choice(names)
    column, pool = f"t.{name}", literals(types[name])
    shapes = [exp_text(part) for key in world.keys for part in key.parts if not isinstance(part, exp.Column)]
    if shapes and pick.random() < 0.4:
        column, pool = pick.choice(shapes), ["1", "2", "'a'", "NULL", "0", "-1"]
    one, second, third = pick.choice(pool), pick.choice(pool), f"t.{pick.choice(names)}"
    many = ", ".join(pick.choice(pool) for _ in range(pick.randint(1, 4)))
    no, operator = pick.choice(["", "", "NOT "]), pick.choice(_COMPARE)
    pattern = pick.choice(["'a%'", "'a'", "'_b%'", "'%'", "'1%'"])
    forms = [
        f"{column} {operator} {one}",
        f"{column} {operator} {one}",
        f"{one} {operator} {column}",
        f"{column} {no}IN ({many})",
        f"{column} {no}IN ({many})",
        f"{column} {no}BETWEEN {one} AND {second}",
        f"{column} IS {no}NULL",
        f"({column}, t.x) {pick.choice(['=', '<', '>=', '>', '<='])} ({one}, 2)",
        f"(t.x, {column}) {no}IN ((1, {one}), (2, {second}), (NULL, {one}))",
        f"({column} = {one}) IS {no}TRUE",
        f"CASE WHEN {column} = {one} THEN TRUE ELSE {no or 'NOT '} FALSE END",
        f"{column} = {third}",
        f"coalesce({column}, {one}) = {one}",
    ]
    if types[name] == "VARCHAR":
        forms += [f"{column} {no}LIKE {pattern}"] * 2
    return pick.choice(forms)


def exp_text(part: exp.Expression) -> str:
    """A key expression over t's columns."""
    return part.transform(lambda n: exp.column(n.name, "t") if isinstance(n, exp.Column) else n).sql("duckdb")

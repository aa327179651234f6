"""A random database: tables of random columns, where their rows are, on how many shards, on which products.

A `World` is plain data, so that a failure's is printed as Python and pasted into a test:

    shardings = (Sharding("h0", "MOD 2"),)
    tables = (Table("t0", "k BIGINT, a INTEGER", "SHARD BY h0 (k)", rows=((1, 2), (None, 3))),)
    World(2, shardings, tables)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from random import Random
from typing import Any

from tests.fuzz import collations
from tests.fuzz.dialects import BOOL, DATE, DIALECTS, INT, NUM, REAL, TEXT, TIME, Dialect

Row = tuple[Any, ...]

SERVERS = frozenset({"mysql", "postgres"})
"""Products whose shards are databases on a server; all others are files."""
ON_SERVERS: tuple[tuple[str, ...], ...] = (
    ("mysql",),
    ("postgres",),
    ("mysql", "postgres"),
    ("postgres", "duckdb"),
    ("sqlite", "mysql"),
    ("mysql", "postgres", "duckdb", "sqlite"),
    ("mysql", "postgres", "duckdb", "sqlite"),
)
"""What the shards of a world of the duckdb dialect are in turn, where some are on servers."""

DENSE, LARGE = 0.25, 0.08
"""Shares of worlds with two or three small tables of few columns and few values, and of those with some
tables of hundreds of rows and many values."""
NAMES = {
    INT: ("k", "a", "b", "c", "n"),
    NUM: ("p", "q"),
    TEXT: ("s", "t"),
    DATE: ("d",),
    TIME: ("w",),
    BOOL: ("f",),
    REAL: ("r",),
}
"""A column's name says its family, so that equal names of two tables can be joined by USING."""
FAMILY = {name: family for family, names in NAMES.items() for name in names}
MORE_TEXTS = ("u", "v")
"""Columns of texts in a world of collations."""
FAMILY |= {"id": INT, "tenant": TEXT, **dict.fromkeys(MORE_TEXTS, TEXT)}


@dataclass(frozen=True)
class Sharding:
    """`rule` is the catalog's: "MOD 6", "HASH(crc32) SLOTS 8", "RING(murmur3) POINTS 16", "RANGE", "LIST",
    "GRID" (two MODs, `values` their sizes), "MONTHS", "DIRECTORY" (`values` the members). `values`: the
    bounds of RANGE, the lists of LIST. `text`: its keys are texts. Slots are dealt out to shards in turn."""

    name: str
    rule: str
    values: tuple[Any, ...] = ()
    text: bool = False

    @property
    def kind(self) -> str:
        return self.rule.partition("(")[0].split()[0]

    def clause(self, shards: int) -> str:
        """What follows CREATE SHARDING name."""
        match self.kind:
            case "RANGE":
                ends = [f"LESS THAN {written(bound)}" for bound in self.values] + ["LESS THAN MAXVALUE"]
                return f"USING RANGE ({_dealt(ends, shards)})"
            case "LIST":
                lists = [f"IN ({', '.join(map(written, values))})" for values in self.values]
                return f"USING LIST ({_dealt([*lists, 'DEFAULT'], shards)})"
            case "GRID":
                rows, columns = self.values
                return f"USING MOD {rows} AS i, MOD {columns} AS j ON s{{(i * {columns} + j) % {shards}}}"
            case "MONTHS":
                owners = [f"s{n} = ({', '.join(map(str, range(n, 24, shards)))})" for n in range(shards)]
                return f"USING INTERVAL MONTH FROM '2024-01-01' TO '2025-12-01' AS m ({', '.join(owners)})"
            case "RING":
                return f"USING {self.rule} ({', '.join(f's{n}' for n in range(shards))})"
            case "DIRECTORY":
                return f"USING DIRECTORY AS {self.name}_m ON {self.name}_{{{self.name}_m}}"
        return f"USING {self.rule} ON s{{slot % {shards}}}"

    def numbered(self) -> str:
        """The slot in a physical name; "" where a table per slot is not made."""
        return {"GRID": "{i}_{j}", "MONTHS": "", "RING": "", "DIRECTORY": ""}.get(self.kind, "{slot}")


def _dealt(parts: list[str], shards: int) -> str:
    return ", ".join(f"s{n % shards} = {part}" for n, part in enumerate(parts))


def written(value: Any) -> str:
    """A literal of the catalog's language."""
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


@dataclass(frozen=True)
class Table:
    """`columns` are "name TYPE [NOT NULL]", parted by ", "; `keys` what the catalog says beside them (PRIMARY
    KEY …); `place` its placement. `by_slot`: a physical table per slot."""

    name: str
    columns: str
    place: str
    rows: tuple[Row, ...] = ()
    keys: str = ""
    by_slot: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.split()[0] for column in self.columns.split(", "))

    def collation(self, name: str) -> str:
        """What a column is declared with; texts of two cannot be joined everywhere."""
        column = next(column for column in self.columns.split(", ") if column.split()[0] == name)
        return column.partition(" COLLATE ")[2].partition(" ")[0]


@dataclass(frozen=True)
class World:
    """`products`: what the shards are, in turn; in other dialects than DuckDB's all are the dialect's own."""

    shards: int
    shardings: tuple[Sharding, ...]
    tables: tuple[Table, ...]
    dialect: str = "duckdb"
    products: tuple[str, ...] = ("duckdb",)
    views: tuple[str, ...] = ()
    view_columns: tuple[tuple[tuple[str, str], ...], ...] = field(default=(), compare=False)
    """Names and families of each view's columns, for the generator."""
    indexes: tuple[str, ...] = ()
    """As after CREATE: "LOOKUP INDEX …". They are built before anything is asked."""

    @property
    def is_on_servers(self) -> bool:
        return not SERVERS.isdisjoint(self.products)

    def sharding(self, name: str) -> Sharding:
        return next(each for each in self.shardings if each.name == name)


def printed(world: World, indent: str = "    ") -> tuple[str, str]:
    """Lines of Python that make the world's parts, and the call that makes it of them."""
    lines = []
    for name in ("shardings", "tables"):
        parts = getattr(world, name)
        if len(parts) == 1:
            lines.append(f"{name} = ({_call(parts[0])},)")
        else:
            lines += [f"{name} = (", *(f"    {_call(part)}," for part in parts), ")"]
    others = [
        f", {each.name}={getattr(world, each.name)!r}"
        for each in fields(world)
        if each.name in ("dialect", "products", "views", "indexes")
        and getattr(world, each.name) != each.default
    ]
    text = "".join(f"{indent}{line}\n" for line in lines)
    text = text.replace("datetime.datetime(", "datetime(").replace("datetime.date(", "date(")
    text = re.sub(r"(?<=[(, -])(nan|inf)(?=[,)])", r"math.\1", text)
    return text, f"World({world.shards}, shardings, tables{''.join(others)})"


def _call(value: Any) -> str:
    parts = [(each, getattr(value, each.name)) for each in fields(value)]
    shown = [
        repr(given) if place < 3 else f"{each.name}={given!r}"
        for place, (each, given) in enumerate(parts)
        if given != each.default
    ]
    return f"{type(value).__name__}({', '.join(shown)})"


# -- at random ------------------------------------------------------------------------


class Schemas:
    """Makes a world; the same for the same random numbers. `products`: what its shards are, where it is no
    matter of chance."""

    def __init__(self, random: Random, dialect: str, products: tuple[str, ...] = ()) -> None:
        self.random, self.words = random, DIALECTS[dialect]
        self.shards = random.choice((1, 2, 2, 3, 3, 4, 5, 7))
        drawn = self._products()
        self.products = products or drawn
        types = collations.TYPES.get(dialect, ())
        self.texts: tuple[str, ...] = ()
        """Types of texts in a world of collations; few, so that they meet themselves."""
        if types and random.random() < 0.6:
            self.texts = tuple(random.sample(types, random.choice((1, 2, 2, 3, len(types)))))
        self.few: tuple[str, ...] = ()
        """The only names of columns, beside keys, in a dense world: tables are alike, and rows meet."""
        kind = random.random()
        self.is_large = 1 - kind < LARGE
        if kind < DENSE:
            known = [name for family in self.words.types for name in NAMES[family]]
            self.few = ("k", *random.sample(known, random.choice((1, 2, 3))))

    def world(self) -> World:
        from tests.fuzz.data import Data

        random, words = self.random, self.words
        shardings = self.shardings(words)
        tables: list[Table] = []
        for number in range(random.choice((2, 2, 3) if self.few or self.is_large else (2, 3, 3, 4, 4, 5, 6))):
            tables.append(self.table(f"t{number}", shardings, tables))
        if all(not table.place.startswith("SHARD BY") for table in tables):
            tables.append(self.by_key("x0", shardings[0]))
        data = Data(random, shardings, words, self.products, is_dense=bool(self.few), is_large=self.is_large)
        filled = data.fill(tables)
        return World(self.shards, tuple(shardings), tuple(filled), words.name, self.products)

    def _products(self) -> tuple[str, ...]:
        if self.words.name != "duckdb":
            return (self.words.name,)
        choices = [("duckdb",)] * 6 + [("sqlite",)] * 2 + [("parquet",)] + [("sqlite", "duckdb", "parquet")]
        return self.random.choice([*choices, ("sqlite", "duckdb")])

    # -- shardings

    def shardings(self, words: Dialect) -> list[Sharding]:
        """The first is of whole numbers, and most tables share it."""
        pick = self.random.choice
        numbers = [
            lambda name: Sharding(name, f"MOD {pick((2, 3, 6, 7, 9, 14))}"),
            lambda name: Sharding(
                name, f"HASH({pick(('crc32', 'murmur3', 'xxhash64', 'md5'))}) SLOTS {pick((4, 8, 13))}"
            ),
            lambda name: Sharding(name, "RANGE", pick(((0, 3, 6), (2, 5), (-1, 1, 4, 9)))),
            lambda name: Sharding(name, "LIST", pick((((1, 2), (3,)), ((0, 1, None), (2, 4), (5,))))),
            lambda name: Sharding(name, f"RING({pick(('crc32', 'murmur3'))}) POINTS 16"),
        ]
        grid = lambda name: Sharding(name, "GRID", pick(((2, 3), (3, 2), (1, 4))))  # noqa: E731
        others = [*numbers, grid, grid]
        texts = [
            lambda name: Sharding(name, "HASH(crc32) SLOTS 8", text=True),
            lambda name: Sharding(name, "LIST", (("a", "b"), ("ab",), ("x y", "")), text=True),
        ]
        if words.name == "duckdb":
            texts.append(lambda name: Sharding(name, "RANGE", ("a", "b", "x"), text=True))
            texts.append(lambda name: Sharding(name, "DIRECTORY", pick((("a", "b", "ab"), ("a", "x y")))))
        if words.has(DATE):
            others.append(lambda name: Sharding(name, "MONTHS"))
        made = [pick((numbers[0], numbers[0], *numbers, grid))("h0")]
        for _ in range(pick((0, 1, 1, 2))):
            made.append(pick((*others, *texts))(f"h{len(made)}"))
        if self.texts and self.random.random() < 0.7:
            made.append(pick(texts)(f"h{len(made)}"))
        return made

    # -- tables

    def table(self, name: str, shardings: list[Sharding], before: list[Table]) -> Table:
        pick = self.random.choice
        roll = self.random.random()
        first = shardings[0]
        if roll < 0.12:
            return Table(name, self.columns(), f"REFERENCE ON {self.copies(first)}")
        if roll < 0.2:
            return Table(name, self.columns(), f"ON s{self.random.randrange(self.shards)}")
        if roll < 0.25:
            return Table(name, self.columns(), f"SCATTERED ON {first.name}")
        parents = [t for t in before if "UNIQUE ACROSS SHARDS (id)" in t.place]
        if parents and roll < 0.47:
            return self.child(name, pick(parents), shardings)
        of_texts = [each for each in shardings if each.text] * 3 if self.texts else []
        return self.by_key(name, pick((first, first, first, *shardings, *of_texts)))

    def copies(self, sharding: Sharding) -> str:
        """Where the copies of a reference table are: on all shards, or on some."""
        if self.random.random() < 0.7:
            return sharding.name
        some = self.random.sample(range(self.shards), self.random.randint(1, self.shards))
        return ", ".join(f"s{n}" for n in sorted(some))

    def columns(self, *needed: str, without: tuple[str, ...] = ()) -> str:
        """Columns in random order, the needed ones among them."""
        random, types = self.random, self.words.types
        names = [name for family in types for name in NAMES[family] if name not in (*needed, *without)]
        names += [name for name in MORE_TEXTS if self.texts and name not in (*needed, *without)]
        names = [name for name in names if not self.few or name in self.few]
        often = {INT: 3, TEXT: 4 if self.texts else 1}
        weights = [often.get(FAMILY[name], 1) for name in names]
        chosen = list(needed)
        for _ in range(random.choice((1, 2, 2, 3, 3, 4, 5)) if names else 0):
            name = random.choices(names, weights)[0]
            if name not in chosen:
                chosen.append(name)
        if len(chosen) > 1 and random.random() < 0.2:
            random.shuffle(chosen)
        return ", ".join(self.column(name, needed) for name in chosen)

    def column(self, name: str, needed: tuple[str, ...]) -> str:
        if name == "id":
            return f"id {self.random.choice(('BIGINT', 'INTEGER'))}"
        types = self.words.types[FAMILY[name]]
        if FAMILY[name] == TEXT and self.texts:
            types = self.texts
        if name in needed or set(self.products) != {"duckdb"}:  # neither files nor keys hold a HUGEINT
            types = tuple(t for t in types if t not in ("HUGEINT", "TINYINT" if name in "nc" else ""))
        null = " NOT NULL" if self.random.random() < 0.12 else ""
        return f"{name} {self.random.choice(types)}{null}"

    def by_key(self, name: str, sharding: Sharding) -> Table:
        random = self.random
        kind = sharding.kind
        if kind == "DIRECTORY":
            return Table(name, self.columns(), f"SHARD BY {sharding.name} (tenant VARCHAR VIRTUAL)")
        if kind == "GRID":
            keys: tuple[str, ...] = random.choice((("k", "a"), ("k", "a"), ("a", "k"), ("b", "k")))
        elif kind == "MONTHS":
            keys = ("d",)
        elif sharding.text:
            keys = (random.choice(("s", "s", "t")),)
        else:
            keys = (random.choice(("k", "k", "k", "a", "b")),)
        place = f"SHARD BY {sharding.name} ({', '.join(keys)})"
        if sharding.text and self.texts and self.words.name == "mysql" and random.random() < 0.4:
            place += f" EXACT LOWER ({keys[0]})"
        has_id = random.random() < 0.45
        columns = self.columns(*(("id",) if has_id else ()), *keys)
        declared = ""
        if has_id:
            if kind == "MOD" and random.random() < 0.3:
                place += " ALSO BY (id)"
            if random.random() < 0.5:
                place += " UNIQUE ACROSS SHARDS (id)"
                declared = random.choice(("", "", "PRIMARY KEY (id)", "UNIQUE (id)"))
            else:
                declared = random.choice(("", f"PRIMARY KEY (id, {', '.join(keys)})"))
        if "PRIMARY KEY" in declared:
            named = [*keys, "id"] if "," in declared else ["id"]
            parts = columns.split(", ")
            columns = ", ".join(
                f"{part} NOT NULL" if part.split()[0] in named and "NOT NULL" not in part else part
                for part in parts
            )
        by_slot = bool(sharding.numbered()) and random.random() < 0.3
        return Table(name, columns, place, keys=declared, by_slot=by_slot)

    def child(self, name: str, parent: Table, shardings: list[Sharding]) -> Table:
        column = self.random.choice(("n", "c"))
        place = f"SHARD WITH {parent.name} ON {column} = {parent.name}.id"
        return Table(name, self.columns(column, without=("id",)), place, by_slot=parent.by_slot)


def indexes(random: Random, world: World) -> tuple[str, ...]:
    """Up to two lookup indexes and a join index, of what indexes can be of."""
    if "parquet" in world.products:
        return ()
    split = [t for t in world.tables if t.place.startswith("SHARD BY") and "VIRTUAL" not in t.place]
    found = []
    for number, table in enumerate(random.sample(split, min(len(split), random.choice((0, 1, 2))))):
        keys = table.place.partition("(")[2].partition(")")[0].split(", ")
        others = [name for name in table.names if name not in keys and FAMILY[name] in (INT, TEXT, DATE, NUM)]
        if others:
            chosen = random.sample(others, min(len(others), random.choice((1, 1, 2))))
            found.append(f"LOOKUP INDEX i{number} ON {table.name} ({', '.join(chosen)})")
    if len(split) > 1 and random.random() < 0.7:
        found += _join_index(random, world, *random.sample(split, 2))
    return tuple(found)


def _join_index(random: Random, world: World, one: Table, other: Table) -> list[str]:
    pairs = [
        (x, y)
        for x in one.names
        for y in other.names
        if FAMILY[x] == FAMILY[y]
        and FAMILY[x] in (INT, TEXT, DATE)
        and one.collation(x) == other.collation(y)
    ]
    by = one.place.partition("(")[2].partition(")")[0].split(", ")
    if not pairs or len(by) > 1:
        return []
    x, y = random.choice(pairs)
    more = [f"{t.name}.{name}" for t in (one, other) for name in t.names if random.random() < 0.6]
    include = f" INCLUDE ({', '.join(more)})" if more else ""
    sharding = one.place.split()[2]
    on = f"{one.name}.{x} = {other.name}.{y}"
    return [f"JOIN INDEX j0 ON {on}{include} SHARD BY {sharding} ({one.name}.{by[0]})"]

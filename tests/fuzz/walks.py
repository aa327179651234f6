"""Page after page by `next_page()`: all rows in the order, as one database gives them, each once.

    python -m tests.fuzz.walks --seconds 600 --dialect all --seed 4711

The statements are the fuzzer's (`statements.py`) and plain ones of a table or two, ordered by some of their
columns, with ties or without, in every direction; the pages are small. What cannot be read page by page (a
table without a key, a value that does not travel) is refused, and counted by its reason.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import shardwise
from tests.fuzz.build import Built
from tests.fuzz.dialects import BOOL, OUT
from tests.fuzz.oracles import DEADLINE_S, Variant, expected, variants, with_parameters, wrong
from tests.fuzz.run import world_of
from tests.fuzz.schema import World
from tests.fuzz.statements import Columns, Statements
from tests.oracle.compare import Answer
from tests.servers import are_there, stop_all

WALKS = 25
"""For each world."""
PAGES_MAX = 400


class Walked(Statements):
    """Ordered statements without a LIMIT."""

    def __init__(self, random: Random, world: World) -> None:
        super().__init__(random, world)
        self.keyed = sorted({table.name for table in world.tables if "KEY" in table.keys + table.columns})

    def walk(self) -> str:
        sql, columns = self.query(self.pick(1, 1, 1, 2), ()) if self.chance(0.25) else self.of_tables()
        keys = self.some_keys(columns)
        if not self.chance(0.3) and " LIMIT " not in sql and re.match(r"SELECT (?!DISTINCT)", sql):
            return f"{sql} ORDER BY {keys}"
        return f"SELECT * FROM ({sql}) z ORDER BY {keys}"

    def of_tables(self) -> tuple[str, Columns]:
        """All columns of a table, or of two that are joined; half of them with a condition."""
        name = self.random.choice(self.keyed or sorted(self.tables))
        distinct = "" if name in self.keyed and self.chance(0.85) else "DISTINCT "
        columns = self.tables[name]
        items, source = [f"x.{c} AS {c}0" for c, _ in columns], f"{name} x"
        shown = [(f"{c}0", family) for c, family in columns]
        if self.chance(0.3):
            other = self.random.choice(self.keyed or sorted(self.tables))
            left, right = self.random.choice(columns)[0], self.random.choice(self.tables[other])[0]
            kind = self.pick("JOIN", "LEFT JOIN")
            source += f" {kind} {other} y ON x.{left} = y.{right} AND x.{columns[0][0]} < 9"
            items += [f"y.{c} AS {c}1" for c, _ in self.tables[other]]
            shown += [(f"{c}1", family) for c, family in self.tables[other]]
        chosen = self.random.sample(range(len(items)), self.random.randint(1, len(items)))
        where = f" WHERE x.{self.random.choice(columns)[0]} IS NOT NULL" if self.chance(0.2) else ""
        text = f"SELECT {distinct}{', '.join(items[n] for n in chosen)} FROM {source}{where}"
        return text, tuple(shown[n] for n in chosen)

    def some_keys(self, columns: Columns) -> str:
        """Positions, of one column at least; BOOL is no family that an order is drawn by elsewhere."""
        numbers = [n for n, (_, family) in enumerate(columns, start=1) if family not in (OUT, BOOL)]
        chosen = self.random.sample(numbers or [1], self.random.randint(1, min(3, len(numbers) or 1)))
        ways = ("", "", " DESC", *((" NULLS FIRST", " DESC NULLS LAST") if self.words.nulls_order else ()))
        return ", ".join(f"{n}{self.pick(*ways)}" for n in chosen)


def walked(built: Built, sql: str, size: int, variant: Variant) -> tuple[Answer, int]:
    """All pages together, and how many they were."""
    params: list[Any] = []
    if variant.parameters:
        sql, params = with_parameters(sql)
    with built.connection(variant.statistics).cursor() as cursor:
        given = (f"{sql} LIMIT {size}", params) if params else (f"{sql} LIMIT {size}",)
        options = {"deadline_s": DEADLINE_S, "verify_passes": True, **variant.options()}
        cursor.execute(*given, pages=True, **options)
        rows: list[tuple[Any, ...]] = []
        pages = 0
        names = tuple(column[0] for column in cursor.description)
        types = tuple(str(column[1]) for column in cursor.description)
        while page := cursor.fetchall():
            pages += 1
            if len(page) > size or pages > PAGES_MAX:
                raise AssertionError(f"page {pages} has {len(page)} rows, of {size}")
            rows += map(tuple, page)
            cursor.next_page()
        return Answer(names, types, rows), pages


class Walker:
    """`count` has what was done, `failures` what was wrong."""

    def __init__(self, *, may_be_on_servers: bool = False) -> None:
        self.may_be_on_servers = may_be_on_servers
        self.count: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.failures: list[str] = []

    def run(self, seed: int, dialects: Sequence[str], seconds: float) -> None:
        end = time.monotonic() + seconds
        number = seed
        while time.monotonic() < end and len(self.failures) < 10:
            self.world(number, dialects[number % len(dialects)], end=end)
            number += 1

    def world(self, seed: int, dialect: str, walks: int = WALKS, end: float = float("inf")) -> None:
        world = world_of(seed, dialect, may_be_on_servers=self.may_be_on_servers)
        self.count["worlds"] += 1
        self.count["on servers"] += world.is_on_servers
        with tempfile.TemporaryDirectory() as folder:
            built = Built(world, Path(folder))
            try:
                for number in range(walks):
                    if time.monotonic() < end:
                        self.walk(
                            built, Random(f"walk {dialect} {seed} {number}"), f"{dialect} {seed} {number}"
                        )
            finally:
                built.close()

    def walk(self, built: Built, random: Random, name: str) -> None:
        sql = Walked(random, built.world).walk()
        right = expected(built, sql)
        if right is None:
            self.count["not determined"] += 1
            return
        size = random.choice((1, 2, 3, 7, 20)) + len(right.rows) // 60
        variant = random.choice(
            variants(random, 2, [2 * random.randrange(50)], bool(built.world.indexes), True)
        )
        try:
            found, pages = walked(built, sql, size, variant)
        except (shardwise.NotSupportedError, shardwise.DataError) as error:
            if isinstance(error, shardwise.DataError) and "cannot be a member" not in str(error):
                self.failed(built, sql, size, variant, name, f"DataError: {error}")
                return
            self.count["refused"] += 1
            self.reasons[_reason(str(error))] += 1
            return
        except Exception as error:  # whatever it is, one database has answered
            self.failed(built, sql, size, variant, name, f"{type(error).__name__}: {error}")
            return
        self.count["walks"] += 1
        self.count["pages"] += pages
        said = wrong(built, sql, found, right)
        if said is not None:
            detail = f"{said}\n  we answered:  {found.rows[:12]}\n  one database: {right.rows[:12]}"
            self.failed(built, sql, size, variant, name, detail)

    def failed(self, built: Built, sql: str, size: int, variant: Variant, name: str, said: str) -> None:
        text = f"{name}: pages of {size} ({variant or 'as ever'})\n  {sql}\n{said}\n{built.text}"
        self.failures.append(text)
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def told(self) -> str:
        lines = [", ".join(f"{n} {what}" for what, n in self.count.items())]
        lines += [f"  refused, {reason}: {n}" for reason, n in self.reasons.most_common(12)]
        return "\n".join([*lines, f"{len(self.failures)} failures"])


def _reason(text: str) -> str:
    """Without names and values."""
    return re.sub(r"\"[^\"]*\"|\S*\d\S*|\w+\.\w+", "…", text.partition("\n")[0])[:110]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.walks", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="the first world's; else the clock says")
    parser.add_argument(
        "--dialect", default="duckdb", choices=["duckdb", "mysql", "postgres", "sqlite", "all"]
    )
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seed = given.seed if given.seed is not None else int(time.time()) % 10_000_000
    dialects = ("duckdb", "sqlite", "postgres", "mysql") if given.dialect == "all" else (given.dialect,)
    walker = Walker(may_be_on_servers="duckdb" in dialects and are_there())
    try:
        walker.run(seed, dialects, given.seconds)
    finally:
        stop_all()
        sys.stdout.write(f"{walker.told()}\n")
    return 1 if walker.failures else 0


if __name__ == "__main__":
    sys.exit(main())

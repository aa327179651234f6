"""Draws worlds and statements, asks them in several ways, and counts what came out."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from random import Random

from shardwise.options import Options
from tests.fuzz.build import Built
from tests.fuzz.oracles import Failure, NotAnswered, Variant, ask, expected, judge, other_values, variants
from tests.fuzz.reduce import Case, failure, reduced
from tests.fuzz.report import as_test
from tests.fuzz.schema import ON_SERVERS, Schemas, World, indexes
from tests.fuzz.statements import Statements
from tests.fuzz.tlp import Partition, partition

STATEMENTS = 40
"""For each world."""


def world_of(seed: int, dialect: str, *, may_be_on_servers: bool = False) -> World:
    """The world of a seed, with views. In the duckdb dialect one in four may be on servers."""
    random, servers = Random(f"{dialect} {seed}"), Random(f"servers {seed}")
    is_on_servers = may_be_on_servers and dialect == "duckdb" and servers.random() < 0.25
    world = Schemas(random, dialect, servers.choice(ON_SERVERS) if is_on_servers else ()).world()
    for number in range(random.choice((0, 0, 1, 2)) if dialect == "duckdb" else 0):
        view, columns = Statements(random, world).view(f"v{number}")
        world = replace(world, views=(*world.views, view), view_columns=(*world.view_columns, columns))
    if random.random() < 0.3 and "trust_indexes" in {each.name for each in fields(Options)}:
        world = replace(world, indexes=indexes(random, world))
    return world


class Fuzzer:
    """`count` has what was done, `failures` the tests that were made of failures."""

    def __init__(
        self,
        *,
        reduce_s: float = 60.0,
        failures_max: int = 5,
        say: Callable[[str], None] = lambda _: None,
        may_be_on_servers: bool = False,
    ) -> None:
        self.may_be_on_servers = may_be_on_servers
        self.reduce_s, self.failures_max, self.say = reduce_s, failures_max, say
        self.count: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.failures: list[str] = []
        self.known: set[str] = set()
        self.began = time.monotonic()
        self.seeds = ""
        self.claims: list[int] = []

    def run(self, seed: int, dialects: Sequence[str], seconds: float) -> None:
        end = time.monotonic() + seconds
        number = seed
        while time.monotonic() < end and not self.is_enough:
            self.seeds = f"{seed}-{number}"
            self.world(number, dialects[number % len(dialects)], end)
            number += 1

    def world(self, seed: int, dialect: str, end: float = float("inf"), statements: int = STATEMENTS) -> None:
        """All statements of a seed's world."""
        world = world_of(seed, dialect, may_be_on_servers=self.may_be_on_servers)
        self.claims = [2 * seed, 2 * seed + 1, 2 * seed + 3]  # right ones, and wrong ones
        self.count["worlds"] += 1
        self.count["on servers"] += world.is_on_servers
        with tempfile.TemporaryDirectory() as folder:
            built = Built(world, Path(folder))
            try:
                for number in range(statements):
                    if time.monotonic() > end or self.is_enough:
                        return
                    self.statement(built, Random(f"{dialect} {seed} {number}"), f"{seed}_{number}")
            finally:
                built.close()

    @property
    def is_enough(self) -> bool:
        return len(self.failures) >= self.failures_max

    def statement(self, built: Built, random: Random, name: str) -> None:
        if random.random() < 0.15:
            self.partition(built, random, name)
            return
        sql = Statements(random, built.world).statement()
        asked = [sql, *([other_values(random, sql)] if random.random() < 0.2 else [])]
        for text in asked:
            is_ordered = ") z ORDER BY " in text
            ways = variants(random, 1, self.claims, bool(built.world.indexes), is_ordered)
            self.compare(built, text, ways, name)

    def compare(self, built: Built, sql: str, ways: Sequence[Variant], name: str) -> bool:
        """Whether all was well."""
        right = expected(built, sql)
        if right is None:
            self.count["not determined"] += 1
            return True
        self.count["statements"] += 1
        self.count["with rows"] += bool(right.rows)
        for variant in ways:
            self.count["asked"] += 1
            try:
                found = judge(built, sql, variant, right)
            except NotAnswered as why:
                self.count["refused"] += 1
                self.reasons[str(why)] += 1
                return True
            if found is not None:
                self.failed(Case(built.world, sql, variant), found, name)
                return False
        return True

    def partition(self, built: Built, random: Random, name: str) -> None:
        made = partition(Statements(random, built.world))
        self.count["partitions"] += 1
        variant = random.choice(variants(random, 1, self.claims, bool(built.world.indexes)))
        for sql in (made.whole, *made.parts):
            if not self.compare(built, sql, (variant,), name):
                return
        try:
            said = made.problem(
                ask(built, made.whole, variant), [ask(built, sql, variant) for sql in made.parts]
            )
        except Exception:  # compared above: refused, or one database raises as well
            return
        if said is not None and self._is_right_of_one(built, made.whole, made.parts, made.problem):
            text = ";\n".join((made.whole, *made.parts))
            self.failures.append(f"{name}: {said}\n{text};\n{built.text}")
            self.say(self.failures[-1])

    def alone(self, world: World, made: Partition, variant: Variant) -> str | None:
        """What is wrong with a partition of a world, told by it alone."""
        with tempfile.TemporaryDirectory() as folder:
            built = Built(world, Path(folder))
            try:
                return made.problem(
                    ask(built, made.whole, variant), [ask(built, sql, variant) for sql in made.parts]
                )
            finally:
                built.close()

    def _is_right_of_one(self, built: Built, whole: str, parts: Sequence[str], problem: Callable) -> bool:  # type: ignore[type-arg]
        """Whether one database's own parts make its whole: else the fault is not ours."""
        rights = [expected(built, sql) for sql in (whole, *parts)]
        if any(right is None for right in rights):
            return False
        self.count["one database's own faults"] += (said := problem(rights[0], rights[1:])) is not None
        return said is None

    # -- failures

    def failed(self, case: Case, found: Failure, name: str) -> None:
        if found.kind in self.known:
            self.count["failures again"] += 1
            return
        if (
            ": " in found.kind
        ):  # an error, which says what it is; wrong rows are told apart by their statements
            self.known.add(found.kind)
        self.say(f"{name}: {found.kind} ({str(case.variant) or 'as ever'})\n  {case.sql}")
        small = reduced(case, found.kind, self.reduce_s)
        last = failure(small) or found
        sign = f"{last.kind} {_shape(small.sql)}"
        if sign in self.known:
            self.count["failures again"] += 1
            return
        self.known.add(sign)
        self.failures.append(as_test(small, last, f"{case.world.dialect}_{name}"))
        self.say(f"{self.failures[-1]}\n{last.detail}\n")

    def told(self) -> str:
        seconds = time.monotonic() - self.began
        lines = [f"{seconds:.0f} seconds, seeds {self.seeds}: " + ", ".join(_counted(self.count))]
        lines += [f"  refused, {reason}: {n}" for reason, n in self.reasons.most_common()]
        lines.append(f"{len(self.failures)} failures")
        return "\n".join(lines)


def _counted(count: Counter[str]) -> Iterator[str]:
    return (f"{n} {what}" for what, n in count.items())


def _shape(sql: str) -> str:
    return "".join(c for c in sql if not c.isdigit())

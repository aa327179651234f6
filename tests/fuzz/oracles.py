"""Is our answer right? Against one database, and against ourselves asked in another way.

A `Variant` is a way to be asked: with passes switched off, strategies forced, without the plan cache, with
literals as parameters, with a lock file whose statistics are right or made up. Each has the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from random import Random
from typing import Any

import sqlglot
from sqlglot import exp

import shardwise
from shardwise.errors import Reason
from shardwise.planner import OPTIONAL
from tests.fuzz.build import Built, Refused
from tests.fuzz.collations import TYPES, fold
from tests.oracle.compare import Answer, answer_of, difference

DEADLINE_S = 20.0
ROWS_MAX = 3000
ORDERS = ((1,), (1, 2, 3, 4, 5, 6, 7))
"""Orders of rows by which it is told what one database determines: without collations, and with them."""
FORCED = (
    ("keys",),
    ("keys", "range"),
    ("broadcast",),
    ("keys", "look_up_keys"),
    ("group_before_joins",),
    ("group_on_shards",),
    ("keys", "group_on_shards"),
    ("push_distinct",),
    ("probe_groups_early",),
    ("seek_pages",),
    ("merge_sorted",),
)
"""What `Options.force` knows."""
NO_PATTERNS = "nondeterministic collations are not supported for LIKE"
NO_COLLATION = "could not determine which collation to use"
"""PostgreSQL says so of texts as soon as there is one; it answers where there is none to look at."""


@dataclass(frozen=True)
class Variant:
    without: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    plan_cache: bool = True
    parameters: bool = False
    indexes: bool = False
    statistics: int | None = None
    """The seed of made-up ones."""

    def options(self) -> dict[str, Any]:
        given: dict[str, Any] = {"disable_passes": self.without, "plan_cache": self.plan_cache}
        given |= {"force": self.force} if self.force else {}
        return given | ({"trust_indexes": True} if self.indexes else {})

    def __str__(self) -> str:
        return ", ".join(
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if getattr(self, each.name) != each.default
        )


@dataclass(frozen=True)
class Failure:
    """`kind` is what stays the same while the case is made smaller."""

    kind: str
    detail: str


class NotAnswered(Exception):
    """Refused with a reason of the planner's: no failure outside of DuckDB's dialect."""


def variants(
    random: Random, number: int, claims: Sequence[int], has_indexes: bool, is_ordered: bool = False
) -> list[Variant]:
    """As ever, and in some other ways; `claims` are the seeds of statistics."""
    pick, claimed = random.choice, random.choice(claims)
    ways = [
        lambda: Variant(without=(pick(OPTIONAL),)),
        lambda: Variant(without=tuple(sorted(random.sample(OPTIONAL, 3)))),
        lambda: Variant(without=OPTIONAL),
        lambda: Variant(plan_cache=False),
        lambda: Variant(parameters=True),
        lambda: Variant(statistics=claimed),
        lambda: Variant(statistics=claimed),
        lambda: Variant(statistics=claimed, without=(pick(OPTIONAL),)),
        lambda: Variant(statistics=claimed, parameters=True),
        lambda: Variant(force=pick(FORCED)),
        lambda: Variant(force=pick(FORCED)),
        lambda: Variant(force=pick(FORCED), without=(pick(OPTIONAL),)),
        lambda: Variant(force=pick(FORCED), statistics=claimed),
        lambda: Variant(force=tuple(sorted({name for names in FORCED for name in names}))),
    ]
    if has_indexes:
        ways = [
            lambda: Variant(indexes=True),
            lambda: Variant(indexes=True, statistics=claimed),
            lambda: Variant(indexes=True, parameters=True),
            lambda: Variant(indexes=True, without=(pick(OPTIONAL),)),
            lambda: Variant(indexes=True, force=pick(FORCED)),
        ]
    if is_ordered:
        ways += [lambda: Variant(force=pick(FORCED[-2:])), lambda: Variant(force=FORCED[-1] + FORCED[-2])] * 4
    return [Variant(), *(pick(ways)() for _ in range(number))]


def expected(built: Built, sql: str) -> Answer | None:
    """What one database says; None where it raises, or does not determine the rows."""
    try:
        answer = built.right(sql)
        if len(answer.rows) > ROWS_MAX:
            return None
        # A word about luck: it shows in the other order of rows.
        other = built.one(sql, 1)
    except Refused:
        return None
    return answer if problem(built, sql, other, answer, Same.FOLDED) is None else None


def ask(built: Built, sql: str, variant: Variant) -> Answer:
    params: list[Any] | dict[str, Any] = []
    if variant.parameters:
        sql, params = with_parameters(sql)
    with built.connection(variant.statistics).cursor() as cursor:
        given = (sql, params) if params else (sql,)
        cursor.execute(*given, deadline_s=DEADLINE_S, verify_passes=True, **variant.options())
        return answer_of(cursor)


def judge(built: Built, sql: str, variant: Variant, right: Answer) -> Failure | None:
    """None if all is well; raises NotAnswered where we refuse and may."""
    try:
        found = ask(built, sql, variant)
    except shardwise.NotSupportedError as error:
        if built.world.dialect != "duckdb" and error.reason is not Reason.NOT_SUPPORTED:
            raise NotAnswered(str(error.reason)) from error
        if NO_PATTERNS in str(error):
            raise NotAnswered(NO_PATTERNS) from error
        return _raised(error)
    except shardwise.DeadlineExceeded as error:
        # One database may not have had to make that product of tables.
        raise NotAnswered("deadline") from error
    except Exception as error:  # whatever it is, one database has answered
        if NO_COLLATION in str(error):
            raise NotAnswered(NO_COLLATION) from error
        if isinstance(error, shardwise.DataError) and error.reason is Reason.MEMBER_NAME:
            raise NotAnswered(str(error.reason)) from error  # docs/reasons.md: it would be part of a path
        return _raised(error)
    said = wrong(built, sql, found, right)
    if said is None:
        return None
    kind = said.partition(":")[0] if said.startswith(("names", "types", "order")) else "rows"
    return Failure(kind, f"{said}\n  we answered:  {found.rows[:8]}\n  one database: {right.rows[:8]}")


def _raised(error: Exception) -> Failure:
    text = str(error)
    stable = re.sub(r"\"[^\"]*\"|'[^']*'|\b\w*\d\w*\b|\.\w+", "", text.partition("\n")[0])[:60]
    return Failure(f"{type(error).__name__}: {stable}", f"{type(error).__name__}: {text}")


class Same(Enum):
    """How answers are compared: texts that may be equal as one; rows in any order; rows in their order."""

    FOLDED = "folded"
    ROWS = "rows"
    ALL = "all"


def wrong(built: Built, sql: str, found: Answer, right: Answer) -> str | None:
    """What is wrong with an answer, as exactly as one database determines it."""
    for same in Same:
        said = problem(built, sql, found, right, same)
        if said is not None and is_determined(built, sql, right, same):
            return said
    return None


def is_determined(built: Built, sql: str, right: Answer, same: Same) -> bool:
    """Whether one database says this in whatever order its rows lie."""
    try:
        others = [built.one(sql, order) for order in ORDERS[built.world.dialect in TYPES]]
    except Refused:
        return False
    return all(problem(built, sql, other, right, same) is None for other in others)


def problem(built: Built, sql: str, found: Answer, right: Answer, same: Same = Same.ALL) -> str | None:
    dialect = built.world.dialect
    if dialect != "duckdb":
        found, right = (_plain(answer, dialect, same) for answer in (found, right))
    keys = order_keys(sql, dialect) if same is not Same.ROWS else []
    return difference(found, right, order_keys=keys or None)


def _plain(answer: Answer, dialect: str, same: Same) -> Answer:
    rows = [tuple(_value(v, dialect) for v in row) for row in answer.rows]
    if same is Same.FOLDED and dialect in TYPES:
        rows = [tuple(map(fold, row)) for row in rows]
    return Answer(answer.names, (), rows)


def _value(value: Any, dialect: str) -> Any:
    if dialect == "sqlite" and isinstance(value, int | float):
        return float(f"{value:.12g}")
    return float(f"{value:.10g}") if isinstance(value, float) else value


def order_keys(sql: str, dialect: str) -> list[int]:
    """The positions that the outermost ORDER BY sorts by, from the first on."""
    if " ORDER BY " not in sql:
        return []
    order = sqlglot.parse_one(sql, read=dialect).args.get("order")
    found = []
    for key in order.expressions if order is not None else ():
        if not (isinstance(key.this, exp.Literal) and key.this.is_int):
            break
        found.append(int(key.this.this))
    return found


_COMPARED = re.compile(r"(?<=[\w)] )(=|<>|<|<=|>|>=) (-?\d+\b(?![.)]*\w)|'(?:[^']|'')*')(?= |$|\))")


def with_parameters(sql: str) -> tuple[str, list[Any] | dict[str, Any]]:
    """Literals that something is compared with, as parameters; by name if two must be the same one, as in
    DISTINCT ON (a > 1) … ORDER BY a > 1."""
    values: dict[str, Any] = {}
    is_named = "DISTINCT ON" in sql
    names: dict[str, str] = {}

    def cut(found: re.Match[str]) -> str:
        text = found[2]
        name = names.setdefault(text if is_named else str(len(names)), f"v{len(names)}")
        values[name] = text[1:-1].replace("''", "'") if text.startswith("'") else int(text)
        return f"{found[1]} {f':{name}' if is_named else '?'}"

    text = _COMPARED.sub(cut, sql)
    return text, values if is_named else list(values.values())


def other_values(random: Random, sql: str) -> str:
    """The same statement with other whole numbers in its comparisons: for a plan that is kept."""
    return _COMPARED.sub(
        lambda found: (
            found[0] if found[2].startswith("'") else f"{found[1]} {random.choice((0, 1, 2, 3, 4, 5, 6, 7))}"
        ),
        sql,
    )


def referenced(sql: str, dialect: str) -> set[str]:
    """The names of tables and views in a statement."""
    return {table.name for table in sqlglot.parse_one(sql, read=dialect).find_all(exp.Table)}

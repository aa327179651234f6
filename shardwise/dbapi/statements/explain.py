"""EXPLAIN [(option, …)] query: what a query would do, from its plan.

Options: ROUTE, ANALYZE, STEPS, SHARDS, FORMAT text | json. The query keeps its place in the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from shardwise.dbapi.statements import refused
from shardwise.dbapi.statements.base import Answer, Parameters, rows_of
from shardwise.dbapi.statements.text import blank_end, blanked, position, position_of, word_at
from shardwise.errors import NotSupportedError, Reason, SQLSyntaxError
from shardwise.executor.guard import Guard
from shardwise.options import Options
from shardwise.plan.explain import explain_json, explain_text, route_rows, sources_text, steps_text
from shardwise.plan.run import Plan
from shardwise.plan.statistics import Statistics

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection

EXPLAIN_MODES: Final = ("route", "analyze", "steps", "shards")
_QUERIES: Final = ("select", "with", "from", "values", "table", "pivot", "unpivot")


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain:
    """`sql` is the query with what stands before it blanked; `modes` the options given, lower case."""

    sql: str
    modes: frozenset[str] = frozenset()
    format: Literal["text", "json"] = "text"

    def answer(self, connection: Connection, params: Parameters, options: Options, guard: Guard) -> Answer:
        modes = self.modes
        options = replace(options, plan_cache=False)  # a plan for these values, with its reasons
        if "analyze" in modes:
            with connection.run(self.sql, params, options, guard) as result:
                result.measure()
                result.drain()
                return _lines(self._text(result.plan, result.stats))
        plan = connection.plan(self.sql, params, options)
        if "route" in modes:
            columns = (("shard", "VARCHAR"), ("source", "VARCHAR"), ("sql", "VARCHAR"))
            return rows_of(columns, route_rows(plan))
        if "shards" in modes:
            _check_may_ask(connection)
            return _lines(sources_text(plan, connection.cluster.explain_sources(plan)))
        return _lines(steps_text(plan) if "steps" in modes else self._text(plan, None))

    def _text(self, plan: Plan, stats: Statistics | None) -> str:
        return explain_json(plan, stats) if self.format == "json" else explain_text(plan, stats)


def _check_may_ask(connection: Connection) -> None:
    """A source's own EXPLAIN tells of whole tables: files, row counts, bounds of values."""
    if connection.scope.is_pinned:
        raise NotSupportedError(
            "EXPLAIN (SHARDS) is not answered on a pinned connection: sources tell of rows out of its scope",
            hint="EXPLAIN and EXPLAIN (ROUTE) show what is sent to them",
            reason=Reason.SCOPE,
        )


def _lines(text: str) -> Answer:
    """One column `plan`, a row per line: any client prints it well."""
    return rows_of((("plan", "VARCHAR"),), ((line,) for line in text.splitlines()))


def of(sql: str, modes: str) -> Explain:
    """The EXPLAIN of `sql`; `modes` is what EXPLAIN takes in parentheses, "json" short for "format json"."""
    modes = re.sub(r"(?i)(?<!format )\bjson\b", "format json", " ".join(modes.split()))
    try:
        options = read(f"EXPLAIN ({modes}) SELECT 1" if modes else "EXPLAIN SELECT 1", len("EXPLAIN"))
    except SQLSyntaxError as error:
        error.position = None  # it is none in `sql`
        raise
    return replace(options, sql=read(sql, 0).sql)


def read(sql: str, end: int) -> Explain:
    """What follows EXPLAIN."""
    modes: set[str] = set()
    form: Literal["text", "json"] = "text"
    start = blank_end(sql, end)
    options = _option_list(sql, start)
    if options is not None:
        words, start = options
        for words_of_one, offset in words:
            match words_of_one:
                case ["format", ("text" | "json") as given]:
                    form = "json" if given == "json" else "text"
                case [mode] if mode in EXPLAIN_MODES:
                    modes.add(mode)
                case [mode, "true" | "on"] if mode in EXPLAIN_MODES:
                    modes.add(mode)
                case _:
                    text = " ".join(words_of_one).upper()
                    raise SQLSyntaxError(
                        f'EXPLAIN has no option "{text}"',
                        hint="Options are ROUTE, ANALYZE, STEPS, SHARDS, FORMAT text, FORMAT json",
                        position=position(sql, offset, len(text)),
                    )
    else:
        word = word_at(sql, start)
        if word.text == "analyze":
            modes.add("analyze")
            start = word.end
    _check_one_answer(sql, start, modes, form)
    _check_query(sql, start)
    return Explain(sql=blanked(sql, start), modes=frozenset(modes), format=form)


def _check_one_answer(sql: str, start: int, modes: set[str], form: str) -> None:
    asked = sorted(mode.upper() for mode in modes) + (["FORMAT json"] if form == "json" else [])
    if len(asked) > 1 and asked != ["ANALYZE", "FORMAT json"]:
        raise SQLSyntaxError(
            f"EXPLAIN cannot give {' and '.join(asked)} at once: each is an answer of its own",
            hint="Ask for one after the other; only ANALYZE and FORMAT json go together",
            position=position(sql, start - 1),
        )


def _check_query(sql: str, start: int) -> None:
    if not sql[blank_end(sql, start) :].rstrip().rstrip(";"):
        raise SQLSyntaxError("EXPLAIN needs a query", position=position(sql, len(sql.rstrip()) - 1))
    word = word_at(sql, start)
    if word.text in ("explain", "show", "describe", "desc"):
        raise NotSupportedError(
            f"EXPLAIN {word.text.upper()} is not supported", position=position_of(sql, word)
        )
    refused.check(sql, word)


def _option_list(sql: str, start: int) -> tuple[list[tuple[list[str], int]], int] | None:
    """The words of each option and where it starts, and where the list ends; None if there is none.

    `EXPLAIN (SELECT 1)` has none: a query may stand in parentheses.
    """
    if sql[start : start + 1] != "(":
        return None
    first = word_at(sql, start + 1)
    if not first.text or first.text in _QUERIES:
        return None
    end = sql.find(")", start)
    if end < 0:
        raise SQLSyntaxError(
            "the options of EXPLAIN are not closed", hint='Add ")"', position=position(sql, start)
        )
    found: Sequence[str] = sql[start + 1 : end].split(",")
    options, offset = [], start + 1
    for text in found:
        options.append((text.lower().split(), offset + len(text) - len(text.lstrip())))
        offset += len(text) + 1
    return options, end + 1

"""Answers a statement: queries from the shards, EXPLAIN from the plan, SHOW from the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from shardwise.dbapi.nullability import nullability
from shardwise.dbapi.results import LocalRows, Row, Rows
from shardwise.dbapi.show import DESCRIBED, show
from shardwise.dbapi.statements import Describe, Explain, Query, Statement
from shardwise.options import Options
from shardwise.plan.explain import explain_json, explain_text, route_rows, sources_text, steps_text

if TYPE_CHECKING:
    from shardwise.dbapi.connection import Connection
    from shardwise.executor.result import Result
    from shardwise.plan.run import Plan

Parameters = Sequence[Any] | Mapping[str, Any]


class Answer(NamedTuple):
    """Rows, and for each column whether it may be NULL (None: not known)."""

    rows: Rows
    nullability: tuple[bool | None, ...]


def answer(connection: Connection, statement: Statement, params: Parameters, options: Options) -> Answer:
    """Runs the statement as far as `Rows.begin`."""
    rows: Rows
    match statement:
        case Query():
            return _query(connection, statement.sql, params, options)
        case Describe():
            rows = LocalRows(DESCRIBED, _describe(connection, statement.sql, params, options))
        case Explain():
            rows = LocalRows(*_explain(connection, statement, params, options))
        case _:
            rows = LocalRows(*show(connection.cluster, statement, params))
    return Answer(rows, (None,) * len(rows.columns))


def _query(connection: Connection, sql: str, params: Parameters, options: Options) -> Answer:
    result = connection.cluster.run(sql, params, options, locals=connection.locals)
    return Answer(result, _known(result))


def _describe(connection: Connection, sql: str, params: Parameters, options: Options) -> Iterator[Row]:
    """The columns of a query, which is started and stopped: rows are moved only as they are asked for."""
    with connection.cluster.run(sql, params, options, locals=connection.locals) as result:
        for (name, code), null_ok in zip(result.columns, _known(result), strict=True):
            yield name, code, "NO" if null_ok is False else "YES", None, None


def _known(result: Result) -> tuple[bool | None, ...]:
    known = nullability(result.plan.root)
    return known if len(known) == len(result.columns) else (None,) * len(result.columns)


def _explain(
    connection: Connection, statement: Explain, params: Parameters, options: Options
) -> tuple[Sequence[tuple[str, str]], Iterator[Row]]:
    cluster = connection.cluster
    modes = statement.modes
    if "analyze" in modes:
        with connection.cluster.run(statement.sql, params, options, locals=connection.locals) as result:
            for _ in result.arrow_reader(65_536):
                pass
            return _lines(_text(result.plan, statement, result.stats))
    plan = cluster.plan(statement.sql, params, options, locals=connection.locals)
    if "route" in modes:
        columns = (("shard", "VARCHAR"), ("source", "VARCHAR"), ("sql", "VARCHAR"))
        return columns, iter(route_rows(plan))
    if "shards" in modes:
        return _lines(sources_text(plan, cluster.explain_sources(plan)))
    if "steps" in modes:
        return _lines(steps_text(plan))
    return _lines(_text(plan, statement, None))


def _text(plan: Plan, statement: Explain, stats: Any) -> str:
    return explain_json(plan, stats) if statement.format == "json" else explain_text(plan, stats)


def _lines(text: str) -> tuple[Sequence[tuple[str, str]], Iterator[Row]]:
    """One column `plan`, a row per line: any client prints it well."""
    return (("plan", "VARCHAR"),), iter([(line,) for line in text.splitlines()])

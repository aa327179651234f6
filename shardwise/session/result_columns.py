"""A result's names and types, as one database would give them: told by an engine of the query's dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from shardwise.errors import Error, InternalError, UnknownName
from shardwise.executor.backends.base import Columns
from shardwise.executor.describe import HIDDEN_COLUMNS
from shardwise.executor.describing import AnyDescriber
from shardwise.executor.result import Result
from shardwise.plan.run import Plan
from shardwise.session.engines import Engine
from shardwise.session.parameters import Parameters, first_of_lists

_HIDDEN = re.compile("|".join(HIDDEN_COLUMNS), re.IGNORECASE)


def columns_of_text(
    sql: str,
    params: Parameters,
    engine: Engine,
    describer: AnyDescriber,
    *,
    schema: str | None,
    locals: Mapping[str, Any] | None,  # noqa: A002
    near: str | None,
) -> Columns:
    """By the user's own text; a list for `IN (?)` stands for one value of it. `near` is a source that is
    asked anyhow."""
    described = partial(describer.describe, schema=schema, near=near)
    text, values = engine.text(sql, params)
    try:
        return described(text, values, locals)
    except Error:
        first = first_of_lists(values)
        if first is None:
            raise
        return described(text, first, locals)


def columns_of_plan(plan: Plan, described: Callable[[str | None], Columns]) -> Columns | None:
    """None: the merge will tell. `described` tells those of the plan's text, given a source that is asked
    anyhow."""
    has_hidden = _HIDDEN.search(plan.sql) is not None
    if not plan.columns and "pivot" in plan.sql.lower():
        return None  # its columns depend on the rows, and without rows there may be none
    try:
        found = described(_first_source(plan))
    except Error as error:
        if not has_hidden or not isinstance(error, UnknownName):
            raise
        found = ()
    if not plan.columns:
        return found or None  # kept whole: only the engine knows its columns
    if len(found) == len(plan.columns):
        return found
    if has_hidden:
        # `*` does not show hidden columns, of which the engine knows nothing.
        return None
    raise InternalError(f"the plan has {len(plan.columns)} columns, the statement {len(found)}")


def columns_of_page(plan: Plan, shown: Columns, run: Callable[[], Result]) -> Columns:
    """Those that are shown, and the page's keys, which are behind them. `run` is for what no plan knows."""
    keys = plan.columns[-plan.hidden :]
    known = tuple((name, type_) for name, type_ in keys if type_ is not None)
    if len(known) < len(keys):
        with run() as result:
            known = tuple(result.columns[-plan.hidden :])
    return (*shown, *known)


def _first_source(plan: Plan) -> str | None:
    """The source of the first shard that is asked."""
    asked = (fragment for fragment in plan.fragments if fragment.route.shards)
    first = next(asked, None)
    return None if first is None else first.source_of(first.route.shards[0])
